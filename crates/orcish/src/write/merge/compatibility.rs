//! Properties that merged files must have in common.

use std::fmt::{Display, Formatter};

use arrow_schema::{DataType, TimeUnit};
use bytes::Bytes;
use orcish_core::error::{Error, Result};
use orcish_core::types::value_type;

use crate::read::{ARROW_SCHEMA_KEY, StoredSchema};
use crate::schema::{Kind, Type};
use crate::tail::FileTail;

/// Checks that the types, the compression, the row index stride and the writer of a file are those of the first file.
///
/// # Errors
/// `InvalidArgument` with the first difference.
pub(super) fn check_tails(first_name: &str, first: &FileTail, other: &FileTail) -> Result<()> {
    let differs = |what: &str, other: String, first: String| {
        Err(Error::invalid(format!("{what} is {other}, where that of {first_name} is {first}: they cannot be merged")))
    };
    let type_string = |tail: &FileTail| tail.schema.type_string(0);
    if type_string(first)? != type_string(other)? {
        return differs("the type", type_string(other)?, type_string(first)?);
    }
    for (id, (b, a)) in (0u32..).zip(other.schema.types().iter().zip(first.schema.types())) {
        if without_unused_parameters(b) != without_unused_parameters(a) {
            let what = format!("the list of attributes of column {}", other.schema.path(id));
            return differs(&what, format!("{:?}", b.attributes), format!("{:?}", a.attributes));
        }
    }
    if first.compression != other.compression {
        let name = |tail: &FileTail| tail.compression.name().to_owned();
        return differs("the compression", name(other), name(first));
    }
    if first.version != other.version {
        let version = |tail: &FileTail| tail.version.iter().map(u32::to_string).collect::<Vec<_>>().join(".");
        return differs("the version of the format", version(other), version(first));
    }
    if first.row_index_stride != other.row_index_stride {
        let stride = |tail: &FileTail| format!("{} rows", tail.row_index_stride);
        return differs("the stride of the row index", stride(other), stride(first));
    }
    if first.calendar != other.calendar {
        return differs("the calendar", format!("{:?}", other.calendar), format!("{:?}", first.calendar));
    }
    let writer = |tail: &FileTail| {
        format!("{} {} ({})", tail.writer, tail.software_version.as_deref().unwrap_or("of old"), tail.writer_version)
    };
    let version = |tail: &FileTail| (tail.writer, tail.writer_version, tail.software_version.clone());
    if version(first) == version(other) { Ok(()) } else { differs("the writer", writer(other), writer(first)) }
}

/// A type without parameters that it does not use: ORC C++ writes length, precision and scale of all types.
fn without_unused_parameters(orc_type: &Type) -> Type {
    let has_length = matches!(orc_type.kind, Kind::Char | Kind::Varchar);
    let is_decimal = orc_type.kind == Kind::Decimal;
    Type {
        max_length: orc_type.max_length.filter(|_| has_length),
        precision: orc_type.precision.filter(|_| is_decimal),
        scale: orc_type.scale.filter(|_| is_decimal),
        ..orc_type.clone()
    }
}

/// A logical type that only the stored Arrow schema has. Without the schema, or with another one, the column has other
/// values.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum LogicalType {
    /// Integers, or structs of integers, are values of this Arrow type.
    Arrow(DataType),
    /// Values of `timestamp` columns are instants.
    Instant,
    /// Timestamps have a unit of nanoseconds. Without the schema, they are read in microseconds.
    Nanoseconds,
}

impl Display for LogicalType {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        match self {
            LogicalType::Arrow(data_type) => data_type.fmt(f),
            LogicalType::Instant => f.write_str("instants"),
            LogicalType::Nanoseconds => f.write_str("timestamps in nanoseconds"),
        }
    }
}

/// Checks that the logical types of a file are those of the first file, and that they are kept with a common Arrow
/// schema.
///
/// # Errors
/// `InvalidArgument` with the first difference.
pub(super) fn check_logical_types(
    first_name: &str,
    first: &FileTail,
    first_types: &[Option<LogicalType>],
    other: &FileTail,
) -> Result<()> {
    let text = |logical_type: &Option<LogicalType>| {
        logical_type.as_ref().map_or("no more than its type".to_owned(), LogicalType::to_string)
    };
    let is_same_schema = stored_arrow_schema(first) == stored_arrow_schema(other);
    let other_types = logical_types(other);
    for (id, (a, b)) in (0u32..).zip(first_types.iter().zip(&other_types)) {
        if a != b {
            let column = other.schema.path(id);
            return Err(Error::invalid(format!(
                "by the Arrow schema, column {column} is {}, where that of {first_name} is {}: they cannot be merged",
                text(b),
                text(a)
            )));
        }
    }
    match first_types.iter().flatten().next() {
        Some(logical_type) if !is_same_schema => Err(Error::invalid(format!(
            "the Arrow schema is another than that of {first_name}, and without it there would be no {logical_type}: \
             they cannot be merged",
        ))),
        _ => Ok(()),
    }
}

/// The logical types of all columns, by column id. `None` for Arrow types that represent the values of the ORC type.
pub(super) fn logical_types(tail: &FileTail) -> Vec<Option<LogicalType>> {
    use DataType as D;
    let schema = StoredSchema::of(tail);
    let logical_type = |(id, orc_type): (u32, &Type)| match value_type(schema.as_ref()?.data_type(&tail.schema, id)?) {
        data_type @ (D::Duration(_) | D::Time32(_) | D::Time64(_) | D::Interval(_)) => {
            Some(LogicalType::Arrow(data_type.clone()))
        }
        D::Timestamp(_, Some(_)) if orc_type.kind == Kind::Timestamp => Some(LogicalType::Instant),
        D::Timestamp(TimeUnit::Nanosecond, _) => Some(LogicalType::Nanoseconds),
        _ => None,
    };
    (0u32..).zip(tail.schema.types()).map(logical_type).collect()
}

/// The encoded Arrow schema in the user metadata of a file.
pub(super) fn stored_arrow_schema(tail: &FileTail) -> Option<&Bytes> {
    tail.metadata.iter().find(|(name, _)| name == ARROW_SCHEMA_KEY).map(|(_, value)| value)
}
