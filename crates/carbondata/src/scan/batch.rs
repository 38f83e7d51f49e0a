//! Record batches of a scan.

use arrow_array::{ArrayRef, BooleanArray, RecordBatch, RecordBatchOptions};
use arrow_select::filter::filter;
use orcish_core::cast::cut;
use orcish_core::{Error, Result};

use super::config::ScanConfig;

/// A batch with the projected columns.
pub(super) fn batch(config: &ScanConfig, arrays: Vec<ArrayRef>, rows: usize) -> Result<RecordBatch> {
    if rows == 0 {
        return Ok(RecordBatch::new_empty(config.output.clone()));
    }
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    RecordBatch::try_new_with_options(config.output.clone(), arrays, &options)
        .map_err(|error| Error::corrupt("the columns do not fit together").with_source(error))
}

/// The rows that pass the filter. `column` returns columns of the table.
pub(super) fn filtered(
    config: &ScanConfig,
    rows: usize,
    column: &dyn Fn(usize) -> Result<ArrayRef>,
) -> Result<RecordBatch> {
    let wanted = config.filter.as_ref().map(|filter| filter.evaluate(column, rows)).transpose()?;
    let count = wanted.as_ref().map_or(rows, BooleanArray::true_count);
    let wanted = wanted.filter(|_| count < rows);
    if count == 0 {
        return batch(config, Vec::new(), 0);
    }
    let array = |(at, field): &(usize, arrow_schema::FieldRef)| {
        let array = cut(&column(*at)?, field)?;
        match &wanted {
            None => Ok(array),
            Some(wanted) => filter(&array, wanted).map_err(|error| Error::limit("wanted rows").with_source(error)),
        }
    };
    batch(config, config.projection.iter().map(array).collect::<Result<_>>()?, count)
}
