//! Bounds of columns, from min/max indexes.

use orcish_core::predicate::{Bound, ColumnBounds};

use super::format::{EPOCH_KEY, Encoding, MinMax, NULL_TEXT};
use super::schema::{CarbonType, Column};
use crate::bytes::{ByteReader, big_integer};

/// The surrogate key of a null date.
const NULL_KEY: i64 = 1;

/// The bounds of the column whose chunk has index `at`.
///
/// With `has_unreliable_min_max`, which is set for files before 1.5.1, nothing is known: these writers store the first
/// and last value of unsorted columns in place of minimum and maximum, and compare numbers by 32-bit differences.
pub(crate) fn column_bounds(
    min_max: &MinMax,
    at: usize,
    column: &Column,
    has_unreliable_min_max: bool,
) -> ColumnBounds {
    let presence = min_max.presence.as_ref().is_none_or(|all| all.get(at).is_some_and(|&present| present));
    let (Some(min), Some(max), true, false) =
        (min_max.min.get(at), min_max.max.get(at), presence, has_unreliable_min_max)
    else {
        return ColumnBounds::default();
    };
    let (low, high) = match (bound(min, column), bound(max, column)) {
        (Some(Bound::Number(low)), Some(Bound::Number(high))) => {
            let (low, high) = widen(low, high, column.carbon_type == CarbonType::Float);
            (Some(Bound::Number(low)), Some(Bound::Number(high)))
        }
        // Stored numbers can be less or greater than the written ones by a share of the range, which needs both bounds.
        (Some(Bound::Number(_)), None) | (None, Some(Bound::Number(_))) => (None, None),
        both => both,
    };
    let is_null = |bytes: &[u8]| match column.carbon_type {
        CarbonType::String => bytes == NULL_TEXT,
        CarbonType::Date => date_key(bytes) == Some(NULL_KEY),
        _ => false,
    };
    let nulls = (low.is_some() && is_null(min)) || (high.is_some() && is_null(max));
    // Min/max indexes have no null counts, and cover deleted rows too.
    ColumnBounds { min: low, max: high, nulls: nulls.then_some(true), values: None }
}

/// The range of the stored numbers of pages whose written numbers are within `low` and `high`.
///
/// Adaptive encodings store numbers multiplied by a power of ten as integers, or the difference of the maximum and
/// these integers:
/// - The last digits of a double differ, by its precision.
/// - Differences of floats are truncated, not rounded, which changes a number by up to one unit of the last decimal
///   place. Scaled numbers have more than seven bits then, as the difference would not be stored otherwise. A unit is
///   thus less than a 128th of the greatest magnitude.
/// - The integer width is chosen by a floating point difference, which can be less than the greatest integer
///   difference. A number at the other end that does not fit overflows above the maximum, by at most twice the
///   difference and a few units.
fn widen(low: f64, high: f64, is_float: bool) -> (f64, f64) {
    let largest = low.abs().max(high.abs());
    let digits = if is_float { 1e-6 } else { 1e-12 } * largest;
    let decimal = largest / 127.0;
    let below = if is_float { decimal } else { 0.0 };
    (
        min_after_overflow(low, high, is_float) - below - digits,
        high + (high - low).max(0.0) + 3.0 * decimal + 2.0 * digits,
    )
}

/// The minimum of numbers from `low` to `high`, of which one can become its negative by overflow: the integer width is
/// chosen by the truncated maximum, but stored integers are rounded. A number slightly greater than the maximum of the
/// width does not fit.
fn min_after_overflow(low: f64, high: f64, is_float: bool) -> f64 {
    let mut least = low;
    for factor in [1e1, 1e2, 1e3, 1e4, 1e5] {
        for whole in [128.0, 32_768.0, 8_388_608.0, 2_147_483_648.0] {
            let (value, decimal) = (whole / factor, 1.0 / factor);
            // The product is less than its exact value for few doubles only.
            let may_be_cut = is_float || value * factor < whole;
            if may_be_cut && low - decimal <= value && value <= high + decimal {
                least = least.min(-value - decimal);
            }
        }
    }
    least
}

