//! Sinks of object stores.

#[cfg(test)]
mod tests;

use std::mem::ManuallyDrop;

use bytes::Bytes;
use object_store::multipart::PartId;
use orcish_core::cancel::CancelCheck;
use orcish_core::process::OwnerProcess;
use orcish_core::{Error, Result};

use super::multipart::{MultipartUpload, PartUploads};
use super::object::Object;
use super::part_sizes::PartSizes;
use super::runtime::{block_on, block_on_or_undo, run_cleanup};
use super::store::MultipartClient;
use crate::messages::CANNOT_WRITE;
use crate::sink::Sink;
use crate::staged::{Data, Publication, StagedFile, UploadedParts};
use crate::storage::StorageOptions;

/// An object of S3, Google Cloud Storage or Azure that is being written.
///
/// A file shorter than a part is written with one request, a longer one with a multipart upload. The store shows the
/// object after the last request. A staged file of any size is a multipart upload without this request.
pub(crate) struct ObjectSink {
    target: UploadTarget,
    cancel_check: Option<CancelCheck>,
    /// Written bytes that are not part of an upload yet.
    buffer: Vec<u8>,
    /// The number of written bytes.
    bytes_written: u64,
    /// The upload to be completed or aborted.
    upload: Option<MultipartUpload>,
    parts: PartUploads,
    publication: Publication,
    /// A forked child process must not use the connections of its parent.
    owner: OwnerProcess,
    /// Whether the sink is finished or has failed.
    is_closed: bool,
}

/// The object and the parameters of its upload.
#[derive(Clone)]
struct UploadTarget {
    object: Object,
    client: MultipartClient,
    sizes: PartSizes,
}

impl ObjectSink {
    /// Creates a sink for the object at `url`.
    pub(crate) fn create(url: &str, publication: Publication, options: &StorageOptions) -> Result<Self> {
        let object = Object::writable(url, options)?;
        Self::try_new(object, publication, options)
    }

    pub(super) fn try_new(object: Object, publication: Publication, options: &StorageOptions) -> Result<Self> {
        let client = object.multipart()?;
        let sizes = PartSizes::new(object.address.options.part_size);
        Ok(ObjectSink {
            target: UploadTarget { object, client, sizes },
            cancel_check: options.cancel_check().cloned(),
            buffer: Vec::new(),
            bytes_written: 0,
            upload: None,
            parts: PartUploads::default(),
            publication,
            owner: OwnerProcess::current(),
            is_closed: false,
        })
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

    /// Calls the cancellation check before a request that makes the object visible. `block_on` calls it after some time
    /// only.
    fn check_canceled(&self) -> Result<()> {
        self.cancel_check.as_ref().map_or(Ok(()), |check| check())
    }

    /// Sends the full parts of the buffer, or the whole buffer if it is the `last` one. If this fails, the upload is
    /// aborted.
    fn flush(&mut self, last: bool) -> Result<()> {
        self.check_open()?;
        let buffered = self.buffer.len();
        let length = if last { buffered } else { self.target.sizes.full_parts(self.parts.count, buffered) };
        let rest = self.buffer.split_off(length);
        let bytes = Bytes::from(std::mem::replace(&mut self.buffer, rest));
        self.is_closed = true;
        let sent = self.send(bytes, last);
        if sent.is_err() {
            self.abort();
        }
        sent
    }

    fn send(&mut self, bytes: Bytes, last: bool) -> Result<()> {
        let check = self.cancel_check.clone();
        if let Publication::Immediate { overwrite } = self.publication
            && last
            && self.upload.is_none()
        {
            self.check_canceled()?;
            let object = self.target.object.clone();
            let put = async move {
                if overwrite { object.put(bytes, CANNOT_WRITE).await } else { object.put_new(bytes).await }
            };
            return block_on(put, check.as_ref());
        }
        let upload = match &self.upload {
            Some(upload) => upload.clone(),
            None => {
                let (target, undo_target) = (self.target.clone(), self.target.clone());
                let is_staged = matches!(self.publication, Publication::Staged(_));
                let create = async move { target.create(is_staged).await };
                let undo = |upload: MultipartUpload| async move { undo_target.abort(&upload).await };
                let upload = block_on_or_undo(create, check.as_ref(), undo)?;
                // The upload is stored before parts are sent, so that it is aborted if sending them fails.
                self.upload.insert(upload).clone()
            }
        };
        let (target, mut parts) = (self.target.clone(), std::mem::take(&mut self.parts));
        let send = async move {
            target.send(&upload, &mut parts, bytes).await?;
            let ids = if last { Some((upload.clone(), target.join_all(&mut parts).await?)) } else { None };
            Ok((parts, ids))
        };
        let (parts, ids) = block_on(send, check.as_ref())?;
        self.parts = parts;
        match ids {
            Some((upload, ids)) => self.close(&upload, ids)?,
            None => self.is_closed = false,
        }
        Ok(())
    }

    /// Completes an upload of which all parts are stored, or stages it.
    fn close(&mut self, upload: &MultipartUpload, parts: Vec<PartId>) -> Result<()> {
        match &self.publication {
            Publication::Staged(staging) => {
                let object = &self.target.object;
                let data = Data::Parts(UploadedParts {
                    upload_id: upload.id.clone(),
                    part_ids: parts.into_iter().map(|part| part.content_id).collect(),
                    write_id: upload.write_id.as_str().to_owned(),
                });
                let location = object.address.with_path(object.key.as_ref());
                staging.put(StagedFile::new(location, self.bytes_written, data));
            }
            &Publication::Immediate { overwrite } => {
                self.check_canceled()?;
                let (target, upload) = (self.target.clone(), upload.clone());
                let complete = async move {
                    if !overwrite {
                        target.object.check_absent().await?;
                    }
                    target.complete(&upload, parts).await
                };
                block_on(complete, self.cancel_check.as_ref())?;
            }
        }
        self.upload = None;
        Ok(())
    }

    /// Aborts the upload, and waits a short time for the result. Errors are ignored: stores remove incomplete uploads
    /// as configured, or after some days.
    fn abort(&mut self) {
        let Some(upload) = self.upload.take() else { return };
        let (target, mut parts) = (self.target.clone(), std::mem::take(&mut self.parts));
        run_cleanup(async move {
            parts.cancel().await;
            target.abort(&upload).await;
        });
    }
}

impl UploadTarget {
    fn to_error(&self, error: &object_store::Error) -> Error {
        self.object.to_error(CANNOT_WRITE, error)
    }

