//! Rewriting of files: their rows, all or some of them, in a new file with the types of the table.

use arrow_array::{BooleanArray, RecordBatch};
use arrow_buffer::BooleanBuffer;
use arrow_schema::SchemaRef;
use orcish_core::error::{Error, ErrorKind, OrInternal as _, Result};
use orcish_core::limits::Limits;
use orcish_core::select::filter_batch;
use orcish_core::stages::TableScan;
use orcish_io::{Sink, StorageOptions};

use super::log_schema::LoggedSchema;
use super::rewritten_types::RewrittenTypes;
use super::source_file::SourceFile;
use crate::options::{ReadOptions, TimestampUnit};
use crate::scan::{Matching, Scan, SchemaSource, TableFile};
use crate::time::WriterZone;
use crate::write::{FileWriter, WriteOptions, Written};

/// Options of a file that takes the place of others.
#[derive(Debug, Clone, Default)]
pub struct RewriteOptions {
    /// Options of the file; by default those of the first file that it replaces, see [`WriteOptions::of_file`]. Its time zone, its
    /// Arrow schema, and whether it has one, are decided by the other fields.
    pub write: Option<WriteOptions>,
    /// The time zone of the writer. All stripes have it, and wall clocks stay as they are. By default the stripes have the time zones of
    /// the stripes that their rows come from, so that `timestamp` columns have the same clocks and the same instants.
    pub timezone: Option<String>,
    /// Whether the file has an Arrow schema. By default it has one if readers of the table take types from one, or if they do not infer
    /// the types of all columns.
    pub arrow_schema: Option<bool>,
}

/// Files of a table whose rows are written into one new file. Readers of the table find the same values as before, under all options.
///
/// ```
/// use arrow_array::{ArrayRef, Int64Array, RecordBatch};
/// use orcish::io::{StorageOptions, create};
/// use orcish::table::{Rewrite, RewriteOptions};
/// use orcish::{OrcFile, OrcWriter, WriteOptions};
///
/// # let folder = std::env::temp_dir().join(format!("orcish-rewrite-example-{}", std::process::id()));
/// # std::fs::create_dir(&folder)?;
/// let mut files = Vec::new();
/// for (name, ids) in [("a.orc", vec![1, 2]), ("b.orc", vec![3, 4])] {
///     let ids: ArrayRef = std::sync::Arc::new(Int64Array::from(ids));
///     let batch = RecordBatch::try_from_iter([("id", ids)])?;
///     let path = folder.join(name);
///     let mut writer = OrcWriter::try_new(std::fs::File::create(&path)?, batch.schema(), &WriteOptions::default())?;
///     writer.write(&batch)?;
///     writer.close()?;
///     files.push(path.to_str().unwrap().to_owned());
/// }
/// let storage = StorageOptions::default();
/// let rewrite = Rewrite::try_new(&files, None, &RewriteOptions::default(), &storage)?;
/// let path = folder.join("c.orc");
/// // The second row of the first file is left out.
/// let written = rewrite.write(create(path.to_str().unwrap(), &storage)?, &[1])?;
/// assert_eq!((written.rows, OrcFile::open(&path)?.tail().rows), (3, 3));
/// # std::fs::remove_dir_all(folder)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Rewrite {
    pub(super) files: Vec<SourceFile>,
    types: RewrittenTypes,
    options: WriteOptions,
    /// Whether all stripes get one time zone.
    has_timezone: bool,
    has_log: bool,
    storage: StorageOptions,
}

impl Rewrite {
    /// Opens the files at paths or URLs, and decides on the types of the new file. `schema` is that in the log of the table.
    ///
    /// # Errors
    /// `InvalidArgument` if there are no files; `Unsupported` if the files have columns that are one column to some readers, or a column
    /// that has no common type; as opening the files.
    pub fn try_new(
        locations: &[String],
        schema: Option<&LoggedSchema>,
        options: &RewriteOptions,
        storage: &StorageOptions,
    ) -> Result<Self> {
        let open = |location: &String| SourceFile::open(location, storage);
        Self::of_files(locations.iter().map(open).collect::<Result<_>>()?, schema, options, storage)
    }

    pub(super) fn of_files(
        files: Vec<SourceFile>,
        schema: Option<&LoggedSchema>,
        options: &RewriteOptions,
        storage: &StorageOptions,
    ) -> Result<Self> {
        let Some(first) = files.first() else { return Err(Error::invalid("there are no files to write again")) };
        let has_timezone = options.timezone.is_some();
        let types = RewrittenTypes::try_new(&files, schema, storage, !has_timezone, options.arrow_schema)?;
        let mut write = options.write.clone().unwrap_or_else(|| WriteOptions::of_file(&first.file, false));
        write.timezone = options.timezone.clone().unwrap_or_else(|| WriteOptions::default().timezone);
        write.arrow_schema = types.has_arrow_schema;
        write.recorded_schema = Some(types.recorded.clone());
        Ok(Rewrite { files, types, options: write, has_timezone, has_log: schema.is_some(), storage: storage.clone() })
    }

