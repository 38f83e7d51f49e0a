//! Decimals (ORCv1, Decimal Columns): unscaled values as varints, and the scale of each.
//!
//! The digits behind the point that are zero in all values of a row group are left out, so that the scales of a row
//! group are one run.

use arrow_array::cast::AsArray as _;
use arrow_array::types::{
    ArrowPrimitiveType, Decimal32Type, Decimal64Type, Decimal128Type, Decimal256Type, UInt64Type,
};
use arrow_array::{Array as _, ArrayRef};
use arrow_buffer::NullBuffer;
use arrow_schema::DataType;
use orcish_core::error::{Error, Result};
use orcish_core::statistics::Decimal;

use super::{Compressors, Detail, Ended, Outcome, Starts, StreamKind, Tools, Values, valid_ranges};
use crate::encoding::encode::varint::{write_i64, write_i128};
use crate::tuning;
use crate::write::fault::Fault;
use crate::write::stream::OutStream;
use crate::write::streams::{IntStream, Layout};

/// Most digits that 64 bits hold.
const SHORT_DIGITS: u8 = 18;

/// An unscaled value of 64 or 128 bits.
pub(super) trait Unscaled: Copy + Ord + Send + Default {
    fn narrow(value: i128) -> Self;
    fn wide(self) -> i128;
    /// The value without `zeros` zeros at its end; `None` where it has fewer.
    fn without(self, zeros: u32) -> Option<Self>;
    fn write(self, out: &mut Vec<u8>);
}

impl Unscaled for i64 {
    fn narrow(value: i128) -> Self {
        // No value has more digits than are looked for before.
        i64::try_from(value).unwrap_or_default()
    }

    fn wide(self) -> i128 {
        self.into()
    }

    fn without(self, zeros: u32) -> Option<Self> {
        let unit = 10i64.pow(zeros);
        (self % unit == 0).then(|| self / unit)
    }

    fn write(self, out: &mut Vec<u8>) {
        write_i64(self, out);
    }
}

impl Unscaled for i128 {
    fn narrow(value: i128) -> Self {
        value
    }

    fn wide(self) -> i128 {
        self
    }

    fn without(self, zeros: u32) -> Option<Self> {
        let unit = 10i128.pow(zeros);
        (self % unit == 0).then(|| self / unit)
    }

    fn write(self, out: &mut Vec<u8>) {
        match i64::try_from(self) {
            Ok(short) => write_i64(short, out),
            Err(_) => write_i128(self, out),
        }
    }
}

pub(super) struct DecimalValues<N> {
    column: u32,
    precision: u8,
    scale: u8,
    data: OutStream,
    scales: IntStream,
    starts: Starts,
    held: Vec<N>,
    bounds: Option<(N, N)>,
    /// `None` where it left 128 bits.
    sum: Option<i128>,
}

/// The writer of decimals of this precision.
pub(super) fn values(column: u32, precision: u8, scale: u8, layout: Layout) -> Box<dyn Values> {
    if precision <= SHORT_DIGITS {
        Box::new(DecimalValues::<i64>::new(column, precision, scale, layout))
    } else {
        Box::new(DecimalValues::<i128>::new(column, precision, scale, layout))
    }
}

impl<N: Unscaled> DecimalValues<N> {
    fn new(column: u32, precision: u8, scale: u8, layout: Layout) -> Self {
        DecimalValues {
            column,
            precision,
            scale,
            data: layout.stream(),
            scales: IntStream::of_integers(layout, true),
            starts: Starts::default(),
            held: Vec::new(),
            bounds: None,
            sum: Some(0),
        }
    }

    /// Holds the valid values of an array; `unscaled` gives them in our scale.
    fn gather<T: ArrowPrimitiveType>(
        &mut self,
        array: &ArrayRef,
        valid: Option<&NullBuffer>,
        unscaled: impl Fn(T::Native) -> Option<i128>,
    ) -> Outcome {
        let least = 1 - 10i128.pow(self.precision.into());
        let values = array.as_primitive::<T>().values();
        for range in valid_ranges(values.len(), valid) {
            self.held.reserve(range.len());
            for (index, &value) in range.clone().zip(values.get(range).unwrap_or_default()) {
                match unscaled(value).filter(|value| (least..=-least).contains(value)) {
                    Some(value) => self.held.push(N::narrow(value)),
                    None => {
                        let message = format!("a number of more than {} digits", self.precision);
                        return Err(Fault::Value { index, column: self.column, message });
                    }
                }
            }
        }
        Ok(())
    }

