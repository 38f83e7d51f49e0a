//! Texts of floating point numbers.

use std::fmt::LowerExp;
use std::str::FromStr;

/// The digits of a number in scientific notation without its sign, and the power of ten of the first one.
fn digits_of(scientific: &str) -> Option<(String, i32)> {
    let (digits, power) = scientific.trim_start_matches('-').split_once('e')?;
    Some((digits.replace('.', ""), power.parse().ok()?))
}

/// As [`digits_of`], of the nearest of the shortest texts that are parsed as the value, which is finite and not 0. Of two
/// that are equally near the last digit is even.
fn shortest<T: LowerExp + FromStr + PartialEq>(value: T) -> Option<(String, i32)> {
    let (digits, power) = digits_of(&format!("{value:e}"))?;
    let nearest = format!("{value:.*e}", digits.len() - 1);
    match nearest.parse().is_ok_and(|parsed: T| parsed == value) {
        true => digits_of(&nearest),
        false => Some((digits, power)),
    }
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
    let zeros = |count: i32| "0".repeat(usize::try_from(count).unwrap_or(0));
    if power < 0 {
        return format!("0.{}{digits}", zeros(-power - 1));
    }
    let count = i32::try_from(digits.len()).unwrap_or(i32::MAX);
    let digits = format!("{digits}{}", zeros(power + 2 - count));
    let (whole, fraction) = digits.split_at_checked(usize::try_from(power).unwrap_or(0) + 1).unwrap_or((&digits, "0"));
    format!("{whole}.{fraction}")
}

/// The text of a number in tables of Hive: `0.5`, `1e-05`, `1.5e+16`.
pub(super) fn hive_float(value: f64) -> String {
    if let Some(text) = special(value) {
        return text.to_owned();
    }
    let sign = if value < 0.0 { "-" } else { "" };
    let Some((digits, power)) = shortest(value) else { return value.to_string() };
    if (-4..16).contains(&power) {
        return format!("{sign}{}", plain(&digits, power));
    }
    let (first, rest) = digits.split_at_checked(1).unwrap_or((&digits, ""));
    let point = if rest.is_empty() { "" } else { "." };
    let power_sign = if power < 0 { '-' } else { '+' };
    format!("{sign}{first}{point}{rest}e{power_sign}{:02}", power.abs())
}

/// The text of a number in Java: `0.5`, `1.0E-5`, `1.5E16`. Java takes the nearest of the texts with two digits where
/// one digit would do: `4.9E-324`.
pub(super) fn spark_float(value: f64, is_single: bool) -> String {
    if let Some(text) = special(value) {
        return text.to_owned();
    }
    let sign = if value < 0.0 { "-" } else { "" };
    #[expect(clippy::cast_possible_truncation, reason = "the value is a 32-bit float")]
    let found = if is_single { shortest(value as f32) } else { shortest(value) };
    let Some((mut digits, mut power)) = found else { return value.to_string() };
    if digits.len() == 1 {
        let nearest = format!("{value:.1e}");
        #[expect(clippy::cast_possible_truncation, reason = "the nearest 32-bit float is asked for")]
        let is_same = match is_single {
            true => nearest.parse::<f64>().is_ok_and(|nearest| f64::from(nearest as f32) == value),
            false => nearest.parse::<f64>().is_ok_and(|nearest| nearest == value),
        };
        if let Some((own, of)) = digits_of(&nearest).filter(|_| is_same) {
            (digits, power) = (own.trim_end_matches('0').to_owned(), of);
        }
    }
    if (-3..7).contains(&power) {
        return format!("{sign}{}", plain(&digits, power));
    }
    let (first, rest) = digits.split_at_checked(1).unwrap_or((&digits, ""));
    format!("{sign}{first}.{}E{power}", if rest.is_empty() { "0" } else { rest })
}
