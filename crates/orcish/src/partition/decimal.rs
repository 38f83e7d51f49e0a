//! Texts of decimals.

use std::borrow::Cow;

use arrow_buffer::i256;

use super::flavor::Flavor;
use super::number::parse_number;

/// The least power of ten of the first digit that Hive's texts show without an exponent.
const MIN_PLAIN_EXPONENT: i64 = -6;

/// The text of a decimal, given its unscaled value as text.
pub(super) fn decimal_text(unscaled: &str, scale: i8, flavor: Flavor) -> String {
    let (sign, digits) = unscaled.split_at(usize::from(unscaled.starts_with('-')));
    let mut digits = digits.to_owned();
    // The power of ten of the first digit.
    let power = digits.len() as i64 - 1 - i64::from(scale);
    if flavor == Flavor::Hive && (scale < 0 || power < MIN_PLAIN_EXPONENT) {
        if digits.len() > 1 {
            digits.insert(1, '.');
        }
        return format!("{sign}{digits}E{power:+}");
    }
    let places = usize::from(scale.unsigned_abs());
    if scale > 0 {
        digits = format!("{digits:0>width$}", width = places + 1);
        digits.insert(digits.len() - places, '.');
    } else if digits != "0" {
        digits += &"0".repeat(places);
    }
    sign.to_owned() + &digits
}

/// The unscaled value of a decimal of a type; `None` if the text is no number, or the type does not hold it exactly.
pub(super) fn parse_decimal(text: &str, precision: u8, scale: i8) -> Option<i256> {
    let number = parse_number(text.trim())?;
    let digits: Cow<'_, str> = number.digits().into();
    if digits == "0" {
        return Some(i256::ZERO);
    }
    // The number of zeros that are appended, or removed if it is negative.
    let shift = number.last_exponent().saturating_add(i64::from(scale));
    let digits = match usize::try_from(shift) {
        Ok(zeros) if zeros <= usize::from(precision) => format!("{digits}{}", "0".repeat(zeros)),
        Ok(_) => return None,
        Err(_) => {
            let removed = usize::try_from(shift.unsigned_abs()).ok()?;
            let (kept, rest) = digits.split_at_checked(digits.len().checked_sub(removed)?)?;
            if kept.is_empty() || rest.bytes().any(|byte| byte != b'0') {
                return None;
            }
            kept.to_owned()
        }
    };
    if digits.len() > usize::from(precision) {
        return None;
    }
    let sign = if number.is_negative { "-" } else { "" };
    i256::from_string(&format!("{sign}{digits}"))
}
