//! Scans: what to read of a table.
//!
//! ```text
//! files ── blocklets ── bounds of the index ──► parts ── bounds of pages ──► filter, deletes ──► batches of the table
//!          a blocklet that cannot have wanted rows is not opened
//! ```

mod columnar;
mod evolve;
mod explain;
mod opened;
#[cfg_attr(not(feature = "orc"), path = "no_orc.rs")]
mod orc;
mod part;
mod parts;
mod proof;
mod streams;
mod token;

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::{FieldRef, Schema, SchemaRef};
use orcish_core::cancel::Check;
use orcish_core::explain::Explanation;
use orcish_core::names::choose;
use orcish_core::parallel::{Ahead, asked_or_cores};
use orcish_core::predicate::BatchFilter;
use orcish_core::{Error, Limits, Result};
use orcish_io::StorageOptions;
use parts::Parts;

use crate::metadata::places::TableStorage;
use crate::metadata::schema::Column;
use crate::options::ReadOptions;
use crate::table::{FileEntry, Table};

/// What to read of a table.
#[derive(Debug, Clone)]
pub struct Scan {
    of: Arc<Source>,
    what: Arc<What>,
}

/// A table, or the part of it that is in a split.
#[derive(Debug)]
struct Source {
    location: String,
    columns: Vec<Column>,
    schema: SchemaRef,
    /// Columns of files are found by their ids alone.
    is_transactional: bool,
    files: Vec<Arc<FileEntry>>,
    /// Names of the segments, for messages.
    segments: Vec<String>,
    storage: TableStorage,
    limits: Limits,
}

/// What is read of it.
#[derive(Debug)]
struct What {
    options: ReadOptions,
    /// Columns of the batches: their places in the table, and what of them is wanted.
    chosen: Vec<(usize, FieldRef)>,
    output: SchemaRef,
    filter: Option<BatchFilter>,
    /// Places of the columns that the filter asks, ascending.
    asked: Vec<usize>,
}

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

impl Scan {
    /// A scan over all live files of a table.
    ///
    /// # Errors
    /// `InvalidArgument` and `UnknownColumn` where they do not fit the table; `Unsupported` where a segment is of a
    /// format that is not read.
    pub fn new(table: &Table, options: ReadOptions) -> Result<Self> {
        let source = Source {
            location: table.location().to_owned(),
            columns: table.columns().to_vec(),
            schema: table.schema(),
            is_transactional: table.is_transactional(),
            files: table.data_files().to_vec(),
            segments: table.segments().iter().map(|segment| segment.id.clone()).collect(),
            storage: table.storage().clone(),
            limits: table.limits().clone(),
        };
        Self::of(Arc::new(source), options)
    }

    /// The scan of a [`Split`], by its token.
    ///
    /// # Errors
    /// `InvalidArgument` where the token is none, and as [`new`](Self::new).
    pub fn of_split(token: &[u8], options: ReadOptions, storage: StorageOptions) -> Result<Self> {
        Self::of(Arc::new(token::read(token, storage, &options.limits)?), options)
    }

    fn of(of: Arc<Source>, options: ReadOptions) -> Result<Self> {
        let what = What::new(&of, options)?;
        Ok(Scan { of, what: Arc::new(what) })
    }

    /// A scan of the same table under other options.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn with_options(&self, options: ReadOptions) -> Result<Self> {
        Self::of(self.of.clone(), options)
    }

    /// Schema of the batches.
    pub fn schema(&self) -> SchemaRef {
        self.what.output.clone()
    }

    /// Schema of the whole table.
    pub fn table_schema(&self) -> SchemaRef {
        self.of.schema.clone()
    }

    /// Locations of the files.
    pub fn files(&self) -> Vec<String> {
        self.of.files.iter().map(|file| file.location.clone()).collect()
    }

    /// Reads batch by batch, in the order of segments, files and blocklets.
    pub fn read(&self) -> ScanReader {
        let threads = asked_or_cores(self.what.options.threads);
        let parts = Parts::new(self.of.clone(), self.what.clone());
        let ahead = parts.map(|parts| {
            // Under a limit that no filter puts off, the first parts are enough.
            let is_short = self.what.options.limit.is_some() && self.what.filter.is_none();
            Ahead::new(Arc::new(parts), threads, is_short, self.what.options.limit)
        });
        let (ahead, failed) = match ahead {
            Ok(ahead) => (Some(ahead), None),
            Err(error) => (None, Some(error)),
        };
        ScanReader { schema: self.schema(), ahead, failed }
    }

    /// Number of rows that the scan gives. What indexes count is not read; of others only what the filter asks is.
    ///
    /// # Errors
    /// As reading.
    pub fn count(&self) -> Result<u64> {
        let limit = self.what.options.limit.unwrap_or(u64::MAX);
        if self.what.filter.is_none()
            && let Some(rows) = Parts::count(&self.of)?
        {
            return Ok(rows.min(limit));
        }
        let options = ReadOptions { columns: Some(Vec::new()), ..self.what.options.clone() };
        let mut reader = self.with_options(options)?.read();
        if let Some(check) = self.of.storage.of_table().cancel_check() {
            reader.while_waiting(check.clone());
        }
        reader.map(|batch| Ok(batch?.num_rows() as u64)).sum()
    }

    /// What reading would do, for each file; its stripes are blocklets, their row groups pages.
    ///
    /// # Errors
    /// As reading.
    pub fn explain(&self) -> Result<Vec<Explanation>> {
        explain::explain(&self.of, &self.what)
    }

    /// Parts of about `bytes` stored bytes each, none of which has blocklets of two files; blocklets that cannot have
    /// wanted rows are in none.
    ///
    /// # Errors
    /// As reading.
    pub fn splits(&self, bytes: u64) -> Result<Vec<Split>> {
        explain::splits(&self.of, &self.what, bytes)
    }
}

impl What {
    fn new(of: &Source, options: ReadOptions) -> Result<Self> {
        let fields = of.schema.fields();
        let chosen = match &options.columns {
            None => fields.iter().cloned().enumerate().collect(),
            Some(names) => choose(fields, names)?,
        };
        let filter = options.filter.as_ref().map(|filter| BatchFilter::new(filter, &of.schema)).transpose()?;
        // What is true of all rows is no filter.
        let filter = filter.filter(|filter| !filter.is_always());
        let asked = filter.as_ref().map(BatchFilter::top_columns).unwrap_or_default();
        let output = Schema::new_with_metadata(
            chosen.iter().map(|(_, field)| field.clone()).collect::<Vec<_>>(),
            of.schema.metadata().clone(),
        );
        Ok(What { options, chosen, output: Arc::new(output), filter, asked })
    }
}

/// Batches of a scan, in order. An error ends it.
pub struct ScanReader {
    schema: SchemaRef,
    ahead: Option<Ahead<Parts>>,
    failed: Option<Error>,
}

impl std::fmt::Debug for ScanReader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ScanReader").field("schema", &self.schema).finish_non_exhaustive()
    }
}

impl ScanReader {
    /// Schema of the batches.
    pub fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    /// Has `check` called now and then while the caller decodes or waits for other threads; its error ends the reading.
    pub fn while_waiting(&mut self, check: Check) {
        if let Some(ahead) = &mut self.ahead {
            ahead.while_waiting(check);
        }
    }
}

impl Iterator for ScanReader {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(error) = self.failed.take() {
            return Some(Err(error));
        }
        self.ahead.as_mut()?.next()
    }
}
