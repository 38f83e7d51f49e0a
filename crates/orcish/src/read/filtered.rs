//! A stripe of which only the matching rows are read.
//!
//! 1. Row indexes and bloom filters of the filter columns select the row groups that may have matching rows.
//! 2. The filter columns of these row groups are read, and the condition selects rows.
//! 3. The payload columns of row groups with selected rows are read. Rows between selected rows are skipped.
//!
//! Steps 2 and 3 alternate, so that the memory between them is bounded for stripes of any size.

use std::collections::VecDeque;
use std::ops::Range;

use arrow_array::{Array as _, ArrayRef};
use arrow_buffer::BooleanBuffer;
use orcish_core::error::{OrInternal as _, Result};
use orcish_core::predicate::{Pruning, Truth};
use orcish_core::select::{array_size, concat_arrays, row_selector};

use super::decoded::DecodedRows;
use super::filter::{Filter, row_numbers, runs};
use super::indexes::index_columns;
use super::opener::Opener;
use super::row_group_plan::plan_row_groups;
use super::rows::RowReader;
use super::stripe_plan::PlannedStripe;
use crate::index::{Indexes, RowGroups};
use crate::predicate::ROW_NUMBERS;
use crate::stripe::{StreamRanges, Stripe};
use crate::tuning;

/// Evaluated rows, of which some are selected.
struct Window {
    first_row: u64,
    /// A bit for each row.
    selected: BooleanBuffer,
    /// Number of selected rows.
    count: usize,
    /// Selected rows of filter columns that are also columns of the batches.
    arrays: Vec<Option<ArrayRef>>,
}

/// A stripe that is being filtered.
pub(super) struct FilteredStripe {
    stripe: Stripe,
    first_row: u64,
    groups: RowGroups,
    indexes: Indexes,
    /// Rows of the stripe that have not been evaluated and may match, ascending, and whether all of them match.
    runs: VecDeque<(Range<u64>, Truth)>,
    filter_columns: RowReader,
    payload_columns: RowReader,
    /// Whether the row indexes of the payload columns have been read.
    has_payload_index: bool,
    windows: VecDeque<Window>,
}

impl FilteredStripe {
    /// Reads the footer of a stripe, and the indexes that help.
    pub(super) fn open(opener: &Opener, filter: &Filter, planned: &PlannedStripe) -> Result<Self> {
        let stripe = opener.begin(planned.index)?;
        let plan = plan_row_groups(opener, filter, &stripe, planned)?;
        let filter_columns = opener.row_reader(&stripe, &filter.columns)?;
        let payload_columns = opener.row_reader(&stripe, &filter.payload_columns(&opener.request.columns))?;
        let kept: Vec<_> = runs(&plan.prunings).collect();
        let is_needed = filter.is_needed(&kept);
        let kept_runs: Vec<Range<usize>> = kept.iter().map(|(run, _)| run.clone()).collect();
        let groups = plan.groups;
        let rows = |run: Range<usize>| groups.rows(run.start).start..groups.rows(run.end.saturating_sub(1)).end;
        let mut this = FilteredStripe {
            first_row: planned.first_row,
            stripe,
            groups,
            indexes: plan.indexes,
            runs: kept.into_iter().map(|(run, truth)| (rows(run), truth)).collect(),
            filter_columns,
            payload_columns,
            has_payload_index: false,
            windows: VecDeque::new(),
        };
        this.filter_columns.can_seek = plan.can_seek;
        if is_needed {
            let parts = this.filter_columns.parts(&this.stripe, &this.indexes, &kept_runs, opener.tail())?;
            this.load(&parts, opener)?;
        }
        Ok(this)
    }

    fn load(&self, parts: &StreamRanges, opener: &Opener) -> Result<()> {
        self.stripe.load(parts, opener.limits())
    }

    /// The next rows. No rows are not the end. `remaining_rows` is the number of rows of the stripe that are left.
    pub(super) fn next(&mut self, remaining_rows: u64, opener: &Opener, filter: &Filter) -> Result<DecodedRows> {
        if self.windows.is_empty() {
            self.decide_by_row_numbers(opener, filter)?;
            if let Some(rows) = self.count_selected(opener) {
                let passed = if self.runs.is_empty() { remaining_rows } else { 0 };
                return Ok(DecodedRows { arrays: Vec::new(), rows, bytes: 0, passed });
            }
            self.evaluate_ahead(opener, filter)?;
            self.load_payload_columns(opener)?;
        }
        let mut pieces: Vec<Vec<ArrayRef>> = vec![Vec::new(); self.payload_columns.count()];
        let (mut batch, mut rows, mut bytes) = (Vec::new(), 0, 0);
        while bytes < max_bytes(opener)
            && self.windows.front().is_some_and(|window| rows == 0 || rows + window.count <= opener.request.batch_size)
            && let Some(window) = self.windows.pop_front()
        {
            let done = self.read_window(&window, opener, &mut pieces, &mut bytes)?;
            let (window, later) = window.split(done);
            if let Some(later) = later {
                self.windows.push_front(later);
            }
            rows += window.count;
            bytes += window.bytes();
            batch.push(window);
        }
        let is_end = self.windows.is_empty() && self.runs.is_empty();
        let arrays = if batch.is_empty() { Vec::new() } else { self.arrays(&batch, pieces, opener, filter)? };
        let bytes = arrays.iter().map(|array| array.get_buffer_memory_size() as u64).sum();
        Ok(DecodedRows { arrays, rows, bytes, passed: if is_end { remaining_rows } else { 0 } })
    }

