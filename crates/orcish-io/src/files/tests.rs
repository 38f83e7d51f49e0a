use std::path::{Path, PathBuf};
use std::{fs, io};

use super::*;

/// Creates an empty folder for a test.
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

fn names(folder: &Path) -> Vec<String> {
    let found = list_all(text(folder), &options()).unwrap();
    let name = |path: &str| path.strip_prefix(&format!("{}/", folder.display())).unwrap().to_owned();
    found.iter().map(|(path, _)| name(path)).collect()
}

#[test]
fn one_of_several_concurrent_writers_succeeds() {
    let folder = folder("race");
    for round in 0..20 {
        let path = folder.join(format!("log/{round}"));
        let write = |writer: u8| {
            let bytes = Bytes::from(vec![writer; 10_000]);
            write_small(text(&path), bytes, false, &options()).map_err(|error| error.io_kind())
        };
        let done: Vec<_> = std::thread::scope(|scope| {
            let writers: Vec<_> = (0..6).map(|writer| scope.spawn(move || write(writer))).collect();
            writers.into_iter().map(|writer| writer.join().unwrap()).collect()
        });
        assert_eq!(done.iter().filter(|result| result.is_ok()).count(), 1);
        assert!(done.iter().all(|result| result.is_ok() || *result == Err(Some(io::ErrorKind::AlreadyExists))));
        let winner = done.iter().position(Result::is_ok).unwrap();
        let bytes = read_small(text(&path), 10_000, &options()).unwrap();
        assert!(bytes.len() == 10_000 && bytes.iter().all(|byte| usize::from(*byte) == winner));
    }
    assert_eq!(names(&folder).len(), 20);
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn files_are_replaced_atomically() {
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
fn reads_are_limited() {
    let folder = folder("bounded");
    let path = folder.join("file");
    fs::write(&path, [7; 10]).unwrap();
    assert_eq!(read_small(text(&path), 10, &options()).unwrap(), vec![7; 10]);
    let error = read_small(text(&path), 9, &options()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::LimitExceeded);
    assert!(error.to_string().contains(text(&path)), "{error}");
    for (path, expected) in [(&folder, io::ErrorKind::IsADirectory), (&folder.join("none"), io::ErrorKind::NotFound)] {
        assert_eq!(read_small(text(path), 9, &options()).unwrap_err().io_kind(), Some(expected));
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
    for (name, is_there) in
        [("", true), ("a/b", true), ("empty", true), ("none", false), (".y", false), (".y/z", false)]
    {
        assert_eq!(has_folder(text(&folder.join(name)), &options()).unwrap(), is_there, "{name}");
    }
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn missing_files_are_ignored_by_deletions() {
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
        delete_folder(text(&folder.join("d/e")), &options()).unwrap_err().io_kind(),
        Some(io::ErrorKind::NotADirectory)
    );
    for _ in 0..2 {
        delete_folder(text(&folder), &options()).unwrap();
        assert!(!folder.exists());
    }
    for root in ["/", ""] {
        assert_eq!(delete_folder(root, &options()).unwrap_err().kind(), ErrorKind::InvalidArgument);
    }
}

#[test]
fn folders_are_deleted_concurrently() {
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
    let links = [("kept", "t/folder"), ("kept/a", "t/c/file"), ("none", "t/dangling"), ("t", "t/c/up"), ("t", "link")];
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
    // A write through a link keeps the link.
    symlink(folder.join("kept/new"), folder.join("again")).unwrap();
    write_small(text(&folder.join("again")), Bytes::from_static(b"1"), false, &options()).unwrap();
    assert_eq!(fs::read(folder.join("kept/new")).unwrap(), b"1");
    let error = write_small(text(&folder.join("again")), Bytes::new(), false, &options()).unwrap_err();
    assert_eq!(error.io_kind(), Some(io::ErrorKind::AlreadyExists));
    fs::remove_dir_all(folder).unwrap();
}
