//! A file of a scan: what is read, and the conversion to batches of the table.

use std::collections::BTreeMap;

use arrow_array::{Array as _, ArrayRef, RecordBatch, RecordBatchOptions};
use arrow_schema::{DataType, FieldRef, Fields, SchemaRef};
use orcish_core::cancel::CancelCheck;
use orcish_core::cast::{ColumnCast, SchemaMapping, cast_columns};
use orcish_core::error::{Error, OrInternal as _, Result};
use orcish_core::explain::{Explanation, Outcome};
use orcish_core::predicate::TextConversion;
use orcish_core::select::filter_batch;
use orcish_core::statistics::{ColumnStatistics, Detail};
use orcish_core::types::nanoseconds;
use orcish_io::FileVersion;

use super::condition::{LateFilter, conditions, prune_partition};
use super::matching::Matcher;
use super::partition;
use super::table::{Origin, Table};
use super::table_file::{Split, TableFile};
use crate::options::{Columns, ReadOptions, TimestampUnit};
use crate::predicate::check_is_value;
use crate::projection::{Projected, Projection};
use crate::read::{
    BatchReader, Mapping, OrcFile, ReadRequest, ScanContext, max_rows, may_become_null, text_conversion,
};
use crate::schema::Kind;

// Threads that open files ahead share this.
pub(super) use super::condition::is_ruled_out;

/// What is read of a file.
pub(super) struct FileScan {
    file: OrcFile,
    /// The projection, and the part of the filter that is evaluated while the file is read.
    request: ReadRequest,
    conversion: BatchConversion,
}

/// Conversion from the columns of a file to batches of the table.
struct BatchConversion {
    output: SchemaRef,
    origins: Vec<Origin>,
    /// Columns of the table for which the file is read.
    fields: Fields,
    /// For each of `fields`, its column in the file, if any, and the cast.
    mapping: SchemaMapping,
    partition: Vec<(Option<String>, FieldRef)>,
    late: Option<LateFilter>,
    /// Memory limit for columns of nulls.
    memory: u64,
}

impl FileScan {
    /// Opens a file. `None` if its partition excludes all rows, or it has zero bytes.
    pub(super) fn open(table: &Table, at: usize) -> Result<Option<Self>> {
        let this = table.file(at)?;
        let Some(pruned) = prune_partition(table, this)? else { return Ok(None) };
        let Some(file) = table.orc_file(at)? else { return Ok(None) };
        // The logical types are those of the table.
        let mut plain = ReadOptions { arrow_schema: false, ..table.options.clone() };
        let mut column_options = BTreeMap::new();
        Matcher::new(table, &file, &plain).column_options_of_fields(0, &table.fields, &mut column_options)?;
        plain.column_options = column_options;
        plain.batch_size = plain.batch_size.min(max_rows(&table.output));
        let matcher = Matcher::new(table, &file, &plain);
        let mut wanted = table.wanted.clone();
        let (condition, late) = conditions(table, this, &matcher, pruned, &mut wanted)?;
        let (read, mapping) = matcher.fields(0, wanted.iter().map(|(place, field)| (*place, field)), &table.places)?;
        let schema = &file.tail().schema;
        let root = match schema.get(0)?.kind {
            Kind::Struct => Projected { id: 0, children: read },
            // The root is the only column, and has all descendants.
            _ => match read.into_iter().next() {
                Some(root) => root,
                None => Projection::try_new(schema, &Columns::All)?.root,
            },
        };
        let projection = Projection::from_root(schema, root)?;
        let options = ReadOptions {
            stripes: this.stripes.clone(),
            // A limit does not count rows that are filtered out later.
            limit: table.options.limit.filter(|_| late.is_none()),
            hide_row_number: plain.hide_row_number && !late.as_ref().is_some_and(LateFilter::has_row_numbers),
            // The later part is evaluated in the units of the table: it has no digits below them.
            timestamp_unit: if late.as_ref().is_some_and(LateFilter::compares_digits) || matcher.keeps_digits.get() {
                Some(TimestampUnit::Exact)
            } else {
                plain.timestamp_unit
            },
            ..plain.clone()
        };
        let value = |field: &FieldRef| {
            let value = this.partition.iter().find(|(name, _)| name == field.name());
            (value.and_then(|(_, value)| value.clone()), field.clone())
        };
        Ok(Some(FileScan {
            request: file.bound_request(projection, options, condition)?,
            conversion: BatchConversion {
                output: table.output.clone(),
                origins: table.origins.clone(),
                fields: wanted.into_iter().map(|(_, field)| field).collect(),
                mapping,
                partition: table.partition.iter().map(value).collect(),
                late,
                memory: table.options.limits.memory,
            },
            file,
        }))
    }

