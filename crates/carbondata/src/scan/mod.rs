//! Scans: reading the rows of a table.
//!
//! ```text
//! files ── blocklets ── index files ──► tasks ── page min/max ──► filter, delete deltas ──► record batches
//! ```
//!
//! A blocklet is not opened where its min/max index proves that no row passes the filter.

mod aggregate;
mod batch;
mod blocklet_plan;
mod column_mapping;
mod columnar;
mod config;
mod default_value;
mod explain;
mod open_files;
#[cfg_attr(not(feature = "orc"), path = "no_orc.rs")]
mod orc;
mod pruning;
mod reader;
mod snapshot;
mod split;
mod split_token;
mod splits;
mod stages;
mod stream_rows;
mod task;
mod task_reader;
mod tasks;

use std::sync::Arc;

use arrow_schema::SchemaRef;
use config::ScanConfig;
use orcish_core::Result;
use orcish_core::explain::Explanation;
use orcish_core::parallel::{Prefetch, ScanMemory, decoding_threads};
use orcish_io::StorageOptions;
use snapshot::TableSnapshot;
use tasks::ScanTasks;

pub use reader::ScanReader;
pub use split::Split;

use crate::options::ReadOptions;
use crate::table::Table;

/// A scan: the projection, filter and options of reading a table.
///
/// A scan is read by [`read`](Self::read), in this process, or divided by [`splits`](Self::splits) between processes.
#[derive(Debug, Clone)]
pub struct Scan {
    snapshot: Arc<TableSnapshot>,
    config: Arc<ScanConfig>,
}

impl Scan {
    /// A scan of all live files of a table.
    ///
    /// # Errors
    /// `InvalidArgument` and `UnknownColumn` where the options do not fit the table, `Unsupported` for segments of an
    /// unsupported format.
    pub fn try_new(table: &Table, options: ReadOptions) -> Result<Self> {
        let snapshot = TableSnapshot {
            location: table.location().to_owned(),
            columns: table.columns().to_vec(),
            schema: table.schema(),
            is_transactional: table.is_transactional(),
            files: table.data_files().to_vec(),
            segments: table.segments().iter().map(|segment| segment.id.clone()).collect(),
            storage: table.storage().clone(),
            limits: table.limits().clone(),
        };
        Self::from_snapshot(Arc::new(snapshot), options)
    }

    /// The scan of a [`Split`], from its token.
    ///
    /// # Errors
    /// `InvalidArgument` for invalid tokens; else as [`try_new`](Self::try_new).
    pub fn from_split(token: &[u8], options: ReadOptions, storage: StorageOptions) -> Result<Self> {
        Self::from_snapshot(Arc::new(split_token::read(token, storage, &options.limits)?), options)
    }

    fn from_snapshot(snapshot: Arc<TableSnapshot>, options: ReadOptions) -> Result<Self> {
        let config = ScanConfig::try_new(&snapshot, options)?;
        Ok(Scan { snapshot, config: Arc::new(config) })
    }

    /// A scan of the same table with other options.
    ///
    /// # Errors
    /// As [`try_new`](Self::try_new).
    pub fn with_options(&self, options: ReadOptions) -> Result<Self> {
        Self::from_snapshot(self.snapshot.clone(), options)
    }

    /// Schema of the record batches.
    pub fn schema(&self) -> SchemaRef {
        self.config.output_schema.clone()
    }

    /// Schema of the table.
    pub fn table_schema(&self) -> SchemaRef {
        self.snapshot.schema.clone()
    }

    /// Locations of the data files.
    pub fn files(&self) -> Vec<String> {
        self.snapshot.files.iter().map(|file| file.location.clone()).collect()
    }

    /// Reads record batches, in the order of segments, files and blocklets.
    pub fn read(&self) -> ScanReader {
        let threads = decoding_threads(self.config.options.threads, &self.snapshot.limits);
        let memory = ScanMemory::new(self.snapshot.limits.memory);
        let tasks = ScanTasks::try_new(self.snapshot.clone(), self.config.clone(), memory.clone());
        let prefetch = tasks.map(|tasks| {
            // With a limit and no filter, the first tasks are enough.
            let is_limited = self.config.options.limit.is_some() && self.config.filter.is_none();
            Prefetch::new(Arc::new(tasks), threads, is_limited, self.config.options.limit, memory)
        });
        let (prefetch, error) = match prefetch {
            Ok(prefetch) => (Some(prefetch), None),
            Err(error) => (None, Some(error)),
        };
        ScanReader { schema: self.schema(), prefetch, error }
    }

    /// As [`read`](Self::read), with the check of the storage options, which a call that returns no reader makes.
    fn read_cancellable(&self) -> ScanReader {
        let mut reader = self.read();
        if let Some(check) = self.snapshot.storage.of_table().cancel_check() {
            reader.set_cancel_check(check.clone());
        }
        reader
    }

    /// Number of rows of the scan. Without a filter it is taken from index files, else only the filter columns are
    /// read.
    ///
    /// # Errors
    /// As reading.
    pub fn count(&self) -> Result<u64> {
        let limit = self.config.options.limit.unwrap_or(u64::MAX);
        if self.config.filter.is_none()
            && let Some(rows) = ScanTasks::count(&self.snapshot)?
        {
            return Ok(rows.min(limit));
        }
        let options = ReadOptions { columns: Some(Vec::new()), ..self.config.options.clone() };
        self.with_options(options)?.read_cancellable().map(|batch| Ok(batch?.num_rows() as u64)).sum()
    }

    /// The plan of each file. The sections of a plan are blocklets, their row groups are pages.
    ///
    /// # Errors
    /// As reading.
    pub fn explain(&self) -> Result<Vec<Explanation>> {
        explain::explain(&self.snapshot, &self.config)
    }

    /// Divides the scan into splits of about `bytes` stored bytes. A split has blocklets of one file. Pruned blocklets
    /// are in no split.
    ///
    /// # Errors
    /// As reading.
    pub fn splits(&self, bytes: u64) -> Result<Vec<Split>> {
        splits::splits(&self.snapshot, &self.config, bytes)
    }
}
