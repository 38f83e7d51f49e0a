//! Errors of values that are not of their logical type, and checks of the size of arrays.

use arrow_array::{Array, ArrayRef, make_array};
use arrow_cast::{CastOptions, cast_with_options};
use arrow_schema::{ArrowError, DataType};

use crate::error::{Error, Result};
use crate::type_names::TypeName;

/// An error of restoring an array.
pub(super) struct TypeMismatch {
    pub(super) error: Error,
    /// Names of the array and its ancestors, the innermost first.
    pub(super) path: Vec<String>,
}

impl TypeMismatch {
    /// Adds the name of an ancestor.
    pub(super) fn within(mut self, name: impl Into<String>) -> Self {
        self.path.push(name.into());
        self
    }
}

impl From<Error> for TypeMismatch {
    fn from(error: Error) -> Self {
        TypeMismatch { error, path: Vec::new() }
    }
}

impl From<ArrowError> for TypeMismatch {
    fn from(error: ArrowError) -> Self {
        Error::corrupt("its values are not of the type that the file says they had").with_source(error).into()
    }
}

pub(super) type RestoreResult<T = ArrayRef> = Result<T, TypeMismatch>;

/// Reinterprets the buffers as a type of the same width.
pub(super) fn reinterpret(array: &ArrayRef, target: &DataType) -> RestoreResult {
    Ok(make_array(array.to_data().into_builder().data_type(target.clone()).align_buffers(true).build()?))
}

/// The function that restores arrays of any type, for nested arrays.
pub(super) type RestoreColumn = fn(&ArrayRef, &DataType, u64) -> RestoreResult;

/// Checks that `count` values of a type, which may all be null, take at most `memory` bytes.
///
/// # Errors
/// `LimitExceeded` where they take more.
pub fn check_array_size(kind: &DataType, count: usize, memory: u64) -> Result<()> {
    let bytes = fixed_width(kind).saturating_mul(count as u64);
    let too_much = || {
        Error::over("memory", format!("{count} values of {} need more than the {memory} bytes allowed", TypeName(kind)))
    };
    if bytes > memory { Err(too_much()) } else { Ok(()) }
}

/// Bytes of a value without its variable part, at least 1. A null has as many.
pub fn fixed_width(kind: &DataType) -> u64 {
    // A length below 0 is refused where arrays are made.
    let length = |length: &i32| u64::from(length.max(&0).unsigned_abs());
    match kind {
        DataType::FixedSizeBinary(width) => length(width).max(1),
        DataType::FixedSizeList(item, count) => fixed_width(item.data_type()).saturating_mul(length(count)).max(1),
        DataType::Struct(fields) => {
            fields.iter().map(|field| fixed_width(field.data_type())).fold(1, |sum, width| sum.saturating_add(width))
        }
        DataType::Union(fields, _) => fields
            .iter()
            .map(|(_, field)| fixed_width(field.data_type()))
            .fold(1, |sum, width| sum.saturating_add(width)),
        kind => kind.primitive_width().map_or(8, |width| width as u64),
    }
}

pub(super) fn cast(array: &dyn Array, target: &DataType) -> Result<ArrayRef, ArrowError> {
    cast_with_options(array, target, &CastOptions { safe: false, ..CastOptions::default() })
}

/// The error for an array that cannot be restored to `target`.
pub(super) fn unexpected_type(array: &ArrayRef, target: &DataType) -> TypeMismatch {
    Error::corrupt(format!("values of {} were not written as {}", TypeName(array.data_type()), TypeName(target))).into()
}
