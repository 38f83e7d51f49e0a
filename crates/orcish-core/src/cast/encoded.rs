//! Restoring of dictionary and run-end encoded arrays.

use arrow_array::cast::AsArray as _;
use arrow_array::{Array, ArrayRef, UInt64Array, make_array};
use arrow_data::ArrayData;
use arrow_schema::{DataType, IntervalUnit};
use arrow_select::take::take;

use super::mismatch::{RestoreColumn, RestoreResult, cast, reinterpret};
use crate::error::Error;
use crate::type_names::TypeName;
use crate::types::{is_binary, is_text};

/// Maximum number of distinct values of types that Arrow cannot dictionary encode. Each value is compared with all of them.
const MAX_COMPARED: usize = 256;

/// A dictionary array with keys and values of these types. The dictionary of a dictionary array is kept if its keys fit.
pub(super) fn dictionary(
    array: &ArrayRef,
    (keys, values): (&DataType, &DataType),
    target: &DataType,
    memory: u64,
    column: RestoreColumn,
) -> RestoreResult {
    if let Some(dictionary) = array.as_any_dictionary_opt() {
        let values = column(dictionary.values(), values, memory)?;
        if let Ok(keys) = cast(dictionary.keys(), keys) {
            return assemble(&keys, values, target);
        }
        let plain = take(&values, dictionary.keys(), None)?;
        return encode(&plain, keys, target, column);
    }
    encode(&column(array, values, memory)?, keys, target, column)
}

/// Dictionary encodes an array.
fn encode(plain: &ArrayRef, keys: &DataType, target: &DataType, column: RestoreColumn) -> RestoreResult {
    let too_many = || {
        let text = format!(
            "more different values in a batch than keys of {} can tell apart: ask for wider keys",
            TypeName(keys)
        );
        Error::limit(text).into()
    };
    let kind = plain.data_type();
    if let Some(substitute) = encodable(kind) {
        let values =
            if *kind == DataType::Boolean { cast(plain, &substitute)? } else { reinterpret(plain, &substitute)? };
        let encoded = DataType::Dictionary(Box::new(keys.clone()), Box::new(substitute));
        let encoded = encode(&values, keys, &encoded, column)?;
        let dictionary = encoded.as_any_dictionary_opt().ok_or_else(too_many)?;
        let distinct = dictionary.values();
        let distinct = if *kind == DataType::Boolean { cast(distinct, kind)? } else { reinterpret(distinct, kind)? };
        return assemble(&make_array(dictionary.keys().to_data()), distinct, target);
    }
    let is_supported_by_arrow =
        kind.is_primitive() || is_text(kind) || is_binary(kind) || matches!(kind, DataType::FixedSizeBinary(_));
    if is_supported_by_arrow {
        let Ok(encoded) = cast(plain, target) else { return Err(too_many()) };
        let dictionary = encoded.as_any_dictionary_opt().ok_or_else(too_many)?;
        let keys = cast(dictionary.keys(), keys)?;
        return assemble(&keys, column(dictionary.values(), kind, 0)?, target);
    }
    // If the keys suffice, each row has its own value.
    let nulls = plain.logical_nulls();
    let count = plain.len() as u64;
    if let Ok(keys) = cast(&UInt64Array::new((0..count).collect::<Vec<_>>().into(), nulls.clone()), keys) {
        return assemble(&keys, plain.clone(), target);
    }
    let mut distinct: Vec<(u64, ArrayRef)> = Vec::new();
    let mut value_keys = Vec::with_capacity(plain.len());
    for row in 0..plain.len() {
        let is_null = nulls.as_ref().is_some_and(|nulls| nulls.is_null(row));
        let value = plain.slice(row, 1);
        // The key of a null is ignored.
        let key = if is_null { Some(0) } else { distinct.iter().position(|(_, other)| **other == *value) };
        value_keys.push(key.unwrap_or(distinct.len()) as u64);
        if key.is_none() {
            distinct.push((row as u64, value));
        }
        if distinct.len() > MAX_COMPARED {
            return Err(too_many());
        }
    }
    let Ok(keys) = cast(&UInt64Array::new(value_keys.into(), nulls), keys) else { return Err(too_many()) };
    let rows: UInt64Array = distinct.iter().map(|(row, _)| *row).collect::<Vec<_>>().into();
    assemble(&keys, take(plain, &rows, None)?, target)
}

/// A type of the same number of values, which Arrow encodes, for a type that it does not; `None` for other types.
fn encodable(kind: &DataType) -> Option<DataType> {
    match kind {
        DataType::Boolean => Some(DataType::Int8),
        DataType::Interval(IntervalUnit::YearMonth) => Some(DataType::Int32),
        DataType::Duration(_) | DataType::Interval(IntervalUnit::DayTime) => Some(DataType::Int64),
        DataType::Interval(IntervalUnit::MonthDayNano) => Some(DataType::FixedSizeBinary(16)),
        _ => None,
    }
}

/// A dictionary array of keys and values, which Arrow validates.
fn assemble(keys: &ArrayRef, values: ArrayRef, target: &DataType) -> RestoreResult {
    let keys = keys.to_data();
    let data = ArrayData::builder(target.clone())
        .len(keys.len())
        .offset(keys.offset())
        .buffers(keys.buffers().to_vec())
        .nulls(keys.nulls().cloned())
        .child_data(vec![values.to_data()]);
    Ok(make_array(data.build()?))
}

/// A run-end encoded array.
pub(super) fn runs(values: &ArrayRef, target: &DataType) -> RestoreResult {
    let DataType::RunEndEncoded(ends, _) = target else { return Err(Error::corrupt("no runs").into()) };
    let too_many =
        || Error::limit(format!("more rows in a batch than run ends of {} reach", TypeName(ends.data_type())));
    let kind = values.data_type();
    if kind.is_primitive() || is_text(kind) || is_binary(kind) || *kind == DataType::Boolean {
        let runs = cast(values, target).map_err(|_| too_many())?.to_data();
        // The fields of `target` have other names and nullability.
        return Ok(make_array(runs.into_builder().data_type(target.clone()).build()?));
    }
    // Arrow does not compare values of these types: each value is a run.
    let count = values.len() as u64;
    let run_ends: UInt64Array = (1..=count).collect::<Vec<_>>().into();
    let run_ends = cast(&run_ends, ends.data_type()).map_err(|_| too_many())?;
    let data = ArrayData::builder(target.clone()).len(values.len());
    Ok(make_array(data.child_data(vec![run_ends.to_data(), values.to_data()]).build()?))
}
