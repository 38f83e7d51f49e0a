//! Reading a file batch by batch: what is decoded, in which order, and how it becomes batches.
//!
//! The columns of a stripe are dealt out to groups, each of which is decoded by one thread at a time,
//! batch after batch. Groups may run ahead of each other, and of the caller, by a few batches; the
//! caller takes what is the front of all of them. See [`super::workers`] for who does the work.

use std::collections::VecDeque;
use std::sync::Arc;

use arrow_array::{Array, ArrayRef, Int64Array, RecordBatch, RecordBatchOptions};
use arrow_schema::{DataType, Field, SchemaRef};
use orcish_core::cancel::Check;
use orcish_core::cast::restore;
use orcish_core::error::{Error, Result};

use super::filtered::FilteredStripe;
use super::plan::Plan;
use super::rows::Columns;
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
        BatchReader { schema: plan.restored.clone(), workers: Workers::new(plan.clone()), plan, left, given: 0 }
    }

    /// Schema of the batches.
    pub fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    /// Has `check` called now and then while the caller decodes or waits for other threads. Its error ends the
    /// reading, and what they are at, such as a slow read, is not waited for.
    pub fn while_waiting(&mut self, check: Check) {
        self.workers.while_waiting(check);
    }

    fn batch(&mut self, batch: Batch) -> Result<RecordBatch> {
        let Batch { mut columns, rows, first_row } = batch;
        if let Some(first_row) = first_row.filter(|_| self.plan.options.row_number.is_some()) {
            let number = |row: u64| i64::try_from(row).unwrap_or(i64::MAX);
            columns.push(Arc::new((first_row..first_row + rows as u64).map(number).collect::<Int64Array>()));
        }
        if !Arc::ptr_eq(&self.plan.schema, &self.schema) {
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

/// The field of a column that counts rows.
pub(super) fn row_number_field(name: &str) -> Field {
    Field::new(name, DataType::Int64, false)
}

/// A stripe whose readers are made.
pub(super) struct OpenStripe {
    pub(super) rows: u64,
    pub(super) groups: Vec<Group>,
}

/// Columns that one thread decodes at a time.
pub(super) struct Group {
    /// Where the columns go in the batch.
    pub(super) columns: Vec<usize>,
    pub(super) reader: GroupReader,
}

/// What decodes the columns of a group.
pub(super) enum GroupReader {
    Columns(Columns),
    Filtered(Box<FilteredStripe>),
    /// All rows, of no column.
    Rows,
}

/// Arrays of the columns of a group, of the same rows.
pub(super) struct Part {
    pub(super) arrays: Vec<ArrayRef>,
    pub(super) rows: usize,
    pub(super) bytes: u64,
    /// Rows of the stripe that are done with it.
    pub(super) passed: u64,
}

impl Group {
    /// Decodes some of the `left` rows.
    pub(super) fn decode(&mut self, left: u64, plan: &Plan) -> Result<Part> {
        let rows = usize::try_from(left).unwrap_or(usize::MAX).min(plan.batch_size);
        let (arrays, rows) = match (&mut self.reader, &plan.filter) {
            (GroupReader::Filtered(stripe), Some(filter)) => return stripe.next(left, plan, filter),
            (GroupReader::Filtered(_), None) => return Err(Error::invalid("a filter is missing")),
            (GroupReader::Columns(reader), _) => reader.read(rows, plan.budget())?,
            (GroupReader::Rows, _) => (Vec::new(), rows),
        };
        let bytes = arrays.iter().map(|array| array.get_buffer_memory_size() as u64).sum();
        Ok(Part { arrays, rows, bytes, passed: rows as u64 })
    }
}

/// Parts that a group has decoded and nobody has taken.
#[derive(Default)]
pub(super) struct Ready {
    parts: VecDeque<Part>,
    /// Rows of the first part that are taken.
    taken: usize,
}

impl Ready {
    pub(super) fn push(&mut self, part: Part) {
        self.parts.push_back(part);
    }

    pub(super) fn len(&self) -> usize {
        self.parts.len()
    }

    /// Rows that are left of the first part.
    pub(super) fn front_rows(&self) -> Option<usize> {
        self.parts.front().map(|part| part.rows - self.taken)
    }

    /// Takes `rows` rows of the first part; also says how many bytes are no longer held here.
    pub(super) fn take(&mut self, rows: usize) -> (Vec<ArrayRef>, u64) {
        let Some(part) = self.parts.front() else { return (Vec::new(), 0) };
        let all = self.taken == 0 && rows == part.rows;
        let slice = |array: &ArrayRef| if all { array.clone() } else { array.slice(self.taken, rows) };
        let arrays = part.arrays.iter().map(slice).collect();
        let (end, bytes) = (self.taken + rows >= part.rows, part.bytes);
        self.taken = if end { 0 } else { self.taken + rows };
        if end {
            self.parts.pop_front();
        }
        (arrays, if end { bytes } else { 0 })
    }
}
