//! The process that owns a file or connection.

use crate::error::{Error, Result};

/// The process that opened a file or connection. A child process of a fork has a copy of the memory of its parent, but shares
/// the file or connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OwnerProcess(u32);

impl OwnerProcess {
    /// The current process.
    pub fn current() -> Self {
        OwnerProcess(std::process::id())
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
}
