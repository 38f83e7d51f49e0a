//! The tasks of a scan.

/// Some of a file.
#[derive(Debug, Clone)]
pub(super) struct ScanTask {
    /// Index of the file.
    pub(super) file: usize,
    /// Its blocklets; all where no index names them.
    pub(super) blocklets: Option<Vec<usize>>,
}
