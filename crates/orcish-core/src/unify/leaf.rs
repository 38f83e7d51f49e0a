//! Common types of numbers, dates, times, strings and binaries.
//!
//! | types | common type |
//! |---|---|
//! | integers | the narrowest integer type; decimal(20, 0) of 64 bits with and without sign |
//! | integers, decimals | the narrowest decimal type, if it has at most 76 digits |
//! | floating point numbers | the wider one |
//! | integers or decimals without fraction, floating point numbers | the narrowest floating point type that has all whole numbers of so many bits or digits |
//! | dates | `date64` |
//! | times, durations, local timestamps, instants | the finer unit |
//! | strings | strings |
//! | binaries, strings | binaries |

use arrow_schema::{DataType, TimeUnit};

use crate::types::{finer_unit, is_binary, is_text, precision_and_scale, value_type};

/// The narrowest type that holds all values of both types; `None` if there is none.
pub(super) fn common_leaf(first: &DataType, other: &DataType) -> Option<DataType> {
    use DataType as D;
    match (first, other) {
        (first, other) if first.is_integer() && other.is_integer() => {
            Some(common_integer(first, other).unwrap_or(D::Decimal128(20, 0)))
        }
        (first, other) if first.is_floating() && other.is_floating() => {
            Some(if first.primitive_width() > other.primitive_width() { first } else { other }.clone())
        }
        (D::Date32 | D::Date64, D::Date32 | D::Date64) => Some(D::Date64),
        (D::Time32(unit) | D::Time64(unit), D::Time32(other) | D::Time64(other)) => {
            Some(match finer_unit(*unit, *other) {
                unit @ (TimeUnit::Second | TimeUnit::Millisecond) => D::Time32(unit),
                unit => D::Time64(unit),
            })
        }
        (D::Timestamp(unit, zone), D::Timestamp(other, other_zone)) if zone.is_some() == other_zone.is_some() => {
            // Zones of instants are names, and no part of the values.
            let zone = if zone == other_zone { zone.clone() } else { Some("UTC".into()) };
            Some(D::Timestamp(finer_unit(*unit, *other), zone))
        }
        (D::Duration(unit), D::Duration(other)) => Some(D::Duration(finer_unit(*unit, *other))),
        (first, other) if is_bytes(first) && is_bytes(other) => Some(common_bytes(first, other)),
        (first, other) if first.is_floating() => common_float(first, other),
        (first, other) if other.is_floating() => common_float(other, first),
        (first, other) => common_decimal(first, other),
    }
}

/// Whether each value of the type `narrow` is a value of the type `wide`, in whatever representation: dictionary, run-end
/// encoded, view or plain. This is the case if `wide` is the common type of both. Nested types hold what their children hold,
/// and are not compared here: they hold no other type than `null`.
///
/// Timestamps, times and durations of a coarser unit are held by a finer one. Years that 64 bits of the finer unit do not have
/// are an error of the cast.
///
/// ```
/// use arrow_schema::DataType;
/// use orcish_core::unify::holds;
///
/// assert!(holds(&DataType::Float64, &DataType::Int32));
/// assert!(!holds(&DataType::Float64, &DataType::Int64));
/// ```
pub fn holds(wide: &DataType, narrow: &DataType) -> bool {
    let (wide, narrow) = (value_type(wide), value_type(narrow));
    *narrow == DataType::Null
        || plain(wide) == plain(narrow)
        || common_leaf(wide, narrow).is_some_and(|common| plain(&common) == plain(wide))
}

/// The type of the same values: without views and large offsets, as decimals of the largest width, and as instants in UTC.
pub(super) fn plain(kind: &DataType) -> DataType {
    if let Some((precision, scale)) = precision_and_scale(kind) {
        return DataType::Decimal256(precision, scale);
    }
    match kind {
        kind if is_text(kind) => DataType::Utf8,
        DataType::LargeBinary | DataType::BinaryView => DataType::Binary,
        DataType::Timestamp(unit, Some(_)) => DataType::Timestamp(*unit, Some("UTC".into())),
        kind => kind.clone(),
    }
}

