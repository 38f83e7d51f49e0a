//! Rows that a stream has written, blocklet by blocklet.

use arrow_array::RecordBatch;
use orcish_core::{Error, Result};

use super::evolve::{Way, repeat, stored, ways};
use super::part::{batch, filtered};
use super::parts::known_of;
use super::proof::BLOCKLET_INDEX;
use super::{Source, What};
use crate::metadata::bounds::known;
use crate::page::Dictionaries;
use crate::stream::{Blocklets, StreamFile};
use crate::table::FileEntry;

/// Blocklets of a file that a stream has written.
pub(super) struct Stream {
    file: StreamFile,
    blocklets: Blocklets,
    ways: Vec<Way>,
    /// Places in the file of the columns that are read, ascending.
    has: Vec<usize>,
}

impl Stream {
    pub(super) fn open(of: &Source, what: &What, entry: &FileEntry, dictionaries: Dictionaries) -> Result<Self> {
        let source = orcish_io::open(&entry.location, &of.storage.of(&entry.location))?;
        let size = entry.size.ok_or_else(|| Error::invalid("a stream of which nothing is known to be committed"))?;
        let file = StreamFile::open(source, size, of.limits())?.with_dictionaries(dictionaries);
        let ways = ways(&of.columns, file.columns(), of.is_transactional)?;
        let has = stored(&ways, what.needed());
        Ok(Stream { blocklets: file.blocklets(), file, ways, has })
    }

    /// Wanted rows of the next blocklet, which may be none; none behind the last.
    pub(super) fn next(&mut self, of: &Source, what: &What) -> Result<Option<RecordBatch>> {
        let Some(blocklet) = self.blocklets.next().transpose()? else { return Ok(None) };
        let rows = blocklet.rows();
        if let Some(filter) = &what.filter {
            let stored = |at: usize| {
                Some(known(blocklet.min_max()?, self.file.bounds_of(at)?, self.file.columns().get(at)?, false))
            };
            let mut known = |way: &[usize]| Ok(known_of(way, &self.ways, &stored));
            let count = u64::try_from(rows).unwrap_or(u64::MAX);
            if filter.judge(&mut known, count, BLOCKLET_INDEX)?.is_skipped() {
                return batch(what, Vec::new(), 0).map(Some);
            }
        }
        let arrays = self.file.decode(&blocklet, &self.has)?;
        let column = |at: usize| {
            let missing = || Error::invalid(format!("no column {at}"));
            let kind = of.columns.get(at).ok_or_else(missing)?.data_type();
            match self.ways.get(at).ok_or_else(missing)? {
                Way::Constant(value) => repeat(value, rows, of.limits().memory),
                Way::Stored(place, adapt) => {
                    let array = self.has.binary_search(place).ok().and_then(|at| arrays.get(at)).ok_or_else(missing)?;
                    adapt.apply(array, &kind, of.limits().memory)
                }
            }
        };
        filtered(what, rows, &column).map(Some)
    }
}