    /// Starts reading with a number of threads.
    pub(super) fn read(self, threads: usize, scan: &ScanContext) -> Result<FileReader> {
        let max_rows = self.request.options().batch_size;
        let reader = self.file.read_request(self.request.with_threads(threads), scan)?;
        Ok(FileReader { reader, conversion: self.conversion, name: self.file.name().to_owned(), max_rows, rest: None })
    }

    /// The version of the file, as far as it is known.
    pub(super) fn version(&self) -> Option<FileVersion> {
        self.file.tail().file_version.clone()
    }

    pub(super) fn explain(self) -> Result<Explanation> {
        let mut plan = self.file.explain_request(self.request)?;
        if self.conversion.late.is_some() {
            for stripe in &mut plan.sections {
                in_doubt(&mut stripe.outcome);
                for (_, outcome) in &mut stripe.row_groups {
                    in_doubt(outcome);
                }
            }
        }
        Ok(plan)
    }

    /// Statistics of the only column over all stripes whose rows all match, and the indexes of the other stripes. If the
    /// column is stored differently than in the table, or rows are filtered later, all stripes are others.
    pub(super) fn exact_statistics(self) -> Result<(ColumnStatistics, Vec<usize>)> {
        let options = self.request.options();
        let mut column = self.request.projection().root.children.first();
        let mut is_kept = matches!(self.conversion.mapping.first(), Some((Some(0), ColumnCast::Keep)))
            && self.conversion.late.is_none();
        while let Some(inner) = column.and_then(|column| column.children.first()) {
            // A struct is read with one field only.
            is_kept &= column.is_some_and(|column| column.children.len() == 1);
            column = Some(inner);
        }
        let id = column.map_or(0, |column| column.id);
        let schema = &self.file.tail().schema;
        is_kept &= check_is_value(schema, id, "").is_ok();
        let this = schema.get(id)?;
        // Statistics are of stored values: with padding, and before any conversion.
        is_kept &= !(options.trim_char && this.kind == Kind::Char);
        let mapping = Mapping { tail: self.file.tail(), options };
        is_kept &= !may_become_null(this, options) && text_conversion(&mapping, id)? == TextConversion::default();
        if !is_kept {
            let stripes = self.file.stripes_read(self.request)?;
            return Ok((ColumnStatistics::EMPTY, stripes));
        }
        let per_tick = match mapping.data_type(&Projected { id, children: Vec::new() })? {
            DataType::Timestamp(unit, _) if options.keeps_digits() => nanoseconds(unit).into(),
            _ => 1,
        };
        let (mut statistics, stripes) = self.file.exact_statistics(id, self.request)?;
        // Digits beyond the unit are an error of the reader.
        if let Detail::Timestamp { min, max, .. } = &statistics.detail
            && [min, max].into_iter().flatten().any(|bound| bound % per_tick != 0)
        {
            statistics.detail = statistics.detail.without_bounds();
        }
        Ok((statistics, stripes))
    }

    /// Runs of consecutive stripes of about `bytes` stored bytes.
    pub(super) fn splits(self, file: TableFile, bytes: u64) -> Result<Vec<Split>> {
        let stripes = self.file.stripes_read(self.request)?;
        let tail = self.file.tail();
        let file = TableFile { tail: Some(tail.to_bytes().into()), ..file };
        let mut splits: Vec<(Vec<usize>, u64, u64)> = Vec::new();
        for stripe in stripes {
            let info = tail.stripes.get(stripe).or_internal("a stripe is read that is none of the file")?;
            let size = info.index_length.saturating_add(info.data_length).saturating_add(info.footer_length);
            match splits.last_mut() {
                Some((run, rows, sum)) if sum.saturating_add(size) <= bytes => {
                    run.push(stripe);
                    *rows += info.rows;
                    *sum += size;
                }
                _ => splits.push((vec![stripe], info.rows, size)),
            }
        }
        let split =
            |(stripes, rows, bytes)| Split { file: TableFile { stripes: Some(stripes), ..file.clone() }, rows, bytes };
        Ok(splits.into_iter().map(split).collect())
    }
}

