//! Files that are being written, under temporary names.

use std::fmt;
use std::io;

use bytes::Bytes;
use hdfs_native::WriteOptions;
use hdfs_native::file::FileWriter;
use object_store::{Error, Result};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

use super::super::hdfs_client::store_error;
use super::file::{HdfsFile, folder_of};

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
struct Task {
    target: HdfsFile,
    temporary: String,
    /// Folders that were created for the file, outer ones first.
    folders: Vec<String>,
    writer: FileWriter,
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
        let task = tokio::spawn(Task { target, temporary, folders, writer }.run(receiver));
        Ok((OpenFile { requests }, task))
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

impl Task {
    async fn run(mut self, mut requests: mpsc::Receiver<Request>) {
        // An answer is not received if the caller was cancelled.
        while let Some(request) = requests.recv().await {
            match request {
                Request::Write(bytes, answer) => {
                    let written = self.writer.write_bytes(bytes).await;
                    let _ = answer.send(self.answer(written.map(drop)));
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
        match target.is_ok_and(|status| status.is_some_and(|status| status.isdir)) {
            true => {
                Err(Error::Generic { store: "HDFS", source: Box::new(io::Error::from(io::ErrorKind::IsADirectory)) })
            }
            false => Err(error),
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
