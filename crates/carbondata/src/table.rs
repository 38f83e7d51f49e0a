//! Tables: segments, data files, columns and deleted rows.

mod columns;
mod context;
mod file_entry;
mod folder;
mod indexed_files;
mod open;
mod segment;
mod segment_files;
mod state;
#[cfg(test)]
mod tests;
mod transactional;
mod updates;
mod watch;

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use arrow_schema::SchemaRef;
use context::Place;
use orcish_core::{Limits, Result};
use orcish_io::{StorageOptions, list_folder, stat};
use state::Inner;
use transactional::SCHEMA;
use watch::Watch;

pub(crate) use file_entry::{FileEntry, FileFormat};
pub use segment::Segment;

use crate::metadata::allowed_locations::Places;
use crate::metadata::delete_delta::read_deletes;
use crate::metadata::file_names::DATA;
use crate::metadata::locations::join;
use crate::metadata::schema::Column;
use crate::metadata::table_storage::TableStorage;

/// Whether a location, which is no pattern, looks like a CarbonData table: a folder with `Metadata/schema`, a folder that holds
/// `.carbondata` files, directly or in folders below, or such a file.
///
/// # Errors
/// Of kind `Io` where there is nothing at the location, or it cannot be listed.
pub fn is_table(location: &str, storage: &StorageOptions) -> Result<bool> {
    if location.ends_with(DATA) || stat(&join(location, SCHEMA), storage)?.is_some() {
        return Ok(true);
    }
    Ok(list_folder(location, storage)?.iter().any(|(file, _)| file.ends_with(DATA)))
}

/// A table: its columns, its segments, and the files that are live. It is what it was when it was opened.
#[derive(Clone, Debug)]
pub struct Table(Arc<Inner>);

impl Table {
    /// Opens a table: the folder of one, a folder of `.carbondata` files without metadata, or one such file.
    ///
    /// # Errors
    /// Of kind `Io` where something cannot be read, `InvalidArgument` where there is no table, `Corrupt` where its
    /// metadata is broken, `LimitExceeded` where that is larger than allowed, `Unsupported` where it names files outside
    /// of its folder.
    pub fn open(location: &str, storage: &StorageOptions, limits: &Limits) -> Result<Self> {
        Self::open_with_external(location, storage, limits, &[])
    }

    /// Opens a table whose segments and partitions may be at, or below, `external` paths and URLs too. Others that it
    /// names outside of its own folder are refused. Headers of `storage` are sent to the host of the table alone.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn open_with_external(
        location: &str,
        storage: &StorageOptions,
        limits: &Limits,
        external: &[String],
    ) -> Result<Self> {
        let root = if location.len() > 1 { location.trim_end_matches('/') } else { location };
        let (places, storage) = (&Places::new(root, external), &TableStorage::new(root, storage.clone()));
        let (held, watch) = (&AtomicU64::new(0), &Watch::new(storage.of_table().patience()));
        Ok(Table(Arc::new(Place { root, storage, limits, places, held, watch }.open()?)))
    }

    /// Where it is.
    pub fn location(&self) -> &str {
        &self.0.location
    }

    /// Its columns, in the order that its users know, without dropped ones.
    pub fn schema(&self) -> SchemaRef {
        Arc::clone(&self.0.schema)
    }

    /// What it was created with; keys are lower case mostly.
    pub fn properties(&self) -> &BTreeMap<String, String> {
        &self.0.properties
    }

    /// All segments, also those that are not read; none of tables without metadata.
    pub fn segments(&self) -> &[Segment] {
        &self.0.segments
    }

    /// Locations of the files whose rows are the table's.
    pub fn files(&self) -> Vec<String> {
        self.0.files.iter().map(|file| file.location.clone()).collect()
    }

    /// Rows without deleted ones, by the index; none where the files alone know. Delete deltas are read.
    ///
    /// # Errors
    /// Those of reading delete deltas.
    pub fn rows(&self) -> Result<Option<u64>> {
        let mut all = 0u64;
        let mut patience = self.0.storage.of_table().patience();
        // Delete deltas that files share are read once.
        let mut known: HashMap<*const String, u64> = HashMap::new();
        for file in &self.0.files {
            patience.look()?;
            let Some(rows) = file.rows else { return Ok(None) };
            let deleted = match known.get(&file.deletes.as_ptr()).filter(|_| !file.deletes.is_empty()) {
                Some(deleted) => *deleted,
                None => {
                    let storage = self.0.storage.of(&file.location);
                    let deletes = read_deletes(&file.deletes, &storage, &self.0.limits)?;
                    let deleted = u64::try_from(deletes.values().map(Vec::len).sum::<usize>()).unwrap_or(u64::MAX);
                    known.insert(file.deletes.as_ptr(), deleted);
                    deleted
                }
            };
            all = all.saturating_add(rows.saturating_sub(deleted));
        }
        Ok(Some(all))
    }

    /// Columns that rows of a file are sorted by.
    pub fn sort_columns(&self) -> Vec<String> {
        self.0.sort_columns.clone()
    }

    /// Columns whose values are names of folders.
    pub fn partition_columns(&self) -> Vec<String> {
        self.0.partition_columns.clone()
    }

    /// Whether it has metadata of its own, and is no mere folder of files.
    pub fn is_transactional(&self) -> bool {
        self.0.is_transactional
    }

    pub(crate) fn columns(&self) -> &[Column] {
        &self.0.columns
    }

    pub(crate) fn data_files(&self) -> &[Arc<FileEntry>] {
        &self.0.files
    }

    pub(crate) fn storage(&self) -> &TableStorage {
        &self.0.storage
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.0.limits
    }
}
