//! Numbers as text.

use crate::Literal;
use crate::expression::decimal_text;

/// Maximum number of digits of integers, and maximum exponent of decimals.
const MAX_DIGITS: usize = 1_000;
/// Maximum number of digits of decimals in ORC, Spark and Arrow.
const MAX_PRECISION: usize = 38;

/// The literal of a number, as in Spark. Numbers with an exponent or `D` are doubles, with `F` floating point numbers of
/// single precision. Other numbers with a point or `BD` are decimals. Others, also with `L`, `S` or `Y`, are integers.
///
/// # Errors
/// The description continues a sentence that begins with the text.
pub(super) fn number(text: &str) -> Result<Literal, &'static str> {
    let suffix_start = number_length(text).ok_or("is no number")?;
    let (digits, suffix) = text.split_at(suffix_start);
    let has_exponent = digits.contains(['e', 'E']);
    let has_point = digits.contains('.');
    match suffix.to_ascii_lowercase().as_str() {
        "bd" => decimal(digits),
        "" if has_point && !has_exponent => decimal(digits),
        "" if has_exponent => float(digits, false),
        suffix @ ("d" | "f") => float(digits, suffix == "f"),
        "" | "l" | "s" | "y" if !has_exponent && !has_point => integer(digits),
        _ => Err("is no number"),
    }
}

/// Length of the number at the beginning of a text: a sign, digits with a point, and an exponent. `None` without number.
pub(super) fn number_length(text: &str) -> Option<usize> {
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let mut length = usize::from(text.starts_with(['+', '-']));
    let whole = digits(text.get(length..)?);
    length += whole;
    if text.get(length..)?.starts_with('.') {
        let fraction = digits(text.get(length + 1..)?);
        if whole + fraction > 0 {
            length += 1 + fraction;
        }
    }
    if length == usize::from(text.starts_with(['+', '-'])) {
        return None;
    }
    let rest = text.get(length..)?;
    if let Some(exponent) = rest.strip_prefix(['e', 'E']) {
        let sign = usize::from(exponent.starts_with(['+', '-']));
        let exponent_digits = digits(exponent.get(sign..)?);
        if exponent_digits > 0 {
            length += 1 + sign + exponent_digits;
        }
    }
    Some(length)
}

fn integer(digits: &str) -> Result<Literal, &'static str> {
    if digits.len() > MAX_DIGITS {
        return Err("has too many digits");
    }
    match digits.parse() {
        Ok(value) => Ok(Literal::Integer(value)),
        Err(_) => digits.parse().map(Literal::Float).map_err(|_| "is no number"),
    }
}

/// The literal of a floating point number.
///
/// # Errors
/// The number is not between the least and the greatest finite number.
#[expect(clippy::cast_possible_truncation, reason = "single precision is asked for, and infinity is refused")]
pub(super) fn float(digits: &str, is_single: bool) -> Result<Literal, &'static str> {
    let value: f64 = digits.parse().map_err(|_| "is no number")?;
    let value = if is_single { f64::from(value as f32) } else { value };
    if value.is_finite() { Ok(Literal::Float(value)) } else { Err("is beyond all floating point numbers") }
}

/// The literal of a decimal that may have an exponent.
fn decimal(text: &str) -> Result<Literal, &'static str> {
    const TOO_LONG: &str = "is too long a decimal";
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let exponent: i64 = exponent.parse().map_err(|_| "has too large an exponent")?;
    let (sign, mantissa) = match mantissa.strip_prefix('-') {
        Some(mantissa) => ("-", mantissa),
        None => ("", mantissa.strip_prefix('+').unwrap_or(mantissa)),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{fraction}");
    // The number of digits before the point, which may be negative.
    let point = i64::try_from(whole.len()).ok().and_then(|whole| whole.checked_add(exponent)).ok_or(TOO_LONG)?;
    let size = |number: i64| usize::try_from(number.unsigned_abs()).map_err(|_| TOO_LONG);
    if digits.len() > MAX_DIGITS || size(exponent)? > MAX_DIGITS || size(point)? > MAX_DIGITS {
        return Err(TOO_LONG);
    }
    let text = match usize::try_from(point) {
        Ok(point) => {
            let digits = format!("{digits:0<point$}");
            let (whole, fraction) = digits.split_at(point);
            format!("{sign}{whole}.{fraction}")
        }
        Err(_) => format!("{sign}.{}{digits}", "0".repeat(size(point)?)),
    };
    Literal::decimal(&text).ok_or("is no number")
}

impl Literal {
    /// The literal of a decimal in plain notation, such as `-12.50`; `None` if the text is not a decimal.
    ///
    /// A decimal of more than 38 digits before the point, beyond all decimal columns, is the nearest floating point number.
    ///
    /// ```
    /// use orcish_core::Literal;
    ///
    /// assert_eq!(Literal::decimal("-12.50"), Some(Literal::Decimal { unscaled: -1250, scale: 2 }));
    /// assert_eq!(Literal::decimal("1e3"), None);
    /// ```
    pub fn decimal(text: &str) -> Option<Self> {
        let (is_negative, number) = match text.strip_prefix('-') {
            Some(number) => (true, number),
            None => (false, text.strip_prefix('+').unwrap_or(text)),
        };
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        let is_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        if !is_digits(whole) || !is_digits(fraction) || whole.len() + fraction.len() == 0 {
            return None;
        }
        let whole = whole.trim_start_matches('0');
        let unscaled = |fraction: &str| {
            let digits = format!("0{whole}{fraction}");
            digits.parse::<i128>().ok().map(|number| if is_negative { -number } else { number })
        };
        for fraction in [fraction, fraction.trim_end_matches('0')] {
            if let (Some(unscaled), Ok(scale)) = (unscaled(fraction), u32::try_from(fraction.len())) {
                return Some(Literal::Decimal { unscaled, scale });
            }
        }
        let nearest: f64 = text.parse().ok()?;
        let Some(places) = MAX_PRECISION.checked_sub(whole.len()) else {
            return Some(Literal::Float(nearest));
        };
        let truncated = unscaled(fraction.get(..places)?)?;
        let floor = if is_negative { truncated - 1 } else { truncated };
        Some(Literal::LongDecimal { floor, scale: u32::try_from(places).ok()?, nearest, text: text.into() })
    }

    /// All digits of a decimal in plain notation; `None` for other literals. The inverse of [`Literal::decimal`].
    ///
    /// ```
    /// use orcish_core::Literal;
    ///
    /// let literal = Literal::Decimal { unscaled: -5, scale: 3 };
    /// assert_eq!(literal.decimal_text().as_deref(), Some("-0.005"));
    /// ```
    pub fn decimal_text(&self) -> Option<String> {
        match self {
            Literal::Decimal { unscaled, scale } => Some(decimal_text(*unscaled, *scale)),
            Literal::LongDecimal { text, .. } => Some(text.to_string()),
            _ => None,
        }
    }
}
