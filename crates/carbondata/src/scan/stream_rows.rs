//! Reader of streaming files, blocklet by blocklet.

use arrow_array::RecordBatch;
use orcish_core::{Error, Result};

use super::batch::{filter_batch, make_batch};
use super::column_mapping::{ColumnMapping, map_columns, repeat_value, stored_columns};
use super::config::ScanConfig;
use super::pruning::{BLOCKLET_MIN_MAX, table_column_bounds};
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
    file_columns: Vec<usize>,
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
        let mappings = map_columns(&snapshot.columns, file.columns(), snapshot.is_transactional)?;
        let file_columns = stored_columns(&mappings, config.required_columns());
        Ok(StreamReader { blocklets: file.blocklets(), file, mappings, file_columns })
    }

    /// The selected rows of the next blocklet, which may be none; `None` behind the last blocklet.
    pub(super) fn next(&mut self, snapshot: &TableSnapshot, config: &ScanConfig) -> Result<Option<RecordBatch>> {
        let Some(blocklet) = self.blocklets.next().transpose()? else { return Ok(None) };
        let rows = blocklet.rows();
        if let Some(filter) = &config.filter {
            let file_bounds = |at: usize| {
                Some(column_bounds(blocklet.min_max()?, self.file.bounds_of(at)?, self.file.columns().get(at)?, false))
            };
            let mut known = |path: &[usize]| Ok(table_column_bounds(path, &self.mappings, &file_bounds));
            let count = u64::try_from(rows).unwrap_or(u64::MAX);
            if filter.prune(&mut known, count, BLOCKLET_MIN_MAX)?.is_skipped() {
                return make_batch(config, Vec::new(), 0).map(Some);
            }
        }
        let arrays = self.file.decode(&blocklet, &self.file_columns)?;
        let column = |at: usize| {
            let missing = || Error::invalid(format!("no column {at}"));
            let data_type = snapshot.columns.get(at).ok_or_else(missing)?.data_type();
            match self.mappings.get(at).ok_or_else(missing)? {
                ColumnMapping::Constant(value) => repeat_value(value, rows, snapshot.limits().memory),
                ColumnMapping::Stored(file_column, adapt) => {
                    let array = self
                        .file_columns
                        .binary_search(file_column)
                        .ok()
                        .and_then(|at| arrays.get(at))
                        .ok_or_else(missing)?;
                    adapt.apply(array, &data_type, snapshot.limits().memory)
                }
            }
        };
        filter_batch(config, rows, &column).map(Some)
    }
}
