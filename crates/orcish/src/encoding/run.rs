//! Bounds on the runs of integer run length encoding.

/// Most values of a run, of version 1 and version 2.
pub(crate) const MAX_RUN: usize = 512;
