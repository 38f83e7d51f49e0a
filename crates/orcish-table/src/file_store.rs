//! The folder of a table on a local disk, in HDFS or in an object store.

use std::collections::BTreeSet;
use std::fs::OpenOptions;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use orcish_core::{Error, ErrorKind, Result, parallel};
use orcish_io::{
    CreatedFolders, FileStatus, StagedFile, StorageOptions, UploadedParts, abort_upload, complete_upload, delete_files,
    delete_folder, display_name, list_all, list_folder, list_utf8, read_small, stat, write_small,
};

use crate::entry::{AddedFile, StagedBytes, UploadParts};
use crate::links::LinkCheck;
use crate::names::{JOBS, LOG, OWN, PROBE, is_below, job_folder, job_of_probe};
use crate::store::{Store, StoredFile};

/// What an error says of a file that could not become visible.
const CANNOT_PUBLISH: &str = "could not be published";
/// Time between two looks of a waiting reader.
const PAUSE: Duration = Duration::from_millis(100);
/// Number of requests at a time by which files of stores are published, or folders are looked into.
const CONCURRENCY: usize = 16;

/// The folder of a table on a local disk, in HDFS, or in an object store. Requests that change the table cannot be
/// cancelled, and listings and waiting can.
#[derive(Debug, Clone)]
pub struct FileStore {
    /// An absolute path or a URL, without a trailing slash.
    pub(crate) base: String,
    pub(crate) options: StorageOptions,
    /// The folders that a commit has created.
    created: Arc<Mutex<CreatedFolders>>,
}

impl FileStore {
    /// A folder by its absolute path or its URL. It need not exist.
    pub fn new(base: &str, options: &StorageOptions) -> Self {
        FileStore { base: base.trim_end_matches('/').to_owned(), options: options.clone(), created: Arc::default() }
    }

    fn path(&self, name: &str) -> String {
        match name {
            "" => self.base.clone(),
            name => format!("{}/{name}", self.base),
        }
    }

    fn stored(&self, location: &str, status: FileStatus) -> Option<StoredFile> {
        let name = location.strip_prefix(&self.base)?.trim_start_matches('/').to_owned();
        Some(StoredFile { name, size: status.size, modified: status.modified })
    }

    /// Whether the table has a log.
    ///
    /// # Errors
    /// `Io` if that cannot be found out, `Corrupt` if there is something else in the place of the log.
    pub fn has_log(&self) -> Result<bool> {
        self.links().check(LOG)?;
        Ok(!list_utf8(&self.path(LOG), &self.options)?.is_empty())
    }

    /// Checks that the folders of this crate are folders and no links, before a job writes below them.
    ///
    /// # Errors
    /// `Corrupt` otherwise.
    pub fn check_own_folders(&self) -> Result<()> {
        let mut links = self.links();
        [LOG, JOBS].into_iter().try_for_each(|folder| links.check(folder))
    }

    fn is_local(&self) -> bool {
        !self.base.contains("://")
    }

    /// The number of threads that publish files and look into folders. A local disk needs no time for that.
    pub(crate) fn threads(&self) -> usize {
        if self.is_local() { 1 } else { CONCURRENCY }
    }

    /// The staged file of a job, as part of an entry.
    ///
    /// # Errors
    /// `InvalidArgument` if it was not staged for this table, or elsewhere than in the folder of the job.
    pub fn added(&self, job: &str, file: &StagedFile) -> Result<AddedFile> {
        let elsewhere =
            || Error::invalid(format!("the file was not staged for the table {}", display_name(&self.base)));
        let name =
            file.location.strip_prefix(&self.base).and_then(|rest| rest.strip_prefix('/')).ok_or_else(elsewhere)?;
        let staged = match (file.temporary_path(), file.upload()) {
            (Some(path), _) => {
                let folder = self.path(&job_folder(job));
                let path = path.strip_prefix(&folder).and_then(|rest| rest.strip_prefix('/')).ok_or_else(elsewhere)?;
                StagedBytes::File(path.to_owned())
            }
            (None, Some(upload)) => StagedBytes::Upload(UploadParts {
                id: upload.upload_id.clone(),
                parts: upload.part_ids.clone(),
                write_id: upload.write_id.clone(),
            }),
            (None, None) => return Err(elsewhere()),
        };
        Ok(AddedFile { name: name.to_owned(), size: file.bytes, staged })
    }

