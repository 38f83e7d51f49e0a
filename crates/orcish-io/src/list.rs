//! Listing of folders, key prefixes and patterns of all storage systems.

use std::collections::BTreeSet;

use orcish_core::{Error, Result};

use crate::lister::{FolderEntries, ListedFile, Lister};
use crate::local::LocalLister;
use crate::location::{Parsed, join, last_segment, parse_checked, path_with_slashes};
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
    list_location(location, options, true, None).map(|listing| listing.files)
}

/// As [`list`], for a location that is not a pattern, even if it contains glob characters.
///
/// # Errors
/// The errors of [`list`].
pub fn list_folder(location: &str, options: &StorageOptions) -> Result<Vec<(String, u64)>> {
    list_location(location, options, false, None).map(|listing| listing.files)
}

/// What is at a location; see [`list_marked`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Listing {
    /// Locations and sizes in bytes of the files, as those of [`list`].
    pub files: Vec<(String, u64)>,
    /// Locations of the folders that the listing has looked into and that have a folder with the name of the marker.
    pub marked: Vec<String>,
    /// The location of the folder that was listed: that of the segments before the first glob of a pattern. `None` if the
    /// location is that of a file.
    pub folder: Option<String>,
    /// Whether the location is a pattern.
    pub is_pattern: bool,
    /// Whether all files were there at one moment.
    pub is_atomic: bool,
    /// Locations of the folders that the listing has looked into, without those below `folder` of a location that is no
    /// pattern.
    looked: BTreeSet<String>,
}

impl Listing {
    /// Whether the listing has looked into a folder, so that it is among `marked` if it has the marker.
    pub fn has_looked_into(&self, folder: &str) -> bool {
        let is_below = |above: &String| folder.strip_prefix(above.as_str()).is_some_and(|rest| rest.starts_with('/'));
        self.looked.contains(folder) || (!self.is_pattern && self.folder.as_ref().is_some_and(is_below))
    }
}

/// As [`list`], with the folders that have a hidden folder of the name `marker`. No request is made for them.
///
/// # Errors
/// The errors of [`list`].
pub fn list_marked(location: &str, options: &StorageOptions, marker: &str) -> Result<Listing> {
    list_location(location, options, true, Some(marker))
}

/// The folders at or below a folder that have a folder with the name of a marker, without hidden folders. The location is no
/// pattern.
///
/// # Errors
/// As [`list_folder`].
pub fn marked_folders(location: &str, options: &StorageOptions, marker: &str) -> Result<Vec<String>> {
    list_location(location, options, false, Some(marker)).map(|listing| listing.marked)
}

/// The folders of a listing that have a folder with the name of a marker.
struct Marks<'a> {
    marker: Option<&'a str>,
    folders: BTreeSet<String>,
    looked: BTreeSet<String>,
}

impl Marks<'_> {
    /// Looks for the marker in what was found in folders, and returns that.
    fn look(&mut self, folders: &[String], entries: FolderEntries) -> FolderEntries {
        let Some(marker) = self.marker else { return entries };
        self.looked.extend(folders.iter().map(|folder| folder.trim_end_matches('/').to_owned()));
        let above = |path: &str| path.strip_suffix(marker)?.strip_suffix('/').map(str::to_owned);
        let (start, middle) = (format!("{marker}/"), format!("/{marker}/"));
        let within = |path: &str| {
            if path.starts_with(&start) {
                Some(String::new())
            } else {
                path.split_once(&middle).map(|(folder, _)| folder.to_owned())
            }
        };
        self.folders.extend(entries.folders.iter().filter_map(|path| above(path)));
        self.folders.extend(entries.files.iter().filter_map(|(path, _)| within(path)));
        entries
    }
}

