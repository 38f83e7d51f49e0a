//! What the least and greatest values of a column's chunk say of its rows.

use orcish_core::predicate::{Bound, Known};

use super::format::{EPOCH_KEY, Encoding, MinMax, NULL_TEXT};
use super::schema::{Column, Kind};
use crate::bytes::{Bytes, big_integer};

/// The key of a date that is null.
const NULL_KEY: i64 = 1;

/// What the bounds at a place in the order of the chunks say of a column. `is_old` is for files of writers before 1.5.1,
/// whose footers do not name them, and whose blocklets have no rows of pages.
///
/// Old writers have the first and last value of columns that are not sorted in place of the least and greatest, and
/// they compare numbers by differences that are cut to 32 bits: nothing of theirs is believed.
pub(crate) fn known(min_max: &MinMax, at: usize, column: &Column, is_old: bool) -> Known {
    let is_present = min_max.is_present.as_ref().is_none_or(|all| all.get(at).is_some_and(|&present| present));
    let (Some(min), Some(max), true, false) = (min_max.min.get(at), min_max.max.get(at), is_present, is_old) else {
        return Known::default();
    };
    let (low, high) = match (bound(min, column), bound(max, column)) {
        (Some(Bound::Number(low)), Some(Bound::Number(high))) => {
            let (low, high) = widened(low, high, column.kind == Kind::Float);
            (Some(Bound::Number(low)), Some(Bound::Number(high)))
        }
        // Digits may be lost at one end where the other is not known.
        (Some(Bound::Number(_)), None) | (None, Some(Bound::Number(_))) => (None, None),
        both => both,
    };
    let is_null = |bytes: &[u8]| match column.kind {
        Kind::String => bytes == NULL_TEXT,
        Kind::Date => date_key(bytes) == Some(NULL_KEY),
        _ => false,
    };
    let nulls = (low.is_some() && is_null(min)) || (high.is_some() && is_null(max));
    // That there are no nulls is never known, nor that deleted rows are not counted.
    Known { min: low, max: high, nulls: nulls.then_some(true), values: None }
}

/// Between what the numbers of some pages are, whose sources were between `low` and `high`.
///
/// Pages have numbers multiplied by a power of ten, as whole numbers, or what these are below the greatest:
/// - The last digits of a double may be others, by its precision.
/// - Floats below the greatest are cut, not rounded, so that one is off by up to a whole last decimal. The scaled numbers
///   then have more than seven bits, as they were not put below the greatest else: a decimal is less than a 128th of the
///   largest number.
/// - The width of whole numbers is chosen by a difference of floating point numbers, which may be less than the greatest
///   of the whole ones is. A number at the other end that does not fit comes out above the greatest: by what the width has
///   of them, which is at most twice the difference and a few decimals.
fn widened(low: f64, high: f64, is_float: bool) -> (f64, f64) {
    let largest = low.abs().max(high.abs());
    let digits = if is_float { 1e-6 } else { 1e-12 } * largest;
    let decimal = largest / 127.0;
    let below = if is_float { decimal } else { 0.0 };
    (turned(low, high, is_float) - below - digits, high + (high - low).max(0.0) + 3.0 * decimal + 2.0 * digits)
}

/// The least of numbers from `low` to `high`, where one may come out as its negative: the width of whole numbers is chosen
/// by the greatest, cut, and that is rounded when it is stored. So one that has just a bit more does not fit.
fn turned(low: f64, high: f64, is_float: bool) -> f64 {
    let mut least = low;
    for factor in [1e1, 1e2, 1e3, 1e4, 1e5] {
        for whole in [128.0, 32_768.0, 8_388_608.0, 2_147_483_648.0] {
            let (value, decimal) = (whole / factor, 1.0 / factor);
            // Of doubles there are few whose product is less than it should be.
            let may_be_cut = is_float || value * factor < whole;
            if may_be_cut && low - decimal <= value && value <= high + decimal {
                least = least.min(-value - decimal);
            }
        }
    }
    least
}

/// A bound that is stored; none where the column has none that can be believed. That of null stands among the values,
/// so that others are still within the bounds.
fn bound(bytes: &[u8], column: &Column) -> Option<Bound> {
    // Bounds of complex columns are those of something else; keys of a dictionary are in the order of loading.
    if !column.children.is_empty() || column.has_global_dictionary() {
        return None;
    }
    let is_key = column.encoders.contains(&Encoding::DirectDictionary);
    match column.kind {
        Kind::String | Kind::Varchar if column.is_dimension => Some(Bound::Bytes(bytes.to_vec())),
        Kind::Date if column.is_dimension => date_key(bytes).map(|key| Bound::Integer(key - i64::from(EPOCH_KEY))),
        _ if is_key => None,
        Kind::Timestamp if column.is_dimension => flipped(bytes, 8)?.checked_mul(1000).map(Bound::Ticks),
        Kind::Short if column.is_dimension => flipped(bytes, 2).map(Bound::Integer),
        Kind::Int if column.is_dimension => flipped(bytes, 4).map(Bound::Integer),
        Kind::Long if column.is_dimension => flipped(bytes, 8).map(Bound::Integer),
        _ if column.is_dimension => None,
        Kind::Short | Kind::Int | Kind::Long => whole(bytes, |bytes| bytes.i64().ok()).map(Bound::Integer),
        Kind::Boolean => {
            whole(bytes, |bytes| bytes.u8().ok()).filter(|&value| value <= 1).map(|value| Bound::Integer(value.into()))
        }
        Kind::Double => whole(bytes, |bytes| bytes.f64().ok()).filter(|value| value.is_finite()).map(Bound::Number),
        Kind::Float => {
            let value = f64::from(Bytes::new(bytes).f32().ok()?);
            value.is_finite().then_some(Bound::Number(value))
        }
        Kind::Decimal { .. } => {
            let (&scale, digits) = bytes.split_first()?;
            let unscaled = big_integer(digits).filter(|_| !digits.is_empty())?;
            (scale <= 38).then_some(Bound::Decimal { unscaled, scale: scale.into() })
        }
        _ => None,
    }
}