    async fn create(&self, with_write_id: bool) -> Result<MultipartUpload> {
        let created = MultipartUpload::create(&self.client, &self.object.key, with_write_id).await;
        created.map_err(|error| self.to_error(&error))
    }

    /// Sends bytes as the next parts.
    async fn send(&self, upload: &MultipartUpload, parts: &mut PartUploads, bytes: Bytes) -> Result<()> {
        let concurrency = self.object.address.options.concurrency;
        let sent = upload.send(&self.client, &self.object.key, parts, bytes, self.sizes, concurrency).await;
        self.cancel_on_error(sent, parts).await
    }

    /// Waits for all parts, and returns their IDs.
    async fn join_all(&self, parts: &mut PartUploads) -> Result<Vec<PartId>> {
        let ids = parts.join_all().await;
        self.cancel_on_error(ids, parts).await
    }

    async fn cancel_on_error<T>(&self, result: object_store::Result<T>, parts: &mut PartUploads) -> Result<T> {
        if result.is_err() {
            parts.cancel().await;
        }
        result.map_err(|error| self.to_error(&error))
    }

    async fn abort(&self, upload: &MultipartUpload) {
        let _ = self.client.store.abort_multipart(&self.object.key, &upload.id).await;
    }

    async fn complete(&self, upload: &MultipartUpload, parts: Vec<PartId>) -> Result<()> {
        let completed = self.client.store.complete_multipart(&self.object.key, &upload.id, parts).await;
        completed.map(drop).map_err(|error| self.to_error(&error))
    }
}

impl Sink for ObjectSink {
    fn name(&self) -> &str {
        &self.target.object.address.name
    }

    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.check_open()?;
        self.buffer.extend_from_slice(bytes);
        self.bytes_written += bytes.len() as u64;
        if self.buffer.len() < self.target.sizes.size_of(self.parts.count) { Ok(()) } else { self.flush(false) }
    }

    fn finish(&mut self) -> Result<()> {
        self.flush(true)
    }
}

impl Drop for ObjectSink {
    fn drop(&mut self) {
        if self.owner.is_current() {
            self.abort();
        } else {
            // The connections belong to the parent process. The additional reference prevents their drop.
            let _ = ManuallyDrop::new((self.target.clone(), std::mem::take(&mut self.parts)));
        }
    }
}
