//! From the columns of a file to those of its table, which may have been added, renamed or widened since.

use std::collections::HashMap;

use arrow_array::{Array as _, ArrayRef, UInt64Array, new_null_array};
use arrow_select::take::take;
use orcish_core::cast::{Adapt, check_room, widens};
use orcish_core::{Error, Result};

use super::default_value::default;
use crate::metadata::schema::{CarbonType, Column};

/// Where a column of the table is in a file, and what becomes of it.
#[derive(Debug, Clone)]
pub(super) enum ColumnMapping {
    /// The column of the file at a place, adapted.
    Stored(usize, Adapt),
    /// The file does not have it: one value for all rows, in an array of one.
    Constant(ArrayRef),
}

/// The ways of all `columns` of a table from those of a `file`. Only in transactional tables do names say nothing.
///
/// # Errors
/// `Unsupported` where a column of the file does not become that of the table.
pub(super) fn mappings(columns: &[Column], file: &[Column], is_transactional: bool) -> Result<Vec<ColumnMapping>> {
    let stored = Stored::new(file, is_transactional);
    let mapping = |column: &Column| match stored.find(column) {
        Some((at, stored)) => Ok(ColumnMapping::Stored(at, adapt(column, stored)?)),
        None => Ok(ColumnMapping::Constant(default(column)?)),
    };
    columns.iter().map(|column| mapping(column).map_err(|error: Error| error.in_column(&column.name))).collect()
}

/// The columns of a file, or those within one of them.
struct Stored<'f> {
    columns: &'f [Column],
    by_id: HashMap<String, usize>,
    /// Of files that are no loads of one table, whose columns have ids of their own.
    by_name: HashMap<String, usize>,
}

impl<'f> Stored<'f> {
    fn new(columns: &'f [Column], is_transactional: bool) -> Self {
        let mut this = Stored { columns, by_id: HashMap::new(), by_name: HashMap::new() };
        for (at, column) in columns.iter().enumerate() {
            this.by_id.entry(column.id.to_lowercase()).or_insert(at);
            if !is_transactional {
                this.by_name.entry(column.name.to_lowercase()).or_insert(at);
            }
        }
        this
    }

    /// A column of the table: by its id, which it keeps when it is renamed, or else by its name.
    fn find(&self, column: &Column) -> Option<(usize, &'f Column)> {
        let by_name = || self.by_name.get(&column.name.to_lowercase());
        let at = *self.by_id.get(&column.id.to_lowercase()).or_else(by_name)?;
        Some((at, self.columns.get(at)?))
    }
}

fn adapt(column: &Column, stored: &Column) -> Result<Adapt> {
    let found = match (column.carbon_type, stored.carbon_type, &column.children[..], &stored.children[..]) {
        (CarbonType::Struct, CarbonType::Struct, wanted, stored) => {
            // Names of fields are theirs alone, and stay.
            let fields = Stored::new(stored, false);
            let mapping = |field: &Column| match fields.find(field) {
                Some((at, stored)) => Ok((Some(at), adapt(field, stored)?)),
                None => Ok((None, Adapt::Missing)),
            };
            Adapt::Struct(wanted.iter().map(mapping).collect::<Result<_>>()?)
        }
        (CarbonType::Array, CarbonType::Array, [wanted], [stored]) => Adapt::List(Box::new(adapt(wanted, stored)?)),
        (CarbonType::Map, CarbonType::Map, [key, value], [stored_key, stored_value]) => {
            Adapt::Map(Box::new((adapt(key, stored_key)?, adapt(value, stored_value)?)))
        }
        _ => match (stored.data_type(), column.data_type()) {
            (stored, wanted) if stored == wanted => Adapt::Keep,
            (stored, wanted) if widens(&stored, &wanted) => Adapt::Cast,
            (stored, wanted) => {
                let text = format!("it is {stored} in this file, which does not become {wanted}");
                return Err(Error::unsupported(text));
            }
        },
    };
    // What has nothing to do with its parts has nothing to do.
    let is_kept = match &found {
        Adapt::Struct(mappings) => mappings
            .iter()
            .enumerate()
            .all(|(at, mapping)| matches!(mapping, (Some(stored), Adapt::Keep) if *stored == at)),
        Adapt::List(item) => matches!(**item, Adapt::Keep),
        Adapt::Map(both) => matches!(**both, (Adapt::Keep, Adapt::Keep)),
        _ => false,
    };
    Ok(if is_kept && column.data_type() == stored.data_type() { Adapt::Keep } else { found })
}

/// Places in the file of those columns of the table that it has, ascending.
pub(super) fn stored(mappings: &[ColumnMapping], columns: impl IntoIterator<Item = usize>) -> Vec<usize> {
    let place = |at: usize| match mappings.get(at) {
        Some(ColumnMapping::Stored(place, _)) => Some(*place),
        _ => None,
    };
    let mut places: Vec<usize> = columns.into_iter().filter_map(place).collect();
    places.sort_unstable();
    places.dedup();
    places
}

/// As many rows of an array of one, where they may take `memory` bytes.
pub(super) fn repeat(value: &ArrayRef, rows: usize, memory: u64) -> Result<ArrayRef> {
    check_room(value.data_type(), rows, memory)?;
    if value.null_count() > 0 {
        return Ok(new_null_array(value.data_type(), rows));
    }
    let bytes = u64::try_from(value.get_buffer_memory_size()).unwrap_or(u64::MAX);
    // Offsets of texts have 32 bits.
    let most = memory.min(i32::MAX.unsigned_abs().into());
    if bytes.saturating_mul(u64::try_from(rows).unwrap_or(u64::MAX)) > most {
        return Err(Error::limit("the default of a column is too long for so many rows"));
    }
    let zeros = UInt64Array::from(vec![0; rows]);
    take(value.as_ref(), &zeros, None).map_err(|error| Error::limit("a default").with_source(error))
}
