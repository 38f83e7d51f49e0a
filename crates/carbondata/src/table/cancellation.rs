//! Cancellation of opening a table, which several threads do.

use std::sync::{Arc, Mutex, PoisonError};
use std::thread::ThreadId;

use orcish_core::Result;
use orcish_core::cancel::{CancelCheck, Cancellation, SharedCancellation};

/// The cancellation of the threads that open a table.
#[derive(Debug, Clone)]
pub(super) struct OpenCancellation(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    caller: ThreadId,
    of_caller: Mutex<SharedCancellation>,
    of_threads: Mutex<SharedCancellation>,
}

impl OpenCancellation {
    /// The check is called on this thread, which opens the table.
    pub(super) fn new(cancellation: Cancellation) -> Self {
        let of_caller = SharedCancellation::new(cancellation);
        let of_threads = Mutex::new(of_caller.for_thread());
        OpenCancellation(Arc::new(Inner {
            caller: std::thread::current().id(),
            of_caller: Mutex::new(of_caller),
            of_threads,
        }))
    }

    /// Calls the check if this is the thread that opens the table and the last call was not lately.
    ///
    /// # Errors
    /// The error of the check, on each thread after it occurred.
    pub(super) fn poll(&self) -> Result<()> {
        let is_caller = std::thread::current().id() == self.0.caller;
        let cancellation = if is_caller { &self.0.of_caller } else { &self.0.of_threads };
        cancellation.lock().unwrap_or_else(PoisonError::into_inner).poll()
    }

    /// [`poll`](Self::poll), as a check.
    pub(super) fn check(&self) -> CancelCheck {
        let cancellation = self.clone();
        Arc::new(move || cancellation.poll())
    }
}

#[cfg(test)]
mod tests {
    use orcish_core::parallel::map;
    use orcish_core::{Error, ErrorKind};

    use super::*;

    /// The error of the check is returned, and all threads stop.
    #[test]
    fn all_threads_stop_with_the_error_of_the_check() {
        for kind in [ErrorKind::Interrupted, ErrorKind::Io] {
            let storage = orcish_io::StorageOptions::default()
                .with_cancel_check(Arc::new(move || Err(Error::new(kind, "a signal came"))));
            for threads in [1, 4] {
                let cancellation = OpenCancellation::new(storage.cancellation());
                let of_task = cancellation.clone();
                // Runs until it is cancelled.
                let found = map(0..threads, threads, Some(cancellation.check()), move |_, _| -> Result<()> {
                    loop {
                        of_task.poll()?;
                        std::thread::yield_now();
                    }
                });
                assert_eq!(found.unwrap_err().message(), "a signal came");
            }
        }
    }
}
