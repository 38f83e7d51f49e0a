//! Whole numbers (ORCv1, Integer Columns, Byte Columns, Date Columns).

use arrow_array::cast::AsArray as _;
use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, Date64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type,
    UInt32Type,
};
use arrow_array::{Array as _, ArrayRef};
use arrow_buffer::NullBuffer;
use arrow_data::ArrayData;
use arrow_schema::{DataType, TimeUnit};
use orcish_core::error::{Error, Result};
use orcish_core::types::{NANOSECONDS_OF_DAY, nanoseconds};

use super::{Compressors, Detail, Ended, Outcome, Starts, Tools, Values, valid_ranges};
use crate::write::fault::Fault;
use crate::write::streams::{ByteStream, IntStream, Layout};

const MILLIS_PER_DAY: i64 = 86_400_000;

/// Least, greatest and sum of the values of a row group.
#[derive(Debug, Clone, Copy, Default)]
struct Summary {
    bounds: Option<(i64, i64)>,
    /// Wider than any sum of a row group can be.
    sum: i128,
}

impl Summary {
    fn add(&mut self, values: &[i64]) {
        let Some(&first) = values.first() else { return };
        let (mut min, mut max) = self.bounds.unwrap_or((first, first));
        let (mut low, mut high) = (0u64, 0i64);
        for &value in values {
            min = min.min(value);
            max = max.max(value);
            // The sum in two halves, without a carry from value to value: of 2³¹ values none overflows.
            low += value.cast_unsigned() & 0xffff_ffff;
            high += value >> 32;
        }
        self.bounds = Some((min, max));
        self.sum += (i128::from(high) << 32) + i128::from(low);
    }

    fn of_numbers(self) -> Detail {
        let (min, max) = self.bounds.unzip();
        Detail::Integer { min, max, sum: i64::try_from(self.sum).ok() }
    }

    fn of_days(self) -> Detail {
        let day = |day: Option<i64>| day.and_then(|day| i32::try_from(day).ok());
        let (min, max) = self.bounds.unzip();
        Detail::Date { min: day(min), max: day(max) }
    }
}

/// The values of a `smallint`, `int`, `bigint` or `date` column.
pub(super) struct IntegerValues {
    column: u32,
    is_date: bool,
    data: IntStream,
    starts: Starts,
    summary: Summary,
}

impl IntegerValues {
    pub(super) fn new(column: u32, is_date: bool, layout: Layout) -> Self {
        let data = IntStream::of_integers(layout, true);
        IntegerValues { column, is_date, data, starts: Starts::default(), summary: Summary::default() }
    }
}

/// Appends the valid values of an array of whole numbers.
fn gather<T: ArrowPrimitiveType>(array: &ArrayRef, valid: Option<&NullBuffer>, out: &mut Vec<i64>)
where
    T::Native: Into<i64>,
{
    let values = array.as_primitive::<T>().values();
    for range in valid_ranges(values.len(), valid) {
        out.extend(values.get(range).unwrap_or_default().iter().map(|&value| value.into()));
    }
}

/// The numbers of arrays that are numbers by their bytes, such as times and durations.
pub(super) fn as_numbers(array: &ArrayRef, data_type: DataType) -> Result<ArrayRef> {
    let data = array.to_data().into_builder().data_type(data_type).build();
    let data: ArrayData = data.map_err(|error| Error::invalid("an array that is not valid").with_source(error))?;
    Ok(arrow_array::make_array(data))
}

/// Days of a `Date64`, which counts milliseconds.
fn gather_days(column: u32, array: &ArrayRef, valid: Option<&NullBuffer>, out: &mut Vec<i64>) -> Outcome {
    let values = array.as_primitive::<Date64Type>().values();
    for range in valid_ranges(values.len(), valid) {
        for (index, &millis) in range.clone().zip(values.get(range).unwrap_or_default()) {
            let day = millis / MILLIS_PER_DAY;
            if millis % MILLIS_PER_DAY != 0 || i32::try_from(day).is_err() {
                let message = format!("{millis} ms since 1970 are no day that a date column can hold");
                return Err(Fault::Value { index, column, message });
            }
            out.push(day);
        }
    }
    Ok(())
}

