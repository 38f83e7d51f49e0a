//! Which types of Arrow are written as what, told by the Arrow types that ORC's become of themselves.

use arrow_schema::{DataType, Field, Fields, IntervalUnit, TimeUnit};
use orcish_core::types::{is_binary, is_text, item_of, precision_and_scale};

/// Names of the fields of a struct that stands for days and milliseconds.
pub(crate) const DAYS: [&str; 2] = ["days", "milliseconds"];
/// Names of the fields of a struct that stands for months, days and nanoseconds.
pub(crate) const MONTHS: [&str; 3] = ["months", "days", "nanoseconds"];

/// Precision and scale of the decimal that a decimal is written as. Those of negative scale are multiplied out.
fn written((precision, scale): (u8, i8)) -> (u8, i8) {
    let (precision_and_scale, scale) = (i16::from(precision) - i16::from(scale.min(0)), scale.max(0));
    (u8::try_from(precision_and_scale.max(i16::from(scale)).min(38)).unwrap_or(38), scale)
}

/// Whether columns of type `stored` are written as what becomes `natural` when it is read. Names of fields have to be
/// the same; metadata and nulls that may be are left out of account.
pub(crate) fn fits(natural: &DataType, stored: &DataType) -> bool {
    use DataType as D;
    match (natural, stored) {
        (natural, D::Dictionary(_, values)) => match natural {
            // It may have been read as a dictionary.
            D::Dictionary(_, read) => fits(read, values),
            natural => fits(natural, values),
        },
        (natural, D::RunEndEncoded(_, values)) => fits(natural, values.data_type()),
        (D::Dictionary(_, read), stored) => fits(read, stored),
        (D::Boolean, D::Boolean | D::Null)
        | (D::Int8, D::Int8)
        | (D::Int16, D::Int16 | D::UInt8)
        | (D::Float32, D::Float32 | D::Float16)
        | (D::Float64, D::Float64)
        | (D::Decimal128(20, 0), D::UInt64)
        | (D::Date32, D::Date32 | D::Date64) => true,
        // Attributes of Spark say what these integers are, and need not be those of the Arrow type.
        (
            D::Int32 | D::Interval(IntervalUnit::YearMonth),
            D::Int32 | D::UInt16 | D::Time32(_) | D::Interval(IntervalUnit::YearMonth),
        )
        | (
            D::Int64 | D::Duration(TimeUnit::Microsecond) | D::Timestamp(_, None),
            D::Int64 | D::UInt32 | D::Time64(_) | D::Duration(_),
        ) => true,
        (D::Timestamp(_, from), D::Timestamp(_, to)) => from.is_some() == to.is_some(),
        (D::Decimal128(precision, scale), stored) => precision_and_scale(stored)
            .is_some_and(|precision_and_scale| written(precision_and_scale) == (*precision, *scale)),
        (natural, stored) if is_text(natural) => is_text(stored),
        (natural, stored) if is_binary(natural) => is_binary(stored) || matches!(stored, D::FixedSizeBinary(_)),
        (D::List(item), stored) => item_of(stored).is_some_and(|stored| fits(item.data_type(), stored.data_type())),
        (D::Struct(fields), D::Struct(stored)) => fields_fit(fields, stored),
        (D::Struct(fields), D::Interval(IntervalUnit::DayTime)) => are(fields, &DAYS, &[D::Int32, D::Int32]),
        (D::Struct(fields), D::Interval(IntervalUnit::MonthDayNano)) => {
            are(fields, &MONTHS, &[D::Int32, D::Int32, D::Int64])
        }
        (D::Map(natural, _), D::Map(stored, _)) => match (natural.data_type(), stored.data_type()) {
            (D::Struct(natural), D::Struct(stored)) => {
                natural.len() == stored.len()
                    && natural.iter().zip(stored).all(|(natural, stored)| alike(natural, stored))
            }
            _ => false,
        },
        (D::Union(natural, _), D::Union(stored, _)) => {
            let both = natural.iter().zip(stored.iter());
            natural.len() == stored.len() && both.into_iter().all(|((_, natural), (_, stored))| alike(natural, stored))
        }
        _ => false,
    }
}

fn alike(natural: &Field, stored: &Field) -> bool {
    fits(natural.data_type(), stored.data_type())
}

/// Whether fields are those of the other, in order.
pub(super) fn fields_fit(natural: &Fields, stored: &Fields) -> bool {
    let both = natural.iter().zip(stored);
    let mut fit = both.map(|(natural, stored)| natural.name() == stored.name() && alike(natural, stored));
    natural.len() == stored.len() && fit.all(|fits| fits)
}

fn are(fields: &Fields, names: &[&str], kinds: &[DataType]) -> bool {
    let expected = names.iter().zip(kinds);
    let mut same =
        fields.iter().zip(expected).map(|(field, (name, kind))| field.name() == name && field.data_type() == kind);
    fields.len() == names.len() && same.all(|same| same)
}
