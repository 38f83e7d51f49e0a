//! Processes: the owner of a file or connection, and values of which each process has its own.
//!
//! A child of a fork has a copy of the memory of its parent, and none of its other threads. A lock that such a thread held
//! stays locked in the child. State that is shared between threads is therefore a [`PerProcess`], or is accessed only after
//! [`OwnerProcess::check`].

use std::hash::{BuildHasher as _, RandomState};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use once_cell::race::OnceBox;

use crate::error::{Error, Result};

/// An ID that no other call has, in any process: 32 hexadecimal digits.
pub fn unique_id() -> String {
    static CALLS: AtomicU64 = AtomicU64::new(0);
    let now = match SystemTime::now().duration_since(UNIX_EPOCH) {
        Ok(since) => since,
        // A clock before 1970 counts, too.
        Err(before) => before.duration(),
    };
    // A child of a fork shares the random state of its parent, but not the ID of the process.
    let call = (now.as_nanos(), std::process::id(), CALLS.fetch_add(1, Ordering::Relaxed));
    let [first, second] = [(); 2].map(|()| RandomState::new().hash_one(call));
    format!("{first:016x}{second:016x}")
}

/// The process that opened a file or connection. A child process of a fork has a copy of the memory of its parent, but shares
/// the file or connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OwnerProcess(u32);

impl OwnerProcess {
    /// The current process.
    pub fn current() -> Self {
        OwnerProcess(std::process::id())
    }

    /// The ID of the process.
    pub fn id(self) -> u32 {
        self.0
    }

    /// Whether the owner is the current process.
    pub fn is_current(self) -> bool {
        self.0 == std::process::id()
    }

    /// Checks that the current process owns the file that is written.
    ///
    /// # Errors
    /// `InvalidArgument` in a child process of the owner.
    pub fn check(self) -> Result<()> {
        if self.is_current() {
            return Ok(());
        }
        Err(Error::invalid(format!(
            "the file is being written by process {}: a child of a fork begins a file of its own",
            self.0
        )))
    }

    /// Another process, for tests of child processes.
    #[cfg(any(test, feature = "testing"))]
    pub fn other() -> Self {
        OwnerProcess(0)
    }
}

/// A value of which each process has its own instance, created when it is first needed.
///
/// Inherited connections and locks are unusable in a child of a fork. An inherited value is therefore neither used nor
/// dropped. The cell itself has no lock: threads that need the value at the same time may each create one, of which all
/// get the same.
///
/// ```
/// use std::sync::Mutex;
///
/// use orcish_core::process::PerProcess;
///
/// static CACHE: PerProcess<Mutex<Vec<u32>>> = PerProcess::new();
/// CACHE.get_or_init(Mutex::default).lock().unwrap().push(1);
/// assert_eq!(CACHE.get_or_init(Mutex::default).lock().unwrap().len(), 1);
/// ```
#[derive(Debug)]
pub struct PerProcess<T>(OnceBox<Instance<T>>);

/// The value of one process.
#[derive(Debug)]
struct Instance<T> {
    owner: OwnerProcess,
    value: Arc<T>,
    /// The value of a child of the process.
    child: OnceBox<Instance<T>>,
}

impl<T> Default for PerProcess<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> PerProcess<T> {
    /// A cell without a value.
    pub const fn new() -> Self {
        PerProcess(OnceBox::new())
    }

    /// A cell with the value of this process.
    pub fn with_value(value: T) -> Self {
        PerProcess(OnceBox::with_value(Instance::create(|| value)))
    }

    /// The value of this process, which is created with `init` if there is none.
    pub fn get_or_init(&self, init: impl Fn() -> T) -> &T {
        self.get_or_inherit(&init, &init)
    }

    /// The value of this process. It is created with `init_child` in a child of a process that has a value, and with `init`
    /// in other processes.
    pub fn get_or_inherit(&self, init: impl Fn() -> T, init_child: impl Fn() -> T) -> &T {
        let mut instance = self.0.get_or_init(|| Instance::create(&init));
        while !instance.owner.is_current() {
            instance = instance.child.get_or_init(|| Instance::create(&init_child));
        }
        &instance.value
    }
}

impl<T> Instance<T> {
    fn create(init: impl FnOnce() -> T) -> Box<Self> {
        Box::new(Instance { owner: OwnerProcess::current(), value: Arc::new(init()), child: OnceBox::new() })
    }
}

impl<T> Drop for Instance<T> {
    fn drop(&mut self) {
        if !self.owner.is_current() {
            // The additional reference prevents the drop of the inherited value.
            let _ = Arc::into_raw(self.value.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ErrorKind;

    #[test]
    fn only_the_owner_can_write() {
        OwnerProcess::current().check().unwrap();
        let error = OwnerProcess::other().check().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidArgument);
        assert!(error.to_string().contains("process 0"), "{error}");
    }

    fn inherited<T>(value: T) -> PerProcess<T> {
        let instance = Instance { owner: OwnerProcess::other(), value: Arc::new(value), child: OnceBox::new() };
        PerProcess(OnceBox::with_value(Box::new(instance)))
    }

    #[test]
    fn each_process_has_one_value() {
        let here = PerProcess::new();
        assert_eq!((*here.get_or_init(|| 1), *here.get_or_init(|| 2)), (1, 1));
        let parent = inherited(1);
        assert_eq!((*parent.get_or_init(|| 2), *parent.get_or_init(|| 3)), (2, 2));
        assert_eq!(*PerProcess::new().get_or_inherit(|| 1, || 2), 1);
        assert_eq!(*inherited(0).get_or_inherit(|| 1, || 2), 2);
    }

    #[test]
    fn values_of_other_processes_are_not_dropped() {
        let value = Arc::new(());
        drop(PerProcess::with_value(value.clone()));
        assert_eq!(Arc::strong_count(&value), 1);
        drop(inherited(value.clone()));
        assert_eq!(Arc::strong_count(&value), 2);
    }
}
