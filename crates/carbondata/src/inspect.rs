//! Metadata of a single data file.

use arrow_schema::SchemaRef;
use orcish_core::{Limits, Result};
use orcish_io::{StorageOptions, open};

use crate::file::DataFile;
use crate::metadata::schema::{Column, schema_of};

/// The metadata of a data file.
///
/// To read the rows of the file, open it as a [`Table`](crate::Table).
///
/// ```no_run
/// use carbondata::File;
///
/// let file = File::open("part-0-0.snappy.carbondata", &Default::default(), &Default::default())?;
/// println!("version {}, {} rows", file.version(), file.num_rows());
/// # Ok::<(), orcish_core::Error>(())
/// ```
#[derive(Clone)]
pub struct File(DataFile);

/// A blocklet of a data file: `BlockletInfo3` and its predecessors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Blocklet {
    /// Number of rows, deleted rows included.
    pub rows: u64,
    /// Number of pages of each column; 0 in files before 1.5.1, whose footer has no number of pages.
    pub pages: usize,
    /// Stored bytes of all columns.
    pub bytes: u64,
}

impl std::fmt::Debug for File {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("File").field("name", &self.0.name()).field("version", &self.version()).finish_non_exhaustive()
    }
}

impl File {
    /// Reads the footer of a data file of any version.
    ///
    /// # Errors
    /// `Io` where the file cannot be read, `Corrupt` where it is not a data file, `LimitExceeded` for a large footer,
    /// `Unsupported` for a name of a column that Arrow has not.
    pub fn open(location: &str, storage: &StorageOptions, limits: &Limits) -> Result<Self> {
        let file = DataFile::open(open(location, storage)?, limits)?;
        file.columns().iter().try_for_each(Column::check_no_nul).map_err(|error| error.in_file(file.name()))?;
        Ok(File(file))
    }

    /// Version of the format: 1, 2 or 3.
    pub fn version(&self) -> u8 {
        self.0.version()
    }

    /// Number of rows, deleted rows included.
    pub fn num_rows(&self) -> u64 {
        self.0.num_rows()
    }

    /// The columns of the file, in stored order.
    pub fn schema(&self) -> SchemaRef {
        schema_of(self.0.columns())
    }

    /// The `extra_info` of the footer, which writers since 1.5.1 set: `written_by` and `version`.
    pub fn written_by(&self) -> &[(String, String)] {
        self.0.written_by()
    }

    /// The blocklets of the file.
    ///
    /// # Errors
    /// `Corrupt` where a blocklet lacks the chunks of a column.
    pub fn blocklets(&self) -> Result<Vec<Blocklet>> {
        let blocklet = |at| {
            let bytes = self.0.stored_bytes(at)?;
            Ok(Blocklet { rows: self.0.num_blocklet_rows(at)?, pages: self.0.num_pages(at)?, bytes })
        };
        (0..self.0.num_blocklets()).map(blocklet).collect()
    }
}
