//! Tables that are written: rows are added or replaced, small files are combined, and rows are deleted.

use std::sync::Arc;

use arrow_array::{RecordBatch, RecordBatchOptions};
use arrow_schema::{Schema, SchemaRef};
use orcish_core::Predicate;
use orcish_core::error::{Error, OrInternal as _, Result};
use orcish_core::options;
use orcish_io::{Location, StagedFile, StorageOptions, display_name};
use orcish_table::{CommitError, Job, Operation, Pending, source_files};

use super::cast::{PartitionOf, cast_column};
use super::compaction::Combination;
use super::new_files::{combine_files_of, delete_rows_of};
use super::plans::{CompactionPlan, DeletionPlan, numbers_of, schema_source};
use super::replacing::{Replaced, replace_files};
use super::rewrite::RewriteOptions;
use super::row_write::{AppendedRows, ExistingData, RowWrite, WritePlan};
use crate::dataset::{DatasetFile, DatasetOptions, DatasetWriter, Publication};
use crate::options::ReadOptions;
use crate::scan::{Matching, Scan, TableFile};

/// A table: a folder of files, with folders of partitions as in Hive, and a log of commits in its folder `_orcish`.
///
/// Each change is one commit: all of it happens, or nothing, whichever process dies. Readers and writers in other processes see the table
/// before or after it.
///
/// ```
/// use std::sync::Arc;
///
/// use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};
/// use orcish::ReadOptions;
/// use orcish::table::{ExistingData, Table, TableWriteOptions};
///
/// # let folder = std::env::temp_dir().join(format!("orcish-table-example-{}", std::process::id()));
/// let table = Table::open(folder.to_str().unwrap(), &Default::default())?;
/// let options = TableWriteOptions::default().with_existing_data(ExistingData::Append).with_partition_by(["day"]);
/// for day in ["2026-11-21", "2026-11-22"] {
///     let days: ArrayRef = Arc::new(StringArray::from(vec![day, day]));
///     let ids: ArrayRef = Arc::new(Int64Array::from(vec![1, 2]));
///     let batch = RecordBatch::try_from_iter([("day", days), ("id", ids)])?;
///     let mut writer = table.write(&batch.schema(), options.clone())?;
///     writer.write(&batch)?;
///     writer.commit()?;
/// }
/// assert_eq!(table.delete(&"id = 1".parse()?)?.rows, 2);
/// assert_eq!(table.scan(ReadOptions::default())?.count()?, 2);
/// # std::fs::remove_dir_all(folder)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Table {
    location: Location,
    storage: StorageOptions,
}

options! {
    /// How rows are written to a table.
    #[derive(Debug, Clone)]
    pub struct TableWriteOptions {
        /// The partition columns, the outermost first, without those of the folder that is written to.
        partition_by: Vec<String> => with_partition_by(each String),
        /// The time zone of the writer of the files; by default that of the table.
        timezone: Option<String> => with_timezone(into),
        unlisted {
            /// What the write does where the table has data, or is one without rows.
            existing_data: ExistingData => with_existing_data,
            /// Bounds of the files. `partition_by`, `file_name`, `publication`, `storage` and `write.timezone` are set by the table.
            dataset: DatasetOptions => with_dataset,
        }
    }
}

/// A file that a compaction has made.
#[derive(Debug, Clone)]
pub struct CompactedFile {
    /// The path or URL of the file.
    pub location: String,
    /// How the file was made.
    pub how: Combination,
    /// Number of the files that it replaces.
    pub files: usize,
    /// Number of rows.
    pub rows: u64,
    /// Bytes of the files that it replaces.
    pub bytes_before: u64,
    /// Bytes of the file.
    pub bytes_after: u64,
}

/// What a deletion has done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Deleted {
    /// Number of the deleted rows.
    pub rows: u64,
    /// Number of the files of which all rows are deleted.
    pub files_removed: usize,
    /// Number of the files of which some rows are deleted.
    pub files_rewritten: usize,
}

impl Table {
    /// The table in a folder, or a partition of one, given by its path or URL. The folder need not exist.
    ///
    /// # Errors
    /// `InvalidArgument` if the path or URL is invalid, `Io` if it is that of a file, `Unsupported` for stores that are only read.
    pub fn open(location: &str, storage: &StorageOptions) -> Result<Self> {
        let table = Table { location: Location::try_new(location)?, storage: storage.clone() };
        table.job()?;
        Ok(table)
    }

