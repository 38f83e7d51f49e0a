//! The builder of readers with the interface of Arrow.

use std::path::Path;

use arrow_schema::SchemaRef;
use orcish_core::arrow_reader::ArrowReader;
use orcish_core::error::Result;
use orcish_core::expression::Predicate;
use orcish_core::limits::Limits;
use orcish_io::IntoSource;

use super::file::OrcFile;
use super::reader::BatchReader;
use crate::options::{Columns, ReadOptions};
use crate::tail::FileTail;

/// Batches of a file as a [`RecordBatchReader`](arrow_array::RecordBatchReader). [`OrcReaderBuilder`] makes it.
pub type OrcRecordBatchReader = ArrowReader<BatchReader>;

/// Builds a reader of a file: an [`OrcRecordBatchReader`] as [`OrcReaderBuilder`], or a stream with the feature `async`. The
/// methods have the names of those of the crate `parquet`. All other options are in [`ReadOptions`], for
/// [`with_options`](Self::with_options).
///
/// ```
/// use arrow_array::RecordBatchReader as _;
/// use orcish::OrcReaderBuilder;
///
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data/spark.zlib.orc");
/// let builder = OrcReaderBuilder::open(path)?;
/// assert_eq!(builder.metadata().rows, 20);
/// assert_eq!(builder.schema()?.field(3).name(), "int");
///
/// let filter = "byte < 0 and int is not null".parse()?;
/// let builder = builder.with_projection(["int", "nest.x"]).with_filter(filter).with_row_number("row");
/// let reader = builder.with_batch_size(8).with_limit(5).build()?;
/// assert_eq!(reader.schema().fields().len(), 3);
/// let rows = reader.map(|batch| Ok(batch?.num_rows())).sum::<Result<usize, arrow_schema::ArrowError>>()?;
/// assert_eq!(rows, 5);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct ReaderBuilder<K> {
    file: OrcFile,
    options: ReadOptions,
    kind: K,
}

/// Builds an [`OrcRecordBatchReader`].
pub type OrcReaderBuilder = ReaderBuilder<SyncReader>;

/// What a builder makes: a reader that is an iterator.
#[derive(Debug, Clone, Copy)]
pub struct SyncReader;

impl ReaderBuilder<SyncReader> {
    /// Opens the file at a path, and reads its tail. For URLs, [`try_new`](Self::try_new) takes the source that
    /// [`io::open`](crate::io::open) returns.
    ///
    /// # Errors
    /// As [`OrcFile::open`].
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Ok(Self::of_file(OrcFile::open(path)?))
    }

    /// Reads the tail of a source: an open file, [`Bytes`](bytes::Bytes), or any [`ReadAt`](crate::io::ReadAt).
    ///
    /// # Errors
    /// As [`OrcFile::try_new`].
    pub fn try_new(source: impl IntoSource) -> Result<Self> {
        Self::try_new_with_limits(source, Limits::default())
    }

    /// As [`try_new`](Self::try_new), with limits of the tail and of the reader.
    ///
    /// # Errors
    /// As [`OrcFile::try_new`].
    pub fn try_new_with_limits(source: impl IntoSource, limits: Limits) -> Result<Self> {
        let file = OrcFile::try_new(source.into_source()?, &limits)?;
        Ok(Self::of_file(file).with_options(ReadOptions::default().with_limits(limits)))
    }

    /// A builder of readers of an open file. Nothing is read.
    pub fn of_file(file: OrcFile) -> Self {
        Self::of_parts(file, ReadOptions::default(), SyncReader)
    }

    /// The reader. A file is read any number of times by clones of the builder.
    ///
    /// # Errors
    /// As [`OrcFile::read`].
    pub fn build(self) -> Result<OrcRecordBatchReader> {
        let (file, options, SyncReader) = self.into_parts();
        Ok(file.read(options)?.into_record_batch_reader())
    }
}

impl<K> ReaderBuilder<K> {
    pub(crate) fn of_parts(file: OrcFile, options: ReadOptions, kind: K) -> Self {
        ReaderBuilder { file, options, kind }
    }

    pub(crate) fn into_parts(self) -> (OrcFile, ReadOptions, K) {
        (self.file, self.options, self.kind)
    }

    /// The file.
    pub fn file(&self) -> &OrcFile {
        &self.file
    }

    /// The tail of the file: its rows, stripes, ORC types, statistics and user metadata.
    pub fn metadata(&self) -> &FileTail {
        self.file.tail()
    }

    /// The options so far.
    pub fn options(&self) -> &ReadOptions {
        &self.options
    }

    /// The Arrow schema of the batches under the options so far: of the whole file, unless the builder has a projection.
    ///
    /// # Errors
    /// `UnknownColumn` if the projection has a column that the file does not have.
    pub fn schema(&self) -> Result<SchemaRef> {
        self.file.schema(&self.options)
    }

    /// Replaces all options.
    #[must_use]
    pub fn with_options(mut self, options: ReadOptions) -> Self {
        self.options = options;
        self
    }

    /// The columns to read: dotted names, in order, or [`Columns`].
    #[must_use]
    pub fn with_projection(mut self, columns: impl Into<Columns>) -> Self {
        self.options = self.options.with_columns(columns);
        self
    }

    /// The filter of the rows. Stripes and row groups without matching rows, as proven by statistics or bloom filters, are
    /// not read; rows of the others are compared. A filter is also parsed from text: `"a > 1 and b is not null".parse()?`.
    #[must_use]
    pub fn with_filter(mut self, filter: Predicate) -> Self {
        self.options = self.options.with_filter(filter);
        self
    }

    /// Maximum number of rows of a batch.
    #[must_use]
    pub fn with_batch_size(mut self, rows: usize) -> Self {
        self.options = self.options.with_batch_size(rows);
        self
    }

    /// Maximum number of rows, after the filter.
    #[must_use]
    pub fn with_limit(mut self, rows: impl Into<Option<u64>>) -> Self {
        self.options = self.options.with_limit(rows);
        self
    }

    /// The stripes to read, by their indexes.
    #[must_use]
    pub fn with_stripes(mut self, stripes: impl Into<Option<Vec<usize>>>) -> Self {
        self.options = self.options.with_stripes(stripes);
        self
    }

    /// Name of an additional last column with the index of the row in the file.
    #[must_use]
    pub fn with_row_number(mut self, name: impl Into<String>) -> Self {
        self.options = self.options.with_row_number(name);
        self
    }

    /// Number of decoding threads; 0 for the number of cores.
    #[must_use]
    pub fn with_threads(mut self, threads: usize) -> Self {
        self.options = self.options.with_threads(threads);
        self
    }
}
