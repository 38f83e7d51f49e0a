//! Messages of `Io` errors, by operation.

pub(crate) const CANNOT_READ: &str = "cannot be read";
pub(crate) const CANNOT_WRITE: &str = "cannot be written";
pub(crate) const CANNOT_DELETE: &str = "cannot be deleted";
pub(crate) const CANNOT_LIST: &str = "cannot be listed";
pub(crate) const CANNOT_PUBLISH: &str = "cannot be published";
pub(crate) const CANNOT_ABORT: &str = "cannot be given up";