/// Decodes a stored bound; `None` where it is not usable. The stored form of null sorts with the values, so that other
/// values are still within the bounds.
fn bound(bytes: &[u8], column: &Column) -> Option<Bound> {
    // Bounds of complex columns belong to their flattened bytes. Surrogate keys are in load order, not in value order.
    if !column.children.is_empty() || column.has_global_dictionary() {
        return None;
    }
    let is_key = column.encoders.contains(&Encoding::DirectDictionary);
    match column.carbon_type {
        CarbonType::String | CarbonType::Varchar if column.is_dimension => Some(Bound::Bytes(bytes.to_vec())),
        CarbonType::Date if column.is_dimension => {
            date_key(bytes).map(|key| Bound::Integer(key - i64::from(EPOCH_KEY)))
        }
        _ if is_key => None,
        CarbonType::Timestamp if column.is_dimension => {
            decode_sign_flipped(bytes, 8)?.checked_mul(1000).map(Bound::Ticks)
        }
        CarbonType::Short if column.is_dimension => decode_sign_flipped(bytes, 2).map(Bound::Integer),
        CarbonType::Int if column.is_dimension => decode_sign_flipped(bytes, 4).map(Bound::Integer),
        CarbonType::Long if column.is_dimension => decode_sign_flipped(bytes, 8).map(Bound::Integer),
        _ if column.is_dimension => None,
        CarbonType::Short | CarbonType::Int | CarbonType::Long => {
            read_all(bytes, |bytes| bytes.i64().ok()).map(Bound::Integer)
        }
        CarbonType::Boolean => read_all(bytes, |bytes| bytes.u8().ok())
            .filter(|&value| value <= 1)
            .map(|value| Bound::Integer(value.into())),
        CarbonType::Double => {
            read_all(bytes, |bytes| bytes.f64().ok()).filter(|value| value.is_finite()).map(Bound::Number)
        }
        CarbonType::Float => {
            let value = f64::from(ByteReader::new(bytes).f32().ok()?);
            value.is_finite().then_some(Bound::Number(value))
        }
        CarbonType::Decimal { .. } => {
            let (&scale, digits) = bytes.split_first()?;
            let unscaled = big_integer(digits).filter(|_| !digits.is_empty())?;
            (scale <= 38).then_some(Bound::Decimal { unscaled, scale: scale.into() })
        }
        _ => None,
    }
}

