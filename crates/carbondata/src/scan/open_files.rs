//! Data files that are open while their tasks are read.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use orcish_core::Result;
use orcish_io::open;

use super::column_mapping::{ColumnMapping, map_columns};
use super::snapshot::TableSnapshot;
use crate::file::DataFile;
use crate::metadata::delete_delta::{Deletes, read_deletes};
use crate::page::{self, Dictionaries};
use crate::table::FileEntry;

/// An open data file, with its column mappings and deleted rows.
pub(super) struct OpenFile {
    pub(super) file: DataFile,
    /// The mapping of each column of the table.
    pub(super) mappings: Vec<ColumnMapping>,
    pub(super) deletes: Deletes,
}

/// The file, set by the first thread that opens it.
type Slot = Arc<OnceLock<Result<Arc<OpenFile>>>>;

/// The open columnar files of a scan.
#[derive(Default)]
pub(super) struct OpenFiles {
    /// By index in the table. Each file is opened once.
    files: Mutex<HashMap<usize, Slot>>,
    /// The global dictionaries of the table.
    dictionaries: OnceLock<Dictionaries>,
}

impl OpenFiles {
    fn lock(&self) -> MutexGuard<'_, HashMap<usize, Slot>> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The file with an index in the table.
    pub(super) fn get(&self, snapshot: &TableSnapshot, at: usize) -> Result<Arc<OpenFile>> {
        let slot = self.lock().entry(at).or_default().clone();
        slot.get_or_init(|| snapshot.file(at).and_then(|entry| self.open(snapshot, entry)).map(Arc::new)).clone()
    }

    /// The global dictionaries of the table, each of which is read when it is needed.
    pub(super) fn dictionaries(&self, snapshot: &TableSnapshot, entry: &FileEntry) -> Dictionaries {
        let make = || {
            page::global_dictionaries(&entry.dictionaries, &snapshot.storage.of(&entry.dictionaries), snapshot.limits())
        };
        self.dictionaries.get_or_init(make).clone()
    }

    /// Closes a file.
    pub(super) fn close(&self, at: usize) {
        self.lock().remove(&at);
    }

    pub(super) fn open(&self, snapshot: &TableSnapshot, entry: &FileEntry) -> Result<OpenFile> {
        let limits = snapshot.limits();
        let storage = snapshot.storage.of(&entry.location);
        let source = open(&entry.location, &storage)?;
        if let Some(version) = &entry.split_version {
            source.expect_version(version)?;
        }
        let file = DataFile::open(source, limits)?;
        // A split names some of the blocklets, and has no number of rows of the file.
        if let Some(rows) = entry.rows {
            file.check_index(rows, entry.blocklets.as_deref())?;
        }
        let in_file = |error: orcish_core::Error| error.in_file(&orcish_io::display_name(&entry.location));
        let mappings = map_columns(&snapshot.columns, file.columns(), snapshot.is_transactional).map_err(in_file)?;
        let file = file.with_dictionaries(self.dictionaries(snapshot, entry));
        let deletes = read_deletes(&entry.deletes, &storage, limits)?;
        Ok(OpenFile { file, mappings, deletes })
    }
}
