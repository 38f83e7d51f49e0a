//! A stripe of which only the rows are read for which a condition is true.
//!
//! 1. Row indexes and bloom filters of the columns that the condition asks say which row groups may have such rows.
//! 2. Those columns are read, of these row groups, and the condition says which rows it is.
//! 3. The other columns are read where there are such rows: whole row groups without any are neither fetched nor
//!    decompressed, and rows between are passed over.
//!
//! Steps 2 and 3 alternate, so that what is kept between them is bounded, however large the stripe.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

use arrow_array::{Array as _, ArrayRef, Int64Array};
use arrow_buffer::BooleanBuffer;
use orcish_core::error::Result;
use orcish_core::predicate::{Truth, evaluate};

use super::decoded::DecodedRows;
use super::filter::{Filter, runs};
use super::gather::{joined, keep, size};
use super::plan::Plan;
use super::rows::RowReader;
use crate::index::{Indexes, RowGroups};
use crate::stripe::{StreamRanges, Stripe};
use crate::tuning;

/// Rows of which some are wanted.
struct Window {
    first_row: u64,
    /// A bit for each row.
    wanted: BooleanBuffer,
    /// Wanted rows.
    count: usize,
    /// The columns that were read already, wanted rows only.
    arrays: Vec<Option<ArrayRef>>,
}

/// A stripe that is being filtered.
pub(super) struct FilteredStripe {
    stripe: Stripe,
    first_row: u64,
    groups: RowGroups,
    indexes: Indexes,
    /// Row groups that may have wanted rows, and whether all of them are; ascending.
    kept: VecDeque<(Range<usize>, Truth)>,
    /// How much of the first of `kept` has been looked at, in rows of the stripe.
    looked_at: u64,
    asked: RowReader,
    rest: RowReader,
    /// Whether indexes of the other columns have been looked for.
    has_rest_index: bool,
    windows: VecDeque<Window>,
}

impl FilteredStripe {
    /// Reads the footer of a stripe, and its indexes as far as they help.
    pub(super) fn open(plan: &Plan, filter: &Filter, index: usize) -> Result<Self> {
        let stripe = plan.begin(index)?;
        let pruned = plan.prune(filter, &stripe, index)?;
        let (groups, indexes) = (pruned.groups, pruned.indexes);
        let asked = plan.rows_of_columns(&stripe, &filter.asked)?;
        let rest = plan.rows_of_columns(&stripe, &filter.rest(&plan.columns))?;
        let kept: Vec<_> = runs(&pruned.verdicts).collect();
        let is_needed = filter.is_needed(&kept);
        let all: Vec<Range<usize>> = kept.iter().map(|(run, _)| run.clone()).collect();
        let mut this = FilteredStripe {
            first_row: plan.first_row_of(index),
            stripe,
            groups,
            indexes,
            kept: kept.into(),
            looked_at: 0,
            asked,
            rest,
            has_rest_index: false,
            windows: VecDeque::new(),
        };
        this.asked.can_seek = pruned.can_seek;
        if is_needed {
            let parts = this.asked.parts(&this.stripe, &this.indexes, &all, plan.tail())?;
            this.load(&parts, plan)?;
        }
        Ok(this)
    }

    fn load(&self, parts: &StreamRanges, plan: &Plan) -> Result<()> {
        self.stripe.load(plan.source(), parts, plan.limits())
    }

    /// The next rows; none in a part without rows, which is no end. `left` is what is left of the stripe.
    pub(super) fn next(&mut self, left: u64, plan: &Plan, filter: &Filter) -> Result<DecodedRows> {
        if self.windows.is_empty() {
            if let Some(rows) = self.count_wanted(plan) {
                let is_end = self.kept.is_empty();
                return Ok(DecodedRows { arrays: Vec::new(), rows, bytes: 0, passed: if is_end { left } else { 0 } });
            }
            self.look_ahead(plan, filter)?;
            self.load_rest(plan)?;
        }
        let mut pieces: Vec<Vec<ArrayRef>> = vec![Vec::new(); self.rest.count()];
        let (mut batch, mut rows, mut bytes) = (Vec::new(), 0, 0);
        while bytes < most_bytes(plan)
            && self.windows.front().is_some_and(|window| rows == 0 || rows + window.count <= plan.batch_size)
            && let Some(window) = self.windows.pop_front()
        {
            let done = self.read_window(&window, plan, &mut pieces, &mut bytes)?;
            let (window, later) = window.split(done);
            if let Some(later) = later {
                self.windows.push_front(later);
            }
            rows += window.count;
            bytes += window.bytes();
            batch.push(window);
        }
        let is_end = self.windows.is_empty() && self.kept.is_empty();
        let arrays = if batch.is_empty() { Vec::new() } else { self.arrays(&batch, pieces, plan, filter)? };
        let bytes = arrays.iter().map(|array| array.get_buffer_memory_size() as u64).sum();
        Ok(DecodedRows { arrays, rows, bytes, passed: if is_end { left } else { 0 } })
    }

