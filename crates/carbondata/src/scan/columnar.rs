//! Reader of columnar data files, page by page.

use std::collections::VecDeque;
use std::sync::Arc;

use arrow_array::{Array as _, ArrayRef, BooleanArray, RecordBatch};
use arrow_buffer::BooleanBufferBuilder;
use arrow_select::filter::filter;
use orcish_core::cast::cut;
use orcish_core::predicate::Outcome;
use orcish_core::{Error, Result};

use super::batch::batch;
use super::column_mapping::{ColumnMapping, repeat, stored};
use super::config::ScanConfig;
use super::open_files::OpenFile;
use super::pruning::{judge_blocklet, judge_pages};
use super::snapshot::TableSnapshot;
use crate::file::BlockletData;

/// Reads blocklets of a columnar data file.
pub(super) struct ColumnarReader {
    open_file: Arc<OpenFile>,
    left: VecDeque<usize>,
    current: Option<BlockletReader>,
}

/// Reads the pages of a blocklet.
struct BlockletReader {
    blocklet: usize,
    /// Filter columns; all projected columns where no filter has to be evaluated.
    first: BlockletData,
    /// The other projected columns, read once rows are selected.
    rest: Option<BlockletData>,
    /// Indexes in the file of the columns in `filter_data`, ascending.
    filter_file_columns: Vec<usize>,
    /// The outcome of pruning each page.
    outcomes: Vec<Outcome>,
    page: usize,
}

impl ColumnarReader {
    /// Reads some blocklets of a file; all blocklets with `None`.
    pub(super) fn new(open_file: Arc<OpenFile>, blocklets: Option<Vec<usize>>) -> Self {
        let left = blocklets.map_or_else(|| (0..open_file.file.blocklets()).collect(), VecDeque::from);
        ColumnarReader { open_file, left, current: None }
    }

    /// The selected rows of the next page, which may be none; `None` behind the last page.
    pub(super) fn next(&mut self, snapshot: &TableSnapshot, config: &ScanConfig) -> Result<Option<RecordBatch>> {
        if self.current.is_none() {
            let Some(blocklet) = self.left.pop_front() else { return Ok(None) };
            self.current = self.begin(config, blocklet).map_err(|error| error.in_section("blocklet", blocklet))?;
        }
        let Some(current) = &mut self.current else { return Ok(Some(batch(config, Vec::new(), 0)?)) };
        let (blocklet, page) = (current.blocklet, current.page);
        let found = match current.first.pages() {
            0 => RecordBatch::new_empty(config.output.clone()),
            _ => current
                .page(&self.open_file, snapshot, config, page)
                .map_err(|error| error.in_page(page).in_section("blocklet", blocklet))?,
        };
        current.page += 1;
        if current.page >= current.first.pages() {
            self.current = None;
        }
        Ok(Some(found))
    }

    /// Starts a blocklet; `None` where its min/max index prunes it.
    fn begin(&self, config: &ScanConfig, blocklet: usize) -> Result<Option<BlockletReader>> {
        let OpenFile { file, mappings, .. } = &*self.open_file;
        if blocklet >= file.blocklets() {
            let text = format!("the index has a blocklet {blocklet}, of {} in the file", file.blocklets());
            return Err(Error::corrupt(text));
        }
        let is_filtered = match judge_blocklet(&self.open_file, config, blocklet)? {
            Outcome::Skipped(_) => return Ok(None),
            Outcome::AllWanted => false,
            Outcome::Read => true,
        };
        let filter_file_columns = match is_filtered {
            true => stored(mappings, config.filter_columns.iter().copied()),
            false => stored(mappings, config.projection.iter().map(|(at, _)| *at)),
        };
        let mut first = match is_filtered && !file.has_unreliable_min_max() {
            true => file.read_chunk_headers(blocklet, &filter_file_columns)?,
            // Before 1.5.1, only the chunks have the number of rows of pages.
            false if filter_file_columns.is_empty() && !file.has_page_rows(blocklet) => {
                file.read_blocklet(blocklet, &[0])?
            }
            false => file.read_blocklet(blocklet, &filter_file_columns)?,
        };
        let outcomes = match is_filtered {
            true => judge_pages(&self.open_file, config, &first)?,
            false => vec![Outcome::AllWanted; first.pages()],
        };
        first.read_pages(&filter_file_columns, &wanted_from(&outcomes, 0))?;
        Ok(Some(BlockletReader { blocklet, first, rest: None, filter_file_columns, outcomes, page: 0 }))
    }
}

