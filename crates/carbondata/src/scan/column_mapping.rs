//! Schema evolution: maps the columns of a file to the columns of the table, which may be added, renamed or widened.

use std::collections::HashMap;

use arrow_array::{Array as _, ArrayRef, UInt64Array, new_null_array};
use arrow_select::take::take;
use orcish_core::cast::{ColumnCast, check_array_size};
use orcish_core::unify::holds;
use orcish_core::{Error, Result};

use super::default_value::default;
use crate::metadata::schema::{CarbonType, Column};

/// The source of a column of the table.
#[derive(Debug, Clone)]
pub(super) enum ColumnMapping {
    /// A column of the file, with its conversion.
    Stored(usize, ColumnCast),
    /// The default value, an array of length one: the file does not have the column.
    Constant(ArrayRef),
}

/// Maps all `columns` of a table to the columns of a `file`. Columns are matched by id, and by name too unless the
/// table is transactional.
///
/// # Errors
/// `Unsupported` where the type of a column cannot be converted.
pub(super) fn map_columns(columns: &[Column], file: &[Column], is_transactional: bool) -> Result<Vec<ColumnMapping>> {
    let file_columns = FileColumns::new(file, is_transactional);
    let mapping = |column: &Column| match file_columns.find(column) {
        Some((at, file_column)) => Ok(ColumnMapping::Stored(at, adapt(column, file_column)?)),
        None => Ok(ColumnMapping::Constant(default(column)?)),
    };
    columns.iter().map(|column| mapping(column).map_err(|error: Error| error.in_column(&column.name))).collect()
}

/// The columns of a file, or the children of one column.
struct FileColumns<'f> {
    columns: &'f [Column],
    by_id: HashMap<String, usize>,
    /// For files without table, where each file has its own column ids.
    by_name: HashMap<String, usize>,
}

impl<'f> FileColumns<'f> {
    fn new(columns: &'f [Column], is_transactional: bool) -> Self {
        let mut this = FileColumns { columns, by_id: HashMap::new(), by_name: HashMap::new() };
        for (at, column) in columns.iter().enumerate() {
            this.by_id.entry(column.id.to_lowercase()).or_insert(at);
            if !is_transactional {
                this.by_name.entry(column.name.to_lowercase()).or_insert(at);
            }
        }
        this
    }

    /// The stored column of a column of the table, by its id, else by its name.
    fn find(&self, column: &Column) -> Option<(usize, &'f Column)> {
        let by_name = || self.by_name.get(&column.name.to_lowercase());
        let at = *self.by_id.get(&column.id.to_lowercase()).or_else(by_name)?;
        Some((at, self.columns.get(at)?))
    }
}

fn adapt(column: &Column, file_column: &Column) -> Result<ColumnCast> {
    let conversion =
        match (column.carbon_type, file_column.carbon_type, &column.children[..], &file_column.children[..]) {
            (CarbonType::Struct, CarbonType::Struct, target, file_fields) => {
                // Fields of structs cannot be renamed, so that they are matched by name.
                let fields = FileColumns::new(file_fields, false);
                let mapping = |field: &Column| match fields.find(field) {
                    Some((at, file_field)) => Ok((Some(at), adapt(field, file_field)?)),
                    None => Ok((None, ColumnCast::Missing)),
                };
                ColumnCast::Struct(target.iter().map(mapping).collect::<Result<_>>()?)
            }
            (CarbonType::Array, CarbonType::Array, [element], [file_element]) => {
                ColumnCast::List(Box::new(adapt(element, file_element)?))
            }
            (CarbonType::Map, CarbonType::Map, [key, value], [file_key, file_value]) => {
                ColumnCast::Map(Box::new((adapt(key, file_key)?, adapt(value, file_value)?)))
            }
            _ => match (file_column.data_type(), column.data_type()) {
                (file_type, target) if file_type == target => ColumnCast::Keep,
                (file_type, target) if holds(&target, &file_type) => ColumnCast::Cast,
                (file_type, target) => {
                    let text = format!("it is {file_type} in this file, which does not become {target}");
                    return Err(Error::unsupported(text));
                }
            },
        };
    // A nested type is kept if all children are kept.
    let is_unchanged = match &conversion {
        ColumnCast::Struct(mappings) => mappings
            .iter()
            .enumerate()
            .all(|(at, mapping)| matches!(mapping, (Some(index), ColumnCast::Keep) if *index == at)),
        ColumnCast::List(item) => matches!(**item, ColumnCast::Keep),
        ColumnCast::Map(both) => matches!(**both, (ColumnCast::Keep, ColumnCast::Keep)),
        _ => false,
    };
    Ok(if is_unchanged && column.data_type() == file_column.data_type() { ColumnCast::Keep } else { conversion })
}

/// Indexes in the file of the columns that it has, ascending and without duplicates.
pub(super) fn stored_columns(mappings: &[ColumnMapping], columns: impl IntoIterator<Item = usize>) -> Vec<usize> {
    let index = |at: usize| match mappings.get(at) {
        Some(ColumnMapping::Stored(index, _)) => Some(*index),
        _ => None,
    };
    let mut indexes: Vec<usize> = columns.into_iter().filter_map(index).collect();
    indexes.sort_unstable();
    indexes.dedup();
    indexes
}

/// Repeats an array of length one, within a memory limit.
pub(super) fn repeat_value(value: &ArrayRef, rows: usize, memory: u64) -> Result<ArrayRef> {
    check_array_size(value.data_type(), rows, memory)?;
    if value.null_count() > 0 {
        return Ok(new_null_array(value.data_type(), rows));
    }
    let bytes = u64::try_from(value.get_buffer_memory_size()).unwrap_or(u64::MAX);
    // String offsets have 32 bits.
    let max_bytes = memory.min(i32::MAX.unsigned_abs().into());
    if bytes.saturating_mul(u64::try_from(rows).unwrap_or(u64::MAX)) > max_bytes {
        return Err(Error::limit("the default of a column is too long for so many rows"));
    }
    let zeros = UInt64Array::from(vec![0; rows]);
    take(value.as_ref(), &zeros, None).map_err(|error| Error::limit("a default").with_source(error))
}
