//! Reading of a file batch by batch.
//!
//! The columns of a stripe are divided into groups. One thread at a time decodes a group. Groups may be some batches ahead of
//! each other and of the caller. See [`super::scheduler`] for the threads.

use std::sync::Arc;

use arrow_array::{RecordBatch, RecordBatchOptions};
use arrow_schema::SchemaRef;
use orcish_core::arrow_reader::ArrowReader;
use orcish_core::cancel::CancelCheck;
use orcish_core::cast::restore;
use orcish_core::error::{Error, Result};

use super::filter::row_numbers;
use super::opener::Opener;
use super::scheduler::{Batch, ScanContext, Scheduler};
use super::stripe_plan::PlannedStripe;

/// Batches of a file, in order. An error ends the batches.
///
/// Threads start with the first batch, and stop when the reader is dropped. A thread in a slow read is not waited for.
pub struct BatchReader {
    schema: SchemaRef,
    pub(super) opener: Arc<Opener>,
    scheduler: Scheduler,
    /// Maximum number of rows that are still returned.
    rows_left: u64,
    /// Number of rows that have been returned.
    given: u64,
}

impl std::fmt::Debug for BatchReader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BatchReader").field("schema", &self.schema).finish_non_exhaustive()
    }
}

impl BatchReader {
    /// The reader of `stripes`.
    pub(super) fn new(opener: Opener, stripes: Vec<PlannedStripe>, scan: &ScanContext) -> Self {
        let opener = Arc::new(opener);
        BatchReader {
            schema: opener.request.logical.clone(),
            scheduler: Scheduler::new(opener.clone(), stripes, scan),
            rows_left: opener.request.options.limit.unwrap_or(u64::MAX),
            opener,
            given: 0,
        }
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
    /// reading. Running tasks, such as slow reads, are not waited for.
    pub fn set_cancel_check(&mut self, check: CancelCheck) {
        self.scheduler.set_cancel_check(check);
    }

    /// The stored bytes that the next batch needs beyond those that the reader holds.
    pub(crate) fn bytes_of_next(&self) -> u64 {
        self.scheduler.bytes_of_next()
    }

    fn batch(&mut self, batch: Batch) -> Result<RecordBatch> {
        let Batch { mut columns, rows, first_row } = batch;
        if let Some(first_row) = first_row.filter(|_| self.opener.request.is_numbered()) {
            columns.push(row_numbers(first_row..first_row + rows as u64)?);
        }
        if !Arc::ptr_eq(&self.opener.request.physical, &self.schema) {
            let memory = self.opener.limits().memory;
            let restored = columns.iter().zip(self.schema.fields()).map(|(array, field)| restore(array, field, memory));
            columns = restored.collect::<Result<_>>()?;
        }
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        let batch = RecordBatch::try_new_with_options(self.schema.clone(), columns, &options);
        let batch = batch.map_err(|error| Error::corrupt("the columns do not fit together").with_source(error))?;
        let wanted = usize::try_from(self.rows_left).unwrap_or(usize::MAX).min(rows);
        self.rows_left -= wanted as u64;
        self.given = self.given.saturating_add(wanted as u64);
        self.opener.request.check_rows(self.given)?;
        Ok(if wanted < rows { batch.slice(0, wanted) } else { batch })
    }
}

impl Iterator for BatchReader {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.rows_left == 0 {
            self.scheduler.stop();
            return None;
        }
        let batch = self.scheduler.next()?.and_then(|batch| self.batch(batch));
        if batch.is_err() {
            self.scheduler.stop();
        }
        Some(batch.map_err(|error| self.opener.in_file(error)))
    }
}
