//! Files that are written to object stores.

use std::mem::ManuallyDrop;

use bytes::Bytes;
use object_store::multipart::PartId;
use orcish_core::cancel::Check;
use orcish_core::process::Owner;
use orcish_core::{Error, Result};

use super::object::Object;
use super::part_sizes::PartSizes;
use super::parts::{Parts, Upload};
use super::process::{tidy_up, wait, wait_or_undo};
use super::store::Uploads;
use crate::upload::{self, Unpublished, Waiting, Withheld};
use crate::{Sink, StorageOptions};

const UNWRITABLE: &str = "cannot be written";

/// A file of S3, Google Cloud Storage or Azure on its way. What is small goes in one request, the rest in parts, several
/// at a time; the store shows the file once the last request is done. A file that is withheld goes in parts, however
/// small, and that request is left to others.
pub(crate) struct ObjectSink {
    target: Target,
    check: Option<Check>,
    /// Bytes that are in no part yet, and of all.
    held: Vec<u8>,
    bytes: u64,
    /// What is to be completed or given up.
    upload: Option<Upload>,
    parts: Parts,
    withheld: Option<Withheld>,
    /// Connections are not those of another process.
    owner: Owner,
    is_over: bool,
}

/// Where the bytes go.
#[derive(Clone)]
struct Target {
    object: Object,
    uploads: Uploads,
    sizes: PartSizes,
}

impl ObjectSink {
    /// A file that is to be at `url`, or to be withheld.
    pub(crate) fn create(url: &str, options: &StorageOptions, withheld: Option<Withheld>) -> Result<Self> {
        let object = Object::writable(url, options)?;
        Self::new(object, options, withheld)
    }

    pub(super) fn new(object: Object, options: &StorageOptions, withheld: Option<Withheld>) -> Result<Self> {
        let uploads = object.uploads()?;
        let sizes = PartSizes::new(object.address.options.part_size);
        Ok(ObjectSink {
            target: Target { object, uploads, sizes },
            check: options.check().cloned(),
            held: Vec::new(),
            bytes: 0,
            upload: None,
            parts: Parts::default(),
            withheld,
            owner: Owner::here(),
            is_over: false,
        })
    }

    /// Whether it can go on.
    fn check(&self) -> Result<()> {
        let named = |error: Error| error.in_file(self.name());
        self.owner.check().map_err(named)?;
        if self.is_over { Err(named(Error::invalid("the file is finished, or has failed before"))) } else { Ok(()) }
    }

    /// Looks whether to go on before the request that makes the file appear: the wait for it looks later.
    fn ask(&self) -> Result<()> {
        self.check.as_ref().map_or(Ok(()), |check| check())
    }

    /// Sends the whole parts of what is held, or all of it, where it is the `last`.
    fn send(&mut self, last: bool) -> Result<()> {
        self.check()?;
        let held = self.held.len();
        let whole = if last { held } else { self.target.sizes.whole(self.parts.count, held) };
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
            self.ask()?;
            let object = self.target.object.clone();
            return wait(async move { object.replace(bytes, UNWRITABLE).await }, check.as_ref());
        }
        let upload = match &self.upload {
            Some(upload) => upload.clone(),
            None => {
                let (target, marked, begun) = (self.target.clone(), self.withheld.is_some(), self.target.clone());
                let begin = async move { target.begin(marked).await };
                let undo = |upload: Upload| async move { begun.abort(&upload).await };
                let upload = wait_or_undo(begin, check.as_ref(), undo)?;
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
                self.ask()?;
                let (target, upload) = (self.target.clone(), upload.clone());
                wait(async move { target.complete(&upload, parts).await }, self.check.as_ref())?;
            }
        }
        self.upload = None;
        Ok(())
    }

    /// Removes what has been sent, and does not wait for that for long. There is nobody to tell if it fails; stores drop
    /// such parts when they are told to, or after some days.
    fn give_up(&mut self) {
        let Some(upload) = self.upload.take() else { return };
        let (target, mut parts) = (self.target.clone(), std::mem::take(&mut self.parts));
        tidy_up(async move {
            parts.stop().await;
            target.abort(&upload).await;
        });
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
        let concurrency = self.object.address.options.concurrency;
        let sent = upload.send(&self.uploads, &self.object.key, parts, bytes, self.sizes, concurrency).await;
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

    async fn abort(&self, upload: &Upload) {
        let _ = self.uploads.store.abort_multipart(&self.object.key, &upload.id).await;
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
        self.check()?;
        self.held.extend_from_slice(bytes);
        self.bytes += bytes.len() as u64;
        if self.held.len() < self.target.sizes.of(self.parts.count) { Ok(()) } else { self.send(false) }
    }

    fn finish(&mut self) -> Result<()> {
        self.send(true)
    }
}

impl Drop for ObjectSink {
    fn drop(&mut self) {
        if self.owner.is_here() {
            self.give_up();
        } else {
            // Its connections are those of another process: counted once more, they are never dropped.
            let _ = ManuallyDrop::new((self.target.clone(), std::mem::take(&mut self.parts)));
        }
    }
}

#[cfg(test)]
mod tests;
