//! The scan of a table.

use std::sync::Arc;

use arrow_schema::{Schema, SchemaRef};
use orcish_core::error::{Error, Result};
use orcish_core::explain::Explanation;
use orcish_core::statistics::ColumnStatistics;
use orcish_io::{FileVersion, StorageOptions};

use super::condition::is_ruled_out;
use super::file::FileReader;
use super::reader::ScanReader;
use super::table::Table;
use super::table_file::{Matching, SchemaSource, Split, TableFile};
use crate::options::{Columns, ReadOptions};
use crate::read::{OrcFile, ScanContext};

/// Statistics of a file over some stripes, the indexes of the others, and the version of the file.
pub(super) type VersionedStatistics = (ColumnStatistics, Vec<usize>, Option<FileVersion>);

/// A scan of the files of a table.
///
/// ```
/// use orcish::io::StorageOptions;
/// use orcish::scan::{Matching, TableFile};
/// use orcish::{ReadOptions, Scan};
///
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data/spark.zlib.orc");
/// let file = |day: &str| TableFile::new(path).with_partition(vec![("day".into(), Some(day.into()))]);
/// let files = vec![file("2026-11-21"), file("2026-11-22")];
/// let filter = "byte < 0 and day = date '2026-11-22'".parse()?;
/// let options = ReadOptions::default().with_columns(["int", "day"]).with_filter(filter);
/// let scan = Scan::try_new(files, None, options, Matching::Name, StorageOptions::default())?;
/// let rows = scan.read().map(|batch| Ok(batch?.num_rows())).sum::<orcish::Result<usize>>()?;
/// assert_eq!(scan.count()?, rows as u64);
/// // The partition column excludes the first file, which is not opened.
/// let skipped: Vec<bool> = scan.explain()?.iter().map(|file| file.skipped).collect();
/// assert_eq!(skipped, [true, false]);
/// # Ok::<(), orcish::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Scan {
    table: Arc<Table>,
}

impl Scan {
    /// A scan over `files`, in this order. The schema of the table is that of `schema`, followed by the partition columns.
    /// `options` select what is read. `options.stripes` is not used.
    ///
    /// Without a given schema and without an option for timestamps, columns that are `timestamp` in the first file and `timestamp
    /// with local time zone` in others are instants. Without a given schema, under
    /// [`TimestampUnit::Auto`](crate::options::TimestampUnit::Auto) and
    /// [`TimestampUnit::Exact`](crate::options::TimestampUnit::Exact), timestamps have the finest unit of any file, but
    /// nanoseconds only if the values of all files fit. Without a schema, columns of type `null` in the first file have the type
    /// of the first file with another one. The tails of all files are read to find out.
    ///
    /// Partition columns of `schema` have its types. Types of other partition columns are
    /// inferred: integers if all values are integers, or dates, or else text. Files of zero bytes have no rows and no schema.
    ///
    /// # Errors
    /// As opening the first file, if its schema is needed; `InvalidArgument` and `UnknownColumn` if the options do not fit the
    /// schema, files differ in their partition columns, or a partition value does not have the type of its column;
    /// `Unsupported` if partition columns cannot have the type.
    pub fn try_new(
        files: Vec<TableFile>,
        schema: impl Into<SchemaSource>,
        options: ReadOptions,
        matching: Matching,
        storage: StorageOptions,
    ) -> Result<Self> {
        Ok(Scan { table: Arc::new(Table::try_new(files, schema.into(), options, matching, storage)?) })
    }

    /// A scan of the same table with other options. Options that decide the types of columns, and the keys of encrypted columns,
    /// are not changed.
    ///
    /// # Errors
    /// `InvalidArgument` and `UnknownColumn` if the options do not fit the table.
    pub fn with_options(&self, options: ReadOptions) -> Result<Self> {
        Ok(Scan { table: Arc::new(self.table.with_options(options)?) })
    }

    pub(super) fn of_table(table: Arc<Table>) -> Self {
        Scan { table }
    }

    pub(super) fn table(&self) -> &Arc<Table> {
        &self.table
    }

    /// Schema of the batches.
    pub fn schema(&self) -> SchemaRef {
        self.table.output.clone()
    }

    /// The files.
    pub fn files(&self) -> &[TableFile] {
        &self.table.files
    }

    /// Schema of the whole table, its partition columns last. With it, [`try_new`](Self::try_new) scans some of the files in
    /// another process.
    pub fn table_schema(&self) -> SchemaRef {
        let fields = self.table.fields.iter().chain(&self.table.partition);
        Arc::new(Schema::new_with_metadata(fields.cloned().collect::<Vec<_>>(), self.table.metadata.clone()))
    }

    /// The error of the columns that cannot be read, where the table was opened for others.
    pub fn fault(&self) -> Option<&Error> {
        self.table.fault()
    }

    /// Reads batch by batch, file after file.
    pub fn read(&self) -> ScanReader {
        ScanReader::new(self.table.clone())
    }

    /// As [`read`](Self::read), with the check of the storage options, which a call that returns no reader makes.
    pub(super) fn read_cancellable(&self) -> ScanReader {
        let mut reader = self.read();
        if let Some(check) = self.table.storage.cancel_check() {
            reader.set_cancel_check(check.clone());
        }
        reader
    }

