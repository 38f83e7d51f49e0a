//! Sinks of local files.
#![expect(clippy::disallowed_types, reason = "this is where files are opened")]

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use orcish_core::process::OwnerProcess;
use orcish_core::{Error, Result};

use super::durable::{create_folders, sync_parent};
use super::source::FileSource;
use super::target::{checked_target, link, publish, publish_new};
use crate::messages::CANNOT_WRITE;
use crate::sink::Sink;
use crate::source::ReadAt;

/// Maximum number of retries with another temporary name.
pub(super) const MAX_RETRIES: usize = 100;

/// A file of the local file system. It is written under a temporary name in the same folder, and renamed when it is
/// finished.
///
/// The temporary name begins with a dot. Spark, Hive and orcish therefore ignore the file in listings of a table. A
/// killed process leaves the temporary file behind.
#[derive(Debug)]
pub struct FileSink {
    name: String,
    /// The path of the finished file, with links resolved.
    target: PathBuf,
    temporary: PathBuf,
    /// `None` after the sink has been finished, or a write has failed.
    file: Option<File>,
    /// Whether all written bytes are durable.
    is_synced: bool,
    /// Whether an existing file is replaced.
    overwrite: bool,
    /// A forked child process must not change the file.
    owner: OwnerProcess,
}

impl FileSink {
    /// Creates a sink for the file at `path`. The folder of the file has to exist. If `path` is a symbolic link, the
    /// target of the link is replaced, and the link is kept.
    ///
    /// # Errors
    /// `Io` if the file cannot be created, for example because `path` is a folder.
    pub fn create(path: impl Into<PathBuf>) -> Result<Self> {
        Self::create_in(path.into(), true, None)
    }

    /// As [`create`](Self::create), for a file that replaces none; see [`create_new`](crate::create_new).
    ///
    /// # Errors
    /// `Io` if the file cannot be created, or exists.
    pub fn create_new(path: impl Into<PathBuf>) -> Result<Self> {
        Self::create_in(path.into(), false, None)
    }

    /// As [`check_target`](crate::check_target), for a path that may not be Unicode.
    ///
    /// # Errors
    /// `Io` if a file cannot be created there.
    pub fn check_target(path: impl Into<PathBuf>, overwrite: bool) -> Result<()> {
        let path = path.into();
        let name = path.to_string_lossy().into_owned();
        checked_target(path, overwrite).map(drop).map_err(|error| Error::io(CANNOT_WRITE, error).in_file(&name))
    }

