//! How values of Arrow types are compared.

use arrow_schema::{DataType, TimeUnit};

use crate::types::nanoseconds;

/// How the values of a column are compared.
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
        /// The scale.
        scale: u32,
    },
    /// Strings.
    Text {
        /// Whether trailing blanks of the values are trimmed.
        trimmed: bool,
    },
    /// Binary values.
    Binary,
    /// Days.
    Date,
    /// Timestamps.
    Timestamp {
        /// Nanoseconds of the unit.
        nanoseconds: i64,
        /// Whether values are instants in UTC, or local times.
        is_instant: bool,
        /// Whether a stored value that overflows the unit is read as null.
        may_become_null: bool,
        /// Whether digits of values below the unit are compared, too.
        compares_digits: bool,
    },
    /// No values: all rows are null, and comparisons with any literal are unknown.
    Null,
    /// Values that can only be tested for null.
    Opaque,
}

impl Domain {
    /// The domain of timestamps of which all digits are compared; other domains as they are.
    #[must_use]
    pub fn with_all_digits(self) -> Self {
        match self {
            Domain::Timestamp { nanoseconds, is_instant, may_become_null, .. } => {
                Domain::Timestamp { nanoseconds, is_instant, may_become_null, compares_digits: true }
            }
            other => other,
        }
    }
}

/// How the stored values of a column are compared, by its logical type: times are integers. `may_become_null` states that
/// timestamps that overflow their unit are read as null.
pub fn stored_domain(kind: &DataType, may_become_null: bool) -> Domain {
    match kind {
        DataType::Null => Domain::Null,
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

/// How values of an Arrow type are compared. `may_become_null` states that timestamps that overflow their unit are read as
/// null.
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
        DataType::Timestamp(unit, zone) => Domain::Timestamp {
            nanoseconds: nanoseconds(*unit),
            is_instant: zone.is_some(),
            may_become_null,
            compares_digits: false,
        },
        _ => Domain::Opaque,
    }
}
