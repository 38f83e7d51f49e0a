//! Values of rows, gathered into a column.

use std::sync::Arc;

use arrow_array::builder::{
    ArrayBuilder as _, BinaryBuilder, BooleanBuilder, Date32Builder, PrimitiveBuilder, StringBuilder,
    TimestampMicrosecondBuilder,
};
use arrow_array::types::{
    ArrowPrimitiveType, Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
};
use arrow_array::{ArrayRef, ListArray, MapArray, StructArray};
use arrow_buffer::{NullBufferBuilder, OffsetBuffer};
use arrow_schema::{DataType, Fields};
use orcish::{Error, ErrorKind, Result};

use crate::bytes::Bytes;
use crate::metadata::schema::{Column, Kind};
use crate::page::texts::NULL_TEXT;
use crate::page::{Dictionaries, arrays, decimals};

/// A column that grows by a value for each row.
pub(super) enum Values {
    Boolean(BooleanBuilder),
    Byte(PrimitiveBuilder<Int8Type>),
    Short(PrimitiveBuilder<Int16Type>),
    Int(PrimitiveBuilder<Int32Type>),
    Long(PrimitiveBuilder<Int64Type>),
    Float(PrimitiveBuilder<Float32Type>),
    Double(PrimitiveBuilder<Float64Type>),
    Decimal(PrimitiveBuilder<Decimal128Type>, i8),
    Text(StringBuilder),
    Binary(BinaryBuilder),
    Date(Date32Builder),
    /// Microseconds.
    Time(TimestampMicrosecondBuilder),
    /// Keys of a dictionary that all files of the table share, and its values.
    Keys(Vec<u32>, ArrayRef),
    /// Keys of times, in files of 1.x.
    TimeKeys(Vec<u32>),
    List(Lists, Box<Values>),
    Map(Lists, Box<[Values; 2]>),
    Struct(NullBufferBuilder, Vec<Values>),
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

/// A number whose sign bit is flipped, so that its bytes are in the order of numbers.
fn flipped<const N: usize>(bytes: &[u8]) -> Result<[u8; N]> {
    let mut number: [u8; N] = bytes
        .try_into()
        .map_err(|_| Error::corrupt(format!("a number of {} bytes in place of {N}", bytes.len())))?;
    if let Some(first) = number.first_mut() {
        *first ^= 0x80;
    }
    Ok(number)
}

impl Values {
    /// Of a column, for `rows` values.
    pub(super) fn new(column: &Column, rows: usize, dictionaries: Option<&Dictionaries>) -> Result<Self> {
        if column.has_global_dictionary() && column.kind != Kind::Date && column.children.is_empty() {
            let dictionaries = dictionaries.ok_or_else(|| Error::unsupported("a column whose dictionary is not there"))?;
            return Ok(Values::Keys(Vec::with_capacity(rows), dictionaries(column)?));
        }
        let child = |child: &Column| Values::nested(child, rows);
        Ok(match column.kind {
            Kind::Boolean => Values::Boolean(BooleanBuilder::with_capacity(rows)),
            Kind::Byte => Values::Byte(PrimitiveBuilder::with_capacity(rows)),
            Kind::Short => Values::Short(PrimitiveBuilder::with_capacity(rows)),
            Kind::Int => Values::Int(PrimitiveBuilder::with_capacity(rows)),
            Kind::Long => Values::Long(PrimitiveBuilder::with_capacity(rows)),
            Kind::Float => Values::Float(PrimitiveBuilder::with_capacity(rows)),
            Kind::Double => Values::Double(PrimitiveBuilder::with_capacity(rows)),
            Kind::Decimal { scale, .. } => {
                let values = PrimitiveBuilder::with_capacity(rows).with_data_type(column.data_type());
                Values::Decimal(values, scale)
            }
            Kind::String | Kind::Varchar => Values::Text(StringBuilder::with_capacity(rows, 0)),
            Kind::Binary => Values::Binary(BinaryBuilder::with_capacity(rows, 0)),
            Kind::Date => Values::Date(Date32Builder::with_capacity(rows)),
            Kind::Timestamp if column.encoders.contains(&crate::metadata::format::Encoding::Dictionary) => {
                Values::TimeKeys(Vec::with_capacity(rows))
            }
            Kind::Timestamp => {
                let values = TimestampMicrosecondBuilder::with_capacity(rows).with_data_type(column.data_type());
                Values::Time(values)
            }
            Kind::Array => match column.children.as_slice() {
                [item] => Values::List(Lists::new(rows), Box::new(child(item)?)),
                _ => return Err(Error::corrupt("an array of nothing")),
            },
            Kind::Map => match column.children.as_slice() {
                [key, value] => Values::Map(Lists::new(rows), Box::new([child(key)?, child(value)?])),
                _ => return Err(Error::corrupt("a map without keys or values")),
            },
            Kind::Struct => {
                let children = column.children.iter().map(child).collect::<Result<_>>()?;
                Values::Struct(NullBufferBuilder::new(rows), children)
            }
        })
    }

