//! Decimal digits of numbers: those of texts, of decimals, and of floating point numbers.

use arrow_array::types::{ArrowPrimitiveType, Float16Type};
use arrow_buffer::i256;

/// Decimals of 256 bits have as many digits.
const MAX_DIGITS: usize = 76;
/// More than the digits of any floating point number, which are all of its value.
const ALL_DIGITS: usize = 800;

/// A number by its digits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Digits {
    is_negative: bool,
    /// Without zeros at the ends; empty for 0.
    digits: String,
    /// The power of ten of the last digit; 0 for 0.
    exponent: i64,
}

impl Digits {
    /// The digits of a text such as `-1.50`, `1e5` or `.5`; `None` if it is no such text, or its exponent has more than 64
    /// bits.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (mantissa, exponent) = match text.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, Some(exponent)),
            None => (text, None),
        };
        let number = mantissa.strip_prefix(['+', '-']).unwrap_or(mantissa);
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        let are_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        if !are_digits(whole) || !are_digits(fraction) || whole.len() + fraction.len() == 0 {
            return None;
        }
        let power = exponent.map(|power| power.strip_prefix(['+', '-']).unwrap_or(power));
        if power.is_some_and(|power| power.is_empty() || !are_digits(power)) {
            return None;
        }
        let digits = format!("{whole}{fraction}");
        let kept = digits.trim_end_matches('0');
        let zeros = digits.len() - kept.len();
        let kept = kept.trim_start_matches('0');
        if kept.is_empty() {
            return Some(Digits { is_negative: false, digits: String::new(), exponent: 0 });
        }
        let exponent: i64 = exponent.map_or(Some(0), |exponent| exponent.parse().ok())?;
        let exponent = exponent.checked_sub_unsigned(fraction.len() as u64)?.checked_add_unsigned(zeros as u64)?;
        Some(Digits { is_negative: mantissa.starts_with('-'), digits: kept.to_owned(), exponent })
    }

    /// The number as a decimal; `None` if it has more digits than decimals.
    pub(super) fn decimal(&self) -> Option<Decimal> {
        if self.digits.len() > MAX_DIGITS {
            return None;
        }
        let unscaled = if self.digits.is_empty() { i256::ZERO } else { i256::from_string(&self.digits)? };
        let unscaled = if self.is_negative { unscaled.checked_neg()? } else { unscaled };
        Some(Decimal { unscaled, scale: self.exponent.checked_neg()? })
    }

    /// The floating point number that is nearest, if it has these digits: they are its value, or the value rounded to as
    /// many digits as the type tells apart.
    pub(super) fn float(&self, width: Width) -> Option<f64> {
        if self.digits.is_empty() {
            return Some(0.0);
        }
        let sign = if self.is_negative { "-" } else { "" };
        let value = width.nearest(&format!("{sign}{}e{}", self.digits, self.exponent))?;
        let count = self.digits.len();
        if !value.is_finite() || value == 0.0 || count > ALL_DIGITS {
            return None;
        }
        let shown = if count <= width.most_digits() { count } else { ALL_DIGITS };
        let is_same = |text: String| Digits::parse(&text).as_ref() == Some(self);
        // Half way between two numbers of as many digits, the shortest digits can be those of the other one.
        let has_digits = is_same(format!("{value:.*e}", shown - 1)) || is_same(Float { value, width }.shortest());
        has_digits.then_some(value)
    }
}

/// A number `unscaled * 10^-scale`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Decimal {
    pub(super) unscaled: i256,
    pub(super) scale: i64,
}

impl Decimal {
    /// The number with another scale; `None` where digits would be lost, or are more than those of decimals.
    pub(super) fn with_scale(self, scale: i64) -> Option<i256> {
        if self.unscaled == i256::ZERO {
            return Some(i256::ZERO);
        }
        let more = scale.checked_sub(self.scale)?;
        let factor = power(more.unsigned_abs())?;
        if more >= 0 {
            return self.unscaled.checked_mul(factor);
        }
        let (quotient, rest) = self.unscaled.checked_div_rem(factor)?;
        (rest == i256::ZERO).then_some(quotient)
    }

    pub(super) fn digits(self) -> Option<Digits> {
        Digits::parse(&format!("{}e{}", self.unscaled, self.scale.checked_neg()?))
    }

    /// The text, with an exponent where the scale is negative, or more than six zeros would be behind the point, as that of
    /// pyarrow and of `java.math.BigDecimal`.
    pub(super) fn text(self) -> String {
        let text = self.unscaled.to_string();
        let (sign, digits) = text.strip_prefix('-').map_or(("", text.as_str()), |digits| ("-", digits));
        let count = i64::try_from(digits.len()).unwrap_or(i64::MAX);
        let exponent = count - 1 - self.scale;
        if self.scale < 0 || exponent < -6 {
            let (first, rest) = digits.split_at(1);
            let point = if rest.is_empty() { "" } else { "." };
            return format!("{sign}{first}{point}{rest}E{exponent:+}");
        }
        let scale = usize::try_from(self.scale).unwrap_or(0);
        let digits = format!("{digits:0>width$}", width = scale + 1);
        let (whole, fraction) = digits.split_at(digits.len() - scale);
        let point = if fraction.is_empty() { "" } else { "." };
        format!("{sign}{whole}{point}{fraction}")
    }
}

