//! Splits of a scan.

/// A part of a scan, which any process can read.
#[derive(Debug, Clone)]
pub struct Split {
    /// Location of the data file.
    pub location: String,
    /// Blocklets of the file; empty for a whole file of another format.
    pub blocklets: Vec<usize>,
    /// Number of rows, deleted rows included; 0 if unknown.
    pub rows: u64,
    /// Stored bytes of all columns; the size of the file where blocklets are not known.
    pub bytes: u64,
    /// Serialized split, for [`Scan::from_split`](crate::Scan::from_split).
    pub token: Vec<u8>,
}
