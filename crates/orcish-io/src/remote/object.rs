//! One file of a store, and requests for the whole of it.

use std::sync::Arc;

use bytes::Bytes;
use object_store::path::Path;
use object_store::{Attributes, GetOptions, ObjectMeta, ObjectStore as _, PutMode, PutOptions, PutPayload};
use orcish_core::{Error, Result};

use super::fault::{fault, has_status};
use super::mark::Mark;
use super::store::{Address, Store};
use crate::StorageOptions;

/// How often a conditional request is made again that others got in the way of.
const ATTEMPTS: u32 = 5;
/// How long is waited before that, at first.
const PAUSE: std::time::Duration = std::time::Duration::from_millis(100);

/// What is known of a file; an answer of the store would count as a request until it is dropped.
pub(super) struct Head {
    pub(super) meta: ObjectMeta,
    pub(super) attributes: Attributes,
}

/// A file that is or is to be in a store.
#[derive(Clone)]
pub(super) struct Object {
    pub(super) address: Arc<Address>,
    pub(super) store: Store,
    pub(super) key: Path,
}

impl Object {
    /// A file of a store, or of a HTTP server.
    pub(super) fn at(url: &str, options: &StorageOptions) -> Result<Self> {
        let address = Address::new(url, options)?;
        let key = address.key()?;
        if key.as_ref().is_empty() {
            return Err(Error::invalid("the URL names no file").in_file(&address.name));
        }
        Ok(Object { store: address.store()?, address: Arc::new(address), key })
    }

    /// A file of a store that may be written.
    pub(super) fn writable(url: &str, options: &StorageOptions) -> Result<Self> {
        Self::new(Address::new(url, options)?)
    }

    pub(super) fn new(address: Address) -> Result<Self> {
        let key = address.writable_key()?;
        Ok(Object { store: address.store()?, address: Arc::new(address), key })
    }

    pub(super) fn fault(&self, what: &str, error: &object_store::Error) -> Error {
        fault(what, error, &self.address)
    }

    /// What is known of the file; `None` where there is none.
    pub(super) async fn head(&self) -> object_store::Result<Option<Head>> {
        let options = GetOptions { head: true, ..GetOptions::default() };
        match self.store.objects.get_opts(&self.key, options).await {
            Ok(found) => Ok(Some(Head { meta: found.meta, attributes: found.attributes })),
            Err(object_store::Error::NotFound { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Puts the file there, in place of what is there.
    pub(super) async fn replace(&self, bytes: Bytes, what: &str) -> Result<()> {
        let put = self.store.objects.put_opts(&self.key, PutPayload::from_bytes(bytes), PutOptions::default());
        put.await.map(drop).map_err(|error| self.fault(what, &error))
    }

    /// Puts the file there, where there is none; the system's `AlreadyExists` where there is one.
    pub(super) async fn create(&self, bytes: Bytes, what: &str) -> Result<()> {
        let mark = Mark::new();
        let mut attempt = 0;
        loop {
            let options = PutOptions { mode: PutMode::Create, attributes: mark.attributes(), ..PutOptions::default() };
            let put = self.store.objects.put_opts(&self.key, PutPayload::from_bytes(bytes.clone()), options);
            let Err(error) = put.await else { return Ok(()) };
            if cannot(&error) {
                return Err(self.no_conditions(what));
            }
            // The answer to a request may be lost, which is made again then, and finds its own file.
            let there = self.head().await;
            if there.as_ref().is_ok_and(|there| there.as_ref().is_some_and(|there| mark.is_in(&there.attributes))) {
                return Ok(());
            }
            match (error, there) {
                // Another request is under way, which may come to nothing.
                (object_store::Error::AlreadyExists { .. }, Ok(None)) if attempt < ATTEMPTS => {
                    pause(&mut attempt).await
                }
                (object_store::Error::AlreadyExists { .. }, _) => return Err(self.exists(what)),
                (error, _) => return Err(self.fault(what, &error)),
            }
        }
    }

    /// The error where there is a file that is not to be replaced.
    pub(super) fn exists(&self, what: &str) -> Error {
        let error = std::io::Error::new(std::io::ErrorKind::AlreadyExists, "there is a file of this name");
        Error::io(what, error).in_file(&self.address.name)
    }

    /// The error where a store cannot leave alone what is there.
    pub(super) fn no_conditions(&self, what: &str) -> Error {
        let text = format!("{what}: the store cannot make a file only where there is none");
        Error::unsupported(text).in_file(&self.address.name)
    }
}

#[cfg(test)]
impl Object {
    /// A file of a store in memory.
    pub(super) fn in_memory(store: &object_store::memory::InMemory, key: &str) -> Self {
        let address = Address::new(&format!("s3://bucket/{key}"), &StorageOptions::default()).unwrap();
        let uploads =
            super::store::Uploads { store: Arc::new(store.clone()), permits: Arc::new(tokio::sync::Semaphore::new(2)) };
        let store =
            Store { objects: Arc::new(object_store::limit::LimitStore::new(store.clone(), 1)), uploads: Some(uploads) };
        Object { key: address.key().unwrap(), address: Arc::new(address), store }
    }
}

/// Whether a store cannot do what it was asked for.
pub(super) fn cannot(error: &object_store::Error) -> bool {
    let is_known =
        matches!(error, object_store::Error::NotSupported { .. } | object_store::Error::NotImplemented { .. });
    is_known || has_status(error, "501")
}

/// Waits before something is tried again, longer each time.
pub(super) async fn pause(attempt: &mut u32) {
    tokio::time::sleep(PAUSE * 2_u32.saturating_pow(*attempt)).await;
    *attempt += 1;
}

#[cfg(test)]
mod tests {
    use object_store::memory::InMemory;

    use super::super::process::wait;
    use super::*;

    #[test]
    fn a_file_is_made_once() {
        let store = InMemory::new();
        let made = |bytes: &'static [u8]| {
            let object = Object::in_memory(&store, "log/1");
            wait(async move { object.create(Bytes::from_static(bytes), "cannot be written").await }, None)
        };
        made(b"one").unwrap();
        for bytes in [b"one", b"two"] {
            let error = made(bytes).unwrap_err();
            assert!(error.to_string().starts_with("s3://bucket/log/1: cannot be written: there is"), "{error}");
        }
        let object = Object::in_memory(&store, "log/1");
        let head = wait(async move { object.head().await.map_err(|error| object.fault("no", &error)) }, None);
        assert_eq!(head.unwrap().unwrap().meta.size, 3);
    }
}
