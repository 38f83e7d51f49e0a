//! Cancellation of work that nobody waits for any more.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use orcish_core::cancel::CancelCheck;
use orcish_core::error::{Error, ErrorKind, Result};
use orcish_io::spawn_blocking;

/// Cancels work when it is dropped.
#[derive(Debug, Default)]
pub(super) struct CancelOnDrop {
    is_dropped: Arc<AtomicBool>,
}

impl CancelOnDrop {
    /// The check of the work. `also` is a further one.
    pub(super) fn check(&self, also: Option<CancelCheck>) -> CancelCheck {
        let is_dropped = self.is_dropped.clone();
        Arc::new(move || {
            if is_dropped.load(Ordering::Acquire) {
                Err(Error::new(ErrorKind::Interrupted, "nobody waits for it"))
            } else {
                also.as_ref().map_or(Ok(()), |check| check())
            }
        })
    }
}

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.is_dropped.store(true, Ordering::Release);
    }
}

/// The result of `work`, which runs on another thread.
pub(super) async fn unblocked<T: Send + 'static>(work: impl FnOnce() -> Result<T> + Send + 'static) -> Result<T> {
    spawn_blocking(work)?.await?
}
