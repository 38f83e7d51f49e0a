//! Cancellation: long work calls a function of its caller now and then, whose error ends the work.

use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use crate::error::{Error, Result};

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

/// Cancellation of work that several threads do. The thread of the caller calls the check; its error ends all threads.
#[derive(Debug, Default)]
pub struct SharedCancellation {
    /// The error of the check.
    error: Arc<OnceLock<Error>>,
    /// On the thread of the caller.
    cancellation: Option<Cancellation>,
}

impl SharedCancellation {
    /// The cancellation of the thread of the caller.
    pub fn new(cancellation: Cancellation) -> Self {
        SharedCancellation { error: Arc::default(), cancellation: Some(cancellation) }
    }

    /// The cancellation of another thread that does the same work. It calls no check.
    #[must_use]
    pub fn for_thread(&self) -> Self {
        SharedCancellation { error: self.error.clone(), cancellation: None }
    }

    /// Has the thread of the caller call `check`.
    pub fn set_cancel_check(&mut self, check: CancelCheck) {
        self.cancellation = Some(Cancellation::new(Some(check)));
    }

    /// On the thread of the caller, calls the check if [`CHECK_INTERVAL`] has passed since its last call.
    ///
    /// # Errors
    /// The error of the check, on each thread after it occurred.
    pub fn poll(&mut self) -> Result<()> {
        if let Some(Err(error)) = self.cancellation.as_mut().map(Cancellation::poll) {
            return Err(self.error.get_or_init(|| error).clone());
        }
        self.error.get().map_or(Ok(()), |error| Err(error.clone()))
    }

    /// A check for a caller that waits for the threads until they have ended: its error ends the threads, and not the wait.
    pub fn check_of_waiting_caller(&self) -> Option<CancelCheck> {
        let (error, check) = (self.error.clone(), self.cancellation.as_ref()?.check()?.clone());
        Some(Arc::new(move || {
            if let Err(check_error) = check() {
                let _ = error.set(check_error);
            }
            Ok(())
        }))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::error::ErrorKind;

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

    #[test]
    fn all_threads_end_with_the_error_of_the_caller() {
        let check: CancelCheck = Arc::new(|| Err(Error::new(ErrorKind::Interrupted, "enough")));
        let mut caller = SharedCancellation::new(Cancellation::new(Some(check)));
        let mut other = caller.for_thread();
        assert!(caller.poll().is_ok() && other.poll().is_ok());
        assert!(caller.check_of_waiting_caller().unwrap()().is_ok());
        assert_eq!(other.poll().unwrap_err().message(), "enough");
        assert_eq!(caller.poll().unwrap_err().message(), "enough");
        assert!(SharedCancellation::default().poll().is_ok() && other.check_of_waiting_caller().is_none());
    }
}
