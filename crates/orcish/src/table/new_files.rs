//! Files that a job makes of files of its table, and that are not published yet.

use orcish_core::error::{OrInternal as _, Result};
use orcish_io::{Sink, StagedFile, Staging, abort_upload, check_target, create_staged};
use orcish_table::{Job, TableSchema};

use super::compaction::{Combination, combine_files};
use super::deletion::{AfterDeletion, delete_rows};
use super::rewrite::RewriteOptions;
use super::row_write::logged_schema;
use crate::codec::Compression;
use crate::read::OrcFile;
use crate::write::{WriteOptions, Written};

/// The ending of the names of files, as that of Spark's writer with these options: `.zstd.orc`, or `.orc` without compression.
///
/// ```
/// use orcish::{Compression, WriteOptions};
/// use orcish::table::file_suffix;
///
/// assert_eq!(file_suffix(&WriteOptions::default().with_compression(Compression::Zlib)), ".zlib.orc");
/// ```
pub fn file_suffix(options: &WriteOptions) -> String {
    match options.compression {
        Compression::None => ".orc".to_owned(),
        codec => format!(".{}.orc", codec.name()),
    }
}

/// A file that a job makes of others.
struct NewFile<'a> {
    job: &'a Job,
    /// The folder of the staged file, by its path in the table.
    attempt: String,
    made: Option<(String, Staging)>,
}

impl<'a> NewFile<'a> {
    fn try_new(job: &'a Job) -> Result<Self> {
        Ok(NewFile { job, attempt: job.new_attempt()?, made: None })
    }

    /// The file in the place of others, whose name sorts like that of the first of them.
    fn create(&mut self, first: &str, suffix: &str) -> Result<Box<dyn Sink>> {
        let (folder, name) = first.rsplit_once('/').map_or(("", first), |(folder, name)| (folder, name));
        let start: String = name.split('.').next().unwrap_or(name).chars().take(10).collect();
        let separator = if folder.is_empty() { "" } else { "/" };
        let id = self.attempt.rsplit('/').next().unwrap_or(&self.attempt);
        let location = self.job.location(&format!("{folder}{separator}{start}-{id}{suffix}"));
        check_target(&location, true, self.job.storage())?;
        let (sink, staging) = create_staged(&location, Some(&self.job.location(&self.attempt)), self.job.storage())?;
        self.made = Some((location, staging));
        Ok(sink)
    }

    /// The finished file.
    fn staged(&self, written: &Written) -> Result<StagedFile> {
        let staged = self.made.as_ref().and_then(|(_, staging)| written.take_staged(staging));
        staged.or_internal("a new file is not staged")
    }

    /// Removes a file that is finished, as it is not what it should be.
    fn discard(self) {
        if let Some((location, staging)) = self.made
            && let Some(file) = staging.take()
        {
            // The error that is returned says why the file is removed.
            let _ = abort_upload(&location, &file, self.job.storage());
        }
    }
}

/// Writes the rows of files of a table, given by their paths in it, into one file in the place of the first of them; see
/// [`combine_files`].
///
/// # Errors
/// As [`combine_files`]; `InvalidArgument` if the job belongs to another process.
pub fn combine_files_of(
    job: &Job,
    files: &[String],
    schema: Option<&TableSchema>,
    rewrite: Option<&RewriteOptions>,
) -> Result<(Combination, StagedFile)> {
    let first = files.first().or_internal("files that are combined are none")?;
    let sources: Vec<String> = files.iter().map(|name| job.location(name)).collect();
    let schema = schema.map(|schema| logged_schema(job, schema)).transpose()?;
    let mut file = NewFile::try_new(job)?;
    let ending = first.rsplit('/').next().and_then(|name| name.split_once('.')).map(|(_, ending)| format!(".{ending}"));
    let create = |how| match how {
        Combination::Merge => file.create(first, ending.as_deref().unwrap_or(".orc")),
        Combination::Rewrite => {
            let suffix = suffix_of(job, first, rewrite)?;
            file.create(first, &suffix)
        }
    };
    match combine_files(&sources, schema.as_ref(), rewrite, job.storage(), create) {
        Ok((how, written)) => Ok((how, file.staged(&written)?)),
        Err(error) => {
            file.discard();
            Err(error)
        }
    }
}

/// Deletes rows of a file of a table, given by their sorted numbers: the file with the other rows, and `None` if no row is left; see
/// [`delete_rows`].
///
/// # Errors
/// As [`delete_rows`]; `InvalidArgument` if the job belongs to another process.
pub fn delete_rows_of(
    job: &Job,
    name: &str,
    numbers: &[i64],
    schema: Option<&TableSchema>,
    options: &RewriteOptions,
) -> Result<Option<StagedFile>> {
    let schema = schema.map(|schema| logged_schema(job, schema)).transpose()?;
    let mut file = NewFile::try_new(job)?;
    let suffix = suffix_of(job, name, Some(options))?;
    let deleted = delete_rows(&job.location(name), numbers, schema.as_ref(), options, job.storage(), || {
        file.create(name, &suffix)
    });
    match deleted {
        Ok(AfterDeletion::Kept | AfterDeletion::Removed) => Ok(None),
        Ok(AfterDeletion::Replaced(written)) => file.staged(&written).map(Some),
        Err(error) => {
            file.discard();
            Err(error)
        }
    }
}

/// The ending of the name of a file that is written with given options, or else with those of the first file that it replaces.
fn suffix_of(job: &Job, first: &str, options: Option<&RewriteOptions>) -> Result<String> {
    if let Some(write) = options.and_then(|options| options.write.as_ref()) {
        return Ok(file_suffix(write));
    }
    let source = orcish_io::open(&job.location(first), job.storage())?;
    Ok(file_suffix(&WriteOptions::of_file(&OrcFile::try_new(source, &Default::default())?, false)))
}