    /// A check of the links below the folder.
    fn links(&self) -> LinkCheck<'_> {
        LinkCheck::new(self.follows_links().then_some(self.base.as_str()))
    }

    /// The staged files of a job, checked not to be elsewhere.
    fn staged(&self, job: &str, files: &[AddedFile]) -> Result<Vec<StagedFile>> {
        let mut links = self.links();
        let staged = files.iter().map(|file| {
            links.check(&file.name)?;
            let location = self.path(&file.name);
            match &file.staged {
                StagedBytes::File(path) => {
                    let path = format!("{}/{path}", job_folder(job));
                    links.check(&path)?;
                    Ok(StagedFile::at_path(location, file.size, self.path(&path)))
                }
                StagedBytes::Upload(upload) => {
                    let UploadParts { id, parts, write_id } = upload.clone();
                    let upload = UploadedParts { upload_id: id, part_ids: parts, write_id };
                    Ok(StagedFile::of_upload(location, file.size, upload))
                }
            }
        });
        staged.collect()
    }

    /// Does something with all staged files; the error is that of the first file that failed.
    fn for_each_staged(
        &self,
        job: &str,
        files: &[AddedFile],
        request: fn(&str, &StagedFile, &StorageOptions) -> Result<()>,
    ) -> Result<()> {
        let options = self.options.without_cancel_check();
        let work = move |_, file: StagedFile| request(&file.location, &file, &options);
        parallel::map(self.staged(job, files)?, self.threads(), None, work).map(drop)
    }
}

impl Store for FileStore {
    fn location(&self, name: &str) -> String {
        display_name(&self.path(name))
    }

    fn errors_are_final(&self) -> bool {
        // The answer of a server may be lost.
        self.is_local()
    }

    async fn list(&self, folder: &str) -> Result<Vec<StoredFile>> {
        self.links().check(folder)?;
        // All names that this crate gives are UTF-8.
        let is_own = folder == OWN || is_below(folder, OWN);
        let files = if is_own { list_utf8 } else { list_all }(&self.path(folder), &self.options)?;
        Ok(files.into_iter().filter_map(|(location, status)| self.stored(&location, status)).collect())
    }

    fn follows_links(&self) -> bool {
        // Links of HDFS are off in the name node.
        self.is_local()
    }

    async fn list_visible(&self, folder: &str) -> Result<Vec<StoredFile>> {
        let files = match list_folder(&self.path(folder), &self.options) {
            Err(error) if error.io_kind() == Some(io::ErrorKind::NotFound) => return Ok(Vec::new()),
            files => files?,
        };
        let status = |size| FileStatus { size, modified: SystemTime::UNIX_EPOCH };
        Ok(files.into_iter().filter_map(|(location, size)| self.stored(&location, status(size))).collect())
    }

    async fn stat(&self, name: &str) -> Result<Option<StoredFile>> {
        let location = self.path(name);
        Ok(stat(&location, &self.options)?.and_then(|status| self.stored(&location, status)))
    }

    async fn read(&self, name: &str, limit: u64) -> Result<Option<Bytes>> {
        self.links().check(name)?;
        match read_small(&self.path(name), limit, &self.options) {
            Err(error) if error.io_kind() == Some(io::ErrorKind::NotFound) => Ok(None),
            result => result.map(Some),
        }
    }

    async fn create(&self, name: &str, bytes: Bytes) -> Result<bool> {
        self.links().check(name)?;
        match write_small(&self.path(name), bytes, false, &self.options.without_cancel_check()) {
            Err(error) if error.io_kind() == Some(io::ErrorKind::AlreadyExists) => Ok(false),
            result => result.map(|()| true),
        }
    }

    async fn write(&self, name: &str, bytes: Bytes) -> Result<()> {
        self.links().check(name)?;
        write_small(&self.path(name), bytes, true, &self.options.without_cancel_check())
    }

    async fn delete(&self, names: &[String]) -> Result<()> {
        let mut links = self.links();
        names.iter().try_for_each(|name| links.check_folders(name))?;
        let locations: Vec<_> = names.iter().map(|name| self.path(name)).collect();
        delete_files(&locations, &self.options.without_cancel_check())
    }

    async fn delete_folder(&self, name: &str) -> Result<()> {
        self.links().check(name)?;
        delete_folder(&self.path(name), &self.options.without_cancel_check())
    }

    async fn remove_empty_folders(&self, names: &[&str]) {
        if self.is_local() {
            names.iter().for_each(|name| _ = std::fs::remove_dir(self.path(name)));
        }
    }

    async fn probes(&self) -> Result<Vec<StoredFile>> {
        if !self.is_local() {
            return Ok(Vec::new());
        }
        let files = list_utf8(&self.path(""), &self.options)?;
        let files = files.into_iter().filter_map(|(location, status)| self.stored(&location, status));
        Ok(files.filter(|file| file.size == 0 && job_of_probe(&file.name).is_some()).collect())
    }

