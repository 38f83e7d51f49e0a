//! Present streams, and nulls of nested columns.
//!
//! A column has rows where no ancestor struct is null, and values where the column is not null either. Readers decode values
//! densely and spread them over all slots.

use arrow_buffer::{BooleanBuffer, BooleanBufferBuilder, Buffer, NullBuffer};
use orcish_core::error::{Error, OrInternal as _, Result};
use orcish_core::nulls::spread_bits;

use super::streams::{StreamDecoder, Streams};
use crate::codec::Stream;
use crate::encoding::bool_rle::BoolRle;
use crate::tuning;

/// The message of an internal error.
const NOT_PENDING: &str = "rows are not pending";

/// The present stream of a column; a column without one has no nulls of its own.
pub(super) struct Present(Option<StreamDecoder<BoolRle<Stream>>>);

impl Present {
    /// The nulls of a column with these streams.
    pub(super) fn new(streams: &Streams<'_>) -> Self {
        Present(streams.present())
    }

    pub(super) fn is_absent(&self) -> bool {
        self.0.is_none()
    }

    /// Nulls of the next `rows` rows of the column; `None` without nulls.
    pub(super) fn next(&mut self, rows: usize) -> Result<Option<NullBuffer>> {
        let Some(bits) = &mut self.0 else { return Ok(None) };
        let bits = bits.with(|bits| bits.read(rows))?;
        Ok(some_null(BooleanBuffer::new(Buffer::from_vec(bits), 0, rows)))
    }

    /// Skips `rows` rows of the column. Returns the number of valid rows.
    pub(super) fn skip(&mut self, rows: usize) -> Result<usize> {
        let Some(bits) = &mut self.0 else { return Ok(rows) };
        let (mut remaining_rows, mut valid) = (rows, 0);
        while remaining_rows > 0 {
            let n = remaining_rows.min(tuning::ROWS_SKIPPED.get());
            let bits = bits.with(|bits| bits.read(n))?;
            valid += bits.iter().map(|byte| byte.count_ones() as usize).sum::<usize>();
            remaining_rows -= n;
        }
        Ok(valid)
    }

    /// Seeks to a row group.
    pub(super) fn seek(&mut self, positions: &[u64]) -> Result<()> {
        self.0.as_mut().map_or(Ok(()), |bits| bits.seek(positions))
    }

    /// Nulls of the next `slots` slots. The column has rows for the slots that are valid in `parent`.
    pub(super) fn next_slots(&mut self, slots: usize, parent: Option<&NullBuffer>) -> Result<Option<NullBuffer>> {
        let own_nulls = self.next(existing(slots, parent))?;
        Ok(combine(parent, own_nulls))
    }
}

fn some_null(bits: BooleanBuffer) -> Option<NullBuffer> {
    Some(NullBuffer::new(bits)).filter(|nulls| nulls.null_count() > 0)
}

/// The number of valid slots of `parent`.
pub(super) fn existing(slots: usize, parent: Option<&NullBuffer>) -> usize {
    slots - parent.map_or(0, NullBuffer::null_count)
}

/// Nulls over all slots, of the nulls of the parent over all slots and the nulls of the column over its rows.
pub(super) fn combine(parent: Option<&NullBuffer>, own_nulls: Option<NullBuffer>) -> Option<NullBuffer> {
    match (parent, own_nulls) {
        (None, own_nulls) => own_nulls,
        (Some(parent), None) => Some(parent.clone()),
        (Some(parent), Some(own_nulls)) => Some(NullBuffer::new(spread_bits(own_nulls.inner(), parent))),
    }
}

/// Nulls over all `slots`, with further nulls. `nulls` are the slots without values; `lost` are the ascending places among
/// the values that become null.
pub(super) fn with_further_nulls(nulls: Option<NullBuffer>, slots: usize, lost: &[usize]) -> Option<NullBuffer> {
    if lost.is_empty() {
        return nulls;
    }
    let (mut dense, mut lost) = (0, lost.iter().peekable());
    let is_valid = |slot| {
        let exists = nulls.as_ref().is_none_or(|nulls| nulls.is_valid(slot));
        let is_lost = exists && lost.next_if_eq(&&dense).is_some();
        dense += usize::from(exists);
        exists && !is_lost
    };
    Some(NullBuffer::new(BooleanBuffer::collect_bool(slots, is_valid)))
}

/// Rows whose sizes have been read, and whose values have not.
pub(super) struct Pending {
    present: Present,
    /// Validity of the rows; empty without a present stream.
    valid: BooleanBuffer,
    rows: usize,
    /// A number for each valid row: a length, or a dictionary key.
    pub(super) dense: Vec<u32>,
}

impl Pending {
    /// The rows of a column with these streams.
    pub(super) fn new(streams: &Streams<'_>) -> Self {
        Pending { present: Present::new(streams), valid: BooleanBuffer::new_set(0), rows: 0, dense: Vec::new() }
    }

