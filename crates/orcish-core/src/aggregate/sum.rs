//! Exact sums of integers and decimals, and compensated sums of floating point numbers.

use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::types::{
    ArrowPrimitiveType, Decimal32Type, Decimal64Type, Decimal128Type, Decimal256Type, Float16Type, Float32Type,
    Float64Type,
};
use arrow_array::{Array, ArrayRef, Decimal128Array, Decimal256Array, Float64Array, PrimitiveArray, UInt64Array};
use arrow_array::{downcast_integer_array, new_null_array};
use arrow_buffer::{NullBuffer, i256};
use arrow_schema::{DECIMAL256_MAX_PRECISION, DataType};

use super::statistics::exact_sum;
use crate::error::{Error, Result};
use crate::statistics::ColumnStatistics;
use crate::type_names::TypeName;
use crate::types::precision_and_scale;

/// Digits of the sum of integers: 2^63 integers of 64 bits have a sum of 38 digits.
const INTEGER_DIGITS: u8 = 38;

/// A sum so far.
#[derive(Debug)]
pub(super) struct Sum {
    total: Total,
    /// Whether there are no values.
    is_empty: bool,
}

#[derive(Debug)]
enum Total {
    Integer(i128),
    Decimal(i256, i8),
    Float(CompensatedSum),
    /// Number of true values.
    Boolean(u64),
}

/// A Kahan-Babuška-Neumaier sum, which hardly depends on the order of the values.
#[derive(Debug, Default)]
struct CompensatedSum {
    sum: f64,
    compensation: f64,
}

impl CompensatedSum {
    fn add(&mut self, value: f64) {
        let sum = self.sum + value;
        self.compensation +=
            if self.sum.abs() >= value.abs() { (self.sum - sum) + value } else { (value - sum) + self.sum };
        self.sum = sum;
    }

    fn total(&self) -> f64 {
        // Infinities make the compensation NaN.
        if self.sum.is_finite() { self.sum + self.compensation } else { self.sum }
    }
}

impl Sum {
    /// The sum of no values.
    ///
    /// # Errors
    /// `InvalidArgument` if values of the type have no sum.
    pub(super) fn try_new(kind: &DataType) -> Result<Self> {
        let total = match kind {
            DataType::Boolean => Total::Boolean(0),
            kind if kind.is_integer() => Total::Integer(0),
            kind if kind.is_floating() => Total::Float(CompensatedSum::default()),
            kind => match precision_and_scale(kind) {
                Some((_, scale)) => Total::Decimal(i256::ZERO, scale),
                None => return Err(Error::invalid(format!("values of {} have no sum", TypeName(kind)))),
            },
        };
        Ok(Sum { total, is_empty: true })
    }

    pub(super) fn update(&mut self, array: &ArrayRef, nulls: Option<&NullBuffer>) -> Result<()> {
        self.is_empty &= array.len() == nulls.map_or(0, NullBuffer::null_count);
        match &mut self.total {
            Total::Boolean(count) => {
                let values = array.as_boolean().values();
                let valid =
                    nulls.map_or_else(|| values.count_set_bits(), |nulls| (values & nulls.inner()).count_set_bits());
                *count += valid as u64;
            }
            Total::Integer(sum) => {
                let added = downcast_integer_array!(
                    array => fold(array, nulls, 0i128, |sum, value| sum + i128::from(value)),
                    kind => return Err(Error::invalid(format!("values of {} have no sum", TypeName(kind)))),
                );
                *sum = sum.checked_add(added).ok_or_else(too_long)?;
            }
            Total::Decimal(sum, _) => {
                let added = match array.data_type() {
                    DataType::Decimal32(_, _) => narrow_sum::<Decimal32Type>(array, nulls),
                    DataType::Decimal64(_, _) => narrow_sum::<Decimal64Type>(array, nulls),
                    DataType::Decimal128(_, _) => {
                        let add = |sum: Option<i256>, value| sum?.checked_add(i256::from_i128(value));
                        fold(array.as_primitive::<Decimal128Type>(), nulls, Some(i256::ZERO), add)
                    }
                    _ => {
                        let add = |sum: Option<i256>, value| sum?.checked_add(value);
                        fold(array.as_primitive::<Decimal256Type>(), nulls, Some(i256::ZERO), add)
                    }
                };
                *sum = added.and_then(|added| sum.checked_add(added)).ok_or_else(too_long)?;
            }
            Total::Float(sum) => match array.data_type() {
                DataType::Float16 => {
                    fold(array.as_primitive::<Float16Type>(), nulls, (), |(), value| sum.add(value.into()))
                }
                DataType::Float32 => {
                    fold(array.as_primitive::<Float32Type>(), nulls, (), |(), value| sum.add(value.into()))
                }
                _ => fold(array.as_primitive::<Float64Type>(), nulls, (), |(), value| sum.add(value)),
            },
        }
        Ok(())
    }

