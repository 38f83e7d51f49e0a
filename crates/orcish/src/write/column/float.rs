//! Floating point numbers (ORCv1, Float and Double Columns).

use arrow_array::ArrayRef;
use arrow_array::cast::AsArray as _;
use arrow_array::types::{ArrowPrimitiveType, Float32Type, Float64Type};
use arrow_buffer::NullBuffer;
use arrow_schema::DataType;
use orcish_core::error::{Error, Result};

use super::{Compressors, Detail, Ended, Outcome, Starts, Tools, Values, valid_ranges};
use crate::bloom::BloomBuilder;
use crate::write::stream::OutStream;
use crate::write::streams::Layout;

/// Least, greatest and sum of the values of a row group. NaN is neither least nor greatest, and makes the sum NaN: by
/// that readers know that there is one.
#[derive(Debug, Clone, Copy)]
struct Summary {
    min: f64,
    max: f64,
    sum: f64,
    has_nan: bool,
}

impl Summary {
    const EMPTY: Self = Summary { min: f64::INFINITY, max: f64::NEG_INFINITY, sum: 0.0, has_nan: false };

    /// Takes values. Bounds are kept in several places, so that none waits for the one before.
    fn add<T: Copy>(&mut self, values: &[T], number: &impl Fn(T) -> f64) {
        const LANES: usize = 8;
        let (mut min, mut max, mut has_nan) = ([self.min; LANES], [self.max; LANES], [false; LANES]);
        let (groups, rest) = values.as_chunks::<LANES>();
        let mut take = |values: &[T]| {
            for (((min, max), has_nan), &value) in min.iter_mut().zip(&mut max).zip(&mut has_nan).zip(values) {
                let value = number(value);
                *min = if value < *min { value } else { *min };
                *max = if value > *max { value } else { *max };
                *has_nan |= value.is_nan();
            }
        };
        groups.iter().for_each(|group| take(group));
        take(rest);
        self.min = min.into_iter().fold(self.min, f64::min);
        self.max = max.into_iter().fold(self.max, f64::max);
        self.has_nan |= has_nan.contains(&true);
        // In order: it is the same however rows come.
        self.sum = values.iter().fold(self.sum, |sum, &value| sum + number(value));
    }

    fn detail(self, has_values: bool) -> Detail {
        if !has_values {
            return Detail::Double { min: None, max: None, sum: Some(0.0) };
        }
        // Readers compare the zeros in one way or the other.
        let min = if self.min == 0.0 { -0.0 } else { self.min };
        let max = if self.max == 0.0 { 0.0 } else { self.max };
        let has_bounds = min <= max;
        let sum = if self.has_nan { f64::NAN } else { self.sum };
        Detail::Double { min: has_bounds.then_some(min), max: has_bounds.then_some(max), sum: Some(sum) }
    }
}

pub(super) struct FloatValues {
    data: OutStream,
    starts: Starts,
    summary: Summary,
    values: u64,
}

impl FloatValues {
    pub(super) fn new(layout: Layout) -> Self {
        FloatValues { data: layout.stream(), starts: Starts::default(), summary: Summary::EMPTY, values: 0 }
    }

    /// Takes values: their bytes, and what they are as numbers.
    fn take<T: ArrowPrimitiveType, const N: usize>(
        &mut self,
        array: &ArrayRef,
        valid: Option<&NullBuffer>,
        mut bloom: Option<&mut BloomBuilder>,
        bytes: impl Fn(T::Native) -> [u8; N],
        number: impl Fn(T::Native) -> f64,
    ) {
        let values = array.as_primitive::<T>().values();
        for range in valid_ranges(values.len(), valid) {
            let part = values.get(range).unwrap_or_default();
            self.values += part.len() as u64;
            let raw = self.data.raw();
            let start = raw.len();
            raw.resize(start + N * part.len(), 0);
            let room = raw.get_mut(start..).unwrap_or_default().as_chunks_mut::<N>().0;
            room.iter_mut().zip(part).for_each(|(to, &value)| *to = bytes(value));
            self.summary.add(part, &number);
            if let Some(bloom) = &mut bloom {
                part.iter().for_each(|&value| bloom.add_float(number(value)));
            }
        }
    }
}

impl Values for FloatValues {
    fn append(&mut self, array: &ArrayRef, valid: Option<&NullBuffer>, tools: Tools<'_>) -> Outcome {
        let bloom = tools.bloom;
        match array.data_type() {
            DataType::Float16 => {
                let array = arrow_cast::cast(array, &DataType::Float32);
                let array = array.map_err(|error| Error::invalid("float16 does not widen").with_source(error))?;
                self.take::<Float32Type, 4>(&array, valid, bloom, f32::to_le_bytes, f64::from);
            }
            DataType::Float32 => self.take::<Float32Type, 4>(array, valid, bloom, f32::to_le_bytes, f64::from),
            DataType::Float64 => self.take::<Float64Type, 8>(array, valid, bloom, f64::to_le_bytes, |value| value),
            other => return Err(Error::invalid(format!("{other} is no floating point number")).into()),
        }
        Ok(self.data.settle_if_full(tools.compressors)?)
    }

    fn begin_group(&mut self) {
        self.starts.push(|position| self.data.position(position));
    }

    fn end_group(&mut self, compressors: &mut Compressors) -> Result<Detail> {
        self.data.settle(compressors)?;
        let has_values = std::mem::take(&mut self.values) > 0;
        Ok(std::mem::replace(&mut self.summary, Summary::EMPTY).detail(has_values))
    }

    fn size(&self) -> usize {
        self.data.size()
    }

    fn end_stripe(&mut self, compressors: &mut Compressors) -> Result<Ended> {
        Ok(Ended::of_data(self.data.take(compressors)?, self.starts.take()))
    }
}
