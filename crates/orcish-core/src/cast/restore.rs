//! Restoring of the logical types that were written from the physical types that are read.

use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::types::{
    ArrowPrimitiveType, Decimal32Type, Decimal64Type, Decimal128Type, Decimal256Type, DecimalType, Float16Type,
    Float32Type, Int32Type, Int64Type, IntervalDayTimeType, IntervalMonthDayNanoType,
};
use arrow_array::{Array, ArrayRef, FixedSizeBinaryArray, NullArray, PrimitiveArray, StructArray};
use arrow_buffer::{Buffer, IntervalDayTime, IntervalMonthDayNano, NullBuffer, i256};
use arrow_schema::{ArrowError, DataType, Field, Fields, IntervalUnit, TimeUnit};

use super::mismatch::{RestoreResult, TypeMismatch, cast, check_array_size, reinterpret, unexpected_type};
use super::{encoded, list};
use crate::error::{Error, Result};
use crate::types::{NANOSECONDS_OF_DAY, is_binary, is_text, item_of, nanoseconds, precision_and_scale};

/// Restores an array to the type of `field`. Arrays whose size does not depend on the size of the source take at most
/// `memory` bytes.
///
/// # Errors
/// `Corrupt` where the values are not of the type, `LimitExceeded` where the array takes more memory.
pub fn restore(array: &ArrayRef, field: &Field, memory: u64) -> Result<ArrayRef> {
    let restored = column(array, field.data_type(), memory).and_then(|array| {
        // Unions have no null buffer: the nulls are nulls of the variants.
        let may_be_null = field.is_nullable() || matches!(field.data_type(), DataType::Union(_, _) | DataType::Null);
        if !may_be_null && array.logical_null_count() > 0 {
            return Err(Error::corrupt("there are nulls, which the file says it had not").into());
        }
        Ok(array)
    });
    restored.map_err(|TypeMismatch { error, mut path }| {
        path.push(field.name().clone());
        path.reverse();
        error.in_column(&path.join("."))
    })
}

/// Checks that times are within a day.
fn check_times<T: ArrowPrimitiveType>(array: &ArrayRef, unit: TimeUnit, target: &DataType) -> RestoreResult<()>
where
    T::Native: Into<i64>,
{
    let day = NANOSECONDS_OF_DAY / nanoseconds(unit);
    let mut values = array.as_primitive::<T>().iter().flatten().map(Into::into);
    match values.find(|value| !(0..day).contains(value)) {
        Some(value) => Err(not_a_value_of(&value.to_string(), target).into()),
        None => Ok(()),
    }
}