    /// Of a column within another: its values are never keys of dictionaries.
    fn nested(column: &Column, rows: usize) -> Result<Self> {
        if column.has_global_dictionary() && column.kind != Kind::Date && column.children.is_empty() {
            return Err(Error::unsupported("a dictionary of a column within another").in_column(&column.name));
        }
        let plain = Column { encoders: Vec::new(), ..column.clone() };
        Values::new(&plain, rows, None)
    }

    fn len(&self) -> usize {
        match self {
            Values::Boolean(values) => values.len(),
            Values::Byte(values) => values.len(),
            Values::Short(values) => values.len(),
            Values::Int(values) => values.len(),
            Values::Long(values) => values.len(),
            Values::Float(values) => values.len(),
            Values::Double(values) => values.len(),
            Values::Decimal(values, _) => values.len(),
            Values::Text(values) => values.len(),
            Values::Binary(values) => values.len(),
            Values::Date(values) => values.len(),
            Values::Time(values) => values.len(),
            Values::Keys(keys, _) | Values::TimeKeys(keys) => keys.len(),
            Values::List(lists, _) | Values::Map(lists, _) => lists.ends.len() - 1,
            Values::Struct(nulls, _) => nulls.len(),
        }
    }

    pub(super) fn push_null(&mut self) -> Result<()> {
        match self {
            Values::Boolean(values) => values.append_null(),
            Values::Byte(values) => values.append_null(),
            Values::Short(values) => values.append_null(),
            Values::Int(values) => values.append_null(),
            Values::Long(values) => values.append_null(),
            Values::Float(values) => values.append_null(),
            Values::Double(values) => values.append_null(),
            Values::Decimal(values, _) => values.append_null(),
            Values::Text(values) => values.append_null(),
            Values::Binary(values) => values.append_null(),
            Values::Date(values) => values.append_null(),
            Values::Time(values) => values.append_null(),
            Values::Keys(keys, _) | Values::TimeKeys(keys) => keys.push(1),
            Values::List(lists, items) => lists.push(items.len(), true)?,
            Values::Map(lists, entries) => lists.push(entries[0].len(), true)?,
            Values::Struct(nulls, children) => {
                nulls.append_null();
                children.iter_mut().try_for_each(Values::push_null)?;
            }
        }
        Ok(())
    }

    /// A key of four bytes; those of dates count days.
    pub(super) fn push_key(&mut self, key: u32) -> Result<()> {
        match self {
            Values::Keys(keys, _) | Values::TimeKeys(keys) => keys.push(key),
            Values::Date(values) => values.append_option(arrays::day(key)),
            _ => return Err(Error::corrupt("a key in a column without a dictionary")),
        }
        Ok(())
    }

    /// The value of a dimension, or of a column within another: whether it is null.
    pub(super) fn push_bytes(&mut self, bytes: &[u8]) -> Result<bool> {
        let is_text = matches!(self, Values::Text(_) | Values::Binary(_));
        if if is_text { is_null_text(self, bytes) } else { bytes.is_empty() } {
            self.push_null()?;
            return Ok(true);
        }
        match self {
            Values::Boolean(values) => values.append_value(bytes != [0]),
            Values::Byte(values) => match bytes {
                [byte] => values.append_value(byte.cast_signed()),
                _ => return Err(Error::corrupt(format!("a number of {} bytes in place of 1", bytes.len()))),
            },
            Values::Short(values) => values.append_value(i16::from_be_bytes(flipped(bytes)?)),
            Values::Int(values) => values.append_value(i32::from_be_bytes(flipped(bytes)?)),
            Values::Long(values) => values.append_value(i64::from_be_bytes(flipped(bytes)?)),
            Values::Float(values) => values.append_value(f32::from_be_bytes(flipped(bytes)?)),
            Values::Double(values) => values.append_value(f64::from_be_bytes(flipped(bytes)?)),
            Values::Decimal(values, scale) => values.append_value(decimals::with_scale(bytes, *scale)?),
            Values::Text(values) => values.append_value(text(bytes)?),
            Values::Binary(values) => values.append_value(bytes),
            Values::Date(values) => {
                let day = arrays::day(u32::from_be_bytes(flipped(bytes)?));
                values.append_option(day);
                return Ok(day.is_none());
            }
            Values::Time(values) => {
                values.append_value(arrays::micros(i64::from_be_bytes(flipped(bytes)?))?);
            }
            _ => return Err(Error::corrupt("bytes in a column of keys or of others")),
        }
        Ok(false)
    }