    async fn folders(&self, folder: &str) -> Result<Vec<(String, SystemTime)>> {
        if !self.is_local() {
            return Ok(Vec::new());
        }
        self.links().check(folder)?;
        let (mut folders, mut stack) = (Vec::new(), vec![folder.to_owned()]);
        while let Some(folder) = stack.pop() {
            self.options.cancellation().poll_now()?;
            let below = subfolders(&self.path(&folder));
            let below = below.map_err(|error| Error::io("cannot be listed", error).in_file(&self.path(&folder)))?;
            for (name, modified) in below {
                stack.push(format!("{folder}/{name}"));
                folders.push((format!("{folder}/{name}"), modified));
            }
        }
        Ok(folders)
    }

    async fn prepare(&self, job: &str, files: &[AddedFile], removed: &[String]) -> Result<()> {
        let staged = self.staged(job, files)?;
        if !self.is_local() {
            return Ok(());
        }
        let mut links = self.links();
        removed.iter().try_for_each(|name| links.check_folders(name))?;
        let removed: Vec<String> = removed.iter().map(|name| self.path(name)).collect();
        let targets = staged.iter().map(|file| file.location.as_str());
        let folders: BTreeSet<&str> = targets
            .chain(removed.iter().map(String::as_str))
            .filter_map(|path| Some(path.rsplit_once('/')?.0))
            .collect();
        for folder in folders {
            self.created.lock().unwrap_or_else(PoisonError::into_inner).create(folder)?;
            let probe = format!("{folder}/.{job}{PROBE}");
            // Another file of this name, or a link, is not opened.
            let created = OpenOptions::new().write(true).create_new(true).open(&probe);
            let probed = created.and_then(|_| std::fs::remove_file(&probe));
            probed.map_err(|error| Error::io("cannot be changed", error).in_file(&display_name(folder)))?;
        }
        for file in &staged {
            let fault = |error| Error::io(CANNOT_PUBLISH, error).in_file(&display_name(&file.location));
            match std::fs::symlink_metadata(&file.location) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(fault(error)),
                Ok(_) => return Err(fault(io::ErrorKind::AlreadyExists.into())),
            }
        }
        Ok(())
    }

    async fn unprepare(&self) {
        self.created.lock().unwrap_or_else(PoisonError::into_inner).remove_empty();
    }

    async fn publish(&self, job: &str, files: &[AddedFile]) -> Result<()> {
        self.for_each_staged(job, files, publish_file)
    }

    async fn discard(&self, job: &str, files: &[AddedFile]) -> Result<()> {
        self.for_each_staged(job, files, discard_file)
    }

    async fn pause(&self) -> Result<()> {
        std::thread::sleep(PAUSE);
        self.options.cancellation().poll_now()
    }
}

/// Publishes a staged file. Of a table that was copied during a commit, the bytes may be in a store of another kind: the file is there
/// already, or its bytes are lost.
fn publish_file(location: &str, file: &StagedFile, options: &StorageOptions) -> Result<()> {
    match complete_upload(location, file, options) {
        Err(error) if error.kind() == ErrorKind::InvalidArgument => match stat(location, options)? {
            Some(status) if status.size == file.bytes => Ok(()),
            _ => {
                let text = "its bytes are in the store that the table was copied from";
                let error = io::Error::new(io::ErrorKind::NotFound, text);
                Err(Error::io(CANNOT_PUBLISH, error).in_file(&display_name(location)))
            }
        },
        done => done,
    }
}

/// Removes a staged file. Bytes in a store of another kind stay there.
fn discard_file(location: &str, file: &StagedFile, options: &StorageOptions) -> Result<()> {
    match abort_upload(location, file, options) {
        Err(error) if error.kind() == ErrorKind::InvalidArgument => Ok(()),
        done => done,
    }
}

/// The names of the folders in a folder, and the times of their last changes. A folder that does not exist has none.
fn subfolders(folder: &str) -> io::Result<Vec<(String, SystemTime)>> {
    let is_gone = |error: &io::Error| error.kind() == io::ErrorKind::NotFound;
    let entries = match std::fs::read_dir(folder) {
        Err(error) if is_gone(&error) => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut folders = Vec::new();
    for entry in entries {
        let entry = entry?;
        let metadata = match entry.metadata() {
            Err(error) if is_gone(&error) => continue,
            metadata => metadata?,
        };
        // Other names are not those of folders of this crate.
        if let (Ok(name), true) = (entry.file_name().into_string(), metadata.is_dir()) {
            folders.push((name, metadata.modified()?));
        }
    }
    Ok(folders)
}
