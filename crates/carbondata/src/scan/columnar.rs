//! Reader of columnar data files, page by page.

use std::collections::VecDeque;
use std::sync::Arc;

use arrow_array::{Array as _, ArrayRef, BooleanArray, RecordBatch};
use arrow_buffer::BooleanBufferBuilder;
use arrow_select::filter::filter;
use orcish_core::cast::prune_fields;
use orcish_core::parallel::{Reservation, ScanMemory};
use orcish_core::predicate::Outcome;
use orcish_core::{Error, Result};

use super::batch::make_batch;
use super::column_mapping::{ColumnMapping, repeat_value, stored_columns};
use super::config::ScanConfig;
use super::open_files::OpenFile;
use super::pruning::{prune_blocklet, prune_pages};
use super::snapshot::TableSnapshot;
use crate::file::BlockletData;

/// Reads blocklets of a columnar data file.
pub(super) struct ColumnarReader {
    open_file: Arc<OpenFile>,
    remaining: VecDeque<usize>,
    blocklet_reader: Option<BlockletReader>,
    /// Indexes in the file of the projected columns and the filter columns.
    file_columns: Vec<usize>,
    /// Memory of the stored bytes of the current blocklet.
    reservation: Reservation,
    /// Stored bytes of the next blocklet.
    next_stored_bytes: u64,
}

/// Reads the pages of a blocklet.
struct BlockletReader {
    blocklet: usize,
    /// Filter columns; all projected columns where no filter has to be evaluated.
    filter_data: BlockletData,
    /// The other projected columns, read once rows are selected.
    payload_data: Option<BlockletData>,
    /// Indexes in the file of the columns in `filter_data`, ascending.
    filter_file_columns: Vec<usize>,
    /// The outcome of pruning each page.
    outcomes: Vec<Outcome>,
    page: usize,
}

impl ColumnarReader {
    /// Reads some blocklets of a file; all blocklets with `None`.
    pub(super) fn new(
        open_file: Arc<OpenFile>,
        config: &ScanConfig,
        blocklets: Option<Vec<usize>>,
        memory: &Arc<ScanMemory>,
    ) -> Self {
        let remaining = blocklets.map_or_else(|| (0..open_file.file.num_blocklets()).collect(), VecDeque::from);
        let columns = config.projection.iter().map(|(at, _)| *at).chain(config.filter_columns.iter().copied());
        let file_columns = stored_columns(&open_file.mappings, columns);
        let reservation = memory.reservation();
        let mut reader = ColumnarReader {
            open_file,
            remaining,
            blocklet_reader: None,
            file_columns,
            reservation,
            next_stored_bytes: 0,
        };
        reader.next_stored_bytes = reader.stored_bytes_of_next();
        reader
    }

    fn stored_bytes_of_next(&self) -> u64 {
        let Some(&blocklet) = self.remaining.front() else { return 0 };
        // If the blocklet lacks a chunk, nothing is read, and its read reports the error.
        self.open_file.file.read_cost(blocklet, &self.file_columns).map_or(0, |(bytes, _)| bytes)
    }

    /// The stored bytes that the next batch needs beyond those that the reader holds.
    pub(super) fn bytes_of_next(&self) -> u64 {
        if self.blocklet_reader.is_none() { self.next_stored_bytes } else { 0 }
    }

