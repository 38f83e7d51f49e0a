//! Reader of streaming files, blocklet by blocklet.

use arrow_array::RecordBatch;
use orcish_core::{Error, Result};

use super::batch::{batch, filtered};
use super::column_mapping::{ColumnMapping, mappings, repeat, stored};
use super::config::ScanConfig;
use super::pruning::{BLOCKLET_INDEX, table_column_bounds};
use super::snapshot::TableSnapshot;
use crate::metadata::bounds::column_bounds;
use crate::page::Dictionaries;
use crate::stream::{BlockletIter, StreamFile};
use crate::table::FileEntry;

/// Reads the blocklets of a streaming file.
pub(super) struct StreamReader {
    file: StreamFile,
    blocklets: BlockletIter,
    mappings: Vec<ColumnMapping>,
    /// Indexes in the file of the columns that are read, ascending.
    filter_file_columns: Vec<usize>,
}

impl StreamReader {
    pub(super) fn open(
        snapshot: &TableSnapshot,
        config: &ScanConfig,
        entry: &FileEntry,
        dictionaries: Dictionaries,
    ) -> Result<Self> {
        let source = orcish_io::open(&entry.location, &snapshot.storage.of(&entry.location))?;
        let size = entry.size.ok_or_else(|| Error::invalid("a stream of which nothing is known to be committed"))?;
        let file = StreamFile::open(source, size, snapshot.limits())?.with_dictionaries(dictionaries);
        let mappings = mappings(&snapshot.columns, file.columns(), snapshot.is_transactional)?;
        let filter_file_columns = stored(&mappings, config.needed());
        Ok(StreamReader { blocklets: file.blocklets(), file, mappings, filter_file_columns })
    }

    /// The selected rows of the next blocklet, which may be none; `None` behind the last blocklet.
    pub(super) fn next(&mut self, snapshot: &TableSnapshot, config: &ScanConfig) -> Result<Option<RecordBatch>> {
        let Some(blocklet) = self.blocklets.next().transpose()? else { return Ok(None) };
        let rows = blocklet.rows();
        if let Some(filter) = &config.filter {
            let stored = |at: usize| {
                Some(column_bounds(blocklet.min_max()?, self.file.bounds_of(at)?, self.file.columns().get(at)?, false))
            };
            let mut known = |mapping: &[usize]| Ok(table_column_bounds(mapping, &self.mappings, &stored));
            let count = u64::try_from(rows).unwrap_or(u64::MAX);
            if filter.judge(&mut known, count, BLOCKLET_INDEX)?.is_skipped() {
                return batch(config, Vec::new(), 0).map(Some);
            }
        }
        let arrays = self.file.decode(&blocklet, &self.filter_file_columns)?;
        let column = |at: usize| {
            let missing = || Error::invalid(format!("no column {at}"));
            let data_type = snapshot.columns.get(at).ok_or_else(missing)?.data_type();
            match self.mappings.get(at).ok_or_else(missing)? {
                ColumnMapping::Constant(value) => repeat(value, rows, snapshot.limits().memory),
                ColumnMapping::Stored(place, adapt) => {
                    let array = self
                        .filter_file_columns
                        .binary_search(place)
                        .ok()
                        .and_then(|at| arrays.get(at))
                        .ok_or_else(missing)?;
                    adapt.apply(array, &data_type, snapshot.limits().memory)
                }
            }
        };
        filtered(config, rows, &column).map(Some)
    }
}
