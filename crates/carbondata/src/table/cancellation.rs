//! Cancellation of opening a table, which several threads do.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Mutex, PoisonError};
use std::thread::ThreadId;

use orcish_core::cancel::{CHECK_INTERVAL, Cancellation};
use orcish_core::{Error, ErrorKind, Result};

/// Calls the check of the caller on the thread that opens the table. If it fails, the other threads stop too.
#[derive(Debug)]
pub(super) struct SharedCancellation {
    caller: ThreadId,
    cancellation: Mutex<Cancellation>,
    is_over: AtomicBool,
}

impl SharedCancellation {
    pub(super) fn new(cancellation: Cancellation) -> Self {
        SharedCancellation {
            caller: std::thread::current().id(),
            cancellation: Mutex::new(cancellation),
            is_over: AtomicBool::new(false),
        }
    }

    /// Whether this is the thread that opens the table.
    fn is_caller(&self) -> bool {
        std::thread::current().id() == self.caller
    }

    fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }

    /// Stops the other threads.
    fn stop(&self) {
        self.is_over.store(true, Ordering::Relaxed);
    }

    /// Checks for cancellation, unless it was done shortly before.
    ///
    /// # Errors
    /// The error of the check on the thread that opens the table; `Interrupted` on other threads afterwards.
    pub(super) fn check(&self) -> Result<()> {
        if self.is_caller() {
            let found = self.cancellation.lock().unwrap_or_else(PoisonError::into_inner).poll();
            if found.is_err() {
                self.stop();
            }
            return found;
        }
        match self.is_over() {
            true => Err(Error::new(ErrorKind::Interrupted, "the table is not opened any more")),
            false => Ok(()),
        }
    }

    /// Maps all items, in order, with `threads` threads including this one.
    pub(super) fn map<T: Sync, R: Send>(
        &self,
        threads: usize,
        all: &[T],
        work: impl Fn(&T) -> Result<R> + Sync,
    ) -> Result<Vec<R>> {
        let watched = |item| self.check().and_then(|()| work(item));
        if threads < 2 {
            return all.iter().map(watched).collect();
        }
        let (next, done) = (AtomicUsize::new(0), Mutex::new(BTreeMap::new()));
        let run = || {
            while let Some((at, item)) = {
                let at = next.fetch_add(1, Ordering::Relaxed);
                all.get(at).map(|item| (at, item))
            } {
                let found = watched(item);
                let is_interrupted =
                    found.as_ref().is_err_and(|error| error.kind() == ErrorKind::Interrupted || self.is_over());
                if found.is_err() {
                    // No thread starts another item.
                    next.store(all.len(), Ordering::Relaxed);
                }
                match found {
                    // Errors of the other threads are consequences of this one.
                    Err(error) if self.is_caller() && is_interrupted => {
                        self.stop();
                        return Err(error);
                    }
                    found => done.lock().unwrap_or_else(PoisonError::into_inner).insert(at, found),
                };
            }
            Ok(())
        };
        let (sender, others) = channel::<()>();
        std::thread::scope(|scope| {
            // This thread takes items too, as it is the one that can be cancelled.
            for _ in 1..threads {
                let sender = sender.clone();
                let run = &run;
                scope.spawn(move || {
                    _ = run();
                    drop(sender);
                });
            }
            drop(sender);
            run()?;
            while others.recv_timeout(CHECK_INTERVAL) == Err(RecvTimeoutError::Timeout) {
                self.check()?;
            }
            Ok(())
        })?;
        let done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
        done.into_values().collect()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    /// The error of the check is returned, and all threads stop.
    #[test]
    fn all_threads_stop_with_the_error_of_the_check() {
        for kind in [ErrorKind::Interrupted, ErrorKind::Io] {
            let storage = orcish_io::StorageOptions::default()
                .with_cancel_check(Arc::new(move || Err(Error::new(kind, "a signal came"))));
            for threads in [1, 4] {
                let cancellation = SharedCancellation::new(storage.cancellation());
                let all: Vec<usize> = (0..threads).collect();
                // Runs until it is cancelled.
                let found = cancellation.map(threads, &all, |_| -> Result<()> {
                    loop {
                        cancellation.check()?;
                        std::thread::yield_now();
                    }
                });
                assert_eq!(found.unwrap_err().message(), "a signal came");
            }
        }
    }
}
