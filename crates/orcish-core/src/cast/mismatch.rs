//! Errors of values that are not of a logical type, with the names of the fields around them.

use arrow_array::{Array, ArrayRef};
use arrow_cast::{CastOptions, cast_with_options};
use arrow_schema::{ArrowError, DataType};

use crate::error::{Error, Result};

/// Why an array does not become what it was, and the way down to it, backwards.
pub(super) struct Misfit {
    pub(super) error: Error,
    pub(super) way: Vec<String>,
}

impl Misfit {
    pub(super) fn within(mut self, name: impl Into<String>) -> Self {
        self.way.push(name.into());
        self
    }
}

impl From<Error> for Misfit {
    fn from(error: Error) -> Self {
        Misfit { error, way: Vec::new() }
    }
}

impl From<ArrowError> for Misfit {
    fn from(error: ArrowError) -> Self {
        Error::corrupt("its values are not of the type that the file says they had").with_source(error).into()
    }
}

pub(super) type Restored<T = ArrayRef> = Result<T, Misfit>;

/// Restores an array: the function that restores arrays of all types, for arrays within arrays.
pub(super) type Restore = fn(&ArrayRef, &DataType, u64) -> Restored;

/// Checks that so many values of a type, which may all be null, take no more than `memory` bytes.
///
/// # Errors
/// `LimitExceeded`.
pub fn check_room(kind: &DataType, count: usize, memory: u64) -> Result<()> {
    let bytes = width(kind).saturating_mul(count as u64);
    let too_much =
        || Error::over("memory", format!("{count} values of {kind} need more than the {memory} bytes allowed"));
    if bytes > memory { Err(too_much()) } else { Ok(()) }
}

/// Bytes of a value of fixed width, at least 1.
fn width(kind: &DataType) -> u64 {
    let length = |length: &i32| u64::try_from(*length).unwrap_or_default();
    match kind {
        DataType::FixedSizeBinary(width) => length(width).max(1),
        DataType::FixedSizeList(item, count) => width(item.data_type()).saturating_mul(length(count)).max(1),
        DataType::Struct(fields) => {
            fields.iter().map(|field| width(field.data_type())).fold(1, |sum, width| sum.saturating_add(width))
        }
        DataType::Union(fields, _) => {
            fields.iter().map(|(_, field)| width(field.data_type())).fold(1, |sum, width| sum.saturating_add(width))
        }
        kind => kind.primitive_width().map_or(8, |width| width as u64),
    }
}

pub(super) fn cast(array: &dyn Array, target: &DataType) -> Result<ArrayRef, ArrowError> {
    cast_with_options(array, target, &CastOptions { safe: false, ..CastOptions::default() })
}

pub(super) fn no_way(array: &ArrayRef, target: &DataType) -> Misfit {
    Error::corrupt(format!("values of {} were not written as {target}", array.data_type())).into()
}
