//! Values of rows, gathered into a column.

use std::sync::Arc;

use arrow_array::types::{BinaryType, Utf8Type};
use arrow_array::{ArrayRef, ListArray, MapArray, StructArray};
use arrow_buffer::{NullBuffer, NullBufferBuilder, OffsetBuffer};
use arrow_schema::{DataType, Fields};
use orcish::{Error, ErrorKind, Result};

use super::nested::{self, Lengths};
use crate::bytes::Bytes;
use crate::metadata::schema::{Column, Kind};
use crate::page::texts::{NULL, Texts};
use crate::page::{Dictionaries, arrays, values};

/// A column that grows by a value for each row.
pub(super) enum Values<'a> {
    /// As they are stored, null as texts have it.
    Bytes(Vec<&'a [u8]>),
    /// Of dates, or of a dictionary that all files of the table share.
    Keys(Vec<u32>),
    Integers(Vec<i64>, NullBufferBuilder),
    Doubles(Vec<f64>, NullBufferBuilder),
    List(Lists, Box<Values<'a>>),
    Map(Lists, Box<[Values<'a>; 2]>),
    Struct(NullBufferBuilder, Vec<Values<'a>>),
}

/// Where the lists of a column end among its items, and which of them are null.
pub(super) struct Lists {
    ends: Vec<i32>,
    nulls: NullBufferBuilder,
}

impl Lists {
    fn new(rows: usize) -> Self {
        let mut ends = Vec::with_capacity(rows + 1);
        ends.push(0);
        Lists { ends, nulls: NullBufferBuilder::new(rows) }
    }

    fn push(&mut self, end: usize, is_null: bool) -> Result<()> {
        self.ends.push(i32::try_from(end).map_err(|_| Error::limit("more than 2³¹ items of lists"))?);
        self.nulls.append(!is_null);
        Ok(())
    }
}

impl<'a> Values<'a> {
    /// Of keys.
    pub(super) fn keys(rows: usize) -> Self {
        Values::Keys(Vec::with_capacity(rows))
    }

    /// Of a dimension, whose values are bytes, or of others.
    pub(super) fn dimension(column: &Column, rows: usize) -> Result<Self> {
        Ok(match (column.kind, column.children.as_slice()) {
            (Kind::Array, [item]) => Values::List(Lists::new(rows), Box::new(Values::within(item, rows)?)),
            (Kind::Map, [key, value]) => {
                let entries = [Values::within(key, rows)?, Values::within(value, rows)?];
                Values::Map(Lists::new(rows), Box::new(entries))
            }
            (Kind::Struct, children) => {
                let children = children.iter().map(|child| Values::within(child, rows)).collect::<Result<_>>()?;
                Values::Struct(NullBufferBuilder::new(rows), children)
            }
            (Kind::Array | Kind::Map, _) => return Err(Error::corrupt("a list of nothing")),
            _ => Values::Bytes(Vec::with_capacity(rows)),
        })
    }

    fn within(column: &Column, rows: usize) -> Result<Self> {
        if column.children.is_empty() && column.kind != Kind::Date && column.has_global_dictionary() {
            return Err(Error::unsupported("a dictionary of a column within another, in a stream"));
        }
        Values::dimension(column, rows)
    }

    /// Of a measure.
    pub(super) fn measure(kind: Kind, rows: usize) -> Self {
        match kind {
            Kind::Double | Kind::Float => Values::Doubles(Vec::with_capacity(rows), NullBufferBuilder::new(rows)),
            Kind::Decimal { .. } => Values::Bytes(Vec::with_capacity(rows)),
            _ => Values::Integers(Vec::with_capacity(rows), NullBufferBuilder::new(rows)),
        }
    }

    fn len(&self) -> usize {
        match self {
            Values::Bytes(all) => all.len(),
            Values::Keys(keys) => keys.len(),
            Values::Integers(all, _) => all.len(),
            Values::Doubles(all, _) => all.len(),
            Values::List(lists, _) | Values::Map(lists, _) => lists.ends.len() - 1,
            Values::Struct(nulls, _) => nulls.len(),
        }
    }

    pub(super) fn push_null(&mut self) -> Result<()> {
        match self {
            Values::Bytes(all) => all.push(NULL),
            Values::Keys(keys) => keys.push(arrays::NULL_KEY),
            Values::Integers(all, nulls) => {
                all.push(0);
                nulls.append_null();
            }
            Values::Doubles(all, nulls) => {
                all.push(0.0);
                nulls.append_null();
            }
            Values::List(lists, items) => lists.push(items.len(), true)?,
            Values::Map(lists, entries) => lists.push(entries[0].len(), true)?,
            Values::Struct(nulls, children) => {
                nulls.append_null();
                children.iter_mut().try_for_each(Values::push_null)?;
            }
        }
        Ok(())
    }

    pub(super) fn push_key(&mut self, key: u32) {
        if let Values::Keys(keys) = self {
            keys.push(key);
        }
    }

    pub(super) fn push_bytes(&mut self, bytes: &'a [u8]) {
        if let Values::Bytes(all) = self {
            all.push(bytes);
        }
    }

    /// The value of a measure of type `kind`.
    pub(super) fn push_measure(&mut self, kind: Kind, bytes: &mut Bytes<'a>) -> Result<()> {
        match self {
            Values::Doubles(all, nulls) => {
                all.push(bytes.f64()?);
                nulls.append_non_null();
            }
            Values::Integers(all, nulls) => {
                all.push(match kind {
                    Kind::Boolean => bytes.u8()?.into(),
                    Kind::Short => bytes.i16()?.into(),
                    Kind::Int => bytes.i32()?.into(),
                    _ => bytes.i64()?,
                });
                nulls.append_non_null();
            }
            others => others.push_bytes(bytes.short()?),
        }
        Ok(())
    }

    /// The value of a column that has others in it, or is in one: whether it is null.
    pub(super) fn push_nested(&mut self, bytes: &mut Bytes<'a>, column: &Column, lengths: Lengths) -> Result<bool> {
        match self {
            Values::List(lists, items) => {
                let count = nested::count(bytes, column, lengths)?;
                for _ in 0..count.unwrap_or(0) {
                    for item in &column.children {
                        items.push_nested(bytes, item, lengths)?;
                    }
                }
                lists.push(items.len(), count.is_none())?;
                Ok(count.is_none())
            }
            Values::Map(lists, entries) => {
                let count = nested::count(bytes, column, lengths)?;
                for _ in 0..count.unwrap_or(0) {
                    nested::check_children(bytes, 2)?;
                    for (at, (values, child)) in entries.iter_mut().zip(&column.children).enumerate() {
                        if values.push_nested(bytes, child, lengths)? && at == 0 {
                            return Err(Error::new(ErrorKind::NullMapKey, "a map with a null key"));
                        }
                    }
                }
                lists.push(entries[0].len(), count.is_none())?;
                Ok(count.is_none())
            }
            Values::Struct(nulls, children) => {
                nested::check_children(bytes, children.len())?;
                let mut is_null = true;
                for (values, child) in children.iter_mut().zip(&column.children) {
                    is_null &= values.push_nested(bytes, child, lengths)?;
                }
                nulls.append(!is_null);
                Ok(is_null)
            }
            leaf => {
                let value = lengths.value(bytes, column.kind)?;
                leaf.push_bytes(value);
                Ok(nested::is_null(column.kind, value))
            }
        }
    }

    /// All values as an array of the column's type.
    pub(super) fn finish(self, column: &Column, dictionaries: Option<&Dictionaries>) -> Result<ArrayRef> {
        Ok(match (self, column.data_type()) {
            (Values::Bytes(all), DataType::Utf8) => Texts::of(&all)?.array::<Utf8Type>()?,
            (Values::Bytes(all), DataType::Binary) => Texts::of(&all)?.array::<BinaryType>()?,
            (Values::Bytes(all), _) => values::array(column, &all)?,
            (Values::Keys(keys), _) => keys_array(column, &keys, dictionaries)?,
            (Values::Integers(all, mut nulls), _) => arrays::integers(column, all, nulls.finish())?,
            (Values::Doubles(all, mut nulls), _) => arrays::doubles(column, all, nulls.finish())?,
            (Values::List(mut lists, items), DataType::List(field)) => {
                let item = column.children.first().ok_or_else(|| Error::corrupt("an array of nothing"))?;
                let items = items.finish(item, None)?;
                let ends = OffsetBuffer::new(lists.ends.into());
                Arc::new(ListArray::try_new(field, ends, items, lists.nulls.finish()).map_err(arrays::misfit)?)
            }
            (Values::Map(mut lists, entries), DataType::Map(field, is_sorted)) => {
                let DataType::Struct(fields) = field.data_type() else {
                    return Err(Error::corrupt("a map of no entries"));
                };
                let rows = entries[0].len();
                let entries = structs(fields.clone(), (*entries).into(), column, rows, None)?;
                let ends = OffsetBuffer::new(lists.ends.into());
                let nulls = lists.nulls.finish();
                Arc::new(MapArray::try_new(field, ends, entries, nulls, is_sorted).map_err(arrays::misfit)?)
            }
            (Values::Struct(mut nulls, children), DataType::Struct(fields)) => {
                let rows = nulls.len();
                Arc::new(structs(fields, children, column, rows, nulls.finish())?)
            }
            _ => return Err(Error::corrupt("values of another type")),
        })
    }
}

fn keys_array(column: &Column, keys: &[u32], dictionaries: Option<&Dictionaries>) -> Result<ArrayRef> {
    match column.kind {
        Kind::Date => arrays::dates(keys),
        Kind::Timestamp if !column.has_global_dictionary() => arrays::times(keys),
        _ => {
            let dictionaries = dictionaries.ok_or_else(|| {
                Error::unsupported("the column has a dictionary in the table's folder, which was not looked for")
            })?;
            arrays::take_keys(&dictionaries(column)?, keys)
        }
    }
}

fn structs(
    fields: Fields,
    children: Vec<Values<'_>>,
    column: &Column,
    rows: usize,
    nulls: Option<NullBuffer>,
) -> Result<StructArray> {
    let children = children.into_iter().zip(&column.children).map(|(values, child)| {
        values.finish(child, None).map_err(|error| error.in_column(&format!("{}.{}", column.name, child.name)))
    });
    let children = children.collect::<Result<Vec<ArrayRef>>>()?;
    StructArray::try_new_with_length(fields, children, nulls, rows).map_err(arrays::misfit)
}
