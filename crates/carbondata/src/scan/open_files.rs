//! Data files that are open while their parts are read.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use orcish_core::Result;
use orcish_io::open;

use super::column_mapping::{ColumnMapping, mappings};
use super::snapshot::TableSnapshot;
use crate::file::DataFile;
use crate::metadata::delete_delta::{Deletes, read_deletes};
use crate::page::{self, Dictionaries};
use crate::table::FileEntry;

/// A data file, and how the columns of the table come from it.
pub(super) struct OpenFile {
    pub(super) file: DataFile,
    /// Of all columns of the table.
    pub(super) mappings: Vec<ColumnMapping>,
    pub(super) deletes: Deletes,
}

/// A file that somebody opens, or has.
type Slot = Arc<OnceLock<Result<Arc<OpenFile>>>>;

/// The columnar files that are open.
#[derive(Default)]
pub(super) struct OpenFiles {
    /// By their indexes; each is opened once, by whoever comes first.
    files: Mutex<HashMap<usize, Slot>>,
    /// What files of the table share.
    dictionaries: OnceLock<Dictionaries>,
}

impl OpenFiles {
    fn lock(&self) -> MutexGuard<'_, HashMap<usize, Slot>> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The file at an index of the table.
    pub(super) fn get(&self, snapshot: &TableSnapshot, at: usize) -> Result<Arc<OpenFile>> {
        let slot = self.lock().entry(at).or_default().clone();
        slot.get_or_init(|| snapshot.file(at).and_then(|entry| self.open(snapshot, entry)).map(Arc::new)).clone()
    }

    /// The dictionaries of the table, none of which is read before it is needed.
    pub(super) fn dictionaries(&self, snapshot: &TableSnapshot, entry: &FileEntry) -> Dictionaries {
        let make = || {
            page::global_dictionaries(&entry.dictionaries, &snapshot.storage.of(&entry.dictionaries), snapshot.limits())
        };
        self.dictionaries.get_or_init(make).clone()
    }

    /// Forgets a file of which no more is read.
    pub(super) fn close(&self, at: usize) {
        self.lock().remove(&at);
    }

    pub(super) fn open(&self, snapshot: &TableSnapshot, entry: &FileEntry) -> Result<OpenFile> {
        let limits = snapshot.limits();
        let storage = snapshot.storage.of(&entry.location);
        let file = DataFile::open(open(&entry.location, &storage)?, limits)?;
        let in_file = |error: orcish_core::Error| error.in_file(&orcish_io::display_name(&entry.location));
        let mappings = mappings(&snapshot.columns, file.columns(), snapshot.is_transactional).map_err(in_file)?;
        let file = file.with_dictionaries(self.dictionaries(snapshot, entry));
        let deletes = read_deletes(&entry.deletes, &storage, limits)?;
        Ok(OpenFile { file, mappings, deletes })
    }
}