    /// As [`create`](Self::create), with the temporary file in the folder `staging` of the same file system. The folder
    /// is created if it is missing.
    pub(super) fn create_in(path: PathBuf, overwrite: bool, staging: Option<&Path>) -> Result<Self> {
        let name = path.to_string_lossy().into_owned();
        let to_error = |error| Error::io(CANNOT_WRITE, error).in_file(&name);
        let target = checked_target(path, overwrite).map_err(to_error)?;
        let Some(file_name) = target.file_name().map(|name| name.to_string_lossy().into_owned()) else {
            return Err(to_error(io::Error::new(io::ErrorKind::InvalidInput, "the path names no file")));
        };
        // The working directory may be another one when the file is finished.
        let target = std::path::absolute(target).map_err(to_error)?;
        let staging = staging.map(std::path::absolute).transpose().map_err(to_error)?;
        staging.as_deref().map_or(Ok(()), create_folders).map_err(to_error)?;
        let mut attempt = 0;
        loop {
            let hidden = temporary_name(&file_name, attempt);
            let temporary =
                staging.as_ref().map_or_else(|| target.with_file_name(&hidden), |folder| folder.join(&hidden));
            match OpenOptions::new().write(true).create_new(true).open(&temporary) {
                Ok(file) => {
                    let owner = OwnerProcess::current();
                    let (file, is_synced) = (Some(file), false);
                    return Ok(FileSink { name, target, temporary, file, is_synced, overwrite, owner });
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists && attempt < MAX_RETRIES => attempt += 1,
                Err(error) => return Err(to_error(error)),
            }
        }
    }

    fn to_error(&self, error: io::Error) -> Error {
        Error::io(CANNOT_WRITE, error).in_file(&self.name)
    }

    /// Checks that this process may change the file.
    fn check_owner(&self) -> Result<()> {
        self.owner.check().map_err(|error| error.in_file(&self.name))
    }

    fn closed_error(&self) -> Error {
        self.to_error(io::Error::other("it is finished, or has failed before"))
    }

    /// As [`finish`](Sink::finish), but fails if a file of the name exists. Of several concurrent writers, exactly one
    /// succeeds.
    ///
    /// # Errors
    /// `Io` if this fails. The source of the error has the kind [`AlreadyExists`](io::ErrorKind::AlreadyExists) if a
    /// file of the name exists, and another kind if the file system does not support hard links.
    pub fn finish_if_not_exists(&mut self) -> Result<()> {
        self.close(|this| link(&this.temporary, &this.target))
    }

    /// Finishes the file under its temporary name, and returns the absolute path of the temporary file.
    pub(super) fn finish_staged(&mut self) -> Result<PathBuf> {
        self.close(|this| {
            sync_parent(&this.temporary);
            std::path::absolute(&this.temporary)
        })
    }

    /// Applies `operation` to the open file. If it fails, the temporary file is removed and the sink is closed.
    fn with_file(&mut self, operation: impl FnOnce(&mut File) -> io::Result<()>) -> Result<()> {
        self.check_owner()?;
        let Some(file) = &mut self.file else { return Err(self.closed_error()) };
        operation(file).map_err(|error| {
            self.file = None;
            let _ = fs::remove_file(&self.temporary);
            self.to_error(error)
        })
    }

    /// Syncs and closes the file, then calls `publish`. If either fails, the temporary file is removed.
    fn close<T>(&mut self, publish: impl FnOnce(&Self) -> io::Result<T>) -> Result<T> {
        self.check_owner()?;
        let Some(file) = self.file.take() else { return Err(self.closed_error()) };
        let synced = if self.is_synced { Ok(()) } else { file.sync_all() };
        drop(file);
        synced.and_then(|()| publish(self)).map_err(|error| {
            let _ = fs::remove_file(&self.temporary);
            self.to_error(error)
        })
    }
}

/// A hidden file name that is unique among writers of all processes. It contains at most 40 characters of `file_name`,
/// because most systems limit names to 255 bytes.
pub(super) fn temporary_name(file_name: &str, attempt: usize) -> String {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default().as_nanos();
    let prefix: String = file_name.chars().take(40).collect();
    format!(".{prefix}.{}-{now:x}-{attempt}.tmp", std::process::id())
}

impl Sink for FileSink {
    fn name(&self) -> &str {
        &self.name
    }

    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.is_synced = false;
        self.with_file(|file| file.write_all(bytes))
    }

    fn reopen(&mut self) -> Result<Option<Arc<dyn ReadAt>>> {
        self.check_owner()?;
        FileSource::open(&self.temporary)
            .map(|source| Some(Arc::new(source) as _))
            .map_err(|error| error.in_file(&self.name))
    }

    fn sync(&mut self) -> Result<()> {
        self.with_file(|file| file.sync_all())?;
        self.is_synced = true;
        Ok(())
    }

    fn finish(&mut self) -> Result<()> {
        let publish = if self.overwrite { publish } else { publish_new };
        self.close(|this| publish(&this.temporary, &this.target))
    }
}

