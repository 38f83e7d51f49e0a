//! Numbers and durations of texts.

use arrow_schema::TimeUnit;

use super::number::{Digits, Width};
use super::time::per_second;

pub(super) fn parse_boolean(text: &str) -> Option<bool> {
    if text.eq_ignore_ascii_case("true") {
        return Some(true);
    }
    text.eq_ignore_ascii_case("false").then_some(false)
}

/// An integer of decimal digits, which may have a `-` and zeros at the start.
pub(super) fn parse_integer(text: &str) -> Option<i128> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let are_digits = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    if are_digits { text.parse().ok() } else { None }
}

/// A floating point number whose digits are those of the text.
pub(super) fn parse_float(text: &str, width: Width) -> Option<f64> {
    let word = text.strip_prefix(['+', '-']).unwrap_or(text);
    if ["inf", "infinity", "nan"].iter().any(|known| word.eq_ignore_ascii_case(known)) {
        return width.nearest(text);
    }
    if text.len() <= width.sure_digits() {
        let value = width.nearest(text)?;
        if value.is_finite() && value.abs() >= width.least_normal() {
            return Some(value);
        }
    }
    let value = Digits::parse(text)?.float(width)?;
    Some(if value == 0.0 && text.starts_with('-') { -0.0 } else { value })
}

/// The number of units of a duration such as `PT1.5S`.
pub(super) fn parse_duration(text: &str, unit: TimeUnit) -> Option<i64> {
    let number = text.strip_prefix("PT")?.strip_suffix('S')?;
    let (whole, fraction) = match number.split_once('.') {
        Some((whole, fraction)) if (1..=9).contains(&fraction.len()) => (whole, fraction),
        Some(_) => return None,
        None => (number, ""),
    };
    if fraction.bytes().any(|byte| !byte.is_ascii_digit()) {
        return None;
    }
    let seconds = parse_integer(whole)?;
    let per_second = i128::from(per_second(unit));
    let nanos = format!("{fraction:0<9}").parse::<i128>().ok()?;
    let fraction = nanos * per_second;
    if fraction % 1_000_000_000 != 0 {
        return None;
    }
    let fraction = fraction / 1_000_000_000;
    let signed = if whole.starts_with('-') { -fraction } else { fraction };
    i64::try_from(seconds.checked_mul(per_second)?.checked_add(signed)?).ok()
}
