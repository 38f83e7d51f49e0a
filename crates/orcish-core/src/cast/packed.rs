//! Dictionaries and runs.

use arrow_array::cast::AsArray as _;
use arrow_array::{Array, ArrayRef, UInt64Array, make_array};
use arrow_data::ArrayData;
use arrow_schema::DataType;
use arrow_select::take::take;

use super::mismatch::{Restore, Restored, cast};
use crate::error::Error;
use crate::types::{is_binary, is_text};

/// Values that are compared with another to find it among them.
const COMPARED: usize = 256;

/// A dictionary of keys and values of these types. What is read as a dictionary stays one where its keys fit.
pub(super) fn dictionary(
    array: &ArrayRef,
    (keys, values): (&DataType, &DataType),
    target: &DataType,
    memory: u64,
    column: Restore,
) -> Restored {
    if let Some(read) = array.as_any_dictionary_opt() {
        let entries = column(read.values(), values, memory)?;
        if let Ok(keys) = cast(read.keys(), keys) {
            return assembled(&keys, entries, target);
        }
        let plain = take(&entries, read.keys(), None)?;
        return pack(&plain, keys, target, column);
    }
    pack(&column(array, values, memory)?, keys, target, column)
}

/// The array as a dictionary of what is different in it.
fn pack(plain: &ArrayRef, keys: &DataType, target: &DataType, column: Restore) -> Restored {
    let too_many =
        || Error::limit(format!("more different values in a batch than keys of {keys} can tell apart")).into();
    let kind = plain.data_type();
    let is_known = (kind.is_primitive() && !matches!(kind, DataType::Interval(_) | DataType::Duration(_)))
        || is_text(kind)
        || is_binary(kind);
    if is_known {
        let Ok(packed) = cast(plain, target) else { return Err(too_many()) };
        let read = packed.as_any_dictionary_opt().ok_or_else(too_many)?;
        let keys = cast(read.keys(), keys)?;
        return assembled(&keys, column(read.values(), kind, 0)?, target);
    }
    // Arrow does not look these up. As long as there are keys enough, each value has its own.
    let nulls = plain.logical_nulls();
    let count = u64::try_from(plain.len()).unwrap_or(u64::MAX);
    if let Ok(keys) = cast(&UInt64Array::new((0..count).collect::<Vec<_>>().into(), nulls.clone()), keys) {
        return assembled(&keys, plain.clone(), target);
    }
    let mut found: Vec<(u64, ArrayRef)> = Vec::new();
    let mut references = Vec::with_capacity(plain.len());
    for row in 0..plain.len() {
        let is_null = nulls.as_ref().is_some_and(|nulls| nulls.is_null(row));
        let value = plain.slice(row, 1);
        // The reference of a null is not looked at.
        let known = if is_null { Some(0) } else { found.iter().position(|(_, other)| **other == *value) };
        references.push(known.unwrap_or(found.len()) as u64);
        if known.is_none() {
            found.push((row as u64, value));
        }
        if found.len() > COMPARED {
            return Err(too_many());
        }
    }
    let Ok(keys) = cast(&UInt64Array::new(references.into(), nulls), keys) else { return Err(too_many()) };
    let rows: UInt64Array = found.iter().map(|(row, _)| *row).collect::<Vec<_>>().into();
    assembled(&keys, take(plain, &rows, None)?, target)
}

/// The dictionary of some keys and values, which are looked at.
fn assembled(keys: &ArrayRef, values: ArrayRef, target: &DataType) -> Restored {
    let keys = keys.to_data();
    let data = ArrayData::builder(target.clone())
        .len(keys.len())
        .offset(keys.offset())
        .buffers(keys.buffers().to_vec())
        .nulls(keys.nulls().cloned())
        .child_data(vec![values.to_data()]);
    Ok(make_array(data.build()?))
}

/// Runs of equal values.
pub(super) fn runs(values: &ArrayRef, target: &DataType) -> Restored {
    let DataType::RunEndEncoded(ends, _) = target else { return Err(Error::corrupt("no runs").into()) };
    let too_many = || Error::limit(format!("more rows in a batch than run ends of {} reach", ends.data_type()));
    let kind = values.data_type();
    if kind.is_primitive() || is_text(kind) || is_binary(kind) || *kind == DataType::Boolean {
        let runs = cast(values, target).map_err(|_| too_many())?.to_data();
        // Names of the fields, and whether they may be null, are what they were.
        return Ok(make_array(runs.into_builder().data_type(target.clone()).build()?));
    }
    // Arrow does not compare these: each is a run of its own.
    let count = u64::try_from(values.len()).unwrap_or(u64::MAX);
    let run_ends: UInt64Array = (1..=count).collect::<Vec<_>>().into();
    let run_ends = cast(&run_ends, ends.data_type()).map_err(|_| too_many())?;
    let data = ArrayData::builder(target.clone()).len(values.len());
    Ok(make_array(data.child_data(vec![run_ends.to_data(), values.to_data()]).build()?))
}
