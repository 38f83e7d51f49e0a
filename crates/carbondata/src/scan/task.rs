//! Tasks of a scan.

/// A part of a data file.
#[derive(Debug, Clone)]
pub(super) struct ScanTask {
    /// Index of the file in the table.
    pub(super) file: usize,
    /// Blocklets of the file; `None` for all.
    pub(super) blocklets: Option<Vec<usize>>,
}
