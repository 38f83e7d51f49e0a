//! Values that are not shared with forked processes.

use std::sync::{Arc, OnceLock};

/// A value of which each process has its own instance.
///
/// A forked process has a copy of the memory of its parent, but none of its threads. Inherited connections and locks
/// are unusable. An inherited value is therefore neither used nor dropped.
#[derive(Debug)]
pub(super) struct PerProcess<T> {
    process_id: u32,
    value: Arc<T>,
    /// The value of a forked process.
    child: OnceLock<Box<PerProcess<T>>>,
}

impl<T> PerProcess<T> {
    /// Creates the value of this process.
    pub(super) fn new(value: T) -> Self {
        PerProcess { process_id: std::process::id(), value: Arc::new(value), child: OnceLock::new() }
    }

    /// The value of this process. A forked process creates it with `init`.
    pub(super) fn get(&self, init: &dyn Fn() -> T) -> &T {
        let process_id = std::process::id();
        let mut this = self;
        while this.process_id != process_id {
            this = this.child.get_or_init(|| Box::new(Self::new(init())));
        }
        &this.value
    }
}

impl<T> Drop for PerProcess<T> {
    fn drop(&mut self) {
        if self.process_id != std::process::id() {
            // The additional reference prevents the drop of the inherited value.
            let _ = Arc::into_raw(self.value.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_process_has_one_value() {
        let here = PerProcess::new(1);
        assert_eq!(*here.get(&|| 2), 1);
        // A forked process has another ID.
        let parent = PerProcess { process_id: 0, value: Arc::new(1), child: OnceLock::new() };
        assert_eq!((*parent.get(&|| 2), *parent.get(&|| 3)), (2, 2));
    }

    #[test]
    fn values_of_other_processes_are_not_dropped() {
        let value = Arc::new(());
        drop(PerProcess::new(value.clone()));
        assert_eq!(Arc::strong_count(&value), 1);
        drop(PerProcess { process_id: 0, value: Arc::new(value.clone()), child: OnceLock::new() });
        assert_eq!(Arc::strong_count(&value), 2);
    }
}
