//! Rows of a blocklet: a bitmap of nulls, followed by the other values.

use arrow_array::ArrayRef;
use orcish_core::{Error, Limits, OrInternal as _, Result};

use super::column_builder::ColumnBuilder;
use super::lengths::LengthFormat;
use crate::bytes::ByteReader;
use crate::metadata::format::Encoding;
use crate::metadata::schema::{CarbonType, Column};
use crate::page::Dictionaries;

/// Memory of a value, of which a null takes one bit in the file.
const VALUE_MEMORY: usize = 16;

/// Encoding of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FieldEncoding {
    /// Four bytes.
    Key,
    /// A length of two bytes and the value.
    Short,
    /// A length of four bytes and the value.
    Long,
    /// A length of two bytes and a complex value.
    Nested,
    Measure(CarbonType),
}

/// A field of rows.
#[derive(Debug)]
pub(super) struct Field {
    encoding: FieldEncoding,
    /// Index of the column in the file.
    pub(super) column: usize,
}

/// The fields of rows in stored order: dimensions, complex columns, measures.
pub(super) fn fields(columns: &[Column]) -> Vec<Field> {
    let encoding = |column: &Column| match column.carbon_type {
        CarbonType::Array | CarbonType::Map | CarbonType::Struct => FieldEncoding::Nested,
        carbon_type if !column.is_dimension => FieldEncoding::Measure(carbon_type),
        CarbonType::Date => FieldEncoding::Key,
        _ if column.encoders.contains(&Encoding::Dictionary) => FieldEncoding::Key,
        CarbonType::Varchar => FieldEncoding::Long,
        _ => FieldEncoding::Short,
    };
    let fields = columns.iter().enumerate().map(|(at, column)| Field { encoding: encoding(column), column: at });
    let mut fields: Vec<Field> = fields.collect();
    fields.sort_by_key(|field| match field.encoding {
        FieldEncoding::Key | FieldEncoding::Short | FieldEncoding::Long => 0,
        FieldEncoding::Nested => 1,
        FieldEncoding::Measure(_) => 2,
    });
    fields
}

impl Field {
    /// Whether min/max indexes have bounds of the field.
    pub(super) fn has_bounds(&self) -> bool {
        self.encoding != FieldEncoding::Nested
    }

    /// Skips a value.
    fn skip(&self, bytes: &mut ByteReader<'_>) -> Result<()> {
        let width = match self.encoding {
            FieldEncoding::Short | FieldEncoding::Measure(CarbonType::Decimal { .. }) => {
                return bytes.short().map(drop);
            }
            FieldEncoding::Nested => usize::from(bytes.u16()?),
            FieldEncoding::Long => bytes.length()?,
            FieldEncoding::Measure(CarbonType::Boolean) => 1,
            FieldEncoding::Measure(CarbonType::Short) => 2,
            FieldEncoding::Key | FieldEncoding::Measure(CarbonType::Int) => 4,
            FieldEncoding::Measure(CarbonType::Long | CarbonType::Double) => 8,
            FieldEncoding::Measure(carbon_type) => return Err(not_in_streams(carbon_type)),
        };
        bytes.take(width).map(drop)
    }

    fn values(&self, column: &Column, rows: usize) -> Result<ColumnBuilder<'static>> {
        match self.encoding {
            FieldEncoding::Key => Ok(ColumnBuilder::keys(rows)),
            FieldEncoding::Short | FieldEncoding::Long | FieldEncoding::Nested => {
                ColumnBuilder::dimension(column, rows)
            }
            FieldEncoding::Measure(
                carbon_type @ (CarbonType::Boolean
                | CarbonType::Short
                | CarbonType::Int
                | CarbonType::Long
                | CarbonType::Double
                | CarbonType::Decimal { .. }),
            ) => Ok(ColumnBuilder::measure(carbon_type, rows)),
            FieldEncoding::Measure(carbon_type) => Err(not_in_streams(carbon_type)),
        }
    }
}

fn not_in_streams(carbon_type: CarbonType) -> Error {
    Error::unsupported(format!("measures of type {carbon_type:?}, which streams do not have"))
}

/// Decodes a projected column.
struct ColumnDecoder<'a, 'b> {
    column: &'a Column,
    values: ColumnBuilder<'b>,
    /// Width of the lengths of the last value. Files do not record it.
    length_format: LengthFormat,
}

