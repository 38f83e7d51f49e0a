//! Reading a file batch by batch: what is decoded, in which order, and how it becomes batches.
//!
//! The columns of a stripe are dealt out to groups, each of which is decoded by one thread at a time,
//! batch after batch. Groups may run ahead of each other, and of the caller, by a few batches; the
//! caller takes what is the front of all of them. See [`super::workers`] for who does the work.

use std::sync::Arc;

use arrow_array::{Int64Array, RecordBatch, RecordBatchOptions};
use arrow_schema::SchemaRef;
use orcish_core::cancel::CancelCheck;
use orcish_core::cast::restore;
use orcish_core::error::{Error, Result};

use super::plan::Plan;
use super::workers::{Batch, Workers};

/// Batches of a file, in order. An error ends it.
///
/// Threads are started when the first batch is asked for, and stopped when it is dropped; one that is at a slow read is
/// not waited for.
pub struct BatchReader {
    schema: SchemaRef,
    pub(super) plan: Arc<Plan>,
    workers: Workers,
    /// Rows that may still be given.
    left: u64,
    /// Rows that have been given.
    given: u64,
}

impl std::fmt::Debug for BatchReader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BatchReader").field("schema", &self.schema).finish_non_exhaustive()
    }
}

impl BatchReader {
    pub(super) fn new(plan: Plan) -> Self {
        let (left, plan) = (plan.options.limit.unwrap_or(u64::MAX), Arc::new(plan));
        BatchReader { schema: plan.logical.clone(), workers: Workers::new(plan.clone()), plan, left, given: 0 }
    }

    /// Schema of the batches.
    pub fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    /// Has `check` called now and then while the caller decodes or waits for other threads. Its error ends the
    /// reading, and what they are at, such as a slow read, is not waited for.
    pub fn set_cancel_check(&mut self, check: CancelCheck) {
        self.workers.set_cancel_check(check);
    }

    /// The stored bytes that the next batch needs beyond those that the reader holds.
    pub(crate) fn bytes_of_next(&self) -> u64 {
        self.workers.bytes_of_next()
    }

    fn batch(&mut self, batch: Batch) -> Result<RecordBatch> {
        let Batch { mut columns, rows, first_row } = batch;
        if let Some(first_row) = first_row.filter(|_| self.plan.options.row_number.is_some()) {
            let number = |row: u64| i64::try_from(row).unwrap_or(i64::MAX);
            columns.push(Arc::new((first_row..first_row + rows as u64).map(number).collect::<Int64Array>()));
        }
        if !Arc::ptr_eq(&self.plan.physical, &self.schema) {
            let memory = self.plan.limits().memory;
            let restored = columns.iter().zip(self.schema.fields()).map(|(array, field)| restore(array, field, memory));
            columns = restored.collect::<Result<_>>()?;
        }
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        let batch = RecordBatch::try_new_with_options(self.schema.clone(), columns, &options);
        let batch = batch.map_err(|error| Error::corrupt("the columns do not fit together").with_source(error))?;
        let wanted = usize::try_from(self.left).unwrap_or(usize::MAX).min(rows);
        self.left -= wanted as u64;
        self.given = self.given.saturating_add(wanted as u64);
        self.plan.check_rows(self.given)?;
        Ok(if wanted < rows { batch.slice(0, wanted) } else { batch })
    }
}

impl Iterator for BatchReader {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.left == 0 {
            self.workers.stop();
            return None;
        }
        let batch = self.workers.next()?.and_then(|batch| self.batch(batch));
        if batch.is_err() {
            self.workers.stop();
        }
        Some(batch.map_err(|error| error.in_file(self.plan.source.name())))
    }
}
