//! Blocklets of a columnar file, page by page.

use std::collections::VecDeque;
use std::sync::Arc;

use arrow_array::{Array as _, ArrayRef, BooleanArray, RecordBatch};
use arrow_buffer::BooleanBufferBuilder;
use arrow_select::filter::filter;
use orcish_core::cast::cut;
use orcish_core::predicate::Outcome;
use orcish_core::{Error, Result};

use super::evolve::{Way, repeat, stored};
use super::opened::Opened;
use super::part::batch;
use super::parts::known_of;
use super::proof::{BLOCKLET_INDEX, PAGE_BOUNDS};
use super::{Source, What};
use crate::file::BlockletData;
use crate::metadata::bounds::known;

/// Blocklets of a columnar file.
pub(super) struct Columnar {
    opened: Arc<Opened>,
    left: VecDeque<usize>,
    current: Option<Current>,
}

/// The blocklet that is being read.
struct Current {
    blocklet: usize,
    /// Columns that the filter asks; all that are read where it is known to be true, or there is none.
    first: BlockletData,
    /// The others, once there are wanted rows.
    rest: Option<BlockletData>,
    /// Places in the file of what `first` has.
    has: Vec<usize>,
    /// What is known of each page before it is read; all are wanted where nothing is asked.
    outcomes: Vec<Outcome>,
    page: usize,
}

impl Columnar {
    /// Some blocklets of a file, or all.
    pub(super) fn new(opened: Arc<Opened>, blocklets: Option<Vec<usize>>) -> Self {
        let left = blocklets.map_or_else(|| (0..opened.file.blocklets()).collect(), VecDeque::from);
        Columnar { opened, left, current: None }
    }

    /// Wanted rows of the next page, which may be none; none behind the last.
    pub(super) fn next(&mut self, of: &Source, what: &What) -> Result<Option<RecordBatch>> {
        if self.current.is_none() {
            let Some(blocklet) = self.left.pop_front() else { return Ok(None) };
            self.current = self.begin(what, blocklet).map_err(|error| error.in_section("blocklet", blocklet))?;
        }
        let Some(current) = &mut self.current else { return Ok(Some(batch(what, Vec::new(), 0)?)) };
        let (blocklet, page) = (current.blocklet, current.page);
        let found = match current.first.pages() {
            0 => RecordBatch::new_empty(what.output.clone()),
            _ => current
                .page(&self.opened, of, what, page)
                .map_err(|error| error.in_page(page).in_section("blocklet", blocklet))?,
        };
        current.page += 1;
        if current.page >= current.first.pages() {
            self.current = None;
        }
        Ok(Some(found))
    }

    /// Begins a blocklet, unless its bounds rule it out.
    fn begin(&self, what: &What, blocklet: usize) -> Result<Option<Current>> {
        let Opened { file, ways, .. } = &*self.opened;
        if blocklet >= file.blocklets() {
            let text = format!("the index has a blocklet {blocklet}, of {} in the file", file.blocklets());
            return Err(Error::corrupt(text));
        }
        let is_filtered = match judge_blocklet(&self.opened, what, blocklet)? {
            Outcome::Skipped(_) => return Ok(None),
            Outcome::AllWanted => false,
            Outcome::Read => true,
        };
        let has = match is_filtered {
            true => stored(ways, what.asked.iter().copied()),
            false => stored(ways, what.chosen.iter().map(|(at, _)| *at)),
        };
        let mut first = match is_filtered && !file.is_old() {
            true => file.read_heads(blocklet, &has)?,
            // Of files before 1.5.1 the chunks alone know how many rows a page has.
            false if has.is_empty() && !file.knows_pages(blocklet) => file.read_blocklet(blocklet, &[0])?,
            false => file.read_blocklet(blocklet, &has)?,
        };
        let outcomes = match is_filtered {
            true => judge_pages(&self.opened, what, &first)?,
            false => vec![Outcome::AllWanted; first.pages()],
        };
        first.read_pages(&has, &wanted_from(&outcomes, 0))?;
        Ok(Some(Current { blocklet, first, rest: None, has, outcomes, page: 0 }))
    }
}

/// Whether each page is read, of those from `page` on.
fn wanted_from(outcomes: &[Outcome], page: usize) -> Vec<bool> {
    outcomes.iter().enumerate().map(|(at, outcome)| at >= page && !outcome.is_skipped()).collect()
}

/// What the bounds in the footer say of a blocklet.
pub(super) fn judge_blocklet(opened: &Opened, what: &What, blocklet: usize) -> Result<Outcome> {
    let Some(filter) = &what.filter else { return Ok(Outcome::AllWanted) };
    let file = &opened.file;
    let min_max = file.min_max(blocklet);
    let stored = |at: usize| Some(known(min_max?, file.chunk_of(at), file.columns().get(at)?, file.is_old()));
    let mut known = |way: &[usize]| Ok(known_of(way, &opened.ways, &stored));
    filter.judge(&mut known, file.blocklet_rows(blocklet), BLOCKLET_INDEX)
}

