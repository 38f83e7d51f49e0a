//! Tables: segments, data files, columns and delete deltas.

mod cancellation;
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

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::sync::Arc;

use arrow_schema::SchemaRef;
use context::OpenContext;
use orcish_core::{Limits, Result};
use orcish_io::{Location, StorageOptions, list_folder, stat};
use state::TableState;
use transactional::SCHEMA;

pub(crate) use file_entry::{FileEntry, FileFormat};
pub use segment::Segment;

use crate::metadata::delete_delta::read_deletes;
use crate::metadata::file_names::DATA_FILE_SUFFIX;
use crate::metadata::locations::join;
use crate::metadata::schema::Column;
use crate::metadata::table_storage::TableStorage;

/// Whether a location looks like a table: a folder with `Metadata/schema`, a folder with `.carbondata` files at any
/// depth, or a `.carbondata` file. The location must not be a glob pattern.
///
/// # Errors
/// `Io` where the location does not exist or cannot be listed.
pub fn is_table(location: &str, storage: &StorageOptions) -> Result<bool> {
    if location.ends_with(DATA_FILE_SUFFIX) || stat(&join(location, SCHEMA), storage)?.is_some() {
        return Ok(true);
    }
    Ok(list_folder(location, storage)?.iter().any(|(file, _)| file.ends_with(DATA_FILE_SUFFIX)))
}

/// Whether a location is that of a table with metadata, or of a data file, as far as can be told without a listing. A store
/// is asked for the metadata only where the name looks like a folder. A folder without metadata is known by its files, see
/// [`is_file_of_table`].
///
/// # Errors
/// `Io` where a store cannot be asked.
pub fn has_metadata(location: &Location, storage: &StorageOptions) -> Result<bool> {
    let path = location.as_os_str().to_string_lossy();
    if is_data_file(location) {
        return Ok(true);
    }
    if let Some(folder) = location.local_path() {
        return Ok(folder.join(SCHEMA).is_file());
    }
    let is_folder = path.ends_with('/') || !path.rsplit('/').next().is_some_and(|name| name.contains('.'));
    if !is_folder || location.is_http() || location.is_foreign() || location.is_pattern() {
        return Ok(false);
    }
    match stat(&join(path.trim_end_matches('/'), SCHEMA), storage) {
        // Stores without the right to list report missing files as forbidden.
        Err(error) if error.io_kind() == Some(io::ErrorKind::PermissionDenied) => Ok(false),
        found => Ok(found?.is_some()),
    }
}

/// Whether a location is that of a data file, by its name.
pub fn is_data_file(location: &Location) -> bool {
    location.as_os_str().to_string_lossy().ends_with(DATA_FILE_SUFFIX) && !location.is_pattern()
}

/// Whether a file of a folder is one of a table: a data file, or the schema in the metadata.
///
/// ```
/// assert!(carbondata::is_file_of_table("/t/Fact/part-0.carbondata") && carbondata::is_file_of_table("/t/Metadata/schema"));
/// ```
pub fn is_file_of_table(location: &str) -> bool {
    location.ends_with(DATA_FILE_SUFFIX) || location.strip_suffix(SCHEMA).is_some_and(|folder| folder.ends_with('/'))
}

/// A table: its columns, segments and data files.
///
/// A table is a snapshot: later loads, updates and deletes do not change it.
///
/// ```no_run
/// use carbondata::Table;
///
/// let table = Table::open("/warehouse/sales", &Default::default(), &Default::default())?;
/// for segment in table.segments() {
///    println!("segment {}: {}, {:?} rows", segment.id, segment.state, segment.rows);
/// }
/// # Ok::<(), orcish_core::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Table(Arc<TableState>);

impl Table {
    /// Opens a table: the folder of a table, a folder of `.carbondata` files without metadata, or a single file.
    ///
    /// The schema, the table status and the index files are read. Data files are not opened, except one file where
    /// there is no schema.
    ///
    /// # Errors
    /// `Io` where a file cannot be read, `InvalidArgument` where there is no table, `Corrupt` for invalid metadata,
    /// `LimitExceeded` for metadata that is larger than `limits`, `Unsupported` where the metadata names files outside
    /// of the table's folder.
    pub fn open(location: &str, storage: &StorageOptions, limits: &Limits) -> Result<Self> {
        Self::open_with_external(location, storage, limits, &[])
    }

    /// Opens a table whose segments and partitions may also be at or below the `external` paths and URLs.
    ///
    /// Other locations outside of the table's folder are refused. The headers of `storage` are sent to the host of the
    /// table only.
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
        Ok(Table(Arc::new(OpenContext::new(root, storage.clone(), limits.clone(), external).open()?)))
    }

    /// Location of the table.
    pub fn location(&self) -> &str {
        &self.0.location
    }

    /// The visible columns, in the order of the schema. Dropped columns are left out.
    pub fn schema(&self) -> SchemaRef {
        Arc::clone(&self.0.schema)
    }

    /// Table properties. Most keys are lower case.
    pub fn properties(&self) -> &BTreeMap<String, String> {
        &self.0.properties
    }

    /// All segments of the table status, also those that are not read. Empty for tables without metadata.
    pub fn segments(&self) -> &[Segment] {
        &self.0.segments
    }

    /// Locations of the live data files.
    pub fn files(&self) -> Vec<String> {
        self.0.files.iter().map(|file| file.location.clone()).collect()
    }

    /// Number of rows without deleted rows, from index files and delete deltas; `None` where a file has no index.
    ///
    /// # Errors
    /// Those of reading delete deltas.
    pub fn num_rows(&self) -> Result<Option<u64>> {
        let mut all = 0u64;
        let mut cancellation = self.0.storage.of_table().cancellation();
        // Files of one block share their delete deltas, which are read once.
        let mut known: HashMap<*const String, u64> = HashMap::new();
        for file in &self.0.files {
            cancellation.poll()?;
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

    /// The `sort_columns` of the table.
    pub fn sort_columns(&self) -> Vec<String> {
        self.0.sort_columns.clone()
    }

    /// Hive partition columns.
    pub fn partition_columns(&self) -> Vec<String> {
        self.0.partition_columns.clone()
    }

    /// Whether the table has metadata (a transactional table), as opposed to a folder of data files.
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
