//! The filters of a stage that are applied after the read.

use std::fmt;
use std::sync::Arc;

use arrow_array::{BooleanArray, RecordBatch};
use arrow_schema::{Schema, SchemaRef};

use super::RowFilter;
use crate::error::{Error, OrInternal as _, Result};
use crate::expression::Predicate;
use crate::predicate::BatchFilter;

/// A filter that is applied after the read.
#[derive(Debug, Clone)]
pub(super) enum LateFilter {
    Predicate(Predicate),
    Row(Arc<dyn RowFilter>),
}

impl fmt::Display for LateFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LateFilter::Predicate(predicate) => predicate.fmt(f),
            LateFilter::Row(filter) => filter.fmt(f),
        }
    }
}

impl LateFilter {
    pub(super) fn is_elementwise(&self) -> bool {
        match self {
            LateFilter::Predicate(_) => true,
            LateFilter::Row(filter) => filter.is_elementwise(),
        }
    }

    /// Names of the top-level columns of a table that the filter needs; `None` where they are not known.
    ///
    /// # Errors
    /// As binding the filter to the columns.
    pub(super) fn columns(&self, readable: &Schema) -> Result<Option<Vec<String>>> {
        match self {
            LateFilter::Predicate(predicate) => {
                let places = BatchFilter::try_new(predicate, readable)?.root_columns();
                let name = |at: usize| Some(readable.fields().get(at)?.name().clone());
                Ok(Some(places.into_iter().filter_map(name).collect()))
            }
            LateFilter::Row(filter) => Ok(filter.columns().map(<[String]>::to_vec)),
        }
    }

    /// The filter of batches of a schema.
    ///
    /// # Errors
    /// As binding the filter to the columns.
    pub(super) fn bind(&self, schema: &SchemaRef) -> Result<BoundFilter> {
        Ok(match self {
            LateFilter::Predicate(predicate) => BoundFilter::Predicate(BatchFilter::try_new(predicate, schema)?),
            LateFilter::Row(filter) => {
                let places = match filter.columns() {
                    None => None,
                    Some(names) => Some(places_of(names, schema)?),
                };
                BoundFilter::Row(filter.clone(), places)
            }
        })
    }
}

/// The indexes of the columns of a row filter, or of the first column where it needs none: it has to see the number of rows.
fn places_of(names: &[String], schema: &Schema) -> Result<Vec<usize>> {
    if names.is_empty() {
        return Ok((0..schema.fields().len().min(1)).collect());
    }
    let place = |name: &String| schema.fields().find(name).map(|(at, _)| at);
    names.iter().map(|name| place(name).or_internal("a column of a filter was not read")).collect()
}

/// A filter of batches of one schema.
#[derive(Debug)]
pub(super) enum BoundFilter {
    Predicate(BatchFilter),
    /// With the indexes of the columns that it is given; `None` for all.
    Row(Arc<dyn RowFilter>, Option<Vec<usize>>),
}

impl BoundFilter {
    /// The masks of batches.
    ///
    /// # Errors
    /// As evaluating the filter.
    pub(super) fn masks(&self, batches: &[RecordBatch]) -> Result<Vec<BooleanArray>> {
        match self {
            BoundFilter::Predicate(filter) => batches
                .iter()
                .map(|batch| {
                    let column =
                        |at: usize| batch.columns().get(at).cloned().or_internal("a filter is of another schema");
                    filter.evaluate(&column, batch.num_rows())
                })
                .collect(),
            BoundFilter::Row(filter, places) => {
                let given: Vec<RecordBatch> = match places {
                    None => batches.to_vec(),
                    Some(places) => batches.iter().map(|batch| project(batch, places)).collect::<Result<_>>()?,
                };
                let masks = filter.masks(&given)?;
                let is_fit = masks.len() == batches.len()
                    && masks.iter().zip(batches).all(|(mask, batch)| mask.len() == batch.num_rows());
                if is_fit {
                    Ok(masks)
                } else {
                    Err(Error::internal("the masks of a filter are not those of the batches"))
                }
            }
        }
    }
}

/// Some columns of a batch.
fn project(batch: &RecordBatch, places: &[usize]) -> Result<RecordBatch> {
    batch.project(places).map_err(|error| Error::internal("a projection has another column").with_source(error))
}
