//! What of a file is lost.

use std::ops::Range;

/// A part of a file that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Lost {
    /// Bytes of the file.
    pub range: Range<u64>,
    /// Number of rows. `None` if it is not known.
    pub rows: Option<u64>,
    /// Why.
    pub reason: String,
}
