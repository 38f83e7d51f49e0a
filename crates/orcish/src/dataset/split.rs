//! Splitting of batches by the values of their partition columns.

use std::borrow::Cow;
use std::ops::Range;

use arrow_array::{Array as _, ArrayRef, RecordBatch, RecordBatchOptions, StringArray, UInt32Array};
use arrow_schema::SchemaRef;
use arrow_select::take::take;
use orcish_core::OrInternal as _;
use orcish_core::cast::plain_values;
use orcish_core::error::{Error, Result};

use super::codes::Codes;
use crate::partition::{NULL_PARTITION, ValueFormat, format_values};

/// The texts of the partition columns of a partition. Null and the empty text are two keys, though they have the same
/// folder.
pub(super) type PartitionKey = Vec<Option<String>>;

/// The rows of a batch, divided into partitions.
pub(super) struct Split {
    /// In the order of their first rows.
    pub(super) partitions: Vec<Partition>,
    /// The file columns in the order of the batch.
    rows: RecordBatch,
    /// The rows in the order of the partitions; `None` if that is their order in the batch.
    order: Option<UInt32Array>,
}

/// A partition that a batch has rows of.
pub(super) struct Partition {
    pub(super) key: PartitionKey,
    /// The value of each partition column, an array of one row.
    pub(super) values: Vec<ArrayRef>,
    /// Its rows in the order of the partitions.
    range: Range<usize>,
}

impl Partition {
    /// The number of its rows.
    pub(super) fn rows(&self) -> usize {
        self.range.len()
    }
}

impl Split {
    /// The number of rows of the batch.
    pub(super) fn num_rows(&self) -> usize {
        self.rows.num_rows()
    }

    /// The file columns of some of the partitions, one partition after another. The rows of each are in the order of the
    /// batch.
    ///
    /// # Errors
    /// `InvalidArgument` for columns that no rows can be taken of.
    pub(super) fn rows_of(&self, partitions: &[&Partition]) -> Result<RecordBatch> {
        let Some(order) = &self.order else { return Ok(self.rows.clone()) };
        let order = if partitions.len() == self.partitions.len() {
            order.clone()
        } else {
            let rows = |partition: &&Partition| order.values().get(partition.range.clone());
            let rows = partitions.iter().map(rows).collect::<Option<Vec<_>>>();
            rows.or_internal("a row of a partition is none of its batch")?.concat().into()
        };
        let columns = self.rows.columns().iter().map(|column| take_rows(column, &order)).collect::<Result<Vec<_>>>()?;
        batch_of(self.rows.schema(), columns, order.len())
    }
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
    /// Splits a batch.
    ///
    /// # Errors
    /// `InvalidArgument` for a value that no folder can have.
    pub(super) fn split(&self, batch: &RecordBatch) -> Result<Split> {
        let rows = self.file_rows(batch)?;
        if batch.num_rows() == 0 {
            return Ok(Split { partitions: Vec::new(), rows, order: None });
        }
        let columns = self.partition_columns.iter().map(|at| self.values(batch, *at));
        let columns = columns.collect::<Result<Vec<_>>>()?;
        let Some((first, others)) = columns.split_first() else {
            let all = Partition { key: Vec::new(), values: Vec::new(), range: 0..batch.num_rows() };
            return Ok(Split { partitions: vec![all], rows, order: None });
        };
        let mut codes = Cow::Borrowed(&first.codes);
        for column in others {
            codes = Cow::Owned(codes.combine(&column.codes));
        }
        let (order, ends) = match codes.firsts[..] {
            [_] => (None, vec![batch.num_rows()]),
            _ => {
                let (order, ends) = codes.sort();
                (Some(order), ends)
            }
        };
        let mut start = 0;
        let part = |(first, end): (&u32, usize)| {
            let (key, values) = partition(&columns, *first)?;
            Ok(Partition { key, values, range: std::mem::replace(&mut start, end)..end })
        };
        let partitions = codes.firsts.iter().zip(ends).map(part).collect::<Result<_>>()?;
        Ok(Split { partitions, rows, order })
    }

    fn values(&self, batch: &RecordBatch, at: usize) -> Result<Values> {
        let named = batch.schema_ref().fields().get(at).zip(batch.columns().get(at));
        let (field, column) = named.or_internal("a batch lacks a partition column")?;
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
            let codes = codes.merge(texts.iter())?;
            if codes.len() == before {
                return Ok(Values { array, texts, codes });
            }
            // Values with the same text, such as several kinds of NaN, are one partition.
            let array = take_rows(&column, &codes.firsts.clone().into())?;
            let texts = format_values(&array, &self.format)?;
            Ok(Values { array, texts, codes })
        };
        distinct().map_err(|error: Error| error.in_column(field.name()))
    }

    fn file_rows(&self, batch: &RecordBatch) -> Result<RecordBatch> {
        let columns = self.file_columns.iter().map(|at| batch.columns().get(*at).cloned()).collect::<Option<_>>();
        let columns = columns.or_internal("a batch lacks a column of the files")?;
        batch_of(self.batch_schema.clone(), columns, batch.num_rows())
    }
}

fn batch_of(schema: SchemaRef, columns: Vec<ArrayRef>, rows: usize) -> Result<RecordBatch> {
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    let batch = RecordBatch::try_new_with_options(schema, columns, &options);
    batch.map_err(|error| Error::invalid("the columns are not those of the schema").with_source(error))
}

/// The texts and the values of the partition columns in a row.
fn partition(columns: &[Values], row: u32) -> Result<(PartitionKey, Vec<ArrayRef>)> {
    let value = |column: &Values| {
        let at = column.codes.codes.get(row as usize).map(|code| *code as usize);
        let at = at.filter(|at| *at < column.array.len()).or_internal("a row has no value")?;
        let text = column.texts.is_valid(at).then(|| column.texts.value(at).to_owned());
        Ok((text, column.array.slice(at, 1)))
    };
    Ok(columns.iter().map(value).collect::<Result<Vec<_>>>()?.into_iter().unzip())
}

fn take_rows(column: &ArrayRef, rows: &UInt32Array) -> Result<ArrayRef> {
    let taken = take(column, rows, None);
    taken.map_err(|error| Error::invalid("the rows of a batch cannot be sorted by partition").with_source(error))
}
