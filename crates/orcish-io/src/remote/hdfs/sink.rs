//! Sinks of files of HDFS.

use std::mem::ManuallyDrop;

use bytes::Bytes;
use orcish_core::cancel::CancelCheck;
use orcish_core::process::OwnerProcess;
use orcish_core::{Error, Result};
use tokio::task::JoinHandle;

use super::super::address::Address;
use super::super::runtime::{block_on, block_on_or_undo, run_cleanup};
use super::super::write_id::WriteId;
use super::file::{HdfsFile, folder_of};
use super::open_file::OpenFile;
use crate::location::last_segment;
use crate::messages::{CANNOT_WRITE, to_appeared};
use crate::sink::Sink;
use crate::staged::{Data, Publication, StagedFile, Staging};
use crate::storage::StorageOptions;

/// Maximum number of characters of the name of a file in its temporary name. HDFS limits names to 255 bytes.
const MAX_NAME_LENGTH: usize = 40;

/// A file of HDFS that is being written. It has a hidden temporary name until it is renamed at the end. A killed process
/// leaves the temporary file behind. Missing folders are created.
pub(in super::super) struct HdfsSink {
    file: HdfsFile,
    /// The path of the temporary file.
    temporary: String,
    cancel_check: Option<CancelCheck>,
    /// Written bytes that were not sent yet.
    buffer: Vec<u8>,
    /// The number of written bytes.
    bytes_written: u64,
    /// `None` before the first bytes are sent, and at the end.
    open: Option<(OpenFile, JoinHandle<()>)>,
    publication: Publication,
    /// A forked child process must not use the connections of its parent.
    owner: OwnerProcess,
    /// Whether the sink is finished or has failed.
    is_closed: bool,
}

impl HdfsSink {
    /// Creates a sink for the file at `url`. No server is asked yet.
    pub(in super::super) fn create(url: &str, overwrite: bool, options: &StorageOptions) -> Result<Self> {
        let file = HdfsFile::writable(url, options)?;
        let folder = folder_of(&file.path).to_owned();
        Ok(Self::new(file, &folder, Publication::Immediate { overwrite }, options))
    }

    /// Creates a sink for a staged file, whose bytes are in the folder at `staging_folder`, or in the folder of the file.
    pub(in super::super) fn create_staged(
        url: &str,
        staging_folder: Option<&str>,
        staging: Staging,
        options: &StorageOptions,
    ) -> Result<Self> {
        let file = HdfsFile::writable(url, options)?;
        let folder = match staging_folder {
            None => folder_of(&file.path).to_owned(),
            Some(folder) => {
                let address = Address::try_new(folder, options).map_err(|error| error.in_file(&file.address.name))?;
                if address.bucket() != file.address.bucket() {
                    let text = format!("it cannot wait at {}: that is another store", address.name);
                    return Err(Error::invalid(text).in_file(&file.address.name));
                }
                format!("/{}", address.parse_path(address.path.trim_end_matches('/'))?)
            }
        };
        Ok(Self::new(file, &folder, Publication::Staged(staging), options))
    }

    fn new(file: HdfsFile, folder: &str, publication: Publication, options: &StorageOptions) -> Self {
        let name: String = last_segment(&file.path).chars().take(MAX_NAME_LENGTH).collect();
        let temporary = format!("{}/.{name}.{}.tmp", folder.trim_end_matches('/'), WriteId::random().as_str());
        HdfsSink {
            file,
            temporary,
            cancel_check: options.cancel_check().cloned(),
            buffer: Vec::new(),
            bytes_written: 0,
            open: None,
            publication,
            owner: OwnerProcess::current(),
            is_closed: false,
        }
    }

    /// Checks that this process may use the sink, and that it is not closed.
    fn check_open(&self) -> Result<()> {
        let in_file = |error: Error| error.in_file(self.name());
        self.owner.check().map_err(in_file)?;
        if self.is_closed {
            return Err(in_file(Error::invalid("the file is finished, or has failed before")));
        }
        Ok(())
    }

