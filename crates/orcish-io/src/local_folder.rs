//! What is done with files and folders of the local file system as wholes.
#![expect(clippy::disallowed_types, reason = "this is where files are opened")]

use std::collections::BTreeSet;
use std::fs::{self, File, FileType, Metadata};
use std::io::{self, ErrorKind, Read as _};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use bytes::Bytes;
use orcish_core::{Error, Result};

use crate::durable::{create_folders, folder_of, sync_folder, sync_folder_of};
use crate::folder::{FileStatus, Place, UNDELETABLE, UNWRITABLE, too_large};
use crate::list::{join, local_path};
use crate::sink::{FileSink, Sink as _};
use crate::storage::StorageOptions;
use crate::upload::is_missing;

/// A path, and what is below it.
pub(super) struct LocalPlace {
    path: PathBuf,
    location: String,
    options: StorageOptions,
}

impl LocalPlace {
    pub(super) fn new(path: PathBuf, location: &str, options: &StorageOptions) -> Self {
        LocalPlace { path, location: location.to_owned(), options: options.clone() }
    }

    fn fault(&self, what: &str, error: io::Error) -> Error {
        Error::io(what, error).in_file(&self.location)
    }

    fn bytes(&self, limit: u64) -> io::Result<Option<Vec<u8>>> {
        // Opening a pipe waits for who writes to it.
        let found = fs::metadata(&self.path)?;
        if found.is_dir() {
            return Err(ErrorKind::IsADirectory.into());
        }
        if !found.is_file() {
            return Err(io::Error::other("it is no regular file"));
        }
        let mut bytes = Vec::new();
        let read = File::open(&self.path)?.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
        Ok((read as u64 <= limit).then_some(bytes))
    }

    /// What is in a folder; nothing where it has gone.
    fn entries(&self, folder: &str) -> Result<Vec<(String, FileType)>> {
        let unlistable = |error| self.fault("cannot be listed", error);
        let entries = match fs::read_dir(if folder.is_empty() { "." } else { folder }) {
            Err(error) if is_missing(&error) => return Ok(Vec::new()),
            entries => entries.map_err(unlistable)?,
        };
        let mut found = Vec::new();
        for entry in entries {
            let entry = entry.map_err(unlistable)?;
            let name = entry.file_name();
            let Some(name) = name.to_str() else {
                return Err(unlistable(io::Error::other(format!("the file name {name:?} is not UTF-8"))));
            };
            match entry.file_type() {
                Err(error) if is_missing(&error) => {}
                kind => found.push((join(folder, name), kind.map_err(unlistable)?)),
            }
        }
        Ok(found)
    }

    /// Deletes what is in the folder, and it; others may do so at the same time.
    fn delete_folder(&self) -> io::Result<Result<()>> {
        let found = match fs::symlink_metadata(&self.path) {
            Err(error) if is_missing(&error) => return Ok(Ok(())),
            found => found?,
        };
        if !found.is_dir() {
            if !found.is_symlink() {
                return Err(ErrorKind::NotADirectory.into());
            }
            or_gone(remove_link(&self.path))?;
        } else {
            let mut patience = self.options.patience();
            let entries = match fs::read_dir(&self.path) {
                Err(error) if is_missing(&error) => return Ok(Ok(())),
                entries => entries?,
            };
            for entry in entries {
                if let Err(error) = patience.look() {
                    return Ok(Err(error));
                }
                or_gone(entry.and_then(|entry| {
                    // Those of the standard library do not follow links, even if somebody puts them there meanwhile.
                    match entry.file_type()?.is_dir() {
                        true => fs::remove_dir_all(entry.path()),
                        false => remove_link(&entry.path()),
                    }
                }))?;
            }
            or_gone(fs::remove_dir(&self.path))?;
        }
        sync_folder_of(&self.path);
        Ok(Ok(()))
    }
}

impl Place for LocalPlace {
    fn read(&self, limit: u64) -> Result<Bytes> {
        match self.bytes(limit).map_err(|error| self.fault("cannot be read", error))? {
            Some(bytes) => Ok(bytes.into()),
            None => {
                let size = fs::metadata(&self.path).map_or(limit.saturating_add(1), |found| found.len());
                Err(too_large(size, limit).in_file(&self.location))
            }
        }
    }

    fn write(&self, bytes: Bytes, overwrite: bool) -> Result<()> {
        create_folders(folder_of(&self.path)).map_err(|error| self.fault(UNWRITABLE, error))?;
        let mut sink = FileSink::create(&self.path)?;
        sink.write(&bytes)?;
        if overwrite { sink.finish() } else { sink.finish_new() }
    }

    fn status(&self) -> Result<Option<FileStatus>> {
        let unreadable = |error| self.fault("cannot be read", error);
        match fs::metadata(&self.path) {
            Err(error) if is_missing(&error) => Ok(None),
            found => status(&found.map_err(unreadable)?).map_err(unreadable),
        }
    }

