//! Operations on whole files and folders of the local file system.
#![expect(clippy::disallowed_types, reason = "this is where files are opened")]

use std::collections::BTreeSet;
use std::fs::{self, File, FileType, Metadata};
use std::io::{self, ErrorKind, Read as _};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use bytes::Bytes;
use orcish_core::{Error, Result};

use super::durable::{create_folders, is_not_found, parent_of, sync_folder, sync_parent};
use super::sink::FileSink;
use crate::file_ops::{FileOps, FileStatus, too_large};
use crate::location::{join, last_segment, not_utf8, path_with_slashes};
use crate::messages::{CANNOT_DELETE, CANNOT_LIST, CANNOT_READ, CANNOT_WRITE};
use crate::pattern::is_hidden;
use crate::sink::Sink as _;
use crate::storage::StorageOptions;

/// Operations on a path of the local file system.
pub(crate) struct LocalFileOps {
    path: PathBuf,
    location: String,
    options: StorageOptions,
}

impl LocalFileOps {
    pub(crate) fn new(path: PathBuf, location: &str, options: &StorageOptions) -> Self {
        LocalFileOps { path, location: location.to_owned(), options: options.clone() }
    }

    fn to_error(&self, message: &str, error: io::Error) -> Error {
        Error::io(message, error).in_file(&self.location)
    }

    /// Reads the file; `None` if it has more than `limit` bytes.
    fn read_limited(&self, limit: u64) -> io::Result<Option<Vec<u8>>> {
        // Opening a pipe would block until a writer opens it.
        let metadata = fs::metadata(&self.path)?;
        if metadata.is_dir() {
            return Err(ErrorKind::IsADirectory.into());
        }
        if !metadata.is_file() {
            return Err(io::Error::other("it is no regular file"));
        }
        let mut bytes = Vec::new();
        let length = File::open(&self.path)?.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
        Ok((length as u64 <= limit).then_some(bytes))
    }

    /// The paths and types of the entries of a folder. A folder that does not exist has none. Entries whose names are not
    /// UTF-8 are skipped if they are hidden, or if `skips_other_names`.
    fn entries(&self, folder: &str, skips_other_names: bool) -> Result<Vec<(String, FileType)>> {
        let to_error = |error| self.to_error(CANNOT_LIST, error);
        let entries = match fs::read_dir(if folder.is_empty() { "." } else { folder }) {
            Err(error) if is_not_found(&error) => return Ok(Vec::new()),
            entries => entries.map_err(to_error)?,
        };
        let mut children = Vec::new();
        for entry in entries {
            let entry = entry.map_err(to_error)?;
            let name = entry.file_name();
            let name = match name.to_str() {
                Some(name) => name,
                None if skips_other_names || is_hidden(&name.to_string_lossy()) => continue,
                None => return Err(to_error(not_utf8(&entry.path()))),
            };
            match entry.file_type() {
                Err(error) if is_not_found(&error) => {}
                kind => children.push((join(folder, name), kind.map_err(to_error)?)),
            }
        }
        Ok(children)
    }

    /// Deletes the folder and its content. Concurrent deletions by other threads or processes are tolerated. The inner
    /// result is the error of the cancellation check.
    fn remove_all(&self) -> io::Result<Result<()>> {
        let metadata = match fs::symlink_metadata(&self.path) {
            Err(error) if is_not_found(&error) => return Ok(Ok(())),
            metadata => metadata?,
        };
        if !metadata.is_dir() {
            if !metadata.is_symlink() {
                return Err(ErrorKind::NotADirectory.into());
            }
            ignore_not_found(remove_file_or_link(&self.path))?;
        } else {
            let mut cancellation = self.options.cancellation();
            let entries = match fs::read_dir(&self.path) {
                Err(error) if is_not_found(&error) => return Ok(Ok(())),
                entries => entries?,
            };
            for entry in entries {
                if let Err(error) = cancellation.poll() {
                    return Ok(Err(error));
                }
                ignore_not_found(entry.and_then(|entry| {
                    // `remove_dir_all` does not follow links, even links that are created concurrently.
                    if entry.file_type()?.is_dir() {
                        fs::remove_dir_all(entry.path())
                    } else {
                        remove_file_or_link(&entry.path())
                    }
                }))?;
            }
            ignore_not_found(fs::remove_dir(&self.path))?;
        }
        sync_parent(&self.path);
        Ok(Ok(()))
    }
}

