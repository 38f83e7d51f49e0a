//! Writing of rows to a table: the files that stay, the columns that the rows have to match, and the commit.

use std::collections::BTreeSet;

use arrow_schema::{Fields, Metadata, Schema};
use orcish_core::error::{Error, ErrorKind, Result};
use orcish_core::limits::Limits;
use orcish_core::types::map_fields;
use orcish_core::words;
use orcish_io::{StagedFile, display_name};
use orcish_table::{CommitError, Decision, Job, Operation, Removes, Snapshot, StreamBatch, TableSchema, exists};

use super::columns::TableColumns;
use super::files::TableFolder;
use super::log_schema::LoggedSchema;
use super::pandas::with_fitted_pandas;
use super::partitioning::{PartitionOption, Partitioning, columns_of_table, first_in_partition};
use super::schema_after::{schema_file, schema_with_rows};
use crate::partition::TextZone;
use crate::write::WriteOptions;

words! {
    /// What a write does where the table has data, or is one without rows.
    #[derive(Default)]
    pub enum ExistingData {
        /// The write is an error.
        #[default]
        Error = "error",
        /// Rows are added.
        Append = "append",
        /// All files of the folder are replaced.
        Overwrite = "overwrite",
        /// The files of the partitions that the rows are in are replaced.
        OverwritePartitions = "overwrite_partitions",
    }
}

/// How rows are written beside the files of a table.
#[derive(Debug, Clone)]
pub struct WrittenTypes {
    /// The types of the rows, partition columns included.
    pub schema: Schema,
    /// The time zone of the writer; by default that of [`WriteOptions`].
    pub timezone: Option<String>,
}

impl WrittenTypes {
    /// The time zone of the writer.
    pub(super) fn writer_timezone(&self) -> String {
        self.timezone.clone().unwrap_or_else(|| WriteOptions::default().timezone)
    }

    /// Whether rows are written in the same way. Metadata do not count.
    fn is_same(&self, other: &WrittenTypes) -> bool {
        plain_fields(&self.schema) == plain_fields(&other.schema) && self.writer_timezone() == other.writer_timezone()
    }
}

/// The fields without metadata, at all levels.
fn plain_fields(schema: &Schema) -> Fields {
    map_fields(schema.fields(), &mut |field, _| field.as_ref().clone().with_metadata(Metadata::default()).into())
}

/// The types of rows that are written to a table.
pub trait RowTypes {
    /// How the rows are written beside the columns of the table; `None` for a table without columns.
    ///
    /// # Errors
    /// `InvalidArgument` if the rows do not match the table.
    fn beside(&self, table: Option<&TableColumns>) -> Result<WrittenTypes>;

    /// The types of the values of partition columns, given those with which rows are written.
    fn partition_values(&self, written: &Schema) -> Schema {
        written.clone()
    }

    /// Checks that rows may be written into a folder with some files, by their paths in the table.
    ///
    /// # Errors
    /// `Unsupported` if the folder has files of another format, which stay or are replaced.
    fn check_files(&self, _files: &[&str]) -> Result<()> {
        Ok(())
    }
}

/// Rows of a schema. Narrower types become those of the table. Timestamps are written in the time zone of the writer of the table, unless
/// the rows have a time zone.
#[derive(Debug, Clone)]
pub struct AppendedRows {
    /// The types of the rows, partition columns included.
    pub schema: Schema,
    /// The partition columns, without those of the folder that is written to.
    pub partition_by: Vec<String>,
    /// The time zone of the writer.
    pub timezone: Option<String>,
}

impl RowTypes for AppendedRows {
    fn beside(&self, table: Option<&TableColumns>) -> Result<WrittenTypes> {
        let (schema, timezone) = (self.schema.clone(), self.timezone.clone());
        let Some(table) = table else { return Ok(WrittenTypes { schema, timezone }) };
        let schema = table.appended_schema(&schema, &self.partition_by, None)?;
        let timezone = match timezone {
            None => table.timezone_beside(&schema)?,
            given => given,
        };
        Ok(WrittenTypes { schema, timezone })
    }
}

