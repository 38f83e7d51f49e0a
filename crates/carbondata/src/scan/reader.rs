//! The record batch reader of a scan.

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use orcish_core::cancel::CancelCheck;
use orcish_core::parallel::Prefetch;
use orcish_core::{ArrowReader, Error, Result};

use super::tasks::ScanTasks;

/// Reads the record batches of a [`Scan`](crate::Scan), in order. An error is the last item.
pub struct ScanReader {
    pub(super) schema: SchemaRef,
    pub(super) prefetch: Option<Prefetch<ScanTasks>>,
    pub(super) error: Option<Error>,
}

impl std::fmt::Debug for ScanReader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ScanReader").field("schema", &self.schema).finish_non_exhaustive()
    }
}

impl ScanReader {
    /// Schema of the record batches.
    pub fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    /// The reader as a [`RecordBatchReader`](arrow_array::RecordBatchReader), whose errors are those of Arrow.
    pub fn into_record_batch_reader(self) -> ArrowReader<Self> {
        ArrowReader::new(self.schema(), self)
    }

    /// Sets a function that is called regularly while the caller decodes, or waits for other threads. Its error ends
    /// the iterator.
    pub fn set_cancel_check(&mut self, check: CancelCheck) {
        if let Some(prefetch) = &mut self.prefetch {
            prefetch.set_cancel_check(check);
        }
    }
}

impl Iterator for ScanReader {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(error) = self.error.take() {
            return Some(Err(error));
        }
        self.prefetch.as_mut()?.next()
    }
}
