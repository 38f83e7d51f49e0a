//! Commits that replace files by files of the same rows, or of some of them: the columns and types of the table stay.
//!
//! The log of a table has its schema. Without a log, all files and folders decide on the types, so that those that go away would take
//! types with them.

use std::collections::{BTreeSet, HashSet};

use arrow_schema::Schema;
use orcish_core::error::{ErrorKind, Result};
use orcish_io::{StagedFile, hive_partitions_below};
use orcish_table::{CommitError, Decision, Job, Operation, Removes, Snapshot, StoredFile, TableSchema};

use super::row_write::{columns_of, logged_schema, schema_after};

/// Files that a commit removes, and the file that has their rows.
#[derive(Debug, Clone)]
pub struct Replaced {
    /// The files, by their paths in the table.
    pub files: Vec<String>,
    /// The file in their place; `None` if no row is left.
    pub by: Option<StagedFile>,
}

/// Commits the replacement of files. Readers find the types that they have found before.
///
/// `operation` is what the log calls the commit. `files` are the files of the table as they were when the job was planned, and `schema`
/// is the schema in its log at that time.
///
/// # Errors
/// `Commit` if a file was changed or removed meanwhile. As [`Job::commit`].
pub fn replace_files(
    job: &Job,
    operation: Operation,
    replaced: &[Replaced],
    files: &[StoredFile],
    schema: Option<&TableSchema>,
) -> Result<(), CommitError> {
    if replaced.is_empty() {
        return Ok(());
    }
    let (mut position, mut recorded) = (None, None);
    if lacks_types(job, schema)? {
        // The log has the schema from then on.
        let (at, schema) = schema_of_table(job)?;
        (position, recorded) = (Some(at), schema);
    }
    let removed: BTreeSet<&String> = replaced.iter().flat_map(|each| &each.files).collect();
    let removed: Vec<StoredFile> = files.iter().filter(|file| removed.contains(&file.name)).cloned().collect();
    let new: Vec<StagedFile> = replaced.iter().filter_map(|each| each.by.clone()).collect();
    let decide = |is_again| {
        let schema = if is_again { schema_of_table(job)?.1 } else { recorded.clone() };
        Ok(Decision { removes: Removes::Files(removed.clone()), schema })
    };
    job.commit(operation, &new, None, position, decide).map(drop)
}

/// Whether the log has no schema, or one without the types of all partition columns.
fn lacks_types(job: &Job, schema: Option<&TableSchema>) -> Result<bool> {
    match schema {
        None => Ok(true),
        Some(schema) => Ok(!logged_schema(job, schema)?.untyped_columns()?.is_empty()),
    }
}

/// The position of the log, and the schema that it gets, as with an append: the columns of all files, with the types that readers see.
/// `None` if the log has it already, or if readers cannot read the files together.
fn schema_of_table(job: &Job) -> Result<(u64, Option<TableSchema>)> {
    let Snapshot { position, files, schema } = job.prepare("")?;
    if !lacks_types(job, schema.as_ref())? {
        return Ok((position, None));
    }
    let folder = |name: &String| -> Vec<String> {
        let values = hive_partitions_below(job.root(), &job.location(name));
        values.into_iter().map(|(column, _)| column).collect()
    };
    let columns: HashSet<Vec<String>> = files.iter().map(folder).collect();
    let mut columns = columns.into_iter();
    let (Some(own), None) = (columns.next(), columns.next()) else { return Ok((position, None)) };
    let partition = schema.as_ref().map_or(own, |schema| schema.partition.clone());
    let made = job.reading(&files, || match columns_of(job, &files, &files, schema.as_ref(), true)? {
        None => Ok(None),
        Some(columns) => schema_after(Some(&columns), &Schema::empty(), partition, false, None).map(Some),
    });
    match made {
        Err(error) if error.kind() == ErrorKind::InvalidArgument => Ok((position, None)),
        made => Ok((position, made?)),
    }
}
