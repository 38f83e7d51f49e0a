//! One part of a scan: its rows, page by page.

use std::collections::VecDeque;
use std::sync::Arc;

use arrow_array::{Array as _, ArrayRef, BooleanArray, RecordBatch, RecordBatchOptions};
use arrow_buffer::BooleanBufferBuilder;
use arrow_select::concat::concat_batches;
use arrow_select::filter::filter;
use orcish::shared::{Patience, cut};
use orcish::{Check, Error, Outcome, Proof, Result, display_name};

use super::evolve::{Way, repeat, ways};
use super::opened::Opened;
use super::orc::{self, OrcRows};
use super::parts::{Part, Parts, known_of};
use super::{Source, What};
use crate::file::BlockletData;
use crate::metadata::bounds::known;
use crate::stream::{Blocklets, StreamFile};
use crate::table::FileFormat;

/// Pages with fewer wanted rows are put together.
const FEW_ROWS: usize = 8192;

/// Batches of the table from a part of it.
pub(super) struct PartReader {
    of: Arc<Source>,
    what: Arc<What>,
    name: String,
    rows: Rows,
    /// Wanted rows of some pages that had few.
    waiting: Vec<RecordBatch>,
    ready: VecDeque<RecordBatch>,
    patience: Patience,
    is_done: bool,
}

/// Where rows are from.
enum Rows {
    Columnar(Columnar),
    Stream(Stream),
    Orc(OrcRows),
}

/// Blocklets of a file that a stream has written.
struct Stream {
    file: StreamFile,
    blocklets: Blocklets,
    ways: Vec<Way>,
    /// Places in the file of the columns that are read, ascending.
    has: Vec<usize>,
}

/// Blocklets of a columnar file.
struct Columnar {
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
    /// Whether the filter is to be asked.
    is_filtered: bool,
    page: usize,
}

impl PartReader {
    pub(super) fn open(parts: &Parts, part: &Part, threads: usize) -> Result<Self> {
        let entry = parts.of.file(part.file)?;
        let rows = match &entry.format {
            FileFormat::Stream => {
                let source = orcish::open(&entry.location, &parts.of.storage)?;
                let file = StreamFile::open(source, entry.size.unwrap_or_default(), parts.of.limits())?
                    .with_dictionaries(parts.open.dictionaries(&parts.of, entry));
                let ways = ways(&parts.of.columns, file.columns(), parts.of.is_transactional)?;
                let has = stored(&ways, parts.what.needed());
                Rows::Stream(Stream { blocklets: file.blocklets(), file, ways, has })
            }
            FileFormat::Orc => Rows::Orc(orc::open(&parts.of, &parts.what, entry, threads)?),
            _ => {
                let opened = parts.open.get(&parts.of, part.file)?;
                let all = || (0..opened.file.blocklets()).collect();
                let left = part.blocklets.clone().map_or_else(all, VecDeque::from);
                Rows::Columnar(Columnar { opened, left, current: None })
            }
        };
        Ok(PartReader {
            of: parts.of.clone(),
            what: parts.what.clone(),
            name: display_name(&entry.location),
            rows,
            waiting: Vec::new(),
            ready: VecDeque::new(),
            patience: Patience::new(None),
            is_done: false,
        })
    }

    pub(super) fn while_waiting(&mut self, check: Check) {
        self.patience = Patience::new(Some(check));
    }

    fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        loop {
            if let Some(batch) = self.ready.pop_front() {
                return Ok(Some(batch));
            }
            if self.is_done {
                return Ok(None);
            }
            self.patience.look()?;
            let found = match &mut self.rows {
                Rows::Columnar(columnar) => columnar.next(&self.of, &self.what)?,
                Rows::Stream(stream) => stream.next(&self.of, &self.what)?,
                Rows::Orc(rows) => rows.next(&self.of, &self.what)?,
            };
            match found {
                Some(batch) if batch.num_rows() == 0 => {}
                Some(batch) => self.add(batch)?,
                None => {
                    self.is_done = true;
                    self.put_together()?;
                }
            }
        }
    }

    /// Has a batch given out, cut to what is allowed, or put together with others of few rows.
    fn add(&mut self, batch: RecordBatch) -> Result<()> {
        let most = self.what.options.batch_size.max(1);
        if batch.num_rows() < FEW_ROWS.min(most) {
            self.waiting.push(batch);
            let rows: usize = self.waiting.iter().map(RecordBatch::num_rows).sum();
            return if rows >= FEW_ROWS.min(most) { self.put_together() } else { Ok(()) };
        }
        self.put_together()?;
        self.give(&batch, most);
        Ok(())
    }

    fn put_together(&mut self) -> Result<()> {
        let most = self.what.options.batch_size.max(1);
        match &self.waiting[..] {
            [] => return Ok(()),
            [one] => self.give(&one.clone(), most),
            several => {
                let misfit = |error| Error::limit("rows of a batch").with_source(error);
                let rows = several.iter().map(RecordBatch::num_rows).sum();
                let batch = match self.what.chosen.is_empty() {
                    true => batch(&self.what, Vec::new(), rows)?,
                    false => concat_batches(&self.what.output, several).map_err(misfit)?,
                };
                self.give(&batch, most);
            }
        }
        self.waiting.clear();
        Ok(())
    }

    fn give(&mut self, batch: &RecordBatch, most: usize) {
        for start in (0..batch.num_rows()).step_by(most) {
            self.ready.push_back(batch.slice(start, most.min(batch.num_rows() - start)));
        }
    }
}

impl Iterator for PartReader {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        let next = self.next_batch().map_err(|error| error.in_file(&self.name)).transpose();
        if matches!(next, Some(Err(_))) {
            self.is_done = true;
            self.ready.clear();
            self.waiting.clear();
        }
        next
    }
}

/// Places in the file of those columns of the table that it has, ascending.
pub(super) fn stored(ways: &[Way], columns: impl IntoIterator<Item = usize>) -> Vec<usize> {
    let place = |at: usize| match ways.get(at) {
        Some(Way::Stored(place, _)) => Some(*place),
        _ => None,
    };
    let mut places: Vec<usize> = columns.into_iter().filter_map(place).collect();
    places.sort_unstable();
    places.dedup();
    places
}

impl What {
    /// Places of all columns of the table that are read.
    pub(super) fn needed(&self) -> impl Iterator<Item = usize> {
        self.chosen.iter().map(|(at, _)| *at).chain(self.asked.iter().copied())
    }
}