fn column(array: &ArrayRef, target: &DataType, memory: u64) -> RestoreResult {
    use DataType as D;
    if array.data_type() == target {
        return Ok(array.clone());
    }
    match (array.data_type(), target) {
        (_, D::Dictionary(keys, values)) => encoded::dictionary(array, (keys, values), target, memory, column),
        (_, D::RunEndEncoded(_, values)) => {
            let values = column(array, values.data_type(), memory)?;
            encoded::runs(&values, target)
        }
        (D::Dictionary(_, values), _) => column(&cast(array, values)?, target, memory),
        (D::Boolean, D::Null) if array.null_count() == array.len() => Ok(Arc::new(NullArray::new(array.len()))),
        (D::Boolean, D::Null) => Err(Error::corrupt("there are values where the file says it had none").into()),
        (D::Int16, D::UInt8) | (D::Int64, D::UInt32) | (D::Date32, D::Date64) => Ok(cast(array, target)?),
        (D::Int32 | D::Interval(IntervalUnit::YearMonth), D::UInt16) => {
            Ok(cast(&reinterpret(array, &D::Int32)?, target)?)
        }
        (D::Int32 | D::Interval(IntervalUnit::YearMonth), D::Time32(unit)) => {
            check_times::<Int32Type>(&reinterpret(array, &D::Int32)?, *unit, target)?;
            reinterpret(array, target)
        }
        (
            D::Int64 | D::Duration(TimeUnit::Microsecond) | D::Timestamp(TimeUnit::Microsecond, None),
            D::Time64(unit),
        ) => {
            check_times::<Int64Type>(&reinterpret(array, &D::Int64)?, *unit, target)?;
            reinterpret(array, target)
        }
        (D::Int32 | D::Interval(IntervalUnit::YearMonth), D::Int32 | D::Interval(IntervalUnit::YearMonth)) => {
            reinterpret(array, target)
        }
        (D::Timestamp(from, _), D::Timestamp(to, _)) if from == to => reinterpret(array, target),
        (D::Duration(_) | D::Timestamp(TimeUnit::Microsecond, None), D::UInt32) => {
            Ok(cast(&reinterpret(array, &D::Int64)?, target)?)
        }
        (
            D::Int64 | D::Duration(TimeUnit::Microsecond) | D::Timestamp(TimeUnit::Microsecond, None),
            D::Int64 | D::Duration(_),
        ) => reinterpret(array, target),
        (D::Float32, D::Float16) => half(array),
        (D::Decimal128(20, 0), D::UInt64) => {
            let array = array.as_primitive::<Decimal128Type>();
            let wide = array.try_unary::<_, arrow_array::types::UInt64Type, _>(|value| {
                u64::try_from(value).map_err(|_| not_a_value_of(&value.to_string(), target))
            })?;
            Ok(Arc::new(wide))
        }
        (D::Decimal128(_, from), target) if precision_and_scale(target).is_some() => decimal(array, *from, target),
        (from, D::FixedSizeBinary(width)) if is_binary(from) => fixed(array, *width, memory),
        (from, to) if (is_text(from) && is_text(to)) || (is_binary(from) && is_binary(to)) => Ok(cast(array, to)?),
        (D::List(_), target) if item_of(target).is_some() => list::list(array.as_list(), target, memory, column),
        (D::Map(_, _), D::Map(entries, is_sorted)) => list::map(array.as_map(), entries, *is_sorted, memory, column),
        (D::Union(_, _), D::Union(fields, _)) => list::union(array, fields, memory, column),
        (D::Struct(_), D::Struct(fields)) => structs(array.as_struct(), fields, memory),
        (D::Struct(_), D::Interval(unit)) => {
            interval(array.as_struct(), *unit).ok_or_else(|| unexpected_type(array, target))?
        }
        _ => Err(unexpected_type(array, target)),
    }
}

fn not_a_value_of(value: &str, target: &DataType) -> ArrowError {
    ArrowError::CastError(format!("the value {value} is none of {target}"))
}

fn structs(array: &StructArray, fields: &Fields, memory: u64) -> RestoreResult {
    if array.num_columns() != fields.len() {
        return Err(Error::corrupt("a struct of another number of fields").into());
    }
    let child = |(child, field): (&ArrayRef, &Arc<Field>)| {
        column(child, field.data_type(), memory).map_err(|mismatch| mismatch.within(field.name()))
    };
    let columns = array.columns().iter().zip(fields).map(child).collect::<RestoreResult<Vec<_>>>()?;
    let nulls = array.nulls().cloned();
    Ok(Arc::new(StructArray::try_new_with_length(fields.clone(), columns, nulls, array.len())?))
}

fn half(array: &ArrayRef) -> RestoreResult {
    type Half = <Float16Type as ArrowPrimitiveType>::Native;
    let halves = array.as_primitive::<Float32Type>().try_unary::<_, Float16Type, _>(|value| {
        let half = Half::from_f32(value);
        let is_same = half.to_f32() == value || value.is_nan();
        if is_same { Ok(half) } else { Err(not_a_value_of(&value.to_string(), &DataType::Float16)) }
    })?;
    Ok(Arc::new(halves))
}

