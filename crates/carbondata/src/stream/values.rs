//! Values of rows, gathered into a column.

use arrow_array::{Array as _, ArrayRef};
use arrow_buffer::NullBufferBuilder;
use arrow_schema::DataType;
use orcish_core::{Error, Result};

use super::nested::{self, Lengths};
use crate::bytes::Bytes;
use crate::metadata::format::NULL_TEXT;
use crate::metadata::schema::{Column, Kind};
use crate::page::{self, Dictionaries, Lists, Texts};

/// A column that grows by a value for each row.
pub(super) enum Values<'a> {
    /// As they are stored, null as texts have it.
    Bytes(Vec<&'a [u8]>),
    /// Of dates, or of a dictionary that all files of the table share.
    Keys(Vec<u32>),
    Integers(Vec<i64>, NullBufferBuilder),
    Doubles(Vec<f64>, NullBufferBuilder),
    /// Where each ends among the items, and 0 before them. Null is one item that is null, as in pages.
    List(Vec<i32>, Box<Values<'a>>),
    Map(Vec<i32>, Box<[Values<'a>; 2]>),
    Struct(usize, Vec<Values<'a>>),
}

impl<'a> Values<'a> {
    /// Of keys.
    pub(super) fn keys(rows: usize) -> Self {
        Values::Keys(Vec::with_capacity(rows))
    }

    /// Of a dimension, whose values are bytes, or of others.
    pub(super) fn dimension(column: &Column, rows: usize) -> Result<Self> {
        Ok(match (column.kind, column.children.as_slice()) {
            (Kind::Array, [item]) => Values::List(vec![0], Box::new(Values::within(item, rows)?)),
            (Kind::Map, [key, value]) => {
                let entries = [Values::within(key, rows)?, Values::within(value, rows)?];
                Values::Map(vec![0], Box::new(entries))
            }
            (Kind::Struct, children) => {
                let children = children.iter().map(|child| Values::within(child, rows)).collect::<Result<_>>()?;
                Values::Struct(0, children)
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
            Values::List(ends, _) | Values::Map(ends, _) => ends.len() - 1,
            Values::Struct(rows, _) => *rows,
        }
    }

    pub(super) fn push_null(&mut self) -> Result<()> {
        match self {
            Values::Bytes(all) => all.push(NULL_TEXT),
            Values::Keys(keys) => keys.push(page::NULL_KEY),
            Values::Integers(all, nulls) => {
                all.push(0);
                nulls.append_null();
            }
            Values::Doubles(all, nulls) => {
                all.push(0.0);
                nulls.append_null();
            }
            Values::List(ends, items) => {
                items.push_null()?;
                push_end(ends, items)?;
            }
            Values::Map(ends, entries) => {
                entries.iter_mut().try_for_each(Values::push_null)?;
                let [keys, _] = &**entries;
                push_end(ends, keys)?;
            }
            Values::Struct(rows, children) => {
                *rows += 1;
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

    /// The value of a column that has others in it, or is in one.
    pub(super) fn push_nested(&mut self, bytes: &mut Bytes<'a>, column: &Column, lengths: Lengths) -> Result<()> {
        match self {
            Values::List(ends, items) => {
                let Some(count) = nested::count(bytes)? else { return self.push_null() };
                for _ in 0..count {
                    for item in &column.children {
                        items.push_nested(bytes, item, lengths)?;
                    }
                }
                push_end(ends, items)
            }
            Values::Map(ends, entries) => {
                let Some(count) = nested::count(bytes)? else { return self.push_null() };
                for _ in 0..count {
                    nested::check_children(bytes, 2)?;
                    for (values, child) in entries.iter_mut().zip(&column.children) {
                        values.push_nested(bytes, child, lengths)?;
                    }
                }
                let [keys, _] = &**entries;
                push_end(ends, keys)
            }
            Values::Struct(rows, children) => {
                nested::check_children(bytes, children.len())?;
                *rows += 1;
                let mut children = children.iter_mut().zip(&column.children);
                children.try_for_each(|(values, child)| values.push_nested(bytes, child, lengths))
            }
            leaf => {
                leaf.push_bytes(lengths.value(bytes, column.kind)?);
                Ok(())
            }
        }
    }

    /// All values as an array of the column's type.
    pub(super) fn finish(self, column: &Column, dictionaries: Option<&Dictionaries>) -> Result<ArrayRef> {
        let kind = column.data_type();
        Ok(match (self, &kind) {
            (Values::Bytes(all), DataType::Utf8 | DataType::Binary) => Texts::of(&all)?.array(&kind)?,
            (Values::Bytes(all), _) => page::no_dictionary_array(column, &all)?,
            (Values::Keys(keys), _) => page::keyed(column, &keys, dictionaries)?,
            (Values::Integers(all, mut nulls), _) => page::integers(column, all, nulls.finish())?,
            (Values::Doubles(all, mut nulls), _) => page::doubles(column, all, nulls.finish())?,
            (Values::List(ends, items), _) => {
                let item = column.children.first().ok_or_else(|| Error::corrupt("an array of nothing"))?;
                page::lists(column, &Lists::in_order(ends), &items.finish(item, None)?)?
            }
            (Values::Map(ends, entries), _) => {
                let entries = finish_all((*entries).into(), column)?;
                let count = entries.first().map_or(0, |keys| keys.len());
                page::maps(column, &Lists::in_order(ends), entries, count)?
            }
            (Values::Struct(rows, children), _) => page::structs(column, finish_all(children, column)?, rows)?,
        })
    }
}

fn push_end(ends: &mut Vec<i32>, items: &Values<'_>) -> Result<()> {
    ends.push(i32::try_from(items.len()).map_err(|_| Error::limit("more than 2³¹ items of lists"))?);
    Ok(())
}

fn finish_all(children: Vec<Values<'_>>, column: &Column) -> Result<Vec<ArrayRef>> {
    let children = children.into_iter().zip(&column.children).map(|(values, child)| {
        values.finish(child, None).map_err(|error| error.in_column(&format!("{}.{}", column.name, child.name)))
    });
    children.collect()
}
