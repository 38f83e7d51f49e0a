//! Looking whether the caller wants to go on, now and then, while something takes long.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::error::Result;

/// What is called now and then while something takes long, on the thread that does it or waits for it; its error ends
/// that.
pub type Check = Arc<dyn Fn() -> Result<()> + Send + Sync>;

/// How long something may go on before it is looked whether to go on.
pub const PATIENCE: Duration = Duration::from_millis(50);

/// When to look again whether to go on.
pub struct Patience {
    check: Option<Check>,
    since: Instant,
}

impl fmt::Debug for Patience {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Patience").field("since", &self.since).finish_non_exhaustive()
    }
}

impl Patience {
    /// Looks by calling `check`, first after [`PATIENCE`].
    pub fn new(check: Option<Check>) -> Self {
        Patience { check, since: Instant::now() }
    }

    /// Calls the check, if there is one and it was not called lately.
    ///
    /// # Errors
    /// That of the check.
    pub fn look(&mut self) -> Result<()> {
        match &self.check {
            Some(check) if self.since.elapsed() >= PATIENCE => {
                let found = check();
                self.since = Instant::now();
                found
            }
            _ => Ok(()),
        }
    }

    /// Calls the check, if there is one, however lately it was called: before what cannot be taken back.
    ///
    /// # Errors
    /// That of the check.
    pub fn ask(&mut self) -> Result<()> {
        self.since = Instant::now();
        self.check.as_ref().map_or(Ok(()), |check| check())
    }

    /// What is called.
    pub fn check(&self) -> Option<&Check> {
        self.check.as_ref()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::error::{Error, ErrorKind};

    #[test]
    fn looks_now_and_then() {
        let calls = Arc::new(AtomicUsize::new(0));
        let counted = calls.clone();
        let mut patience = Patience::new(Some(Arc::new(move || {
            counted.fetch_add(1, Ordering::Relaxed);
            Err(Error::new(ErrorKind::Interrupted, "enough"))
        })));
        assert!(patience.look().is_ok());
        std::thread::sleep(PATIENCE);
        assert!(patience.look().is_err());
        assert!(patience.look().is_ok());
        assert_eq!(calls.load(Ordering::Relaxed), 1);
        assert!(patience.ask().is_err());
        assert_eq!(calls.load(Ordering::Relaxed), 2);
        std::thread::sleep(PATIENCE);
        assert!(Patience::new(None).look().is_ok());
    }
}
