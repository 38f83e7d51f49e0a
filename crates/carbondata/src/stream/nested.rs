//! Values within a value of a row.
//!
//! ```text
//! array  count │ items          map  count │ (2 │ key │ value) …
//! struct number of children │ children       others  length │ bytes
//! ```

use orcish::{Error, Result};

use crate::bytes::Bytes;
use crate::metadata::schema::{Column, Kind};
use crate::page::texts::NULL;

/// How long lengths of values within others are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lengths {
    /// Four bytes, but two for numbers and times: since 2.0.
    Int,
    /// Two bytes.
    Short,
}

impl Lengths {
    pub(super) fn other(self) -> Self {
        match self {
            Lengths::Int => Lengths::Short,
            Lengths::Short => Lengths::Int,
        }
    }

    /// A value that has no others in it.
    pub(super) fn value<'a>(self, bytes: &mut Bytes<'a>, kind: Kind) -> Result<&'a [u8]> {
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

/// The items of a list or a map; none for null, which is written as one item that is null.
pub(super) fn count(bytes: &mut Bytes<'_>, column: &Column, lengths: Lengths) -> Result<Option<usize>> {
    let mut ahead = *bytes;
    let count = ahead.i32()?;
    if count == 1 || count == -1 {
        let mut ahead = *bytes;
        if pass(&mut ahead, column, lengths)? {
            *bytes = ahead;
            return Ok(None);
        }
    }
    bytes.length().map(Some)
}

/// The number that is before the children of a struct.
pub(super) fn check_children(bytes: &mut Bytes<'_>, wanted: usize) -> Result<()> {
    let found = bytes.i16()?;
    if usize::try_from(found).ok() != Some(wanted) {
        return Err(Error::corrupt(format!("a struct of {found} values in place of {wanted}")));
    }
    Ok(())
}

/// Whether a value that has no others in it is null.
pub(super) fn is_null(kind: Kind, value: &[u8]) -> bool {
    let has_marker = matches!(kind, Kind::String | Kind::Varchar | Kind::Binary);
    value == NULL || (value.is_empty() && !has_marker)
}

/// Passes over a value: whether it is null.
fn pass(bytes: &mut Bytes<'_>, column: &Column, lengths: Lengths) -> Result<bool> {
    match column.kind {
        Kind::Array | Kind::Map => {
            let count = bytes.i32()?;
            let mut is_null = true;
            for _ in 0..count {
                if column.kind == Kind::Map {
                    check_children(bytes, 2)?;
                }
                is_null &= pass_children(bytes, column, lengths)?;
            }
            Ok(count == -1 || count == 1 && is_null)
        }
        Kind::Struct => {
            check_children(bytes, column.children.len())?;
            pass_children(bytes, column, lengths)
        }
        kind => lengths.value(bytes, kind).map(|value| is_null(kind, value)),
    }
}

fn pass_children(bytes: &mut Bytes<'_>, column: &Column, lengths: Lengths) -> Result<bool> {
    let mut is_null = true;
    for child in &column.children {
        is_null &= pass(bytes, child, lengths)?;
    }
    Ok(is_null)
}