    /// The schema with which the rows are read and written. Its metadata decide the ORC types.
    pub fn schema(&self) -> &SchemaRef {
        &self.types.read
    }

    /// Number of rows of the files.
    ///
    /// # Errors
    /// `InvalidArgument` if 64 bits do not count them.
    pub fn rows(&self) -> Result<u64> {
        rows_of(&self.files)
    }

    /// Writes the rows into a file. `removed` are the sorted numbers of rows that are left out, counted over all files from 0.
    ///
    /// # Errors
    /// `InvalidArgument` if the numbers are not sorted, or not those of rows, and for a value that the new file does not hold, with the
    /// name of what has the rows; `LimitExceeded` if a timestamp has digits beyond the unit of its column, or does not fit into 64 bits;
    /// `Unsupported` if a stripe was written in a time zone that is not known; `Commit` if another number of rows was read than the
    /// files state; as reading and writing. No file appears after an error.
    pub fn write<S: Sink>(&self, sink: S, removed: &[i64]) -> Result<Written> {
        let total = self.rows()?;
        check_numbers(removed, total)?;
        let runs = self.runs()?;
        let scans = runs.iter().map(|run| Ok((run.zone.as_deref(), self.scan(run)?)));
        let scans = scans.collect::<Result<Vec<_>>>()?;
        let (_, first) = scans.first().or_internal("files that become another one are none")?;
        let mut writer = FileWriter::try_new(sink, first.schema(), &self.options)?;
        if let Some(check) = self.storage.cancel_check() {
            writer.set_cancel_check(check.clone());
        }
        let mut rows = RemainingRows { removed, before: 0 };
        for (zone, scan) in scans {
            if let Some(zone) = zone {
                writer.set_timezone(zone).map_err(|error| self.of_rows(error))?;
            }
            for batch in TableScan::read(&scan)? {
                if let Some(kept) = rows.of_batch(batch?)? {
                    writer.write(&kept).map_err(|error| self.of_rows(error))?;
                }
            }
        }
        let expected = total - removed.len() as u64;
        if rows.before != total || writer.rows() != expected {
            return Err(lost_rows(&self.files, total, removed.len(), writer.rows()));
        }
        writer.finish().map_err(|error| self.of_rows(error))
    }

    /// The scan of some stripes with the types of the table.
    fn scan(&self, run: &Run) -> Result<Scan> {
        let schema = self.types.read.clone();
        let schema = match (self.has_log, self.types.ignores_arrow_types) {
            (_, true) => SchemaSource::InferredOfOrc(schema),
            (true, false) => SchemaSource::Inferred(schema),
            (false, false) => SchemaSource::OfFiles(schema),
        };
        let options = ReadOptions::default().with_timestamp_unit(TimestampUnit::Exact);
        Scan::try_new(run.files.clone(), schema, options, Matching::Name, self.storage.clone())
    }

    /// The stripes of the files, in their order.
    fn runs(&self) -> Result<Vec<Run>> {
        let mut runs: Vec<Run> = Vec::new();
        for file in &self.files {
            let zones = match !self.has_timezone && file.has_timestamps() {
                true => file.file.writer_timezones(None, &Limits::default())?.into_iter().map(Some).collect(),
                false => Vec::new(),
            };
            for zone in zones.iter().flatten() {
                if WriterZone::parse(zone).is_err() {
                    let text = format!("writer time zone '{zone}' is not known");
                    return Err(Error::unsupported(text).in_file(&file.name()));
                }
            }
            // The stripes of a file that has no zones are one part.
            let parts: Vec<&[Option<String>]> = match zones.is_empty() {
                true => vec![&[None]],
                false => zones.chunk_by(|zone, other| zone == other).collect(),
            };
            let (is_whole, mut at) = (parts.len() == 1, 0);
            for part in parts {
                let stripes = (!is_whole).then(|| (at..at + part.len()).collect());
                at += part.len();
                let (zone, file) = (part.first().cloned().flatten(), file.table_file(stripes));
                match runs.last_mut() {
                    Some(run) if zone.is_none() || run.zone.is_none() || run.zone == zone => {
                        run.zone = zone.or(run.zone.take());
                        run.files.push(file);
                    }
                    _ => runs.push(Run { zone, files: vec![file] }),
                }
            }
        }
        Ok(runs)
    }

