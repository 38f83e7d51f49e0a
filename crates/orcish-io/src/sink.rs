//! Files on their way: nothing is under their name until they are whole.
#![expect(clippy::disallowed_types, reason = "this is where files are opened")]

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use orcish_core::process::Owner;
use orcish_core::{Error, Result};

use crate::durable::{create_folders, sync_folder_of};
use crate::file::FileSource;
use crate::location;
use crate::source::ReadAt;
use crate::storage::StorageOptions;

/// Where a file is written to. Dropping it unfinished leaves nothing under its name, and what was there stays.
pub trait Sink: Send {
    /// A name for messages, such as a path.
    fn name(&self) -> &str;

    /// Appends bytes.
    ///
    /// # Errors
    /// Of kind `Io` when they cannot be written.
    fn write(&mut self, bytes: &[u8]) -> Result<()>;

    /// What has been written so far, to be read again before the file appears; none where that cannot be.
    ///
    /// # Errors
    /// Of kind `Io` when it cannot be opened.
    fn reopen(&mut self) -> Result<Option<Arc<dyn ReadAt>>> {
        Ok(None)
    }

    /// Makes what has been written durable, as far as that can be done before the file appears: what takes long, and
    /// leaves [`finish`](Self::finish) little to do.
    ///
    /// # Errors
    /// Of kind `Io` when the bytes cannot be stored; nothing can follow then.
    fn settle(&mut self) -> Result<()> {
        Ok(())
    }

    /// Makes the file appear under its name, whole and durable, in place of what was there.
    ///
    /// # Errors
    /// Of kind `Io` when it cannot; nothing has changed under the name then.
    fn finish(&mut self) -> Result<()>;
}

/// The sink at `location`: a path, a `file://` URL, or, with the feature `object-store`, a URL of an object store.
///
/// # Errors
/// Of kind `Io` when the file cannot be made, `InvalidArgument` when the URL or an option is wrong, `Unsupported` for
/// HTTP servers.
pub fn create(location: &str, options: &StorageOptions) -> Result<Box<dyn Sink>> {
    match location::parse(location) {
        location::Location::Local(path) => Ok(Box::new(FileSink::create(path)?)),
        #[cfg(feature = "object-store")]
        location::Location::Remote(_) => Ok(Box::new(crate::remote::ObjectSink::create(location, options, None)?)),
        #[cfg(not(feature = "object-store"))]
        location::Location::Remote(url) => Err(url.no_feature(options)),
    }
}

/// How often another name is tried where one is taken.
const ATTEMPTS: usize = 100;

/// A file of the local file system: written under another name in the same folder, and renamed at the end.
///
/// The other name begins with a dot, so that Spark, Hive and orcish do not take it for a part of a table. A process that
/// is killed leaves it behind.
#[derive(Debug)]
pub struct FileSink {
    name: String,
    /// Where it is to be, behind links.
    target: PathBuf,
    temporary: PathBuf,
    /// None once it is finished, or has failed.
    file: Option<File>,
    /// Whether all bytes are on disk.
    is_settled: bool,
    /// A child of a fork leaves it alone.
    owner: Owner,
}

impl FileSink {
    /// A file that is to be at `path`. Its folder is there already; if `path` is a link, it stays, and what it leads to
    /// is replaced.
    ///
    /// # Errors
    /// Of kind `Io` when no file can be made there, such as where `path` is a folder.
    pub fn create(path: impl Into<PathBuf>) -> Result<Self> {
        Self::create_in(path.into(), None)
    }

