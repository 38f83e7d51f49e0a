//! The requests of the protocol.

use std::future::Future;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use orcish_core::Result;

use crate::entry::AddedFile;

/// A file of the folder of a table.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct StoredFile {
    /// The path below the folder of the table, with `/` as separator.
    pub name: String,
    /// The size in bytes.
    pub size: u64,
    /// The time of the last write, by the clock of the storage system.
    pub modified: SystemTime,
}

/// Which entries a log keeps, beside the last one.
#[derive(Debug, Clone, Copy)]
pub struct Retention {
    /// The number of entries that are kept.
    pub entries: usize,
    /// The time that entries are kept, so that a process that was suspended finds its own.
    pub time: Duration,
}

impl Default for Retention {
    fn default() -> Self {
        Retention { entries: 20, time: Duration::from_secs(3_600) }
    }
}

/// The folder of a table in a storage system. Names are paths below the folder, with `/` as separator.
///
/// An error of a request that writes does not mean that nothing was written: the answer may be lost, and a request may
/// even take effect later. [`errors_are_final`](Self::errors_are_final) tells the exceptions.
///
/// The futures need not be [`Send`]: [`block_on`](crate::block_on) runs them on the thread of the caller.
pub trait Store {
    /// What error messages call a file; the empty name is the table.
    fn location(&self, name: &str) -> String;

    /// Whether nothing has been written, and nothing will be, after a request has failed. True for local disks.
    fn errors_are_final(&self) -> bool;

    /// Which entries the log of the table keeps.
    fn retention(&self) -> Retention {
        Retention::default()
    }

    /// The number of files from which on a listing of the table is cheaper than the status of each file.
    fn many(&self) -> usize {
        100
    }

    /// All files below a folder, at any depth, hidden ones included. Empty if there is no such folder.
    fn list(&self, folder: &str) -> impl Future<Output = Result<Vec<StoredFile>>>;

    /// Whether [`list_visible`](Self::list_visible) follows links to folders.
    fn follows_links(&self) -> bool;

    /// The files below a folder that readers see, at any depth. Unlike [`list`](Self::list), links to folders may be
    /// followed, and files may have no time, which is then [`UNIX_EPOCH`](std::time::UNIX_EPOCH).
    fn list_visible(&self, folder: &str) -> impl Future<Output = Result<Vec<StoredFile>>>;

    /// The status of a file; `None` if there is none.
    fn stat(&self, name: &str) -> impl Future<Output = Result<Option<StoredFile>>>;

    /// A whole file of at most `limit` bytes; `None` if there is none.
    fn read(&self, name: &str, limit: u64) -> impl Future<Output = Result<Option<Bytes>>>;

    /// Creates a file, whole and durable; `false` if it exists. Of concurrent calls one succeeds.
    fn create(&self, name: &str, bytes: Bytes) -> impl Future<Output = Result<bool>>;

    /// Writes a file, whole and durable. An existing file is replaced.
    fn write(&self, name: &str, bytes: Bytes) -> impl Future<Output = Result<()>>;

    /// Deletes files. Missing files are ignored. If some cannot be deleted, the others are deleted.
    fn delete(&self, names: &[String]) -> impl Future<Output = Result<()>>;

    /// Deletes a folder with everything below it. A missing folder is ignored.
    fn delete_folder(&self, name: &str) -> impl Future<Output = Result<()>>;

    /// Removes folders that are empty, where the system has such folders. Errors are ignored.
    fn remove_empty_folders(&self, names: &[&str]) -> impl Future<Output = ()>;

    /// The files that [`prepare`](Self::prepare) has made to find out whether folders can be changed, and that a killed
    /// process has left, in all folders of the table. Empty where it makes no such files.
    fn probes(&self) -> impl Future<Output = Result<Vec<StoredFile>>>;

    /// The names of the folders below a folder, at any depth, and the times of their last changes, where the system has
    /// folders without files.
    fn folders(&self, folder: &str) -> impl Future<Output = Result<Vec<(String, SystemTime)>>>;

    /// Makes sure that staged files of a job can become visible, and that other files can be deleted, as far as that can be
    /// known: creates folders, and fails if a file of the name exists, or if a folder cannot be changed.
    fn prepare(&self, job: &str, files: &[AddedFile], removed: &[String]) -> impl Future<Output = Result<()>>;

    /// Removes what [`prepare`](Self::prepare) has created.
    fn unprepare(&self) -> impl Future<Output = ()>;

    /// Makes staged files of a job visible. Files that are visible already are ignored. If the bytes of a file are gone,
    /// the error has the kind `NotFound` of [`std::io::Error`] as its source.
    fn publish(&self, job: &str, files: &[AddedFile]) -> impl Future<Output = Result<()>>;

    /// Removes staged files of a job, so that they can never become visible. Files that are visible already stay. Azure
    /// cannot do this: the files can be published until it removes them by itself.
    fn discard(&self, job: &str, files: &[AddedFile]) -> impl Future<Output = Result<()>>;

    /// Waits a moment for other processes. Fails where the caller has cancelled the work.
    fn pause(&self) -> impl Future<Output = Result<()>>;
}
