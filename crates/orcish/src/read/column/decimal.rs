//! Decimals (ORCv1, Decimal Columns), and decimals of up to 18 digits as integers (ORCv2 draft).

use std::sync::Arc;

use arrow_array::{ArrayRef, Decimal128Array};
use arrow_buffer::{NullBuffer, ScalarBuffer};
use arrow_schema::DataType;
use orcish_core::error::Result;
use orcish_core::nulls::spread;

use super::text::without;
use super::validity::{Present, existing, with_further_nulls};
use super::{Budget, ColumnReader};
use crate::codec::Stream;
use crate::encoding::decimal::{DecimalDecoder, DecimalType, too_many_digits};
use crate::encoding::int_rle::IntRle;
use crate::encoding::varint;
use crate::index::GroupStart;
use crate::source::{Positions, SeekSource as _};

/// Encoding of unscaled values and scales.
pub(super) enum Digits {
    /// Varints, each with a scale.
    Varints { data: Stream, scales: IntRle<Stream>, decoder: DecimalDecoder },
    /// Integers with the scale of the column.
    Integers(IntRle<Stream>),
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
                let mut left = n;
                while left > 0 {
                    let scales = scales.next_values(left).map_err(|error| error.in_stream("SECONDARY"))?;
                    decoder.append(data, scales, out).map_err(|error| error.in_stream("DATA"))?;
                    left -= scales.len();
                }
                Ok(decoder.take_overflows())
            }
            Digits::Integers(integers) => {
                let mut dense: Vec<i64> = Vec::with_capacity(n);
                integers.append(n, &mut dense).map_err(|error| error.in_stream("DATA"))?;
                let bound = 10u128.pow(self.target.precision.into());
                out.extend(dense.into_iter().map(i128::from));
                let is_overflow = |(_, value): &(usize, &i128)| value.unsigned_abs() >= bound;
                let overflows: Vec<usize> = out.iter().enumerate().filter(is_overflow).map(|(at, _)| at).collect();
                match overflows.is_empty() || self.keeps_going {
                    true => Ok(overflows),
                    false => Err(too_many_digits(self.target)),
                }
            }
        }
    }
}

impl ColumnReader for DecimalReader {
    fn width(&self) -> usize {
        size_of::<i128>()
    }

    fn plan(&mut self, rows: usize, budget: Budget) -> Result<usize> {
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
        let scale = i8::try_from(self.target.scale).unwrap_or_default();
        Ok(Arc::new(array.with_data_type(DataType::Decimal128(self.target.precision, scale))))
    }

    fn skip(&mut self, rows: usize) -> Result<()> {
        let n = self.present.skip(rows)?;
        match &mut self.digits {
            Digits::Varints { data, scales, .. } => {
                varint::skip(data, n).map_err(|error| error.in_stream("DATA"))?;
                scales.skip(n).map_err(|error| error.in_stream("SECONDARY"))
            }
            Digits::Integers(integers) => integers.skip(n).map_err(|error| error.in_stream("DATA")),
        }
    }

    fn seek(&mut self, own: &mut Positions<'_>, _to: &GroupStart<'_>) -> Result<()> {
        self.present.seek(own)?;
        match &mut self.digits {
            Digits::Varints { data, scales, .. } => {
                data.seek(own).map_err(|error| error.in_stream("DATA"))?;
                scales.seek(own).map_err(|error| error.in_stream("SECONDARY"))
            }
            Digits::Integers(integers) => integers.seek(own).map_err(|error| error.in_stream("DATA")),
        }
    }
}