    /// The value of a measure.
    pub(super) fn push_measure(&mut self, bytes: &mut Bytes<'_>) -> Result<()> {
        match self {
            Values::Boolean(values) => values.append_value(bytes.u8()? != 0),
            Values::Short(values) => values.append_value(bytes.i16()?),
            Values::Int(values) => values.append_value(bytes.i32()?),
            Values::Long(values) => values.append_value(bytes.i64()?),
            Values::Double(values) => values.append_value(bytes.f64()?),
            Values::Decimal(values, scale) => values.append_value(decimals::with_scale(bytes.short()?, *scale)?),
            _ => return Err(Error::unsupported("a measure of a type that streams do not have")),
        }
        Ok(())
    }

    /// The value of a column that has others in it, or is in one: whether it is null.
    pub(super) fn push_nested(&mut self, bytes: &mut Bytes<'_>, column: &Column, lengths: Lengths) -> Result<bool> {
        match self {
            Values::List(lists, items) => {
                let item = column.children.first().ok_or_else(|| Error::corrupt("an array of nothing"))?;
                let Some(count) = list(bytes, column, lengths)? else {
                    lists.push(items.len(), true)?;
                    return Ok(true);
                };
                for _ in 0..count {
                    items.push_nested(bytes, item, lengths)?;
                }
                lists.push(items.len(), false)?;
                Ok(false)
            }
            Values::Map(lists, entries) => {
                let Some(count) = list(bytes, column, lengths)? else {
                    lists.push(entries[0].len(), true)?;
                    return Ok(true);
                };
                for _ in 0..count {
                    entry(bytes)?;
                    for (at, (values, child)) in entries.iter_mut().zip(&column.children).enumerate() {
                        if values.push_nested(bytes, child, lengths)? && at == 0 {
                            return Err(Error::new(ErrorKind::NullMapKey, "a map with a null key"));
                        }
                    }
                }
                lists.push(entries[0].len(), false)?;
                Ok(false)
            }
            Values::Struct(nulls, children) => {
                children_of(bytes, column)?;
                let mut is_null = true;
                for (values, child) in children.iter_mut().zip(&column.children) {
                    is_null &= values.push_nested(bytes, child, lengths)?;
                }
                nulls.append(!is_null);
                Ok(is_null)
            }
            _ => {
                let bytes = lengths.value(bytes, column.kind)?;
                self.push_bytes(bytes)
            }
        }
    }

    /// All values as an array of the column's type.
    pub(super) fn finish(self, column: &Column) -> Result<ArrayRef> {
        let misfit = |error: arrow_schema::ArrowError| Error::corrupt(error.to_string());
        Ok(match (self, column.data_type()) {
            (Values::Boolean(mut values), _) => Arc::new(values.finish()),
            (Values::Byte(values), _) => numbers(values),
            (Values::Short(values), _) => numbers(values),
            (Values::Int(values), _) => numbers(values),
            (Values::Long(values), _) => numbers(values),
            (Values::Float(values), _) => numbers(values),
            (Values::Double(values), _) => numbers(values),
            (Values::Decimal(values, _), _) => numbers(values),
            (Values::Text(mut values), _) => Arc::new(values.finish()),
            (Values::Binary(mut values), _) => Arc::new(values.finish()),
            (Values::Date(values), _) => numbers(values),
            (Values::Time(values), _) => numbers(values),
            (Values::Keys(keys, values), _) => arrays::take_keys(&values, &keys)?,
            (Values::TimeKeys(keys), _) => arrays::times(&keys)?,
            (Values::List(mut lists, items), DataType::List(field)) => {
                let item = column.children.first().ok_or_else(|| Error::corrupt("an array of nothing"))?;
                let items = items.finish(item)?;
                let ends = OffsetBuffer::new(lists.ends.into());
                Arc::new(ListArray::try_new(field, ends, items, lists.nulls.finish()).map_err(misfit)?)
            }
            (Values::Map(mut lists, entries), DataType::Map(field, is_sorted)) => {
                let DataType::Struct(fields) = field.data_type() else {
                    return Err(Error::corrupt("a map of no entries"));
                };
                let rows = entries[0].len();
                let entries = structs(fields.clone(), (*entries).into(), column, rows, None)?;
                let ends = OffsetBuffer::new(lists.ends.into());
                Arc::new(MapArray::try_new(field, ends, entries, lists.nulls.finish(), is_sorted).map_err(misfit)?)
            }
            (Values::Struct(mut nulls, children), DataType::Struct(fields)) => {
                let rows = nulls.len();
                Arc::new(structs(fields, children, column, rows, nulls.finish())?)
            }
            _ => return Err(Error::corrupt("values of another type")),
        })
    }
}

fn numbers<T: ArrowPrimitiveType>(mut values: PrimitiveBuilder<T>) -> ArrayRef {
    Arc::new(values.finish())
}

fn structs(
    fields: Fields,
    children: Vec<Values>,
    column: &Column,
    rows: usize,
    nulls: Option<arrow_buffer::NullBuffer>,
) -> Result<StructArray> {
    let children = children.into_iter().zip(&column.children).map(|(values, child)| values.finish(child));
    let children = children.collect::<Result<Vec<ArrayRef>>>()?;
    StructArray::try_new_with_length(fields, children, nulls, rows).map_err(|error| Error::corrupt(error.to_string()))
}

fn text(bytes: &[u8]) -> Result<&str> {
    std::str::from_utf8(bytes).map_err(|error| Error::corrupt(format!("text that is not UTF-8: {error}")))
}

/// Texts mark null by a text of their own; binary values cannot.
fn is_null_text(values: &Values, bytes: &[u8]) -> bool {
    matches!(values, Values::Text(_)) && bytes == NULL_TEXT
}

/// How long lengths of values within others are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lengths {
    /// Four bytes, but two for numbers: since 2.0.
    Int,
    /// Two bytes.
    Short,
}

