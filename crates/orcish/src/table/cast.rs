//! Casts of rows to the types with which they are written.

use arrow_array::{Array, ArrayRef};
use arrow_schema::Field;
use orcish_core::cast::ExactCast;
use orcish_core::error::{Error, ErrorKind, Result};
use orcish_core::type_names::TypeName;

use crate::partition::{cast_values, is_cast_by_value};
use crate::time::zone_offsets;

/// What a column of rows is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PartitionOf {
    /// A column of files.
    Files,
    /// A partition column, whose values are cast by their texts.
    Folders,
}

/// A column of rows with the type of a field from [`appended_schema`](super::TableColumns::appended_schema). Structs may get
/// fields, which are null.
///
/// # Errors
/// `InvalidArgument` if a value is not one of its new type. The message has the name of the column.
///
/// ```
/// use std::sync::Arc;
///
/// use arrow_array::{ArrayRef, Int8Array, Int64Array};
/// use arrow_schema::{DataType, Field};
/// use orcish::table::{PartitionOf, cast_column};
///
/// let rows: ArrayRef = Arc::new(Int8Array::from(vec![1]));
/// let column = cast_column(&rows, &Field::new("id", DataType::Int64, true), PartitionOf::Files)?;
/// assert_eq!(*column, Int64Array::from(vec![1]));
/// # Ok::<(), orcish::Error>(())
/// ```
pub fn cast_column(column: &ArrayRef, field: &Field, of: PartitionOf) -> Result<ArrayRef> {
    let kind = field.data_type();
    if column.data_type() == kind {
        return Ok(column.clone());
    }
    let is_by_value = of == PartitionOf::Files || is_cast_by_value(column.data_type(), kind);
    let cast = match of {
        PartitionOf::Files => ExactCast { zones: &zone_offsets, adds_fields: true }.apply(column, kind),
        PartitionOf::Folders => cast_values(column, kind),
    };
    cast.map_err(|error| {
        let name = field.name();
        match error.kind() {
            ErrorKind::InvalidArgument if is_by_value => Error::invalid(format!("column {name}: {}", error.message())),
            ErrorKind::Unsupported => Error::invalid(format!("column {name}: {error}")),
            ErrorKind::Io | ErrorKind::Interrupted | ErrorKind::Internal => error,
            _ => Error::invalid(format!("column {name} is {} in the table: {error}", TypeName(kind))),
        }
    })
}
