//! Row groups one by one, with what is recorded of them: for who compares the two.

use std::sync::Arc;

use arrow_array::ArrayRef;
use arrow_select::concat::concat;
use bytes::Bytes;

use super::plan::Plan;
use super::rows::RowReader;
use crate::bloom::BloomFilters;
use crate::error::{Error, Result};
use crate::index::{Groups, Indexes};
use crate::statistics::ColumnStatistics;
use crate::stripe::{IndexKind, Stripe, read_within};

/// Rows that are taken for a row group where the file has none.
const ROWS_WITHOUT_INDEX: u32 = 10_000;

/// The stripes of a file, all columns in their natural types.
pub(crate) struct Inspector(Arc<Plan>);

impl Inspector {
    pub(super) fn new(plan: Plan) -> Self {
        Inspector(Arc::new(plan))
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
    /// Whether there is a row index that can be gone by.
    can_seek: bool,
    /// Goes through all of them.
    all: RowReader,
    /// Go by the index, one column each: to those of even and of odd numbers, so that each is sought. None where it led
    /// nowhere.
    sought: Vec<[Option<RowReader>; 2]>,
    next: usize,
}

/// The columns of a row group.
pub(crate) struct RowGroup {
    /// Read one after the other.
    pub(crate) columns: Vec<ArrayRef>,
    /// Each read by the row index, where that is possible; the error where it leads nowhere.
    pub(crate) sought: Option<Vec<Result<ArrayRef>>>,
}

impl StripeInspector {
    fn open(plan: &Arc<Plan>, index: usize) -> Result<Self> {
        let tail = plan.tail();
        let stripe = plan.begin(index)?;
        let has_index = tail.row_index_stride > 0;
        let stride = if has_index { tail.row_index_stride } else { ROWS_WITHOUT_INDEX };
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
            Ok::<_, Error>(Some(reader))
        };
        let pair = |column| Ok::<_, Error>([one(column)?, one(column)?]);
        let sought = if can_seek { plan.columns.iter().map(pair).collect::<Result<_>>()? } else { Vec::new() };
        let plan = plan.clone();
        Ok(StripeInspector { plan, index, stripe, indexes, groups, can_seek, all, sought, next: 0 })
    }

    fn placed(&self, error: Error) -> Error {
        error.in_stripe(self.index).in_file(self.plan.source.name())
    }

    /// The next row group.
    pub(crate) fn next_group(&mut self) -> Result<Option<RowGroup>> {
        if self.next >= self.groups.count() {
            return Ok(None);
        }
        let group = self.next;
        self.next += 1;
        let (plan, groups, indexes) = (&self.plan, &self.groups, &self.indexes);
        let all = read(&mut self.all, group, groups, indexes, plan).map_err(|error| self.placed(error))?;
        let seek = |pair: &mut [Option<RowReader>; 2]| {
            let slot = pair.get_mut(group % 2)?;
            let found = read(slot.as_mut()?, group, groups, indexes, plan);
            let found = found.map(|arrays| arrays.into_iter().next());
            match found {
                Ok(array) => array.map(Ok),
                Err(error) => {
                    // Where it is now, nobody knows.
                    *slot = None;
                    Some(Err(error))
                }
            }
        };
        let missing = || Error::corrupt("an entry before leads nowhere");
        let sought = self.sought.iter_mut().map(|pair| seek(pair).unwrap_or_else(|| Err(missing())));
        let sought = self.can_seek.then(|| sought.collect());
        Ok(Some(RowGroup { columns: all, sought }))
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
        BloomFilters::parse(section, self.groups.count()).map(Some).map_err(|error| self.placed(error))
    }

    fn decompress(&self, stored: Bytes) -> Result<Bytes> {
        crate::codec::decompress_all(stored, self.stripe.framing(), self.plan.limits().memory)
    }
}

/// The columns of a row group.
fn read(
    reader: &mut RowReader,
    group: usize,
    groups: &Groups,
    indexes: &Indexes,
    plan: &Plan,
) -> Result<Vec<ArrayRef>> {
    let rows = groups.rows(group);
    reader.go_to(rows.start, groups, indexes)?;
    let mut left = usize::try_from(rows.end - rows.start).unwrap_or(usize::MAX);
    let mut parts: Vec<Vec<ArrayRef>> = Vec::new();
    while left > 0 && !reader.is_empty() {
        let arrays = reader.read(left, plan.budget())?;
        left -= arrays.first().map_or(left, |array| array.len()).min(left);
        parts.push(arrays);
    }
    if let [one] = &mut parts[..] {
        return Ok(std::mem::take(one));
    }
    let column = |at: usize| {
        let pieces: Vec<_> = parts.iter().filter_map(|part| part.get(at).map(|array| &**array)).collect();
        concat(&pieces).map_err(|error| Error::limit("a row group too large for one array").with_source(error))
    };
    (0..reader.count()).map(column).collect()
}
