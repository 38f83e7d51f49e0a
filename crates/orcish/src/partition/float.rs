//! Texts of floating point numbers.

use std::fmt::LowerExp;
use std::str::FromStr;

use orcish_core::OrInternal as _;
use orcish_core::error::{Error, Result};

/// The digits of a number in scientific notation without its sign, and the power of ten of the first one.
fn digits_of(scientific: &str) -> Result<(String, i32)> {
    let parts = scientific.trim_start_matches('-').split_once('e');
    let (digits, power) = parts.or_internal("scientific notation lacks an exponent")?;
    let power =
        power.parse().map_err(|error| Error::internal("an exponent has more than 32 bits").with_source(error))?;
    Ok((digits.replace('.', ""), power))
}

/// As [`digits_of`], of the nearest of the shortest texts that are parsed as the value, which is finite and not 0. Of two
/// that are equally near the last digit is even.
fn shortest<T: LowerExp + FromStr + PartialEq>(value: T) -> Result<(String, i32)> {
    let (digits, power) = digits_of(&format!("{value:e}"))?;
    let nearest = format!("{value:.*e}", digits.len() - 1);
    if nearest.parse().is_ok_and(|parsed: T| parsed == value) {
        return digits_of(&nearest);
    }
    Ok((digits, power))
}

fn special(value: f64) -> Option<&'static str> {
    match value {
        value if value.is_nan() => Some("NaN"),
        f64::INFINITY => Some("Infinity"),
        f64::NEG_INFINITY => Some("-Infinity"),
        0.0 if value.is_sign_negative() => Some("-0.0"),
        0.0 => Some("0.0"),
        _ => None,
    }
}

/// Digits with a point behind that of the power 0, and at least one digit on both sides of it.
fn plain(digits: &str, power: i32) -> String {
    let Ok(power) = usize::try_from(power) else {
        let zeros = "0".repeat(power.unsigned_abs() as usize - 1);
        return format!("0.{zeros}{digits}");
    };
    let mut text = format!("{digits:0<width$}", width = power + 2);
    text.insert(power + 1, '.');
    text
}

/// The text of a number in tables of Hive: `0.5`, `1e-05`, `1.5e+16`.
pub(super) fn hive_float(value: f64) -> Result<String> {
    if let Some(text) = special(value) {
        return Ok(text.to_owned());
    }
    let sign = if value < 0.0 { "-" } else { "" };
    let (mut digits, power) = shortest(value)?;
    if (-4..16).contains(&power) {
        return Ok(format!("{sign}{}", plain(&digits, power)));
    }
    if digits.len() > 1 {
        digits.insert(1, '.');
    }
    let power_sign = if power < 0 { '-' } else { '+' };
    Ok(format!("{sign}{digits}e{power_sign}{:02}", power.abs()))
}

/// The text of a number in Java: `0.5`, `1.0E-5`, `1.5E16`. Java takes the nearest of the texts with two digits where
/// one digit would do: `4.9E-324`.
pub(super) fn spark_float(value: f64, is_single: bool) -> Result<String> {
    if let Some(text) = special(value) {
        return Ok(text.to_owned());
    }
    let sign = if value < 0.0 { "-" } else { "" };
    #[expect(clippy::cast_possible_truncation, reason = "the value is a 32-bit float")]
    let (mut digits, mut power) = if is_single { shortest(value as f32) } else { shortest(value) }?;
    if digits.len() == 1 {
        let nearest = format!("{value:.1e}");
        #[expect(clippy::cast_possible_truncation, reason = "the nearest 32-bit float is asked for")]
        let is_same = nearest
            .parse::<f64>()
            .is_ok_and(|nearest| if is_single { f64::from(nearest as f32) == value } else { nearest == value });
        if is_same {
            (digits, power) = digits_of(&nearest)?;
            digits.truncate(digits.trim_end_matches('0').len());
        }
    }
    if (-3..7).contains(&power) {
        return Ok(format!("{sign}{}", plain(&digits, power)));
    }
    digits.insert(1, '.');
    if digits.ends_with('.') {
        digits.push('0');
    }
    Ok(format!("{sign}{digits}E{power}"))
}
