//! Data files that are open while their parts are read.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use orcish_core::Result;
use orcish_io::open;

use super::Source;
use super::evolve::{Way, ways};
use crate::file::DataFile;
use crate::metadata::deletes::{Deletes, read_deletes};
use crate::page::{Dictionaries, dictionary};
use crate::table::FileEntry;

/// A data file, and how the columns of the table come from it.
pub(super) struct Opened {
    pub(super) file: DataFile,
    /// Of all columns of the table.
    pub(super) ways: Vec<Way>,
    pub(super) deletes: Deletes,
}

/// A file that somebody opens, or has.
type Slot = Arc<OnceLock<Result<Arc<Opened>>>>;

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
    pub(super) fn get(&self, of: &Source, at: usize) -> Result<Arc<Opened>> {
        let slot = self.lock().entry(at).or_default().clone();
        slot.get_or_init(|| of.file(at).and_then(|entry| self.open(of, entry)).map(Arc::new)).clone()
    }

    /// The dictionaries of the table, none of which is read before it is needed.
    pub(super) fn dictionaries(&self, of: &Source, entry: &FileEntry) -> Dictionaries {
        let make = || dictionary::of_table(&entry.dictionaries, &of.storage.of(&entry.dictionaries), of.limits());
        self.dictionaries.get_or_init(make).clone()
    }

    /// Forgets a file of which no more is read.
    pub(super) fn close(&self, at: usize) {
        self.lock().remove(&at);
    }

    pub(super) fn open(&self, of: &Source, entry: &FileEntry) -> Result<Opened> {
        let limits = of.limits();
        let storage = of.storage.of(&entry.location);
        let file = DataFile::open(open(&entry.location, &storage)?, limits)?;
        let in_file = |error: orcish_core::Error| error.in_file(&orcish_io::display_name(&entry.location));
        let ways = ways(&of.columns, file.columns(), of.is_transactional).map_err(in_file)?;
        let file = file.with_dictionaries(self.dictionaries(of, entry));
        let deletes = read_deletes(&entry.deletes, &storage, limits)?;
        Ok(Opened { file, ways, deletes })
    }
}
