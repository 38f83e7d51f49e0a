//! What files that are merged have to have in common.

use std::fmt::{Display, Formatter};

use arrow_schema::DataType;
use bytes::Bytes;
use orcish_core::error::{Error, Result};
use orcish_core::types::values_of;

use crate::read::{ARROW_SCHEMA_KEY, StoredSchema};
use crate::schema::{Kind, Type};
use crate::tail::FileTail;

/// Whether the types and the form of a file are those of the first.
pub(super) fn check_alike(first: &str, a: &FileTail, b: &FileTail) -> Result<()> {
    let differs = |what: &str, own: String, of_first: String| {
        Err(Error::invalid(format!("{what} is {own}, where that of {first} is {of_first}: they cannot be merged")))
    };
    let text = |tail: &FileTail| tail.schema.type_string(0);
    if text(a)? != text(b)? {
        return differs("the type", text(b)?, text(a)?);
    }
    for (id, (own, of_first)) in (0u32..).zip(b.schema.types().iter().zip(a.schema.types())) {
        if meaning(own) != meaning(of_first) {
            let what = format!("the list of attributes of column {}", b.schema.path(id));
            return differs(&what, format!("{:?}", own.attributes), format!("{:?}", of_first.attributes));
        }
    }
    if a.compression != b.compression {
        return differs("the compression", b.compression.name().to_owned(), a.compression.name().to_owned());
    }
    if a.version != b.version {
        let version = |tail: &FileTail| tail.version.iter().map(u32::to_string).collect::<Vec<_>>().join(".");
        return differs("the version of the format", version(b), version(a));
    }
    if a.row_index_stride != b.row_index_stride {
        let stride = |tail: &FileTail| format!("{} rows", tail.row_index_stride);
        return differs("the stride of the row index", stride(b), stride(a));
    }
    if a.calendar != b.calendar {
        return differs("the calendar", format!("{:?}", b.calendar), format!("{:?}", a.calendar));
    }
    let writer = |tail: &FileTail| {
        format!("{} {} ({})", tail.writer, tail.software_version.as_deref().unwrap_or("of old"), tail.writer_version)
    };
    let is_other =
        (a.writer, a.writer_version, &a.software_version) != (b.writer, b.writer_version, &b.software_version);
    if is_other { differs("the writer", writer(b), writer(a)) } else { Ok(()) }
}

/// A type without what it need not say: C++ writes lengths and digits of all.
fn meaning(this: &Type) -> Type {
    let has_length = matches!(this.kind, Kind::Char | Kind::Varchar);
    let has_digits = this.kind == Kind::Decimal;
    Type {
        max_length: this.max_length.filter(|_| has_length),
        precision: this.precision.filter(|_| has_digits),
        scale: this.scale.filter(|_| has_digits),
        ..this.clone()
    }
}

/// What the values of a column are by the Arrow schema alone: without it, or with another, they would be other values.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Meaning {
    /// Numbers are of this type.
    Numbers(DataType),
    /// Timestamps with the zone of their writer are instants.
    Instants,
}

impl Display for Meaning {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        match self {
            Meaning::Numbers(kind) => kind.fmt(f),
            Meaning::Instants => f.write_str("instants"),
        }
    }
}

/// Whether values of the columns mean the same in another file.
pub(super) fn check_meanings(
    name: &str,
    first: &FileTail,
    of_first: &[Option<Meaning>],
    other: &FileTail,
) -> Result<()> {
    let text =
        |meaning: &Option<Meaning>| meaning.as_ref().map_or("no more than its type".to_owned(), Meaning::to_string);
    let is_same = arrow_schema_of(first) == arrow_schema_of(other);
    let meanings = meanings(other);
    for (id, (known, own)) in (0u32..).zip(of_first.iter().zip(&meanings)) {
        if known != own {
            let column = other.schema.path(id);
            return Err(Error::invalid(format!(
                "by the Arrow schema, column {column} is {}, where that of {name} is {}: they cannot be merged",
                text(own),
                text(known)
            )));
        }
    }
    if of_first.iter().any(Option::is_some) && !is_same {
        return Err(Error::invalid(format!(
            "the Arrow schema is another than that of {}, and without it there would be no {}: they cannot be merged",
            name,
            of_first.iter().flatten().next().map_or_else(String::new, Meaning::to_string)
        )));
    }
    Ok(())
}

/// Of each column what its values are by the Arrow schema alone. All other Arrow types are representations of the values
/// that the ORC type has.
pub(super) fn meanings(tail: &FileTail) -> Vec<Option<Meaning>> {
    use DataType as D;
    let schema = StoredSchema::of(tail);
    let of_column = |(id, this): (u32, &Type)| match values_of(schema.as_ref()?.data_type(&tail.schema, id)?) {
        kind @ (D::Duration(_) | D::Time32(_) | D::Time64(_) | D::Interval(_)) => Some(Meaning::Numbers(kind.clone())),
        D::Timestamp(_, Some(_)) if this.kind == Kind::Timestamp => Some(Meaning::Instants),
        _ => None,
    };
    (0u32..).zip(tail.schema.types()).map(of_column).collect()
}

pub(super) fn arrow_schema_of(tail: &FileTail) -> Option<&Bytes> {
    tail.metadata.iter().find(|(name, _)| name == ARROW_SCHEMA_KEY).map(|(_, value)| value)
}
