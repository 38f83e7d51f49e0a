//! Limits of runs of integer run length encoding.

/// Maximum number of values of a run, of version 1 and version 2.
pub(crate) const MAX_RUN: usize = 512;
