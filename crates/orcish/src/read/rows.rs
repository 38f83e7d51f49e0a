//! Reading of columns of a stripe, from any row on.

#[cfg(test)]
mod tests;

use std::ops::Range;
use std::sync::atomic::AtomicUsize;

use arrow_array::ArrayRef;
use orcish_core::error::{OrInternal as _, Result};

use super::column::{Budget, Column, ColumnReader as _, StructReader};
use crate::index::{GroupStart, Indexes, RowGroups, stream_ranges};
use crate::stripe::{StreamRanges, Stripe};
use crate::tail::FileTail;

/// Columns that are decoded together.
pub(super) enum ColumnsReader {
    /// Children of a struct root.
    OfRoot(Box<StructReader>),
    /// The root itself.
    Root(Column),
}

impl ColumnsReader {
    /// The number of the next `rows` rows that can be decoded at once.
    fn rows_that_fit(&mut self, rows: usize, budget: Budget) -> Result<usize> {
        match self {
            ColumnsReader::OfRoot(reader) => reader.rows_that_fit(rows, budget),
            ColumnsReader::Root(column) => column.rows_that_fit(rows, budget),
        }
    }

    /// Bytes of a row in all arrays, without values of variable length.
    fn full_width(&self) -> usize {
        match self {
            ColumnsReader::OfRoot(reader) => reader.full_width(),
            ColumnsReader::Root(column) => column.full_width(),
        }
    }

    /// The number of the next `rows` rows that can be decoded at once; 0 if the first row exceeds the budget. Most rows fit
    /// where each array has an equal part. Where they do not, arrays that need less leave their part to others.
    fn rows_within_budget(&mut self, rows: usize, budget: Budget) -> Result<usize> {
        let of_equal_parts = self.rows_that_fit(rows, budget)?;
        if of_equal_parts == rows || !budget.is_shared() {
            return Ok(of_equal_parts);
        }
        let mut tried = rows.min(budget.group() / self.full_width().max(1));
        while tried > of_equal_parts {
            let fit = self.rows_that_fit(tried, budget.together(&AtomicUsize::new(0)))?;
            if fit == tried {
                return Ok(fit);
            }
            // The first arrays may have taken what the last ones need.
            tried = fit.max(tried / 2);
        }
        self.rows_that_fit(of_equal_parts.max(1), budget)
    }

    /// Decodes up to `rows` rows, at least one, within the budget.
    pub(super) fn read(&mut self, rows: usize, budget: Budget) -> Result<(Vec<ArrayRef>, usize)> {
        let rows = match self.rows_within_budget(rows, budget)? {
            // A row that exceeds its part of the budget is a batch of its own.
            0 => self.rows_that_fit(1, budget.of_one_row(&AtomicUsize::new(0)))?,
            rows => rows,
        };
        let arrays = match self {
            ColumnsReader::OfRoot(reader) => reader.read_children(rows, None)?.0,
            ColumnsReader::Root(column) => vec![column.read(rows, None)?],
        };
        Ok((arrays, rows))
    }

    fn skip(&mut self, rows: usize) -> Result<()> {
        match self {
            ColumnsReader::OfRoot(reader) => reader.skip(rows),
            ColumnsReader::Root(column) => column.skip(rows),
        }
    }

    fn seek(&mut self, to: &GroupStart<'_>) -> Result<()> {
        match self {
            ColumnsReader::OfRoot(reader) => reader.seek(to.positions(0), to),
            ColumnsReader::Root(column) => column.seek(to),
        }
    }
}

/// Columns and their common position.
pub(super) struct RowReader {
    columns: ColumnsReader,
    /// Number of arrays.
    count: usize,
    /// Ids of all columns with descendants, and of the root if it has a stream.
    pub(super) ids: Vec<u32>,
    /// The next row.
    row: u64,
    /// Whether the row index has positions for seeking to row groups.
    pub(super) can_seek: bool,
    /// Whether all streams are in memory.
    pub(super) is_loaded: bool,
    /// Whether streams for all rows, such as those of dictionaries, are in memory.
    has_shared: bool,
}

impl RowReader {
    pub(super) fn new(columns: ColumnsReader, count: usize, ids: Vec<u32>) -> Self {
        RowReader { columns, count, ids, row: 0, can_seek: false, is_loaded: false, has_shared: false }
    }

    pub(super) fn count(&self) -> usize {
        self.count
    }

    pub(super) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Ranges of the streams with some row groups, or the whole streams if the columns cannot seek. Streams for all rows,
    /// such as those of dictionaries, are included the first time.
    pub(super) fn parts(
        &mut self,
        stripe: &Stripe,
        indexes: &Indexes,
        runs: &[Range<usize>],
        tail: &FileTail,
    ) -> Result<StreamRanges> {
        let mut parts = Vec::new();
        for &id in &self.ids {
            let index = indexes.get(&id).filter(|_| self.can_seek);
            let of_column = stream_ranges(index, stripe, id, runs, !self.has_shared, tail);
            parts.extend(of_column.map_err(|error| error.in_column(&tail.schema.path(id)))?);
        }
        self.has_shared = true;
        Ok(parts)
    }

    /// Seeks to a row at or after the next one.
    ///
    /// # Errors
    /// `Internal` for a row before the next one; errors of the streams.
    pub(super) fn go_to(&mut self, row: u64, groups: &RowGroups, indexes: &Indexes) -> Result<()> {
        let group = groups.group_of(row);
        let start = groups.rows(group).start;
        if self.can_seek && start > self.row {
            self.columns.seek(&GroupStart { indexes, groups: *groups, group })?;
            self.row = start;
        }
        let skipped = row.checked_sub(self.row).or_internal("a row is sought that was read")?;
        let skipped = usize::try_from(skipped).unwrap_or(usize::MAX);
        if skipped > 0 {
            self.columns.skip(skipped)?;
        }
        self.row = row;
        Ok(())
    }

    /// Reads up to `rows` rows, at least one.
    pub(super) fn read(&mut self, rows: usize, budget: Budget) -> Result<Vec<ArrayRef>> {
        let (arrays, rows) = self.columns.read(rows, budget)?;
        self.row += rows as u64;
        Ok(arrays)
    }
}
