//! Batches of a scan, in order of the files, with prefetch by several threads.

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use orcish_core::arrow_reader::ArrowReader;
use orcish_core::cancel::CancelCheck;
use orcish_core::error::Result;
use orcish_core::parallel::{Prefetch, PrefetchSource, ScanMemory};

use super::file::{FileReader, is_ruled_out};
use super::table::Table;
use crate::read::ScanContext;

/// Batches of a scan, in order. An error ends the batches.
pub struct ScanReader {
    schema: SchemaRef,
    batches: Prefetch<Files>,
}

/// The files of a table, as inputs of a prefetch.
struct Files {
    table: Arc<Table>,
    memory: Arc<ScanMemory>,
}

impl std::fmt::Debug for ScanReader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ScanReader").field("schema", &self.schema).finish_non_exhaustive()
    }
}

impl ScanReader {
    pub(super) fn new(table: Arc<Table>) -> Self {
        let (schema, threads, limit) = (table.output.clone(), table.threads(), table.options.limit);
        // With a limit and no filter, the first files are enough.
        let is_sequential = limit.is_some() && table.options.filter.is_none();
        let memory = ScanMemory::new(table.options.limits.memory);
        let files = Arc::new(Files { table, memory: memory.clone() });
        ScanReader { schema, batches: Prefetch::new(files, threads, is_sequential, limit, memory) }
    }

    /// Schema of the batches.
    pub fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    /// The reader as a [`RecordBatchReader`](arrow_array::RecordBatchReader), whose errors are those of Arrow.
    pub fn into_record_batch_reader(self) -> ArrowReader<Self> {
        ArrowReader::new(self.schema(), self)
    }

    /// Sets the check that the caller makes regularly while it decodes or waits for threads. An error of the check ends the
    /// reading.
    pub fn set_cancel_check(&mut self, check: CancelCheck) {
        self.batches.set_cancel_check(check);
    }
}

impl Iterator for ScanReader {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        self.batches.next()
    }
}

impl PrefetchSource for Files {
    type Reader = FileReader;

    fn num_inputs(&self) -> usize {
        self.table.files.len()
    }

    fn open(&self, at: usize, threads: usize, open_inputs: usize) -> Result<Option<FileReader>> {
        let scan = ScanContext { readers: open_inputs, memory: self.memory.clone() };
        self.table.open_file(at)?.map(|file| file.read(threads, &scan)).transpose()
    }

    fn close(&self, at: usize) {
        self.table.close(at);
    }

    /// Files of remote stores are opened ahead, unless a limit may be reached before they are read.
    fn num_prepared(&self) -> usize {
        match self.table.requests().min(self.table.files.len()) {
            requests if requests > 1 && self.table.options.limit.is_none() => requests,
            _ => 0,
        }
    }

    fn prepare(&self, at: usize) {
        let is_ruled_out = self.table.file(at).and_then(|file| is_ruled_out(&self.table, file));
        // An error is one of reading the file.
        if matches!(is_ruled_out, Ok(false)) {
            self.table.open_ahead(at);
        }
    }

    fn bytes_of_next(reader: &FileReader) -> u64 {
        reader.bytes_of_next()
    }

    fn set_cancel_check(reader: &mut FileReader, check: CancelCheck) {
        reader.set_cancel_check(check);
    }
}

#[cfg(test)]
mod tests;
