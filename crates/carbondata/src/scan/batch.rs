//! Record batches of a scan.

use arrow_array::{ArrayRef, BooleanArray, RecordBatch, RecordBatchOptions};
use arrow_select::filter::filter;
use orcish_core::cast::prune_fields;
use orcish_core::{Error, Result};

use super::config::ScanConfig;

/// A batch with the projected columns.
pub(super) fn make_batch(config: &ScanConfig, arrays: Vec<ArrayRef>, rows: usize) -> Result<RecordBatch> {
    if rows == 0 {
        return Ok(RecordBatch::new_empty(config.output_schema.clone()));
    }
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    RecordBatch::try_new_with_options(config.output_schema.clone(), arrays, &options)
        .map_err(|error| Error::corrupt("the columns do not fit together").with_source(error))
}

/// The rows that pass the filter. `column` returns columns of the table.
pub(super) fn filter_batch(
    config: &ScanConfig,
    rows: usize,
    column: &dyn Fn(usize) -> Result<ArrayRef>,
) -> Result<RecordBatch> {
    let selection = config.filter.as_ref().map(|filter| filter.evaluate(column, rows)).transpose()?;
    let count = selection.as_ref().map_or(rows, BooleanArray::true_count);
    let selection = selection.filter(|_| count < rows);
    if count == 0 {
        return make_batch(config, Vec::new(), 0);
    }
    let array = |(at, field): &(usize, arrow_schema::FieldRef)| {
        let array = prune_fields(&column(*at)?, field)?;
        match &selection {
            None => Ok(array),
            Some(selection) => {
                filter(&array, selection).map_err(|error| Error::limit("selected rows").with_source(error))
            }
        }
    };
    make_batch(config, config.projection.iter().map(array).collect::<Result<_>>()?, count)
}
