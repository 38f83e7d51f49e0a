//! Cancellation: long work calls a function of its caller now and then, whose error ends the work.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::error::Result;

/// A function that long work calls every [`CHECK_INTERVAL`], on the thread of the caller. Its error ends the work and is
/// the error of the work.
pub type CancelCheck = Arc<dyn Fn() -> Result<()> + Send + Sync>;

/// The time between two calls of a [`CancelCheck`].
pub const CHECK_INTERVAL: Duration = Duration::from_millis(50);

/// A [`CancelCheck`], and the time of its last call.
pub struct Cancellation {
    check: Option<CancelCheck>,
    last_check: Instant,
}

impl fmt::Debug for Cancellation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cancellation").field("last_check", &self.last_check).finish_non_exhaustive()
    }
}

impl Cancellation {
    /// The first call of `check` is due after [`CHECK_INTERVAL`]. Without a check, the work cannot be cancelled.
    pub fn new(check: Option<CancelCheck>) -> Self {
        Cancellation { check, last_check: Instant::now() }
    }

    /// Calls the check if [`CHECK_INTERVAL`] has passed since its last call.
    ///
    /// # Errors
    /// The error of the check.
    pub fn poll(&mut self) -> Result<()> {
        match &self.check {
            Some(check) if self.last_check.elapsed() >= CHECK_INTERVAL => {
                let result = check();
                self.last_check = Instant::now();
                result
            }
            _ => Ok(()),
        }
    }

    /// Calls the check at once. Work that cannot be undone calls this method first.
    ///
    /// # Errors
    /// The error of the check.
    pub fn poll_now(&mut self) -> Result<()> {
        self.last_check = Instant::now();
        self.check.as_ref().map_or(Ok(()), |check| check())
    }

    /// The check.
    pub fn check(&self) -> Option<&CancelCheck> {
        self.check.as_ref()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::error::{Error, ErrorKind};

    #[test]
    fn polls_periodically() {
        let calls = Arc::new(AtomicUsize::new(0));
        let counted = calls.clone();
        let mut cancellation = Cancellation::new(Some(Arc::new(move || {
            counted.fetch_add(1, Ordering::Relaxed);
            Err(Error::new(ErrorKind::Interrupted, "enough"))
        })));
        assert!(cancellation.poll().is_ok());
        std::thread::sleep(CHECK_INTERVAL);
        assert!(cancellation.poll().is_err());
        assert!(cancellation.poll().is_ok());
        assert_eq!(calls.load(Ordering::Relaxed), 1);
        assert!(cancellation.poll_now().is_err());
        assert_eq!(calls.load(Ordering::Relaxed), 2);
        std::thread::sleep(CHECK_INTERVAL);
        assert!(Cancellation::new(None).poll().is_ok());
    }
}
