//! Requests for single objects.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use object_store::path::Path;
use object_store::{Attributes, GetOptions, ObjectMeta, ObjectStore as _, PutMode, PutOptions, PutPayload};
use orcish_core::{Error, ErrorKind, Result};

use super::address::Address;
use super::error::{is_unsupported, to_error};
use super::store::{MultipartClient, Store};
use super::write_id::WriteId;
use crate::messages::{CANNOT_WRITE, appeared, to_appeared};
use crate::storage::StorageOptions;

/// Maximum number of retries of a conditional request that conflicts with a concurrent one.
const MAX_RETRIES: u32 = 5;

/// Delay before the first retry of a conflicting request. Each further delay is twice as long.
const RETRY_DELAY: Duration = Duration::from_millis(100);

/// Metadata of an object. Unlike a `GetResult`, it does not count as an active request.
pub(super) struct Head {
    pub(super) meta: ObjectMeta,
    pub(super) attributes: Attributes,
}

/// An object of a store, which may not exist yet.
#[derive(Clone)]
pub(super) struct Object {
    pub(super) address: Arc<Address>,
    pub(super) store: Store,
    pub(super) key: Path,
}

impl Object {
    /// An object to be read: of a store, or of an HTTP server.
    pub(super) fn readable(url: &str, options: &StorageOptions) -> Result<Self> {
        let address = Address::try_new(url, options)?;
        let key = address.key()?;
        Self::try_new(address, key)
    }

    /// An object to be written.
    pub(super) fn writable(url: &str, options: &StorageOptions) -> Result<Self> {
        let address = Address::try_new(url, options)?;
        let key = address.writable_key()?;
        Self::try_new(address, key)
    }

    pub(super) fn try_new(address: Address, key: Path) -> Result<Self> {
        Ok(Object { store: Store::connect(&address)?, address: Arc::new(address), key })
    }

    pub(super) fn to_error(&self, message: &str, error: &object_store::Error) -> Error {
        to_error(message, error, &self.address)
    }

    /// The multipart uploads of the store.
    ///
    /// # Errors
    /// `Unsupported` for HTTP servers.
    pub(super) fn multipart(&self) -> Result<MultipartClient> {
        let unsupported = || Error::unsupported("the server takes no files in parts").in_file(&self.address.name);
        self.store.multipart.clone().ok_or_else(unsupported)
    }

    /// The metadata of the object; `None` if it does not exist.
    pub(super) async fn head(&self) -> object_store::Result<Option<Head>> {
        let options = GetOptions { head: true, ..GetOptions::default() };
        match self.store.objects.get_opts(&self.key, options).await {
            Ok(result) => Ok(Some(Head { meta: result.meta, attributes: result.attributes })),
            Err(object_store::Error::NotFound { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Writes the object, and replaces an existing one.
    pub(super) async fn put(&self, bytes: Bytes, message: &str) -> Result<()> {
        let put = self.store.objects.put_opts(&self.key, PutPayload::from_bytes(bytes), PutOptions::default());
        put.await.map(drop).map_err(|error| self.to_error(message, &error))
    }

    /// Writes the object if it does not exist. A store without conditional writes is asked for an existing object
    /// before.
    pub(super) async fn put_new(&self, bytes: Bytes) -> Result<()> {
        match self.put_if_not_exists(bytes.clone(), CANNOT_WRITE).await {
            Err(error) if error.kind() == ErrorKind::Unsupported => {
                self.check_absent().await?;
                self.put(bytes, CANNOT_WRITE).await
            }
            put => put.map_err(to_appeared),
        }
    }

    /// Checks that no object has appeared since the new one was begun.
    pub(super) async fn check_absent(&self) -> Result<()> {
        match self.head().await.map_err(|error| self.to_error(CANNOT_WRITE, &error))? {
            None => Ok(()),
            Some(_) => Err(Error::io(CANNOT_WRITE, appeared()).in_file(&self.address.name)),
        }
    }

    /// Writes the object if it does not exist.
    ///
    /// # Errors
    /// `Io` with the kind `AlreadyExists` if it exists, `Unsupported` if the store has no conditional writes.
    pub(super) async fn put_if_not_exists(&self, bytes: Bytes, message: &str) -> Result<()> {
        let id = WriteId::random();
        let mut attempt = 0;
        loop {
            let attributes = id.to_attributes();
            let options = PutOptions { mode: PutMode::Create, attributes, ..PutOptions::default() };
            let put = self.store.objects.put_opts(&self.key, PutPayload::from_bytes(bytes.clone()), options);
            let Err(error) = put.await else { return Ok(()) };
            if is_unsupported(&error) {
                let text = format!("{message}: the store cannot make a file only where there is none");
                return Err(Error::unsupported(text).in_file(&self.address.name));
            }
            // If the response was lost and the request was retried, the existing object is that of the first attempt.
            let head = self.head().await;
            if head.as_ref().is_ok_and(|head| head.as_ref().is_some_and(|head| id.matches(&head.attributes))) {
                return Ok(());
            }
            match (error, head) {
                // A conflict with a concurrent request, which may fail.
                (object_store::Error::AlreadyExists { .. }, Ok(None)) if attempt < MAX_RETRIES => {
                    tokio::time::sleep(RETRY_DELAY * 2_u32.saturating_pow(attempt)).await;
                    attempt += 1;
                }
                (object_store::Error::AlreadyExists { .. }, _) => {
                    let error = io::Error::new(io::ErrorKind::AlreadyExists, "there is a file of this name");
                    return Err(Error::io(message, error).in_file(&self.address.name));
                }
                (error, _) => return Err(self.to_error(message, &error)),
            }
        }
    }
}

#[cfg(test)]
impl Object {
    /// An object of a store in memory, with at most one concurrent request.
    pub(super) fn in_memory(store: &object_store::memory::InMemory, key: &str) -> Self {
        let address = Address::try_new(&format!("s3://bucket/{key}"), &StorageOptions::default()).unwrap();
        let permits = Arc::new(tokio::sync::Semaphore::new(2));
        let multipart = MultipartClient { store: Arc::new(store.clone()), permits };
        let objects = Arc::new(object_store::limit::LimitStore::new(store.clone(), 1));
        let store = Store {
            objects,
            multipart: Some(multipart),
            #[cfg(feature = "hdfs")]
            hdfs: None,
        };
        Object { key: address.key().unwrap(), address: Arc::new(address), store }
    }
}

#[cfg(test)]
mod tests {
    use object_store::memory::InMemory;

    use super::super::runtime::block_on;
    use super::*;

    #[test]
    fn an_object_is_created_once() {
        let store = InMemory::new();
        let create = |bytes: &'static [u8]| {
            let object = Object::in_memory(&store, "log/1");
            block_on(
                async move { object.put_if_not_exists(Bytes::from_static(bytes), "cannot be written").await },
                None,
            )
        };
        create(b"one").unwrap();
        for bytes in [b"one", b"two"] {
            let error = create(bytes).unwrap_err();
            assert!(error.to_string().starts_with("s3://bucket/log/1: cannot be written: there is"), "{error}");
        }
        let object = Object::in_memory(&store, "log/1");
        let head = block_on(async move { object.head().await.map_err(|error| object.to_error("no", &error)) }, None);
        assert_eq!(head.unwrap().unwrap().meta.size, 3);
    }
}