    fn all(&self) -> Result<Vec<(String, FileStatus)>> {
        let mut patience = self.options.patience();
        let (mut found, mut open) = (Vec::new(), vec![local_path(&self.path, &self.location)?]);
        while let Some(folder) = open.pop() {
            patience.look()?;
            for (path, kind) in self.entries(&folder)? {
                if kind.is_dir() {
                    open.push(path);
                    continue;
                }
                // It may have gone, and a link may lead nowhere.
                let Ok(metadata) = fs::metadata(&path) else { continue };
                let status = status(&metadata).map_err(|error| self.fault("cannot be listed", error))?;
                found.extend(status.map(|status| (path, status)));
            }
        }
        found.sort_by(|(a, _), (b, _)| a.cmp(b));
        Ok(found)
    }

    fn delete(&self) -> Result<()> {
        if self.path.parent().is_none() {
            return Err(Error::invalid("this is no folder that can be deleted").in_file(&self.location));
        }
        self.delete_folder().map_err(|error| self.fault(UNDELETABLE, error))?
    }
}

/// That of a regular file.
fn status(found: &Metadata) -> io::Result<Option<FileStatus>> {
    if !found.is_file() {
        return Ok(None);
    }
    // Nothing is older here than the clock.
    Ok(Some(FileStatus { size: found.len(), modified: found.modified()?.max(UNIX_EPOCH) }))
}

/// What has gone already is as good as deleted.
fn or_gone(deleted: io::Result<()>) -> io::Result<()> {
    deleted.or_else(|error| if is_missing(&error) { Ok(()) } else { Err(error) })
}

/// Removes a file, or a link to anything.
fn remove_link(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        // Of links to folders where they are of another kind than those to files.
        Err(error) if cfg!(windows) && !is_missing(&error) => fs::remove_dir(path).map_err(|_| error),
        removed => removed,
    }
}

