//! Batches after the stages that a reader does not evaluate.

use std::collections::VecDeque;

use arrow_array::{BooleanArray, RecordBatch, RecordBatchOptions};
use arrow_schema::{FieldRef, Schema, SchemaRef};

use super::late::BoundFilter;
use super::plan::{LateStage, StagePlan};
use crate::cast::prune_fields;
use crate::error::{Error, OrInternal as _, Result};
use crate::select::filter_batch;

/// The batches of a reader after the later stages, with the columns that were asked for. Nothing follows an error.
#[derive(Debug)]
pub struct StagedRows<I> {
    rows: Option<I>,
    stages: Vec<BoundStage>,
    output: SchemaRef,
    /// For each column of the output, its index among the columns that are read.
    places: Vec<usize>,
    is_elementwise: bool,
    /// Batches of filters that need all rows.
    ready: VecDeque<RecordBatch>,
}

#[derive(Debug)]
struct BoundStage {
    filters: Vec<BoundFilter>,
    /// Rows that the stage may still keep.
    left: u64,
}

impl BoundStage {
    fn bind(stage: &LateStage, schema: &SchemaRef) -> Result<Self> {
        let filters = stage.filters.iter().map(|filter| filter.bind(schema)).collect::<Result<_>>()?;
        Ok(BoundStage { filters, left: stage.limit.unwrap_or(u64::MAX) })
    }

    fn apply(&mut self, mut batches: Vec<RecordBatch>) -> Result<Vec<RecordBatch>> {
        for filter in &self.filters {
            let masks = filter.masks(&batches)?;
            let keep = |(batch, mask): (&RecordBatch, &BooleanArray)| filter_batch(batch, mask);
            batches = batches.iter().zip(&masks).map(keep).collect::<Result<_>>()?;
        }
        let mut kept = Vec::new();
        for batch in batches {
            let rows = usize::try_from(self.left).unwrap_or(usize::MAX).min(batch.num_rows());
            self.left -= rows as u64;
            kept.push(batch.slice(0, rows));
        }
        Ok(kept)
    }
}

impl<I: Iterator<Item = Result<RecordBatch>>> StagedRows<I> {
    /// The rows of a reader of batches of the schema `read`, after the later stages of a plan, with the columns `output`.
    ///
    /// # Errors
    /// `Internal` where a column was not read.
    pub(super) fn try_new(rows: I, read: &SchemaRef, output: SchemaRef, plan: &StagePlan) -> Result<Self> {
        let stages = plan.late.iter().map(|stage| BoundStage::bind(stage, read)).collect::<Result<_>>()?;
        let places = places(read, &output)?;
        let is_elementwise = plan.is_elementwise();
        Ok(StagedRows { rows: Some(rows), stages, output, places, is_elementwise, ready: VecDeque::new() })
    }

    fn is_done(&self) -> bool {
        self.stages.iter().any(|stage| stage.left == 0)
    }

    fn apply(&mut self, batches: Vec<RecordBatch>) -> Result<Vec<RecordBatch>> {
        let kept = self.stages.iter_mut().try_fold(batches, |batches, stage| stage.apply(batches))?;
        kept.iter().filter(|batch| batch.num_rows() > 0).map(|batch| self.project(batch)).collect()
    }

    /// The columns that were asked for, without struct fields that were read for a filter.
    fn project(&self, batch: &RecordBatch) -> Result<RecordBatch> {
        let column = |(&place, field): (&usize, &FieldRef)| {
            prune_fields(batch.columns().get(place).or_internal("a batch has another schema")?, field)
        };
        let columns = self.places.iter().zip(self.output.fields()).map(column).collect::<Result<_>>()?;
        let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
        let invalid = |error| Error::internal("the columns of filtered rows are no batch").with_source(error);
        RecordBatch::try_new_with_options(self.output.clone(), columns, &options).map_err(invalid)
    }

    fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        loop {
            if let Some(batch) = self.ready.pop_front() {
                return Ok(Some(batch));
            }
            // A limit that is reached ends the read before another batch.
            if self.is_done() {
                self.rows = None;
            }
            let Some(rows) = &mut self.rows else { return Ok(None) };
            let batches = if self.is_elementwise {
                match rows.next() {
                    Some(batch) => vec![batch?],
                    None => return Ok(None),
                }
            } else {
                let all = rows.collect::<Result<_>>()?;
                self.rows = None;
                all
            };
            self.ready = self.apply(batches)?.into();
        }
    }
}

impl<I: Iterator<Item = Result<RecordBatch>>> Iterator for StagedRows<I> {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        let next = self.next_batch();
        if next.is_err() {
            self.rows = None;
            self.ready.clear();
        }
        next.transpose()
    }
}

/// For each column of the output, its index among the columns that are read. Where the same columns are read, they are the same
/// ones; otherwise those that were asked for come first, or are found by their names, which no other column has.
fn places(read: &Schema, output: &Schema) -> Result<Vec<usize>> {
    let names = |schema: &Schema| schema.fields().iter().map(|field| field.name().clone()).collect::<Vec<_>>();
    let (all, asked) = (names(read), names(output));
    if all.starts_with(&asked) {
        return Ok((0..asked.len()).collect());
    }
    let place = |name: &String| all.iter().position(|other| other == name).or_internal("a column was not read");
    asked.iter().map(place).collect()
}
