//! The context of opening a table.

use std::borrow::Cow;
use std::sync::atomic::{AtomicU64, Ordering};

use orcish_core::{Error, Limits, Result};
use orcish_io::{StorageOptions, display_name, read_small, stat};

use super::cancellation::SharedCancellation;
use crate::metadata::allowed_locations::AllowedLocations;
use crate::metadata::locations::join;
use crate::metadata::table_storage::TableStorage;
use crate::tuning;

/// The context of opening a table.
#[derive(Clone, Copy)]
pub(super) struct OpenContext<'a> {
    pub(super) root: &'a str,
    pub(super) storage: &'a TableStorage,
    pub(super) limits: &'a Limits,
    pub(super) allowed: &'a AllowedLocations,
    /// Reserved memory of index files and names of delete deltas.
    pub(super) reserved: &'a AtomicU64,
    pub(super) cancellation: &'a SharedCancellation,
}

impl OpenContext<'_> {
    pub(super) fn read(&self, location: &str) -> Result<bytes::Bytes> {
        read_small(location, self.limits.tail, self.storage_of(location)?.as_ref())
    }

    /// The options for a file or folder that the metadata names, if it may be read.
    pub(super) fn storage_of(&self, location: &str) -> Result<Cow<'_, StorageOptions>> {
        self.allowed.check(location).map_err(|error| error.in_file(&display_name(self.root)))?;
        Ok(self.storage.of(location))
    }

    /// Reserves memory.
    ///
    /// # Errors
    /// `LimitExceeded`, which names `what`, where the sum exceeds the limit.
    pub(super) fn reserve(&self, bytes: usize, what: &str) -> Result<()> {
        let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
        let before = self.reserved.fetch_add(bytes, Ordering::Relaxed);
        let limit = self.limits.memory;
        match before.saturating_add(bytes) > limit {
            true => Err(Error::over("memory", format!("{what} of more than the {limit} bytes that are allowed"))),
            false => Ok(()),
        }
    }

    pub(super) fn exists(&self, location: &str) -> Result<bool> {
        Ok(stat(location, self.storage_of(location)?.as_ref())?.is_some())
    }

    /// Reads and parses a file. Errors name the file.
    pub(super) fn parse<T>(&self, location: &str, parse: impl FnOnce(&[u8]) -> Result<T>) -> Result<T> {
        parse(&self.read(location)?).map_err(|error| error.in_file(location))
    }

    pub(super) fn metadata(&self, name: &str) -> String {
        join(&join(self.root, "Metadata"), name)
    }

    /// Maps all items, in order. In stores, several items are processed at a time.
    pub(super) fn map<T: Sync, R: Send>(self, all: &[T], work: impl Fn(&T) -> Result<R> + Sync) -> Result<Vec<R>> {
        let is_far = self.root.contains("://") && !self.root.starts_with("file:");
        let threads = if is_far { tuning::METADATA_READERS.get().min(all.len()) } else { 1 };
        self.cancellation.map(threads, all, work)
    }
}
