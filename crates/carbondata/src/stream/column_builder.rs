//! Builders of columns from rows.

use arrow_array::{Array as _, ArrayRef};
use arrow_buffer::NullBufferBuilder;
use arrow_schema::DataType;
use orcish_core::{Error, Result};

use super::lengths::{self, LengthFormat};
use crate::bytes::ByteReader;
use crate::metadata::format::NULL_TEXT;
use crate::metadata::schema::{CarbonType, Column};
use crate::page::{self, Dictionaries, ListOffsets, StringValues};

/// Builds a column, one value for each row.
pub(super) enum ColumnBuilder<'a> {
    /// Stored bytes. Null is the stored form of null strings.
    Bytes(Vec<&'a [u8]>),
    /// Surrogate keys of dates or of a global dictionary.
    Keys(Vec<u32>),
    Integers(Vec<i64>, NullBufferBuilder),
    Doubles(Vec<f64>, NullBufferBuilder),
    /// Arrow offsets and items. A null list is a list of one null, as in pages.
    List(Vec<i32>, Box<ColumnBuilder<'a>>),
    Map(Vec<i32>, Box<[ColumnBuilder<'a>; 2]>),
    Struct(usize, Vec<ColumnBuilder<'a>>),
}

impl<'a> ColumnBuilder<'a> {
    /// A builder of surrogate keys.
    pub(super) fn keys(rows: usize) -> Self {
        ColumnBuilder::Keys(Vec::with_capacity(rows))
    }

    /// A builder of a dimension.
    pub(super) fn dimension(column: &Column, rows: usize) -> Result<Self> {
        Ok(match (column.carbon_type, column.children.as_slice()) {
            (CarbonType::Array, [item]) => ColumnBuilder::List(vec![0], Box::new(ColumnBuilder::child(item, rows)?)),
            (CarbonType::Map, [key, value]) => {
                let entries = [ColumnBuilder::child(key, rows)?, ColumnBuilder::child(value, rows)?];
                ColumnBuilder::Map(vec![0], Box::new(entries))
            }
            (CarbonType::Struct, children) => {
                let children = children.iter().map(|child| ColumnBuilder::child(child, rows)).collect::<Result<_>>()?;
                ColumnBuilder::Struct(0, children)
            }
            (CarbonType::Array | CarbonType::Map, _) => return Err(Error::corrupt("a list of nothing")),
            _ => ColumnBuilder::Bytes(Vec::with_capacity(rows)),
        })
    }

    fn child(column: &Column, rows: usize) -> Result<Self> {
        if column.children.is_empty() && column.carbon_type != CarbonType::Date && column.has_global_dictionary() {
            return Err(Error::unsupported("a dictionary of a column within another, in a stream"));
        }
        ColumnBuilder::dimension(column, rows)
    }

    /// A builder of a measure.
    pub(super) fn measure(carbon_type: CarbonType, rows: usize) -> Self {
        match carbon_type {
            CarbonType::Double | CarbonType::Float => {
                ColumnBuilder::Doubles(Vec::with_capacity(rows), NullBufferBuilder::new(rows))
            }
            CarbonType::Decimal { .. } => ColumnBuilder::Bytes(Vec::with_capacity(rows)),
            _ => ColumnBuilder::Integers(Vec::with_capacity(rows), NullBufferBuilder::new(rows)),
        }
    }

    fn len(&self) -> usize {
        match self {
            ColumnBuilder::Bytes(all) => all.len(),
            ColumnBuilder::Keys(keys) => keys.len(),
            ColumnBuilder::Integers(all, _) => all.len(),
            ColumnBuilder::Doubles(all, _) => all.len(),
            ColumnBuilder::List(offsets, _) | ColumnBuilder::Map(offsets, _) => offsets.len() - 1,
            ColumnBuilder::Struct(rows, _) => *rows,
        }
    }

    pub(super) fn push_null(&mut self) -> Result<()> {
        match self {
            ColumnBuilder::Bytes(all) => all.push(NULL_TEXT),
            ColumnBuilder::Keys(keys) => keys.push(page::NULL_KEY),
            ColumnBuilder::Integers(all, nulls) => {
                all.push(0);
                nulls.append_null();
            }
            ColumnBuilder::Doubles(all, nulls) => {
                all.push(0.0);
                nulls.append_null();
            }
            ColumnBuilder::List(offsets, items) => {
                items.push_null()?;
                push_offset(offsets, items)?;
            }
            ColumnBuilder::Map(offsets, entries) => {
                entries.iter_mut().try_for_each(ColumnBuilder::push_null)?;
                let [keys, _] = &**entries;
                push_offset(offsets, keys)?;
            }
            ColumnBuilder::Struct(rows, children) => {
                *rows += 1;
                children.iter_mut().try_for_each(ColumnBuilder::push_null)?;
            }
        }
        Ok(())
    }

    pub(super) fn push_key(&mut self, key: u32) {
        if let ColumnBuilder::Keys(keys) = self {
            keys.push(key);
        }
    }

    pub(super) fn push_bytes(&mut self, bytes: &'a [u8]) {
        if let ColumnBuilder::Bytes(all) = self {
            all.push(bytes);
        }
    }

    /// Reads the value of a measure.
    pub(super) fn push_measure(&mut self, carbon_type: CarbonType, bytes: &mut ByteReader<'a>) -> Result<()> {
        match self {
            ColumnBuilder::Doubles(all, nulls) => {
                all.push(bytes.f64()?);
                nulls.append_non_null();
            }
            ColumnBuilder::Integers(all, nulls) => {
                all.push(match carbon_type {
                    CarbonType::Boolean => bytes.u8()?.into(),
                    CarbonType::Short => bytes.i16()?.into(),
                    CarbonType::Int => bytes.i32()?.into(),
                    _ => bytes.i64()?,
                });
                nulls.append_non_null();
            }
            others => others.push_bytes(bytes.short()?),
        }
        Ok(())
    }

    /// Reads the value of a complex column or of its child.
    pub(super) fn push_nested(
        &mut self,
        bytes: &mut ByteReader<'a>,
        column: &Column,
        length_format: LengthFormat,
    ) -> Result<()> {
        match self {
            ColumnBuilder::List(offsets, items) => {
                let Some(count) = lengths::count(bytes)? else { return self.push_null() };
                for _ in 0..count {
                    for item in &column.children {
                        items.push_nested(bytes, item, length_format)?;
                    }
                }
                push_offset(offsets, items)
            }
            ColumnBuilder::Map(offsets, entries) => {
                let Some(count) = lengths::count(bytes)? else { return self.push_null() };
                for _ in 0..count {
                    lengths::check_children(bytes, 2)?;
                    for (values, child) in entries.iter_mut().zip(&column.children) {
                        values.push_nested(bytes, child, length_format)?;
                    }
                }
                let [keys, _] = &**entries;
                push_offset(offsets, keys)
            }
            ColumnBuilder::Struct(rows, children) => {
                lengths::check_children(bytes, children.len())?;
                *rows += 1;
                let mut children = children.iter_mut().zip(&column.children);
                children.try_for_each(|(values, child)| values.push_nested(bytes, child, length_format))
            }
            leaf => {
                leaf.push_bytes(length_format.value(bytes, column.carbon_type)?);
                Ok(())
            }
        }
    }

    /// The array of the column's type.
    pub(super) fn finish(self, column: &Column, dictionaries: Option<&Dictionaries>) -> Result<ArrayRef> {
        let carbon_type = column.data_type();
        Ok(match (self, &carbon_type) {
            (ColumnBuilder::Bytes(all), DataType::Utf8 | DataType::Binary) => {
                StringValues::of(&all)?.array(&carbon_type)?
            }
            (ColumnBuilder::Bytes(all), _) => page::no_dictionary_array(column, &all)?,
            (ColumnBuilder::Keys(keys), _) => page::decode_keys(column, &keys, dictionaries)?,
            (ColumnBuilder::Integers(all, mut nulls), _) => page::integers(column, all, nulls.finish())?,
            (ColumnBuilder::Doubles(all, mut nulls), _) => page::doubles(column, all, nulls.finish())?,
            (ColumnBuilder::List(offsets, items), _) => {
                let item = column.children.first().ok_or_else(|| Error::corrupt("an array of nothing"))?;
                page::lists(column, &ListOffsets::in_order(offsets), &items.finish(item, None)?)?
            }
            (ColumnBuilder::Map(offsets, entries), _) => {
                let entries = finish_all((*entries).into(), column)?;
                let count = entries.first().map_or(0, |keys| keys.len());
                page::maps(column, &ListOffsets::in_order(offsets), entries, count)?
            }
            (ColumnBuilder::Struct(rows, children), _) => page::structs(column, finish_all(children, column)?, rows)?,
        })
    }
}

fn push_offset(offsets: &mut Vec<i32>, items: &ColumnBuilder<'_>) -> Result<()> {
    offsets.push(i32::try_from(items.len()).map_err(|_| Error::limit("more than 2³¹ items of lists"))?);
    Ok(())
}

fn finish_all(children: Vec<ColumnBuilder<'_>>, column: &Column) -> Result<Vec<ArrayRef>> {
    let children = children.into_iter().zip(&column.children).map(|(values, child)| {
        values.finish(child, None).map_err(|error| error.in_column(&format!("{}.{}", column.name, child.name)))
    });
    children.collect()
}
