//! Looking whether the caller wants to go on while a table is opened, by several threads.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread::ThreadId;

use orcish::shared::Patience;
use orcish::{Error, ErrorKind, Result};

/// Looks for signals on the thread that opens a table; other threads end once that one is to.
#[derive(Debug)]
pub(super) struct Watch {
    caller: ThreadId,
    patience: Mutex<Patience>,
    is_over: AtomicBool,
}

impl Watch {
    pub(super) fn new(patience: Patience) -> Self {
        Watch { caller: std::thread::current().id(), patience: Mutex::new(patience), is_over: AtomicBool::new(false) }
    }

    /// Whether this is the thread that opens the table.
    pub(super) fn is_caller(&self) -> bool {
        std::thread::current().id() == self.caller
    }

    /// Has other threads end.
    pub(super) fn stop(&self) {
        self.is_over.store(true, Ordering::Relaxed);
    }

    /// Looks whether to go on, if that was not done lately.
    ///
    /// # Errors
    /// That of the check on the thread that opens the table, and afterwards `Interrupted` on others.
    pub(super) fn look(&self) -> Result<()> {
        if self.is_caller() {
            let found = self.patience.lock().unwrap_or_else(PoisonError::into_inner).look();
            if found.is_err() {
                self.stop();
            }
            return found;
        }
        match self.is_over.load(Ordering::Relaxed) {
            true => Err(Error::new(ErrorKind::Interrupted, "the table is not opened any more")),
            false => Ok(()),
        }
    }
}
