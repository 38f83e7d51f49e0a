//! The place of a literal among the values that a column can hold.

use super::ranges::{Number, Ordered, Ranges};
use crate::expression::Comparison;
use crate::statistics::Decimal;

/// Most digits of a decimal.
const MAX_DIGITS: u32 = 38;

/// Where a number is among the values of a column.
pub(super) enum Place<T> {
    /// Below all that the type has room for.
    Below,
    /// The greatest value that is not above it, and whether it is that.
    At(T, bool),
    Above,
}

impl<T> Place<T> {
    /// The place of what is above this, and below all values that are.
    pub(super) fn between(self) -> Self {
        match self {
            Place::At(value, _) => Place::At(value, false),
            outside => outside,
        }
    }
}

pub(super) fn compare<T: Ordered>(op: Comparison, place: Place<T>) -> Ranges<T> {
    use Comparison as C;
    match (place, op) {
        (Place::Below, C::NotEqual | C::Greater | C::GreaterOrEqual) => Ranges::all(),
        (Place::Above, C::NotEqual | C::Less | C::LessOrEqual) => Ranges::all(),
        (Place::Below | Place::Above, _) => Ranges::none(),
        (Place::At(value, true), C::Equal) => Ranges::of(value),
        (Place::At(value, true), C::NotEqual) => Ranges::of(value).complement(),
        (Place::At(_, false), C::Equal) => Ranges::none(),
        (Place::At(_, false), C::NotEqual) => Ranges::all(),
        (Place::At(value, true), C::Less) => Ranges::before(value),
        (Place::At(value, _), C::Less | C::LessOrEqual) => Ranges::up_to(&value),
        (Place::At(value, true), C::GreaterOrEqual) => Ranges::from(value),
        (Place::At(value, _), C::Greater | C::GreaterOrEqual) => Ranges::after(&value),
    }
}

/// Where `value / divisor` is among 64-bit integers.
pub(super) fn among_integers(value: i128, divisor: i128) -> Place<i64> {
    let floor = value.div_euclid(divisor);
    match i64::try_from(floor) {
        Ok(floor) => Place::At(floor, value.rem_euclid(divisor) == 0),
        Err(_) if floor < 0 => Place::Below,
        Err(_) => Place::Above,
    }
}

/// Where an integer is among floating point numbers.
#[expect(
    clippy::cast_possible_truncation,
    reason = "a whole number of up to 128 bits, or the power of two behind them"
)]
pub(super) fn among_numbers(value: i128) -> Place<Number> {
    let nearest = value as f64;
    let is_above = nearest >= 2f64.powi(127) || nearest as i128 > value;
    let floor = if is_above { nearest.next_down() } else { nearest };
    Number::new(floor).map_or(Place::Above, |floor| Place::At(floor, !is_above && nearest as i128 == value))
}

/// Where a number is among decimals of a scale; `None` for its digits where there are more than fit, and then
/// `is_negative` decides.
pub(super) fn among_decimals(digits: Option<(i128, u32)>, is_negative: bool, scale: u32) -> Place<i128> {
    let outside = || if is_negative { Place::Below } else { Place::Above };
    let Some((unscaled, from)) = digits else { return outside() };
    match scale.checked_sub(from) {
        Some(more) => {
            let value = 10i128.checked_pow(more).and_then(|power| unscaled.checked_mul(power));
            value.map_or_else(outside, |value| Place::At(value, true))
        }
        None => match 10i128.checked_pow(from - scale) {
            Some(power) => Place::At(unscaled.div_euclid(power), unscaled.rem_euclid(power) == 0),
            None => Place::At(if unscaled < 0 { -1 } else { 0 }, unscaled == 0),
        },
    }
}

/// All digits of a whole number. Of others those of the shortest decimal number that is written as this one, and how many
/// of them are behind the point: behind the 38th there is a digit for whatever follows. None where they are too many before
/// the point.
pub(super) fn digits_of(value: f64) -> Option<(i128, u32)> {
    if value.fract() == 0.0 {
        #[expect(clippy::cast_possible_truncation, reason = "a whole number of less than 128 bits")]
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
