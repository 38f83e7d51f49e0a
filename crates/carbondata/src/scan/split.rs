//! The splits of a scan.

/// Part of a scan that can be read alone, in this process or in another.
#[derive(Debug, Clone)]
pub struct Split {
    /// The data file.
    pub location: String,
    /// Its blocklets that are read; all of a file that is no columnar one.
    pub blocklets: Vec<usize>,
    /// Rows of these, deleted ones included; 0 where they are not known.
    pub rows: u64,
    /// Bytes of these as stored, all columns; of files whose blocklets are not known, the whole file's.
    pub bytes: u64,
    /// What [`Scan::of_split`] makes a scan of it from.
    pub token: Vec<u8>,
}