impl Values for IntegerValues {
    fn append(&mut self, array: &ArrayRef, valid: Option<&NullBuffer>, tools: Tools<'_>) -> Outcome {
        self.data.relieve(tools.compressors)?;
        let held = self.data.held();
        let before = held.len();
        match array.data_type() {
            DataType::Int8 => gather::<Int8Type>(array, valid, held),
            DataType::Int16 => gather::<Int16Type>(array, valid, held),
            DataType::Int32 => gather::<Int32Type>(array, valid, held),
            DataType::Int64 => gather::<Int64Type>(array, valid, held),
            DataType::UInt8 => gather::<UInt8Type>(array, valid, held),
            DataType::UInt16 => gather::<UInt16Type>(array, valid, held),
            DataType::UInt32 => gather::<UInt32Type>(array, valid, held),
            DataType::Date32 => gather::<Date32Type>(array, valid, held),
            DataType::Date64 => gather_days(self.column, array, valid, held)?,
            DataType::Time32(_) | DataType::Interval(_) => {
                gather::<Int32Type>(&as_numbers(array, DataType::Int32)?, valid, held);
            }
            DataType::Time64(_) | DataType::Duration(_) => {
                gather::<Int64Type>(&as_numbers(array, DataType::Int64)?, valid, held);
            }
            DataType::Timestamp(unit, None) => {
                let numbers = as_numbers(array, DataType::Int64)?;
                gather::<Int64Type>(&numbers, valid, held);
                let new = held.get_mut(before..).unwrap_or_default();
                if let Some(at) = to_microseconds(new, *unit) {
                    let index = nth_valid(at, array.len(), valid);
                    let message = format!("a timestamp in {unit:?}s that microseconds, as Spark has them, cannot hold");
                    return Err(Fault::Value { index, column: self.column, message });
                }
            }
            other => return Err(Error::invalid(format!("{other} is no whole number")).into()),
        }
        let new = held.get(before..).unwrap_or_default();
        if let DataType::Time32(unit) | DataType::Time64(unit) = array.data_type() {
            let day = NANOSECONDS_OF_DAY / nanoseconds(*unit);
            if let Some(at) = new.iter().position(|time| !(0..day).contains(time)) {
                let index = nth_valid(at, array.len(), valid);
                return Err(Fault::Value { index, column: self.column, message: "a time that no day has".to_owned() });
            }
        }
        self.summary.add(new);
        if let Some(bloom) = tools.bloom {
            new.iter().for_each(|&value| bloom.add_integer(value));
        }
        Ok(())
    }

    fn begin_group(&mut self) {
        self.starts.push(|position| self.data.position(position));
    }

    fn end_group(&mut self, compressors: &mut Compressors) -> Result<Detail> {
        self.data.end_run(compressors)?;
        let summary = std::mem::take(&mut self.summary);
        Ok(if self.is_date { summary.of_days() } else { summary.of_numbers() })
    }

    fn size(&self) -> usize {
        self.data.size()
    }

    fn end_stripe(&mut self, compressors: &mut Compressors) -> Result<Ended> {
        let ended = Ended::of_data(self.data.take(compressors)?, self.starts.take());
        Ok(Ended { has_integers: true, ..ended })
    }
}

/// Index of the valid value number `n` of an array.
pub(super) fn nth_valid(n: usize, length: usize, valid: Option<&NullBuffer>) -> usize {
    valid_ranges(length, valid).flatten().nth(n).unwrap_or_default()
}

/// Turns numbers of a unit to microseconds; the index of the first that cannot be.
fn to_microseconds(values: &mut [i64], unit: TimeUnit) -> Option<usize> {
    const MICROSECOND: i64 = 1_000;
    if unit == TimeUnit::Nanosecond {
        let cut = values.iter().position(|value| value % MICROSECOND != 0);
        values.iter_mut().for_each(|value| *value = value.div_euclid(MICROSECOND));
        return cut;
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

/// The values of a `tinyint` column.
pub(super) struct ByteValues {
    data: ByteStream,
    starts: Starts,
    summary: Summary,
    wide: Vec<i64>,
}

impl ByteValues {
    pub(super) fn new(layout: Layout) -> Self {
        let data = ByteStream::of_bytes(layout);
        ByteValues { data, starts: Starts::default(), summary: Summary::default(), wide: Vec::new() }
    }
}

impl Values for ByteValues {
    fn append(&mut self, array: &ArrayRef, valid: Option<&NullBuffer>, tools: Tools<'_>) -> Outcome {
        self.data.relieve(tools.compressors)?;
        self.wide.clear();
        gather::<Int8Type>(array, valid, &mut self.wide);
        self.data.held().extend(self.wide.iter().map(|value| value.to_le_bytes()[0]));
        self.summary.add(&self.wide);
        if let Some(bloom) = tools.bloom {
            self.wide.iter().for_each(|&value| bloom.add_integer(value));
        }
        Ok(())
    }

    fn begin_group(&mut self) {
        self.starts.push(|position| self.data.position(position));
    }

    fn end_group(&mut self, compressors: &mut Compressors) -> Result<Detail> {
        self.data.end_run(compressors)?;
        Ok(std::mem::take(&mut self.summary).of_numbers())
    }

    fn size(&self) -> usize {
        self.data.size()
    }

    fn end_stripe(&mut self, compressors: &mut Compressors) -> Result<Ended> {
        Ok(Ended::of_data(self.data.take(compressors)?, self.starts.take()))
    }
}
