//! What a compaction and a deletion do with the files of a table.

use std::collections::HashSet;

use arrow_array::cast::AsArray as _;
use arrow_array::types::Int64Type;
use orcish_core::Predicate;
use orcish_core::error::{OrInternal as _, Result};
use orcish_core::limits::Limits;
use orcish_io::{display_name, hive_partitions_below};
use orcish_table::{FileKind, Job, Snapshot, StoredFile, TableSchema, file_kind, no_files};

use super::compaction::compaction_groups;
use super::row_write::logged_schema;
use crate::options::{Columns, ReadOptions, TimestampUnit};
use crate::read::ScanContext;
use crate::scan::{Matching, Scan, SchemaSource, TableFile};

/// Name of the column with the numbers of rows that are deleted.
const NUMBER: &str = "orcish.row_number";

/// Which files of a table become which.
#[derive(Debug, Clone)]
pub struct CompactionPlan {
    /// The files that become one file each time.
    pub groups: Vec<Vec<StoredFile>>,
    /// The files as they are when the plan is made, without those that may belong to other tables.
    pub files: Vec<StoredFile>,
    /// The schema in the log at that time.
    pub schema: Option<TableSchema>,
}

impl CompactionPlan {
    /// Plans a compaction of the folder of a job; see [`compaction_groups`]. A commit of another job that has died is finished before.
    ///
    /// Files behind links to folders, and in folders that are no partitions, may be those of other tables: they stay. Files of no bytes,
    /// which Hive writes, have no rows, and stay.
    ///
    /// # Errors
    /// As [`Job::prepare`] and [`Job::files`]. `Io` if there is no such folder, or if a URL has no files.
    pub fn of(job: &Job, size: u64, rewrite: bool) -> Result<Self> {
        let Snapshot { files: visible, schema, .. } = job.prepare(job.inside())?;
        check_exists(job, &visible, schema.as_ref(), true)?;
        let mut files = job.files()?;
        files.retain(|file| visible.binary_search(&file.name).is_ok() && file_kind(&file.name) == FileKind::Data);
        let filled: Vec<&StoredFile> = files.iter().filter(|file| file.size > 0).collect();
        let sizes: Vec<(&str, u64)> = filled.iter().map(|file| (file.name.as_str(), file.size)).collect();
        let groups = compaction_groups(&sizes, size, rewrite).into_iter();
        let groups = groups.map(|group| group.into_iter().filter_map(|at| filled.get(at).copied().cloned()).collect());
        let groups = groups.collect();
        Ok(CompactionPlan { groups, files, schema })
    }
}

/// The files of a table that may have rows to delete.
#[derive(Debug, Clone)]
pub struct DeletionPlan {
    /// The visible files, by their paths in the table.
    pub names: Vec<String>,
    /// The files as they are when the plan is made.
    pub files: Vec<StoredFile>,
    /// The schema in the log at that time.
    pub schema: Option<TableSchema>,
}

impl DeletionPlan {
    /// Plans a deletion from the folder of a job. A commit of another job that has died is finished before.
    ///
    /// # Errors
    /// As [`Job::prepare`], [`Job::files`] and [`Job::check_own_files`]. `Io` if there are no files.
    pub fn of(job: &Job) -> Result<Self> {
        let Snapshot { files: names, schema, .. } = job.prepare(job.inside())?;
        check_exists(job, &names, schema.as_ref(), false)?;
        let fate = "of which no rows are deleted: move it out of the table, or delete from a partition";
        let files = job.reading(&names, || {
            let files = job.files()?;
            job.check_own_files(names.iter().map(String::as_str), &files, fate)?;
            Ok(files)
        })?;
        Ok(DeletionPlan { names, files, schema })
    }

    /// The names of the files that have bytes. Hive writes files of no bytes, which have no rows.
    pub fn read_names(&self) -> impl Iterator<Item = &str> {
        let filled: HashSet<&str> =
            self.files.iter().filter(|file| file.size > 0).map(|file| file.name.as_str()).collect();
        self.names.iter().map(String::as_str).filter(move |name| filled.contains(name))
    }

    /// A scan of the numbers of the rows of all [`read_names`](Self::read_names) for which a filter is true.
    pub(super) fn scan(&self, job: &Job, filter: &Predicate) -> Result<Scan> {
        let file = |name: &str| {
            let location = job.location(name);
            let partition = hive_partitions_below(job.root(), &location);
            TableFile::new(location).with_partition(partition)
        };
        let schema = schema_source(job, self.schema.as_ref())?;
        let options = ReadOptions::default()
            .with_columns(Columns::Names(Vec::new()))
            .with_filter(filter.clone())
            .with_row_number(NUMBER)
            // A unit that cuts digits off would find other rows than those with these values.
            .with_timestamp_unit(TimestampUnit::Exact);
        Scan::try_new(self.read_names().map(file).collect(), schema, options, Matching::Name, job.storage().clone())
    }
}

/// The numbers of the rows that a scan finds in the file at an index.
pub(super) fn numbers_of(scan: &Scan, file: usize) -> Result<Vec<i64>> {
    let mut numbers = Vec::new();
    let context = ScanContext::of_one_reader(&Limits::default());
    for batch in scan.read_file(file, 0, &context)?.into_iter().flatten() {
        let batch = batch?;
        let column = batch.column_by_name(NUMBER).and_then(|column| column.as_primitive_opt::<Int64Type>());
        numbers.extend_from_slice(column.or_internal("a scan has no numbers of rows")?.values());
    }
    Ok(numbers)
}

/// Checks that there are files. A folder of a local disk that is there may have none where `may_be_empty`.
fn check_exists(job: &Job, files: &[String], schema: Option<&TableSchema>, may_be_empty: bool) -> Result<()> {
    let is_there = may_be_empty && std::path::Path::new(job.base()).is_dir();
    if files.is_empty() && (schema.is_none() || !job.inside().is_empty()) && !is_there {
        return Err(no_files(&display_name(job.base())));
    }
    Ok(())
}

/// Where the schema of the table of a job comes from, given the schema in its log; `None` without one.
pub(super) fn schema_source(job: &Job, schema: Option<&TableSchema>) -> Result<SchemaSource> {
    let Some(schema) = schema else { return Ok(SchemaSource::FirstFile) };
    let shown = schema.partition.clone();
    Ok(SchemaSource::OtherFile(logged_schema(job, schema)?.into_schema_file(shown)))
}
