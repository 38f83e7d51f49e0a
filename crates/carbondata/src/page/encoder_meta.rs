//! `ColumnPageEncoderMeta`: how the values of a page are stored.

use orcish_core::{Error, Result};

use crate::bytes::{ByteReader, big_integer};
use crate::compress::Compressor;

/// The data type of the stored elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StoreDataType {
    Byte,
    Short,
    /// Three bytes, big-endian. The other types are little-endian.
    ShortInt,
    Int,
    Long,
    Float,
    Double,
    /// Fixed-width decimals. The width follows from the precision.
    Decimal,
    /// Length-prefixed values.
    Bytes,
}

impl StoreDataType {
    /// The type with an id of `DataTypes`, which differs from the Thrift enum.
    fn of(code: u8) -> Result<Self> {
        Ok(match code {
            3 | 14 => StoreDataType::Byte,
            4 => StoreDataType::Short,
            1 | 5 => StoreDataType::Int,
            2 | 7 | 17 => StoreDataType::Long,
            6 => StoreDataType::Float,
            8 => StoreDataType::Double,
            10 => StoreDataType::Decimal,
            0 | 11 | 12 | 13 | 15 | 18 | 19 => StoreDataType::Bytes,
            16 => StoreDataType::ShortInt,
            code => return Err(Error::unsupported(format!("pages of the type {code} are not known"))),
        })
    }
}

impl StoreDataType {
    /// Bytes of an element, for fixed-width types.
    pub(crate) fn width(self) -> Option<usize> {
        match self {
            StoreDataType::Byte => Some(1),
            StoreDataType::Short => Some(2),
            StoreDataType::ShortInt => Some(3),
            StoreDataType::Int | StoreDataType::Float => Some(4),
            StoreDataType::Long | StoreDataType::Double => Some(8),
            StoreDataType::Decimal | StoreDataType::Bytes => None,
        }
    }
}

/// The maximum of a page, which delta encodings refer to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum MaxValue {
    Integer(i64),
    Float(f32),
    Double(f64),
    /// Unscaled value, in the scale of the page.
    Decimal(i128),
    Nothing,
}

/// `ColumnType` of the column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ColumnType {
    /// `COMPLEX_STRUCT`
    ComplexStruct,
    /// `COMPLEX_ARRAY`, which maps have too.
    ComplexArray,
    /// `PLAIN_LONG_VALUE`: a string with a length of four bytes.
    PlainLongValue,
    Other,
}

/// `ColumnPageEncoderMeta`, the metadata of a page.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct EncoderMeta {
    pub(crate) column_type: ColumnType,
    pub(crate) store_data_type: StoreDataType,
    /// Scale and precision of decimals; negative for other types.
    pub(crate) scale: i32,
    pub(crate) precision: i32,
    /// Decimal places of the factor that elements were multiplied by.
    pub(crate) decimal_count: i32,
    pub(crate) max: MaxValue,
    pub(crate) compressor: Compressor,
    /// Number of rows, of pages with the encoding `RLE_INTEGRAL`.
    pub(crate) page_size: Option<i32>,
}

impl EncoderMeta {
    pub(crate) fn read(bytes: &[u8]) -> Result<Self> {
        let mut bytes = ByteReader::new(bytes);
        bytes.utf()?;
        let (schema, column_type) = (bytes.u8()?, bytes.u8()?);
        let (scale, precision) = (bytes.i32()?, bytes.i32()?);
        let store_data_type = StoreDataType::of(bytes.u8()?)?;
        let decimal_count = bytes.i32()?;
        bytes.u8()?;
        let max = match schema {
            3 | 14 => {
                let max = i64::from(bytes.u8()?.cast_signed());
                bytes.take(1 + 8)?;
                MaxValue::Integer(max)
            }
            4 => {
                let max = bytes.i16()?.into();
                bytes.take(2 + 8)?;
                MaxValue::Integer(max)
            }
            5 => {
                let max = bytes.i32()?.into();
                bytes.take(4 + 8)?;
                MaxValue::Integer(max)
            }
            2 | 7 => {
                let max = bytes.i64()?;
                bytes.take(8 + 8)?;
                MaxValue::Integer(max)
            }
            6 => {
                let max = bytes.f32()?;
                bytes.take(4 + 4)?;
                MaxValue::Float(max)
            }
            8 => {
                let max = bytes.f64()?;
                bytes.take(8 + 8)?;
                MaxValue::Double(max)
            }
            10 => {
                let max = bytes.short()?;
                bytes.short()?;
                bytes.short()?;
                // The first byte is the scale.
                let digits = max.split_first().map_or(Some(0), |(_, digits)| big_integer(digits));
                bytes.take(4 + 4)?;
                MaxValue::Decimal(digits.ok_or_else(|| Error::corrupt("the largest decimal has more than 128 bits"))?)
            }
            _ => MaxValue::Nothing,
        };
        let compressor = if bytes.is_empty() { Compressor::Snappy } else { Compressor::named(Some(&bytes.utf()?))? };
        let column_type = match column_type {
            5 => ColumnType::ComplexStruct,
            6 => ColumnType::ComplexArray,
            8 => ColumnType::PlainLongValue,
            _ => ColumnType::Other,
        };
        let page_size = if bytes.is_empty() { None } else { bytes.i32().ok() };
        Ok(EncoderMeta { column_type, store_data_type, scale, precision, decimal_count, max, compressor, page_size })
    }
}
