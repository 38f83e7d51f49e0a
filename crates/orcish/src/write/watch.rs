//! Interruption of a write: the caller's thread asks whether to go on, and all threads stop where it is not.

use std::sync::{Arc, OnceLock};

use orcish_core::cancel::{CancelCheck, Cancellation};
use orcish_core::error::{Error, Result};

/// What a thread looks at between chunks.
#[derive(Debug, Default)]
pub(super) struct Watch {
    /// Why the write ends, for all threads of it.
    interruption: Arc<OnceLock<Error>>,
    /// Of the caller's thread, which is the one that may ask.
    cancellation: Option<Cancellation>,
}

impl Watch {
    /// That of another thread of the same write, which does not ask.
    pub(super) fn of_another_thread(&self) -> Self {
        Watch { interruption: self.interruption.clone(), cancellation: None }
    }

    /// Has the caller's thread call `check` now and then.
    pub(super) fn ask(&mut self, check: CancelCheck) {
        self.cancellation = Some(Cancellation::new(Some(check)));
    }

    /// Whether to go on.
    ///
    /// # Errors
    /// That of the check, once it had one.
    pub(super) fn look(&mut self) -> Result<()> {
        if let Some(Err(error)) = self.cancellation.as_mut().map(Cancellation::poll) {
            return Err(self.interruption.get_or_init(|| error).clone());
        }
        self.interruption.get().map_or(Ok(()), |error| Err(error.clone()))
    }
}
