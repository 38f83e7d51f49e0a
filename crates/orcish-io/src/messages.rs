//! Messages of `Io` errors, by operation.

pub(crate) const CANNOT_READ: &str = "cannot be read";
pub(crate) const CANNOT_WRITE: &str = "cannot be written";
pub(crate) const CANNOT_DELETE: &str = "cannot be deleted";
pub(crate) const CANNOT_LIST: &str = "cannot be listed";
pub(crate) const CANNOT_PUBLISH: &str = "cannot be published";
pub(crate) const CANNOT_ABORT: &str = "cannot be given up";

/// The cause of an `Io` error for a file that another one has replaced.
pub const REPLACED: &str =
    "the file was replaced: it is another one than when it was opened; open it again, or make the scan again";
