//! Values within a value of a row.
//!
//! ```text
//! array  count │ items          map  count │ (2 │ key │ value) …
//! struct number of children │ children       others  length │ bytes
//! ```

use orcish_core::{Error, Result};

use crate::bytes::Bytes;
use crate::metadata::schema::{Column, Kind};

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

/// The items of a list or a map; none for null.
pub(super) fn count(bytes: &mut Bytes<'_>) -> Result<Option<usize>> {
    match bytes.i32()? {
        -1 => Ok(None),
        count => usize::try_from(count).map(Some).map_err(|_| Error::corrupt(format!("a list of {count} items"))),
    }
}

/// The number that is before the children of a struct.
pub(super) fn check_children(bytes: &mut Bytes<'_>, wanted: usize) -> Result<()> {
    let found = bytes.i16()?;
    if usize::try_from(found).ok() != Some(wanted) {
        return Err(Error::corrupt(format!("a struct of {found} values in place of {wanted}")));
    }
    Ok(())
}

/// Passes over a value.
fn pass(bytes: &mut Bytes<'_>, column: &Column, lengths: Lengths) -> Result<()> {
    match column.kind {
        Kind::Array | Kind::Map => {
            for _ in 0..count(bytes)?.unwrap_or(0) {
                if column.kind == Kind::Map {
                    check_children(bytes, 2)?;
                }
                pass_children(bytes, column, lengths)?;
            }
            Ok(())
        }
        Kind::Struct => {
            check_children(bytes, column.children.len())?;
            pass_children(bytes, column, lengths)
        }
        kind => lengths.value(bytes, kind).map(drop),
    }
}

fn pass_children(bytes: &mut Bytes<'_>, column: &Column, lengths: Lengths) -> Result<()> {
    column.children.iter().try_for_each(|child| pass(bytes, child, lengths))
}