/// What their bounds say of the pages of a blocklet, of the columns whose heads have been read.
pub(super) fn judge_pages(opened: &Opened, what: &What, data: &BlockletData) -> Result<Vec<Outcome>> {
    let Some(filter) = &what.filter else { return Ok(vec![Outcome::AllWanted; data.pages()]) };
    let file = &opened.file;
    let judge = |page: usize| {
        // A page has the bounds of one column.
        let stored = |at: usize| Some(known(data.page_min_max(at, page)?, 0, file.columns().get(at)?, file.is_old()));
        let mut known = |way: &[usize]| Ok(known_of(way, &opened.ways, &stored));
        filter.judge(&mut known, u64::try_from(data.page_rows(page)).unwrap_or(u64::MAX), PAGE_BOUNDS)
    };
    (0..data.pages()).map(|page| judge(page).map_err(|error: Error| error.in_page(page))).collect()
}

impl Current {
    fn page(&mut self, opened: &Opened, of: &Source, what: &What, page: usize) -> Result<RecordBatch> {
        let rows = self.first.page_rows(page);
        let none = || batch(what, Vec::new(), 0);
        let is_filtered = match self.outcomes.get(page) {
            Some(Outcome::Skipped(_)) => return none(),
            Some(Outcome::AllWanted) => false,
            Some(Outcome::Read) | None => true,
        };
        let mut known: Vec<(usize, ArrayRef)> = Vec::new();
        let mut wanted: Option<BooleanArray> = None;
        if let Some(filter) = what.filter.as_ref().filter(|_| is_filtered) {
            for &at in &what.asked {
                known.push((at, self.column(opened, (of, what), at, page, rows)?));
            }
            let column = |at: usize| {
                let found = known.iter().find(|(known, _)| *known == at);
                found.map(|(_, array)| array.clone()).ok_or_else(|| Error::invalid("a column of the filter is missing"))
            };
            wanted = Some(filter.evaluate(&column, rows)?);
        }
        let place = u32::try_from(self.blocklet).ok().zip(u32::try_from(page).ok());
        if let Some(deleted) = place.and_then(|place| opened.deletes.get(&place)) {
            wanted = Some(without(wanted.as_ref(), deleted, rows));
        }
        let count = wanted.as_ref().map_or(rows, BooleanArray::true_count);
        if count == 0 {
            return none();
        }
        let wanted = wanted.filter(|_| count < rows);
        let mut arrays = Vec::with_capacity(what.chosen.len());
        for (at, field) in &what.chosen {
            let array = match known.iter().find(|(known, _)| known == at) {
                Some((_, array)) => array.clone(),
                None => self.column(opened, (of, what), *at, page, rows)?,
            };
            let array = cut(&array, field)?;
            arrays.push(match &wanted {
                None => array,
                Some(wanted) => {
                    filter(&array, wanted).map_err(|error| Error::limit("wanted rows").with_source(error))?
                }
            });
        }
        batch(what, arrays, count)
    }

    /// The bytes that a column of the file is in. The columns that the filter does not ask are read once rows are
    /// wanted.
    fn data(&mut self, opened: &Opened, what: &What, place: usize) -> Result<&BlockletData> {
        if self.has.binary_search(&place).is_ok() {
            return Ok(&self.first);
        }
        if self.rest.is_none() {
            let mut others = stored(&opened.ways, what.chosen.iter().map(|(at, _)| *at));
            others.retain(|other| self.has.binary_search(other).is_err());
            let wanted = wanted_from(&self.outcomes, self.page);
            self.rest = Some(match wanted.contains(&false) {
                false => opened.file.read_blocklet(self.blocklet, &others)?,
                true => {
                    let mut rest = opened.file.read_heads(self.blocklet, &others)?;
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
        opened: &Opened,
        (of, what): (&Source, &What),
        at: usize,
        page: usize,
        rows: usize,
    ) -> Result<ArrayRef> {
        let Some(column) = of.columns.get(at) else { return Err(Error::invalid(format!("no column {at}"))) };
        let place = match opened.ways.get(at) {
            Some(Way::Stored(place, _)) => *place,
            Some(Way::Constant(value)) => {
                return repeat(value, rows, of.limits().memory).map_err(|error| error.in_column(&column.name));
            }
            None => return Err(Error::invalid(format!("no column {at}"))),
        };
        let array = self.data(opened, what, place)?.decode(place, page)?;
        if array.len() != rows {
            let text = format!("a page of {} values, of {rows} rows", array.len());
            return Err(Error::corrupt(text).in_column(&column.name));
        }
        let Some(Way::Stored(_, adapt)) = opened.ways.get(at) else { return Ok(array) };
        adapt.apply(&array, &column.data_type(), of.limits().memory).map_err(|error| error.in_column(&column.name))
    }
}

/// The rows that are wanted but for some, which are ascending.
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