/// Whether each page is read: it is not pruned, and at or behind `page`.
fn wanted_from(outcomes: &[Outcome], page: usize) -> Vec<bool> {
    outcomes.iter().enumerate().map(|(at, outcome)| at >= page && !outcome.is_skipped()).collect()
}

impl BlockletReader {
    fn page(
        &mut self,
        open_file: &OpenFile,
        snapshot: &TableSnapshot,
        config: &ScanConfig,
        page: usize,
    ) -> Result<RecordBatch> {
        let rows = self.first.page_rows(page);
        let none = || batch(config, Vec::new(), 0);
        let is_filtered = match self.outcomes.get(page) {
            Some(Outcome::Skipped(_)) => return none(),
            Some(Outcome::AllWanted) => false,
            Some(Outcome::Read) | None => true,
        };
        let mut known: Vec<(usize, ArrayRef)> = Vec::new();
        let mut wanted: Option<BooleanArray> = None;
        if let Some(filter) = config.filter.as_ref().filter(|_| is_filtered) {
            for &at in &config.filter_columns {
                known.push((at, self.column(open_file, (snapshot, config), at, page, rows)?));
            }
            let column = |at: usize| {
                let found = known.iter().find(|(known, _)| *known == at);
                found.map(|(_, array)| array.clone()).ok_or_else(|| Error::invalid("a column of the filter is missing"))
            };
            wanted = Some(filter.evaluate(&column, rows)?);
        }
        let place = u32::try_from(self.blocklet).ok().zip(u32::try_from(page).ok());
        if let Some(deleted) = place.and_then(|place| open_file.deletes.get(&place)) {
            wanted = Some(without(wanted.as_ref(), deleted, rows));
        }
        let count = wanted.as_ref().map_or(rows, BooleanArray::true_count);
        if count == 0 {
            return none();
        }
        let wanted = wanted.filter(|_| count < rows);
        let mut arrays = Vec::with_capacity(config.projection.len());
        for (at, field) in &config.projection {
            let array = match known.iter().find(|(known, _)| known == at) {
                Some((_, array)) => array.clone(),
                None => self.column(open_file, (snapshot, config), *at, page, rows)?,
            };
            let array = cut(&array, field)?;
            arrays.push(match &wanted {
                None => array,
                Some(wanted) => {
                    filter(&array, wanted).map_err(|error| Error::limit("wanted rows").with_source(error))?
                }
            });
        }
        batch(config, arrays, count)
    }

    /// The chunks with a column of the file. Columns that the filter does not use are read on first use.
    fn data(&mut self, open_file: &OpenFile, config: &ScanConfig, place: usize) -> Result<&BlockletData> {
        if self.filter_file_columns.binary_search(&place).is_ok() {
            return Ok(&self.first);
        }
        if self.rest.is_none() {
            let mut others = stored(&open_file.mappings, config.projection.iter().map(|(at, _)| *at));
            others.retain(|other| self.filter_file_columns.binary_search(other).is_err());
            let wanted = wanted_from(&self.outcomes, self.page);
            self.rest = Some(match wanted.contains(&false) {
                false => open_file.file.read_blocklet(self.blocklet, &others)?,
                true => {
                    let mut rest = open_file.file.read_chunk_headers(self.blocklet, &others)?;
                    rest.read_pages(&others, &wanted)?;
                    rest
                }
            });
        }
        self.rest.as_ref().ok_or_else(|| Error::invalid("a column is missing"))
    }

    /// A page of a column of the table.
    fn column(
        &mut self,
        open_file: &OpenFile,
        (snapshot, config): (&TableSnapshot, &ScanConfig),
        at: usize,
        page: usize,
        rows: usize,
    ) -> Result<ArrayRef> {
        let Some(column) = snapshot.columns.get(at) else { return Err(Error::invalid(format!("no column {at}"))) };
        let place = match open_file.mappings.get(at) {
            Some(ColumnMapping::Stored(place, _)) => *place,
            Some(ColumnMapping::Constant(value)) => {
                return repeat(value, rows, snapshot.limits().memory).map_err(|error| error.in_column(&column.name));
            }
            None => return Err(Error::invalid(format!("no column {at}"))),
        };
        let array = self.data(open_file, config, place)?.decode(place, page)?;
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

/// Removes rows from a selection.
fn without(wanted: Option<&BooleanArray>, deleted: &[u32], rows: usize) -> BooleanArray {
    let mut bits = BooleanBufferBuilder::new(rows);
    match wanted {
        Some(wanted) => bits.append_buffer(wanted.values()),
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