/// A number that all bytes are needed for.
fn whole<T>(bytes: &[u8], read: impl Fn(&mut Bytes<'_>) -> Option<T>) -> Option<T> {
    let mut rest = Bytes::new(bytes);
    read(&mut rest).filter(|_| rest.is_empty())
}

fn date_key(bytes: &[u8]) -> Option<i64> {
    whole(bytes, |bytes| bytes.i32().ok()).map(i64::from).filter(|&key| key >= NULL_KEY)
}

/// A whole number of a width whose sign is flipped, so that its bytes are in its order. Empty stands for null.
fn flipped(bytes: &[u8], width: usize) -> Option<i64> {
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

    fn column(kind: Kind, is_dimension: bool) -> Column {
        Column { is_dimension, ..Column::sample("x", kind) }
    }

    fn min_max(min: &[u8], max: &[u8]) -> MinMax {
        MinMax { min: vec![min.to_vec()], max: vec![max.to_vec()], is_present: None }
    }

    fn bounds(kind: Kind, is_dimension: bool, min: &[u8], max: &[u8]) -> Known {
        known(&min_max(min, max), 0, &column(kind, is_dimension), false)
    }

    fn integers(min: Option<i64>, max: i64) -> Known {
        Known { min: min.map(Bound::Integer), max: Some(Bound::Integer(max)), ..Known::default() }
    }

    #[test]
    fn numbers() {
        assert_eq!(bounds(Kind::Int, true, &[0x7f, 0xff, 0xff, 0xff], &[0x80, 0, 0, 5]), integers(Some(-1), 5));
        assert_eq!(bounds(Kind::Short, true, &[], &[0xff, 0xff]), integers(None, 32767));
        assert_eq!(bounds(Kind::Long, true, &[0; 8], &[0xff; 8]), integers(Some(i64::MIN), i64::MAX));
        assert_eq!(bounds(Kind::Int, false, &(-7i64).to_be_bytes(), &9i64.to_be_bytes()), integers(Some(-7), 9));
        let ticks = bounds(Kind::Timestamp, true, &[0x80, 0, 0, 0, 0, 0, 0, 1], &[0xff; 8]);
        assert_eq!(ticks, Known { min: Some(Bound::Ticks(1000)), ..Known::default() });
        let decimal = bounds(Kind::Decimal { precision: 5, scale: 2 }, false, &[2, 0xff], &[2]);
        assert_eq!((decimal.min, decimal.max), (Some(Bound::Decimal { unscaled: -1, scale: 2 }), None));
        let date = bounds(Kind::Date, true, &1i32.to_be_bytes(), &1_073_741_824i32.to_be_bytes());
        assert_eq!((date.max, date.nulls), (Some(Bound::Integer(1)), Some(true)));
    }

    #[test]
    fn floats_are_widened() {
        let known = bounds(Kind::Double, false, &0f64.to_be_bytes(), &1000f64.to_be_bytes());
        let (Some(Bound::Number(min)), Some(Bound::Number(max))) = (known.min, known.max) else { panic!() };
        assert!(min < 0.0 && min > -1e-8 && max > 2000.0 && max < 2050.0);
        let float = [&1.5f32.to_be_bytes()[..], &[0; 4]].concat();
        assert!(bounds(Kind::Float, false, &float, &float).min.is_some());
        assert_eq!(bounds(Kind::Double, false, &f64::NAN.to_be_bytes(), &0f64.to_be_bytes()), Known::default());
    }

    #[test]
    fn texts_and_what_is_not_believed() {
        let known = bounds(Kind::String, true, NULL_TEXT, b"b");
        assert_eq!((known.max, known.nulls), (Some(Bound::Bytes(b"b".into())), Some(true)));
        for kind in [Kind::Byte, Kind::Binary, Kind::Boolean, Kind::Array] {
            assert_eq!(bounds(kind, true, b"\0", b"\x01"), Known::default());
        }
        let text = column(Kind::String, true);
        assert_eq!(super::known(&min_max(b"a", b"b"), 0, &text, true), Known::default());
        assert_eq!(super::known(&min_max(b"a", b"b"), 1, &text, false), Known::default());
        let unset = MinMax { is_present: Some(vec![false]), ..min_max(b"", b"") };
        assert_eq!(super::known(&unset, 0, &text, false), Known::default());
        let keys = Column { encoders: vec![Encoding::Dictionary], ..text };
        assert_eq!(super::known(&min_max(b"a", b"b"), 0, &keys, false), Known::default());
    }
}
