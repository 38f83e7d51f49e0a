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
use arrow_schema::{DataType, Field, FieldRef, Fields};

use super::mismatch::check_room;
use super::restore::restore;
use super::widen::{cast, misfit};
use crate::error::Result;
use crate::types::item_of;

/// What to do with an array.
#[derive(Debug, Clone)]
pub enum Adapt {
    /// Nothing.
    Keep,
    /// There is no such column: nulls.
    Missing,
    /// Another type, which is wider.
    Cast,
    /// It becomes again what was written.
    Restore,
    /// Its fields.
    Struct(Ways),
    /// Its elements.
    List(Box<Adapt>),
    /// Key and value.
    Map(Box<(Adapt, Adapt)>),
}

/// For each of some columns where it is among those that were read, if it is, and what to do with it.
pub type Ways = Vec<(Option<usize>, Adapt)>;

impl Adapt {
    /// The array as it is in the table, where it may take `memory` bytes for nulls.
    ///
    /// # Errors
    /// `LimitExceeded` where a value does not fit, or nulls need more.
    pub fn apply(&self, array: &ArrayRef, target: &DataType, memory: u64) -> Result<ArrayRef> {
        let misfit = |error| misfit(target, error);
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
            _ => cast(array, target),
        }
    }
}

fn nulls(kind: &DataType, rows: usize, memory: u64) -> Result<ArrayRef> {
    check_room(kind, rows, memory)?;
    Ok(new_null_array(kind, rows))
}

/// The columns of the table, given those that were read.
pub fn apply_all(
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
