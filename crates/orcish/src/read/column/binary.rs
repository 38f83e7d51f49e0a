//! Strings, char, varchar and binary stored value by value (ORCv1, String, Char, and VarChar Columns; Binary
//! Columns), and geometry and geography, which are stored as binary.

use arrow_array::ArrayRef;
use arrow_buffer::NullBuffer;
use arrow_schema::DataType;
use orcish_core::error::Result;

use super::streams::StreamDecoder;
use super::strings::read_values;
use super::text::{Applied, TextForm};
use super::validity::{Pending, combine, existing, with_further_nulls};
use super::{Budget, ColumnReader};
use crate::codec::Stream;
use crate::encoding::int_rle::IntRle;
use crate::index::GroupStart;
use crate::source::ByteSource as _;

/// The Arrow type of strings and binaries.
pub(super) struct Target {
    pub(super) arrow: DataType,
    pub(super) form: TextForm,
}

/// A column of values that are stored one after the other.
pub(super) struct DirectReader {
    pub(super) pending: Pending,
    pub(super) lengths: StreamDecoder<IntRle<Stream>>,
    pub(super) data: StreamDecoder<Stream>,
    pub(super) target: Target,
    /// Budget for the values of the planned rows.
    pub(super) budget: Budget<'static>,
}

/// Maximum number of bytes with 32-bit offsets.
pub(super) const WIDEST: Budget<'static> =
    Budget { bytes: i32::MAX as usize, group: i32::MAX as usize, max_bytes: i32::MAX as usize, remaining_bytes: None };

impl ColumnReader for DirectReader {
    fn width(&self) -> usize {
        size_of::<u128>()
    }

    fn rows_that_fit(&mut self, rows: usize, budget: Budget) -> Result<usize> {
        let rows = budget.take_rows(rows, self.width());
        let lengths = &mut self.lengths;
        self.pending.fill(rows, |n, out| lengths.with(|lengths| lengths.append(n, out)))?;
        let within =
            |growth| rows_within(&self.pending, rows, budget, |length| (length as usize).saturating_mul(growth));
        self.budget = WIDEST;
        match within(self.target.form.growth()) {
            // A value may exceed the budget only if it grows by conversion, which is checked when it is read.
            Err(_) if self.target.form.growth() > 1 => {
                let bytes = budget.bytes();
                self.budget = Budget { bytes, group: bytes, max_bytes: bytes, remaining_bytes: None };
                within(1).map(|rows| rows.min(1))
            }
            fit => fit,
        }
    }

    fn read(&mut self, slots: usize, parent: Option<&NullBuffer>) -> Result<ArrayRef> {
        let rows = existing(slots, parent);
        let own_nulls = self.pending.take(rows);
        let lengths = self.pending.take_dense(existing(rows, own_nulls.as_ref()))?;
        let nulls = combine(parent, own_nulls);
        let (budget, form) = (self.budget, self.target.form);
        let arrow = &self.target.arrow;
        self.data.with(|data| {
            let Applied { mut values, lost, long } = form.apply(read_values(lengths, data, budget)?, budget)?;
            if let Some(&first) = long.first() {
                return Err(form.too_long(first));
            }
            values.remove_empty(&lost);
            values.into_array(arrow, with_further_nulls(nulls, slots, &lost))
        })
    }

    fn skip(&mut self, rows: usize) -> Result<()> {
        let lengths = &mut self.lengths;
        let skip = |n| lengths.with(|lengths| lengths.skip_lengths(n)).map(|(sum, _)| sum);
        let bytes = self.pending.skip(rows)?.total(skip)?;
        self.data.with(|data| data.skip(bytes))
    }

    fn seek(&mut self, positions: &[u64], _to: &GroupStart<'_>) -> Result<()> {
        self.pending.seek(positions)?;
        self.data.seek(positions)?;
        self.lengths.seek(positions)
    }
}

/// The number of `rows` pending rows within the budget. `size` is the size of a value by its pending number.
pub(super) fn rows_within(
    pending: &Pending,
    rows: usize,
    budget: Budget,
    size: impl Fn(u32) -> usize,
) -> Result<usize> {
    match pending.rows_within(rows, budget.bytes() as u64, |number| size(number) as u64)? {
        (0, Some(_)) if budget.is_part() => Ok(0),
        (0, Some(number)) => Err(budget.exceeded(&format!("a value of {} bytes", size(number)))),
        (rows, _) => {
            if budget.remaining_bytes.is_some() {
                let taken = pending.numbers(rows)?.iter();
                budget.take(taken.fold(0, |sum, &number| sum.saturating_add(size(number))));
            }
            Ok(rows)
        }
    }
}
