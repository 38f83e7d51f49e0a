//! Numbers whose digits are kept.

use std::fmt::LowerExp;
use std::str::FromStr;

/// Digits that tell all significant digits of a floating point number.
const ALL_DIGITS: usize = 780;

/// Whether a text is a number of JSON. arrow-json takes `1-2` for one.
pub(super) fn is_number(text: &str) -> bool {
    let text = text.strip_prefix('-').unwrap_or(text);
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent.strip_prefix(['+', '-']).unwrap_or(exponent))),
        None => (text, None),
    };
    let (whole, fraction) = match mantissa.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (mantissa, None),
    };
    is_digits(whole)
        && (whole == "0" || !whole.starts_with('0'))
        && fraction.is_none_or(is_digits)
        && exponent.is_none_or(is_digits)
}

/// Whether a text is digits, at least one.
pub(super) fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// A number that has the digits of texts, if they are not too many.
pub(super) trait Exact: FromStr {
    /// The number of a text that is one of JSON; `None` if there is no number that has its digits.
    fn exact(text: &str) -> Option<Self>;
}

macro_rules! integer {
    ($($kind:ty),+) => {
        $(impl Exact for $kind {
            fn exact(text: &str) -> Option<Self> {
                text.parse().ok()
            }
        })+
    };
}

integer!(i8, i16, i32, i64, u8, u16, u32, u64);

impl Exact for f64 {
    fn exact(text: &str) -> Option<Self> {
        let value: f64 = text.parse().ok()?;
        // Numbers of 15 digits are all different, unless they are next to zero.
        let is_sure = text.len() <= 15 && value.is_normal();
        (is_sure || has_digits(text, value, value.is_finite(), 17)).then_some(value)
    }
}

impl Exact for f32 {
    fn exact(text: &str) -> Option<Self> {
        let value: f32 = text.parse().ok()?;
        let is_sure = text.len() <= 6 && value.is_normal();
        (is_sure || has_digits(text, value, value.is_finite(), 9)).then_some(value)
    }
}

/// Whether a number has the digits of a text. Numbers are told apart by `most` digits: with no more than these, the text
/// is that of the nearest number, and with more, it is the number itself.
fn has_digits(text: &str, value: impl LowerExp, is_finite: bool, most: usize) -> bool {
    let Some(wanted) = Digits::of(text) else { return false };
    if wanted.digits.is_empty() {
        // Zero, whatever its exponent.
        return true;
    }
    let count = if wanted.digits.len() <= most { wanted.digits.len() } else { ALL_DIGITS };
    is_finite && Digits::of(&format!("{value:.*e}", count - 1)) == Some(wanted)
}

/// The significant digits of a number, without zeros at their ends, and the power of ten of the first one.
#[derive(PartialEq)]
struct Digits {
    digits: Vec<u8>,
    power: i64,
}

impl Digits {
    fn of(text: &str) -> Option<Self> {
        let text = text.strip_prefix('-').unwrap_or(text);
        let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
        let whole = mantissa.find('.').unwrap_or(mantissa.len());
        let all: Vec<u8> = mantissa.bytes().filter(u8::is_ascii_digit).collect();
        let zeros = all.iter().take_while(|digit| **digit == b'0').count();
        let end = all.iter().rposition(|digit| *digit != b'0').map_or(zeros, |at| at + 1);
        let digits = all.get(zeros..end)?.to_vec();
        if digits.is_empty() {
            return Some(Digits { digits, power: 0 });
        }
        let exponent: i64 = exponent.strip_prefix('+').unwrap_or(exponent).parse().ok()?;
        let place = i64::try_from(whole).ok()?.checked_sub(i64::try_from(zeros).ok()?)?;
        Some(Digits { digits, power: exponent.checked_add(place)? })
    }
}
