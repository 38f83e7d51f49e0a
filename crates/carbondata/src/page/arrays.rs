//! Arrays of Arrow from values of a page, in the type of the column.

use std::sync::Arc;

use arrow_array::{
    Array, ArrayRef, BooleanArray, Date32Array, Float32Array, Float64Array, Int8Array, Int16Array, Int32Array,
    Int64Array, TimestampMicrosecondArray, UInt32Array,
};
use arrow_buffer::{BooleanBuffer, NullBuffer, ScalarBuffer};
use orcish_core::{Error, Result};

use super::checks::{check, check_whole, misfit};
use super::decimals;
use super::integer::Whole;
use super::nulls::{NULL_KEY, nulls_of};
use crate::metadata::format::EPOCH_KEY;
use crate::metadata::schema::{Column, Kind};

/// The key of the first second of 1970, of columns of times that have a direct dictionary.
const FIRST_SECOND: i64 = 2;

/// Whole numbers as the column's type has them: decimals as their digits, times as milliseconds, dates as days.
///
/// # Errors
/// `Corrupt` where one that is not null is too large for the type.
pub(crate) fn integers(column: &Column, values: Vec<i64>, nulls: Option<NullBuffer>) -> Result<ArrayRef> {
    Ok(match column.kind {
        Kind::Boolean => booleans(values.len(), |row| values.get(row).is_some_and(|&value| value != 0), nulls),
        Kind::Byte => Arc::new(Int8Array::try_new(narrow(&values, nulls.as_ref())?, nulls).map_err(misfit)?),
        Kind::Short => Arc::new(Int16Array::try_new(narrow(&values, nulls.as_ref())?, nulls).map_err(misfit)?),
        Kind::Int => Arc::new(Int32Array::try_new(narrow(&values, nulls.as_ref())?, nulls).map_err(misfit)?),
        Kind::Date => Arc::new(Date32Array::try_new(narrow(&values, nulls.as_ref())?, nulls).map_err(misfit)?),
        Kind::Long => Arc::new(Int64Array::try_new(values.into(), nulls).map_err(misfit)?),
        Kind::Timestamp => timestamps(values, nulls)?,
        Kind::Decimal { scale, .. } => {
            decimals::array(column.kind, values.into_iter().map(i128::from).collect(), scale, nulls)?
        }
        #[expect(clippy::cast_precision_loss, reason = "as the writer has it")]
        Kind::Float | Kind::Double => doubles(column, values.into_iter().map(|value| value as f64).collect(), nulls)?,
        kind => return Err(Error::corrupt(format!("numbers in a column of type {kind:?}"))),
    })
}

/// Numbers with a fraction, or without one in columns of whole ones.
///
/// # Errors
/// `Corrupt` for columns of other types.
pub(crate) fn doubles(column: &Column, values: Vec<f64>, nulls: Option<NullBuffer>) -> Result<ArrayRef> {
    #[expect(clippy::cast_possible_truncation, reason = "what a column of floats was given, and whole numbers")]
    Ok(match column.kind {
        Kind::Double => Arc::new(Float64Array::try_new(values.into(), nulls).map_err(misfit)?),
        Kind::Float => {
            let values: Vec<f32> = values.into_iter().map(|value| value as f32).collect();
            Arc::new(Float32Array::try_new(values.into(), nulls).map_err(misfit)?)
        }
        _ => integers(column, values.into_iter().map(|value| value as i64).collect(), nulls)?,
    })
}

pub(crate) fn booleans(rows: usize, value: impl Fn(usize) -> bool, nulls: Option<NullBuffer>) -> ArrayRef {
    Arc::new(BooleanArray::new(BooleanBuffer::collect_bool(rows, value), nulls))
}

/// Times in milliseconds.
///
/// # Errors
/// `Corrupt` for those that 64 bits of microseconds do not hold.
pub(crate) fn timestamps(mut values: Vec<i64>, nulls: Option<NullBuffer>) -> Result<ArrayRef> {
    let most = i64::MAX / 1000;
    let mut is_over = false;
    for value in &values {
        is_over |= *value > most || *value < -most;
    }
    if is_over {
        check(&values, nulls.as_ref(), |value| {
            let fits = value <= most && value >= -most;
            fits.then_some(()).ok_or_else(|| format!("the time {value} ms does not fit into 64 bits of microseconds"))
        })?;
    }
    for value in &mut values {
        *value = value.wrapping_mul(1000);
    }
    Ok(Arc::new(TimestampMicrosecondArray::try_new(values.into(), nulls).map_err(misfit)?.with_timezone("UTC")))
}

/// Dates of keys of the direct dictionary.
pub(crate) fn dates(keys: &[u32]) -> Result<ArrayRef> {
    let days: Vec<i32> = keys.iter().map(|&key| key.cast_signed().wrapping_sub(EPOCH_KEY)).collect();
    Ok(Arc::new(Date32Array::try_new(days.into(), nulls_of(keys, NULL_KEY)).map_err(misfit)?))
}

/// Times of keys of the direct dictionary that files of 1.x have: seconds.
pub(crate) fn times(keys: &[u32]) -> Result<ArrayRef> {
    let times = keys.iter().map(|&key| (i64::from(key.cast_signed()) - FIRST_SECOND) * 1000);
    timestamps(times.collect(), nulls_of(keys, NULL_KEY))
}

/// The values of keys, which say where in `values` they are.
///
/// # Errors
/// `Corrupt` for keys that have none.
pub(crate) fn take_keys(values: &dyn Array, keys: &[u32]) -> Result<ArrayRef> {
    let most = keys.iter().copied().max().unwrap_or(0);
    if !keys.is_empty() && usize::try_from(most).is_ok_and(|most| most >= values.len()) {
        return Err(Error::corrupt(format!("the key {most} in a dictionary of {} values", values.len())));
    }
    arrow_select::take::take(values, &UInt32Array::from(keys.to_vec()), None).map_err(misfit)
}

/// Numbers in fewer bits.
fn narrow<T: Whole>(values: &[i64], nulls: Option<&NullBuffer>) -> Result<ScalarBuffer<T>> {
    let mut is_lost = false;
    let narrowed = values.iter().map(|&value| {
        let narrowed = T::narrow(value);
        is_lost |= narrowed.widen() != value;
        narrowed
    });
    let narrowed: Vec<T> = narrowed.collect();
    if is_lost {
        check_whole::<T>(values, nulls)?;
    }
    Ok(narrowed.into())
}
