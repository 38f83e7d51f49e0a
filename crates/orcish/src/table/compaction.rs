//! Compaction: choice of the files that are combined, and how they become one file.

use std::collections::{HashMap, HashSet};

use orcish_core::error::{Error, ErrorKind, Result};
use orcish_core::limits::Limits;
use orcish_io::{Sink, StorageOptions};

use super::log_schema::LoggedSchema;
use super::rewrite::{Rewrite, RewriteOptions, lost_rows, rows_of};
use super::source_file::SourceFile;
use crate::read::ARROW_SCHEMA_KEY;
use crate::write::{Written, merge};

/// How files become one file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Combination {
    /// Their stripes are copied.
    Merge,
    /// Their rows are decoded and encoded.
    Rewrite,
}

impl Combination {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Combination::Merge => "merge",
            Combination::Rewrite => "rewrite",
        }
    }
}

/// Groups of files that become one file of about `size` bytes each: files of one folder, in the order of their names.
///
/// `files` are paths in the table, and sizes in bytes. Files of at least three quarters of the size stay as they are. With `rewrite`, all
/// files are written again, those that are alone in their group, too. The groups have indexes of `files`.
///
/// ```
/// use orcish::table::compaction_groups;
///
/// let files = [("b.orc", 40), ("a.orc", 40), ("c.orc", 40), ("full.orc", 80), ("day=1/d.orc", 1)];
/// assert_eq!(compaction_groups(&files, 100, false), [vec![1, 0]]);
/// assert_eq!(compaction_groups(&files, 100, true), [vec![1, 0], vec![2], vec![3], vec![4]]);
/// ```
pub fn compaction_groups(files: &[(&str, u64)], size: u64, rewrite: bool) -> Vec<Vec<usize>> {
    let mut in_order: Vec<(usize, &(&str, u64))> = files.iter().enumerate().collect();
    in_order.sort_by_key(|(_, file)| **file);
    // The folders are in the order of their first files.
    let mut places: HashMap<&str, usize> = HashMap::new();
    let mut folders: Vec<Vec<(usize, u64)>> = Vec::new();
    for (at, (name, bytes)) in in_order {
        let folder = name.rsplit_once('/').map_or("", |(folder, _)| folder);
        let place = *places.entry(folder).or_insert(folders.len());
        match folders.get_mut(place) {
            Some(files) => files.push((at, *bytes)),
            None => folders.push(vec![(at, *bytes)]),
        }
    }
    let is_full = |bytes: u64| u128::from(bytes) * 4 >= u128::from(size) * 3;
    let mut groups = Vec::new();
    for within in folders {
        let (mut group, mut total) = (Vec::new(), 0u64);
        for (at, bytes) in within {
            if is_full(bytes) && !rewrite {
                continue;
            }
            if !group.is_empty() && total.saturating_add(bytes) > size {
                groups.push(std::mem::take(&mut group));
                total = 0;
            }
            group.push(at);
            total = total.saturating_add(bytes);
        }
        groups.push(group);
    }
    groups.retain(|group| group.len() > usize::from(!rewrite));
    groups
}

