//! Files of a folder, of a prefix of a store, or of a pattern.

use std::path::Path;

use orcish_core::{Error, Result};

use crate::local::LocalTree;
use crate::location::{Location, parse};
use crate::pattern::{self, Segment, is_pattern, selects};
#[cfg(feature = "object-store")]
use crate::remote::StoreTree;
use crate::storage::StorageOptions;

/// The path of a file, and its size.
pub(super) type Found = (String, u64);

/// What is in folders, by full paths.
#[derive(Debug, Default)]
pub(super) struct Level {
    pub(super) folders: Vec<String>,
    pub(super) files: Vec<Found>,
}

/// Folders and files that can be listed.
pub(super) trait Tree {
    /// The size of a file; `None` where there is no file of this path.
    fn file(&self, path: &str) -> Result<Option<u64>>;
    /// Whether there is a file or folder of this path.
    fn is_there(&self, path: &str) -> Result<bool> {
        let is_folder = |level: Level| !level.folders.is_empty() || !level.files.is_empty();
        Ok(self.file(path)?.is_some() || is_folder(self.children(&[path.to_owned()])?))
    }
    /// What is in folders, one level deep; folders that are not there are empty.
    fn children(&self, folders: &[String]) -> Result<Level>;
    /// The files in folders, at any depth.
    fn descendants(&self, folders: &[String]) -> Result<Vec<Found>>;
    /// Whether there may be folders without files.
    fn has_folders(&self) -> bool;
    /// The path as the caller knows it.
    fn location(&self, path: &str) -> String;
    /// What is listed, for messages.
    fn name(&self) -> &str;
}

/// The files at `location` with their sizes in bytes, sorted: the file itself, or all in a folder at any depth, or
/// those of a pattern. Locations of all kinds are taken that [`open`](crate::open) takes, and are what it gives back.
///
/// In a segment of a pattern `*` stands for any characters, `?` for one, `[abc]`, `[a-z]` and `[!a]` for one of
/// some; `**` stands for any number of segments. A folder that a pattern matches stands for the files in it. What has
/// the very name of a pattern stands above what the pattern matches.
/// Segments below the folder, or matched by a pattern, that begin with `.` or `_` are skipped, but for partitions
/// such as `_day=1`.
///
/// # Errors
/// Of kind `Io` when there is no such file or folder, or it cannot be listed; a pattern without files is empty.
pub fn list(location: &str, options: &StorageOptions) -> Result<Vec<(String, u64)>> {
    listed(location, options, true)
}

/// As [`list`], of a location that is no pattern, whatever signs it has: the files of what is to be written there.
///
/// # Errors
/// Those of [`list`].
pub fn list_folder(location: &str, options: &StorageOptions) -> Result<Vec<(String, u64)>> {
    listed(location, options, false)
}

fn listed(location: &str, options: &StorageOptions, has_patterns: bool) -> Result<Vec<(String, u64)>> {
    let (tree, path): (Box<dyn Tree>, String) = match parse(location) {
        Location::Local(path) => {
            let path = local_path(&path, location)?;
            (Box::new(LocalTree::new(&path, options)), path)
        }
        #[cfg(feature = "object-store")]
        Location::Remote(_) => {
            let (tree, path) = StoreTree::open(location, options)?;
            (Box::new(tree), path)
        }
        #[cfg(not(feature = "object-store"))]
        Location::Remote(url) => return Err(url.no_feature(options)),
    };
    let find = || match has_patterns && is_pattern(&path) && !tree.is_there(&path)? {
        true => by_pattern(&*tree, &path),
        false => below(&*tree, &path),
    };
    let mut found = find().map_err(|error| error.in_file(tree.name()))?;
    found.sort();
    found.dedup();
    let marker = |path: &str| path.ends_with("_$folder$");
    let found = found.into_iter().filter(|(path, _)| !marker(path));
    Ok(found.map(|(path, size)| (tree.location(&path), size)).collect())
}

/// A path as text, with slashes between its names.
pub(super) fn local_path(path: &Path, location: &str) -> Result<String> {
    let path = path.to_str().ok_or_else(|| Error::invalid("the path is not UTF-8").in_file(location))?;
    Ok(if cfg!(windows) { path.replace('\\', "/") } else { path.to_owned() })
}

/// The path of a name in a folder; the empty one is where relative paths begin.
pub(super) fn join(folder: &str, name: &str) -> String {
    match folder {
        "" => name.to_owned(),
        folder if folder.ends_with('/') => format!("{folder}{name}"),
        folder => format!("{folder}/{name}"),
    }
}

fn segments(path: &str) -> impl Iterator<Item = &str> {
    path.split('/').filter(|segment| !segment.is_empty())
}

fn below(tree: &dyn Tree, path: &str) -> Result<Vec<Found>> {
    if let Some(size) = tree.file(path)? {
        return Ok(vec![(path.to_owned(), size)]);
    }
    let found = tree.descendants(&[path.to_owned()])?;
    if found.is_empty() && !tree.has_folders() {
        let error = std::io::Error::new(std::io::ErrorKind::NotFound, "no file has this name or prefix");
        return Err(Error::io("cannot be listed", error));
    }
    Ok(selected(found, &[], path))
}

/// Those files that a pattern selects below `folder`, or below another one of its depth.
fn selected(found: Vec<Found>, pattern: &[Segment], folder: &str) -> Vec<Found> {
    let depth = segments(folder).count();
    let is_selected = |(file, _): &Found| selects(pattern, &segments(file).skip(depth).collect::<Vec<_>>());
    found.into_iter().filter(is_selected).collect()
}

fn by_pattern(tree: &dyn Tree, path: &str) -> Result<Vec<Found>> {
    // Up to the segment that is the first pattern.
    let start = path.find(['*', '?', '[']).and_then(|at| path.get(..at)?.rfind('/')).map_or(0, |at| at + 1);
    let (folder, rest) = path.split_at_checked(start).unwrap_or(("", path));
    let trimmed = folder.trim_end_matches('/');
    let mut folders = vec![if trimmed.is_empty() { folder } else { trimmed }.to_owned()];
    let pattern = pattern::parse(rest)?;
    let mut pattern = pattern.as_slice();
    while let Some((segment, rest)) = pattern.split_first() {
        match segment {
            Segment::Any => {
                let found = tree.descendants(&folders)?;
                return Ok(folders.first().map(|folder| selected(found, pattern, folder)).unwrap_or_default());
            }
            Segment::Name(name) if !rest.is_empty() => {
                folders = folders.iter().map(|folder| join(folder, name)).collect();
            }
            Segment::Name(_) | Segment::Pattern(_) => {
                let matches = |path: &str| segment.matches(path.rsplit('/').next().unwrap_or(path));
                let level = tree.children(&folders)?;
                folders = level.folders.into_iter().filter(|folder| matches(folder)).collect();
                if rest.is_empty() {
                    let mut found: Vec<_> = level.files.into_iter().filter(|(file, _)| matches(file)).collect();
                    if let Some(folder) = folders.first() {
                        found.extend(selected(tree.descendants(&folders)?, &[], folder));
                    }
                    return Ok(found);
                }
            }
        }
        pattern = rest;
    }
    Ok(Vec::new())
}
