//! Exact minima, maxima and sums that statistics record.

use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray, Date32Array, Decimal128Array, Float64Array, Int64Array, StringArray};
use arrow_buffer::i256;
use arrow_cast::{CastOptions, cast_with_options};
use arrow_schema::{DECIMAL128_MAX_PRECISION, DataType};

use crate::statistics::{ColumnStatistics, Decimal, Detail};
use crate::types::{is_text, precision_and_scale};

/// The minimum or maximum of values of a type, as an array of one value; `None` if it is unknown, or only a bound.
pub(super) fn exact_bound(statistics: &ColumnStatistics, data_type: &DataType, is_max: bool) -> Option<ArrayRef> {
    let values = statistics.values?;
    let array: ArrayRef = match &statistics.detail {
        Detail::Integer { min, max, .. } if data_type.is_integer() => {
            Arc::new(Int64Array::from_value(if is_max { *max } else { *min }?, 1))
        }
        Detail::Double { min, max, .. } if data_type.is_floating() => {
            Arc::new(Float64Array::from_value(if is_max { *max } else { *min }?, 1))
        }
        Detail::Decimal { min, max, .. } => {
            let (_, scale) = precision_and_scale(data_type)?;
            let unscaled = unscaled_at(if is_max { max } else { min }.as_ref()?, scale)?;
            let array =
                Decimal128Array::from_value(unscaled, 1).with_precision_and_scale(DECIMAL128_MAX_PRECISION, scale);
            Arc::new(array.ok()?)
        }
        Detail::Date { min, max } if matches!(data_type, DataType::Date32 | DataType::Date64) => {
            Arc::new(Date32Array::from_value(if is_max { *max } else { *min }?, 1))
        }
        Detail::String { min, max, .. } if is_text(data_type) => {
            let bound = if is_max { max } else { min }.as_ref()?;
            // Options of the reader decide what becomes of invalid UTF-8.
            let text = std::str::from_utf8(&bound.value).ok().filter(|_| bound.exact)?;
            Arc::new(StringArray::from(vec![text]))
        }
        Detail::Boolean { true_count } if *data_type == DataType::Boolean => {
            let true_count = (*true_count)?;
            Arc::new(BooleanArray::from(vec![if is_max { true_count > 0 } else { true_count == values }]))
        }
        _ => return None,
    };
    if array.data_type() == data_type {
        return Some(array);
    }
    cast_with_options(&array, data_type, &CastOptions { safe: false, ..CastOptions::default() }).ok()
}

/// The sum of values of a type, unscaled for decimals; `None` if it is unknown, or may have been rounded.
pub(super) fn exact_sum(statistics: &ColumnStatistics, data_type: &DataType) -> Option<i128> {
    let values = statistics.values?;
    match &statistics.detail {
        Detail::Integer { sum, .. } if data_type.is_integer() => sum.map(i128::from),
        Detail::Boolean { true_count } if *data_type == DataType::Boolean => true_count.map(i128::from),
        Detail::Decimal { min: Some(min), max: Some(max), sum: Some(sum) } => {
            let (_, scale) = precision_and_scale(data_type)?;
            // Writers may have rounded intermediate sums of more than 38 digits.
            let largest = unscaled_at(min, scale)?.unsigned_abs().max(unscaled_at(max, scale)?.unsigned_abs());
            let bound = i256::from_parts(largest, 0).checked_mul(i256::from_i128(values.into()))?;
            let digits = i256::from_i128(10i128.checked_pow(DECIMAL128_MAX_PRECISION.into())?);
            (bound < digits).then(|| unscaled_at(sum, scale)).flatten()
        }
        _ => None,
    }
}

/// The unscaled value at another scale; `None` if it would be rounded, or has too many digits.
fn unscaled_at(decimal: &Decimal, scale: i8) -> Option<i128> {
    let shift = i64::from(scale) - i64::from(decimal.scale());
    let power = 10i128.checked_pow(u32::try_from(shift.unsigned_abs()).ok()?)?;
    if shift >= 0 {
        return decimal.unscaled().checked_mul(power);
    }
    (decimal.unscaled() % power == 0).then_some(decimal.unscaled() / power)
}