    /// Adds the sum of statistics if it is exact; returns whether it is.
    pub(super) fn update_statistics(&mut self, statistics: &ColumnStatistics, kind: &DataType) -> Result<bool> {
        let Some(added) = exact_sum(statistics, kind) else { return Ok(false) };
        match &mut self.total {
            // The sum of floating point numbers depends on their order.
            Total::Float(_) => return Ok(false),
            Total::Boolean(count) => *count += u64::try_from(added).map_err(|_| too_long())?,
            Total::Integer(sum) => *sum = sum.checked_add(added).ok_or_else(too_long)?,
            Total::Decimal(sum, _) => *sum = sum.checked_add(i256::from_i128(added)).ok_or_else(too_long)?,
        }
        self.is_empty = false;
        Ok(true)
    }

    pub(super) fn finish(self) -> Result<ArrayRef> {
        let array: ArrayRef = match self.total {
            Total::Boolean(count) => Arc::new(UInt64Array::from_value(count, 1)),
            Total::Float(sum) => Arc::new(Float64Array::from_value(sum.total(), 1)),
            Total::Integer(sum) => {
                let array = Decimal128Array::from_value(sum, 1).with_precision_and_scale(INTEGER_DIGITS, 0);
                let array = array.map_err(|error| too_long().with_source(error))?;
                array.validate_decimal_precision(INTEGER_DIGITS).map_err(|error| too_long().with_source(error))?;
                Arc::new(array)
            }
            Total::Decimal(sum, scale) => {
                let array =
                    Decimal256Array::from_value(sum, 1).with_precision_and_scale(DECIMAL256_MAX_PRECISION, scale);
                let array = array.map_err(|error| too_long().with_source(error))?;
                let checked = array.validate_decimal_precision(DECIMAL256_MAX_PRECISION);
                checked.map_err(|error| too_long().with_source(error))?;
                Arc::new(array)
            }
        };
        Ok(if self.is_empty { new_null_array(array.data_type(), 1) } else { array })
    }
}

fn narrow_sum<T: ArrowPrimitiveType>(array: &ArrayRef, nulls: Option<&NullBuffer>) -> Option<i256>
where
    i128: From<T::Native>,
{
    Some(i256::from_i128(fold(array.as_primitive::<T>(), nulls, 0, |sum, value| sum + i128::from(value))))
}

/// Folds the values of valid slots.
fn fold<T: ArrowPrimitiveType, A>(
    array: &PrimitiveArray<T>,
    nulls: Option<&NullBuffer>,
    start: A,
    mut add: impl FnMut(A, T::Native) -> A,
) -> A {
    let values = array.values();
    match nulls {
        None => values.iter().fold(start, |sum, value| add(sum, *value)),
        Some(nulls) => {
            let valid = nulls.valid_indices().filter_map(|at| values.get(at));
            valid.fold(start, |sum, value| add(sum, *value))
        }
    }
}

fn too_long() -> Error {
    Error::limit("a sum has too many digits")
}
