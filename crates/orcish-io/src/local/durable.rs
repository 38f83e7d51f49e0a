//! File system operations that survive a crash of the system, and helpers for paths.
#![expect(clippy::disallowed_types, reason = "this is where files are opened")]

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// Maximum number of symbolic links of a path, which is that of common systems.
const MAX_LINKS: usize = 40;
/// Maximum number of attempts to create a folder.
const MAX_ATTEMPTS: usize = 16;

/// The parent folder of a path.
pub(super) fn parent_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Makes renames, creations and deletions in a folder durable. Errors are ignored: the change is visible already, and
/// some systems cannot open folders.
pub(super) fn sync_folder(folder: &Path) {
    if let Ok(folder) = File::open(folder) {
        let _ = folder.sync_all();
    }
}

/// As [`sync_folder`], for the parent folder of a path.
pub(super) fn sync_parent(path: &Path) {
    sync_folder(parent_of(path));
}

/// Creates a folder and its missing parent folders.
pub(super) fn create_folders(folder: &Path) -> io::Result<()> {
    let mut created = Vec::new();
    create_missing_folders(folder, &mut created)?;
    sync_parents(&created);
    Ok(())
}

/// As [`create_folders`], without making the creation durable. Created folders are appended to `created`, outer ones
/// first.
pub(crate) fn create_missing_folders(folder: &Path, created: &mut Vec<PathBuf>) -> io::Result<()> {
    let is_missing = |parent: &&Path| !parent.as_os_str().is_empty() && !parent.is_dir();
    let mut missing: Vec<_> = folder.ancestors().take_while(is_missing).map(Path::to_owned).collect();
    // Another process may remove an empty parent folder at the same time.
    let mut attempts = (0..MAX_ATTEMPTS).map(|_| fs::create_dir_all(folder));
    let is_removed = |result: &io::Result<()>| result.as_ref().is_err_and(is_not_found);
    attempts.find(|result| !is_removed(result)).unwrap_or_else(|| fs::create_dir_all(folder))?;
    missing.reverse();
    created.append(&mut missing);
    Ok(())
}

/// As [`sync_parent`], for many paths.
pub(crate) fn sync_parents(paths: &[PathBuf]) {
    let parents: BTreeSet<_> = paths.iter().map(|path| parent_of(path)).collect();
    parents.into_iter().for_each(sync_folder);
}

/// Removes empty folders, the last one first. Errors are ignored.
pub(crate) fn remove_folders(folders: &[PathBuf]) {
    for folder in folders.iter().rev() {
        // The folder may have files of others.
        let _ = fs::remove_dir(folder);
    }
}

/// Renames a temporary file to `target`, and keeps the permissions of an existing file.
pub(super) fn rename_over(temporary: &Path, target: &Path) -> io::Result<()> {
    if let Ok(existing) = fs::metadata(target) {
        fs::set_permissions(temporary, existing.permissions())?;
    }
    fs::rename(temporary, target)?;
    sync_parent(target);
    Ok(())
}

/// Follows the symbolic links of a path. The target may be missing.
pub(super) fn follow_links(mut path: PathBuf) -> io::Result<PathBuf> {
    for _ in 0..MAX_LINKS {
        match fs::read_link(&path) {
            Ok(to) => path = path.parent().map_or_else(|| to.clone(), |folder| folder.join(&to)),
            // The path is no link, or does not exist.
            Err(_) => return Ok(path),
        }
    }
    Err(io::Error::other("links go in circles"))
}

/// Whether an error means that a file or folder does not exist.
pub(super) fn is_not_found(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}
