//! The configuration of a scan: projection, filter and options.

use std::sync::Arc;

use arrow_schema::{FieldRef, Schema, SchemaRef};
use orcish_core::Result;
use orcish_core::names::select;
use orcish_core::predicate::BatchFilter;

use super::snapshot::TableSnapshot;
use crate::options::ReadOptions;

/// The configuration of a scan.
#[derive(Debug)]
pub(super) struct ScanConfig {
    pub(super) options: ReadOptions,
    /// Projected columns: index in the table, and the field, whose type may have fewer children.
    pub(super) projection: Vec<(usize, FieldRef)>,
    pub(super) output_schema: SchemaRef,
    pub(super) filter: Option<BatchFilter>,
    /// Indexes in the table of the columns that the filter uses, ascending.
    pub(super) filter_columns: Vec<usize>,
}

impl ScanConfig {
    pub(super) fn try_new(snapshot: &TableSnapshot, options: ReadOptions) -> Result<Self> {
        let fields = snapshot.schema.fields();
        let projection = match &options.columns {
            None => fields.iter().cloned().enumerate().collect(),
            Some(names) => select(fields, names)?,
        };
        let filter =
            options.filter.as_ref().map(|filter| BatchFilter::try_new(filter, &snapshot.schema)).transpose()?;
        // A filter that is true for all rows is left out.
        let filter = filter.filter(|filter| filter.condition().constant() != Some(true));
        let filter_columns = filter.as_ref().map_or_else(Vec::new, BatchFilter::root_columns);
        let output_schema = Schema::new_with_metadata(
            projection.iter().map(|(_, field)| field.clone()).collect::<Vec<_>>(),
            snapshot.schema.metadata().clone(),
        );
        Ok(ScanConfig { options, projection, output_schema: Arc::new(output_schema), filter, filter_columns })
    }

    /// Indexes in the table of the projected columns and the filter columns.
    pub(super) fn required_columns(&self) -> impl Iterator<Item = usize> {
        self.projection.iter().map(|(at, _)| *at).chain(self.filter_columns.iter().copied())
    }
}