    /// The selected rows of the next page, which may be none; `None` behind the last page.
    pub(super) fn next(&mut self, snapshot: &TableSnapshot, config: &ScanConfig) -> Result<Option<RecordBatch>> {
        if self.blocklet_reader.is_none() {
            let Some(blocklet) = self.remaining.pop_front() else { return Ok(None) };
            self.reservation.set(self.next_stored_bytes);
            self.next_stored_bytes = self.stored_bytes_of_next();
            self.blocklet_reader =
                self.start_blocklet(config, blocklet).map_err(|error| error.in_section("blocklet", blocklet))?;
        }
        let Some(blocklet_reader) = &mut self.blocklet_reader else {
            self.reservation.set(0);
            return Ok(Some(make_batch(config, Vec::new(), 0)?));
        };
        let (blocklet, page) = (blocklet_reader.blocklet, blocklet_reader.page);
        let batch = match blocklet_reader.filter_data.pages() {
            0 => RecordBatch::new_empty(config.output_schema.clone()),
            _ => blocklet_reader
                .read_page(&self.open_file, snapshot, config, page)
                .map_err(|error| error.in_page(page).in_section("blocklet", blocklet))?,
        };
        blocklet_reader.page += 1;
        if blocklet_reader.page >= blocklet_reader.filter_data.pages() {
            self.blocklet_reader = None;
            self.reservation.set(0);
        }
        Ok(Some(batch))
    }

    /// Starts a blocklet; `None` where its min/max index prunes it.
    fn start_blocklet(&self, config: &ScanConfig, blocklet: usize) -> Result<Option<BlockletReader>> {
        let OpenFile { file, mappings, .. } = &*self.open_file;
        file.check_blocklet(blocklet)?;
        let needs_filter = match prune_blocklet(&self.open_file, config, blocklet)? {
            Outcome::Skipped(_) => return Ok(None),
            Outcome::AllMatch => false,
            Outcome::Read => true,
        };
        let filter_file_columns = if needs_filter {
            stored_columns(mappings, config.filter_columns.iter().copied())
        } else {
            stored_columns(mappings, config.projection.iter().map(|(at, _)| *at))
        };
        let mut filter_data = if needs_filter && !file.has_unreliable_min_max() {
            file.read_chunk_headers(blocklet, &filter_file_columns)?
        } else if filter_file_columns.is_empty() && !file.has_page_rows(blocklet)? {
            // Before 1.5.1, only the chunks have the number of rows of pages.
            file.read_blocklet(blocklet, &[0])?
        } else {
            file.read_blocklet(blocklet, &filter_file_columns)?
        };
        let outcomes = if needs_filter {
            prune_pages(&self.open_file, config, &filter_data)?
        } else {
            vec![Outcome::AllMatch; filter_data.pages()]
        };
        filter_data.read_pages(&filter_file_columns, &selected_pages_from(&outcomes, 0))?;
        Ok(Some(BlockletReader { blocklet, filter_data, payload_data: None, filter_file_columns, outcomes, page: 0 }))
    }
}

/// Whether each page is read: it is not pruned, and at or behind `page`.
fn selected_pages_from(outcomes: &[Outcome], page: usize) -> Vec<bool> {
    outcomes.iter().enumerate().map(|(at, outcome)| at >= page && !outcome.is_skipped()).collect()
}

impl BlockletReader {
    fn read_page(
        &mut self,
        open_file: &OpenFile,
        snapshot: &TableSnapshot,
        config: &ScanConfig,
        page: usize,
    ) -> Result<RecordBatch> {
        let rows = self.filter_data.page_rows(page)?;
        let empty_batch = || make_batch(config, Vec::new(), 0);
        let needs_filter = match self.outcomes.get(page) {
            Some(Outcome::Skipped(_)) => return empty_batch(),
            Some(Outcome::AllMatch) => false,
            Some(Outcome::Read) | None => true,
        };
        let mut filter_arrays: Vec<(usize, ArrayRef)> = Vec::new();
        let mut selection: Option<BooleanArray> = None;
        if let Some(filter) = config.filter.as_ref().filter(|_| needs_filter) {
            for &at in &config.filter_columns {
                filter_arrays.push((at, self.read_column(open_file, (snapshot, config), at, page, rows)?));
            }
            let column = |at: usize| {
                let array = filter_arrays.iter().find(|(column, _)| *column == at);
                array.map(|(_, array)| array.clone()).ok_or_else(|| Error::invalid("a column of the filter is missing"))
            };
            selection = Some(filter.evaluate(&column, rows)?);
        }
        let key = u32::try_from(self.blocklet).ok().zip(u32::try_from(page).ok());
        if let Some(deleted) = key.and_then(|key| open_file.deletes.get(&key)) {
            selection = Some(remove_deleted(selection.as_ref(), deleted, rows));
        }
        let count = selection.as_ref().map_or(rows, BooleanArray::true_count);
        if count == 0 {
            return empty_batch();
        }
        let selection = selection.filter(|_| count < rows);
        let mut arrays = Vec::with_capacity(config.projection.len());
        for (at, field) in &config.projection {
            let array = match filter_arrays.iter().find(|(column, _)| column == at) {
                Some((_, array)) => array.clone(),
                None => self.read_column(open_file, (snapshot, config), *at, page, rows)?,
            };
            let array = prune_fields(&array, field)?;
            arrays.push(match &selection {
                None => array,
                Some(selection) => {
                    filter(&array, selection).map_err(|error| Error::limit("selected rows").with_source(error))?
                }
            });
        }
        make_batch(config, arrays, count)
    }