/// A write of rows to a table, or to a partition of one.
#[derive(Debug, Clone)]
pub struct RowWrite {
    /// The job whose files have the rows.
    pub job: Job,
    /// What the write does where there are data.
    pub existing_data: ExistingData,
    /// The partition columns of the rows, without those of the folder that is written to.
    pub partition_by: Vec<String>,
    /// Whether the files of the rows have an Arrow schema.
    pub arrow_schema: bool,
    /// The time zone of instants that names of folders show without an offset, where the table has no type for them. Without it such
    /// texts are no instants.
    pub text_zone: TextZone,
    /// What messages call the partition columns.
    pub option: PartitionOption,
}

/// A table before rows are written to it.
struct TableState {
    /// The position of the log.
    position: u64,
    /// The columns that the rows have to match; `None` if the table has none, or if all columns are replaced.
    columns: Option<TableColumns>,
    /// The files below the folder that is written to, by their paths in the table.
    files: Vec<String>,
    /// Whether the folder that is written to has files, or is that of a table without rows.
    exists: bool,
}

/// How rows are written, and the schema of the table after the commit, for a table at one moment.
#[derive(Debug, Clone)]
pub struct WritePlan {
    /// The position of the log at which the table was looked at.
    pub position: u64,
    /// How the rows are written.
    pub types: WrittenTypes,
    /// The schema of the table after the commit.
    pub schema: TableSchema,
    /// Whether the table has no columns before the commit. A commit without rows makes the table then.
    pub is_new: bool,
}

impl RowWrite {
    /// A write that makes a table, or fails where there is one.
    pub fn new(job: Job) -> Self {
        RowWrite {
            job,
            existing_data: ExistingData::default(),
            partition_by: Vec::new(),
            arrow_schema: WriteOptions::default().arrow_schema,
            text_zone: TextZone::Unknown,
            option: PartitionOption::default(),
        }
    }

    /// Looks at the table, and decides how rows are written. A commit of another job that has died is finished before.
    ///
    /// # Errors
    /// `Io` with the kind `AlreadyExists` if there are data, with [`ExistingData::Error`]. `InvalidArgument` if the rows do not match the
    /// table, are divided otherwise, or have no partition columns, with [`ExistingData::OverwritePartitions`]; or if the folder is a
    /// partition of no table. `Commit` if the commit of the other job cannot be finished, or if another one has removed a file
    /// meanwhile. As reading the files.
    pub fn plan(&self, rows: &dyn RowTypes) -> Result<WritePlan> {
        let state = self.state(rows)?;
        self.check_absent(&state)?;
        let types = rows.beside(state.columns.as_ref())?;
        let schema = self.schema_after(state.columns.as_ref(), &types)?;
        Ok(WritePlan { position: state.position, types, schema, is_new: state.columns.is_none() })
    }

