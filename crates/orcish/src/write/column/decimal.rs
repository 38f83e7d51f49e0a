//! Decimal columns (ORCv1, Decimal Columns): a data stream with unscaled values as varints, and a stream of scales.
//!
//! Trailing zeros that all values of a row group share are removed, so that the scales of a row group are one run.

use arrow_array::cast::AsArray as _;
use arrow_array::types::{
    ArrowPrimitiveType, Decimal32Type, Decimal64Type, Decimal128Type, Decimal256Type, UInt64Type,
};
use arrow_array::{Array as _, ArrayRef};
use arrow_buffer::NullBuffer;
use arrow_schema::DataType;
use orcish_core::error::{Error, Result};
use orcish_core::statistics::Decimal;

use super::integer::Summary;
use super::{AppendContext, AppendResult, Compressors, Detail, EncodedValues, StreamKind, ValueEncoder, valid_slices};
use crate::encoding::encode::varint::{write_all_i64, write_i64, write_i128};
use crate::layout::Coding;
use crate::tuning;
use crate::write::append_error::AppendError;
use crate::write::out_stream::OutStream;
use crate::write::rle_stream::IntegerStream;
use crate::write::stream_options::StreamOptions;
use crate::write::types::MAX_DECIMAL_PRECISION;

/// Maximum precision of 64-bit unscaled values.
const MAX_I64_PRECISION: u8 = 18;

/// An unscaled value of 64 or 128 bits.
pub(super) trait Unscaled: Copy + Ord + Send + Default {
    /// The value of a decimal; `None` where it does not fit, which its precision rules out.
    fn from_i128(value: i128) -> Option<Self>;
    fn to_i128(self) -> i128;
    /// The value without `zeros` trailing zeros. `None` if it has fewer.
    fn without_zeros(self, zeros: u32) -> Option<Self>;
    /// The value with `zeros` trailing zeros, which it had.
    fn with_zeros(self, zeros: u32) -> Self;
    /// Minimum, maximum and sum of values, which is `None` where it overflows; `None` without values.
    fn summary(values: &[Self]) -> Option<(Self, Self, Option<i128>)>;
    /// Appends the varints of values.
    fn write_all(values: &[Self], out: &mut Vec<u8>);
}

impl Unscaled for i64 {
    fn from_i128(value: i128) -> Option<Self> {
        i64::try_from(value).ok()
    }

    fn to_i128(self) -> i128 {
        self.into()
    }

    fn without_zeros(self, zeros: u32) -> Option<Self> {
        let unit = 10i64.pow(zeros);
        let quotient = self / unit;
        (quotient * unit == self).then_some(quotient)
    }

    fn with_zeros(self, zeros: u32) -> Self {
        self * 10i64.pow(zeros)
    }

    fn summary(values: &[Self]) -> Option<(Self, Self, Option<i128>)> {
        Summary::of(values).map(|Summary { min, max, sum }| (min, max, Some(sum)))
    }

    fn write_all(values: &[Self], out: &mut Vec<u8>) {
        write_all_i64(values, out);
    }
}

impl Unscaled for i128 {
    fn from_i128(value: i128) -> Option<Self> {
        Some(value)
    }

    fn to_i128(self) -> i128 {
        self
    }

    fn without_zeros(self, zeros: u32) -> Option<Self> {
        let unit = 10i128.pow(zeros);
        let quotient = self / unit;
        (quotient * unit == self).then_some(quotient)
    }

    fn with_zeros(self, zeros: u32) -> Self {
        self * 10i128.pow(zeros)
    }

    fn summary(values: &[Self]) -> Option<(Self, Self, Option<i128>)> {
        let (&min, &max) = (values.iter().min()?, values.iter().max()?);
        Some((min, max, values.iter().try_fold(0i128, |sum, &value| sum.checked_add(value))))
    }

