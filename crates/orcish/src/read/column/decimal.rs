//! Decimals (ORCv1, Decimal Columns), and decimals of up to 18 digits as integers (ORCv2 draft).

use std::sync::Arc;

use arrow_array::{ArrayRef, Decimal128Array};
use arrow_buffer::{NullBuffer, ScalarBuffer};
use arrow_schema::DataType;
use orcish_core::error::{OrInternal as _, Result};
use orcish_core::nulls::spread;

use super::streams::StreamDecoder;
use super::text::without;
use super::validity::{Present, existing, with_further_nulls};
use super::{Budget, ColumnReader};
use crate::codec::Stream;
use crate::encoding::decimal::{DecimalDecoder, DecimalType, too_many_digits};
use crate::encoding::int_rle::IntRle;
use crate::encoding::varint;
use crate::index::GroupStart;

/// Encoding of unscaled values and scales.
#[expect(clippy::large_enum_variant, reason = "there is one for each column")]
pub(super) enum Digits {
    /// Varints, each with a scale.
    Varints { data: StreamDecoder<Stream>, scales: StreamDecoder<IntRle<Stream>>, decoder: DecimalDecoder },
    /// Integers with the scale of the column.
    Integers(StreamDecoder<IntRle<Stream>>),
}

pub(super) struct DecimalReader {
    pub(super) present: Present,
    pub(super) digits: Digits,
    pub(super) target: DecimalType,
    /// Whether values out of range become null.
    pub(super) keeps_going: bool,
}

impl DecimalReader {
    /// Appends `n` values. Returns the places of values out of range, if these become null.
    fn append(&mut self, n: usize, out: &mut Vec<i128>) -> Result<Vec<usize>> {
        match &mut self.digits {
            Digits::Varints { data, scales, decoder } => {
                let mut remaining_values = n;
                while remaining_values > 0 {
                    let scales = scales.with(|scales| scales.next_values(remaining_values))?;
                    data.with(|data| decoder.append(data, scales, out))?;
                    remaining_values -= scales.len();
                }
                Ok(decoder.take_overflows())
            }
            Digits::Integers(integers) => {
                let mut dense: Vec<i64> = Vec::with_capacity(n);
                integers.with(|integers| integers.append(n, &mut dense))?;
                let bound = 10u128.pow(self.target.precision.into());
                out.extend(dense.into_iter().map(i128::from));
                let is_overflow = |(_, value): &(usize, &i128)| value.unsigned_abs() >= bound;
                let overflows: Vec<usize> = out.iter().enumerate().filter(is_overflow).map(|(at, _)| at).collect();
                if overflows.is_empty() || self.keeps_going { Ok(overflows) } else { Err(too_many_digits(self.target)) }
            }
        }
    }
}

impl ColumnReader for DecimalReader {
    fn width(&self) -> usize {
        size_of::<i128>()
    }

    fn rows_that_fit(&mut self, rows: usize, budget: Budget) -> Result<usize> {
        Ok(budget.take_rows(rows, self.width()))
    }

    fn read(&mut self, slots: usize, parent: Option<&NullBuffer>) -> Result<ArrayRef> {
        let nulls = self.present.next_slots(slots, parent)?;
        let mut values = Vec::with_capacity(slots);
        let overflows = self.append(existing(slots, nulls.as_ref()), &mut values)?;
        without(&mut values, &overflows);
        let nulls = with_further_nulls(nulls, slots, &overflows);
        spread(&mut values, nulls.as_ref());
        let array = Decimal128Array::new(ScalarBuffer::from(values), nulls);
        let scale = i8::try_from(self.target.scale).or_internal("a scale has more than 38 digits")?;
        Ok(Arc::new(array.with_data_type(DataType::Decimal128(self.target.precision, scale))))
    }

    fn skip(&mut self, rows: usize) -> Result<()> {
        let n = self.present.skip(rows)?;
        match &mut self.digits {
            Digits::Varints { data, scales, .. } => {
                data.with(|data| varint::skip(data, n))?;
                scales.with(|scales| scales.skip(n))
            }
            Digits::Integers(integers) => integers.with(|integers| integers.skip(n)),
        }
    }

    fn seek(&mut self, positions: &[u64], _to: &GroupStart<'_>) -> Result<()> {
        self.present.seek(positions)?;
        match &mut self.digits {
            Digits::Varints { data, scales, .. } => {
                data.seek(positions)?;
                scales.seek(positions)
            }
            Digits::Integers(integers) => integers.seek(positions),
        }
    }
}
