//! Reader of ORC files, in segments that were added to the table.

use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::types::TimestampMicrosecondType;
use arrow_array::{Array as _, ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, FieldRef, Fields, Schema, TimeUnit};
use orcish::ReadOptions;
use orcish::scan::{FileReader, Matching, Scan, ScanContext, TableFile};
use orcish_core::cancel::CancelCheck;
use orcish_core::explain::Explanation;
use orcish_core::parallel::ScanMemory;
use orcish_core::{Error, Result};

use super::batch::filter_batch;
use super::config::ScanConfig;
use super::snapshot::TableSnapshot;
use crate::table::FileEntry;

/// Reads an ORC file with the projected columns and the filter columns.
pub(super) struct OrcRows {
    /// `None` if no row of the file is selected.
    reader: Option<FileReader>,
    /// For each column of the table, its index in the batches.
    batch_columns: Vec<Option<usize>>,
}

/// The plan of a file.
pub(super) fn explain(snapshot: &TableSnapshot, config: &ScanConfig, entry: &FileEntry) -> Result<Option<Explanation>> {
    Ok(scan(snapshot, config, entry)?.0.explain()?.pop())
}

/// Begins to read a file with a number of threads, as one of `readers` readers that share the memory of a scan.
pub(super) fn open(
    snapshot: &TableSnapshot,
    config: &ScanConfig,
    entry: &FileEntry,
    threads: usize,
    readers: usize,
    memory: &Arc<ScanMemory>,
) -> Result<OrcRows> {
    let (scan, batch_columns) = scan(snapshot, config, entry)?;
    let context = ScanContext { readers, memory: memory.clone() };
    Ok(OrcRows { reader: scan.read_file(0, threads, &context)?, batch_columns })
}

/// The scan of a file, and the index of each column of the table in its batches. Columns are matched by name, as Spark
/// does; Hive partition columns are in the path.
fn scan(snapshot: &TableSnapshot, config: &ScanConfig, entry: &FileEntry) -> Result<(Scan, Vec<Option<usize>>)> {
    let mut needed: Vec<usize> = config.required_columns().collect();
    needed.sort_unstable();
    needed.dedup();
    let mut batch_columns = vec![None; snapshot.columns.len()];
    let mut names = Vec::new();
    for (index, &at) in needed.iter().enumerate() {
        if let Some((slot, field)) = batch_columns.get_mut(at).zip(snapshot.schema.fields().get(at)) {
            *slot = Some(index);
            names.push(field.name().clone());
        }
    }
    let fields: Fields = snapshot.schema.fields().iter().map(in_file).collect();
    let file = TableFile::new(&entry.location).with_partition(entry.partition.clone());
    let options = ReadOptions::default()
        .with_columns(names)
        .with_batch_size(config.options.batch_size)
        .with_limits(snapshot.limits.clone())
        .with_threads(1);
    let schema = Arc::new(Schema::new(fields));
    let scan = Scan::try_new(
        vec![file],
        Some(schema),
        options,
        Matching::NameIgnoringCase,
        snapshot.storage.of(&entry.location).into_owned(),
    )?;
    Ok((scan, batch_columns))
}

impl OrcRows {
    pub(super) fn bytes_of_next(&self) -> u64 {
        self.reader.as_ref().map_or(0, FileReader::bytes_of_next)
    }

    pub(super) fn set_cancel_check(&mut self, check: CancelCheck) {
        if let Some(reader) = &mut self.reader {
            reader.set_cancel_check(check);
        }
    }

    pub(super) fn next(&mut self, snapshot: &TableSnapshot, config: &ScanConfig) -> Result<Option<RecordBatch>> {
        let Some(batch) = self.reader.as_mut().and_then(Iterator::next).transpose()? else { return Ok(None) };
        let column = |at: usize| {
            let array = self.batch_columns.get(at).copied().flatten().and_then(|index| batch.columns().get(index));
            let (Some(array), Some(field)) = (array, snapshot.schema.fields().get(at)) else {
                return Err(Error::invalid(format!("no column {at}")));
            };
            of_table(array, field.data_type())
        };
        filter_batch(config, batch.num_rows(), &column).map(Some)
    }
}

/// The field in an ORC file, where timestamps have no time zone.
fn in_file(field: &FieldRef) -> FieldRef {
    let data_type = type_in_file(field.data_type());
    Arc::new(field.as_ref().clone().with_data_type(data_type))
}

fn type_in_file(data_type: &DataType) -> DataType {
    match data_type {
        DataType::Timestamp(unit, Some(_)) => DataType::Timestamp(*unit, None),
        DataType::Struct(fields) => DataType::Struct(fields.iter().map(in_file).collect()),
        DataType::List(item) => DataType::List(in_file(item)),
        DataType::Map(entries, sorted) => DataType::Map(in_file(entries), *sorted),
        other => other.clone(),
    }
}

/// Converts timestamps without time zone to UTC.
fn of_table(array: &ArrayRef, target: &DataType) -> Result<ArrayRef> {
    if array.data_type() == target {
        return Ok(array.clone());
    }
    if let (DataType::Timestamp(TimeUnit::Microsecond, None), DataType::Timestamp(_, Some(zone))) =
        (array.data_type(), target)
    {
        let clocks = array.as_primitive::<TimestampMicrosecondType>().clone();
        return Ok(Arc::new(clocks.with_timezone(zone.clone())));
    }
    // The types differ in time zones only, so that the buffers are kept.
    let invalid = |error| Error::corrupt(format!("no {target}")).with_source(error);
    let data = array.to_data();
    Ok(arrow_array::make_array(retyped(data, target).map_err(invalid)?))
}

fn retyped(
    data: arrow_data::ArrayData,
    target: &DataType,
) -> std::result::Result<arrow_data::ArrayData, arrow_schema::ArrowError> {
    let children: Vec<&Field> = match target {
        DataType::Struct(fields) => fields.iter().map(AsRef::as_ref).collect(),
        DataType::List(item) | DataType::Map(item, _) => vec![item.as_ref()],
        _ => Vec::new(),
    };
    let inner = data.child_data().iter().zip(children);
    let inner =
        inner.map(|(data, field)| retyped(data.clone(), field.data_type())).collect::<std::result::Result<_, _>>()?;
    data.into_builder().data_type(target.clone()).child_data(inner).build()
}