    fn write_all(values: &[Self], out: &mut Vec<u8>) {
        for &value in values {
            match i64::try_from(value) {
                Ok(short) => write_i64(short, out),
                Err(_) => write_i128(value, out),
            }
        }
    }
}

pub(super) struct DecimalEncoder<N> {
    column: u32,
    precision: u8,
    scale: u8,
    data: OutStream,
    scales: IntegerStream,
    /// Unscaled values that are not encoded yet.
    buffer: Vec<N>,
    bounds: Option<(N, N)>,
    /// The sum of the row group. `None` after an overflow of 128 bits.
    sum: Option<i128>,
}

/// The encoder for decimals of this precision.
pub(super) fn encoder(column: u32, precision: u8, scale: u8, options: StreamOptions) -> Box<dyn ValueEncoder> {
    if precision <= MAX_I64_PRECISION {
        Box::new(DecimalEncoder::<i64>::new(column, precision, scale, options))
    } else {
        Box::new(DecimalEncoder::<i128>::new(column, precision, scale, options))
    }
}

impl<N: Unscaled> DecimalEncoder<N> {
    fn new(column: u32, precision: u8, scale: u8, options: StreamOptions) -> Self {
        DecimalEncoder {
            column,
            precision,
            scale,
            data: options.new_stream(Coding::Varints),
            scales: IntegerStream::signed(options),
            buffer: Vec::new(),
            bounds: None,
            sum: Some(0),
        }
    }

    /// Buffers the valid values of an array. `to_unscaled` converts them to the scale of the column, and returns `None`
    /// on overflow.
    fn append_values<T: ArrowPrimitiveType>(
        &mut self,
        array: &ArrayRef,
        valid: Option<&NullBuffer>,
        to_unscaled: impl Fn(T::Native) -> Option<i128>,
    ) -> AppendResult {
        let min = 1 - 10i128.pow(self.precision.into());
        let values = array.as_primitive::<T>().values();
        for slice in valid_slices(values, valid) {
            let (start, values) = slice?;
            let unscaled = |&value: &T::Native| {
                to_unscaled(value).filter(|value| (min..=-min).contains(value)).and_then(N::from_i128)
            };
            // A loop without an exit is vectorized. A value that is not valid is an error behind it.
            let mut is_valid = true;
            self.buffer.extend(values.iter().map(|value| {
                let Some(value) = unscaled(value) else {
                    is_valid = false;
                    return N::default();
                };
                value
            }));
            if !is_valid && let Some(at) = values.iter().position(|value| unscaled(value).is_none()) {
                let is_most = self.precision == MAX_DECIMAL_PRECISION;
                let most = if is_most { ": ORC has 38 at most" } else { "" };
                let message = format!("a number of more than {} digits{most}", self.precision);
                return Err(AppendError::Value { index: start + at, column: self.column, message });
            }
        }
        Ok(())
    }

    /// Adds the buffered values from index `start` on to the statistics.
    fn update_statistics(&mut self, start: usize) {
        let (_, new) = self.buffer.split_at(start);
        let Some((min, max, sum)) = N::summary(new) else { return };
        let (low, high) = self.bounds.unwrap_or((min, max));
        self.bounds = Some((low.min(min), high.max(max)));
        self.sum = self.sum.and_then(|total| total.checked_add(sum?));
    }

    /// Removes the trailing zeros that all buffered values share, up to the scale. Returns their number.
    fn remove_common_zeros(&mut self) -> u32 {
        let mut zeros = u32::from(self.scale);
        while zeros > 0 {
            let removed = self.buffer.iter_mut().position(|value| match value.without_zeros(zeros) {
                Some(without) => {
                    *value = without;
                    false
                }
                None => true,
            });
            let Some(removed) = removed else { break };
            self.buffer.iter_mut().take(removed).for_each(|value| *value = value.with_zeros(zeros));
            zeros -= 1;
        }
        zeros
    }

