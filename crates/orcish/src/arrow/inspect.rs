//! Row groups one by one, with what is recorded of them: for who compares the two.

use std::sync::Arc;

use arrow_array::{Array as _, ArrayRef};
use bytes::Bytes;

use super::plan::Plan;
use super::read::Budget;
use super::rows::RowReader;
use crate::bloom::BloomFilters;
use crate::error::{Error, Result};
use crate::index::{Groups, Indexes};
use crate::options::{ColumnForm, TimestampUnit};
use crate::statistics::ColumnStatistics;
use crate::stripe::{IndexKind, Stripe, read_within};
use crate::tail::StripeInfo;
use crate::tuning;

/// The stripes of a file, all columns in their natural types, but timestamps of seconds and milliseconds.
pub(crate) struct Inspector(Arc<Plan>);

impl Inspector {
    pub(super) fn new(plan: Plan) -> Self {
        Inspector(Arc::new(plan))
    }

    /// Nanoseconds of the unit in which timestamps of a column are read.
    pub(crate) fn ticks(&self, column: u32) -> i128 {
        match self.0.options.column_forms.get(&column) {
            Some(ColumnForm::Timestamp(Some(TimestampUnit::Second), _)) => 1_000_000_000,
            Some(ColumnForm::Timestamp(Some(TimestampUnit::Millisecond), _)) => 1_000_000,
            _ => 1_000,
        }
    }

    /// The row groups of a stripe.
    pub(crate) fn stripe(&self, index: usize) -> Result<StripeInspector> {
        StripeInspector::open(&self.0, index).map_err(|error| error.in_stripe(index).in_file(self.0.source.name()))
    }
}

/// The row groups of a stripe.
pub(crate) struct StripeInspector {
    plan: Arc<Plan>,
    index: usize,
    stripe: Stripe,
    indexes: Indexes,
    pub(crate) groups: Groups,
    /// Goes through all of them.
    all: RowReader,
    /// Go by the index, one column each: to those of even and of odd numbers, so that each is sought.
    sought: Vec<[At; 2]>,
    next: usize,
    /// Rows of the row group that have not been read.
    left: usize,
}

/// A reader that goes by the row index.
enum At {
    Row(Box<RowReader>),
    /// The index led it nowhere, which is said once.
    Lost(Option<Error>),
}

/// Some rows of a row group.
pub(crate) struct Piece {
    /// The columns, read one row group after the other.
    pub(crate) columns: Vec<ArrayRef>,
    /// The same rows of each column in parts, read by the row index; none where that is not possible, or has led nowhere
    /// before, and the error where it leads nowhere.
    pub(crate) sought: Vec<Option<Result<Vec<ArrayRef>>>>,
}

impl StripeInspector {
    fn open(plan: &Arc<Plan>, index: usize) -> Result<Self> {
        let tail = plan.tail();
        let stripe = plan.begin(index)?;
        let has_index = tail.row_index_stride > 0;
        let stride = if has_index {
            tail.row_index_stride
        } else {
            u32::try_from(tuning::ROWS_WITHOUT_INDEX.get()).unwrap_or(u32::MAX)
        };
        let groups = Groups::new(stripe.rows, stride);
        let mut indexes = Indexes::new();
        let mut all = plan.rows_of_columns(&stripe, &plan.columns)?;
        let can_seek = has_index && plan.index_columns(&stripe, groups, &all.ids, &mut indexes)?;
        let whole = std::iter::once(0..groups.count()).collect::<Vec<_>>();
        let parts = all.parts(&stripe, &indexes, &whole, tail)?;
        stripe.load(plan.source(), &parts, plan.limits())?;
        let one = |column| {
            let mut reader = plan.rows_of_columns(&stripe, std::slice::from_ref(column))?;
            reader.can_seek = true;
            Ok::<_, Error>(At::Row(Box::new(reader)))
        };
        let pair = |column| Ok::<_, Error>([one(column)?, one(column)?]);
        let sought = if can_seek { plan.columns.iter().map(pair).collect::<Result<_>>()? } else { Vec::new() };
        let plan = plan.clone();
        Ok(StripeInspector { plan, index, stripe, indexes, groups, all, sought, next: 0, left: 0 })
    }