impl FileOps for LocalFileOps {
    fn read(&self, limit: u64) -> Result<Bytes> {
        match self.read_limited(limit).map_err(|error| self.to_error(CANNOT_READ, error))? {
            Some(bytes) => Ok(bytes.into()),
            None => {
                let size = fs::metadata(&self.path).map_or(limit.saturating_add(1), |metadata| metadata.len());
                Err(too_large(size, limit).in_file(&self.location))
            }
        }
    }

    fn write(&self, bytes: Bytes, overwrite: bool) -> Result<()> {
        create_folders(parent_of(&self.path)).map_err(|error| self.to_error(CANNOT_WRITE, error))?;
        let mut sink = FileSink::create(&self.path)?;
        sink.write(&bytes)?;
        if overwrite { sink.finish() } else { sink.finish_if_not_exists() }
    }

    fn status(&self) -> Result<Option<FileStatus>> {
        let to_error = |error| self.to_error(CANNOT_READ, error);
        match fs::metadata(&self.path) {
            // No file has a name that is too long.
            Err(error) if is_not_found(&error) || error.kind() == ErrorKind::InvalidFilename => Ok(None),
            metadata => file_status(&metadata.map_err(to_error)?).map_err(to_error),
        }
    }

    fn list_all(&self, skips_other_names: bool) -> Result<Vec<(String, FileStatus)>> {
        let mut cancellation = self.options.cancellation();
        let start = path_with_slashes(&self.path, &self.location)?;
        let (mut files, mut stack) = (Vec::new(), vec![(start, skips_other_names)]);
        while let Some((folder, skips_other_names)) = stack.pop() {
            cancellation.poll()?;
            for (path, kind) in self.entries(&folder, skips_other_names)? {
                if kind.is_dir() {
                    let skips_below = skips_other_names || is_hidden(last_segment(&path));
                    stack.push((path, skips_below));
                    continue;
                }
                let status = match fs::metadata(&path) {
                    // Concurrently deleted files, and links to nothing, are skipped.
                    Err(error) if is_not_found(&error) || kind.is_symlink() => continue,
                    metadata => metadata.and_then(|metadata| file_status(&metadata)),
                };
                let status = status.map_err(|error| self.to_error(CANNOT_LIST, error))?;
                files.extend(status.map(|status| (path, status)));
            }
        }
        files.sort_by(|(a, _), (b, _)| a.cmp(b));
        Ok(files)
    }

    fn has_folder(&self) -> Result<bool> {
        match fs::metadata(&self.path) {
            Err(error) if is_not_found(&error) => Ok(false),
            metadata => Ok(metadata.map_err(|error| self.to_error(CANNOT_LIST, error))?.is_dir()),
        }
    }

    fn delete_folder(&self) -> Result<()> {
        if self.path.parent().is_none() {
            return Err(Error::invalid("this is no folder that can be deleted").in_file(&self.location));
        }
        self.remove_all().map_err(|error| self.to_error(CANNOT_DELETE, error))?
    }
}

/// The status of a regular file; `None` for other entries.
fn file_status(metadata: &Metadata) -> io::Result<Option<FileStatus>> {
    if !metadata.is_file() {
        return Ok(None);
    }
    // Callers expect no times before the epoch.
    Ok(Some(FileStatus { size: metadata.len(), modified: metadata.modified()?.max(UNIX_EPOCH) }))
}

/// Treats the deletion of a missing file as a success.
fn ignore_not_found(result: io::Result<()>) -> io::Result<()> {
    result.or_else(|error| if is_not_found(&error) { Ok(()) } else { Err(error) })
}

/// Removes a file or a link, but not the target of the link.
fn remove_file_or_link(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        // Windows removes links to folders like folders.
        Err(error) if cfg!(windows) && !is_not_found(&error) => fs::remove_dir(path).map_err(|_| error),
        result => result,
    }
}

/// Deletes files. Missing files are ignored. If deletions fail, the others are still done, and the first error is
/// returned.
pub(crate) fn delete_files(files: &[(PathBuf, &str)], options: &StorageOptions) -> Result<()> {
    let mut cancellation = options.cancellation();
    let (mut result, mut changed_folders) = (Ok(()), BTreeSet::new());
    for (path, location) in files {
        cancellation.poll()?;
        match fs::remove_file(path) {
            Ok(()) => _ = changed_folders.insert(parent_of(path)),
            Err(error) if is_not_found(&error) => {}
            Err(error) => result = result.and(Err(Error::io(CANNOT_DELETE, error).in_file(location))),
        }
    }
    changed_folders.into_iter().for_each(sync_folder);
    result
}