fn list_location(
    location: &str,
    options: &StorageOptions,
    allow_patterns: bool,
    marker: Option<&str>,
) -> Result<Listing> {
    let (lister, path): (Box<dyn Lister>, String) = match parse_checked(location)? {
        Parsed::Local(path) => {
            let path = path_with_slashes(&path, location)?;
            (Box::new(LocalLister::new(&path, options)), path)
        }
        #[cfg(feature = "object-store")]
        Parsed::Remote(_) => {
            let (lister, path) = StoreLister::open(location, options)?;
            (Box::new(lister), path)
        }
        #[cfg(not(feature = "object-store"))]
        Parsed::Remote(url) => return Err(url.missing_feature(options)),
    };
    let mut marks = Marks { marker, folders: BTreeSet::new(), looked: BTreeSet::new() };
    let listed = (|| {
        let is_pattern = allow_patterns && is_pattern(&path) && !lister.exists(&path)?;
        let find = if is_pattern { list_pattern } else { list_path };
        find(&*lister, &path, &mut marks).map(|entries| (is_pattern, entries))
    })();
    let (is_pattern, (folder, mut files)) = listed.map_err(|error| error.in_file(lister.name()))?;
    let is_atomic = !is_pattern && lister.is_atomic(files.len());
    files.sort();
    files.dedup();
    let files = files.into_iter().filter(|(path, _)| !path.ends_with(FOLDER_MARKER));
    Ok(Listing {
        files: files.map(|(path, size)| (lister.location(&path), size)).collect(),
        marked: marks.folders.iter().map(|folder| lister.location(folder)).collect(),
        folder: folder.map(|folder| lister.location(&folder)),
        is_pattern,
        is_atomic,
        looked: marks.looked.iter().map(|folder| lister.location(folder)).collect(),
    })
}

fn segments(path: &str) -> impl Iterator<Item = &str> {
    path.split('/').filter(|segment| !segment.is_empty())
}

/// The folder that was listed, and the files that were chosen.
type Found = (Option<String>, Vec<ListedFile>);

/// The files of a file or folder.
fn list_path(lister: &dyn Lister, path: &str, marks: &mut Marks<'_>) -> Result<Found> {
    if let Some(size) = lister.file_size(path)? {
        return Ok((None, vec![(path.to_owned(), size)]));
    }
    let start = [path.to_owned()];
    let files = marks.look(&start, lister.descendants(&start)?).files;
    if files.is_empty() && !lister.has_empty_folders() {
        let error = std::io::Error::new(std::io::ErrorKind::NotFound, "no file has this name or prefix");
        return Err(Error::io(CANNOT_LIST, error));
    }
    Ok((Some(path.to_owned()), filter_by_pattern(files, &[], path)))
}

/// The files whose path matches `pattern`, relative to `folder` or another folder of the same depth.
fn filter_by_pattern(files: Vec<ListedFile>, pattern: &[Segment], folder: &str) -> Vec<ListedFile> {
    let depth = segments(folder).count();
    let is_match = |(file, _): &ListedFile| matches_path(pattern, &segments(file).skip(depth).collect::<Vec<_>>());
    files.into_iter().filter(is_match).collect()
}

/// The files of a pattern. Each iteration replaces the folders that match the processed segments by those that also
/// match the next segment.
fn list_pattern(lister: &dyn Lister, path: &str, marks: &mut Marks<'_>) -> Result<Found> {
    // The segments before the first glob are a literal folder.
    let start = path.find(['*', '?', '[']).and_then(|index| path.get(..index)?.rfind('/')).map_or(0, |index| index + 1);
    let (folder, rest) = path.split_at_checked(start).unwrap_or(("", path));
    let trimmed = folder.trim_end_matches('/');
    let start = if trimmed.is_empty() { folder } else { trimmed }.to_owned();
    let pattern = pattern::parse(rest)?;
    let files = matching_files(lister, vec![start.clone()], &pattern, marks)?;
    Ok((Some(start), files))
}

/// The files below folders that match a pattern.
fn matching_files(
    lister: &dyn Lister,
    mut folders: Vec<String>,
    mut pattern: &[Segment],
    marks: &mut Marks<'_>,
) -> Result<Vec<ListedFile>> {
    while let Some((segment, rest)) = pattern.split_first() {
        match segment {
            Segment::AnyDepth => {
                let files = marks.look(&folders, lister.descendants(&folders)?).files;
                let Some(folder) = folders.first() else { return Ok(Vec::new()) };
                return Ok(filter_by_pattern(files, pattern, folder));
            }
            Segment::Name(name) if !rest.is_empty() => {
                folders = folders.iter().map(|folder| join(folder, name)).collect();
            }
            Segment::Name(_) | Segment::Glob(_) => {
                let matches = |path: &str| segment.matches(last_segment(path));
                let entries = marks.look(&folders, lister.children(&folders)?);
                folders = entries.folders.into_iter().filter(|folder| matches(folder)).collect();
                if rest.is_empty() {
                    let mut files: Vec<_> = entries.files.into_iter().filter(|(file, _)| matches(file)).collect();
                    if let Some(folder) = folders.first() {
                        let below = marks.look(&folders, lister.descendants(&folders)?).files;
                        files.extend(filter_by_pattern(below, &[], folder));
                    }
                    return Ok(files);
                }
            }
        }
        pattern = rest;
    }
    Ok(Vec::new())
}