    /// The number of rows ahead that all match, if no column is read: a file may state any number of rows.
    fn count_selected(&mut self, opener: &Opener) -> Option<usize> {
        if !opener.request.columns.is_empty() || opener.request.is_numbered() {
            return None;
        }
        let (run, _) = self.runs.front().filter(|(_, truth)| *truth == Truth::Always)?;
        let rows = usize::try_from(run.end.saturating_sub(run.start)).ok()?;
        self.runs.pop_front();
        Some(rows)
    }

    /// Decides the first rows that are undecided by their numbers, where the numbers suffice: a row group may state any number
    /// of rows. Rows that do not match are dropped.
    fn decide_by_row_numbers(&mut self, opener: &Opener, filter: &Filter) -> Result<()> {
        let (condition, batch) = (filter.condition(), opener.request.batch_size as u64);
        while let Some((Range { start, end }, Truth::Maybe)) = self.runs.front().cloned() {
            let first = self.first_row + start;
            let truth_of = |length: u64| -> Result<Truth> {
                let mut pruning = Pruning::UNKNOWN;
                condition.prune_row_numbers(&mut pruning, &(first..first.saturating_add(length)), ROW_NUMBERS)?;
                Ok(pruning.truth())
            };
            let mut length = batch.min(end - start);
            let truth = truth_of(length)?;
            if truth == Truth::Maybe {
                return Ok(());
            }
            while length < end - start {
                let longer = length.saturating_mul(2).min(end - start);
                if truth_of(longer)? != truth {
                    break;
                }
                length = longer;
            }
            self.runs.pop_front();
            if start + length < end {
                self.runs.push_front((start + length..end, Truth::Maybe));
            }
            if truth == Truth::Always {
                self.runs.push_front((start..start + length, truth));
            }
        }
        Ok(())
    }

    /// Evaluates the condition for rows ahead, until enough rows are selected or none are left.
    fn evaluate_ahead(&mut self, opener: &Opener, filter: &Filter) -> Result<()> {
        let (mut rows, mut bytes, mut selected) = (0usize, 0u64, 0u64);
        let enough = opener.request.options.limit.unwrap_or(u64::MAX);
        while rows < tuning::ROWS_AHEAD.get() && bytes < max_bytes(opener) && selected < enough {
            self.decide_by_row_numbers(opener, filter)?;
            let Some((Range { start, end }, truth)) = self.runs.pop_front() else { break };
            let remaining = usize::try_from(end.saturating_sub(start)).unwrap_or(usize::MAX);
            let window = self.window(start, remaining.min(opener.request.batch_size), truth, opener, filter)?;
            let n = window.selected.len();
            let next = start + n as u64;
            if next < end {
                self.runs.push_front((next..end, truth));
            }
            rows += n;
            selected += window.count as u64;
            if window.count > 0 {
                bytes += window.bytes();
                self.windows.push_back(window);
            }
        }
        Ok(())
    }

    /// Evaluates the condition for up to `rows` rows from `start`.
    fn window(&mut self, start: u64, rows: usize, truth: Truth, opener: &Opener, filter: &Filter) -> Result<Window> {
        let none = vec![None; filter.columns.len()];
        if truth == Truth::Always && filter.shared.iter().all(Option::is_none) {
            return Ok(Window { first_row: start, selected: BooleanBuffer::new_set(rows), count: rows, arrays: none });
        }
        let arrays = if self.filter_columns.is_empty() {
            Vec::new()
        } else {
            self.filter_columns.go_to(start, &self.groups, &self.indexes)?;
            self.filter_columns.read(rows, opener.request.budget(1))?
        };
        let rows = arrays.first().map_or(rows, |array| array.len());
        let first = self.first_row + start;
        let selected = match truth {
            Truth::Always => BooleanBuffer::new_set(rows),
            Truth::Maybe | Truth::Never => filter.evaluate(&arrays, first..first + rows as u64)?,
        };
        let count = selected.count_set_bits();
        let is_shared = |at: usize| filter.shared.contains(&Some(at));
        let arrays = match count {
            0 => none,
            count => {
                let select = row_selector(&selected, count);
                let kept = |(at, array): (usize, &ArrayRef)| is_shared(at).then(|| select(array)).transpose();
                arrays.iter().enumerate().map(kept).collect::<Result<_>>()?
            }
        };
        Ok(Window { first_row: start, selected, count, arrays })
    }

