//! Folders that a writer creates.

use std::path::PathBuf;

use orcish_core::{Error, Result};

use crate::local::{create_missing_folders, remove_folders, sync_parents};
use crate::location::{Parsed, parse};
use crate::messages::CANNOT_WRITE;

/// The folders of the local file system that a writer has created, so that it can remove them again. Object stores have
/// no folders, and a sink of HDFS creates and removes the folders of its file.
#[derive(Debug, Default)]
pub struct CreatedFolders {
    /// Outer folders are before inner ones.
    paths: Vec<PathBuf>,
}

impl CreatedFolders {
    /// Creates a folder and its missing parent folders.
    ///
    /// # Errors
    /// `Io` if a folder cannot be created.
    pub fn create(&mut self, location: &str) -> Result<()> {
        match parse(location) {
            Parsed::Local(path) => create_missing_folders(&path, &mut self.paths)
                .map_err(|error| Error::io(CANNOT_WRITE, error).in_file(location)),
            Parsed::Remote(_) => Ok(()),
        }
    }

    /// Makes the creations durable, as far as the system can.
    pub fn sync(&self) {
        sync_parents(&self.paths);
    }

    /// Removes the folders that are empty. Other folders are kept, and errors are ignored.
    pub fn remove_empty(&mut self) {
        remove_folders(&self.paths);
        self.paths.clear();
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn created_folders_are_removed_if_they_are_empty() {
        let base = std::env::temp_dir().join(format!("orcish-folders-{}", std::process::id()));
        let _ = fs::remove_dir_all(&base);
        fs::create_dir_all(base.join("there")).unwrap();
        let location = |name: &str| base.join(name).to_str().unwrap().to_owned();
        let mut created = CreatedFolders::default();
        for name in ["there/a/b", "there/a/c", "there", "d=%3A", "e/f"] {
            created.create(&location(name)).unwrap();
            assert!(base.join(name).is_dir());
        }
        created.create("s3://bucket/a").unwrap();
        fs::write(base.join("e/file"), "kept").unwrap();
        let error = created.create(&location("e/file/g")).unwrap_err();
        assert!(error.to_string().contains("e/file/g"), "{error}");
        created.sync();
        created.remove_empty();
        let left: Vec<_> = ["there", "there/a", "d=%3A", "e", "e/f"].map(|name| base.join(name).exists()).into();
        assert_eq!(left, [true, false, false, true, false]);
        fs::remove_dir_all(base).unwrap();
    }
}
