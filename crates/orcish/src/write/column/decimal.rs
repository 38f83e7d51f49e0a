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
use orcish_core::error::{Error, OrInternal as _, Result};
use orcish_core::statistics::Decimal;

use super::{AppendContext, AppendResult, Compressors, Detail, EncodedValues, StreamKind, ValueEncoder, valid_slices};
use crate::encoding::encode::varint::{write_i64, write_i128};
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
    /// Appends the varint.
    fn write(self, out: &mut Vec<u8>);
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
        (self % unit == 0).then(|| self / unit)
    }

    fn write(self, out: &mut Vec<u8>) {
        write_i64(self, out);
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
        (self % unit == 0).then(|| self / unit)
    }

    fn write(self, out: &mut Vec<u8>) {
        match i64::try_from(self) {
            Ok(short) => write_i64(short, out),
            Err(_) => write_i128(self, out),
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
            self.buffer.reserve(values.len());
            for (index, &value) in (start..).zip(values) {
                let value = to_unscaled(value).filter(|value| (min..=-min).contains(value));
                match value.and_then(N::from_i128) {
                    Some(value) => self.buffer.push(value),
                    None => {
                        let is_most = self.precision == MAX_DECIMAL_PRECISION;
                        let most = if is_most { ": ORC has 38 at most" } else { "" };
                        let message = format!("a number of more than {} digits{most}", self.precision);
                        return Err(AppendError::Value { index, column: self.column, message });
                    }
                }
            }
        }
        Ok(())
    }

    /// Adds the buffered values from index `start` on to the statistics.
    fn update_statistics(&mut self, start: usize) {
        let (_, new) = self.buffer.split_at(start);
        let Some(&first) = new.first() else { return };
        let (mut min, mut max) = self.bounds.unwrap_or((first, first));
        let mut sum = self.sum;
        for &value in new {
            min = min.min(value);
            max = max.max(value);
            sum = sum.and_then(|sum| sum.checked_add(value.to_i128()));
        }
        (self.bounds, self.sum) = (Some((min, max)), sum);
    }

    /// Number of trailing zeros that all buffered values share, up to the scale.
    fn common_zeros(&self) -> u32 {
        let mut zeros = u32::from(self.scale);
        for value in &self.buffer {
            while zeros > 0 && value.without_zeros(zeros).is_none() {
                zeros -= 1;
            }
            if zeros == 0 {
                break;
            }
        }
        zeros
    }

    /// Encodes the buffered values.
    fn flush(&mut self, compressors: &mut Compressors) -> Result<()> {
        let zeros = self.common_zeros();
        let out = self.data.buffer();
        if zeros == 0 {
            self.buffer.iter().for_each(|value| value.write(out));
        } else {
            for value in &self.buffer {
                value.without_zeros(zeros).or_internal("values do not have the zeros that they share")?.write(out);
            }
        }
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

    fn end_stripe(&mut self, compressors: &mut Compressors) -> Result<EncodedValues> {
        Ok(EncodedValues::direct(vec![
            (StreamKind::Data, self.data.finish(compressors)?),
            (StreamKind::Secondary, self.scales.finish(compressors)?),
        ]))
    }
}