    /// Reads the streams of the payload columns, of the row groups with selected rows.
    fn load_payload_columns(&mut self, opener: &Opener) -> Result<()> {
        if self.windows.is_empty() || self.payload_columns.is_empty() {
            return Ok(());
        }
        let mut selected: Vec<Range<usize>> = Vec::new();
        for window in &self.windows {
            for (from, to) in window.selected.set_slices() {
                let group = |row: usize| self.groups.group_of(window.first_row + row as u64);
                let (first, last) = (group(from), group(to - 1));
                match selected.last_mut() {
                    Some(run) if first <= run.end => run.end = run.end.max(last + 1),
                    _ => selected.push(first..last + 1),
                }
            }
        }
        let is_all = selected.first().is_some_and(|run| *run == (0..self.groups.count()));
        if !is_all && !self.has_payload_index {
            self.has_payload_index = true;
            self.payload_columns.can_seek =
                index_columns(opener, &self.stripe, self.groups, &self.payload_columns.ids, &mut self.indexes)?;
        }
        if !self.payload_columns.can_seek {
            // Without positions the columns are read from their first row, once for all.
            if self.payload_columns.is_loaded {
                return Ok(());
            }
            self.payload_columns.is_loaded = true;
            selected = std::iter::once(0..self.groups.count()).collect();
        }
        let parts = self.payload_columns.parts(&self.stripe, &self.indexes, &selected, opener.tail())?;
        self.load(&parts, opener)
    }

    /// The columns of a batch: `windows` have the filter columns, `pieces` the payload columns.
    fn arrays(
        &self,
        windows: &[Window],
        pieces: Vec<Vec<ArrayRef>>,
        opener: &Opener,
        filter: &Filter,
    ) -> Result<Vec<ArrayRef>> {
        let mut payload = pieces.into_iter();
        let mut columns = Vec::with_capacity(filter.shared.len() + 1);
        for shared in &filter.shared {
            let pieces = match shared {
                Some(at) => {
                    let array = |window: &Window| window.arrays.get(*at).cloned().flatten();
                    let arrays = windows.iter().map(|window| array(window).or_internal("a filter column was not kept"));
                    arrays.collect::<Result<_>>()?
                }
                None => payload.next().or_internal("a payload column was not read")?,
            };
            columns.push(concat_arrays(pieces)?);
        }
        if opener.request.is_numbered() {
            let first_row = self.first_row;
            let numbers = windows.iter().flat_map(|window| {
                window.selected.set_indices().map(move |at| first_row + window.first_row + at as u64)
            });
            columns.push(row_numbers(numbers)?);
        }
        Ok(columns)
    }

    /// Appends the selected rows of the payload columns of a window to `pieces`, until they have the `bytes` of a batch.
    /// Returns the number of rows of the window that are done.
    fn read_window(
        &mut self,
        window: &Window,
        opener: &Opener,
        pieces: &mut [Vec<ArrayRef>],
        bytes: &mut u64,
    ) -> Result<usize> {
        let spans = if self.payload_columns.is_empty() { Vec::new() } else { spans(&window.selected) };
        for span in spans {
            let mut from = span.start;
            while from < span.end {
                self.payload_columns.go_to(window.first_row + from as u64, &self.groups, &self.indexes)?;
                let arrays = self.payload_columns.read(span.end - from, opener.request.budget(1))?;
                let rows = arrays.first().map_or(span.end - from, |array| array.len());
                let selected = window.selected.slice(from, rows);
                let select = row_selector(&selected, selected.count_set_bits());
                for (array, pieces) in arrays.iter().zip(pieces.iter_mut()) {
                    let kept = select(array)?;
                    *bytes += array_size(&kept);
                    pieces.push(kept);
                }
                from += rows;
                if *bytes >= max_bytes(opener) {
                    return Ok(from);
                }
            }
        }
        Ok(window.selected.len())
    }
}

/// Bytes from which on a batch is complete.
fn max_bytes(opener: &Opener) -> u64 {
    (opener.limits().memory / 8).min(tuning::BATCH_BYTES.wide())
}

impl Window {
    /// The first `rows` rows, and the other rows if some of them are selected.
    fn split(self, rows: usize) -> (Self, Option<Self>) {
        let others = self.selected.len().saturating_sub(rows);
        let first = self.selected.slice(0, self.selected.len() - others);
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
            selected: self.selected.slice(rows, others),
            count: self.count - count,
            arrays: of_later,
        };
        (Window { first_row: self.first_row, selected: first, count, arrays }, Some(later))
    }

    /// Bytes of the filter columns.
    fn bytes(&self) -> u64 {
        self.arrays.iter().flatten().map(array_size).sum()
    }
}

/// Ranges of rows that are decoded at once: selected rows, and rows between selected rows that are near.
fn spans(selected: &BooleanBuffer) -> Vec<Range<usize>> {
    let near = tuning::ROWS_WORTH_SKIPPING.get();
    let mut spans: Vec<Range<usize>> = Vec::new();
    for (from, to) in selected.set_slices() {
        match spans.last_mut() {
            Some(span) if from - span.end < near => span.end = to,
            _ => spans.push(from..to),
        }
    }
    spans
}