    /// The chunks with a column of the file. Columns that the filter does not use are read on first use.
    fn data(&mut self, open_file: &OpenFile, config: &ScanConfig, file_column: usize) -> Result<&BlockletData> {
        if self.filter_file_columns.binary_search(&file_column).is_ok() {
            return Ok(&self.filter_data);
        }
        if self.payload_data.is_none() {
            let mut payload_columns = stored_columns(&open_file.mappings, config.projection.iter().map(|(at, _)| *at));
            payload_columns.retain(|other| self.filter_file_columns.binary_search(other).is_err());
            let selected_pages = selected_pages_from(&self.outcomes, self.page);
            self.payload_data = Some(if selected_pages.contains(&false) {
                let mut payload_data = open_file.file.read_chunk_headers(self.blocklet, &payload_columns)?;
                payload_data.read_pages(&payload_columns, &selected_pages)?;
                payload_data
            } else {
                open_file.file.read_blocklet(self.blocklet, &payload_columns)?
            });
        }
        self.payload_data.as_ref().ok_or_else(|| Error::invalid("a column is missing"))
    }

    /// A page of a column of the table.
    fn read_column(
        &mut self,
        open_file: &OpenFile,
        (snapshot, config): (&TableSnapshot, &ScanConfig),
        at: usize,
        page: usize,
        rows: usize,
    ) -> Result<ArrayRef> {
        let Some(column) = snapshot.columns.get(at) else { return Err(Error::invalid(format!("no column {at}"))) };
        let file_column = match open_file.mappings.get(at) {
            Some(ColumnMapping::Stored(file_column, _)) => *file_column,
            Some(ColumnMapping::Constant(value)) => {
                return repeat_value(value, rows, snapshot.limits().memory)
                    .map_err(|error| error.in_column(&column.name));
            }
            None => return Err(Error::invalid(format!("no column {at}"))),
        };
        let array = self.data(open_file, config, file_column)?.decode(file_column, page)?;
        if array.len() != rows {
            let text = format!("a page of {} values, of {rows} rows", array.len());
            return Err(Error::corrupt(text).in_column(&column.name));
        }
        let Some(ColumnMapping::Stored(_, adapt)) = open_file.mappings.get(at) else { return Ok(array) };
        adapt
            .apply(&array, &column.data_type(), snapshot.limits().memory)
            .map_err(|error| error.in_column(&column.name))
    }
}

/// Removes rows from a selection. Rows that the page does not have are ignored, as in Java: files of one block share their
/// delete deltas, and not all of them have all of these rows.
fn remove_deleted(selection: Option<&BooleanArray>, deleted: &[u32], rows: usize) -> BooleanArray {
    let mut bits = BooleanBufferBuilder::new(rows);
    match selection {
        Some(selection) => bits.append_buffer(selection.values()),
        None => bits.append_n(rows, true),
    }
    for &row in deleted {
        if let Ok(row) = usize::try_from(row)
            && row < rows
        {
            bits.set_bit(row, false);
        }
    }
    BooleanArray::new(bits.finish(), None)
}