    fn job(&self) -> Result<Job> {
        Job::try_new(&self.location, &self.storage)
    }

    /// A scan of the table, as it is now.
    ///
    /// # Errors
    /// As [`source_files`] and [`Scan::try_new`].
    pub fn scan(&self, options: ReadOptions) -> Result<Scan> {
        let found = source_files(&self.location, None, Pending::Wait, &self.storage)?;
        let files = found.files.into_iter().map(|file| TableFile::new(file.location).with_partition(file.partition));
        let job = self.job()?;
        let schema = schema_source(&job, found.schema.as_ref())?;
        Scan::try_new(files.collect(), schema, options, Matching::Name, self.storage.clone())
    }

    /// A writer of rows of a schema, partition columns included.
    ///
    /// # Errors
    /// As [`RowWrite::check_columns`], [`RowWrite::check_partitioned`] and [`RowWrite::plan`].
    pub fn write(&self, schema: &SchemaRef, options: TableWriteOptions) -> Result<TableWriter> {
        let TableWriteOptions { existing_data, partition_by, timezone, dataset } = options;
        let job = self.job()?;
        let rows = AppendedRows { schema: schema.as_ref().clone(), partition_by: partition_by.clone(), timezone };
        let mut write = RowWrite::new(job.clone());
        write.existing_data = existing_data;
        write.partition_by.clone_from(&partition_by);
        write.arrow_schema = dataset.write.arrow_schema;
        write.check_columns(schema.fields().iter().map(|field| field.name().as_str()))?;
        write.check_partitioned()?;
        let plan = write.plan(&rows)?;
        let attempt = job.new_attempt()?;
        let id = attempt.rsplit('/').next().unwrap_or(&attempt);
        let mut dataset = dataset
            .with_partition_by(partition_by)
            .with_file_name(format!("part-{{i}}-{id}.orc"))
            .with_publication(Publication::Staged { folder: Some(job.location(&attempt)) })
            .with_storage(self.storage.clone());
        dataset.write.timezone = plan.types.writer_timezone();
        let written: SchemaRef = Arc::new(plan.types.schema.clone());
        let writer = DatasetWriter::try_new(job.base(), written, dataset)?;
        Ok(TableWriter { write, plan, rows, writer })
    }

    /// Combines small files, folder by folder, into files of about `size` bytes, in one commit; see
    /// [`compaction_groups`](super::compaction_groups) and [`combine_files`](super::combine_files). With `rewrite`, all files are written
    /// again with these options.
    ///
    /// # Errors
    /// `Io` if there is no such folder. `Commit` if a file was changed or removed meanwhile; the table is unchanged. As reading and
    /// writing.
    pub fn compact(&self, size: u64, rewrite: Option<&RewriteOptions>) -> Result<Vec<CompactedFile>> {
        let job = self.job()?;
        let plan = CompactionPlan::of(&job, size, rewrite.is_some())?;
        let mut made: Vec<(Replaced, CompactedFile)> = Vec::new();
        let work = || {
            for group in &plan.groups {
                let files: Vec<String> = group.iter().map(|file| file.name.clone()).collect();
                let (how, by) = combine_files_of(&job, &files, plan.schema.as_ref(), rewrite)?;
                let file = CompactedFile {
                    location: by.location.clone(),
                    how,
                    files: files.len(),
                    rows: by.rows,
                    bytes_before: group.iter().map(|file| file.size).sum(),
                    bytes_after: by.bytes,
                };
                made.push((Replaced { files, by: Some(by) }, file));
            }
            Ok(())
        };
        let names: Vec<String> = plan.groups.iter().flatten().map(|file| file.name.clone()).collect();
        let done = job.reading(&names, work);
        let (replaced, files): (Vec<_>, Vec<_>) = made.into_iter().unzip();
        let commit = || replace_files(&job, Operation::Compact, &replaced, &plan.files, plan.schema.as_ref());
        finish(&job, &staged_of(&replaced), done.map_err(CommitError::from).and_then(|()| commit()))?;
        Ok(files)
    }

