//! Tables: which segments, files, blocklets and columns there are, and what was deleted of them.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use arrow_schema::SchemaRef;
use open::Place;
use orcish_core::{Limits, Result};
use orcish_io::{StorageOptions, list_folder, stat};
use watch::Watch;

use crate::metadata::deletes::read_deletes;
use crate::metadata::format::MinMax;
use crate::metadata::index::IndexedBlocklet;
use crate::metadata::names::DATA;
use crate::metadata::places::{Places, TableStorage};
use crate::metadata::schema::Column;
use crate::metadata::segments::join;

mod open;
#[cfg(test)]
mod tests;
mod updates;
mod watch;

/// Where a table's schema is.
const SCHEMA: &str = "Metadata/schema";

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

/// A segment: what one load, or one compaction, has added to a table.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Segment {
    /// Its name in the table, such as `3`, or `0.1` of a compaction.
    pub id: String,
    /// Its state as the table has it, such as `Success`, `Compacted` or `Marked for Delete`.
    pub state: String,
    /// Whether its rows are rows of the table.
    pub is_readable: bool,
    /// What its files are: `columnar_v3`, `row_v1` of streams, or the name of another format that was added.
    pub format: String,
    /// When it was begun, in milliseconds since 1970; tables before 1.3 do not say it in that way.
    pub started: Option<i64>,
    /// When it was finished, likewise.
    pub ended: Option<i64>,
    /// The segment that it was merged into.
    pub merged_into: Option<String>,
    /// When it was deleted or otherwise changed, in milliseconds since 1970.
    pub modified: Option<i64>,
    /// Rows without deleted ones, where the index knows; none for segments that are not read.
    pub rows: Option<u64>,
    /// Rows that the table says were deleted of the files that are read.
    pub deleted_rows: Option<u64>,
    /// Bytes of data files, as the table has it.
    pub data_bytes: Option<u64>,
    /// Bytes of index files, as the table has it.
    pub index_bytes: Option<u64>,
    /// Files that are read.
    pub files: usize,
}

/// What a file is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum FileFormat {
    /// One of blocklets, of any version.
    Columnar,
    /// One of rows, that a stream adds to.
    Stream,
    Orc,
    /// A format that is read by others; the entry stands for the whole segment.
    Foreign(String),
}

/// A file whose rows are rows of the table.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct FileEntry {
    pub(crate) location: String,
    /// Its segment, as an index into those of the table.
    pub(crate) segment: Option<usize>,
    pub(crate) format: FileFormat,
    /// Bytes that count; of streams those that are committed.
    pub(crate) size: Option<u64>,
    /// Rows, with deleted ones.
    pub(crate) rows: Option<u64>,
    /// None where the file alone knows.
    pub(crate) blocklets: Option<Vec<IndexedBlocklet>>,
    /// Bounds of the whole file, where the index has no blocklets.
    pub(crate) file_min_max: Option<MinMax>,
    /// The columns that the index has: what bounds are in the order of.
    pub(crate) index_columns: Option<Arc<Vec<Column>>>,
    pub(crate) version: Option<i32>,
    /// Delete deltas that count, which files of one block share.
    pub(crate) deletes: Arc<[String]>,
    /// The folder of the table's dictionaries.
    pub(crate) dictionaries: String,
    /// Values that are in the path alone: those of other formats.
    pub(crate) partition: Vec<(String, Option<String>)>,
}

/// A table: its columns, its segments, and the files that are live. It is what it was when it was opened.
#[derive(Clone, Debug)]
pub struct Table(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    location: String,
    storage: TableStorage,
    limits: Limits,
    is_transactional: bool,
    columns: Vec<Column>,
    schema: SchemaRef,
    sort_columns: Vec<String>,
    partition_columns: Vec<String>,
    properties: BTreeMap<String, String>,
    segments: Vec<Segment>,
    files: Vec<Arc<FileEntry>>,
}

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