    /// Encodes the buffered values.
    fn flush(&mut self, compressors: &mut Compressors) -> Result<()> {
        let zeros = self.remove_common_zeros();
        N::write_all(&self.buffer, self.data.buffer());
        let scale = i64::from(self.scale) - i64::from(zeros);
        let scales = self.scales.buffer();
        scales.resize(scales.len() + self.buffer.len(), scale);
        self.buffer.clear();
        self.scales.encode_if_large(compressors)?;
        self.data.compress_full_chunks(compressors)
    }
}

impl<N: Unscaled> ValueEncoder for DecimalEncoder<N> {
    fn append(&mut self, array: &ArrayRef, valid: Option<&NullBuffer>, context: AppendContext<'_>) -> AppendResult {
        if self.buffer.len() >= tuning::DECIMALS_BUFFERED.get() {
            self.flush(context.compressors)?;
        }
        let start = self.buffer.len();
        // Values of a negative scale are multiplied out.
        let factor = |scale: i8| 10i128.checked_pow(u32::from(scale.min(0).unsigned_abs()));
        match array.data_type() {
            DataType::UInt64 => self.append_values::<UInt64Type>(array, valid, |value| Some(value.into()))?,
            DataType::Decimal32(_, scale) => {
                let factor = factor(*scale);
                self.append_values::<Decimal32Type>(array, valid, |value| i128::from(value).checked_mul(factor?))?;
            }
            DataType::Decimal64(_, scale) => {
                let factor = factor(*scale);
                self.append_values::<Decimal64Type>(array, valid, |value| i128::from(value).checked_mul(factor?))?;
            }
            DataType::Decimal128(_, 0..) => self.append_values::<Decimal128Type>(array, valid, Some)?,
            DataType::Decimal128(_, scale) => {
                let factor = factor(*scale);
                self.append_values::<Decimal128Type>(array, valid, |value| value.checked_mul(factor?))?;
            }
            DataType::Decimal256(_, scale) => {
                let factor = factor(*scale);
                self.append_values::<Decimal256Type>(array, valid, |value| value.to_i128()?.checked_mul(factor?))?;
            }
            other => return Err(Error::internal(format!("{other} is no decimal")).into()),
        }
        self.update_statistics(start);
        if let Some(bloom_filter) = context.bloom_filter {
            let (_, new) = self.buffer.split_at(start);
            new.iter().for_each(|value| bloom_filter.add_decimal(value.to_i128(), self.scale.into()));
        }
        Ok(())
    }

    fn begin_row_group(&mut self) {
        self.data.begin_row_group(&[]);
        self.scales.begin_row_group();
    }

    fn end_row_group(&mut self, compressors: &mut Compressors) -> Result<Detail> {
        self.flush(compressors)?;
        self.scales.end_run(compressors)?;
        let decimal = |unscaled: i128| Decimal::new(unscaled, self.scale.into());
        let (min, max) = self.bounds.take().unzip();
        let sum = self.sum.replace(0);
        Ok(Detail::Decimal {
            min: min.and_then(|min: N| decimal(min.to_i128())),
            max: max.and_then(|max: N| decimal(max.to_i128())),
            sum: sum.filter(|sum| sum.unsigned_abs() < 10u128.pow(38)).and_then(decimal),
        })
    }

    fn size(&self) -> usize {
        // A buffered value is estimated as a varint of four bytes.
        self.data.size() + self.scales.size() + 4 * self.buffer.len()
    }

    fn memory_size(&self) -> usize {
        self.data.size() + self.scales.memory_size() + size_of_val(self.buffer.as_slice())
    }

    fn end_stripe(&mut self, compressors: &mut Compressors) -> Result<EncodedValues> {
        Ok(EncodedValues::direct(vec![
            (StreamKind::Data, self.data.finish(compressors)?),
            (StreamKind::Secondary, self.scales.finish(compressors)?),
        ]))
    }
}
