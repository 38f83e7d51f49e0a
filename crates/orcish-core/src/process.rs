//! Which process something belongs to.

use crate::error::{Error, Result};

/// The process that began something. A child of a fork has a copy of its memory, but what is beyond memory, such as a file
/// or a connection, is its parent's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OwnerProcess(u32);

impl OwnerProcess {
    /// This process.
    pub fn current() -> Self {
        OwnerProcess(std::process::id())
    }

    /// Whether it is this process.
    pub fn is_current(self) -> bool {
        self.0 == std::process::id()
    }

    /// Whether a file may be written here.
    ///
    /// # Errors
    /// `InvalidArgument` in another process than that which began the file.
    pub fn check(self) -> Result<()> {
        if self.is_current() {
            return Ok(());
        }
        Err(Error::invalid(format!(
            "the file is being written by process {}: a child of a fork begins a file of its own",
            self.0
        )))
    }

    /// As in a child of the process.
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
    fn files_are_written_by_who_began_them() {
        OwnerProcess::current().check().unwrap();
        let error = OwnerProcess::other().check().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidArgument);
        assert!(error.to_string().contains("process 0"), "{error}");
    }
}