impl Lengths {
    fn value<'a>(self, bytes: &mut Bytes<'a>, kind: Kind) -> Result<&'a [u8]> {
        use Kind::{Binary, Date, Decimal, String, Varchar};
        match (self, kind) {
            (Lengths::Int, String | Varchar | Binary | Date | Decimal { .. }) => {
                let length = bytes.length()?;
                bytes.take(length)
            }
            _ => bytes.short(),
        }
    }

    /// Whether a value has lengths like these: then it ends where the last of them says.
    pub(super) fn fit(self, bytes: &[u8], column: &Column) -> bool {
        let mut bytes = Bytes::new(bytes);
        pass(&mut bytes, column, self).is_ok() && bytes.is_empty()
    }
}

/// The count of a list or a map, none for null, which is written as a list of one null.
fn list(bytes: &mut Bytes<'_>, column: &Column, lengths: Lengths) -> Result<Option<usize>> {
    let mut ahead = *bytes;
    if pass(&mut ahead, column, lengths)? {
        *bytes = ahead;
        return Ok(None);
    }
    bytes.length().map(Some)
}

fn children_of(bytes: &mut Bytes<'_>, column: &Column) -> Result<()> {
    let (found, wanted) = (bytes.i16()?, column.children.len());
    if usize::try_from(found).ok() != Some(wanted) {
        return Err(Error::corrupt(format!("a struct of {found} values in place of {wanted}")));
    }
    Ok(())
}

/// The entry of a map is a struct of two.
fn entry(bytes: &mut Bytes<'_>) -> Result<()> {
    match bytes.i16()? {
        2 => Ok(()),
        found => Err(Error::corrupt(format!("an entry of a map with {found} values"))),
    }
}

/// Passes over a value: whether it is null.
fn pass(bytes: &mut Bytes<'_>, column: &Column, lengths: Lengths) -> Result<bool> {
    match column.kind {
        Kind::Array | Kind::Map => {
            let count = bytes.i32()?;
            if count == -1 {
                return Ok(true);
            }
            let count = usize::try_from(count).map_err(|_| Error::corrupt(format!("a list of {count} items")))?;
            let mut is_null = true;
            for _ in 0..count {
                if column.kind == Kind::Map {
                    entry(bytes)?;
                }
                for child in &column.children {
                    is_null &= pass(bytes, child, lengths)?;
                }
            }
            Ok(count == 1 && is_null)
        }
        Kind::Struct => {
            children_of(bytes, column)?;
            let mut is_null = true;
            for child in &column.children {
                is_null &= pass(bytes, child, lengths)?;
            }
            Ok(is_null)
        }
        kind => {
            let value = lengths.value(bytes, kind)?;
            Ok(match kind {
                Kind::String | Kind::Varchar => value == NULL_TEXT,
                Kind::Binary => false,
                _ => value.is_empty(),
            })
        }
    }
}
