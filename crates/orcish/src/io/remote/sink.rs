//! Files that are written to object stores.

use std::sync::Arc;

use bytes::Bytes;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt as _, PutPayload, WriteMultipart};

use super::fault::fault;
use super::process::wait;
use super::store::Address;
use crate::error::{Error, Result};
use crate::io::{Sink, StorageOptions};
use crate::patience::Check;

const UNWRITABLE: &str = "cannot be written";
/// Least bytes of a part but the last, which S3 asks for.
const LEAST_PART: u64 = 5 << 20;

/// A file of S3, Google Cloud Storage or Azure on its way. What is small goes in one request, the rest in parts, several
/// at a time; the store shows the file once the last request is done.
pub(in crate::io) struct ObjectSink {
    target: Target,
    check: Option<Check>,
    /// Bytes that are in no part yet.
    held: Vec<u8>,
    /// Parts on their way, where there are any.
    upload: Option<WriteMultipart>,
    /// The process that began it: connections are not another's.
    process: u32,
    is_over: bool,
}

/// Where the bytes go.
#[derive(Clone)]
struct Target {
    address: Arc<Address>,
    store: Arc<dyn ObjectStore>,
    key: Path,
    part_size: usize,
}

impl ObjectSink {
    /// A file that is to be at `url`.
    pub(in crate::io) fn create(url: &str, options: &StorageOptions) -> Result<Self> {
        let address = Address::new(url, options)?;
        if address.url.is_http() {
            return Err(Error::unsupported("files are not written to HTTP servers").in_file(&address.name));
        }
        let key = address.key()?;
        if key.as_ref().is_empty() {
            return Err(Error::invalid("the URL names no file").in_file(&address.name));
        }
        let part_size = usize::try_from(address.options.part_size.max(LEAST_PART)).unwrap_or(usize::MAX);
        let store = address.connect()?;
        Ok(ObjectSink {
            target: Target { address: Arc::new(address), store, key, part_size },
            check: options.check().cloned(),
            held: Vec::new(),
            upload: None,
            process: std::process::id(),
            is_over: false,
        })
    }

    /// Sends the whole parts of what is held, or all of it, where it is the `last`.
    fn send(&mut self, last: bool) -> Result<()> {
        let refusal = if self.process != std::process::id() {
            Some("the file is being written by another process")
        } else if self.is_over {
            Some("the file is finished, or has failed before")
        } else {
            None
        };
        if let Some(refusal) = refusal {
            return Err(Error::invalid(refusal).in_file(self.name()));
        }
        let size = self.target.part_size;
        let whole = if last { self.held.len() } else { self.held.len() / size * size };
        let rest = self.held.split_off(whole);
        let bytes = Bytes::from(std::mem::replace(&mut self.held, rest));
        self.is_over = true;
        let (target, upload) = (self.target.clone(), self.upload.take());
        self.upload = wait(async move { target.send(upload, bytes, last).await }, self.check.as_ref())?;
        self.is_over = last;
        Ok(())
    }
}

impl Target {
    /// Sends bytes behind those of `upload`; gives what goes on with it. After an error nothing is left in the store.
    async fn send(&self, upload: Option<WriteMultipart>, bytes: Bytes, last: bool) -> Result<Option<WriteMultipart>> {
        let fault = |error: object_store::Error| fault(UNWRITABLE, &error, &self.address);
        let mut upload = match upload {
            Some(upload) => upload,
            None if last => {
                self.store.put(&self.key, PutPayload::from_bytes(bytes)).await.map_err(fault)?;
                return Ok(None);
            }
            None => {
                let upload = self.store.put_multipart(&self.key).await.map_err(fault)?;
                WriteMultipart::new_with_chunk_size(upload, self.part_size)
            }
        };
        if let Err(error) = upload.wait_for_capacity(self.address.options.concurrency).await {
            // What went wrong first is what matters.
            let _ = upload.abort().await;
            return Err(fault(error));
        }
        upload.put(bytes);
        if last {
            // It cleans up for itself.
            upload.finish().await.map_err(fault)?;
            return Ok(None);
        }
        Ok(Some(upload))
    }
}

impl Sink for ObjectSink {
    fn name(&self) -> &str {
        &self.target.address.name
    }

    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.held.extend_from_slice(bytes);
        if self.held.len() < self.target.part_size && !self.is_over { Ok(()) } else { self.send(false) }
    }

    fn finish(&mut self) -> Result<()> {
        self.send(true)
    }
}

impl Drop for ObjectSink {
    fn drop(&mut self) {
        let Some(upload) = self.upload.take() else { return };
        if self.process == std::process::id() {
            let target = self.target.clone();
            let abort = async move { upload.abort().await.map_err(|error| fault(UNWRITABLE, &error, &target.address)) };
            // There is nobody to tell; stores drop such parts when they are told to, or after some days.
            let _ = wait(abort, self.check.as_ref());
        } else {
            // It has connections of another process.
            let _ = std::mem::ManuallyDrop::new(upload);
        }
    }
}
