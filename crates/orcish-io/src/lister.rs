//! The trait of storage systems that list files.

use orcish_core::Result;

/// The path of a file, and its size in bytes.
pub(crate) type ListedFile = (String, u64);

/// Folders and files, as full paths.
#[derive(Debug, Default)]
pub(crate) struct FolderEntries {
    pub(crate) folders: Vec<String>,
    pub(crate) files: Vec<ListedFile>,
}

/// A storage system that lists files.
pub(crate) trait Lister {
    /// The size of a file; `None` if the path denotes no file.
    fn file_size(&self, path: &str) -> Result<Option<u64>>;

    /// Whether a file or folder of this path exists.
    fn exists(&self, path: &str) -> Result<bool> {
        let has_entries = |entries: FolderEntries| !entries.folders.is_empty() || !entries.files.is_empty();
        Ok(self.file_size(path)?.is_some() || has_entries(self.children(&[path.to_owned()])?))
    }

    /// The direct children of folders. A folder that does not exist has none.
    fn children(&self, folders: &[String]) -> Result<FolderEntries>;

    /// The files below folders, at any depth, and hidden folders that were not entered. In object stores, files of
    /// hidden folders are among the files.
    fn descendants(&self, folders: &[String]) -> Result<FolderEntries>;

    /// Whether a listing of a folder with this number of files is one request, so that it shows the folder at one moment.
    fn is_atomic(&self, files: usize) -> bool;

    /// Whether the storage system has empty folders.
    fn has_empty_folders(&self) -> bool;

    /// The location of a path, in the spelling of the caller.
    fn location(&self, path: &str) -> String;

    /// The name of the listed location in messages.
    fn name(&self) -> &str;
}