    /// Deletes the rows for which a filter is true, in one commit: files that have such rows are written again, with the options that they
    /// have.
    ///
    /// # Errors
    /// `Io` if there is no such folder. `InvalidArgument` if the filter is invalid, or a file is in a folder that is no partition.
    /// `Commit` if a file was changed or removed meanwhile; the table is unchanged. As reading and writing.
    pub fn delete(&self, filter: &Predicate) -> Result<Deleted> {
        let job = self.job()?;
        let plan = DeletionPlan::of(&job)?;
        let (mut replaced, mut deleted) = (Vec::new(), Deleted::default());
        let work = || {
            let scan = plan.scan(&job, filter)?;
            for (at, name) in plan.read_names().enumerate() {
                let numbers = numbers_of(&scan, at)?;
                if numbers.is_empty() {
                    continue;
                }
                let by = delete_rows_of(&job, name, &numbers, plan.schema.as_ref(), &RewriteOptions::default())?;
                deleted.rows += numbers.len() as u64;
                match by {
                    None => deleted.files_removed += 1,
                    Some(_) => deleted.files_rewritten += 1,
                }
                replaced.push(Replaced { files: vec![name.to_owned()], by });
            }
            Ok(())
        };
        let done = job.reading(&plan.names, work);
        let commit = || replace_files(&job, Operation::Delete, &replaced, &plan.files, plan.schema.as_ref());
        finish(&job, &staged_of(&replaced), done.map_err(CommitError::from).and_then(|()| commit()))?;
        Ok(deleted)
    }
}

/// The files that take the place of others.
fn staged_of(replaced: &[Replaced]) -> Vec<StagedFile> {
    replaced.iter().filter_map(|each| each.by.clone()).collect()
}

/// Removes the staged files after an error, unless the commit may be decided.
fn finish<T>(job: &Job, staged: &[StagedFile], result: Result<T, CommitError>) -> Result<T> {
    if let Err(CommitError::Refused(_)) = &result {
        job.give_up(staged);
    }
    Ok(result?)
}

/// Writes rows to a table. The rows are in the table once [`commit`](Self::commit) returns. A writer that is dropped before, or has failed,
/// changes nothing.
#[derive(Debug)]
pub struct TableWriter {
    write: RowWrite,
    plan: WritePlan,
    rows: AppendedRows,
    writer: DatasetWriter,
}

impl TableWriter {
    /// The schema with which the rows are written.
    pub fn schema(&self) -> &Schema {
        &self.plan.types.schema
    }

    /// Writes rows, which get the types of the table.
    ///
    /// # Errors
    /// `InvalidArgument` if the batch has other columns, or if a value is not one of the type of the table. As
    /// [`DatasetWriter::write`].
    pub fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        let schema = &self.plan.types.schema;
        if !batch
            .schema()
            .fields()
            .iter()
            .map(|field| field.name())
            .eq(schema.fields().iter().map(|field| field.name()))
        {
            let text = "the batch has other columns than the schema of the writer";
            return Err(Error::invalid(text).in_file(&display_name(self.write.job.base())));
        }
        let columns = batch.columns().iter().zip(schema.fields()).map(|(column, field)| {
            let is_partition = self.rows.partition_by.contains(field.name());
            cast_column(column, field, if is_partition { PartitionOf::Folders } else { PartitionOf::Files })
        });
        let columns = columns.collect::<Result<Vec<_>>>()?;
        let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
        let rows = RecordBatch::try_new_with_options(Arc::new(schema.clone()), columns, &options);
        self.writer.write(&rows.map_err(|error| Error::invalid(error.to_string()))?)
    }

    /// Commits the rows, and gives the files.
    ///
    /// # Errors
    /// As [`RowWrite::commit`] and [`DatasetWriter::finish`]. `Commit` also if the commit is decided and not finished, or if it is not
    /// known whether it is decided; the message says which.
    pub fn commit(mut self) -> Result<Vec<DatasetFile>> {
        if self.plan.is_new && self.rows.partition_by.is_empty() {
            // Readers that know nothing of the log find the columns in the file.
            self.writer.begin()?;
        }
        let files = self.writer.finish()?;
        let staged = files.iter().map(|file| file.staged.clone()).collect::<Option<Vec<_>>>();
        let staged = staged.or_internal("a file of a job is not staged")?;
        finish(&self.write.job, &staged, self.write.commit(&self.plan, &staged, &self.rows, None))?;
        Ok(files)
    }
}
