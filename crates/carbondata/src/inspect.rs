//! One data file, by itself: what it says of itself.

use arrow_schema::SchemaRef;
use orcish_core::{Limits, Result};
use orcish_io::{StorageOptions, open};

use crate::file::DataFile;
use crate::metadata::schema::schema_of;

/// A data file whose footer has been read. Its rows are read as those of a [`Table`](crate::Table) of one file.
#[derive(Clone)]
pub struct File(DataFile);

/// A blocklet of a data file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Blocklet {
    /// Its rows, deleted ones included.
    pub rows: u64,
    /// Pages of each of its columns; 0 where the footer does not say it, as before 1.5.1.
    pub pages: usize,
    /// Bytes of all its columns as stored.
    pub bytes: u64,
}

impl std::fmt::Debug for File {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("File").field("name", &self.0.name()).field("version", &self.version()).finish_non_exhaustive()
    }
}

impl File {
    /// Reads the footer of a file of any version.
    ///
    /// # Errors
    /// `Io` where it cannot be read, `Corrupt` for what is no data file, `LimitExceeded` for large footers.
    pub fn open(location: &str, storage: &StorageOptions, limits: &Limits) -> Result<Self> {
        DataFile::open(open(location, storage)?, limits).map(File)
    }

    /// Version of the format: 1, 2 or 3.
    pub fn version(&self) -> u8 {
        self.0.version()
    }

    /// Its rows, deleted ones included.
    pub fn rows(&self) -> u64 {
        self.0.rows()
    }

    /// Its own columns, in the order in which they are stored.
    pub fn schema(&self) -> SchemaRef {
        schema_of(self.0.columns())
    }

    /// What the writer says of itself, since 1.5.1: `written_by` and `version`.
    pub fn written_by(&self) -> &[(String, String)] {
        self.0.written_by()
    }

    /// Its blocklets.
    pub fn blocklets(&self) -> Vec<Blocklet> {
        let all: Vec<usize> = (0..self.0.columns().len()).collect();
        let blocklet = |at| Blocklet {
            rows: self.0.blocklet_rows(at),
            pages: self.0.known_pages(at),
            bytes: self.0.weigh(at, &all).0,
        };
        (0..self.0.blocklets()).map(blocklet).collect()
    }
}