impl Table {
    /// What is read of a file. `None` if its partition excludes all rows.
    pub(super) fn open_file(&self, at: usize) -> Result<Option<FileScan>> {
        FileScan::open(self, at).map_err(|error| error.in_file(&self.name(at)))
    }

    /// Number of rows of a file, or of its stripes that belong to the table.
    pub(super) fn rows(&self, at: usize) -> Result<u64> {
        let Some(file) = self.orc_file(at)? else { return Ok(0) };
        file.rows(self.file(at)?.stripes.as_deref())
    }
}

/// Changes an outcome of "all rows match": the later part of the filter may exclude rows.
fn in_doubt(outcome: &mut Outcome) {
    if *outcome == Outcome::AllMatch {
        *outcome = Outcome::Read;
    }
}

/// Batches of the table from one file, in order. Nothing follows an error.
pub struct FileReader {
    reader: BatchReader,
    conversion: BatchConversion,
    name: String,
    /// Maximum rows of a batch.
    max_rows: usize,
    /// The remainder of a larger batch.
    rest: Option<RecordBatch>,
}

impl std::fmt::Debug for FileReader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FileReader").field("name", &self.name).finish_non_exhaustive()
    }
}

impl FileReader {
    /// Sets the check that is made regularly during decoding. An error of the check ends the reading.
    pub fn set_cancel_check(&mut self, check: CancelCheck) {
        self.reader.set_cancel_check(check);
    }

    /// The stored bytes that the next batch needs beyond those that the reader holds.
    pub fn bytes_of_next(&self) -> u64 {
        self.reader.bytes_of_next()
    }
}

impl Iterator for FileReader {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut batch = match self.rest.take() {
            Some(rest) => rest,
            None => match self.reader.next()? {
                Ok(batch) => batch,
                Err(error) => return Some(Err(error)),
            },
        };
        // Batches without columns may have any number of rows. The table may have columns that the file does not have.
        let rows = batch.num_rows();
        if rows > self.max_rows && !self.conversion.origins.is_empty() {
            self.rest = Some(batch.slice(self.max_rows, rows - self.max_rows));
            batch = batch.slice(0, self.max_rows);
        }
        Some(self.conversion.apply(&batch).map_err(|error| error.in_file(&self.name)))
    }
}

impl BatchConversion {
    fn apply(&self, batch: &RecordBatch) -> Result<RecordBatch> {
        let rows = batch.num_rows();
        let columns = cast_columns(&self.mapping, batch.columns(), &self.fields, rows, self.memory)?;
        let array = |origin: &Origin| match origin {
            Origin::File(at) => columns.get(*at).cloned().or_internal("a column of the table was not read"),
            Origin::Partition(at) => {
                let (value, field) = self.partition.get(*at).or_internal("a partition column is none of the table")?;
                partition::array(value.as_deref(), field.data_type(), rows)
            }
            Origin::RowNumber => batch.columns().last().cloned().or_internal("row numbers were not read"),
        };
        let arrays = self.origins.iter().map(array).collect::<Result<Vec<_>>>()?;
        let is_null = |(field, array): &(&FieldRef, &ArrayRef)| !field.is_nullable() && array.null_count() > 0;
        if let Some((field, _)) = self.output.fields().iter().zip(&arrays).find(is_null) {
            return Err(Error::invalid("the file has nulls, and the column of the table is not nullable")
                .in_column(field.name()));
        }
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        let invalid_columns = |error| Error::corrupt("the columns do not fit together").with_source(error);
        let output =
            RecordBatch::try_new_with_options(self.output.clone(), arrays, &options).map_err(invalid_columns)?;
        let Some(late) = &self.late else { return Ok(output) };
        let mask = late.evaluate(&columns, batch.columns().last(), rows)?;
        filter_batch(&output, &mask)
    }
}