/// A power of ten; `None` if it has more than 256 bits.
pub(super) fn power(exponent: u64) -> Option<i256> {
    let exponent = u32::try_from(exponent).ok()?;
    match 10_i128.checked_pow(exponent) {
        Some(power) => Some(i256::from_i128(power)),
        None => i256::from_i128(10).checked_pow(exponent),
    }
}

/// A type of floating point numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Width {
    Half,
    Single,
    Double,
}

impl Width {
    /// The number that is nearest to a text.
    pub(super) fn nearest(self, text: &str) -> Option<f64> {
        Some(match self {
            Width::Half => half(text.parse().ok()?).to_f64(),
            Width::Single => text.parse::<f32>().ok()?.into(),
            Width::Double => text.parse().ok()?,
        })
    }

    /// The number that is nearest to another one.
    #[expect(clippy::cast_possible_truncation, reason = "the nearest number is asked for")]
    pub(super) fn rounded(self, value: f64) -> f64 {
        match self {
            Width::Half => half(value).to_f64(),
            Width::Single => (value as f32).into(),
            Width::Double => value,
        }
    }

    /// Decimal digits that all numbers but the least ones keep.
    pub(super) fn sure_digits(self) -> usize {
        match self {
            Width::Half => 3,
            Width::Single => 6,
            Width::Double => 15,
        }
    }

    /// Decimal digits that tell all numbers apart.
    fn most_digits(self) -> usize {
        match self {
            Width::Half => 5,
            Width::Single => 9,
            Width::Double => 17,
        }
    }

    /// The least number with all digits of the type.
    pub(super) fn least_normal(self) -> f64 {
        match self {
            Width::Half => 6.103_515_625e-5,
            Width::Single => f32::MIN_POSITIVE.into(),
            Width::Double => f64::MIN_POSITIVE,
        }
    }
}

type Half = <Float16Type as ArrowPrimitiveType>::Native;

pub(super) fn half(value: f64) -> Half {
    Half::from_f64(value)
}

/// A number of a type of floating point numbers.
#[derive(Debug, Clone, Copy)]
pub(super) struct Float {
    pub(super) value: f64,
    pub(super) width: Width,
}

impl Float {
    /// The number with an exponent, and with the fewest digits that tell it apart from the others of its type.
    #[expect(clippy::cast_possible_truncation, reason = "the value is one of single precision")]
    fn shortest(self) -> String {
        let Float { value, width } = self;
        match width {
            Width::Half if value.fract() != 0.0 => {
                let texts = (0..width.most_digits()).map(|digits| format!("{value:.digits$e}"));
                let shortest = texts.into_iter().find(|text| width.nearest(text) == Some(value));
                shortest.unwrap_or_else(|| format!("{value:e}"))
            }
            Width::Single => format!("{:e}", value as f32),
            Width::Half | Width::Double => format!("{value:e}"),
        }
    }

    /// A whole number as it is, and another one by its shortest digits.
    pub(super) fn decimal(self) -> Option<Decimal> {
        if !self.value.is_finite() || self.value.abs() >= 1e77 {
            return None;
        }
        let text = if self.value.fract() == 0.0 { format!("{:.0}", self.value) } else { self.shortest() };
        Digits::parse(&text)?.decimal()
    }

    /// The text, with the shortest digits: plain numbers from 1e-6 to 1e10, with an exponent beyond, as that of pyarrow.
    pub(super) fn text(self) -> String {
        if self.value.is_nan() {
            return "nan".to_owned();
        }
        if self.value.is_infinite() {
            return if self.value < 0.0 { "-inf" } else { "inf" }.to_owned();
        }
        let text = self.shortest();
        let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let exponent: i64 = exponent.parse().unwrap_or(0);
        if !(-6..10).contains(&exponent) {
            return format!("{mantissa}e{exponent:+}");
        }
        let (sign, number) = mantissa.strip_prefix('-').map_or(("", mantissa), |number| ("-", number));
        let digits = number.replace('.', "");
        let count = i64::try_from(digits.len()).unwrap_or(i64::MAX);
        match usize::try_from(exponent + 1) {
            Ok(whole) if whole > 0 => {
                let digits = format!("{digits:0<whole$}");
                let (whole, fraction) = digits.split_at(whole);
                let point = if fraction.is_empty() { "" } else { "." };
                format!("{sign}{whole}{point}{fraction}")
            }
            _ => format!("{sign}0.{digits:0>width$}", width = usize::try_from(count - exponent - 1).unwrap_or(0)),
        }
    }
}