/// Reads a number that takes all bytes.
fn read_all<T>(bytes: &[u8], read: impl Fn(&mut ByteReader<'_>) -> Option<T>) -> Option<T> {
    let mut rest = ByteReader::new(bytes);
    read(&mut rest).filter(|_| rest.is_empty())
}

fn date_key(bytes: &[u8]) -> Option<i64> {
    read_all(bytes, |bytes| bytes.i32().ok()).map(i64::from).filter(|&key| key >= NULL_KEY)
}

/// An integer of `width` bytes whose sign bit is flipped, so that bytes sort as numbers. Null is empty.
fn decode_sign_flipped(bytes: &[u8], width: usize) -> Option<i64> {
    if bytes.len() != width {
        return None;
    }
    let value = bytes.iter().fold(0u64, |value, &byte| (value << 8) | u64::from(byte));
    let bits = width.checked_mul(8)?;
    let half = 1u64.checked_shl(u32::try_from(bits - 1).ok()?)?;
    Some(value.wrapping_sub(half).cast_signed())
}

#[cfg(test)]
mod page_tests;
#[cfg(test)]
mod tests {
    use super::*;

    fn column(carbon_type: CarbonType, is_dimension: bool) -> Column {
        Column { is_dimension, ..Column::sample("x", carbon_type) }
    }

    fn min_max(min: &[u8], max: &[u8]) -> MinMax {
        MinMax { min: vec![min.to_vec()], max: vec![max.to_vec()], presence: None }
    }

    fn bounds(carbon_type: CarbonType, is_dimension: bool, min: &[u8], max: &[u8]) -> ColumnBounds {
        column_bounds(&min_max(min, max), 0, &column(carbon_type, is_dimension), false)
    }

    fn integers(min: Option<i64>, max: i64) -> ColumnBounds {
        ColumnBounds { min: min.map(Bound::Integer), max: Some(Bound::Integer(max)), ..ColumnBounds::default() }
    }

    #[test]
    fn bounds_of_numbers() {
        assert_eq!(bounds(CarbonType::Int, true, &[0x7f, 0xff, 0xff, 0xff], &[0x80, 0, 0, 5]), integers(Some(-1), 5));
        assert_eq!(bounds(CarbonType::Short, true, &[], &[0xff, 0xff]), integers(None, 32767));
        assert_eq!(bounds(CarbonType::Long, true, &[0; 8], &[0xff; 8]), integers(Some(i64::MIN), i64::MAX));
        assert_eq!(bounds(CarbonType::Int, false, &(-7i64).to_be_bytes(), &9i64.to_be_bytes()), integers(Some(-7), 9));
        let ticks = bounds(CarbonType::Timestamp, true, &[0x80, 0, 0, 0, 0, 0, 0, 1], &[0xff; 8]);
        assert_eq!(ticks, ColumnBounds { min: Some(Bound::Ticks(1000)), ..ColumnBounds::default() });
        let decimal = bounds(CarbonType::Decimal { precision: 5, scale: 2 }, false, &[2, 0xff], &[2]);
        assert_eq!((decimal.min, decimal.max), (Some(Bound::Decimal { unscaled: -1, scale: 2 }), None));
        let date = bounds(CarbonType::Date, true, &1i32.to_be_bytes(), &1_073_741_824i32.to_be_bytes());
        assert_eq!((date.max, date.nulls), (Some(Bound::Integer(1)), Some(true)));
    }

    #[test]
    fn bounds_of_floats_are_widened() {
        let known = bounds(CarbonType::Double, false, &0f64.to_be_bytes(), &1000f64.to_be_bytes());
        let (Some(Bound::Number(min)), Some(Bound::Number(max))) = (known.min, known.max) else { panic!() };
        assert!(min < 0.0 && min > -1e-8 && max > 2000.0 && max < 2050.0);
        let float = [&1.5f32.to_be_bytes()[..], &[0; 4]].concat();
        assert!(bounds(CarbonType::Float, false, &float, &float).min.is_some());
        assert_eq!(
            bounds(CarbonType::Double, false, &f64::NAN.to_be_bytes(), &0f64.to_be_bytes()),
            ColumnBounds::default()
        );
    }

    #[test]
    fn bounds_of_strings_and_unreliable_bounds() {
        let known = bounds(CarbonType::String, true, NULL_TEXT, b"b");
        assert_eq!((known.max, known.nulls), (Some(Bound::Bytes(b"b".into())), Some(true)));
        for carbon_type in [CarbonType::Byte, CarbonType::Binary, CarbonType::Boolean, CarbonType::Array] {
            assert_eq!(bounds(carbon_type, true, b"\0", b"\x01"), ColumnBounds::default());
        }
        let text = column(CarbonType::String, true);
        assert_eq!(super::column_bounds(&min_max(b"a", b"b"), 0, &text, true), ColumnBounds::default());
        assert_eq!(super::column_bounds(&min_max(b"a", b"b"), 1, &text, false), ColumnBounds::default());
        let unset = MinMax { presence: Some(vec![false]), ..min_max(b"", b"") };
        assert_eq!(super::column_bounds(&unset, 0, &text, false), ColumnBounds::default());
        let keys = Column { encoders: vec![Encoding::Dictionary], ..text };
        assert_eq!(super::column_bounds(&min_max(b"a", b"b"), 0, &keys, false), ColumnBounds::default());
    }
}