/// Casts decimals of scale `from` to another width. Values are divided if the target has a negative scale.
fn decimal(array: &ArrayRef, from: i8, target: &DataType) -> RestoreResult {
    let Some((precision, scale)) = precision_and_scale(target) else { return Err(unexpected_type(array, target)) };
    let factor = match scale {
        scale if scale == from => Some(1),
        // With more than 38 digits only 0 is a multiple.
        scale if scale < 0 && from == 0 => Some(10i128.checked_pow(scale.unsigned_abs().into()).unwrap_or(i128::MAX)),
        _ => None,
    };
    let factor = factor.ok_or_else(|| unexpected_type(array, target))?;
    let array = array.as_primitive::<Decimal128Type>();
    let divide = |value: i128| (value % factor == 0).then_some(value / factor);
    Ok(match target {
        DataType::Decimal32(_, _) => cast_decimals::<Decimal32Type>(array, target, precision, &|value| {
            divide(value).and_then(|value| value.try_into().ok())
        })?,
        DataType::Decimal64(_, _) => cast_decimals::<Decimal64Type>(array, target, precision, &|value| {
            divide(value).and_then(|value| value.try_into().ok())
        })?,
        DataType::Decimal128(_, _) => cast_decimals::<Decimal128Type>(array, target, precision, &divide)?,
        _ => cast_decimals::<Decimal256Type>(array, target, precision, &|value| divide(value).map(i256::from_i128))?,
    })
}

fn cast_decimals<D: DecimalType>(
    array: &PrimitiveArray<Decimal128Type>,
    target: &DataType,
    precision: u8,
    to_native: &dyn Fn(i128) -> Option<D::Native>,
) -> RestoreResult {
    let native = array.try_unary::<_, D, _>(|value| {
        let native = to_native(value).filter(|&native| D::is_valid_decimal_precision(native, precision));
        native.ok_or_else(|| not_a_value_of(&value.to_string(), target))
    })?;
    Ok(Arc::new(native.with_data_type(target.clone())))
}

/// Binary values of fixed size. Null slots have bytes, too.
fn fixed(array: &ArrayRef, length: i32, memory: u64) -> RestoreResult {
    let target = DataType::FixedSizeBinary(length);
    let bytes = cast(array, &DataType::LargeBinary)?;
    let values = bytes.as_binary::<i64>();
    let width = usize::try_from(length).map_err(|_| Error::corrupt(format!("values of {length} bytes")))?;
    if values.null_count() > 0 {
        check_array_size(&target, values.len(), memory)?;
    }
    let mut out = Vec::new();
    for value in values {
        match value {
            Some(value) if value.len() == width => out.extend_from_slice(value),
            Some(value) => return Err(not_a_value_of(&format!("of {} bytes", value.len()), &target).into()),
            None => out.resize(out.len().saturating_add(width), 0),
        }
    }
    let nulls = values.nulls().cloned();
    let array = FixedSizeBinaryArray::try_new_with_len(length, Buffer::from_vec(out), nulls, values.len());
    Ok(Arc::new(array?))
}

/// Intervals of structs of days and milliseconds, or months, days and nanoseconds. `None` for structs of other fields.
fn interval(array: &StructArray, unit: IntervalUnit) -> Option<RestoreResult> {
    let ints = |at: usize| array.columns().get(at)?.as_primitive_opt::<Int32Type>();
    let longs = |at: usize| array.columns().get(at)?.as_primitive_opt::<Int64Type>();
    Some(match unit {
        IntervalUnit::DayTime => {
            let (days, milliseconds) = (ints(0)?, ints(1)?);
            let pairs = days.values().iter().zip(milliseconds.values());
            let values = pairs.map(|(&days, &milliseconds)| IntervalDayTime { days, milliseconds }).collect();
            intervals::<IntervalDayTimeType>(array, values)
        }
        IntervalUnit::MonthDayNano => {
            let (months, days, nanoseconds) = (ints(0)?, ints(1)?, longs(2)?);
            let triples = months.values().iter().zip(days.values()).zip(nanoseconds.values());
            let value = |((&months, &days), &nanoseconds)| IntervalMonthDayNano { months, days, nanoseconds };
            intervals::<IntervalMonthDayNanoType>(array, triples.map(value).collect())
        }
        IntervalUnit::YearMonth => return None,
    })
}

fn intervals<T: ArrowPrimitiveType>(array: &StructArray, values: Vec<T::Native>) -> RestoreResult {
    let nulls = array.nulls();
    for field in array.columns() {
        let is_missing = |row: usize| field.is_null(row) && nulls.is_none_or(|nulls: &NullBuffer| nulls.is_valid(row));
        if field.null_count() > 0 && (0..field.len()).any(is_missing) {
            return Err(Error::corrupt("a part of an interval is null").into());
        }
    }
    Ok(Arc::new(PrimitiveArray::<T>::try_new(values.into(), nulls.cloned())?))
}
