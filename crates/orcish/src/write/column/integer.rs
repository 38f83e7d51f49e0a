//! Integer, byte and date columns (ORCv1, Integer Columns, Byte Columns, Date Columns).

use arrow_array::cast::AsArray as _;
use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, Date64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type,
    UInt32Type,
};
use arrow_array::{Array as _, ArrayRef};
use arrow_buffer::NullBuffer;
use arrow_data::ArrayData;
use arrow_schema::{DataType, TimeUnit};
use orcish_core::error::{Error, OrInternal as _, Result};
use orcish_core::types::{NANOSECONDS_OF_DAY, nanoseconds};

use super::{
    AppendContext, AppendResult, Compressors, Detail, EncodedValues, ValueEncoder, valid_ranges, valid_slices,
};
use crate::encoding::cpu::{self, InstructionSet, Kernel};
use crate::write::append_error::AppendError;
use crate::write::rle_stream::{ByteStream, IntegerStream};
use crate::write::stream_options::StreamOptions;

const MILLIS_PER_DAY: i64 = 86_400_000;

/// Minimum, maximum and sum of the values of a row group.
#[derive(Debug, Clone, Copy, Default)]
struct IntegerStatistics {
    bounds: Option<(i64, i64)>,
    /// 128 bits cannot overflow in a row group.
    sum: i128,
}

impl IntegerStatistics {
    fn add(&mut self, values: &[i64]) {
        let Some(Summary { min, max, sum }) = Summary::of(values) else { return };
        let (low, high) = self.bounds.unwrap_or((min, max));
        self.bounds = Some((low.min(min), high.max(max)));
        self.sum += sum;
    }

    fn integer_detail(self) -> Detail {
        let (min, max) = self.bounds.unzip();
        Detail::Integer { min, max, sum: i64::try_from(self.sum).ok() }
    }

    fn date_detail(self) -> Detail {
        let day = |day: Option<i64>| day.and_then(|day| i32::try_from(day).ok());
        let (min, max) = self.bounds.unzip();
        Detail::Date { min: day(min), max: day(max) }
    }
}

/// Minimum, maximum and sum of values.
pub(super) struct Summary {
    pub(super) min: i64,
    pub(super) max: i64,
    pub(super) sum: i128,
}

impl Summary {
    /// The summary of `values`, which are fewer than 2³¹; `None` without values.
    pub(super) fn of(values: &[i64]) -> Option<Summary> {
        cpu::run(Summarize(values))
    }
}

struct Summarize<'a>(&'a [i64]);

impl Kernel for Summarize<'_> {
    type Output = Option<Summary>;

    #[inline(always)]
    fn run(self, _instructions: impl InstructionSet) -> Self::Output {
        let &first = self.0.first()?;
        let (mut min, mut max, mut low, mut high) = (first, first, 0u64, 0i64);
        for &value in self.0 {
            min = min.min(value);
            max = max.max(value);
            // Separate sums of the low and high 32 bits need no carry. They do not overflow for up to 2³¹ values.
            low += value.cast_unsigned() & 0xffff_ffff;
            high += value >> 32;
        }
        Some(Summary { min, max, sum: (i128::from(high) << 32) + i128::from(low) })
    }
}

/// Encodes `smallint`, `int`, `bigint` and `date` columns.
pub(super) struct IntegerEncoder {
    column: u32,
    is_date: bool,
    data: IntegerStream,
    statistics: IntegerStatistics,
}

impl IntegerEncoder {
    pub(super) fn new(column: u32, is_date: bool, options: StreamOptions) -> Self {
        IntegerEncoder {
            column,
            is_date,
            data: IntegerStream::signed(options),
            statistics: IntegerStatistics::default(),
        }
    }
}

/// Appends the valid values of an integer array to `out`.
fn extend_integers<T: ArrowPrimitiveType>(
    array: &ArrayRef,
    valid: Option<&NullBuffer>,
    out: &mut Vec<i64>,
) -> Result<()>
where
    T::Native: Into<i64>,
{
    let values = array.as_primitive::<T>().values();
    for slice in valid_slices(values, valid) {
        out.extend(slice?.1.iter().map(|&value| value.into()));
    }
    Ok(())
}

/// The integers of an array whose physical type is an integer, such as a time or a duration.
pub(super) fn physical_integers(array: &ArrayRef, data_type: DataType) -> Result<ArrayRef> {
    let data = array.to_data().into_builder().data_type(data_type).build();
    let data: ArrayData = data.map_err(|error| Error::invalid("an array that is not valid").with_source(error))?;
    Ok(arrow_array::make_array(data))
}

/// Appends the valid values of a `Date64` array, which has milliseconds, to `out` as days.
fn extend_days(column: u32, array: &ArrayRef, valid: Option<&NullBuffer>, out: &mut Vec<i64>) -> AppendResult {
    let values = array.as_primitive::<Date64Type>().values();
    for slice in valid_slices(values, valid) {
        let (start, values) = slice?;
        for (index, &millis) in (start..).zip(values) {
            let day = millis / MILLIS_PER_DAY;
            if millis % MILLIS_PER_DAY != 0 || i32::try_from(day).is_err() {
                let message = format!("{millis} ms since 1970 are no day that a date column can hold");
                return Err(AppendError::Value { index, column, message });
            }
            out.push(day);
        }
    }
    Ok(())
}

