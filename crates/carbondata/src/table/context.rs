//! The context of opening a table.

use std::borrow::Cow;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use orcish_core::parallel::map;
use orcish_core::{Error, Limits, Result};
use orcish_io::{StorageOptions, display_name, read_small, stat};

use super::cancellation::OpenCancellation;
use crate::metadata::allowed_locations::AllowedLocations;
use crate::metadata::locations::join;
use crate::metadata::schema::Column;
use crate::metadata::table_storage::TableStorage;
use crate::tuning;

/// What memory is reserved for, in errors.
pub(super) const INDEXES: &str = "indexes";

/// The context of opening a table.
pub(super) struct OpenContext {
    pub(super) root: String,
    pub(super) storage: TableStorage,
    pub(super) limits: Limits,
    pub(super) allowed: AllowedLocations,
    /// Reserved memory of index files and names of delete deltas.
    pub(super) reserved: AtomicU64,
    /// The columns of the last index file. Most index files of a table have the same columns, which their files share.
    last_columns: Mutex<Arc<Vec<Column>>>,
    pub(super) cancellation: OpenCancellation,
}

impl OpenContext {
    /// A table is opened on this thread. `external` are locations outside the table that its metadata may name.
    pub(super) fn new(root: &str, storage: StorageOptions, limits: Limits, external: &[String]) -> Arc<Self> {
        Arc::new(OpenContext {
            root: root.to_owned(),
            allowed: AllowedLocations::new(root, external),
            reserved: AtomicU64::new(0),
            last_columns: Mutex::default(),
            cancellation: OpenCancellation::new(storage.cancellation()),
            storage: TableStorage::new(root, storage),
            limits,
        })
    }

    pub(super) fn read(&self, location: &str) -> Result<bytes::Bytes> {
        read_small(location, self.limits.tail, self.storage_of(location)?.as_ref())
    }

    /// The options for a file or folder that the metadata names, if it may be read.
    pub(super) fn storage_of(&self, location: &str) -> Result<Cow<'_, StorageOptions>> {
        self.allowed.check(location).map_err(|error| error.in_file(&display_name(&self.root)))?;
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
        if before.saturating_add(bytes) > limit {
            Err(Error::over("memory", format!("{what} of more than the {limit} bytes that are allowed")))
        } else {
            Ok(())
        }
    }

    /// The columns of an index file, which it shares with the index file before it if they are equal. Columns that are not
    /// shared are reserved.
    ///
    /// # Errors
    /// `LimitExceeded` where the indexes take too much memory.
    pub(super) fn shared_columns(&self, columns: Arc<Vec<Column>>) -> Result<Arc<Vec<Column>>> {
        let mut last = self.last_columns.lock().unwrap_or_else(PoisonError::into_inner);
        if !Arc::ptr_eq(&last, &columns) && *last != columns {
            self.reserve(columns.iter().map(Column::memory_size).sum(), INDEXES)?;
            *last = columns;
        }
        Ok(last.clone())
    }

    pub(super) fn exists(&self, location: &str) -> Result<bool> {
        Ok(stat(location, self.storage_of(location)?.as_ref())?.is_some())
    }

    /// Reads and parses a file. Errors name the file.
    pub(super) fn parse<T>(&self, location: &str, parse: impl FnOnce(&[u8]) -> Result<T>) -> Result<T> {
        parse(&self.read(location)?).map_err(|error| error.in_file(location))
    }

    pub(super) fn metadata(&self, name: &str) -> String {
        join(&join(&self.root, "Metadata"), name)
    }

    /// Maps all items, in order. In stores, several items are processed at a time.
    pub(super) fn map<T: Send + 'static, R: Send + 'static>(
        self: &Arc<Self>,
        items: Vec<T>,
        task: impl Fn(&Arc<Self>, T) -> Result<R> + Send + Sync + 'static,
    ) -> Result<Vec<R>> {
        let is_far = self.root.contains("://") && !self.root.starts_with("file:");
        let threads = if is_far { tuning::METADATA_READERS.get() } else { 1 };
        let context = self.clone();
        map(items, threads, Some(self.cancellation.check()), move |_, item| {
            context.cancellation.poll()?;
            task(&context, item)
        })
    }
}
