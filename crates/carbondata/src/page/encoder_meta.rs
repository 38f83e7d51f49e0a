//! What a page of numbers says of itself: `ColumnPageEncoderMeta`.

use orcish_core::{Error, Result};

use crate::bytes::{Bytes, big_integer};
use crate::compress::Compressor;

/// How the elements of a page are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Store {
    Byte,
    Short,
    /// Three bytes, the highest first; all others begin with the lowest.
    ShortInt,
    Int,
    Long,
    Float,
    Double,
    /// Whole numbers of a width that the digits give.
    Decimal,
    /// Values with a length before each.
    Bytes,
}

impl Store {
    /// The type of a number of `DataTypes`, which is not that of the thrift definitions.
    fn of(code: u8) -> Result<Self> {
        Ok(match code {
            3 | 14 => Store::Byte,
            4 => Store::Short,
            1 | 5 => Store::Int,
            2 | 7 | 17 => Store::Long,
            6 => Store::Float,
            8 => Store::Double,
            10 => Store::Decimal,
            0 | 11 | 12 | 13 | 15 | 18 | 19 => Store::Bytes,
            16 => Store::ShortInt,
            code => return Err(Error::unsupported(format!("pages of the type {code} are not known"))),
        })
    }
}

impl Store {
    /// Bytes of an element, where all have the same.
    pub(crate) fn width(self) -> Option<usize> {
        match self {
            Store::Byte => Some(1),
            Store::Short => Some(2),
            Store::ShortInt => Some(3),
            Store::Int | Store::Float => Some(4),
            Store::Long | Store::Double => Some(8),
            Store::Decimal | Store::Bytes => None,
        }
    }
}

/// The largest value of a page, by which others may be given.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Max {
    Integer(i64),
    Float(f32),
    Double(f64),
    /// Digits alone; the scale is that of the page.
    Decimal(i128),
    Nothing,
}

/// What kind of column a page belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// A struct with columns in it.
    Struct,
    /// An array or a map.
    List,
    /// Text whose length has four bytes.
    LongText,
    Other,
}

/// `ColumnPageEncoderMeta`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct PageMeta {
    pub(crate) role: Role,
    pub(crate) store: Store,
    /// Digits of a decimal behind the point, and all of them; negative where it is none.
    pub(crate) scale: i32,
    pub(crate) precision: i32,
    /// Digits behind the point that elements were multiplied by.
    pub(crate) decimal_count: i32,
    pub(crate) max: Max,
    pub(crate) compressor: Compressor,
    /// Rows, of pages in runs.
    pub(crate) page_size: Option<i32>,
}

impl PageMeta {
    pub(crate) fn read(bytes: &[u8]) -> Result<Self> {
        let mut bytes = Bytes::new(bytes);
        bytes.utf()?;
        let (schema, role) = (bytes.u8()?, bytes.u8()?);
        let (scale, precision) = (bytes.i32()?, bytes.i32()?);
        let store = Store::of(bytes.u8()?)?;
        let decimal_count = bytes.i32()?;
        bytes.u8()?;
        let max = match schema {
            3 | 14 => {
                let max = i64::from(bytes.u8()?.cast_signed());
                bytes.take(1 + 8)?;
                Max::Integer(max)
            }
            4 => {
                let max = bytes.i16()?.into();
                bytes.take(2 + 8)?;
                Max::Integer(max)
            }
            5 => {
                let max = bytes.i32()?.into();
                bytes.take(4 + 8)?;
                Max::Integer(max)
            }
            2 | 7 => {
                let max = bytes.i64()?;
                bytes.take(8 + 8)?;
                Max::Integer(max)
            }
            6 => {
                let max = bytes.f32()?;
                bytes.take(4 + 4)?;
                Max::Float(max)
            }
            8 => {
                let max = bytes.f64()?;
                bytes.take(8 + 8)?;
                Max::Double(max)
            }
            10 => {
                let max = bytes.short()?;
                bytes.short()?;
                bytes.short()?;
                // The scale is before the digits.
                let digits = max.split_first().map_or(Some(0), |(_, digits)| big_integer(digits));
                bytes.take(4 + 4)?;
                Max::Decimal(digits.ok_or_else(|| Error::corrupt("the largest decimal has more than 128 bits"))?)
            }
            _ => Max::Nothing,
        };
        let compressor = if bytes.is_empty() { Compressor::Snappy } else { Compressor::named(Some(&bytes.utf()?))? };
        let role = match role {
            5 => Role::Struct,
            6 => Role::List,
            8 => Role::LongText,
            _ => Role::Other,
        };
        let page_size = if bytes.is_empty() { None } else { bytes.i32().ok() };
        Ok(PageMeta { role, store, scale, precision, decimal_count, max, compressor, page_size })
    }
}
