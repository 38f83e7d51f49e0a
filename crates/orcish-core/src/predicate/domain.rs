//! What values of Arrow's types are compared as.

use arrow_schema::{DataType, TimeUnit};

use crate::error::{Error, Result};
use crate::types::{nanoseconds, value_type};

/// What a column is read as, so far as it can be compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Domain {
    /// True and false.
    Boolean,
    /// Integers of up to 64 bits.
    Integer,
    /// Floating point numbers.
    Float,
    /// Decimals.
    Decimal {
        /// Digits behind the point.
        scale: u32,
    },
    /// Strings.
    Text {
        /// Whether the blanks at the end of values are cut off.
        trimmed: bool,
    },
    /// Binary values.
    Binary,
    /// Days.
    Date,
    /// Timestamps.
    Timestamp {
        /// Nanoseconds of a tick.
        nanoseconds: i64,
        /// Whether values are instants in UTC, and not wall clock times.
        is_instant: bool,
        /// Whether a stored value is read as null where its unit has no room for it.
        may_become_null: bool,
    },
    /// It can be null or not, and nothing else can be asked.
    Opaque,
}

/// What values of a column are compared as, which are those that are stored: of times it is the numbers.
/// `may_become_null` says it of times that their type has no room for.
pub fn stored_domain(kind: &DataType, may_become_null: bool) -> Domain {
    match kind {
        DataType::Null => Domain::Boolean,
        DataType::UInt64 => Domain::Decimal { scale: 0 },
        DataType::Time32(_) | DataType::Time64(_) => Domain::Integer,
        DataType::Duration(unit) if *unit != TimeUnit::Microsecond => Domain::Integer,
        DataType::Float16 => Domain::Float,
        DataType::Decimal32(_, scale) | DataType::Decimal64(_, scale) | DataType::Decimal256(_, scale) => {
            Domain::Decimal { scale: u32::try_from(*scale).unwrap_or_default() }
        }
        DataType::FixedSizeBinary(_) => Domain::Binary,
        DataType::Date64 => Domain::Date,
        DataType::Dictionary(_, values) => stored_domain(values, may_become_null),
        DataType::RunEndEncoded(_, values) => stored_domain(values.data_type(), may_become_null),
        kind => domain_of(kind, may_become_null),
    }
}

/// What values of an Arrow type are compared as.
pub fn domain_of(kind: &DataType, may_become_null: bool) -> Domain {
    match kind {
        DataType::Boolean => Domain::Boolean,
        kind if kind.is_integer() => Domain::Integer,
        DataType::Float32 | DataType::Float64 => Domain::Float,
        DataType::Decimal128(_, scale) => Domain::Decimal { scale: u32::try_from(*scale).unwrap_or_default() },
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => Domain::Text { trimmed: false },
        DataType::Dictionary(_, values) => domain_of(values, may_become_null),
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView => Domain::Binary,
        DataType::Date32 => Domain::Date,
        DataType::Timestamp(unit, zone) => {
            Domain::Timestamp { nanoseconds: nanoseconds(*unit), is_instant: zone.is_some(), may_become_null }
        }
        _ => Domain::Opaque,
    }
}

/// What values of an array are compared as, where nobody has said what is stored.
///
/// # Errors
/// `InvalidArgument` for types whose arrays do not say themselves which values are null.
pub(super) fn domain_of_array(kind: &DataType) -> Result<Domain> {
    if matches!(kind, DataType::Null | DataType::Union(_, _) | DataType::RunEndEncoded(_, _)) {
        return Err(Error::invalid(format!("values of type {kind} cannot be asked by a filter")));
    }
    Ok(match value_type(kind) {
        // What there is no comparison for here.
        DataType::UInt64 => Domain::Opaque,
        DataType::Decimal128(_, scale) if *scale < 0 => Domain::Opaque,
        kind => domain_of(kind, false),
    })
}
