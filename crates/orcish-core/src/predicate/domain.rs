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
            Domain::Timestamp { nanoseconds, is_instant, .. } => {
                Domain::Timestamp { nanoseconds, is_instant, compares_digits: true }
            }
            other => other,
        }
    }
}

/// How the stored values of a column are compared, by its logical type: times are integers.
pub fn stored_domain(kind: &DataType) -> Domain {
    match kind {
        DataType::Null => Domain::Null,
        DataType::Boolean => Domain::Boolean,
        DataType::UInt64 => Domain::Decimal { scale: 0 },
        kind if kind.is_integer() => Domain::Integer,
        DataType::Time32(_) | DataType::Time64(_) => Domain::Integer,
        DataType::Duration(unit) if *unit != TimeUnit::Microsecond => Domain::Integer,
        DataType::Float16 | DataType::Float32 | DataType::Float64 => Domain::Float,
        // Decimals of a negative scale are compared as whole numbers.
        DataType::Decimal32(_, scale)
        | DataType::Decimal64(_, scale)
        | DataType::Decimal128(_, scale)
        | DataType::Decimal256(_, scale) => Domain::Decimal { scale: scale.max(&0).unsigned_abs().into() },
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => Domain::Text { trimmed: false },
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView | DataType::FixedSizeBinary(_) => {
            Domain::Binary
        }
        DataType::Date32 | DataType::Date64 => Domain::Date,
        DataType::Timestamp(unit, zone) => {
            Domain::Timestamp { nanoseconds: nanoseconds(*unit), is_instant: zone.is_some(), compares_digits: false }
        }
        DataType::Dictionary(_, values) => stored_domain(values),
        DataType::RunEndEncoded(_, values) => stored_domain(values.data_type()),
        _ => Domain::Opaque,
    }
}