impl Drop for FileSink {
    fn drop(&mut self) {
        if self.file.take().is_some() && self.owner.is_current() {
            let _ = fs::remove_file(&self.temporary);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Creates an empty folder for a test.
    fn folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("orcish-sink-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        folder
    }

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }

    #[test]
    fn a_file_is_visible_when_it_is_finished() {
        let folder = folder("finished");
        let path = folder.join("a.orc");
        let mut sink = FileSink::create(&path).unwrap();
        sink.write(b"one").unwrap();
        assert!(!path.exists());
        assert!(names(&folder).iter().all(|name| name.starts_with('.')));
        sink.finish().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"one");
        assert_eq!(names(&folder), ["a.orc"]);
        assert!(sink.write(b"more").is_err());
        assert!(sink.finish().is_err());
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn new_files_replace_none() {
        let folder = folder("new");
        let path = folder.join("a.orc");
        let (mut first, mut second) = (FileSink::create_new(&path).unwrap(), FileSink::create_new(&path).unwrap());
        first.write(b"one").unwrap();
        first.finish().unwrap();
        for error in [second.finish().unwrap_err(), FileSink::create_new(&path).unwrap_err()] {
            assert_eq!(error.io_kind(), Some(io::ErrorKind::AlreadyExists), "{error}");
        }
        assert_eq!(fs::read(&path).unwrap(), b"one");
        assert_eq!(names(&folder), ["a.orc"]);
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn dropped_sinks_leave_no_files() {
        let folder = folder("dropped");
        let path = folder.join("a.orc");
        fs::write(&path, "before").unwrap();
        let mut sink = FileSink::create(&path).unwrap();
        sink.write(b"after").unwrap();
        drop(sink);
        assert_eq!(fs::read(&path).unwrap(), b"before");
        assert_eq!(names(&folder), ["a.orc"]);
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn forked_processes_change_nothing() {
        let folder = folder("fork");
        let path = folder.join("a.orc");
        let calls: [fn(&mut FileSink) -> Result<()>; 6] = [
            |sink| sink.write(b"child"),
            |sink| sink.sync(),
            |sink| sink.finish(),
            |sink| sink.finish_if_not_exists(),
            |sink| sink.finish_staged().map(drop),
            |sink| sink.reopen().map(drop),
        ];
        for call in calls {
            let mut sink = FileSink::create(&path).unwrap();
            sink.write(b"one").unwrap();
            // The state of a forked child process.
            sink.owner = OwnerProcess::other();
            let error = call(&mut sink).unwrap_err();
            assert_eq!(error.kind(), orcish_core::ErrorKind::InvalidArgument, "{error}");
            assert!(error.to_string().starts_with(path.to_str().unwrap()), "{error}");
            let temporary = sink.temporary.clone();
            drop(sink);
            assert!(!path.exists());
            assert_eq!(fs::read(&temporary).unwrap(), b"one");
            fs::remove_file(temporary).unwrap();
        }
        fs::remove_dir_all(folder).unwrap();
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_failed_write_closes_the_sink() {
        let folder = folder("failed");
        let mut sink = FileSink::create(folder.join("a.orc")).unwrap();
        sink.write(b"one").unwrap();
        sink.file = Some(OpenOptions::new().write(true).open("/dev/full").unwrap());
        assert!(sink.write(b"two").is_err());
        for result in [sink.write(b"three"), sink.sync(), sink.finish(), sink.finish_if_not_exists()] {
            assert!(result.unwrap_err().to_string().contains("has failed before"));
        }
        assert_eq!(names(&folder), [""; 0]);
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn concurrent_writers_use_different_temporary_files() {
        let folder = folder("two");
        let path = folder.join("a.orc");
        let (mut a, mut b) = (FileSink::create(&path).unwrap(), FileSink::create(&path).unwrap());
        a.write(b"a").unwrap();
        b.write(b"b").unwrap();
        a.finish().unwrap();
        b.finish().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"b");
        assert_eq!(names(&folder), ["a.orc"]);
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn invalid_paths() {
        let folder = folder("nowhere");
        for path in [folder.clone(), folder.join("missing/a.orc")] {
            let error = FileSink::create(&path).unwrap_err();
            assert!(error.to_string().contains(&path.display().to_string()), "{error}");
        }
        fs::remove_dir_all(folder).unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn links_and_permissions_are_kept() {
        use std::os::unix::fs::{PermissionsExt as _, symlink};
        let folder = folder("links");
        fs::create_dir(folder.join("other")).unwrap();
        let (link, real) = (folder.join("link.orc"), folder.join("other/real.orc"));
        fs::write(&real, "before").unwrap();
        fs::set_permissions(&real, fs::Permissions::from_mode(0o640)).unwrap();
        symlink(&real, &link).unwrap();
        let mut sink = FileSink::create(&link).unwrap();
        sink.write(b"after").unwrap();
        sink.finish().unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read(&real).unwrap(), b"after");
        assert_eq!(fs::metadata(&real).unwrap().permissions().mode() & 0o777, 0o640);
        fs::remove_dir_all(folder).unwrap();
    }
}
