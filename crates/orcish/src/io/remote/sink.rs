//! Files that are written to object stores.

use std::mem::ManuallyDrop;

use bytes::Bytes;
use object_store::multipart::PartId;

use super::object::Object;
use super::parts::{Parts, Upload};
use super::process::wait;
use super::store::Uploads;
use crate::error::{Error, Result};
use crate::io::upload::{self, Unpublished, Waiting, Withheld};
use crate::io::{Sink, StorageOptions};
use crate::patience::Check;

const UNWRITABLE: &str = "cannot be written";
/// Least bytes of a part but the last, which S3 asks for.
const LEAST_PART: u64 = 5 << 20;

/// A file of S3, Google Cloud Storage or Azure on its way. What is small goes in one request, the rest in parts, several
/// at a time; the store shows the file once the last request is done. A file that is withheld goes in parts, however
/// small, and that request is left to others.
pub(in crate::io) struct ObjectSink {
    target: Target,
    check: Option<Check>,
    /// Bytes that are in no part yet, and of all.
    held: Vec<u8>,
    bytes: u64,
    /// What is to be completed or given up.
    upload: Option<Upload>,
    parts: Parts,
    withheld: Option<Withheld>,
    /// The process that began it: connections are not another's.
    process: u32,
    is_over: bool,
}

/// Where the bytes go.
#[derive(Clone)]
struct Target {
    object: Object,
    uploads: Uploads,
    part_size: usize,
}

impl ObjectSink {
    /// A file that is to be at `url`, or to be withheld.
    pub(in crate::io) fn create(url: &str, options: &StorageOptions, withheld: Option<Withheld>) -> Result<Self> {
        let object = Object::writable(url, options)?;
        Self::new(object, options, withheld)
    }

    pub(super) fn new(object: Object, options: &StorageOptions, withheld: Option<Withheld>) -> Result<Self> {
        let uploads = object.uploads()?;
        let part_size = usize::try_from(object.address.options.part_size.max(LEAST_PART)).unwrap_or(usize::MAX);
        Ok(ObjectSink {
            target: Target { object, uploads, part_size },
            check: options.check().cloned(),
            held: Vec::new(),
            bytes: 0,
            upload: None,
            parts: Parts::default(),
            withheld,
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
        let sent = self.send_bytes(bytes, last);
        if sent.is_err() {
            self.give_up();
        }
        sent
    }

    fn send_bytes(&mut self, bytes: Bytes, last: bool) -> Result<()> {
        let check = self.check.clone();
        if last && self.upload.is_none() && self.withheld.is_none() {
            let object = self.target.object.clone();
            return wait(async move { object.replace(bytes, UNWRITABLE).await }, check.as_ref());
        }
        let upload = match &self.upload {
            Some(upload) => upload.clone(),
            None => {
                let (target, marked) = (self.target.clone(), self.withheld.is_some());
                let upload = wait(async move { target.begin(marked).await }, check.as_ref())?;
                // It is known here before anything is sent, so that it can be given up whatever ends the sending.
                self.upload.insert(upload).clone()
            }
        };
        let (target, mut parts) = (self.target.clone(), std::mem::take(&mut self.parts));
        let sent = async move {
            target.send(&upload, &mut parts, bytes).await?;
            let all = if last { Some((upload.clone(), target.all(&mut parts).await?)) } else { None };
            Ok((parts, all))
        };
        let (parts, all) = wait(sent, check.as_ref())?;
        self.parts = parts;
        match all {
            Some((upload, all)) => self.end(&upload, all)?,
            None => self.is_over = false,
        }
        Ok(())
    }

    /// Completes the file, or withholds it, all of whose parts are there.
    fn end(&mut self, upload: &Upload, parts: Vec<PartId>) -> Result<()> {
        match &self.withheld {
            Some(withheld) => {
                let parts = parts.into_iter().map(|part| part.content_id).collect();
                let parts = upload::Parts { id: upload.id.clone(), part: parts, mark: upload.mark.text().to_owned() };
                let address = &self.target.object.address;
                let location = address.with_path(self.target.object.key.as_ref());
                withheld.put(Unpublished::new(location, self.bytes, Waiting::Parts(parts)));
            }
            None => {
                let (target, upload) = (self.target.clone(), upload.clone());
                wait(async move { target.complete(&upload, parts).await }, self.check.as_ref())?;
            }
        }
        self.upload = None;
        Ok(())
    }

    /// Removes what has been sent. There is nobody to tell if that fails; stores drop such parts when they are told to, or
    /// after some days.
    fn give_up(&mut self) {
        let Some(upload) = self.upload.take() else { return };
        let (target, mut parts) = (self.target.clone(), std::mem::take(&mut self.parts));
        let removed = async move {
            parts.stop().await;
            let _ = target.uploads.store.abort_multipart(&target.object.key, &upload.id).await;
            Ok(())
        };
        let _ = wait(removed, self.check.as_ref());
    }
}

impl Target {
    fn fault(&self, error: &object_store::Error) -> Error {
        self.object.fault(UNWRITABLE, error)
    }

    async fn begin(&self, marked: bool) -> Result<Upload> {
        Upload::begin(&self.uploads, &self.object.key, marked).await.map_err(|error| self.fault(&error))
    }

    /// Sends bytes behind those of the parts.
    async fn send(&self, upload: &Upload, parts: &mut Parts, bytes: Bytes) -> Result<()> {
        let most = self.object.address.options.concurrency;
        let sent = upload.send(&self.uploads, &self.object.key, parts, bytes, self.part_size, most).await;
        self.stopped(sent, parts).await
    }

    async fn all(&self, parts: &mut Parts) -> Result<Vec<PartId>> {
        let all = parts.all().await;
        self.stopped(all, parts).await
    }

    /// Ends what is on its way where something has failed.
    async fn stopped<T>(&self, result: object_store::Result<T>, parts: &mut Parts) -> Result<T> {
        if result.is_err() {
            parts.stop().await;
        }
        result.map_err(|error| self.fault(&error))
    }

    async fn complete(&self, upload: &Upload, parts: Vec<PartId>) -> Result<()> {
        let completed = self.uploads.store.complete_multipart(&self.object.key, &upload.id, parts).await;
        completed.map(drop).map_err(|error| self.fault(&error))
    }
}

impl Sink for ObjectSink {
    fn name(&self) -> &str {
        &self.target.object.address.name
    }

    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.held.extend_from_slice(bytes);
        self.bytes += bytes.len() as u64;
        if self.held.len() < self.target.part_size && !self.is_over { Ok(()) } else { self.send(false) }
    }

    fn finish(&mut self) -> Result<()> {
        self.send(true)
    }
}

impl Drop for ObjectSink {
    fn drop(&mut self) {
        if self.process == std::process::id() {
            self.give_up();
        } else {
            // Its connections are those of another process.
            let _ = ManuallyDrop::new(std::mem::take(&mut self.parts));
        }
    }
}
