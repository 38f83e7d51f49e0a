//! Listing of folders, key prefixes and patterns of all storage systems.

use orcish_core::{Error, Result};

use crate::lister::{ListedFile, Lister};
use crate::local::LocalLister;
use crate::location::{Location, join, parse, path_with_slashes};
use crate::messages::CANNOT_LIST;
use crate::pattern::{self, Segment, is_pattern, matches_path};
#[cfg(feature = "object-store")]
use crate::remote::StoreLister;
use crate::storage::StorageOptions;

/// The suffix of objects that Hadoop creates for empty folders.
const FOLDER_MARKER: &str = "_$folder$";

/// Lists the locations and sizes in bytes of the files at `location`, sorted: the file itself, all files of a folder at
/// any depth, or all files that match a glob pattern. Locations are those of [`open`](crate::open), and the results
/// have the same form.
///
/// In a segment of a pattern, `*` matches any characters, `?` one character, and `[abc]`, `[a-z]` and `[!a]` one
/// character of a set. The segment `**` matches any number of segments. A pattern that matches a folder selects the
/// files in it. If a file or folder has the literal name of the pattern, the location is not a pattern.
///
/// Hidden segments, which begin with `.` or `_`, are skipped below a folder and by patterns, except partition folders
/// such as `_day=1`.
///
/// # Errors
/// `Io` if the file or folder does not exist or cannot be listed. A pattern without matches yields an empty list.
pub fn list(location: &str, options: &StorageOptions) -> Result<Vec<(String, u64)>> {
    list_location(location, options, true)
}

/// As [`list`], for a location that is not a pattern, even if it contains glob characters.
///
/// # Errors
/// The errors of [`list`].
pub fn list_folder(location: &str, options: &StorageOptions) -> Result<Vec<(String, u64)>> {
    list_location(location, options, false)
}

fn list_location(location: &str, options: &StorageOptions, allow_patterns: bool) -> Result<Vec<(String, u64)>> {
    let (lister, path): (Box<dyn Lister>, String) = match parse(location) {
        Location::Local(path) => {
            let path = path_with_slashes(&path, location)?;
            (Box::new(LocalLister::new(&path, options)), path)
        }
        #[cfg(feature = "object-store")]
        Location::Remote(_) => {
            let (lister, path) = StoreLister::open(location, options)?;
            (Box::new(lister), path)
        }
        #[cfg(not(feature = "object-store"))]
        Location::Remote(url) => return Err(url.missing_feature(options)),
    };
    let find = || match allow_patterns && is_pattern(&path) && !lister.exists(&path)? {
        true => list_pattern(&*lister, &path),
        false => list_path(&*lister, &path),
    };
    let mut files = find().map_err(|error| error.in_file(lister.name()))?;
    files.sort();
    files.dedup();
    let files = files.into_iter().filter(|(path, _)| !path.ends_with(FOLDER_MARKER));
    Ok(files.map(|(path, size)| (lister.location(&path), size)).collect())
}

fn segments(path: &str) -> impl Iterator<Item = &str> {
    path.split('/').filter(|segment| !segment.is_empty())
}

/// The files of a file or folder.
fn list_path(lister: &dyn Lister, path: &str) -> Result<Vec<ListedFile>> {
    if let Some(size) = lister.file_size(path)? {
        return Ok(vec![(path.to_owned(), size)]);
    }
    let files = lister.descendants(&[path.to_owned()])?;
    if files.is_empty() && !lister.has_empty_folders() {
        let error = std::io::Error::new(std::io::ErrorKind::NotFound, "no file has this name or prefix");
        return Err(Error::io(CANNOT_LIST, error));
    }
    Ok(filter_by_pattern(files, &[], path))
}

/// The files whose path matches `pattern`, relative to `folder` or another folder of the same depth.
fn filter_by_pattern(files: Vec<ListedFile>, pattern: &[Segment], folder: &str) -> Vec<ListedFile> {
    let depth = segments(folder).count();
    let is_match = |(file, _): &ListedFile| matches_path(pattern, &segments(file).skip(depth).collect::<Vec<_>>());
    files.into_iter().filter(is_match).collect()
}

/// The files of a pattern. Each iteration replaces the folders that match the processed segments by those that also
/// match the next segment.
fn list_pattern(lister: &dyn Lister, path: &str) -> Result<Vec<ListedFile>> {
    // The segments before the first glob are a literal folder.
    let start = path.find(['*', '?', '[']).and_then(|index| path.get(..index)?.rfind('/')).map_or(0, |index| index + 1);
    let (folder, rest) = path.split_at_checked(start).unwrap_or(("", path));
    let trimmed = folder.trim_end_matches('/');
    let mut folders = vec![if trimmed.is_empty() { folder } else { trimmed }.to_owned()];
    let pattern = pattern::parse(rest)?;
    let mut pattern = pattern.as_slice();
    while let Some((segment, rest)) = pattern.split_first() {
        match segment {
            Segment::AnyDepth => {
                let files = lister.descendants(&folders)?;
                return Ok(folders.first().map(|folder| filter_by_pattern(files, pattern, folder)).unwrap_or_default());
            }
            Segment::Name(name) if !rest.is_empty() => {
                folders = folders.iter().map(|folder| join(folder, name)).collect();
            }
            Segment::Name(_) | Segment::Glob(_) => {
                let matches = |path: &str| segment.matches(path.rsplit('/').next().unwrap_or(path));
                let entries = lister.children(&folders)?;
                folders = entries.folders.into_iter().filter(|folder| matches(folder)).collect();
                if rest.is_empty() {
                    let mut files: Vec<_> = entries.files.into_iter().filter(|(file, _)| matches(file)).collect();
                    if let Some(folder) = folders.first() {
                        files.extend(filter_by_pattern(lister.descendants(&folders)?, &[], folder));
                    }
                    return Ok(files);
                }
            }
        }
        pattern = rest;
    }
    Ok(Vec::new())
}