/// The narrowest floating point type, at least as wide as `float`, that has all values of a type of whole numbers.
fn common_float(float: &DataType, whole: &DataType) -> Option<DataType> {
    // Bits of the significand, and the digits of whole numbers that it has in any case.
    let types = [(DataType::Float16, 11, 3), (DataType::Float32, 24, 7), (DataType::Float64, 53, 15)];
    let holds: Box<dyn Fn(usize, i16) -> bool> = match (whole.primitive_width(), digits(whole)?) {
        (Some(bytes), _) if whole.is_integer() => {
            // The smallest integer with a sign is a power of two.
            let bits = 8 * bytes - usize::from(whole.is_signed_integer());
            Box::new(move |significand, _| bits <= significand)
        }
        (_, (whole_digits, scale)) => Box::new(move |_, digits| scale <= 0 && whole_digits <= digits),
    };
    let mut wider = types.into_iter().filter(|(kind, _, _)| kind.primitive_width() >= float.primitive_width());
    wider.find(|(_, significand, digits)| holds(*significand, *digits)).map(|(kind, _, _)| kind)
}

/// The narrowest integer type that holds all values of both; `None` for 64 bits with and without sign.
pub(super) fn common_integer(first: &DataType, other: &DataType) -> Option<DataType> {
    let bits = |kind: &DataType| kind.primitive_width().map(|bytes| 8 * bytes);
    let (first_bits, other_bits) = (bits(first)?, bits(other)?);
    match (first.is_signed_integer(), other.is_signed_integer()) {
        (is_signed, is_other_signed) if is_signed == is_other_signed => {
            Some(if first_bits > other_bits { first } else { other }.clone())
        }
        (true, _) if first_bits > other_bits => Some(first.clone()),
        (_, true) if other_bits > first_bits => Some(other.clone()),
        _ => match first_bits.max(other_bits) {
            8 => Some(DataType::Int16),
            16 => Some(DataType::Int32),
            32 => Some(DataType::Int64),
            _ => None,
        },
    }
}

/// The narrowest decimal type for decimals and integers, at least as wide as the wider one.
fn common_decimal(first: &DataType, other: &DataType) -> Option<DataType> {
    if !first.is_decimal() && !other.is_decimal() {
        return None;
    }
    let (first_whole, first_scale) = digits(first)?;
    let (other_whole, other_scale) = digits(other)?;
    let scale = first_scale.max(other_scale);
    let precision = u8::try_from(first_whole.max(other_whole).checked_add(scale.into())?).ok()?;
    let width = |kind: &DataType| kind.is_decimal().then(|| kind.primitive_width()).flatten();
    Some(match (width(first).max(width(other))?, precision) {
        (..=4, ..=9) => DataType::Decimal32(precision, scale),
        (..=8, ..=18) => DataType::Decimal64(precision, scale),
        (..=16, ..=38) => DataType::Decimal128(precision, scale),
        (_, ..=76) => DataType::Decimal256(precision, scale),
        _ => return None,
    })
}

/// Digits before the point, and the scale, of integers and decimals.
fn digits(kind: &DataType) -> Option<(i16, i8)> {
    match kind {
        DataType::Int8 | DataType::UInt8 => Some((3, 0)),
        DataType::Int16 | DataType::UInt16 => Some((5, 0)),
        DataType::Int32 | DataType::UInt32 => Some((10, 0)),
        DataType::Int64 => Some((19, 0)),
        DataType::UInt64 => Some((20, 0)),
        kind => precision_and_scale(kind).map(|(precision, scale)| (i16::from(precision) - i16::from(scale), scale)),
    }
}

fn is_bytes(kind: &DataType) -> bool {
    is_text(kind) || is_binary(kind) || matches!(kind, DataType::FixedSizeBinary(_))
}

/// Strings and binaries become binaries.
fn common_bytes(first: &DataType, other: &DataType) -> DataType {
    use DataType as D;
    let is_large = [first, other].iter().any(|kind| matches!(kind, D::LargeUtf8 | D::LargeBinary));
    let is_view = [first, other].iter().any(|kind| matches!(kind, D::Utf8View | D::BinaryView));
    match (is_text(first) && is_text(other), is_large, is_view) {
        (true, true, _) => D::LargeUtf8,
        (true, false, true) => D::Utf8View,
        (true, false, false) => D::Utf8,
        (false, true, _) => D::LargeBinary,
        (false, false, true) => D::BinaryView,
        (false, false, false) => D::Binary,
    }
}
