//! Arrow arrays from decoded values, in the type of the column.

use std::sync::Arc;

use arrow_array::{
    Array, ArrayRef, BooleanArray, Date32Array, Float32Array, Float64Array, Int8Array, Int16Array, Int32Array,
    Int64Array, TimestampMicrosecondArray, UInt32Array,
};
use arrow_buffer::{BooleanBuffer, NullBuffer, ScalarBuffer};
use orcish_core::{Error, Result};

use super::checks::{check, check_integers, invalid_array};
use super::decimals;
use super::integer::Integer;
use super::nulls::{NULL_KEY, nulls_of};
use crate::metadata::format::EPOCH_KEY;
use crate::metadata::schema::{CarbonType, Column};

/// The surrogate key of 1970-01-01 00:00:00 in the direct dictionary of timestamps.
const FIRST_SECOND: i64 = 2;

/// An array of integers: unscaled values of decimals, milliseconds of timestamps, days of dates.
///
/// # Errors
/// `Corrupt` where a value that is not null does not fit into the type.
pub(crate) fn integers(column: &Column, values: Vec<i64>, nulls: Option<NullBuffer>) -> Result<ArrayRef> {
    Ok(match column.carbon_type {
        CarbonType::Boolean => booleans(values.len(), |row| values.get(row).is_some_and(|&value| value != 0), nulls),
        CarbonType::Byte => {
            Arc::new(Int8Array::try_new(narrow(&values, nulls.as_ref())?, nulls).map_err(invalid_array)?)
        }
        CarbonType::Short => {
            Arc::new(Int16Array::try_new(narrow(&values, nulls.as_ref())?, nulls).map_err(invalid_array)?)
        }
        CarbonType::Int => {
            Arc::new(Int32Array::try_new(narrow(&values, nulls.as_ref())?, nulls).map_err(invalid_array)?)
        }
        CarbonType::Date => {
            Arc::new(Date32Array::try_new(narrow(&values, nulls.as_ref())?, nulls).map_err(invalid_array)?)
        }
        CarbonType::Long => Arc::new(Int64Array::try_new(values.into(), nulls).map_err(invalid_array)?),
        CarbonType::Timestamp => timestamps(values, nulls)?,
        CarbonType::Decimal { scale, .. } => {
            decimals::array(column.carbon_type, values.into_iter().map(i128::from).collect(), scale, nulls)?
        }
        #[expect(clippy::cast_precision_loss, reason = "as the writer computes")]
        CarbonType::Float | CarbonType::Double => {
            doubles(column, values.into_iter().map(|value| value as f64).collect(), nulls)?
        }
        carbon_type => return Err(Error::corrupt(format!("numbers in a column of type {carbon_type:?}"))),
    })
}

/// An array of floating point numbers, which are converted where the column has another numeric type.
///
/// # Errors
/// `Corrupt` for columns of other types.
pub(crate) fn doubles(column: &Column, values: Vec<f64>, nulls: Option<NullBuffer>) -> Result<ArrayRef> {
    #[expect(clippy::cast_possible_truncation, reason = "the values are floats or integers")]
    Ok(match column.carbon_type {
        CarbonType::Double => Arc::new(Float64Array::try_new(values.into(), nulls).map_err(invalid_array)?),
        CarbonType::Float => {
            let values: Vec<f32> = values.into_iter().map(|value| value as f32).collect();
            Arc::new(Float32Array::try_new(values.into(), nulls).map_err(invalid_array)?)
        }
        _ => integers(column, values.into_iter().map(|value| value as i64).collect(), nulls)?,
    })
}

pub(crate) fn booleans(rows: usize, value: impl Fn(usize) -> bool, nulls: Option<NullBuffer>) -> ArrayRef {
    Arc::new(BooleanArray::new(BooleanBuffer::collect_bool(rows, value), nulls))
}

/// An array of timestamps from milliseconds.
///
/// # Errors
/// `Corrupt` where 64 bits do not hold the microseconds.
pub(crate) fn timestamps(mut values: Vec<i64>, nulls: Option<NullBuffer>) -> Result<ArrayRef> {
    let max_millis = i64::MAX / 1000;
    let mut is_over = false;
    for value in &values {
        is_over |= *value > max_millis || *value < -max_millis;
    }
    if is_over {
        check(&values, nulls.as_ref(), |value| {
            let fits = value <= max_millis && value >= -max_millis;
            fits.then_some(()).ok_or_else(|| format!("the time {value} ms does not fit into 64 bits of microseconds"))
        })?;
    }
    for value in &mut values {
        *value = value.wrapping_mul(1000);
    }
    Ok(Arc::new(TimestampMicrosecondArray::try_new(values.into(), nulls).map_err(invalid_array)?.with_timezone("UTC")))
}

/// Dates of surrogate keys of the direct dictionary.
pub(crate) fn dates(keys: &[u32]) -> Result<ArrayRef> {
    let days: Vec<i32> = keys.iter().map(|&key| key.cast_signed().wrapping_sub(EPOCH_KEY)).collect();
    Ok(Arc::new(Date32Array::try_new(days.into(), nulls_of(keys, NULL_KEY)).map_err(invalid_array)?))
}

/// Timestamps of surrogate keys of the direct dictionary of files of 1.x, which counts seconds.
pub(crate) fn times(keys: &[u32]) -> Result<ArrayRef> {
    let times = keys.iter().map(|&key| (i64::from(key.cast_signed()) - FIRST_SECOND) * 1000);
    timestamps(times.collect(), nulls_of(keys, NULL_KEY))
}

/// Looks up surrogate keys, which are indexes of `values`.
///
/// # Errors
/// `Corrupt` for keys without value.
pub(crate) fn take_keys(values: &dyn Array, keys: &[u32]) -> Result<ArrayRef> {
    let max_key = keys.iter().copied().max().unwrap_or(0);
    if !keys.is_empty() && usize::try_from(max_key).is_ok_and(|max_key| max_key >= values.len()) {
        return Err(Error::corrupt(format!("the key {max_key} in a dictionary of {} values", values.len())));
    }
    arrow_select::take::take(values, &UInt32Array::from(keys.to_vec()), None).map_err(invalid_array)
}

/// Narrows integers.
fn narrow<T: Integer>(values: &[i64], nulls: Option<&NullBuffer>) -> Result<ScalarBuffer<T>> {
    let mut is_lossy = false;
    let narrowed = values.iter().map(|&value| {
        let narrowed = T::narrow(value);
        is_lossy |= narrowed.widen() != value;
        narrowed
    });
    let narrowed: Vec<T> = narrowed.collect();
    if is_lossy {
        check_integers::<T>(values, nulls)?;
    }
    Ok(narrowed.into())
}