    /// The same, which is written in a folder of its own, on the same file system; it is made where it is missing.
    pub(super) fn create_in(path: PathBuf, staging: Option<&Path>) -> Result<Self> {
        let name = path.to_string_lossy().into_owned();
        let fault = |error| Error::io("cannot be written", error).in_file(&name);
        let target = behind_links(path).map_err(fault)?;
        match fs::metadata(&target) {
            Ok(found) if found.is_dir() => return Err(fault(io::ErrorKind::IsADirectory.into())),
            // A device would be replaced, and a pipe has no other name.
            Ok(found) if !found.is_file() => return Err(fault(io::Error::other("it is no regular file"))),
            _ => {}
        }
        let Some(own) = target.file_name().map(|own| own.to_string_lossy().into_owned()) else {
            return Err(fault(io::Error::new(io::ErrorKind::InvalidInput, "the path names no file")));
        };
        staging.map_or(Ok(()), create_folders).map_err(fault)?;
        let mut attempt = 0;
        loop {
            let other = temporary_name(&own, attempt);
            let temporary = staging.map_or_else(|| target.with_file_name(&other), |folder| folder.join(&other));
            match OpenOptions::new().write(true).create_new(true).open(&temporary) {
                Ok(file) => {
                    let owner = Owner::here();
                    return Ok(FileSink { name, target, temporary, file: Some(file), is_settled: false, owner });
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists && attempt < ATTEMPTS => attempt += 1,
                Err(error) => return Err(fault(error)),
            }
        }
    }

    fn fault(&self, error: io::Error) -> Error {
        Error::io("cannot be written", error).in_file(&self.name)
    }

    /// Whether this process may go on with it.
    fn check(&self) -> Result<()> {
        self.owner.check().map_err(|error| error.in_file(&self.name))
    }

    fn over(&self) -> Error {
        self.fault(io::Error::other("it is finished, or has failed before"))
    }

    /// Makes the file appear under its name, where there is none.
    ///
    /// # Errors
    /// Of kind `Io` when it cannot, and then nothing has changed under the name: of the system's `AlreadyExists` where
    /// there is a file, of others where the file system has no hard links, which this takes.
    pub fn finish_new(&mut self) -> Result<()> {
        self.end(|this| {
            fs::hard_link(&this.temporary, &this.target)?;
            // It is there; the name says what the other one is.
            let _ = fs::remove_file(&this.temporary);
            sync_folder_of(&this.target);
            Ok(())
        })
    }

    /// Leaves the whole file under its other name, where it stays.
    pub(super) fn withhold(&mut self) -> Result<PathBuf> {
        self.end(|this| {
            sync_folder_of(&this.temporary);
            std::path::absolute(&this.temporary)
        })
    }

    /// Does something with the file; where it fails, nothing can follow.
    fn with_file(&mut self, work: impl FnOnce(&mut File) -> io::Result<()>) -> Result<()> {
        self.check()?;
        let Some(file) = &mut self.file else { return Err(self.over()) };
        work(file).map_err(|error| {
            self.file = None;
            let _ = fs::remove_file(&self.temporary);
            self.fault(error)
        })
    }

    /// Puts the bytes on disk, and does the rest.
    fn end<T>(&mut self, rest: impl FnOnce(&Self) -> io::Result<T>) -> Result<T> {
        self.check()?;
        let Some(file) = self.file.take() else { return Err(self.over()) };
        let synced = if self.is_settled { Ok(()) } else { file.sync_all() };
        drop(file);
        synced.and_then(|()| rest(self)).map_err(|error| {
            let _ = fs::remove_file(&self.temporary);
            self.fault(error)
        })
    }
}

/// Gives a whole file the name that it is to have, in place of what is there.
pub(super) fn place(temporary: &Path, target: &Path) -> io::Result<()> {
    // What was there keeps who may read it.
    if let Ok(before) = fs::metadata(target) {
        fs::set_permissions(temporary, before.permissions())?;
    }
    fs::rename(temporary, target)?;
    sync_folder_of(target);
    Ok(())
}

/// Where a path leads to, which need not be there.
pub(super) fn behind_links(mut path: PathBuf) -> io::Result<PathBuf> {
    /// As many as systems follow.
    const MOST_LINKS: usize = 40;
    for _ in 0..MOST_LINKS {
        match fs::read_link(&path) {
            Ok(to) => path = path.parent().map_or_else(|| to.clone(), |folder| folder.join(&to)),
            // No link, or nothing.
            Err(_) => return Ok(path),
        }
    }
    Err(io::Error::other("links go in circles"))
}

/// A hidden name that no other writer of this or another process takes; short, as names may have 255 bytes.
fn temporary_name(own: &str, attempt: usize) -> String {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default().as_nanos();
    let start: String = own.chars().take(40).collect();
    format!(".{start}.{}-{now:x}-{attempt}.tmp", std::process::id())
}

impl Sink for FileSink {
    fn name(&self) -> &str {
        &self.name
    }

    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.is_settled = false;
        self.with_file(|file| file.write_all(bytes))
    }