impl ValueEncoder for IntegerEncoder {
    fn append(&mut self, array: &ArrayRef, valid: Option<&NullBuffer>, context: AppendContext<'_>) -> AppendResult {
        self.data.encode_if_large(context.compressors)?;
        let out = self.data.buffer();
        let start = out.len();
        match array.data_type() {
            DataType::Int8 => extend_integers::<Int8Type>(array, valid, out)?,
            DataType::Int16 => extend_integers::<Int16Type>(array, valid, out)?,
            DataType::Int32 => extend_integers::<Int32Type>(array, valid, out)?,
            DataType::Int64 => extend_integers::<Int64Type>(array, valid, out)?,
            DataType::UInt8 => extend_integers::<UInt8Type>(array, valid, out)?,
            DataType::UInt16 => extend_integers::<UInt16Type>(array, valid, out)?,
            DataType::UInt32 => extend_integers::<UInt32Type>(array, valid, out)?,
            DataType::Date32 => extend_integers::<Date32Type>(array, valid, out)?,
            DataType::Date64 => extend_days(self.column, array, valid, out)?,
            DataType::Time32(_) | DataType::Interval(_) => {
                extend_integers::<Int32Type>(&physical_integers(array, DataType::Int32)?, valid, out)?;
            }
            DataType::Time64(_) | DataType::Duration(_) => {
                extend_integers::<Int64Type>(&physical_integers(array, DataType::Int64)?, valid, out)?;
            }
            DataType::Timestamp(unit, None) => {
                let integers = physical_integers(array, DataType::Int64)?;
                extend_integers::<Int64Type>(&integers, valid, out)?;
                let (_, new) = out.split_at_mut(start);
                if let Some(n) = to_microseconds(new, *unit) {
                    let index = nth_valid(n, array.len(), valid)?;
                    let message = format!("a timestamp in {unit:?}s that microseconds, as Spark has them, cannot hold");
                    return Err(AppendError::Value { index, column: self.column, message });
                }
            }
            other => return Err(Error::internal(format!("{other} is no whole number")).into()),
        }
        let (_, new) = out.split_at(start);
        if let DataType::Time32(unit) | DataType::Time64(unit) = array.data_type() {
            let day = NANOSECONDS_OF_DAY / nanoseconds(*unit);
            if let Some(n) = new.iter().position(|time| !(0..day).contains(time)) {
                let index = nth_valid(n, array.len(), valid)?;
                return Err(AppendError::Value {
                    index,
                    column: self.column,
                    message: "a time that no day has".to_owned(),
                });
            }
        }
        self.statistics.add(new);
        if let Some(bloom_filter) = context.bloom_filter {
            new.iter().for_each(|&value| bloom_filter.add_integer(value));
        }
        Ok(())
    }

    fn begin_row_group(&mut self) {
        self.data.begin_row_group();
    }

    fn end_row_group(&mut self, compressors: &mut Compressors) -> Result<Detail> {
        self.data.end_run(compressors)?;
        let statistics = std::mem::take(&mut self.statistics);
        Ok(if self.is_date { statistics.date_detail() } else { statistics.integer_detail() })
    }

    fn size(&self) -> usize {
        self.data.size()
    }

    fn memory_size(&self) -> usize {
        self.data.memory_size()
    }

    fn end_stripe(&mut self, compressors: &mut Compressors) -> Result<EncodedValues> {
        Ok(EncodedValues::data(self.data.finish(compressors)?))
    }
}

/// Index of valid value number `n`, counted from 0, in an array.
///
/// # Errors
/// `Internal` where the array has fewer.
pub(super) fn nth_valid(n: usize, length: usize, valid: Option<&NullBuffer>) -> Result<usize> {
    valid_ranges(length, valid).flatten().nth(n).or_internal("an array has fewer valid values than were appended")
}

/// Converts values of a unit to microseconds. Returns the index of the first value that microseconds cannot represent.
fn to_microseconds(values: &mut [i64], unit: TimeUnit) -> Option<usize> {
    const MICROSECOND: i64 = 1_000;
    if unit == TimeUnit::Nanosecond {
        let inexact = values.iter().position(|value| value % MICROSECOND != 0);
        values.iter_mut().for_each(|value| *value = value.div_euclid(MICROSECOND));
        return inexact;
    }
    let factor = nanoseconds(unit) / MICROSECOND;
    values.iter_mut().position(|value| match value.checked_mul(factor) {
        Some(micros) => {
            *value = micros;
            false
        }
        None => true,
    })
}

/// Encodes `tinyint` columns.
pub(super) struct ByteEncoder {
    data: ByteStream,
    statistics: IntegerStatistics,
    /// Reused buffer for widened values.
    wide: Vec<i64>,
}

impl ByteEncoder {
    pub(super) fn new(options: StreamOptions) -> Self {
        ByteEncoder { data: ByteStream::bytes(options), statistics: IntegerStatistics::default(), wide: Vec::new() }
    }
}

impl ValueEncoder for ByteEncoder {
    fn append(&mut self, array: &ArrayRef, valid: Option<&NullBuffer>, context: AppendContext<'_>) -> AppendResult {
        self.data.encode_if_large(context.compressors)?;
        self.wide.clear();
        extend_integers::<Int8Type>(array, valid, &mut self.wide)?;
        self.data.buffer().extend(self.wide.iter().map(|value| value.to_le_bytes()[0]));
        self.statistics.add(&self.wide);
        if let Some(bloom_filter) = context.bloom_filter {
            self.wide.iter().for_each(|&value| bloom_filter.add_integer(value));
        }
        Ok(())
    }

    fn begin_row_group(&mut self) {
        self.data.begin_row_group();
    }

    fn end_row_group(&mut self, compressors: &mut Compressors) -> Result<Detail> {
        self.data.end_run(compressors)?;
        Ok(std::mem::take(&mut self.statistics).integer_detail())
    }

    fn size(&self) -> usize {
        self.data.size()
    }

    fn memory_size(&self) -> usize {
        self.data.memory_size()
    }

    fn end_stripe(&mut self, compressors: &mut Compressors) -> Result<EncodedValues> {
        Ok(EncodedValues::data(self.data.finish(compressors)?))
    }
}