    fn placed(&self, error: Error) -> Error {
        error.in_stripe(self.index).in_file(self.plan.source.name())
    }

    /// Goes to the next row group; false where there is none.
    pub(crate) fn next_group(&mut self) -> Result<bool> {
        if self.next >= self.groups.count() {
            return Ok(false);
        }
        let group = self.next;
        self.next += 1;
        let rows = self.groups.rows(group);
        self.left = usize::try_from(rows.end - rows.start).unwrap_or(usize::MAX);
        self.all.go_to(rows.start, &self.groups, &self.indexes).map_err(|error| self.placed(error))?;
        for pair in &mut self.sought {
            let Some(slot) = pair.get_mut(group % 2) else { continue };
            if let At::Row(reader) = slot
                && let Err(error) = reader.go_to(rows.start, &self.groups, &self.indexes)
            {
                *slot = At::Lost(Some(error));
            }
        }
        Ok(true)
    }

    /// The next rows of the row group.
    pub(crate) fn next_piece(&mut self) -> Result<Option<Piece>> {
        if self.left == 0 || self.all.is_empty() {
            return Ok(None);
        }
        let budget = self.plan.budget();
        let columns =
            self.all.read(self.left.min(tuning::ROWS_INSPECTED.get()), budget).map_err(|error| self.placed(error))?;
        let rows = columns.first().map_or(0, |array| array.len());
        self.left = if rows == 0 { 0 } else { self.left.saturating_sub(rows) };
        let parity = (self.next + 1) % 2;
        let seek = |pair: &mut [At; 2]| {
            let slot = pair.get_mut(parity)?;
            let found = match slot {
                At::Row(reader) => read(reader, rows, budget),
                At::Lost(error) => return error.take().map(Err),
            };
            if found.is_err() {
                // Where it is now, nobody knows.
                *slot = At::Lost(None);
            }
            Some(found)
        };
        Ok(Some(Piece { columns, sought: self.sought.iter_mut().map(seek).collect() }))
    }

    /// What is recorded of a row group of a column.
    pub(crate) fn recorded(&self, column: u32, group: usize) -> Result<Option<ColumnStatistics>> {
        let Some(index) = self.indexes.get(&column) else { return Ok(None) };
        index.statistics(column, group, self.plan.tail()).map_err(|error| self.placed(error))
    }

    /// The bloom filters of a column, of the kind that is written today.
    pub(crate) fn bloom_filters(&self, column: u32) -> Result<Option<BloomFilters>> {
        let Some(range) = self.stripe.index(column, IndexKind::BloomFilterUtf8) else { return Ok(None) };
        let stored = read_within(self.plan.source(), &[range], self.plan.limits())?.pop().unwrap_or_default();
        let section = self.decompress(stored).map_err(|error| self.placed(error))?;
        let filters = BloomFilters::parse(section, self.groups.count(), self.plan.memory.left());
        filters.map(Some).map_err(|error| self.placed(error))
    }

    /// The footer of the stripe, decompressed.
    pub(crate) fn footer(&self) -> Result<Bytes> {
        let range = self.plan.tail().stripes.get(self.index).map(StripeInfo::footer).unwrap_or_default();
        let stored = read_within(self.plan.source(), &[range], self.plan.limits())?.pop().unwrap_or_default();
        self.decompress(stored).map_err(|error| self.placed(error))
    }

    fn decompress(&self, stored: Bytes) -> Result<Bytes> {
        crate::codec::decompress_all(stored, self.stripe.framing(), self.plan.memory.left())
    }
}

/// The next `rows` rows of the only column of a reader, in parts.
fn read(reader: &mut RowReader, rows: usize, budget: Budget) -> Result<Vec<ArrayRef>> {
    let (mut parts, mut left) = (Vec::new(), rows);
    while left > 0 {
        let part = reader.read(left, budget)?.into_iter().next();
        let part = part.filter(|part| !part.is_empty()).ok_or_else(|| Error::corrupt("there are no more rows"))?;
        left -= part.len().min(left);
        parts.push(part);
    }
    Ok(parts)
}
