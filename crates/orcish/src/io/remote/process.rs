//! The thread that carries requests out, and what of it a forked process must not touch.

use std::future::Future;
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::sync::{Arc, OnceLock};

use tokio::runtime::{Builder, Runtime};

use crate::error::{Error, ErrorKind, Result};
use crate::patience::{Check, PATIENCE};

/// A value that each process makes for itself. A child of a fork has the memory of its parent but none of its
/// threads: connections and locks that they held are dead there, and what holds them is neither used nor dropped.
#[derive(Debug)]
pub(super) struct PerProcess<T> {
    process: u32,
    value: Arc<T>,
    /// That of a child of the process.
    next: OnceLock<Box<PerProcess<T>>>,
}

impl<T> PerProcess<T> {
    pub(super) fn new(value: T) -> Self {
        PerProcess { process: std::process::id(), value: Arc::new(value), next: OnceLock::new() }
    }

    /// The value of this process.
    pub(super) fn get(&self, make: &dyn Fn() -> T) -> &T {
        let process = std::process::id();
        let mut this = self;
        while this.process != process {
            this = this.next.get_or_init(|| Box::new(Self::new(make())));
        }
        &this.value
    }
}

impl<T> Drop for PerProcess<T> {
    fn drop(&mut self) {
        if self.process != std::process::id() {
            // Counted once more, it is never dropped.
            let _ = Arc::into_raw(self.value.clone());
        }
    }
}

/// One thread for all requests of the process: it moves bytes and waits, others decode them.
fn runtime() -> Result<&'static Runtime> {
    static RUNTIME: OnceLock<PerProcess<std::io::Result<Runtime>>> = OnceLock::new();
    let make = || Builder::new_multi_thread().worker_threads(1).thread_name("orcish-io").enable_all().build();
    let runtime = RUNTIME.get_or_init(|| PerProcess::new(make())).get(&make);
    runtime
        .as_ref()
        .map_err(|error| Error::new(ErrorKind::Io, format!("the thread for requests cannot be made: {error}")))
}

/// Carries `future` out and waits for it, with an eye on `check`: an error of that ends it.
pub(super) fn wait<T, F>(future: F, check: Option<&Check>) -> Result<T>
where
    T: Send + 'static,
    F: Future<Output = Result<T>> + Send + 'static,
{
    let (sender, receiver) = sync_channel(1);
    let task = runtime()?.spawn(async move {
        // Nobody receives it where the wait was given up.
        let _ = sender.send(future.await);
    });
    loop {
        match receiver.recv_timeout(PATIENCE) {
            Ok(result) => return result,
            Err(RecvTimeoutError::Timeout) => {
                if let Some(Err(error)) = check.map(|check| check()) {
                    task.abort();
                    return Err(error);
                }
            }
            Err(RecvTimeoutError::Disconnected) => {
                return Err(Error::new(ErrorKind::Io, "the request ended without a result"));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_made_once_a_process() {
        let here = PerProcess::new(1);
        assert_eq!(*here.get(&|| 2), 1);
        // As in a child: the number of the process is another one.
        let parent = PerProcess { process: 0, value: Arc::new(1), next: OnceLock::new() };
        assert_eq!((*parent.get(&|| 2), *parent.get(&|| 3)), (2, 2));
    }

    #[test]
    fn what_is_of_another_process_is_not_dropped() {
        let value = Arc::new(());
        drop(PerProcess::new(value.clone()));
        assert_eq!(Arc::strong_count(&value), 1);
        drop(PerProcess { process: 0, value: Arc::new(value.clone()), next: OnceLock::new() });
        assert_eq!(Arc::strong_count(&value), 2);
    }

    #[test]
    fn a_wait_ends_when_the_check_fails() {
        let check: Check = Arc::new(|| Err(Error::new(ErrorKind::Interrupted, "enough")));
        let error = wait(std::future::pending::<Result<()>>(), Some(&check)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Interrupted);
        assert_eq!(wait(async { Ok(7) }, Some(&check)).unwrap(), 7);
    }
}
