//! Deletion of rows: what becomes of a file.

use orcish_core::error::Result;
use orcish_io::{Sink, StorageOptions};

use super::log_schema::LoggedSchema;
use super::rewrite::{Rewrite, RewriteOptions, check_numbers, rows_of};
use super::source_file::SourceFile;
use crate::write::Written;

/// What becomes of a file of which rows are deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AfterDeletion {
    /// It has no such rows, and stays.
    Kept,
    /// It has only such rows, so that none is left.
    Removed,
    /// A file with the other rows takes its place.
    Replaced(Written),
}

/// Deletes rows of the file at a path or URL, given by their sorted numbers, which count from 0: where some of its rows are left, they are
/// written into a new file, which `create` makes; see [`Rewrite`]. `schema` is that in the log of the table.
///
/// The file itself stays where it is until the caller commits what is in its place.
///
/// # Errors
/// As [`Rewrite::try_new`] and [`Rewrite::write`].
///
/// ```
/// use arrow_array::cast::AsArray;
/// use arrow_array::types::Int64Type;
/// use orcish::io::{StorageOptions, create};
/// use orcish::table::{AfterDeletion, delete_rows};
/// use orcish::{OrcFile, ReadOptions};
///
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data/spark.zlib.orc");
/// # let target = std::env::temp_dir().join(format!("orcish-delete-example-{}.orc", std::process::id()));
/// let mut rows = ReadOptions::default().with_columns(Vec::<&str>::new()).with_filter("byte < 0".parse()?);
/// rows.row_number = Some("number".to_owned());
/// let mut numbers = Vec::new();
/// for batch in OrcFile::open(path)?.read(rows)? {
///     numbers.extend_from_slice(batch?.column(0).as_primitive::<Int64Type>().values());
/// }
/// let storage = StorageOptions::default();
/// let done =
///     delete_rows(path, &numbers, None, &Default::default(), &storage, || create(target.to_str().unwrap(), &storage))?;
/// let AfterDeletion::Replaced(written) = done else { panic!("{done:?}") };
/// assert_eq!(written.rows, 20 - numbers.len() as u64);
/// # std::fs::remove_file(target)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn delete_rows(
    location: &str,
    numbers: &[i64],
    schema: Option<&LoggedSchema>,
    options: &RewriteOptions,
    storage: &StorageOptions,
    create: impl FnOnce() -> Result<Box<dyn Sink>>,
) -> Result<AfterDeletion> {
    if numbers.is_empty() {
        return Ok(AfterDeletion::Kept);
    }
    let files = vec![SourceFile::open(location, storage)?];
    let rows = rows_of(&files)?;
    check_numbers(numbers, rows)?;
    if numbers.len() as u64 == rows {
        return Ok(AfterDeletion::Removed);
    }
    let written = Rewrite::of_files(files, schema, options, storage)?.write(create()?, numbers)?;
    Ok(AfterDeletion::Replaced(written))
}
