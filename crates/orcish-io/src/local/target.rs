//! Targets of new files.

use std::path::{Path, PathBuf};
use std::{fs, io};

use super::durable::{follow_links, rename_over, sync_parent};
use crate::messages::{appeared, exists, is_folder, no_regular_file};

/// Paths of open files, which may be regular ones.
const STREAMS: [&str; 5] = ["/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/fd", "/proc/self/fd"];

/// The path of a file that can be written, with links followed. See [`check_target`](crate::check_target).
pub(super) fn checked_target(path: PathBuf, overwrite: bool) -> io::Result<PathBuf> {
    if path.as_os_str().is_empty() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "the path names no file"));
    }
    if path.as_os_str().as_encoded_bytes().ends_with(b"/") {
        return Err(is_folder());
    }
    let absolute = std::path::absolute(&path)?;
    if STREAMS.iter().any(|stream| absolute.starts_with(stream)) {
        return Err(no_regular_file());
    }
    let is_link = fs::symlink_metadata(&path).is_ok_and(|found| found.is_symlink());
    let target = follow_links(path)?;
    check_replaced(&target)?;
    if !overwrite && (is_link || is_there(&target)) { Err(exists()) } else { Ok(target) }
}

/// Checks that what is at the path, if anything, is a regular file.
fn check_replaced(target: &Path) -> io::Result<()> {
    match fs::metadata(target) {
        Ok(found) if found.is_dir() => Err(is_folder()),
        Ok(found) if !found.is_file() => Err(no_regular_file()),
        _ => Ok(()),
    }
}

fn is_there(target: &Path) -> bool {
    fs::symlink_metadata(target).is_ok()
}

/// Gives a temporary file its name, and replaces an existing file.
pub(super) fn publish(temporary: &Path, target: &Path) -> io::Result<()> {
    // A rename would replace a pipe that has appeared.
    check_replaced(target)?;
    rename_over(temporary, target)
}

/// Gives a temporary file its name, unless a file of the name exists. A file system without hard links is asked for one
/// before.
pub(super) fn publish_new(temporary: &Path, target: &Path) -> io::Result<()> {
    publish_after(link(temporary, target), temporary, target)
}

/// As [`publish_new`], after the attempt to link the file.
fn publish_after(linked: io::Result<()>, temporary: &Path, target: &Path) -> io::Result<()> {
    match linked {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(appeared()),
        Err(error) if !lacks_links(&error) => Err(error),
        Err(_) if is_there(target) => Err(appeared()),
        Err(_) => rename_over(temporary, target),
        Ok(()) => Ok(()),
    }
}

/// Gives a temporary file its name, unless a file of the name exists. Of several concurrent calls, exactly one succeeds.
pub(super) fn link(temporary: &Path, target: &Path) -> io::Result<()> {
    fs::hard_link(temporary, target)?;
    // The target exists now; a remaining temporary file is hidden.
    let _ = fs::remove_file(temporary);
    sync_parent(target);
    Ok(())
}

/// Whether an error is one of file systems without hard links. Some of them refuse permission.
fn lacks_links(error: &io::Error) -> bool {
    use io::ErrorKind::{CrossesDevices, PermissionDenied, TooManyLinks, Unsupported};
    matches!(error.kind(), CrossesDevices | PermissionDenied | TooManyLinks | Unsupported)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An empty folder with a temporary file.
    fn folder(name: &str) -> (PathBuf, PathBuf) {
        let folder = std::env::temp_dir().join(format!("orcish-target-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        let temporary = folder.join(".new.tmp");
        fs::write(&temporary, "new").unwrap();
        (folder, temporary)
    }

    #[test]
    fn file_systems_without_hard_links() {
        let (folder, temporary) = folder("links");
        let target = folder.join("a.orc");
        let refused = || Err(io::Error::from(io::ErrorKind::PermissionDenied));
        publish_after(refused(), &temporary, &target).unwrap();
        assert_eq!(fs::read(&target).unwrap(), b"new");
        fs::write(&temporary, "newer").unwrap();
        let error = publish_after(refused(), &temporary, &target).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(fs::read(&target).unwrap(), b"new");
        // Other errors are no reason to rename.
        fs::remove_file(&target).unwrap();
        publish_after(Err(io::ErrorKind::StorageFull.into()), &temporary, &target).unwrap_err();
        assert!(!target.exists());
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn what_is_at_a_target() {
        let (folder, file) = folder("kinds");
        let kind = |path: &Path, overwrite| checked_target(path.to_owned(), overwrite).err().map(|error| error.kind());
        for overwrite in [false, true] {
            let exists = (!overwrite).then_some(io::ErrorKind::AlreadyExists);
            assert_eq!(kind(&folder.join("none"), overwrite), None);
            assert_eq!(kind(&file, overwrite), exists);
            assert_eq!(kind(&folder, overwrite), Some(io::ErrorKind::IsADirectory));
            assert_eq!(kind(&folder.join("none/"), overwrite), Some(io::ErrorKind::IsADirectory));
            for stream in ["/dev/stdout", "/dev/fd/1", "/dev/./stdin", "/dev/null"] {
                assert_eq!(kind(Path::new(stream), overwrite), Some(io::ErrorKind::Other), "{stream}");
            }
            #[cfg(unix)]
            {
                let link = folder.join(format!("link-{overwrite}"));
                std::os::unix::fs::symlink("nothing", &link).unwrap();
                assert_eq!(kind(&link, overwrite), exists);
            }
        }
        fs::remove_dir_all(folder).unwrap();
    }
}