    /// Begins to read the file at an index with a number of threads, as one of the readers of a larger scan. `None` if no row
    /// of the file is selected. The limit of this scan is for the caller to keep.
    ///
    /// # Errors
    /// As opening the file. `InvalidArgument` if there is no such file.
    pub fn read_file(&self, file: usize, threads: usize, context: &ScanContext) -> Result<Option<FileReader>> {
        self.table.open_file(file)?.map(|file| file.read(threads, context)).transpose()
    }

    /// What reading would do, for each file.
    ///
    /// # Errors
    /// As reading.
    pub fn explain(&self) -> Result<Vec<Explanation>> {
        self.table.map_files(|table, at| match table.open_file(at)? {
            Some(file) => file.explain(),
            None => Ok(Explanation {
                file: table.name(at),
                skipped: is_ruled_out(table, table.file(at)?)?,
                sections: Vec::new(),
            }),
        })
    }

    /// Number of rows of the scan. Stripes whose rows all match are counted by their metadata. Of the other stripes, only the
    /// filter columns are read.
    ///
    /// # Errors
    /// As reading.
    pub fn count(&self) -> Result<u64> {
        let limit = self.table.options.limit.unwrap_or(u64::MAX);
        if self.table.options.filter.is_none() {
            if self.table.options.limit.is_none() {
                let rows = self.table.map_files(Table::rows)?;
                return Ok(rows.into_iter().fold(0, u64::saturating_add));
            }
            let mut rows = 0u64;
            let mut cancellation = self.table.storage.cancellation();
            for at in 0..self.table.files.len() {
                cancellation.poll()?;
                if rows >= limit {
                    break;
                }
                rows = rows.saturating_add(self.table.rows(at)?);
                self.table.close(at);
            }
            return Ok(rows.min(limit));
        }
        let columns = Columns::Names(Vec::new());
        let options = ReadOptions { columns, hide_row_number: true, ..self.table.options.clone() };
        let counting = Scan { table: Arc::new(self.table.with_options(options)?) };
        // A file may state any number of rows without columns.
        counting.read_cancellable().try_fold(0u64, |rows, batch| Ok(rows.saturating_add(batch?.num_rows() as u64)))
    }

    /// For each file, statistics of the only column over all stripes whose rows all match, and the indexes of the other stripes.
    ///
    /// # Errors
    /// `InvalidArgument` if the scan does not have exactly one column that is stored in files. As reading.
    pub fn exact_statistics(&self) -> Result<Vec<(ColumnStatistics, Vec<usize>)>> {
        let of_files = self.versioned_statistics()?;
        Ok(of_files.into_iter().map(|(statistics, stripes, _)| (statistics, stripes)).collect())
    }

    /// As [`exact_statistics`](Self::exact_statistics), with the versions of the files.
    pub(super) fn versioned_statistics(&self) -> Result<Vec<VersionedStatistics>> {
        if !self.table.is_one_stored_column() {
            return Err(Error::invalid("statistics are of one column that is stored in the files"));
        }
        self.table.map_files(|table, at| match table.open_file(at)? {
            None => Ok((ColumnStatistics::EMPTY, Vec::new(), None)),
            Some(file) => {
                let version = file.version();
                let (statistics, stripes) = file.exact_statistics()?;
                Ok((statistics, stripes, version))
            }
        })
    }

    /// Splits of about `bytes` stored bytes each. A split has stripes of one file. Stripes that statistics exclude are in no
    /// split.
    ///
    /// # Errors
    /// As reading.
    pub fn splits(&self, bytes: u64) -> Result<Vec<Split>> {
        let of_files = self.table.map_files(move |table, at| match table.open_file(at)? {
            None => Ok(Vec::new()),
            Some(file) => file.splits(table.file(at)?.clone(), bytes),
        })?;
        Ok(of_files.into_iter().flatten().collect())
    }

    /// The file at an index, with its tail.
    ///
    /// # Errors
    /// As opening it.
    pub fn open(&self, file: usize) -> Result<OrcFile> {
        self.table.file(file)?;
        let empty = || Error::corrupt("it has no bytes").in_file(&self.table.name(file));
        self.table.orc_file(file)?.ok_or_else(empty)
    }
}

#[cfg(test)]
mod tests {
    use orcish_core::expression::Predicate;

    use super::*;

    #[test]
    fn filters_have_as_many_levels_as_predicates() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data/spark.zlib.orc");
        let count = |filter: Predicate| {
            let options = ReadOptions::default().with_filter(filter);
            let files = vec![TableFile::new(path)];
            Scan::try_new(files, None, options, Matching::Name, StorageOptions::default()).and_then(|scan| scan.count())
        };
        let of_levels = |levels: usize| (1..levels).fold(Predicate::is_null("int"), |inner, _| !inner);
        assert_eq!(count(of_levels(Predicate::MAX_LEVELS)).unwrap(), count(of_levels(2)).unwrap());
        let error = count(Predicate::And(vec![of_levels(Predicate::MAX_LEVELS)])).unwrap_err();
        assert_eq!(error.kind(), orcish_core::ErrorKind::InvalidArgument);
    }
}
