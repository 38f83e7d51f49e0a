//! Files that are being written, under temporary names.

use std::fmt;
use std::io;

use bytes::Bytes;
use hdfs_native::WriteOptions;
use hdfs_native::file::FileWriter;
use object_store::{Error, Result};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio::time::{Duration, Instant};

use super::super::hdfs_client::store_error;
use super::file::{HdfsFile, folder_of};

/// The least size of a block, by the default of name nodes, in bytes.
const MIN_BLOCK_SIZE: u64 = 1 << 20;

/// The least time between the beginnings of two blocks. Hadoop's client waits as long before it asks for a block again.
const BLOCK_DISTANCE: Duration = Duration::from_millis(400);

/// A file that is being written under a temporary name, by a task of its own. Callers that are cancelled cancel no
/// request of this task. If all handles of the file are dropped, the task removes the file, unless it was published or
/// kept.
#[derive(Clone)]
pub(super) struct OpenFile {
    requests: mpsc::Sender<Request>,
}

/// A request, and the receiver of the answer.
enum Request {
    Write(Bytes, oneshot::Sender<Result<()>>),
    Close(oneshot::Sender<Result<()>>),
    Publish { overwrite: bool, answer: oneshot::Sender<Result<()>> },
    Keep,
}

/// The task of an open file.
struct WriteTask {
    target: HdfsFile,
    temporary: String,
    /// Folders that were created for the file, outer ones first.
    folders: Vec<String>,
    writer: FileWriter,
    /// The number of written bytes.
    written: u64,
    /// The size of a block; `None` before it is needed.
    block_size: Option<u64>,
    /// The time at which the last block but the first was begun.
    block_begun: Option<Instant>,
}

impl fmt::Debug for OpenFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OpenFile")
    }
}

impl OpenFile {
    /// Creates a file of a temporary name for `target`, and missing folders. The task ends when the file is published,
    /// kept or removed.
    pub(super) async fn create(target: HdfsFile, temporary: String) -> Result<(Self, JoinHandle<()>)> {
        let folders = missing_folders(&target, &temporary).await?;
        let writer = match target.hdfs.client.create(&temporary, WriteOptions::default()).await {
            Ok(writer) => writer,
            Err(error) => {
                // The answer may have been lost.
                remove(&target, &temporary, &folders).await;
                return Err(store_error(error, &temporary));
            }
        };
        let (requests, receiver) = mpsc::channel(1);
        let task = WriteTask { target, temporary, folders, writer, written: 0, block_size: None, block_begun: None };
        Ok((OpenFile { requests }, tokio::spawn(task.run(receiver))))
    }

    async fn send(&self, request: impl FnOnce(oneshot::Sender<Result<()>>) -> Request) -> Result<()> {
        let ended = || Error::Generic { store: "HDFS", source: "the task that writes the file has ended".into() };
        let (answer, receiver) = oneshot::channel();
        self.requests.send(request(answer)).await.map_err(|_| ended())?;
        receiver.await.unwrap_or_else(|_| Err(ended()))
    }

    /// Appends bytes.
    pub(super) async fn write(&self, bytes: Bytes) -> Result<()> {
        self.send(|answer| Request::Write(bytes, answer)).await
    }

    /// Makes all bytes durable, and ends the writing.
    pub(super) async fn close(&self) -> Result<()> {
        self.send(Request::Close).await
    }

    /// Gives the closed file its name.
    pub(super) async fn publish(&self, overwrite: bool) -> Result<()> {
        self.send(|answer| Request::Publish { overwrite, answer }).await
    }

    /// Keeps the closed file under its temporary name.
    pub(super) async fn keep(&self) {
        let _ = self.requests.send(Request::Keep).await;
    }
}

impl WriteTask {
    async fn run(mut self, mut requests: mpsc::Receiver<Request>) {
        // An answer is not received if the caller was cancelled.
        while let Some(request) = requests.recv().await {
            match request {
                Request::Write(bytes, answer) => {
                    let _ = answer.send(self.write(bytes).await);
                }
                Request::Close(answer) => {
                    let closed = self.writer.close().await;
                    let _ = answer.send(self.answer(closed));
                }
                Request::Publish { overwrite, answer } => {
                    let published = self.publish(overwrite).await;
                    let is_published = published.is_ok();
                    let _ = answer.send(published);
                    if is_published {
                        return;
                    }
                }
                Request::Keep => return,
            }
        }
        remove(&self.target, &self.temporary, &self.folders).await;
        // The connections to data nodes stay open otherwise.
        let _ = self.writer.close().await;
    }

    /// Appends bytes. Blocks are begun at some distance in time: the name node refuses a block while it has not heard of
    /// the last one but one, and the client does not ask again.
    async fn write(&mut self, mut bytes: Bytes) -> Result<()> {
        while !bytes.is_empty() {
            let left_of_block = if self.written + (bytes.len() as u64) < MIN_BLOCK_SIZE {
                MIN_BLOCK_SIZE
            } else {
                let block_size = self.block_size().await?;
                if self.written > 0 && self.written.is_multiple_of(block_size) {
                    if let Some(begun) = self.block_begun {
                        tokio::time::sleep_until(begun + BLOCK_DISTANCE).await;
                    }
                    self.block_begun = Some(Instant::now());
                }
                block_size - self.written % block_size
            };
            let length = bytes.len().min(usize::try_from(left_of_block).unwrap_or(usize::MAX));
            let written = self.writer.write_bytes(bytes.split_to(length)).await;
            self.answer(written.map(drop))?;
            self.written += length as u64;
        }
        Ok(())
    }

    async fn block_size(&mut self) -> Result<u64> {
        if let Some(size) = self.block_size {
            return Ok(size);
        }
        let status = self.target.hdfs.status(&self.temporary).await?;
        let size = status.and_then(|status| status.blocksize).unwrap_or(MIN_BLOCK_SIZE).max(MIN_BLOCK_SIZE);
        self.block_size = Some(size);
        Ok(size)
    }

    fn answer(&self, result: hdfs_native::Result<()>) -> Result<()> {
        result.map_err(|error| store_error(error, &self.temporary))
    }

    async fn publish(&self, overwrite: bool) -> Result<()> {
        let Err(error) = self.target.rename_from(&self.temporary, overwrite).await else { return Ok(()) };
        if matches!(error, Error::NotFound { .. }) {
            return Err(error);
        }
        // The answer may have been lost. A file that is deleted here has not been renamed, and never will be.
        if let Ok(false) = self.target.delete(&self.temporary).await {
            return Ok(());
        }
        let target = self.target.hdfs.status(&self.target.path).await;
        if target.is_ok_and(|status| status.is_some_and(|status| status.isdir)) {
            Err(Error::Generic { store: "HDFS", source: Box::new(io::Error::from(io::ErrorKind::IsADirectory)) })
        } else {
            Err(error)
        }
    }
}

/// The folders above a path that do not exist, outer ones first.
async fn missing_folders(file: &HdfsFile, path: &str) -> Result<Vec<String>> {
    let mut missing = Vec::new();
    let mut folder = folder_of(path);
    while folder != "/" && file.hdfs.status(folder).await?.is_none() {
        missing.push(folder.to_owned());
        folder = folder_of(folder);
    }
    missing.reverse();
    Ok(missing)
}

/// Removes a temporary file, and those of the folders that are empty. Errors are ignored.
async fn remove(file: &HdfsFile, temporary: &str, folders: &[String]) {
    let _ = file.delete(temporary).await;
    for folder in folders.iter().rev() {
        // Folders with files of others are not deleted.
        if file.delete(folder).await.is_err() {
            break;
        }
    }
}