    /// Checks the names of the columns of the rows, partition columns included.
    ///
    /// # Errors
    /// `InvalidArgument` if the name of a column is that of a partition of the path, or differs from that of a partition column only by
    /// case.
    pub fn check_columns<'a>(&self, names: impl Iterator<Item = &'a str> + Clone) -> Result<()> {
        self.partitioning().check_names(names)
    }

    /// Checks that rows that replace partitions have partition columns.
    ///
    /// # Errors
    /// `InvalidArgument` otherwise, with the columns of the table. `Commit` if the commit of another job cannot be finished.
    pub fn check_partitioned(&self) -> Result<()> {
        if self.existing_data != ExistingData::OverwritePartitions || !self.partition_by.is_empty() {
            return Ok(());
        }
        Err(self.partitioning().no_partitions(&self.missing_partition_columns()?))
    }

    /// The partition columns of the table that the rows do not have. A commit of another job that has died is finished before.
    ///
    /// # Errors
    /// `Commit` if the commit cannot be finished.
    pub fn missing_partition_columns(&self) -> Result<Vec<String>> {
        let Snapshot { files, schema, .. } = self.job.prepare("")?;
        let known = self.partitioning().columns();
        let own = columns_of_table(&self.job, schema.as_ref(), &files).into_iter().flatten();
        Ok(own.filter(|name| !known.contains(name)).collect())
    }

    /// Looks at the table. A commit of another job that has died is finished before.
    ///
    /// # Errors
    /// As [`plan`](Self::plan), but for what the rows are.
    fn state(&self, rows: &dyn RowTypes) -> Result<TableState> {
        let inside = self.job.inside();
        let Snapshot { position, files, schema } = self.job.prepare(if self.has_others() { "" } else { inside })?;
        if !inside.is_empty() && files.is_empty() && schema.is_none() {
            return Err(self.partitioning().no_table());
        }
        let is_below =
            |name: &&str| inside.is_empty() || name.strip_prefix(inside).is_some_and(|rest| rest.starts_with('/'));
        let below: Vec<&str> = files.iter().map(String::as_str).filter(is_below).collect();
        rows.check_files(&below).map_err(|error| error.in_file(&display_name(self.job.base())))?;
        let exists = !below.is_empty() || (schema.is_some() && inside.is_empty());
        let below: Vec<String> = below.into_iter().map(str::to_owned).collect();
        let is_done = self.existing_data == ExistingData::Error && exists;
        let replaced: BTreeSet<&String> = match self.existing_data {
            ExistingData::Overwrite => below.iter().collect(),
            _ => BTreeSet::new(),
        };
        let kept: Vec<String> = files.iter().filter(|name| !replaced.contains(name)).cloned().collect();
        let replaces_all = matches!(self.existing_data, ExistingData::Error | ExistingData::Overwrite);
        if is_done || (kept.is_empty() && inside.is_empty() && replaces_all) {
            return Ok(TableState { position, columns: None, files: below, exists });
        }
        if let Some(own) = columns_of_table(&self.job, schema.as_ref(), &kept) {
            let file = if schema.is_some() { None } else { first_in_partition(&kept) };
            self.partitioning().check(&own, file)?;
        }
        let columns = self.job.reading(&files, || self.columns(&kept, &files, schema.as_ref()))?;
        Ok(TableState { position, columns, files: below, exists })
    }

    /// The columns of the table. Those of the files of a partition that is replaced stay, unless their types contradict those of the other
    /// files.
    fn columns(&self, kept: &[String], all: &[String], schema: Option<&TableSchema>) -> Result<Option<TableColumns>> {
        if schema.is_none() && !kept.is_empty() && kept.len() < all.len() {
            match columns_of(&self.job, all, all, None, false) {
                Err(error) if error.kind() == ErrorKind::InvalidArgument => {}
                columns => return columns,
            }
        }
        columns_of(&self.job, kept, all, schema, false)
    }

    fn check_absent(&self, state: &TableState) -> Result<()> {
        if self.existing_data != ExistingData::Error || !state.exists {
            return Ok(());
        }
        let what = match state.files.is_empty() {
            true => "the folder is a table already, without rows",
            false => "the folder has data already",
        };
        Err(exists(what).in_file(self.job.name()))
    }

    /// The schema of the table after the commit of rows.
    fn schema_after(&self, table: Option<&TableColumns>, types: &WrittenTypes) -> Result<TableSchema> {
        schema_after(
            table,
            &types.schema,
            self.partitioning().columns(),
            self.arrow_schema,
            Some(&types.writer_timezone()),
        )
    }

    /// Commits the files of the rows. Gives whether the files are in the table: not if the batch of the stream was committed before.
    ///
    /// # Errors
    /// `Commit` if the table has changed, and the rows do not match it any more. `Io` with the kind `AlreadyExists` if there are data,
    /// with [`ExistingData::Error`]. `InvalidArgument` if a value of a partition column does not have the type of the table, or if files
    /// that are to be removed are not those of the table alone. As [`Job::commit`].
    pub fn commit(
        &self,
        plan: &WritePlan,
        files: &[StagedFile],
        rows: &dyn RowTypes,
        stream: Option<&StreamBatch>,
    ) -> Result<bool, CommitError> {
        let keeps_rest = matches!(self.existing_data, ExistingData::Append | ExistingData::OverwritePartitions);
        if keeps_rest && files.is_empty() && !plan.is_new {
            return Ok(true);
        }
        let operation = match self.existing_data {
            ExistingData::Error | ExistingData::Append => Operation::Append,
            ExistingData::Overwrite | ExistingData::OverwritePartitions => Operation::Overwrite,
        };
        let position = self.has_others().then_some(plan.position);
        let decide = |is_again| {
            // Rows that matched the table, and do not match it any more, are a conflict.
            let conflict = |error: Error| match error.kind() {
                ErrorKind::InvalidArgument if is_again => {
                    let text = format!("the table has changed while the rows were written: {error}");
                    Error::new(ErrorKind::Commit, text)
                }
                _ => error,
            };
            let schema = match is_again {
                false => plan.schema.clone(),
                true => self.schema_again(plan, rows).map_err(conflict)?,
            };
            let removes = self.removes(plan, files, rows, &schema)?;
            self.check_partition_values(files, &schema).map_err(conflict)?;
            Ok(Decision { removes, schema: Some(schema) })
        };
        self.job.commit(operation, files, stream, position, decide)
    }

    /// The schema of the table after the commit, once other commits have come first.
    fn schema_again(&self, plan: &WritePlan, rows: &dyn RowTypes) -> Result<TableSchema> {
        let state = self.state(rows)?;
        self.check_absent(&state)?;
        let types = rows.beside(state.columns.as_ref())?;
        if !types.is_same(&plan.types) {
            let text =
                "the types or the time zone of the table have changed while the rows were written: write them again";
            return Err(Error::new(ErrorKind::Commit, text).in_file(&display_name(self.job.base())));
        }
        self.schema_after(state.columns.as_ref(), &plan.types)
    }

    /// The files that the commit removes.
    fn removes(
        &self,
        plan: &WritePlan,
        files: &[StagedFile],
        rows: &dyn RowTypes,
        schema: &TableSchema,
    ) -> Result<Removes> {
        Ok(match self.existing_data {
            ExistingData::Error => Removes::NothingExists(self.job.inside().to_owned()),
            ExistingData::Append => Removes::Nothing,
            ExistingData::Overwrite => Removes::Everything(self.job.inside().to_owned()),
            ExistingData::OverwritePartitions => {
                // Folders may have come since the table was looked at, and the table may have other types.
                let there = self.job.prepare("")?.files;
                let new = self.names_of(files)?;
                let values = rows.partition_values(&plan.types.schema);
                let schema = logged_schema(&self.job, schema)?;
                let there = there.iter().map(String::as_str);
                Removes::Folders(schema.equal_folders(self.job.root(), there, new, &values, &self.text_zone)?)
            }
        })
    }

    /// Checks that values of partition columns of new files have the types of the table.
    fn check_partition_values(&self, files: &[StagedFile], schema: &TableSchema) -> Result<()> {
        if schema.partition.is_empty() {
            return Ok(());
        }
        logged_schema(&self.job, schema)?.check_partition_values(self.job.root(), self.names_of(files)?)
    }

    /// The paths of files in the table.
    fn names_of<'a>(&self, files: &'a [StagedFile]) -> Result<Vec<&'a str>> {
        files.iter().map(|file| self.job.name_of(file)).collect()
    }

    /// Whether other files may stay in the table.
    fn has_others(&self) -> bool {
        self.existing_data != ExistingData::Overwrite || !self.job.inside().is_empty()
    }

    fn partitioning(&self) -> Partitioning<'_> {
        Partitioning { job: &self.job, partition_by: &self.partition_by, option: &self.option }
    }
}

