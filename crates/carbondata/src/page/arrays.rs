//! Arrays of Arrow from values of a page, in the type of the column.

use std::sync::Arc;

use arrow_array::{
    Array, ArrayRef, BooleanArray, Date32Array, Float32Array, Float64Array, Int8Array, Int16Array, Int32Array,
    Int64Array, TimestampMicrosecondArray, UInt32Array,
};
use arrow_buffer::{BooleanBuffer, Buffer, NullBuffer, ScalarBuffer};
use orcish_core::{Error, Result};

use super::decimals;
use super::numbers::Whole;
use crate::metadata::format::EPOCH_KEY;
use crate::metadata::schema::{Column, Kind};

/// The key of null in dictionaries.
pub(crate) const NULL_KEY: u32 = 1;
/// The key of the first second of 1970, of columns of times that have a direct dictionary.
const FIRST_SECOND: i64 = 2;

/// Which of `rows` are null, of bits that `java.util.BitSet` has written: those of nulls, the last ones left out.
pub(crate) fn nulls(bits: &[u8], rows: usize) -> Option<NullBuffer> {
    if bits.iter().all(|&byte| byte == 0) {
        return None;
    }
    let mut valid: Vec<u8> = bits.iter().take(rows.div_ceil(8)).map(|&byte| !byte).collect();
    valid.resize(rows.div_ceil(8), u8::MAX);
    let nulls = NullBuffer::new(BooleanBuffer::new(Buffer::from_vec(valid), 0, rows));
    (nulls.null_count() > 0).then_some(nulls)
}

/// Nulls where `is_null`.
pub(crate) fn nulls_where(rows: usize, is_null: impl Fn(usize) -> bool) -> Option<NullBuffer> {
    let nulls = NullBuffer::new(BooleanBuffer::collect_bool(rows, |row| !is_null(row)));
    (nulls.null_count() > 0).then_some(nulls)
}

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

/// Nulls where keys are `null`.
pub(super) fn nulls_of(keys: &[u32], null: u32) -> Option<NullBuffer> {
    // Most pages have none, which is seen faster than bits are made.
    keys.contains(&null).then(|| nulls_where(keys.len(), |row| keys.get(row) == Some(&null))).flatten()
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

/// Looks for values that are not null and that the type does not hold.
pub(super) fn check_whole<T: Whole>(values: &[i64], nulls: Option<&NullBuffer>) -> Result<()> {
    check(values, nulls, |value| {
        let fits = T::narrow(value).widen() == value;
        fits.then_some(()).ok_or_else(|| format!("the number {value} is too large for the column"))
    })
}

/// Looks at the values that are not null, for whose first fault the message is.
pub(super) fn check<T: Copy>(
    values: &[T],
    nulls: Option<&NullBuffer>,
    fault: impl Fn(T) -> Result<(), String>,
) -> Result<()> {
    for (row, &value) in values.iter().enumerate() {
        if nulls.is_none_or(|nulls| row < nulls.len() && nulls.is_valid(row)) {
            fault(value).map_err(|message| Error::corrupt(message).at_row(u64::try_from(row).unwrap_or(u64::MAX)))?;
        }
    }
    Ok(())
}

/// An error of Arrow: of arrays whose parts do not fit.
pub(crate) fn misfit(error: arrow_schema::ArrowError) -> Error {
    Error::corrupt("values that are no array").with_source(error)
}
