//! Decimal numbers of statistics.

use std::cmp::Ordering;
use std::fmt;

/// Maximum scale. 10 to this power fits into an `i128`.
const MAX_SCALE: u32 = 38;

/// A decimal number, `unscaled / 10^scale`, of up to 38 digits.
///
/// The representation has no trailing zeros behind the decimal point: equal numbers have equal fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Decimal {
    unscaled: i128,
    scale: u32,
}

impl Decimal {
    /// `unscaled / 10^scale`; `None` where that needs a scale above 38.
    pub fn new(mut unscaled: i128, mut scale: u32) -> Option<Self> {
        if unscaled == 0 {
            scale = 0;
        }
        while scale > 0 && unscaled % 10 == 0 {
            unscaled /= 10;
            scale -= 1;
        }
        (scale <= MAX_SCALE).then_some(Decimal { unscaled, scale })
    }

    /// The unscaled value: the number times 10 to the power of [`scale`](Self::scale).
    pub fn unscaled(&self) -> i128 {
        self.unscaled
    }

    /// Number of digits behind the decimal point, 0 to 38.
    pub fn scale(&self) -> u32 {
        self.scale
    }

    /// Parses `[+-]digits[.digits][e[+-]digits]`; `None` for other text and for numbers that do not fit. ORC Java and C++
    /// write plain digits, Java's `BigDecimal` also exponents.
    pub fn parse(text: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(text).ok()?;
        let (mantissa, exponent) = match text.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
            None => (text, 0),
        };
        let (negative, digits) = match mantissa.strip_prefix('-') {
            Some(digits) => (true, digits),
            None => (false, mantissa.strip_prefix('+').unwrap_or(mantissa)),
        };
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        if whole.is_empty() && fraction.is_empty() {
            return None;
        }
        // ORC C++ pads to the scale of the column: the trailing zeros of a small number could overflow.
        let fraction = fraction.trim_end_matches('0');
        let mut unscaled = 0i128;
        for digit in whole.bytes().chain(fraction.bytes()) {
            let value = i128::from(digit.checked_sub(b'0').filter(|value| *value <= 9)?);
            unscaled = unscaled.checked_mul(10)?.checked_add(value)?;
        }
        if negative {
            unscaled = -unscaled;
        }
        let scale = i64::try_from(fraction.len()).ok()? - i64::from(exponent);
        match u32::try_from(scale) {
            Ok(scale) => Self::new(unscaled, scale),
            Err(_) if unscaled == 0 => Self::new(0, 0),
            Err(_) => {
                let factor = 10i128.checked_pow(u32::try_from(-scale).ok()?)?;
                Self::new(unscaled.checked_mul(factor)?, 0)
            }
        }
    }

    /// The sum of two numbers; `None` where it does not fit.
    pub fn checked_add(self, other: Self) -> Option<Self> {
        let scale = self.scale.max(other.scale);
        let at_scale = |number: Self| number.unscaled.checked_mul(10i128.checked_pow(scale - number.scale)?);
        Self::new(at_scale(self)?.checked_add(at_scale(other)?)?, scale)
    }

    /// The floor, and the fraction in units of 10^-38.
    fn floor_and_fraction(self) -> (i128, i128) {
        // The powers do not overflow, as the scale is at most 38.
        let unit = 10i128.pow(self.scale);
        (self.unscaled.div_euclid(unit), self.unscaled.rem_euclid(unit) * 10i128.pow(MAX_SCALE - self.scale))
    }
}

impl Ord for Decimal {
    fn cmp(&self, other: &Self) -> Ordering {
        if self.scale == other.scale {
            self.unscaled.cmp(&other.unscaled)
        } else {
            self.floor_and_fraction().cmp(&other.floor_and_fraction())
        }
    }
}

impl PartialOrd for Decimal {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unit = 10u128.pow(self.scale);
        let magnitude = self.unscaled.unsigned_abs();
        let sign = if self.unscaled < 0 { "-" } else { "" };
        write!(f, "{sign}{}", magnitude / unit)?;
        match usize::try_from(self.scale) {
            Ok(width) if width > 0 => write!(f, ".{:0width$}", magnitude % unit),
            _ => Ok(()),
        }
    }
}
