//! Casts of the columns of a file to the columns of its table.
//!
//! | type in the file | types in the table |
//! |---|---|
//! | null | all types |
//! | leaves | types that hold them ([`holds`](crate::unify::holds)); in a schema that is given, types that they are converted to ([`converts`](super::converts)) |
//! | list, map | lists and maps of such types |
//! | struct | struct with other fields; missing fields are null |
//!
//! Besides, a physical type is restored to the logical type of the table ([`restore`]): integers become times or
//! dictionaries. Other differences are errors.

use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::{Array as _, ArrayRef, ListArray, MapArray, StructArray, new_null_array};
use arrow_schema::{ArrowError, DataType, Field, FieldRef, Fields};

use super::convert::{cast, overflow};
use super::entries::{cast_keys, map_entries};
use super::mismatch::check_array_size;
use super::restore::restore;
use crate::error::{Error, ErrorKind, OrInternal as _, Result};
use crate::types::{entries_of, item_of};

/// The message of an internal error.
const OTHER_TYPE: &str = "a cast is of other types than it was made for";

/// The cast of a column of a file.
#[derive(Debug, Clone)]
pub enum ColumnCast {
    /// The types are equal.
    Keep,
    /// The file does not have the column: all values are null.
    Missing,
    /// The type in the file is `null`, which is stored as booleans: all values are null.
    Null,
    /// A cast to a type that has the values.
    Cast,
    /// A cast of the physical type to the logical type that was written, by the schema in the file if `is_own`, and by that of
    /// the table otherwise.
    Restore {
        /// Whether the file says that its values are of the type.
        is_own: bool,
    },
    /// As `Restore`, to a type other than that of the table, and a cast to the latter.
    RestoreAndCast(DataType),
    /// Casts of the fields of a struct.
    Struct(SchemaMapping),
    /// A cast of the elements of a list.
    List(Box<ColumnCast>),
    /// Casts of the keys and the values of a map.
    Map(Box<(ColumnCast, ColumnCast)>),
}

/// For each target column, the index of its source column, and the cast of the source column. The index is `None` where there
/// is no source column.
pub type SchemaMapping = Vec<(Option<usize>, ColumnCast)>;

impl ColumnCast {
    /// Casts an array to `target`. Nulls of missing columns take at most `memory` bytes.
    ///
    /// # Errors
    /// `LimitExceeded` where a value overflows, or nulls need more memory.
    pub fn apply(&self, array: &ArrayRef, target: &DataType, memory: u64) -> Result<ArrayRef> {
        let overflow = |error| overflow(target, error);
        match (self, target) {
            (ColumnCast::Keep, _) => Ok(array.clone()),
            (ColumnCast::Missing, _) => nulls(target, array.len(), memory),
            (ColumnCast::Null, _) => match restore(array, &Field::new("", DataType::Null, true), memory) {
                Ok(array) => nulls(target, array.len(), memory),
                Err(error) => Err(error),
            },
            (ColumnCast::RestoreAndCast(written), _) => {
                cast(&restore(array, &Field::new("", written.clone(), true), memory)?, target)
            }
            (ColumnCast::Restore { is_own }, _) => {
                let restored = restore(array, &Field::new("", target.clone(), true), memory);
                // A file that does not say so is not damaged.
                restored.map_err(|error| match (error.kind(), error.cause()) {
                    (ErrorKind::Corrupt, Some(cause)) if !is_own => {
                        overflow(ArrowError::CastError(cause.to_string().replace("Cast error: ", "")))
                    }
                    _ => error,
                })
            }
            (ColumnCast::Struct(mapping), DataType::Struct(fields)) => {
                let parent = array.as_struct_opt().or_internal(OTHER_TYPE)?;
                let columns = cast_columns(mapping, parent.columns(), fields, parent.len(), memory)?;
                let nulls = parent.nulls().cloned();
                let array = StructArray::try_new_with_length(fields.clone(), columns, nulls, parent.len());
                Ok(Arc::new(array.map_err(overflow)?))
            }
            (ColumnCast::List(inner), list) if let Some(item) = item_of(list) => {
                let list = array.as_list_opt::<i32>().or_internal(OTHER_TYPE)?;
                let values = inner.apply(list.values(), item.data_type(), memory)?;
                let array = ListArray::try_new(item.clone(), list.offsets().clone(), values, list.nulls().cloned());
                let array: ArrayRef = Arc::new(array.map_err(overflow)?);
                // The target can be another list type.
                restore(&array, &Field::new("", target.clone(), true), memory)
            }
            (ColumnCast::Map(inner), DataType::Map(entries, sorted)) => {
                let (map, (key, value)) = array.as_map_opt().zip(entries_of(target)).or_internal(OTHER_TYPE)?;
                let keys = cast_keys(map.keys(), key.data_type(), |keys, target| inner.0.apply(keys, target, memory))?;
                let values = inner.1.apply(map.values(), value.data_type(), memory)?;
                let fields = vec![key.clone(), value.clone()].into();
                let entry_array = map_entries(fields, keys, values).map_err(overflow)?;
                let (offsets, nulls) = (map.offsets().clone(), map.nulls().cloned());
                let array = MapArray::try_new(entries.clone(), offsets, entry_array, nulls, *sorted);
                Ok(Arc::new(array.map_err(overflow)?))
            }
            (ColumnCast::Cast, _) => cast(array, target),
            (ColumnCast::Struct(_) | ColumnCast::List(_) | ColumnCast::Map(_), _) => Err(Error::internal(OTHER_TYPE)),
        }
    }
}

fn nulls(kind: &DataType, rows: usize, memory: u64) -> Result<ArrayRef> {
    check_array_size(kind, rows, memory)?;
    Ok(new_null_array(kind, rows))
}

/// Casts the columns of a file to the columns `fields` of the table. Nulls of missing columns take at most `memory` bytes
/// each.
///
/// # Errors
/// `LimitExceeded` where a value overflows, or nulls need more memory.
pub fn cast_columns(
    mapping: &[(Option<usize>, ColumnCast)],
    columns: &[ArrayRef],
    fields: &Fields,
    rows: usize,
    memory: u64,
) -> Result<Vec<ArrayRef>> {
    let cast_column = |((source, cast), field): (&(Option<usize>, ColumnCast), &FieldRef)| {
        let array = match source {
            None => nulls(field.data_type(), rows, memory),
            Some(source) => {
                let array = columns.get(*source).or_internal("a column that is cast was not read");
                array.and_then(|array| cast.apply(array, field.data_type(), memory))
            }
        };
        array.map_err(|error| error.in_column(field.name()))
    };
    mapping.iter().zip(fields).map(cast_column).collect()
}