    /// Makes `rows` rows pending. `read` appends the numbers of the valid rows.
    pub(super) fn fill(&mut self, rows: usize, read: impl FnOnce(usize, &mut Vec<u32>) -> Result<()>) -> Result<()> {
        let Some(more) = rows.checked_sub(self.rows).filter(|&more| more > 0) else { return Ok(()) };
        let nulls = self.present.next(more)?;
        if !self.present.is_absent() {
            let mut bits = BooleanBufferBuilder::new(rows);
            bits.append_buffer(&self.valid);
            match &nulls {
                Some(nulls) => bits.append_buffer(nulls.inner()),
                None => bits.append_n(more, true),
            }
            self.valid = bits.finish();
        }
        self.rows = rows;
        read(existing(more, nulls.as_ref()), &mut self.dense)
    }

    /// Whether there is no present stream, so that rows need no bits.
    pub(super) fn is_free(&self) -> bool {
        self.present.is_absent()
    }

    /// The number of valid rows among the first `rows` pending rows.
    pub(super) fn valid(&self, rows: usize) -> usize {
        if self.present.is_absent() { rows } else { self.valid.slice(0, rows.min(self.rows)).count_set_bits() }
    }

    /// The numbers of the first `rows` pending rows.
    pub(super) fn numbers(&self, rows: usize) -> Result<&[u32]> {
        self.dense.get(..self.valid(rows)).or_internal(NOT_PENDING)
    }

    /// The maximum number of pending rows, up to `rows`, with at most `valid` valid rows.
    pub(super) fn rows_with(&self, rows: usize, valid: usize) -> usize {
        if self.present.is_absent() {
            return rows.min(valid);
        }
        let mut remaining_values = valid;
        let is_over = |row: &usize| {
            let valid = self.valid.value(*row);
            let over = valid && remaining_values == 0;
            remaining_values -= usize::from(valid && !over);
            over
        };
        (0..rows.min(self.rows)).find(is_over).unwrap_or(rows)
    }

    /// The maximum number of pending rows, up to `rows`, with a total size of at most `max_size`, and the first number. `size` is
    /// the size of a value by its number.
    pub(super) fn rows_within(
        &self,
        rows: usize,
        max_size: u64,
        size: impl Fn(u32) -> u64,
    ) -> Result<(usize, Option<u32>)> {
        let numbers = self.numbers(rows)?;
        let first = numbers.first().copied();
        if numbers.iter().map(|&number| size(number)).sum::<u64>() <= max_size {
            return Ok((rows, first));
        }
        let mut remaining_size = max_size;
        let fits = |number: &&u32| {
            let rest = remaining_size.checked_sub(size(**number));
            remaining_size = rest.unwrap_or(remaining_size);
            rest.is_some()
        };
        let whole = numbers.iter().take_while(fits).count();
        Ok((self.rows_with(rows, whole), first))
    }

    /// Takes `rows` rows, and returns their nulls.
    pub(super) fn take(&mut self, rows: usize) -> Option<NullBuffer> {
        let rows = rows.min(self.rows);
        self.rows -= rows;
        if self.present.is_absent() {
            return None;
        }
        let nulls = some_null(self.valid.slice(0, rows));
        self.valid = self.valid.slice(rows, self.rows);
        nulls
    }

    /// Skips `rows` rows.
    pub(super) fn skip(&mut self, rows: usize) -> Result<Skipped> {
        let looked_at = rows.min(self.rows);
        let valid = self.valid(looked_at);
        self.take(looked_at);
        // A struct has no numbers.
        let numbers = if self.dense.is_empty() { Vec::new() } else { self.take_dense(valid)? };
        Ok(Skipped { valid, numbers, fresh: self.present.skip(rows - looked_at)? })
    }

    /// Seeks to a row group.
    pub(super) fn seek(&mut self, positions: &[u64]) -> Result<()> {
        self.rows = 0;
        self.valid = BooleanBuffer::new_set(0);
        self.dense.clear();
        self.present.seek(positions)
    }

    /// Takes the numbers of the first `n` valid rows.
    pub(super) fn take_dense(&mut self, n: usize) -> Result<Vec<u32>> {
        if n > self.dense.len() {
            return Err(Error::internal(NOT_PENDING));
        }
        let rest = self.dense.split_off(n);
        Ok(std::mem::replace(&mut self.dense, rest))
    }
}

/// Skipped rows.
pub(super) struct Skipped {
    /// Number of valid rows that were pending, and their numbers.
    pub(super) valid: usize,
    pub(super) numbers: Vec<u32>,
    /// Number of valid rows after those, whose numbers are still in their stream.
    pub(super) fresh: usize,
}

impl Skipped {
    /// Sum of all numbers. A function skips the numbers that are still in their stream.
    pub(super) fn total(&self, skip: impl FnOnce(usize) -> Result<u64>) -> Result<usize> {
        let looked_at: u64 = self.numbers.iter().map(|&number| u64::from(number)).sum();
        let total = skip(self.fresh)?.saturating_add(looked_at);
        Ok(usize::try_from(total).unwrap_or(usize::MAX))
    }
}