    /// Waits for a request to the open file.
    fn request<F>(&self, request: impl FnOnce(OpenFile) -> F) -> Result<()>
    where
        F: Future<Output = object_store::Result<()>> + Send + 'static,
    {
        let Some((open, _)) = &self.open else { return Ok(()) };
        let (request, file) = (request(open.clone()), self.file.clone());
        let answer = async move { request.await.map_err(|error| file.to_error(CANNOT_WRITE, &error)) };
        block_on(answer, self.cancel_check.as_ref())
    }

    /// Sends the buffer. The file is created before the first bytes are sent.
    fn send(&mut self) -> Result<()> {
        if self.open.is_none() {
            let (file, temporary) = (self.file.clone(), self.temporary.clone());
            let create = async move {
                let created = OpenFile::create(file.clone(), temporary).await;
                created.map_err(|error| file.to_error(CANNOT_WRITE, &error))
            };
            // The task of a dropped file removes it.
            let undo = |(open, task): (OpenFile, JoinHandle<()>)| async move {
                drop(open);
                let _ = task.await;
            };
            self.open = Some(block_on_or_undo(create, self.cancel_check.as_ref(), undo)?);
        }
        let bytes = Bytes::from(std::mem::take(&mut self.buffer));
        if bytes.is_empty() { Ok(()) } else { self.request(|open| async move { open.write(bytes).await }) }
    }

    /// Calls a function that sends requests, and closes the sink. If the function fails, the temporary file is removed.
    fn close(&mut self, send: impl FnOnce(&mut Self) -> Result<()>) -> Result<()> {
        self.check_open()?;
        self.is_closed = true;
        let sent = send(self);
        if sent.is_err() {
            self.abort();
        }
        sent
    }

    /// As [`finish`](Sink::finish). A sink that replaces no file fails if a file of the name exists; of several concurrent
    /// writers, exactly one succeeds.
    ///
    /// # Errors
    /// `Io` if this fails, with the kind [`AlreadyExists`](std::io::ErrorKind::AlreadyExists) if a file of the name
    /// exists.
    pub(super) fn publish(&mut self) -> Result<()> {
        self.close(|this| {
            this.send()?;
            this.request(|open| async move { open.close().await })?;
            match &this.publication {
                Publication::Staged(staging) => {
                    let location = this.file.url_of(&this.file.path);
                    let data = Data::Path(this.file.url_of(&this.temporary));
                    this.request(|open| async move {
                        open.keep().await;
                        Ok(())
                    })?;
                    staging.put(StagedFile::new(location, this.bytes_written, data));
                }
                &Publication::Immediate { overwrite } => {
                    this.cancel_check.as_ref().map_or(Ok(()), |check| check())?;
                    this.request(move |open| async move { open.publish(overwrite).await })?;
                }
            }
            this.open = None;
            Ok(())
        })
    }

    /// Removes the temporary file, and waits a short time for the result.
    fn abort(&mut self) {
        let Some((open, task)) = self.open.take() else { return };
        run_cleanup(async move {
            drop(open);
            let _ = task.await;
        });
    }
}

impl Sink for HdfsSink {
    fn name(&self) -> &str {
        &self.file.address.name
    }

    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.check_open()?;
        self.buffer.extend_from_slice(bytes);
        self.bytes_written += bytes.len() as u64;
        if (self.buffer.len() as u64) < self.file.address.options.part_size {
            return Ok(());
        }
        self.close(Self::send)?;
        self.is_closed = false;
        Ok(())
    }

    fn finish(&mut self) -> Result<()> {
        self.publish().map_err(|error| match self.publication {
            Publication::Immediate { overwrite: false } => to_appeared(error),
            _ => error,
        })
    }
}

impl Drop for HdfsSink {
    fn drop(&mut self) {
        if self.owner.is_current() {
            self.abort();
        } else {
            // The connections belong to the parent process. The additional reference prevents their drop.
            let _ = ManuallyDrop::new((self.open.take(), self.file.clone()));
        }
    }
}