    /// An error of a value that the new file does not hold, with the name of what has the rows: the new file is removed.
    fn of_rows(&self, error: Error) -> Error {
        match &error.place().column {
            Some(column) if error.kind() == ErrorKind::InvalidArgument => {
                Error::invalid(error.message()).in_column(column).in_file(&name_of(&self.files))
            }
            _ => error,
        }
    }
}

/// The error of a file that has not the rows that it is expected to have.
pub(super) fn lost_rows(files: &[SourceFile], total: u64, removed: usize, written: u64) -> Error {
    let without = if removed == 0 { String::new() } else { format!(" without {removed}") };
    Error::new(ErrorKind::Commit, format!("{total} rows{without} became {written}")).in_file(&name_of(files))
}

/// What messages call files.
fn name_of(files: &[SourceFile]) -> String {
    match files {
        [] => String::new(),
        [file] => file.name(),
        [first, more @ ..] => format!("{} and {} more", first.name(), more.len()),
    }
}

/// Number of rows of files.
pub(super) fn rows_of(files: &[SourceFile]) -> Result<u64> {
    let rows = files.iter().try_fold(0u64, |rows, file| rows.checked_add(file.file.tail().rows));
    rows.ok_or_else(|| Error::invalid("the files have more rows than 64 bits count"))
}

/// Checks numbers of rows.
pub(super) fn check_numbers(numbers: &[i64], rows: u64) -> Result<()> {
    let is_row = |number: &i64| u64::try_from(*number).is_ok_and(|number| number < rows);
    if numbers.is_sorted_by(|number, next| number < next) && numbers.iter().all(is_row) {
        return Ok(());
    }
    Err(Error::invalid(format!("the numbers of removed rows are not sorted ones below {rows}")))
}

/// Consecutive stripes whose writers had one time zone.
struct Run {
    /// The zone, empty where it is not recorded; `None` where it does not matter.
    zone: Option<String>,
    files: Vec<TableFile>,
}

/// The rows that are not removed, batch by batch.
struct RemainingRows<'a> {
    /// The numbers of the removed rows of the next batches.
    removed: &'a [i64],
    /// Rows of the batches before.
    before: u64,
}

impl RemainingRows<'_> {
    /// The rows of the next batch that are not removed; `None` if all are.
    fn of_batch(&mut self, batch: RecordBatch) -> Result<Option<RecordBatch>> {
        let first = i64::try_from(self.before).or_internal("a file has more rows than 63 bits count")?;
        let rows = batch.num_rows();
        self.before += rows as u64;
        let index = |number: i64| usize::try_from(number - first).unwrap_or(usize::MAX);
        let count = self.removed.partition_point(|number| index(*number) < rows);
        let (removed, later) = self.removed.split_at(count);
        self.removed = later;
        if removed.is_empty() {
            return Ok(Some(batch));
        }
        if removed.len() == rows {
            return Ok(None);
        }
        let mut next = removed.iter().map(|number| index(*number)).peekable();
        let is_kept = BooleanBuffer::collect_bool(rows, |row| next.next_if_eq(&row).is_none());
        filter_batch(&batch, &BooleanArray::new(is_kept, None)).map(Some)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::cast::AsArray as _;
    use arrow_array::types::Int64Type;
    use arrow_array::{ArrayRef, Int64Array};
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn numbers_are_those_of_rows() {
        assert!(check_numbers(&[0, 2], 3).is_ok());
        for wrong in [vec![2, 0], vec![1, 1], vec![3], vec![-1]] {
            assert_eq!(check_numbers(&wrong, 3).unwrap_err().kind(), ErrorKind::InvalidArgument);
        }
    }

    proptest! {
        #[test]
        fn rows_that_are_not_removed_remain(kept in prop::collection::vec(any::<bool>(), 0..50), length in 1usize..20) {
            let numbers = (0i64..).zip(&kept);
            let removed: Vec<i64> = numbers.clone().filter(|(_, kept)| !**kept).map(|(number, _)| number).collect();
            let mut rows = RemainingRows { removed: &removed, before: 0 };
            let mut found = Vec::new();
            let all: Vec<i64> = numbers.clone().map(|(number, _)| number).collect();
            for batch in all.chunks(length) {
                let values: ArrayRef = Arc::new(Int64Array::from(batch.to_vec()));
                let batch = RecordBatch::try_from_iter([("x", values)]).unwrap();
                if let Some(batch) = rows.of_batch(batch).unwrap() {
                    prop_assert!(batch.num_rows() > 0);
                    found.extend_from_slice(batch.column(0).as_primitive::<Int64Type>().values());
                }
            }
            let expected: Vec<i64> = numbers.filter(|(_, kept)| **kept).map(|(number, _)| number).collect();
            prop_assert_eq!((found, rows.before), (expected, kept.len() as u64));
        }
    }
}
