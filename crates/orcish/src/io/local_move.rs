//! Files of the local file system that get another name.
#![expect(clippy::disallowed_types, reason = "this is where files are opened")]

use std::fs::{self, File};
use std::io::{self, BufRead as _, BufReader, ErrorKind};
use std::path::Path;

use super::durable::{create_folders, folder_of, sync_folder_of};
use super::upload::is_missing;

/// Bytes that are compared at a time.
const BUFFER: usize = 1 << 16;

/// As [`move_file`](crate::move_file).
pub(super) fn move_file(from: &Path, to: &Path, overwrite: bool) -> io::Result<bool> {
    let found = match fs::symlink_metadata(from) {
        Err(error) if is_missing(&error) => return is_done(to),
        found => found?,
    };
    if found.is_dir() {
        return Err(ErrorKind::IsADirectory.into());
    }
    if is_one_name(from, to) {
        return Ok(false);
    }
    create_folders(folder_of(to))?;
    let moved = if overwrite { replace(from, to) } else { place(from, to) };
    match moved {
        Err(error) if is_missing(&error) && fs::symlink_metadata(from).is_err() => return is_done(to),
        moved => moved?,
    }
    sync_folder_of(to);
    sync_folder_of(from);
    Ok(true)
}

/// The error where there is no file to move, nor one that it has become.
pub(super) fn gone() -> io::Error {
    io::Error::new(ErrorKind::NotFound, "there is no such file, nor one of the new name")
}

/// Where there is no file any more: whether it has been moved before.
fn is_done(to: &Path) -> io::Result<bool> {
    if fs::metadata(to).is_ok_and(|found| !found.is_dir()) { Ok(false) } else { Err(gone()) }
}

fn replace(from: &Path, to: &Path) -> io::Result<()> {
    fs::rename(from, to)?;
    // Of two names of one file systems leave both.
    if is_one_file(from, to) { remove(from) } else { Ok(()) }
}

/// Gives the file the new name where nothing has it.
fn place(from: &Path, to: &Path) -> io::Result<()> {
    match fs::hard_link(from, to) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            let is_file = fs::metadata(to).is_ok_and(|found| found.is_file());
            let is_left = is_file && (is_one_file(from, to) || has_same_bytes(from, to)?);
            if is_left { remove(from) } else { Err(error) }
        }
        linked => linked.and_then(|()| remove(from)),
    }
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if !is_missing(&error) => Err(error),
        _ => Ok(()),
    }
}

/// Whether two paths lead to one name, however they are spelled: removing one would remove the file.
fn is_one_name(from: &Path, to: &Path) -> bool {
    let real = |path: &Path| fs::canonicalize(path).ok();
    let is_spelled = real(from).is_some_and(|from| Some(from) == real(to));
    // Where small letters are no others than capitals, the spelling says less.
    is_spelled || (is_one_file(from, to) && has_one_name(from))
}

#[cfg(unix)]
fn is_one_file(from: &Path, to: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let number = |path: &Path| fs::symlink_metadata(path).ok().map(|found| (found.dev(), found.ino()));
    number(from).is_some_and(|found| Some(found) == number(to))
}

#[cfg(unix)]
fn has_one_name(path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    fs::symlink_metadata(path).is_ok_and(|found| found.nlink() == 1)
}

/// Not known here: what has the same bytes does as well.
#[cfg(not(unix))]
fn is_one_file(_: &Path, _: &Path) -> bool {
    false
}

#[cfg(not(unix))]
fn has_one_name(_: &Path) -> bool {
    false
}

