//! From the columns of a file to those of its table, which may have been added, renamed or widened since.

use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::{
    Array as _, ArrayRef, BinaryArray, BooleanArray, Date32Array, Decimal128Array, Float32Array, Float64Array,
    Int8Array, Int16Array, Int32Array, Int64Array, ListArray, MapArray, StringArray, StructArray,
    TimestampMicrosecondArray, UInt64Array, new_null_array,
};
use arrow_schema::{ArrowError, DataType};
use arrow_select::take::take;
use orcish::shared::{check_room, widen, widens};
use orcish::{Error, Result};

use crate::bytes::{Bytes, big_integer};
use crate::metadata::schema::{Column, Kind};
use crate::page::arrays::EPOCH_KEY;

/// Where a column of the table is in a file, and what becomes of it.
#[derive(Debug, Clone)]
pub(super) enum Way {
    /// The column of the file at a place, adapted.
    Stored(usize, Adapt),
    /// The file does not have it: one value for all rows, in an array of one.
    Constant(ArrayRef),
}

/// What is done with an array.
#[derive(Debug, Clone)]
pub(super) enum Adapt {
    Keep,
    Widen,
    /// Where each field is among those of the file; null where it is not.
    Struct(Vec<Option<(usize, Adapt)>>),
    List(Box<Adapt>),
    /// Key and value.
    Map(Box<(Adapt, Adapt)>),
}

/// The ways of all `columns` of a table from those of a `file`. Only in transactional tables do names say nothing.
///
/// # Errors
/// `Unsupported` where a column of the file does not become that of the table.
pub(super) fn ways(columns: &[Column], file: &[Column], is_transactional: bool) -> Result<Vec<Way>> {
    let way = |column: &Column| match find(column, file, is_transactional) {
        Some((at, stored)) => Ok(Way::Stored(at, adapt(column, stored)?)),
        None => Ok(Way::Constant(default(column)?)),
    };
    columns.iter().map(|column| way(column).map_err(|error: Error| error.in_column(&column.name))).collect()
}

/// A column among those of a file: by its id, which it keeps when it is renamed; or else, as files that are no loads
/// of one table have ids of their own, by its name.
fn find<'f>(column: &Column, file: &'f [Column], is_transactional: bool) -> Option<(usize, &'f Column)> {
    let by_id = file.iter().position(|stored| stored.id.eq_ignore_ascii_case(&column.id));
    let by_name = || file.iter().position(|stored| stored.name.eq_ignore_ascii_case(&column.name));
    let at = by_id.or_else(|| if is_transactional { None } else { by_name() })?;
    Some((at, file.get(at)?))
}

fn adapt(column: &Column, stored: &Column) -> Result<Adapt> {
    let misfit = || {
        let (stored, wanted) = (stored.data_type(), column.data_type());
        Error::unsupported(format!("it is {stored} in this file, which does not become {wanted}"))
    };
    Ok(match (column.kind, stored.kind, &column.children[..], &stored.children[..]) {
        (Kind::Struct, Kind::Struct, wanted, stored) => {
            let field = |field: &Column| {
                // Names of fields are theirs alone, and stay.
                let found = find(field, stored, false);
                found.map(|(at, stored)| Ok((at, adapt(field, stored)?))).transpose()
            };
            Adapt::Struct(wanted.iter().map(field).collect::<Result<_>>()?)
        }
        (Kind::Array, Kind::Array, [wanted], [stored]) => Adapt::List(Box::new(adapt(wanted, stored)?)),
        (Kind::Map, Kind::Map, [key, value], [stored_key, stored_value]) => {
            Adapt::Map(Box::new((adapt(key, stored_key)?, adapt(value, stored_value)?)))
        }
        _ => match (stored.data_type(), column.data_type()) {
            (stored, wanted) if stored == wanted => Adapt::Keep,
            (stored, wanted) if widens(&stored, &wanted) => Adapt::Widen,
            _ => return Err(misfit()),
        },
    }
    .simple(column, stored))
}

impl Adapt {
    /// What has nothing to do with its parts has nothing to do.
    fn simple(self, column: &Column, stored: &Column) -> Self {
        let is_same = match &self {
            Adapt::Keep => true,
            Adapt::Widen => false,
            Adapt::Struct(fields) => fields
                .iter()
                .enumerate()
                .all(|(at, field)| matches!(field, Some((stored, Adapt::Keep)) if *stored == at)),
            Adapt::List(item) => matches!(**item, Adapt::Keep),
            Adapt::Map(both) => matches!(**both, (Adapt::Keep, Adapt::Keep)),
        };
        if is_same && column.data_type() == stored.data_type() { Adapt::Keep } else { self }
    }

