//! Compatibility of logical types with the physical types of a file.

use arrow_schema::{DataType, Field, Fields, IntervalUnit, TimeUnit};
use orcish_core::types::{is_binary, is_text, item_of, precision_and_scale};

/// Names of the fields of a struct of days and milliseconds.
pub(crate) const DAYS: [&str; 2] = ["days", "milliseconds"];
/// Names of the fields of a struct of months, days and nanoseconds.
pub(crate) const MONTHS: [&str; 3] = ["months", "days", "nanoseconds"];

/// Precision and scale of the stored decimal. Decimals of negative scale are stored with scale 0.
fn written((precision, scale): (u8, i8)) -> (u8, i8) {
    let (digits, scale) = (i16::from(precision) - i16::from(scale.min(0)), scale.max(0));
    (u8::try_from(digits.max(i16::from(scale)).min(38)).unwrap_or(38), scale)
}

/// Whether columns of the type `logical` are written as columns that are read as `physical`. Field names have to be
/// equal. Metadata and nullability are ignored.
pub(crate) fn is_compatible(physical: &DataType, logical: &DataType) -> bool {
    use DataType as D;
    match (physical, logical) {
        (physical, D::Dictionary(_, values)) => match physical {
            // Strings may have been read as a dictionary.
            D::Dictionary(_, read) => is_compatible(read, values),
            physical => is_compatible(physical, values),
        },
        (physical, D::RunEndEncoded(_, values)) => is_compatible(physical, values.data_type()),
        (D::Dictionary(_, read), logical) => is_compatible(read, logical),
        (D::Boolean, D::Boolean | D::Null)
        | (D::Int8, D::Int8)
        | (D::Int16, D::Int16 | D::UInt8)
        | (D::Float32, D::Float32 | D::Float16)
        | (D::Float64, D::Float64)
        | (D::Decimal128(20, 0), D::UInt64)
        | (D::Date32, D::Date32 | D::Date64) => true,
        // Spark attributes give these integers a type, which need not be the Arrow type.
        (
            D::Int32 | D::Interval(IntervalUnit::YearMonth),
            D::Int32 | D::UInt16 | D::Time32(_) | D::Interval(IntervalUnit::YearMonth),
        )
        | (
            D::Int64 | D::Duration(TimeUnit::Microsecond) | D::Timestamp(_, None),
            D::Int64 | D::UInt32 | D::Time64(_) | D::Duration(_),
        ) => true,
        (D::Timestamp(_, from), D::Timestamp(_, to)) => from.is_some() == to.is_some(),
        (D::Decimal128(precision, scale), logical) => precision_and_scale(logical)
            .is_some_and(|precision_and_scale| written(precision_and_scale) == (*precision, *scale)),
        (physical, logical) if is_text(physical) => is_text(logical),
        (physical, logical) if is_binary(physical) => is_binary(logical) || matches!(logical, D::FixedSizeBinary(_)),
        (D::List(item), logical) => {
            item_of(logical).is_some_and(|logical| is_compatible(item.data_type(), logical.data_type()))
        }
        (D::Struct(fields), D::Struct(logical)) => are_compatible(fields, logical),
        (D::Struct(fields), D::Interval(IntervalUnit::DayTime)) => are_fields(fields, &DAYS, &[D::Int32, D::Int32]),
        (D::Struct(fields), D::Interval(IntervalUnit::MonthDayNano)) => {
            are_fields(fields, &MONTHS, &[D::Int32, D::Int32, D::Int64])
        }
        (D::Map(physical, _), D::Map(logical, _)) => match (physical.data_type(), logical.data_type()) {
            (D::Struct(physical), D::Struct(logical)) => {
                physical.len() == logical.len()
                    && physical.iter().zip(logical).all(|(physical, logical)| is_compatible_field(physical, logical))
            }
            _ => false,
        },
        (D::Union(physical, _), D::Union(logical, _)) => {
            let both = physical.iter().zip(logical.iter());
            physical.len() == logical.len()
                && both.into_iter().all(|((_, physical), (_, logical))| is_compatible_field(physical, logical))
        }
        _ => false,
    }
}

fn is_compatible_field(physical: &Field, logical: &Field) -> bool {
    is_compatible(physical.data_type(), logical.data_type())
}

/// Whether fields have the same names, and compatible types, in order.
pub(super) fn are_compatible(physical: &Fields, logical: &Fields) -> bool {
    let both = physical.iter().zip(logical);
    let mut compatible =
        both.map(|(physical, logical)| physical.name() == logical.name() && is_compatible_field(physical, logical));
    physical.len() == logical.len() && compatible.all(|is_compatible| is_compatible)
}

fn are_fields(fields: &Fields, names: &[&str], kinds: &[DataType]) -> bool {
    let expected = names.iter().zip(kinds);
    let mut same =
        fields.iter().zip(expected).map(|(field, (name, kind))| field.name() == name && field.data_type() == kind);
    fields.len() == names.len() && same.all(|same| same)
}