/// Deletes files, and gives the error of the first that cannot be.
pub(super) fn delete(files: &[(PathBuf, &str)], options: &StorageOptions) -> Result<()> {
    let mut patience = options.patience();
    let (mut first, mut folders) = (Ok(()), BTreeSet::new());
    for (path, location) in files {
        patience.look()?;
        match fs::remove_file(path) {
            Ok(()) => _ = folders.insert(folder_of(path)),
            Err(error) if is_missing(&error) => {}
            Err(error) => first = first.and(Err(Error::io(UNDELETABLE, error).in_file(location))),
        }
    }
    folders.into_iter().for_each(sync_folder);
    first
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::folder::*;

    /// A folder of this test.
    fn folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("orcish-folder-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        folder
    }

    fn options() -> StorageOptions {
        StorageOptions::default()
    }

    fn text(path: &Path) -> &str {
        path.to_str().unwrap()
    }

    fn kind(error: &Error) -> Option<ErrorKind> {
        let source = std::error::Error::source(error)?.downcast_ref::<io::Error>()?;
        Some(source.kind())
    }

    fn names(folder: &Path) -> Vec<String> {
        let found = list_all(text(folder), &options()).unwrap();
        let name = |path: &str| path.strip_prefix(&format!("{}/", folder.display())).unwrap().to_owned();
        found.iter().map(|(path, _)| name(path)).collect()
    }

    #[test]
    fn one_of_several_writers_wins() {
        let folder = folder("race");
        for round in 0..20 {
            let path = folder.join(format!("log/{round}"));
            let write = |writer: u8| {
                let bytes = Bytes::from(vec![writer; 10_000]);
                write_small(text(&path), bytes, false, &options()).map_err(|error| kind(&error))
            };
            let done: Vec<_> = std::thread::scope(|scope| {
                let writers: Vec<_> = (0..6).map(|writer| scope.spawn(move || write(writer))).collect();
                writers.into_iter().map(|writer| writer.join().unwrap()).collect()
            });
            assert_eq!(done.iter().filter(|result| result.is_ok()).count(), 1);
            assert!(done.iter().all(|result| result.is_ok() || *result == Err(Some(ErrorKind::AlreadyExists))));
            let winner = done.iter().position(Result::is_ok).unwrap();
            let bytes = read_small(text(&path), 10_000, &options()).unwrap();
            assert!(bytes.len() == 10_000 && bytes.iter().all(|byte| usize::from(*byte) == winner));
        }
        assert_eq!(names(&folder).len(), 20);
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn what_is_replaced_is_whole_all_the_time() {
        let folder = folder("whole");
        let path = folder.join("file");
        write_small(text(&path), vec![0; 50_000].into(), true, &options()).unwrap();
        std::thread::scope(|scope| {
            let writer = scope.spawn(|| {
                for round in 0..50 {
                    write_small(text(&path), vec![round; 50_000].into(), true, &options()).unwrap();
                }
            });
            while !writer.is_finished() {
                let bytes = read_small(text(&path), u64::MAX, &options()).unwrap();
                assert!(bytes.len() == 50_000 && bytes.iter().all(|byte| *byte == bytes[0]));
            }
        });
        assert_eq!(names(&folder), ["file"]);
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn reading_is_bounded() {
        let folder = folder("bounded");
        let path = folder.join("file");
        fs::write(&path, [7; 10]).unwrap();
        assert_eq!(read_small(text(&path), 10, &options()).unwrap(), vec![7; 10]);
        let error = read_small(text(&path), 9, &options()).unwrap_err();
        assert_eq!(error.kind(), orcish_core::ErrorKind::LimitExceeded);
        assert!(error.to_string().contains(text(&path)), "{error}");
        for (path, expected) in [(&folder, ErrorKind::IsADirectory), (&folder.join("none"), ErrorKind::NotFound)] {
            assert_eq!(kind(&read_small(text(path), 9, &options()).unwrap_err()), Some(expected));
        }
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn all_files_are_listed() {
        let folder = folder("list");
        for name in ["_tmp/.x", ".y", "a/b/c.orc", "a/.c.orc.1.tmp"] {
            write_small(text(&folder.join(name)), Bytes::from_static(b"abc"), false, &options()).unwrap();
        }
        fs::create_dir(folder.join("empty")).unwrap();
        assert_eq!(names(&folder), [".y", "_tmp/.x", "a/.c.orc.1.tmp", "a/b/c.orc"]);
        let found = list_all(text(&folder), &options()).unwrap();
        assert!(found.iter().all(|(path, found)| Some(*found) == stat(path, &options()).unwrap() && found.size == 3));
        for none in ["none", ".y", ".y/z"] {
            assert_eq!(list_all(text(&folder.join(none)), &options()).unwrap(), []);
        }
        for none in ["a", "none", ".y/z"] {
            assert_eq!(stat(text(&folder.join(none)), &options()).unwrap(), None);
        }
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn what_is_gone_is_deleted() {
        let folder = folder("delete");
        for name in ["a", "b/c", "d/e"] {
            write_small(text(&folder.join(name)), Bytes::new(), false, &options()).unwrap();
        }
        let all = ["none", "a", "a/x", "b", "b/c"].map(|name| folder.join(name));
        let all: Vec<_> = all.iter().map(|path| text(path)).collect();
        let error = delete_files(&all, &options()).unwrap_err();
        assert!(error.to_string().starts_with(all[3]), "{error}");
        assert_eq!(names(&folder), ["d/e"]);
        delete_files(&all[..2], &options()).unwrap();
        assert_eq!(
            kind(&delete_folder(text(&folder.join("d/e")), &options()).unwrap_err()),
            Some(ErrorKind::NotADirectory)
        );
        for _ in 0..2 {
            delete_folder(text(&folder), &options()).unwrap();
            assert!(!folder.exists());
        }
        for root in ["/", ""] {
            assert_eq!(delete_folder(root, &options()).unwrap_err().kind(), orcish_core::ErrorKind::InvalidArgument);
        }
    }

    #[test]
    fn several_may_delete_a_folder() {
        let folder = folder("several");
        for round in 0..50 {
            let path = folder.join(format!("{round}"));
            for at in 0..20 {
                fs::create_dir_all(path.join(format!("{}/{at}", at % 3))).unwrap();
                fs::write(path.join(format!("{}/{at}/file", at % 3)), b"").unwrap();
            }
            std::thread::scope(|scope| {
                for _ in 0..4 {
                    scope.spawn(|| {
                        delete_folder(text(&path), &options()).unwrap();
                        assert!(!path.exists());
                    });
                }
            });
        }
        fs::remove_dir_all(folder).unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn links_are_not_followed() {
        use std::os::unix::fs::symlink;
        let folder = folder("links");
        for name in ["kept/a", "t/b", "t/c/d"] {
            write_small(text(&folder.join(name)), Bytes::new(), false, &options()).unwrap();
        }
        let links =
            [("kept", "t/folder"), ("kept/a", "t/c/file"), ("none", "t/dangling"), ("t", "t/c/up"), ("t", "link")];
        for (to, from) in links {
            symlink(folder.join(to), folder.join(from)).unwrap();
        }
        assert_eq!(names(&folder.join("t")), ["b", "c/d", "c/file"]);
        delete_files(&[text(&folder.join("t/c/file"))], &options()).unwrap();
        delete_folder(text(&folder.join("link")), &options()).unwrap();
        assert_eq!(names(&folder), ["kept/a", "t/b", "t/c/d"]);
        delete_folder(text(&folder.join("t")), &options()).unwrap();
        assert_eq!(names(&folder), ["kept/a"]);
        assert!(!folder.join("t").exists() && fs::symlink_metadata(folder.join("link")).is_err());
        // A link that is written to stays.
        symlink(folder.join("kept/new"), folder.join("again")).unwrap();
        write_small(text(&folder.join("again")), Bytes::from_static(b"1"), false, &options()).unwrap();
        assert_eq!(fs::read(folder.join("kept/new")).unwrap(), b"1");
        let error = write_small(text(&folder.join("again")), Bytes::new(), false, &options()).unwrap_err();
        assert_eq!(kind(&error), Some(ErrorKind::AlreadyExists));
        fs::remove_dir_all(folder).unwrap();
    }
}
