//! Tests that decoded numbers are within the widened bounds of their page, for all encodings.

use arrow_array::cast::AsArray as _;
use arrow_array::types::{Float32Type, Float64Type};

use super::*;
use crate::page::{EncoderMeta, PageInput, decode};

/// Number of decimal places, which Java takes from the text of the number.
fn decimals(value: f64, is_float: bool) -> usize {
    #[expect(clippy::cast_possible_truncation, reason = "the value is a float")]
    let text = if is_float { format!("{}", value as f32) } else { format!("{value}") };
    text.split_once('.').map_or(0, |(_, digits)| digits.len())
}

/// Bytes of the narrowest integer width, and its type code.
fn width(value: i64) -> (usize, u8) {
    match if value < 0 { !value } else { value }.leading_zeros() {
        57.. => (1, 14),
        49.. => (2, 4),
        41.. => (3, 16),
        33.. => (4, 5),
        _ => (8, 7),
    }
}

fn ends(values: &[f64]) -> (f64, f64) {
    values.iter().fold((f64::MAX, f64::MIN), |(min, max), &value| (min.min(value), max.max(value)))
}

/// Encodes numbers as Apache's writer does: encoding, type code, decimal places and bytes. `None` where the writer
/// stores the numbers unchanged.
#[expect(clippy::cast_possible_truncation, clippy::cast_precision_loss, reason = "as Java computes")]
fn written(values: &[f64], is_float: bool) -> Option<(Encoding, u8, i32, Vec<u8>)> {
    let digits = values.iter().map(|&value| decimals(value, is_float)).max()?;
    let (min, max) = ends(values);
    if digits > 5 || (digits == 0 && !is_float) {
        return None;
    }
    let digits = i32::try_from(digits).ok()?;
    let factor = 10f64.powi(digits);
    let (plain, apart) = (factor * min.abs().max(max.abs()), factor * (max - min));
    if plain > i64::MAX as f64 {
        return None;
    }
    let (plain, apart) = (width(plain as i64), width(apart as i64));
    let top = if is_float { (factor as f32 * max as f32) as i64 } else { (factor * max) as i64 };
    let (encoder, (bytes, store)) = if plain.0 > apart.0 {
        (Encoding::AdaptiveDeltaFloating, apart)
    } else if plain.0 < 8 {
        (Encoding::AdaptiveFloating, plain)
    } else {
        return None;
    };
    let mut data = Vec::new();
    for value in values {
        let whole = (value * factor + 0.5).floor() as i64;
        let element = match encoder {
            Encoding::AdaptiveFloating => whole,
            // Java casts the double to an int, which truncates.
            _ if is_float => i64::from((top as f64 - value * factor) as i32),
            _ => top - whole,
        };
        let [a, b, c, ..] = element.to_le_bytes();
        match bytes {
            3 => data.extend([c, b, a]),
            bytes => data.extend(&element.to_le_bytes()[..bytes]),
        }
    }
    Some((encoder, store, digits, data))
}

/// Encodes and decodes a page of numbers.
#[expect(clippy::cast_possible_truncation, reason = "the value is a float")]
fn read(values: &[f64], is_float: bool) -> Option<Vec<f64>> {
    let (encoder, store, digits, data) = written(values, is_float)?;
    let (_, max) = ends(values);
    let mut bytes = vec![0, 1, b'm', if is_float { 6 } else { 8 }, 4];
    bytes.extend([0xff; 8]);
    bytes.push(store);
    bytes.extend(digits.to_be_bytes());
    bytes.push(0);
    if is_float {
        bytes.extend([(max as f32).to_be_bytes(), [0; 4], [0; 4]].concat())
    } else {
        bytes.extend([max.to_be_bytes(), [0; 8], [0; 8]].concat())
    }
    let meta = EncoderMeta::read(&bytes).unwrap();
    let column = Column { is_dimension: false, ..Column::sample("m", carbon_type(is_float)) };
    let encoders = [encoder];
    let input = PageInput::sample(&column, values.len(), &encoders, &data);
    let array = decode(&PageInput { meta: Some(&meta), ..input });
    let array = array.unwrap();
    Some(if is_float {
        array.as_primitive::<Float32Type>().values().iter().map(|&value| value.into()).collect()
    } else {
        array.as_primitive::<Float64Type>().values().to_vec()
    })
}

fn carbon_type(is_float: bool) -> CarbonType {
    if is_float { CarbonType::Float } else { CarbonType::Double }
}

/// The widened bounds of a page, from the min/max index that its writer stores.
#[expect(clippy::cast_possible_truncation, reason = "the value is a float")]
fn known_of(values: &[f64], is_float: bool) -> (f64, f64) {
    let (min, max) = ends(values);
    let stored = |value: f64| {
        if is_float { [(value as f32).to_be_bytes(), [0; 4]].concat() } else { value.to_be_bytes().to_vec() }
    };
    let column = Column { is_dimension: false, ..Column::sample("m", carbon_type(is_float)) };
    let known =
        column_bounds(&MinMax { min: vec![stored(min)], max: vec![stored(max)], presence: None }, 0, &column, false);
    let (Some(Bound::Number(min)), Some(Bound::Number(max))) = (known.min, known.max) else { panic!("no bounds") };
    (min, max)
}

#[test]
fn numbers_that_the_writer_changes() {
    // A float lost one unit of the last place, and a double overflowed the byte.
    assert_eq!(read(&[f64::from(2.09f32); 100], true).unwrap()[0], f64::from(2.08f32));
    assert_eq!(read(&[1.38, 0.1], false).unwrap(), [1.38, 2.66]);
}

#[test]
#[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, reason = "any number will do")]
fn all_numbers_are_within_the_bounds_of_their_page() {
    let mut state = 7u64;
    let mut random = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(state >> 33).unwrap() % below
    };
    let (mut cut, mut beyond) = (0, 0);
    for case in 0..crate::fixtures::cases(60_000) {
        let is_float = case % 2 == 0;
        let power = 10f64.powi(i32::try_from(random(6)).unwrap());
        let spread = [1, 120, 130, 32_700, 32_780, 8_388_700, 2_147_483_700][random(7)];
        let base = [0, 100, 1000, 40_000, 9_000_000, 3_000_000_000, 90_000_000_000_000][random(7)];
        let base: i64 = if random(4) == 0 { -base } else { base } + i64::try_from(random(300)).unwrap();
        let mut wholes: Vec<i64> = (0..2 + random(6)).map(|_| base + i64::try_from(random(spread)).unwrap()).collect();
        // The maximum difference of a width, or one more.
        let most = 1i64 << (8 * (1 + random(4)) - 1);
        wholes.push(wholes[0] + [0, most, most - 1][random(3)]);
        let number = |&whole: &i64| {
            let value = whole as f64 / power;
            if is_float { f64::from(value as f32) } else { value }
        };
        let values: Vec<f64> = wholes.iter().map(number).collect();
        let Some(found) = read(&values, is_float) else { continue };
        let (min, max) = known_of(&values, is_float);
        let (_, greatest) = ends(&values);
        for (value, found) in values.iter().zip(found) {
            assert!(min <= found && found <= max, "{found} of {value}, in {min} to {max}: {values:?}");
            cut += usize::from(is_float && (found - value).abs() > 1e-6 * value.abs());
            beyond += usize::from(found > greatest + 100.0 / power);
        }
    }
    // The test is void unless both effects occurred.
    assert!(cut > 100 && beyond > 10, "{cut} {beyond}");
}
