//! Float and double columns (ORCv1, Float and Double Columns).

use arrow_array::ArrayRef;
use arrow_array::cast::AsArray as _;
use arrow_array::types::{ArrowPrimitiveType, Float32Type, Float64Type};
use arrow_buffer::NullBuffer;
use arrow_schema::DataType;
use orcish_core::error::{Error, Result};

use super::{AppendContext, AppendResult, Compressors, Detail, EncodedValues, ValueEncoder, valid_slices};
use crate::bloom::BloomBuilder;
use crate::layout::Coding;
use crate::write::out_stream::OutStream;
use crate::write::stream_options::StreamOptions;

/// Minimum, maximum and sum of the values of a row group. Minimum and maximum ignore NaN. The sum becomes NaN, which
/// tells readers that there is a NaN.
#[derive(Debug, Clone, Copy)]
struct FloatStatistics {
    min: f64,
    max: f64,
    sum: f64,
    has_nan: bool,
}

impl FloatStatistics {
    const EMPTY: Self = FloatStatistics { min: f64::INFINITY, max: f64::NEG_INFINITY, sum: 0.0, has_nan: false };

    /// Adds values, which `to_f64` widens. Each lane has its own bounds, so that comparisons do not depend on each
    /// other.
    fn add<T: Copy>(&mut self, values: &[T], to_f64: &impl Fn(T) -> f64) {
        const LANES: usize = 8;
        let (mut min, mut max, mut has_nan) = ([self.min; LANES], [self.max; LANES], [false; LANES]);
        let (chunks, remainder) = values.as_chunks::<LANES>();
        let mut add = |values: &[T]| {
            for (((min, max), has_nan), &value) in min.iter_mut().zip(&mut max).zip(&mut has_nan).zip(values) {
                let value = to_f64(value);
                *min = if value < *min { value } else { *min };
                *max = if value > *max { value } else { *max };
                *has_nan |= value.is_nan();
            }
        };
        chunks.iter().for_each(|chunk| add(chunk));
        add(remainder);
        self.min = min.into_iter().fold(self.min, f64::min);
        self.max = max.into_iter().fold(self.max, f64::max);
        self.has_nan |= has_nan.contains(&true);
        // Values are added in order, so that the sum does not depend on batches.
        self.sum = values.iter().fold(self.sum, |sum, &value| sum + to_f64(value));
    }

    fn detail(self, has_values: bool) -> Detail {
        if !has_values {
            return Detail::Double { min: None, max: None, sum: Some(0.0) };
        }
        // Some readers order -0.0 before 0.0, others treat them as equal.
        let min = if self.min == 0.0 { -0.0 } else { self.min };
        let max = if self.max == 0.0 { 0.0 } else { self.max };
        let has_bounds = min <= max;
        let sum = if self.has_nan { f64::NAN } else { self.sum };
        Detail::Double { min: has_bounds.then_some(min), max: has_bounds.then_some(max), sum: Some(sum) }
    }
}

pub(super) struct FloatEncoder {
    data: OutStream,
    statistics: FloatStatistics,
    /// Values of the row group.
    num_values: u64,
}

impl FloatEncoder {
    /// The encoder of numbers of `width` bytes.
    pub(super) fn new(width: usize, options: StreamOptions) -> Self {
        FloatEncoder {
            data: options.new_stream(Coding::Fixed(width)),
            statistics: FloatStatistics::EMPTY,
            num_values: 0,
        }
    }

    /// Appends valid values, which `to_le_bytes` encodes and `to_f64` widens.
    fn append_values<T: ArrowPrimitiveType, const N: usize>(
        &mut self,
        array: &ArrayRef,
        valid: Option<&NullBuffer>,
        mut bloom_filter: Option<&mut BloomBuilder>,
        to_le_bytes: impl Fn(T::Native) -> [u8; N],
        to_f64: impl Fn(T::Native) -> f64,
    ) -> Result<()> {
        let values = array.as_primitive::<T>().values();
        for slice in valid_slices(values, valid) {
            let (_, values) = slice?;
            self.num_values += values.len() as u64;
            let buffer = self.data.buffer();
            let start = buffer.len();
            buffer.resize(start + N * values.len(), 0);
            let encoded = buffer.split_at_mut(start).1.as_chunks_mut::<N>().0;
            encoded.iter_mut().zip(values).for_each(|(bytes, &value)| *bytes = to_le_bytes(value));
            self.statistics.add(values, &to_f64);
            if let Some(bloom_filter) = &mut bloom_filter {
                values.iter().for_each(|&value| bloom_filter.add_float(to_f64(value)));
            }
        }
        Ok(())
    }
}

impl ValueEncoder for FloatEncoder {
    fn append(&mut self, array: &ArrayRef, valid: Option<&NullBuffer>, context: AppendContext<'_>) -> AppendResult {
        let bloom_filter = context.bloom_filter;
        match array.data_type() {
            DataType::Float16 => {
                let array = arrow_cast::cast(array, &DataType::Float32);
                let array = array.map_err(|error| Error::invalid("float16 does not widen").with_source(error))?;
                self.append_values::<Float32Type, 4>(&array, valid, bloom_filter, f32::to_le_bytes, f64::from)?;
            }
            DataType::Float32 => {
                self.append_values::<Float32Type, 4>(array, valid, bloom_filter, f32::to_le_bytes, f64::from)?;
            }
            DataType::Float64 => {
                self.append_values::<Float64Type, 8>(array, valid, bloom_filter, f64::to_le_bytes, |value| value)?;
            }
            other => return Err(Error::invalid(format!("{other} is no floating point number")).into()),
        }
        Ok(self.data.compress_if_large(context.compressors)?)
    }

    fn begin_row_group(&mut self) {
        self.data.begin_row_group(&[]);
    }

    fn end_row_group(&mut self, compressors: &mut Compressors) -> Result<Detail> {
        self.data.compress_full_chunks(compressors)?;
        let has_values = std::mem::take(&mut self.num_values) > 0;
        Ok(std::mem::replace(&mut self.statistics, FloatStatistics::EMPTY).detail(has_values))
    }

    fn size(&self) -> usize {
        self.data.size()
    }

    fn end_stripe(&mut self, compressors: &mut Compressors) -> Result<EncodedValues> {
        Ok(EncodedValues::data(self.data.finish(compressors)?))
    }
}