    fn summarize(&mut self, from: usize) {
        let new = self.held.get(from..).unwrap_or_default();
        let Some(&first) = new.first() else { return };
        let (mut min, mut max) = self.bounds.unwrap_or((first, first));
        let mut sum = self.sum;
        for &value in new {
            min = min.min(value);
            max = max.max(value);
            sum = sum.and_then(|sum| sum.checked_add(value.wide()));
        }
        (self.bounds, self.sum) = (Some((min, max)), sum);
    }

    /// Digits that are zero at the end of all that is held, up to the scale.
    fn zeros(&self) -> u32 {
        let mut zeros = u32::from(self.scale);
        for value in &self.held {
            while zeros > 0 && value.without(zeros).is_none() {
                zeros -= 1;
            }
            if zeros == 0 {
                break;
            }
        }
        zeros
    }

    /// Writes what is held.
    fn flush(&mut self, compressors: &mut Compressors) -> Result<()> {
        let zeros = self.zeros();
        let raw = self.data.raw();
        if zeros == 0 {
            self.held.iter().for_each(|value| value.write(raw));
        } else {
            self.held.iter().for_each(|value| value.without(zeros).unwrap_or(*value).write(raw));
        }
        let scale = i64::from(self.scale) - i64::from(zeros);
        let held = self.scales.held();
        held.resize(held.len() + self.held.len(), scale);
        self.held.clear();
        self.scales.relieve(compressors)?;
        self.data.settle(compressors)
    }
}

impl<N: Unscaled> Values for DecimalValues<N> {
    fn append(&mut self, array: &ArrayRef, valid: Option<&NullBuffer>, tools: Tools<'_>) -> Outcome {
        if self.held.len() >= tuning::DECIMALS_HELD.get() {
            self.flush(tools.compressors)?;
        }
        let before = self.held.len();
        let factor = |scale: i8| 10i128.checked_pow(u32::from(scale.min(0).unsigned_abs()));
        match array.data_type() {
            DataType::UInt64 => self.gather::<UInt64Type>(array, valid, |value| Some(value.into()))?,
            DataType::Decimal32(_, scale) => {
                let factor = factor(*scale);
                self.gather::<Decimal32Type>(array, valid, |value| i128::from(value).checked_mul(factor?))?;
            }
            DataType::Decimal64(_, scale) => {
                let factor = factor(*scale);
                self.gather::<Decimal64Type>(array, valid, |value| i128::from(value).checked_mul(factor?))?;
            }
            DataType::Decimal128(_, 0..) => self.gather::<Decimal128Type>(array, valid, Some)?,
            DataType::Decimal128(_, scale) => {
                let factor = factor(*scale);
                self.gather::<Decimal128Type>(array, valid, |value| value.checked_mul(factor?))?;
            }
            DataType::Decimal256(_, scale) => {
                let factor = factor(*scale);
                self.gather::<Decimal256Type>(array, valid, |value| value.to_i128()?.checked_mul(factor?))?;
            }
            other => return Err(Error::invalid(format!("{other} is no decimal")).into()),
        }
        self.summarize(before);
        if let Some(bloom) = tools.bloom {
            let new = self.held.get(before..).unwrap_or_default();
            new.iter().for_each(|value| bloom.add_decimal(value.wide(), self.scale.into()));
        }
        Ok(())
    }

    fn begin_group(&mut self) {
        self.starts.push(|position| {
            self.data.position(position);
            self.scales.position(position);
        });
    }

    fn end_group(&mut self, compressors: &mut Compressors) -> Result<Detail> {
        self.flush(compressors)?;
        self.scales.end_run(compressors)?;
        let number = |unscaled: i128| Decimal::new(unscaled, self.scale.into());
        let (min, max) = self.bounds.take().unzip();
        let sum = self.sum.replace(0);
        Ok(Detail::Decimal {
            min: min.and_then(|min: N| number(min.wide())),
            max: max.and_then(|max: N| number(max.wide())),
            sum: sum.filter(|sum| sum.unsigned_abs() < 10u128.pow(38)).and_then(number),
        })
    }

    fn size(&self) -> usize {
        // A varint of what is held has some four bytes.
        self.data.size() + self.scales.size() + 4 * self.held.len()
    }

    fn end_stripe(&mut self, compressors: &mut Compressors) -> Result<Ended> {
        Ok(Ended {
            streams: vec![
                (StreamKind::Data, self.data.take(compressors)?),
                (StreamKind::Secondary, self.scales.take(compressors)?),
            ],
            has_integers: true,
            positions: self.starts.take(),
            ..Ended::default()
        })
    }
}