fn has_same_bytes(from: &Path, to: &Path) -> io::Result<bool> {
    let (from, to) = (File::open(from)?, File::open(to)?);
    if from.metadata()?.len() != to.metadata()?.len() {
        return Ok(false);
    }
    let (mut from, mut to) = (BufReader::with_capacity(BUFFER, from), BufReader::with_capacity(BUFFER, to));
    loop {
        let (a, b) = (from.fill_buf()?, to.fill_buf()?);
        let count = a.len().min(b.len());
        if a.get(..count) != b.get(..count) {
            return Ok(false);
        }
        if count == 0 {
            return Ok(a.len() == b.len());
        }
        from.consume(count);
        to.consume(count);
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    fn folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("orcish-move-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        folder
    }

    #[test]
    fn a_move_is_done_once() {
        let folder = folder("once");
        for overwrite in [true, false] {
            let (from, to) = (folder.join("a"), folder.join(format!("{overwrite}/b/c")));
            fs::write(&from, "one").unwrap();
            assert!(move_file(&from, &to, overwrite).unwrap());
            assert_eq!((fs::read(&to).unwrap(), from.exists()), (b"one".to_vec(), false));
            assert!(!move_file(&from, &to, overwrite).unwrap());
            let error = move_file(&from, &folder.join("d"), overwrite).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::NotFound);
            assert_eq!(
                move_file(&folder.join("a/b"), &folder.join("e/f"), overwrite).unwrap_err().kind(),
                error.kind()
            );
            assert!(!folder.join("e").exists());
        }
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn what_is_there_is_replaced_only_when_it_is_said() {
        let folder = folder("replace");
        let (from, to) = (folder.join("from"), folder.join("to"));
        fs::write(&from, "one").unwrap();
        for other in ["two", "other"] {
            fs::write(&to, other).unwrap();
            assert_eq!(move_file(&from, &to, false).unwrap_err().kind(), ErrorKind::AlreadyExists);
            assert_eq!((fs::read(&from).unwrap(), fs::read(&to).unwrap()), (b"one".to_vec(), other.into()));
        }
        assert!(move_file(&from, &to, true).unwrap());
        assert_eq!((fs::read(&to).unwrap(), from.exists()), (b"one".to_vec(), false));
        // The same bytes are what a move that was cut short has left.
        fs::write(&from, "one").unwrap();
        assert!(move_file(&from, &to, false).unwrap());
        assert_eq!((fs::read(&to).unwrap(), from.exists()), (b"one".to_vec(), false));
        fs::create_dir(&from).unwrap();
        assert_eq!(move_file(&from, &to, true).unwrap_err().kind(), ErrorKind::IsADirectory);
        assert!(move_file(&to, &from, true).is_err());
        assert!(move_file(&to, &from, false).is_err());
        assert_eq!(fs::read(&to).unwrap(), b"one");
        fs::remove_dir_all(folder).unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn one_file_under_two_names() {
        use std::os::unix::fs::symlink;
        let folder = folder("names");
        let (from, to) = (folder.join("from"), folder.join("to"));
        for overwrite in [true, false] {
            fs::write(&from, "one").unwrap();
            fs::hard_link(&from, &to).unwrap();
            // However it is spelled, a file stays that is moved to where it is.
            for same in
                [from.clone(), folder.join("./from"), folder.join("../").join(folder.file_name().unwrap()).join("from")]
            {
                assert!(!move_file(&from, &same, overwrite).unwrap());
                assert!(from.exists() && to.exists());
            }
            assert!(move_file(&from, &to, overwrite).unwrap());
            assert_eq!((fs::read(&to).unwrap(), from.exists()), (b"one".to_vec(), false));
            symlink(&to, &from).unwrap();
            assert!(!move_file(&from, &to, overwrite).unwrap());
            assert_eq!(fs::read(&to).unwrap(), b"one");
            fs::remove_file(&from).unwrap();
            fs::remove_file(&to).unwrap();
        }
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn several_move_one_file() {
        let folder = folder("several");
        for overwrite in [true, false] {
            for round in 0..20 {
                let (from, to) = (folder.join("from"), folder.join(format!("{overwrite}{round}")));
                fs::write(&from, "one").unwrap();
                std::thread::scope(|scope| {
                    let move_it = || move_file(&from, &to, overwrite).unwrap();
                    let moves: Vec<_> = (0..4).map(|_| scope.spawn(move_it)).collect();
                    assert!(moves.into_iter().any(|done| done.join().unwrap()));
                });
                assert_eq!((fs::read(&to).unwrap(), from.exists()), (b"one".to_vec(), false));
            }
        }
        fs::remove_dir_all(folder).unwrap();
    }
}