    /// The number of rows ahead of which all are wanted, where they have no columns: however many a file may state.
    fn count_wanted(&mut self, plan: &Plan) -> Option<usize> {
        if !plan.columns.is_empty() || plan.options.row_number.is_some() {
            return None;
        }
        let (run, _) = self.kept.front().filter(|(_, truth)| *truth == Truth::Always)?;
        let Range { start, end } = self.not_looked_at(run);
        let rows = usize::try_from(end.saturating_sub(start)).ok()?;
        self.kept.pop_front();
        self.looked_at = end;
        Some(rows)
    }

    /// Rows of a run of row groups that have not been looked at: of the first of `kept` some may have been.
    fn not_looked_at(&self, run: &Range<usize>) -> Range<u64> {
        let end = self.groups.rows(run.end.saturating_sub(1)).end;
        self.groups.rows(run.start).start.max(self.looked_at)..end
    }

    /// Decides the condition for rows ahead, until enough of them are wanted or all have been looked at.
    fn look_ahead(&mut self, plan: &Plan, filter: &Filter) -> Result<()> {
        let (mut rows, mut bytes, mut found) = (0usize, 0u64, 0u64);
        let enough = plan.options.limit.unwrap_or(u64::MAX);
        while rows < tuning::ROWS_AHEAD.get() && bytes < plan.limits().memory / 8 && found < enough {
            let Some((run, truth)) = self.kept.front().cloned() else { break };
            let Range { start, end } = self.not_looked_at(&run);
            let left = usize::try_from(end.saturating_sub(start)).unwrap_or(usize::MAX);
            let window = self.window(start, left.min(plan.batch_size), truth, plan, filter)?;
            let n = window.wanted.len();
            self.looked_at = start + n as u64;
            if self.looked_at >= end {
                self.kept.pop_front();
            }
            rows += n;
            found += window.count as u64;
            if window.count > 0 {
                bytes += window.bytes();
                self.windows.push_back(window);
            }
        }
        Ok(())
    }

    /// Decides the condition for up to `rows` rows from `start`, and keeps what was read of those that are wanted.
    fn window(&mut self, start: u64, rows: usize, truth: Truth, plan: &Plan, filter: &Filter) -> Result<Window> {
        let none = vec![None; filter.asked.len()];
        if truth == Truth::Always && filter.shared.iter().all(Option::is_none) {
            return Ok(Window { first_row: start, wanted: BooleanBuffer::new_set(rows), count: rows, arrays: none });
        }
        self.asked.go_to(start, &self.groups, &self.indexes)?;
        let arrays = self.asked.read(rows, plan.budget())?;
        let rows = arrays.first().map_or(rows, |array| array.len());
        let wanted = match truth {
            Truth::Always => BooleanBuffer::new_set(rows),
            _ => evaluate(&filter.condition, rows, &|leaf| filter.values(leaf, &arrays))?,
        };
        let count = wanted.count_set_bits();
        let is_shared = |at: usize| filter.shared.contains(&Some(at));
        let arrays = match count {
            0 => none,
            count => {
                let keep = keep(&wanted, count);
                let kept = |(at, array): (usize, &ArrayRef)| is_shared(at).then(|| keep(array)).transpose();
                arrays.iter().enumerate().map(kept).collect::<Result<_>>()?
            }
        };
        Ok(Window { first_row: start, wanted, count, arrays })
    }

    /// Reads the streams of the other columns, of the row groups that have wanted rows.
    fn load_rest(&mut self, plan: &Plan) -> Result<()> {
        if self.windows.is_empty() || self.rest.is_empty() {
            return Ok(());
        }
        let mut wanted: Vec<Range<usize>> = Vec::new();
        for window in &self.windows {
            for (from, to) in window.wanted.set_slices() {
                let group = |row: usize| self.groups.group_of(window.first_row + row as u64);
                let (first, last) = (group(from), group(to - 1));
                match wanted.last_mut() {
                    Some(run) if first <= run.end => run.end = run.end.max(last + 1),
                    _ => wanted.push(first..last + 1),
                }
            }
        }
        let is_all = wanted.first().is_some_and(|run| *run == (0..self.groups.count()));
        if !is_all && !self.has_rest_index {
            self.has_rest_index = true;
            self.rest.can_seek = plan.index_columns(&self.stripe, self.groups, &self.rest.ids, &mut self.indexes)?;
        }
        if !self.rest.can_seek {
            // Without positions there is one way, from the first row on; what is there of it stays.
            if self.rest.is_loaded {
                return Ok(());
            }
            self.rest.is_loaded = true;
            wanted = std::iter::once(0..self.groups.count()).collect();
        }
        let parts = self.rest.parts(&self.stripe, &self.indexes, &wanted, plan.tail())?;
        self.load(&parts, plan)
    }