/// The columns of the table that a job writes to: those of its log, or those of some files, which stay; `None` if it has none. Readers infer
/// types of partition columns from the folders of all files.
pub(super) fn columns_of(
    job: &Job,
    files: &[String],
    visible: &[String],
    schema: Option<&TableSchema>,
    keeps_twins: bool,
) -> Result<Option<TableColumns>> {
    let folder = TableFolder {
        location: job.root().to_owned(),
        files: files.to_vec(),
        visible: visible.to_vec(),
        storage: job.storage().clone(),
    };
    match schema {
        Some(schema) => TableColumns::of_log(folder, &logged_schema(job, schema)?).map(Some),
        None => TableColumns::of_files(folder, keeps_twins),
    }
}

/// The schema in the log of the table that a job writes to.
///
/// # Errors
/// As [`LoggedSchema::open`].
pub fn logged_schema(job: &Job, schema: &TableSchema) -> Result<LoggedSchema> {
    let name = format!("{}: the schema in the log", display_name(job.root()));
    LoggedSchema::open(schema.file.clone(), &name, schema.partition.clone(), &Limits::default())
}

/// The schema for the log of a table after rows are added; see [`schema_with_rows`] and [`schema_file`].
pub(super) fn schema_after(
    table: Option<&TableColumns>,
    rows: &Schema,
    partition: Vec<String>,
    arrow_schema: bool,
    timezone: Option<&str>,
) -> Result<TableSchema> {
    let (schema, arrow_schema) = schema_with_rows(table, rows, &partition, arrow_schema)?;
    let file = schema_file(table, &with_fitted_pandas(schema, false), arrow_schema, timezone)?;
    Ok(TableSchema { file, partition })
}
