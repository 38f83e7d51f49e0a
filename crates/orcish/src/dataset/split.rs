//! Splitting of batches by the values of their partition columns.

use arrow_array::{Array as _, ArrayRef, RecordBatch, RecordBatchOptions, StringArray, UInt32Array};
use arrow_schema::SchemaRef;
use arrow_select::take::take;
use orcish_core::cast::plain_values;
use orcish_core::error::{Error, Result};

use super::codes::Codes;
use crate::partition::{NULL_PARTITION, ValueFormat, format_values};

/// The texts of the partition columns of a partition. Null and the empty text are two keys, though they have the same
/// folder.
pub(super) type PartitionKey = Vec<Option<String>>;

/// The rows of a batch that belong to one partition.
pub(super) struct PartitionRows {
    pub(super) key: PartitionKey,
    /// The value of each partition column, an array of one row.
    pub(super) values: Vec<ArrayRef>,
    /// The other columns.
    pub(super) rows: RecordBatch,
}

/// Which columns of a schema are partition columns.
pub(super) struct Splitter {
    pub(super) partition_columns: Vec<usize>,
    pub(super) file_columns: Vec<usize>,
    /// Schema of the file columns, which may all be null: the file writer reports rows that are not.
    pub(super) batch_schema: SchemaRef,
    pub(super) format: ValueFormat,
}

/// The distinct values of a partition column.
struct Values {
    array: ArrayRef,
    texts: StringArray,
    codes: Codes,
}

impl Splitter {
    /// Splits a batch. Partitions are in the order of their first rows, and their rows in the order of the batch.
    ///
    /// # Errors
    /// `InvalidArgument` for a value that no folder can have.
    pub(super) fn split(&self, batch: &RecordBatch) -> Result<Vec<PartitionRows>> {
        if batch.num_rows() == 0 {
            return Ok(Vec::new());
        }
        let columns = self.partition_columns.iter().map(|at| self.values(batch, *at));
        let columns = columns.collect::<Result<Vec<_>>>()?;
        let rows = self.file_rows(batch.columns(), batch.num_rows())?;
        let Some((first, others)) = columns.split_first() else {
            return Ok(vec![PartitionRows { key: Vec::new(), values: Vec::new(), rows }]);
        };
        let mut combined: Option<Codes> = None;
        for column in others {
            combined = Some(combined.as_ref().unwrap_or(&first.codes).combine(&column.codes));
        }
        let codes = combined.as_ref().unwrap_or(&first.codes);
        let rows_of = |first: u32, rows: RecordBatch| {
            let (key, values) = partition(&columns, first)?;
            Ok(PartitionRows { key, values, rows })
        };
        if let [only] = codes.firsts[..] {
            return Ok(vec![rows_of(only, rows)?]);
        }
        let (order, ends) = codes.sort();
        let sorted = rows.columns().iter().map(|column| take_rows(column, &order)).collect::<Result<Vec<_>>>()?;
        let sorted = self.file_batch(sorted, batch.num_rows())?;
        let mut start = 0;
        let part = |(first, end): (&u32, usize)| {
            let rows = sorted.slice(start, end - start);
            start = end;
            rows_of(*first, rows)
        };
        codes.firsts.iter().zip(ends).map(part).collect()
    }

    fn values(&self, batch: &RecordBatch, at: usize) -> Result<Values> {
        let name = batch.schema_ref().fields().get(at).map(|field| field.name().clone()).unwrap_or_default();
        let column = batch.columns().get(at).ok_or_else(|| Error::invalid("a column is missing"))?;
        let distinct = || {
            let column = plain_values(column)?;
            let codes = Codes::of(&column)?;
            let array = take_rows(&column, &codes.firsts.clone().into())?;
            let texts = format_values(&array, &self.format)?;
            if texts.iter().flatten().any(|text| text == NULL_PARTITION) {
                return Err(Error::invalid(format!(
                    "'{NULL_PARTITION}' stands for null in names of folders, and cannot be a value there"
                )));
            }
            let before = codes.len();
            let codes = codes.merge(texts.iter());
            if codes.len() == before {
                return Ok(Values { array, texts, codes });
            }
            // Values with the same text, such as several kinds of NaN, are one partition.
            let array = take_rows(&column, &codes.firsts.clone().into())?;
            let texts = format_values(&array, &self.format)?;
            Ok(Values { array, texts, codes })
        };
        distinct().map_err(|error: Error| error.in_column(&name))
    }

    fn file_rows(&self, columns: &[ArrayRef], rows: usize) -> Result<RecordBatch> {
        let columns = self.file_columns.iter().filter_map(|at| columns.get(*at).cloned()).collect();
        self.file_batch(columns, rows)
    }

    fn file_batch(&self, columns: Vec<ArrayRef>, rows: usize) -> Result<RecordBatch> {
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        let batch = RecordBatch::try_new_with_options(self.batch_schema.clone(), columns, &options);
        batch.map_err(|error| Error::invalid("the columns are not those of the schema").with_source(error))
    }
}

/// The texts and the values of the partition columns in a row.
fn partition(columns: &[Values], row: u32) -> Result<(PartitionKey, Vec<ArrayRef>)> {
    let value = |column: &Values| {
        let code = usize::try_from(row).ok().and_then(|row| column.codes.codes.get(row)).copied();
        let at = code.and_then(|code| usize::try_from(code).ok()).filter(|at| *at < column.array.len());
        let at = at.ok_or_else(|| Error::invalid("a row has no partition"))?;
        let text = column.texts.is_valid(at).then(|| column.texts.value(at).to_owned());
        Ok((text, column.array.slice(at, 1)))
    };
    Ok(columns.iter().map(value).collect::<Result<Vec<_>>>()?.into_iter().unzip())
}

fn take_rows(column: &ArrayRef, rows: &UInt32Array) -> Result<ArrayRef> {
    let taken = take(column, rows, None);
    taken.map_err(|error| Error::invalid("the rows of a batch cannot be sorted by partition").with_source(error))
}