    /// The columns of the batch of these windows, and of `pieces` of the other columns.
    fn arrays(
        &self,
        windows: &[Window],
        pieces: Vec<Vec<ArrayRef>>,
        plan: &Plan,
        filter: &Filter,
    ) -> Result<Vec<ArrayRef>> {
        let mut rest = pieces.into_iter();
        let mut columns = Vec::with_capacity(filter.shared.len() + 1);
        for shared in &filter.shared {
            let pieces = match shared {
                Some(at) => windows.iter().filter_map(|window| window.arrays.get(*at)?.clone()).collect(),
                None => rest.next().unwrap_or_default(),
            };
            columns.push(joined(pieces)?);
        }
        if plan.options.row_number.is_some() {
            let first_row = self.first_row;
            let numbers = windows.iter().flat_map(|window| {
                let row = |at: usize| i64::try_from(first_row + window.first_row + at as u64).unwrap_or(i64::MAX);
                window.wanted.set_indices().map(row)
            });
            columns.push(Arc::new(numbers.collect::<Int64Array>()));
        }
        Ok(columns)
    }

    /// Reads the other columns of a window, and appends what is wanted to `pieces`, until they are as many `bytes` as
    /// a batch should have. Says how many rows of the window are done.
    fn read_window(
        &mut self,
        window: &Window,
        plan: &Plan,
        pieces: &mut [Vec<ArrayRef>],
        bytes: &mut u64,
    ) -> Result<usize> {
        let spans = if self.rest.is_empty() { Vec::new() } else { spans(&window.wanted) };
        for span in spans {
            let mut from = span.start;
            while from < span.end {
                self.rest.go_to(window.first_row + from as u64, &self.groups, &self.indexes)?;
                let arrays = self.rest.read(span.end - from, plan.budget())?;
                let rows = arrays.first().map_or(span.end - from, |array| array.len());
                let wanted = window.wanted.slice(from, rows);
                let keep = keep(&wanted, wanted.count_set_bits());
                for (array, pieces) in arrays.iter().zip(pieces.iter_mut()) {
                    let kept = keep(array)?;
                    *bytes += size(&kept);
                    pieces.push(kept);
                }
                from += rows;
                if *bytes >= most_bytes(plan) {
                    return Ok(from);
                }
            }
        }
        Ok(window.wanted.len())
    }
}

/// Bytes from which on a batch gets no more rows.
fn most_bytes(plan: &Plan) -> u64 {
    (plan.limits().memory / 8).min(tuning::BATCH_BYTES.wide())
}

impl Window {
    /// The first `rows` rows, and the others if there are wanted ones among them.
    fn split(self, rows: usize) -> (Self, Option<Self>) {
        let others = self.wanted.len().saturating_sub(rows);
        let first = self.wanted.slice(0, self.wanted.len() - others);
        let count = first.count_set_bits();
        if count == self.count {
            return (self, None);
        }
        let part = |from: usize, count: usize| {
            let cut = |array: &Option<ArrayRef>| array.as_ref().map(|array| array.slice(from, count));
            self.arrays.iter().map(cut).collect()
        };
        let (arrays, of_later) = (part(0, count), part(count, self.count - count));
        let later = Window {
            first_row: self.first_row + rows as u64,
            wanted: self.wanted.slice(rows, others),
            count: self.count - count,
            arrays: of_later,
        };
        (Window { first_row: self.first_row, wanted: first, count, arrays }, Some(later))
    }

    /// Bytes of the columns that were read already.
    fn bytes(&self) -> u64 {
        self.arrays.iter().flatten().map(size).sum()
    }
}

/// Ranges of rows that are decoded at once: wanted ones, and what is between near ones.
fn spans(wanted: &BooleanBuffer) -> Vec<Range<usize>> {
    let near = tuning::ROWS_WORTH_SKIPPING.get();
    let mut spans: Vec<Range<usize>> = Vec::new();
    for (from, to) in wanted.set_slices() {
        match spans.last_mut() {
            Some(span) if from - span.end < near => span.end = to,
            _ => spans.push(from..to),
        }
    }
    spans
}
