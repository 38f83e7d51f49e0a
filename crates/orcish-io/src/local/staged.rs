//! Staged files of the local file system.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use orcish_core::{Error, Result};

use super::durable::{create_folders, follow_links, is_not_found, parent_of, rename_over, sync_parent};
use super::sink::FileSink;
use crate::location::{Parsed, parse, path_to_str};
use crate::messages::{CANNOT_ABORT, CANNOT_PUBLISH, CANNOT_WRITE};
use crate::sink::Sink;
use crate::source::ReadAt;
use crate::staged::{Data, StagedFile, Staging};

/// A sink whose finished file keeps its temporary name.
pub(crate) struct StagedFileSink {
    inner: FileSink,
    /// The absolute path of the published file.
    location: String,
    bytes_written: u64,
    staging: Staging,
}

impl StagedFileSink {
    pub(crate) fn create(path: PathBuf, staging_folder: Option<&str>, staging: Staging) -> Result<Self> {
        let name = path.to_string_lossy().into_owned();
        let absolute = std::path::absolute(&path).map_err(|error| Error::io(CANNOT_WRITE, error).in_file(&name))?;
        let location = path_to_str(&absolute, &name)?.to_owned();
        let folder = match staging_folder.map(parse) {
            None => None,
            Some(Parsed::Local(folder)) => Some(folder),
            Some(Parsed::Remote(url)) => {
                let text = format!("it cannot wait at {}: that is no local folder", url.display_name());
                return Err(Error::invalid(text).in_file(&name));
            }
        };
        let inner = FileSink::create_in(path, true, folder.as_deref())?;
        Ok(StagedFileSink { inner, location, bytes_written: 0, staging })
    }
}

impl Sink for StagedFileSink {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.bytes_written += bytes.len() as u64;
        self.inner.write(bytes)
    }

    fn reopen(&mut self) -> Result<Option<Arc<dyn ReadAt>>> {
        self.inner.reopen()
    }

    fn sync(&mut self) -> Result<()> {
        self.inner.sync()
    }

    fn finish(&mut self) -> Result<()> {
        let temporary = self.inner.finish_staged()?;
        let path = path_to_str(&temporary, self.inner.name()).inspect_err(|_| _ = fs::remove_file(&temporary))?;
        let data = Data::Path(path.to_owned());
        self.staging.put(StagedFile::new(self.location.clone(), self.bytes_written, data));
        Ok(())
    }
}

/// Publishes a staged file, whose temporary path is `temporary`. See [`complete_upload`](crate::complete_upload).
pub(crate) fn complete(location: &str, path: PathBuf, file: &StagedFile, temporary: &str) -> Result<()> {
    let target = checked_target(location, path, file)?;
    let published = publish(Path::new(temporary), &target, file.bytes);
    published.map_err(|error| Error::io(CANNOT_PUBLISH, error).in_file(location))
}

/// Removes a staged file, whose temporary path is `temporary`. See [`abort_upload`](crate::abort_upload).
pub(crate) fn abort(location: &str, path: PathBuf, file: &StagedFile, temporary: &str) -> Result<()> {
    checked_target(location, path, file)?;
    match fs::remove_file(temporary) {
        Err(error) if !is_not_found(&error) => Err(Error::io(CANNOT_ABORT, error).in_file(location)),
        _ => Ok(()),
    }
}

/// The path of the published file, with links resolved.
///
/// # Errors
/// `InvalidArgument` if the file was staged for another path.
fn checked_target(location: &str, path: PathBuf, file: &StagedFile) -> Result<PathBuf> {
    let to_error = |error| Error::io(CANNOT_PUBLISH, error).in_file(location);
    let absolute = std::path::absolute(&path).map_err(to_error)?;
    if path_to_str(&absolute, location)? != file.location {
        return Err(file.wrong_location(location));
    }
    follow_links(path).map_err(to_error)
}

/// Renames the temporary file to `target`. A missing temporary file is a success if a file of the same size exists at
/// `target`: it has been published before.
fn publish(temporary: &Path, target: &Path, size: u64) -> io::Result<()> {
    // Folders are created only if the temporary file exists, whole.
    let prepared = fs::symlink_metadata(temporary).and_then(|staged| {
        if staged.len() == size {
            create_folders(parent_of(target))
        } else {
            let text = format!("the staged file has {} bytes, and {size} were written", staged.len());
            Err(io::Error::new(io::ErrorKind::InvalidData, text))
        }
    });
    let Err(error) = prepared.and_then(|()| rename_over(temporary, target)) else {
        sync_parent(temporary);
        return Ok(());
    };
    let is_published = fs::metadata(target).is_ok_and(|metadata| metadata.is_file() && metadata.len() == size);
    if is_not_found(&error) && is_published { Ok(()) } else { Err(error) }
}