/// Writes the rows of files of a table into one new file, and says how, and what the file has.
///
/// The stripes are copied where a merged file is read as the files are, and all files are what they state; otherwise the rows are written
/// again, see [`Rewrite`]. With `rewrite`, which has options of the new file, they are written again in any case, and the files are not
/// checked.
///
/// `schema` is that in the log of the table. `create` makes the new file. It is called again, to write the rows, if the stripes cannot be
/// copied.
///
/// # Errors
/// `Corrupt` if a file cannot be read, or is to be merged and contradicts its rows; `Commit` if the new file has not the rows of the
/// files; as [`Rewrite::try_new`] and [`Rewrite::write`].
///
/// ```
/// use orcish::OrcFile;
/// use orcish::io::{StorageOptions, create};
/// use orcish::table::{Combination, combine_files};
///
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data/spark.zlib.orc");
/// # let target = std::env::temp_dir().join(format!("orcish-combine-example-{}.orc", std::process::id()));
/// let files = [path.to_owned(), path.to_owned()];
/// let storage = StorageOptions::default();
/// let (how, written) =
///     combine_files(&files, None, None, &storage, |_| create(target.to_str().unwrap(), &storage))?;
/// assert_eq!((how, written.rows), (Combination::Merge, 40));
/// # std::fs::remove_file(target)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn combine_files(
    locations: &[String],
    schema: Option<&LoggedSchema>,
    rewrite: Option<&RewriteOptions>,
    storage: &StorageOptions,
    mut create: impl FnMut(Combination) -> Result<Box<dyn Sink>>,
) -> Result<(Combination, Written)> {
    let open_file = |location: &String| SourceFile::open(location, storage);
    let files = locations.iter().map(open_file).collect::<Result<Vec<_>>>()?;
    if rewrite.is_none() && can_be_merged(&files, schema, storage)? {
        let sources: Vec<_> = files.iter().map(|file| file.file.source().clone()).collect();
        let check = storage.cancel_check();
        match merge(&sources, create(Combination::Merge)?, &Limits::default(), check, None) {
            Ok(written) => {
                let rows = rows_of(&files)?;
                if written.rows == rows {
                    return Ok((Combination::Merge, written));
                }
                return Err(lost_rows(&files, rows, 0, written.rows));
            }
            // The files differ, so that their stripes cannot be copied.
            Err(error) if error.kind() == ErrorKind::InvalidArgument => {}
            Err(error) => return Err(error),
        }
    }
    let rewrite = Rewrite::of_files(files, schema, rewrite.unwrap_or(&RewriteOptions::default()), storage)?;
    Ok((Combination::Rewrite, rewrite.write(create(Combination::Rewrite)?, &[])?))
}

/// Whether a merged file is read as the files are, and all files are what they state. A merged file would have the faults of each. It
/// would have no Arrow schema in place of several, which decide on units of timestamps, and on all types where the log has no schema.
fn can_be_merged(files: &[SourceFile], schema: Option<&LoggedSchema>, storage: &StorageOptions) -> Result<bool> {
    let mut are_correct = true;
    // All files are checked, those after a deviation, too.
    for file in files {
        are_correct &= is_correct(file, storage)?;
    }
    let arrow_schema = |file: &SourceFile| {
        let metadata = &file.file.tail().metadata;
        metadata.iter().find(|(key, _)| key == ARROW_SCHEMA_KEY).map(|(_, schema)| schema.clone())
    };
    let arrow_schemas: HashSet<_> = files.iter().map(arrow_schema).collect();
    let has_timestamps = files.iter().any(SourceFile::has_timestamps);
    Ok(are_correct && (arrow_schemas.len() == 1 || (schema.is_some() && !has_timestamps)))
}

/// Whether a file is correct. Deviations from the specification that change no value end when it is written again.
///
/// # Errors
/// `Corrupt` if it contradicts its rows. A file in its place would not.
fn is_correct(file: &SourceFile, storage: &StorageOptions) -> Result<bool> {
    let findings = file.file.check(&Limits::default(), storage.cancel_check(), None);
    let findings = findings.map_err(|error| error.in_file(&file.name()))?;
    match findings.iter().find(|finding| finding.contradicts_rows) {
        Some(finding) => {
            let advice = "the rows may be damaged; a rewrite takes them as they are read";
            Err(Error::corrupt(format!("{finding}: {advice}")).in_file(&file.name()))
        }
        None => Ok(findings.is_empty()),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn groups_have_each_file_once_and_their_size(
            files in prop::collection::btree_map("(day=[12]/)?[a-c]{1,3}", 0u64..120, 0..20),
            size in 1u64..150,
            rewrite: bool,
        ) {
            let files: Vec<(&str, u64)> = files.iter().map(|(name, bytes)| (name.as_str(), *bytes)).collect();
            let folder = |at: usize| files[at].0.rsplit_once('/').map_or("", |(folder, _)| folder);
            let groups = compaction_groups(&files, size, rewrite);
            let mut seen = HashSet::new();
            for group in &groups {
                prop_assert!(group.len() > usize::from(!rewrite));
                prop_assert!(group.is_sorted_by(|a, b| files[*a].0 < files[*b].0));
                prop_assert!(group.iter().all(|at| folder(*at) == folder(group[0]) && seen.insert(*at)));
                let total: u64 = group.iter().map(|at| files[*at].1).sum();
                prop_assert!(total <= size || group.len() == 1);
                prop_assert!(rewrite || group.iter().all(|at| files[*at].1 * 4 < size * 3));
            }
            prop_assert!(!rewrite || seen.len() == files.len());
        }
    }
}
