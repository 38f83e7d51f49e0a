//! The position of a literal among the values of the type of a column.

use super::ranges::{NonNan, Ordered, Ranges};
use crate::expression::Comparison;
use crate::statistics::Decimal;

/// Maximum number of digits of a decimal.
const MAX_DIGITS: u32 = 38;

/// The position of a literal among the values of a type.
pub(super) enum LiteralPosition<T> {
    /// Below all values.
    Below,
    /// The greatest value that is not above the literal, and whether they are equal.
    At(T, bool),
    /// Above all values.
    Above,
}

impl<T> LiteralPosition<T> {
    /// The position of a literal that is above this position, and below the next value.
    pub(super) fn above(self) -> Self {
        match self {
            LiteralPosition::At(value, _) => LiteralPosition::At(value, false),
            out_of_range => out_of_range,
        }
    }
}

/// The values for which a comparison with a literal at `position` is true.
pub(super) fn compare<T: Ordered>(op: Comparison, position: LiteralPosition<T>) -> Ranges<T> {
    use Comparison as C;
    match (position, op) {
        (LiteralPosition::Below, C::NotEqual | C::Greater | C::GreaterOrEqual) => Ranges::all(),
        (LiteralPosition::Above, C::NotEqual | C::Less | C::LessOrEqual) => Ranges::all(),
        (LiteralPosition::Below | LiteralPosition::Above, _) => Ranges::none(),
        (LiteralPosition::At(value, true), C::Equal) => Ranges::single(value),
        (LiteralPosition::At(value, true), C::NotEqual) => Ranges::single(value).complement(),
        (LiteralPosition::At(_, false), C::Equal) => Ranges::none(),
        (LiteralPosition::At(_, false), C::NotEqual) => Ranges::all(),
        (LiteralPosition::At(value, true), C::Less) => Ranges::before(value),
        (LiteralPosition::At(value, _), C::Less | C::LessOrEqual) => Ranges::up_to(&value),
        (LiteralPosition::At(value, true), C::GreaterOrEqual) => Ranges::from(value),
        (LiteralPosition::At(value, _), C::Greater | C::GreaterOrEqual) => Ranges::after(&value),
    }
}

/// The position of `value / divisor` among 64-bit integers.
pub(super) fn in_integers(value: i128, divisor: i128) -> LiteralPosition<i64> {
    let floor = value.div_euclid(divisor);
    match i64::try_from(floor) {
        Ok(floor) => LiteralPosition::At(floor, value.rem_euclid(divisor) == 0),
        Err(_) if floor < 0 => LiteralPosition::Below,
        Err(_) => LiteralPosition::Above,
    }
}

/// The position of an integer among doubles.
#[expect(clippy::cast_possible_truncation, reason = "integers below 2^127, and 2^127, which is handled")]
pub(super) fn in_floats(value: i128) -> LiteralPosition<NonNan> {
    let nearest = value as f64;
    let is_above = nearest >= 2f64.powi(127) || nearest as i128 > value;
    let floor = if is_above { nearest.next_down() } else { nearest };
    NonNan::new(floor)
        .map_or(LiteralPosition::Above, |floor| LiteralPosition::At(floor, !is_above && nearest as i128 == value))
}

/// The position of a number among decimals of a scale. `digits` are its unscaled value and its scale; `None` where they are
/// too large, and the sign determines the position.
pub(super) fn in_decimals(digits: Option<(i128, u32)>, is_negative: bool, scale: u32) -> LiteralPosition<i128> {
    let out_of_range = || if is_negative { LiteralPosition::Below } else { LiteralPosition::Above };
    let Some((unscaled, from)) = digits else { return out_of_range() };
    match scale.checked_sub(from) {
        Some(more) => {
            let value = 10i128.checked_pow(more).and_then(|power| unscaled.checked_mul(power));
            value.map_or_else(out_of_range, |value| LiteralPosition::At(value, true))
        }
        None => match 10i128.checked_pow(from - scale) {
            Some(power) => LiteralPosition::At(unscaled.div_euclid(power), unscaled.rem_euclid(power) == 0),
            None => LiteralPosition::At(if unscaled < 0 { -1 } else { 0 }, unscaled == 0),
        },
    }
}

/// The unscaled value and the scale of a double: all digits of an integer, and the digits of the shortest decimal notation of
/// another number. One digit behind the 38th decimal place stands for all further digits. `None` where the integer part has
/// too many digits.
pub(super) fn decimal_digits(value: f64) -> Option<(i128, u32)> {
    if value.fract() == 0.0 {
        #[expect(clippy::cast_possible_truncation, reason = "an integer below 2^127")]
        return (value.abs() < 2f64.powi(127)).then_some((value as i128, 0));
    }
    let text = format!("{value:e}");
    if let Some(number) = Decimal::parse(text.as_bytes()) {
        return Some((number.unscaled(), number.scale()));
    }
    if value.abs() >= 1.0 {
        return None;
    }
    let (mantissa, exponent) = text.split_once('e')?;
    let digits: i128 = mantissa.replace('.', "").parse().ok()?;
    let behind = mantissa.split_once('.').map_or(0, |(_, fraction)| fraction.len());
    let scale = i64::try_from(behind).ok()? - exponent.parse::<i64>().ok()?;
    let power = u32::try_from(scale - i64::from(MAX_DIGITS)).ok().and_then(|more| 10i128.checked_pow(more));
    let floor = power.map_or(if digits < 0 { -1 } else { 0 }, |power| digits.div_euclid(power));
    Some((floor * 10 + 5, MAX_DIGITS + 1))
}