    /// The array as it is in the table, where nulls may take `memory` bytes.
    pub(super) fn apply(&self, array: &ArrayRef, target: &DataType, memory: u64) -> Result<ArrayRef> {
        let misfit = |error: ArrowError| Error::corrupt("the parts of a column do not fit together").with_source(error);
        match (self, target) {
            (Adapt::Struct(ways), DataType::Struct(fields)) => {
                let Some(parent) = array.as_struct_opt() else { return Ok(array.clone()) };
                let column = |(way, field): (&Option<(usize, Adapt)>, &arrow_schema::FieldRef)| {
                    let found = way.as_ref().and_then(|(at, adapt)| Some((parent.columns().get(*at)?, adapt)));
                    match found {
                        Some((array, adapt)) => adapt.apply(array, field.data_type(), memory),
                        None => {
                            check_room(field.data_type(), parent.len(), memory)?;
                            Ok(new_null_array(field.data_type(), parent.len()))
                        }
                    }
                };
                let columns = ways.iter().zip(fields).map(column).collect::<Result<Vec<_>>>()?;
                let nulls = parent.nulls().cloned();
                let array = StructArray::try_new_with_length(fields.clone(), columns, nulls, parent.len());
                Ok(Arc::new(array.map_err(misfit)?))
            }
            (Adapt::List(inner), DataType::List(item)) => {
                let Some(list) = array.as_list_opt::<i32>() else { return Ok(array.clone()) };
                let values = inner.apply(list.values(), item.data_type(), memory)?;
                let array = ListArray::try_new(item.clone(), list.offsets().clone(), values, list.nulls().cloned());
                Ok(Arc::new(array.map_err(misfit)?))
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
            (Adapt::Keep, _) => Ok(array.clone()),
            _ => widen(array, target),
        }
    }
}

/// As many rows of an array of one, where they may take `memory` bytes.
pub(super) fn repeat(value: &ArrayRef, rows: usize, memory: u64) -> Result<ArrayRef> {
    check_room(value.data_type(), rows, memory)?;
    if value.null_count() > 0 {
        return Ok(new_null_array(value.data_type(), rows));
    }
    let bytes = u64::try_from(value.get_array_memory_size()).unwrap_or(u64::MAX);
    if bytes.saturating_mul(u64::try_from(rows).unwrap_or(u64::MAX)) > memory.max(1 << 20).saturating_mul(64) {
        return Err(Error::limit("the default of a column is too long for so many rows"));
    }
    let zeros = UInt64Array::from(vec![0; rows]);
    take(value.as_ref(), &zeros, None).map_err(|error| Error::limit("a default").with_source(error))
}

/// The value of a column in rows that were written before it was added: an array of one.
///
/// Numbers and texts are written as text, dates as the text of their key, timestamps as a number with its sign bit
/// flipped, decimals as their scale and unscaled digits.
fn default(column: &Column) -> Result<ArrayRef> {
    let kind = column.data_type();
    let Some(bytes) = column.default.as_deref() else { return Ok(new_null_array(&kind, 1)) };
    let wrong = || Error::corrupt(format!("the default of {} bytes is no {:?}", bytes.len(), column.kind));
    let text = || std::str::from_utf8(bytes).map(str::trim).map_err(|_| wrong());
    fn parse<T: std::str::FromStr>(text: &str, wrong: impl Fn() -> Error) -> Result<T> {
        text.parse().map_err(|_| wrong())
    }
    Ok(match column.kind {
        Kind::Boolean => Arc::new(BooleanArray::from(vec![text()?.eq_ignore_ascii_case("true")])),
        Kind::Byte => Arc::new(Int8Array::from(vec![parse::<i8>(text()?, wrong)?])),
        Kind::Short => Arc::new(Int16Array::from(vec![parse::<i16>(text()?, wrong)?])),
        Kind::Int => Arc::new(Int32Array::from(vec![parse::<i32>(text()?, wrong)?])),
        Kind::Long => Arc::new(Int64Array::from(vec![parse::<i64>(text()?, wrong)?])),
        Kind::Float => Arc::new(Float32Array::from(vec![parse::<f32>(text()?, wrong)?])),
        Kind::Double => Arc::new(Float64Array::from(vec![parse::<f64>(text()?, wrong)?])),
        Kind::String | Kind::Varchar => {
            Arc::new(StringArray::from(vec![std::str::from_utf8(bytes).map_err(|_| wrong())?]))
        }
        Kind::Binary => Arc::new(BinaryArray::from(vec![bytes])),
        Kind::Date => {
            let key = parse::<i32>(text()?, wrong)?;
            // Key 1 is null.
            let days = (key != 1).then(|| key.checked_sub(EPOCH_KEY).ok_or_else(wrong)).transpose()?;
            Arc::new(Date32Array::from(vec![days]))
        }
        Kind::Timestamp => {
            let millis = Bytes::new(bytes).i64()? ^ i64::MIN;
            let micros = millis.checked_mul(1000).ok_or_else(wrong)?;
            Arc::new(TimestampMicrosecondArray::from(vec![micros]).with_timezone("UTC"))
        }
        Kind::Decimal { precision, scale } => {
            let (&own, digits) = bytes.split_first().ok_or_else(wrong)?;
            let more = scale.checked_sub_unsigned(own).filter(|more| *more >= 0).ok_or_else(wrong)?;
            let power = 10i128.checked_pow(u32::from(more.unsigned_abs())).ok_or_else(wrong)?;
            let value = big_integer(digits).and_then(|value| value.checked_mul(power)).ok_or_else(wrong)?;
            let array = Decimal128Array::from(vec![value]).with_precision_and_scale(precision, scale);
            Arc::new(array.map_err(|_| wrong())?)
        }
        Kind::Array | Kind::Struct | Kind::Map => new_null_array(&kind, 1),
    })
}