impl<'b> ColumnDecoder<'_, 'b> {
    fn push(&mut self, encoding: FieldEncoding, bytes: &mut ByteReader<'b>) -> Result<()> {
        match encoding {
            FieldEncoding::Key => self.values.push_key(bytes.i32()?.cast_unsigned()),
            FieldEncoding::Short => self.values.push_bytes(bytes.short()?),
            FieldEncoding::Long => {
                let length = bytes.length()?;
                self.values.push_bytes(bytes.take(length)?);
            }
            FieldEncoding::Nested => {
                let length = bytes.u16()?;
                self.push_nested(bytes.take(length.into())?)?;
            }
            FieldEncoding::Measure(carbon_type) => self.values.push_measure(carbon_type, bytes)?,
        }
        Ok(())
    }

    fn push_nested(&mut self, bytes: &'b [u8]) -> Result<()> {
        let length_format = [self.length_format, self.length_format.other()]
            .into_iter()
            .find(|length_format| length_format.fit(bytes, self.column));
        self.length_format =
            length_format.ok_or_else(|| Error::corrupt(format!("{} bytes that are no value", bytes.len())))?;
        self.values.push_nested(&mut ByteReader::new(bytes), self.column, self.length_format)
    }
}

/// Decodes the columns `projection` of all rows.
pub(super) fn decode(
    bytes: &[u8],
    rows: usize,
    columns: &[Column],
    projection: &[usize],
    dictionaries: Option<&Dictionaries>,
    limits: &Limits,
) -> Result<Vec<ArrayRef>> {
    check_size(bytes, rows, projection, limits)?;
    let fields = fields(columns);
    let mut decoders = Vec::with_capacity(projection.len());
    // The index of each field in the projection.
    let mut indexes = vec![None; fields.len()];
    for (index, &at) in projection.iter().enumerate() {
        let column = columns.get(at).ok_or_else(|| Error::invalid("no such column"))?;
        let next_use = fields.iter().zip(&mut indexes).find(|(field, _)| field.column == at);
        let (field, slot) =
            next_use.filter(|(_, slot)| slot.is_none()).ok_or_else(|| Error::invalid("a column twice"))?;
        *slot = Some(index);
        let values = field.values(column, rows).map_err(|error| error.in_column(&column.name))?;
        decoders.push(ColumnDecoder { column, values, length_format: LengthFormat::Int });
    }
    let mut bytes = ByteReader::new(bytes);
    for row in 0..rows {
        let nulls = bytes.short()?;
        for (at, (field, index)) in fields.iter().zip(&indexes).enumerate() {
            let is_null = nulls.get(at / 8).is_some_and(|byte| byte >> (at % 8) & 1 == 1);
            let decoder = match index {
                Some(index) => Some(decoders.get_mut(*index).or_internal("a column of a stream has no decoder")?),
                None => None,
            };
            let done = match decoder {
                Some(decoder) if is_null => decoder.values.push_null(),
                Some(decoder) => decoder.push(field.encoding, &mut bytes),
                None if is_null => Ok(()),
                None => field.skip(&mut bytes),
            };
            done.map_err(|error| {
                let error = error.at_row(u64::try_from(row).unwrap_or(u64::MAX));
                columns.get(field.column).map_or(error.clone(), |column| error.in_column(&column.name))
            })?;
        }
    }
    if !bytes.is_empty() {
        return Err(Error::corrupt(format!("{} bytes behind the last row", bytes.rest().len())));
    }
    let arrays = decoders.into_iter().map(|decoder| {
        let array = decoder.values.finish(decoder.column, dictionaries);
        array.map_err(|error| error.in_column(&decoder.column.name))
    });
    arrays.collect()
}

/// A row takes at least two bytes, and a null value one bit.
fn check_size(bytes: &[u8], rows: usize, projection: &[usize], limits: &Limits) -> Result<()> {
    if rows > bytes.len() / 2 {
        return Err(Error::corrupt(format!("{rows} rows in {} bytes", bytes.len())));
    }
    let size = rows.saturating_mul(projection.len()).saturating_mul(VALUE_MEMORY);
    if u64::try_from(size).is_ok_and(|size| size > limits.memory) {
        return Err(Error::limit(format!("{rows} rows of {} columns", projection.len())));
    }
    Ok(())
}