impl Columnar {
    /// Wanted rows of the next page, which may be none; none behind the last.
    fn next(&mut self, of: &Source, what: &What) -> Result<Option<RecordBatch>> {
        if self.current.is_none() {
            let Some(blocklet) = self.left.pop_front() else { return Ok(None) };
            self.current = self.begin(what, blocklet).map_err(|error| error.in_blocklet(blocklet))?;
        }
        let Some(current) = &mut self.current else { return Ok(Some(batch(what, Vec::new(), 0)?)) };
        let (blocklet, page) = (current.blocklet, current.page);
        current.page += 1;
        let is_last = current.page >= current.first.pages();
        let found = match current.first.pages() {
            0 => RecordBatch::new_empty(what.output.clone()),
            _ => {
                current.page(&self.opened, of, what, page).map_err(|error| error.in_page(page).in_blocklet(blocklet))?
            }
        };
        if is_last {
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
        let outcome = judge_blocklet(&self.opened, what, blocklet)?;
        let is_filtered = match outcome {
            Outcome::Skipped(_) => return Ok(None),
            Outcome::AllWanted => false,
            Outcome::Read => true,
        };
        let has = match is_filtered {
            true => stored(ways, what.asked.iter().copied()),
            false => stored(ways, what.chosen.iter().map(|(at, _)| *at)),
        };
        // Of files before 1.5.1 the chunks alone know how many rows a page has.
        let first = match has.is_empty() && !file.knows_pages(blocklet) {
            true => file.read_blocklet(blocklet, &[0])?,
            false => file.read_blocklet(blocklet, &has)?,
        };
        Ok(Some(Current { blocklet, first, rest: None, has, is_filtered, page: 0 }))
    }
}

/// What the bounds in the footer say of a blocklet.
pub(super) fn judge_blocklet(opened: &Opened, what: &What, blocklet: usize) -> Result<Outcome> {
    let Some(filter) = &what.filter else { return Ok(Outcome::AllWanted) };
    let file = &opened.file;
    let min_max = file.min_max(blocklet);
    let stored = |at: usize| Some(known(min_max?, file.chunk_of(at), file.columns().get(at)?, file.is_old()));
    let mut known = |way: &[usize]| Ok(known_of(way, &opened.ways, &stored));
    filter.judge(&mut known, file.blocklet_rows(blocklet), Proof::BlockletIndex)
}

/// What the bounds of pages say of one page, of the columns that have been read.
pub(super) fn judge_page(opened: &Opened, what: &What, data: &BlockletData, page: usize) -> Result<Outcome> {
    let Some(filter) = &what.filter else { return Ok(Outcome::AllWanted) };
    let file = &opened.file;
    // A page has the bounds of one column.
    let stored = |at: usize| Some(known(data.page_min_max(at, page)?, 0, file.columns().get(at)?, file.is_old()));
    let mut known = |way: &[usize]| Ok(known_of(way, &opened.ways, &stored));
    filter.judge(&mut known, u64::try_from(data.page_rows(page)).unwrap_or(u64::MAX), Proof::PageStatistics)
}

impl Current {
    fn page(&mut self, opened: &Opened, of: &Source, what: &What, page: usize) -> Result<RecordBatch> {
        let rows = self.first.page_rows(page);
        let none = || batch(what, Vec::new(), 0);
        let mut is_filtered = self.is_filtered;
        if is_filtered {
            match judge_page(opened, what, &self.first, page)? {
                Outcome::Skipped(_) => return none(),
                Outcome::AllWanted => is_filtered = false,
                Outcome::Read => {}
            }
        }
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
            self.rest = Some(opened.file.read_blocklet(self.blocklet, &others)?);
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

/// A batch of the columns that were asked for.
fn batch(what: &What, arrays: Vec<ArrayRef>, rows: usize) -> Result<RecordBatch> {
    if rows == 0 {
        return Ok(RecordBatch::new_empty(what.output.clone()));
    }
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    RecordBatch::try_new_with_options(what.output.clone(), arrays, &options)
        .map_err(|error| Error::corrupt("the columns do not fit together").with_source(error))
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

impl Stream {
    /// Wanted rows of the next blocklet, which may be none; none behind the last.
    fn next(&mut self, of: &Source, what: &What) -> Result<Option<RecordBatch>> {
        let Some(blocklet) = self.blocklets.next().transpose()? else { return Ok(None) };
        let rows = blocklet.rows();
        if let Some(filter) = &what.filter {
            let stored = |at: usize| {
                Some(known(blocklet.min_max()?, self.file.bounds_of(at)?, self.file.columns().get(at)?, false))
            };
            let mut known = |way: &[usize]| Ok(known_of(way, &self.ways, &stored));
            let count = u64::try_from(rows).unwrap_or(u64::MAX);
            if matches!(filter.judge(&mut known, count, Proof::BlockletIndex)?, Outcome::Skipped(_)) {
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

/// The wanted rows, given all columns of the table.
pub(super) fn filtered(what: &What, rows: usize, column: &dyn Fn(usize) -> Result<ArrayRef>) -> Result<RecordBatch> {
    let wanted = what.filter.as_ref().map(|filter| filter.evaluate(column, rows)).transpose()?;
    let count = wanted.as_ref().map_or(rows, BooleanArray::true_count);
    let wanted = wanted.filter(|_| count < rows);
    if count == 0 {
        return batch(what, Vec::new(), 0);
    }
    let array = |(at, field): &(usize, arrow_schema::FieldRef)| {
        let array = cut(&column(*at)?, field)?;
        match &wanted {
            None => Ok(array),
            Some(wanted) => filter(&array, wanted).map_err(|error| Error::limit("wanted rows").with_source(error)),
        }
    };
    batch(what, what.chosen.iter().map(array).collect::<Result<_>>()?, count)
}
