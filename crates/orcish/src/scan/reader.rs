//! Batches of a scan, in order of the files, which several threads read ahead.

use std::sync::{Arc, OnceLock};

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use orcish_core::cancel::CancelCheck;
use orcish_core::error::Result;
use orcish_core::parallel::{Ahead, Parts};

use super::each::Openers;
use super::file::FileReader;
use super::table::Table;

/// Batches of a scan, in order. An error ends it.
pub struct ScanReader {
    files: Arc<Files>,
    batches: Ahead<Files>,
}

/// The files of a table, as they are read.
struct Files {
    table: Arc<Table>,
    /// Where files are worth opening ahead, once somebody reads.
    openers: OnceLock<Option<Openers>>,
}

impl std::fmt::Debug for ScanReader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ScanReader").field("schema", &self.files.table.output).finish_non_exhaustive()
    }
}

impl ScanReader {
    pub(super) fn new(table: Arc<Table>) -> Self {
        let limit = table.options.limit;
        // Under a limit that no filter puts off, the first files are enough.
        let is_short = limit.is_some() && table.options.filter.is_none();
        let threads = table.threads();
        let files = Arc::new(Files { table, openers: OnceLock::new() });
        ScanReader { batches: Ahead::new(files.clone(), threads, is_short, limit), files }
    }

    /// Schema of the batches.
    pub fn schema(&self) -> SchemaRef {
        self.files.table.output.clone()
    }

    /// Has `check` called now and then while the caller decodes or waits for other threads; its error ends the reading.
    pub fn set_cancel_check(&mut self, check: CancelCheck) {
        self.batches.set_cancel_check(check);
    }
}

impl Iterator for ScanReader {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        self.files.openers.get_or_init(|| Openers::start(&self.files.table));
        self.batches.next()
    }
}

impl Files {
    fn openers(&self) -> Option<&Openers> {
        self.openers.get()?.as_ref()
    }
}

impl Parts for Files {
    type Reader = FileReader;

    fn count(&self) -> usize {
        self.table.files.len()
    }

    fn open(&self, at: usize, threads: usize, beside: usize) -> Result<Option<FileReader>> {
        self.table.open_file(at)?.map(|file| file.read(threads, beside)).transpose()
    }

    fn reached(&self, at: usize) {
        self.openers().into_iter().for_each(|openers| openers.reached(at));
    }

    fn close(&self, at: usize) {
        self.table.close(at);
    }

    fn ended(&self) {
        self.openers().into_iter().for_each(Openers::stop);
    }

    fn set_cancel_check(reader: &mut FileReader, check: CancelCheck) {
        reader.set_cancel_check(check);
    }
}
