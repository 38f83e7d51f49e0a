//! From the columns of a file to those of its table: widened, and null where missing.
//!
//! | stored | becomes also |
//! |---|---|
//! | boolean | integers, text |
//! | tinyint … bigint | wider integers, floating point numbers, decimals, text |
//! | float, double, decimal | double; decimal: with no fewer digits on either side of the point; text |
//! | date | timestamp, text |
//! | timestamps | finer units, text |
//! | string, char, varchar | each other, in any of Arrow's forms; binary likewise |
//! | struct | with other fields: those that are missing are null |
//!
//! Besides, what is stored becomes what a column of the table is written as (see [`crate::arrow`]): numbers become
//! times or dictionaries, if that is what the table has. What else differs is an error.

use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::{Array as _, ArrayRef, ListArray, MapArray, StructArray, new_null_array};
use arrow_cast::{CastOptions, cast_with_options};
use arrow_schema::{ArrowError, DataType, Field, FieldRef, Fields, TimeUnit};

use crate::arrow::{self, check_room, is_binary, item_of, restore};
use crate::error::{Error, Result};

/// What to do with an array.
#[derive(Debug, Clone)]
pub(super) enum Adapt {
    /// Nothing.
    Keep,
    /// There is no such column: nulls.
    Missing,
    Cast,
    /// It becomes again what was written.
    Restore,
    Struct(Ways),
    List(Box<Adapt>),
    /// Key and value.
    Map(Box<(Adapt, Adapt)>),
}

/// For each of some columns where it is among those that were read, if it is, and what to do with it.
pub(super) type Ways = Vec<(Option<usize>, Adapt)>;

/// Whether values are text, in a dictionary too.
pub(super) fn is_text(kind: &DataType) -> bool {
    match kind {
        DataType::Dictionary(_, values) => is_text(values),
        kind => arrow::is_text(kind),
    }
}

/// Whether a type becomes another without loss, or as Java has it.
pub(super) fn widens(from: &DataType, to: &DataType) -> bool {
    use DataType as D;
    let digits = |kind: &D| match kind {
        D::Int8 => Some((3, 0)),
        D::Int16 => Some((5, 0)),
        D::Int32 => Some((10, 0)),
        D::Int64 => Some((19, 0)),
        D::Decimal128(precision, scale) => Some((i16::from(*precision) - i16::from(*scale), i16::from(*scale))),
        _ => None,
    };
    let is_number = from.is_integer() || matches!(from, D::Float32 | D::Float64 | D::Decimal128(_, _));
    match (from, to) {
        (from, to) if is_text(to) => {
            is_text(from) || is_number || matches!(from, D::Boolean | D::Date32 | D::Timestamp(_, _))
        }
        (from, to) if is_binary(to) => is_binary(from) || is_text(from),
        (from, to) if from.is_integer() && to.is_integer() => from.primitive_width() <= to.primitive_width(),
        (from, D::Decimal128(_, _)) => {
            digits(from).zip(digits(to)).is_some_and(|(from, to)| from.0 <= to.0 && from.1 <= to.1)
        }
        (_, D::Float64) => is_number,
        (from, D::Float32) => from.is_integer(),
        (D::Boolean, to) => to.is_integer(),
        (D::Date32, D::Timestamp(_, None)) => true,
        (D::Timestamp(a, from), D::Timestamp(b, to)) => from == to && fineness(a) <= fineness(b),
        _ => false,
    }
}

fn fineness(unit: &TimeUnit) -> u8 {
    match unit {
        TimeUnit::Second => 0,
        TimeUnit::Millisecond => 1,
        TimeUnit::Microsecond => 2,
        TimeUnit::Nanosecond => 3,
    }
}

impl Adapt {
    /// The array as it is in the table, where it may take `memory` bytes for nulls.
    pub(super) fn apply(&self, array: &ArrayRef, target: &DataType, memory: u64) -> Result<ArrayRef> {
        let misfit = |error| Error::limit(format!("a value does not fit into {target}")).with_source(error);
        match (self, target) {
            (Adapt::Keep, _) => Ok(array.clone()),
            (Adapt::Missing, _) => nulls(target, array.len(), memory),
            (Adapt::Restore, _) => restore(array, &Field::new("", target.clone(), true), memory),
            (Adapt::Struct(ways), DataType::Struct(fields)) => {
                let Some(parent) = array.as_struct_opt() else { return Ok(array.clone()) };
                let columns = apply_all(ways, parent.columns(), fields, parent.len(), memory)?;
                let nulls = parent.nulls().cloned();
                let array = StructArray::try_new_with_length(fields.clone(), columns, nulls, parent.len());
                Ok(Arc::new(array.map_err(misfit)?))
            }
            (Adapt::List(inner), list) if let Some(item) = item_of(list) => {
                let Some(list) = array.as_list_opt::<i32>() else { return Ok(array.clone()) };
                let values = inner.apply(list.values(), item.data_type(), memory)?;
                let array = ListArray::try_new(item.clone(), list.offsets().clone(), values, list.nulls().cloned());
                let array: ArrayRef = Arc::new(array.map_err(misfit)?);
                // Another form of list.
                restore(&array, &Field::new("", target.clone(), true), memory)
            }
            (Adapt::Map(inner), DataType::Map(entries, sorted)) => {
                let (Some(map), DataType::Struct(fields)) = (array.as_map_opt(), entries.data_type()) else {
                    return Ok(array.clone());
                };
                let [key, value] = &fields[..] else { return Ok(array.clone()) };
                let columns = vec![
                    inner.0.apply(map.keys(), key.data_type(), memory)?,
                    inner.1.apply(map.values(), value.data_type(), memory)?,
                ];
                let both = StructArray::try_new(fields.clone(), columns, None).map_err(misfit)?;
                let array =
                    MapArray::try_new(entries.clone(), map.offsets().clone(), both, map.nulls().cloned(), *sorted);
                Ok(Arc::new(array.map_err(misfit)?))
            }
            _ => cast(array, target).map_err(misfit),
        }
    }
}

fn cast(array: &ArrayRef, target: &DataType) -> Result<ArrayRef, ArrowError> {
    let options = CastOptions { safe: false, ..CastOptions::default() };
    match array.data_type() {
        // Names of zones are not known there, not even this one.
        DataType::Timestamp(unit, Some(_)) if is_text(target) => {
            let utc = DataType::Timestamp(*unit, Some("+00:00".into()));
            cast_with_options(&cast_with_options(array, &utc, &options)?, target, &options)
        }
        _ => cast_with_options(array, target, &options),
    }
}

fn nulls(kind: &DataType, rows: usize, memory: u64) -> Result<ArrayRef> {
    check_room(kind, rows, memory)?;
    Ok(new_null_array(kind, rows))
}

/// The columns of the table, given those that were read.
pub(super) fn apply_all(
    ways: &[(Option<usize>, Adapt)],
    read: &[ArrayRef],
    fields: &Fields,
    rows: usize,
    memory: u64,
) -> Result<Vec<ArrayRef>> {
    let column = |((at, adapt), field): (&(Option<usize>, Adapt), &FieldRef)| match at.and_then(|at| read.get(at)) {
        None => nulls(field.data_type(), rows, memory).map_err(|error| error.in_column(field.name())),
        Some(array) => adapt.apply(array, field.data_type(), memory).map_err(|error| error.in_column(field.name())),
    };
    ways.iter().zip(fields).map(column).collect()
}
