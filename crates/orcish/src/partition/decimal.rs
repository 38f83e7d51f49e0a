//! Texts of decimals.

use std::borrow::Cow;

use arrow_buffer::i256;

use super::flavor::Flavor;
use super::number::parse_number;

/// The least power of ten of the first digit that Hive's texts show without an exponent.
const MIN_PLAIN_EXPONENT: i64 = -6;

/// The text of a decimal, given its unscaled value as text.
pub(super) fn decimal_text(unscaled: &str, scale: i8, flavor: Flavor) -> String {
    let (sign, digits) = unscaled.strip_prefix('-').map_or(("", unscaled), |digits| ("-", digits));
    let count = i64::try_from(digits.len()).unwrap_or(i64::MAX);
    let scale = i64::from(scale);
    // The power of ten of the first digit.
    let power = count - 1 - scale;
    let zeros = |count: i64| "0".repeat(usize::try_from(count).unwrap_or(0));
    if flavor == Flavor::Hive && (scale < 0 || power < MIN_PLAIN_EXPONENT) {
        let (first, rest) = digits.split_at_checked(1).unwrap_or((digits, ""));
        let point = if rest.is_empty() { "" } else { "." };
        return format!("{sign}{first}{point}{rest}E{power:+}");
    }
    if scale <= 0 {
        let zeros = if digits == "0" { String::new() } else { zeros(-scale) };
        return format!("{sign}{digits}{zeros}");
    }
    let digits = format!("{}{digits}", zeros(scale + 1 - count));
    let point = digits.len().saturating_sub(usize::try_from(scale).unwrap_or(0));
    let (whole, fraction) = digits.split_at_checked(point).unwrap_or((&digits, ""));
    format!("{sign}{whole}.{fraction}")
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
