//! The lengths within complex values.
//!
//! ```text
//! array  count │ items          map  count │ (2 │ key │ value) …
//! struct number of children │ children       others  length │ bytes
//! ```

use orcish_core::{Error, Result};

use crate::bytes::ByteReader;
use crate::metadata::schema::{CarbonType, Column};

/// Width of the lengths of child values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LengthFormat {
    /// Four bytes, but two bytes for numbers and timestamps; since 2.0.
    Int,
    /// Two bytes.
    Short,
}

impl LengthFormat {
    pub(super) fn other(self) -> Self {
        match self {
            LengthFormat::Int => LengthFormat::Short,
            LengthFormat::Short => LengthFormat::Int,
        }
    }

    /// Reads a value of a primitive type.
    pub(super) fn value<'a>(self, bytes: &mut ByteReader<'a>, carbon_type: CarbonType) -> Result<&'a [u8]> {
        use CarbonType::{Binary, Date, Decimal, String, Varchar};
        match (self, carbon_type) {
            (LengthFormat::Int, String | Varchar | Binary | Date | Decimal { .. }) => {
                let length = bytes.length()?;
                bytes.take(length)
            }
            _ => bytes.short(),
        }
    }

    /// Whether the bytes are a value with lengths of this width.
    pub(super) fn fit(self, bytes: &[u8], column: &Column) -> bool {
        let mut bytes = ByteReader::new(bytes);
        skip(&mut bytes, column, self).is_ok() && bytes.is_empty()
    }
}

/// Reads the number of items of an array or a map; `None` for null.
pub(super) fn count(bytes: &mut ByteReader<'_>) -> Result<Option<usize>> {
    match bytes.i32()? {
        -1 => Ok(None),
        count => usize::try_from(count).map(Some).map_err(|_| Error::corrupt(format!("a list of {count} items"))),
    }
}

/// Reads and checks the number of children of a struct.
pub(super) fn check_children(bytes: &mut ByteReader<'_>, expected: usize) -> Result<()> {
    let count = bytes.i16()?;
    if usize::try_from(count).ok() != Some(expected) {
        return Err(Error::corrupt(format!("a struct of {count} values in place of {expected}")));
    }
    Ok(())
}

/// Skips a value.
fn skip(bytes: &mut ByteReader<'_>, column: &Column, length_format: LengthFormat) -> Result<()> {
    match column.carbon_type {
        CarbonType::Array | CarbonType::Map => {
            for _ in 0..count(bytes)?.unwrap_or(0) {
                if column.carbon_type == CarbonType::Map {
                    check_children(bytes, 2)?;
                }
                skip_children(bytes, column, length_format)?;
            }
            Ok(())
        }
        CarbonType::Struct => {
            check_children(bytes, column.children.len())?;
            skip_children(bytes, column, length_format)
        }
        carbon_type => length_format.value(bytes, carbon_type).map(drop),
    }
}

fn skip_children(bytes: &mut ByteReader<'_>, column: &Column, length_format: LengthFormat) -> Result<()> {
    column.children.iter().try_for_each(|child| skip(bytes, child, length_format))
}