    fn reopen(&mut self) -> Result<Option<Arc<dyn ReadAt>>> {
        self.check()?;
        FileSource::open(&self.temporary)
            .map(|source| Some(Arc::new(source) as _))
            .map_err(|error| error.in_file(&self.name))
    }

    fn settle(&mut self) -> Result<()> {
        self.with_file(|file| file.sync_all())?;
        self.is_settled = true;
        Ok(())
    }

    fn finish(&mut self) -> Result<()> {
        self.end(|this| place(&this.temporary, &this.target))
    }
}

impl Drop for FileSink {
    fn drop(&mut self) {
        if self.file.take().is_some() && self.owner.is_here() {
            // There is nobody to tell; the name says what it is.
            let _ = fs::remove_file(&self.temporary);
        }
    }
}

/// Bytes in memory, which are handed over when the file is whole.
#[derive(Debug, Clone, Default)]
pub struct MemorySink {
    bytes: Vec<u8>,
    whole: std::sync::Arc<std::sync::Mutex<Option<Vec<u8>>>>,
}

impl MemorySink {
    /// An empty one.
    pub fn new() -> Self {
        Self::default()
    }

    /// The file, once it is whole; clones of this sink before it was written to share it.
    pub fn take(&self) -> Option<Vec<u8>> {
        self.whole.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take()
    }
}

impl Sink for MemorySink {
    fn name(&self) -> &'static str {
        "memory"
    }

    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.bytes.extend_from_slice(bytes);
        Ok(())
    }

    fn finish(&mut self) -> Result<()> {
        let bytes = std::mem::take(&mut self.bytes);
        *self.whole.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = Some(bytes);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder of this test.
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
    fn a_file_appears_when_it_is_finished() {
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
    fn what_is_dropped_leaves_nothing() {
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
    fn another_process_changes_nothing() {
        let folder = folder("fork");
        let path = folder.join("a.orc");
        let calls: [fn(&mut FileSink) -> Result<()>; 6] = [
            |sink| sink.write(b"child"),
            |sink| sink.settle(),
            |sink| sink.finish(),
            |sink| sink.finish_new(),
            |sink| sink.withhold().map(drop),
            |sink| sink.reopen().map(drop),
        ];
        for call in calls {
            let mut sink = FileSink::create(&path).unwrap();
            sink.write(b"one").unwrap();
            // As in a child.
            sink.owner = Owner::elsewhere();
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
    fn nothing_follows_a_write_that_failed() {
        let folder = folder("failed");
        let mut sink = FileSink::create(folder.join("a.orc")).unwrap();
        sink.write(b"one").unwrap();
        sink.file = Some(OpenOptions::new().write(true).open("/dev/full").unwrap());
        assert!(sink.write(b"two").is_err());
        for result in [sink.write(b"three"), sink.settle(), sink.finish(), sink.finish_new()] {
            assert!(result.unwrap_err().to_string().contains("has failed before"));
        }
        assert_eq!(names(&folder), [""; 0]);
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn two_writers_do_not_meet() {
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
    fn where_no_file_can_be() {
        let folder = folder("nowhere");
        for path in [folder.clone(), folder.join("missing/a.orc")] {
            let error = FileSink::create(&path).unwrap_err();
            assert!(error.to_string().contains(&path.display().to_string()), "{error}");
        }
        fs::remove_dir_all(folder).unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn links_and_permissions_stay() {
        use std::os::unix::fs::{PermissionsExt as _, symlink};
        let folder = folder("links");
        fs::create_dir(folder.join("elsewhere")).unwrap();
        let (link, real) = (folder.join("link.orc"), folder.join("elsewhere/real.orc"));
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
