//! Syntax of numbers in texts of partition columns, as Spark has it.

/// Maximum number of digits of a decimal of Spark.
pub(super) const MAX_DIGITS: u8 = 38;

/// A number in decimal notation: `digits * 10^exponent`.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Number<'a> {
    pub(super) is_negative: bool,
    /// Digits before and behind the point.
    pub(super) whole: &'a str,
    pub(super) fraction: &'a str,
    /// The exponent that is written, of at most nine digits.
    pub(super) exponent: i64,
}

impl Number<'_> {
    /// All digits without leading zeros; `0` for zero.
    pub(super) fn digits(&self) -> String {
        let digits = format!("{}{}", self.whole, self.fraction);
        let trimmed = digits.trim_start_matches('0');
        if trimmed.is_empty() { "0".to_owned() } else { trimmed.to_owned() }
    }

    /// The power of ten of the last digit.
    pub(super) fn last_exponent(&self) -> i64 {
        self.exponent.saturating_sub(self.fraction.len() as i64)
    }

    /// Number of digits of an integer in plain notation; `None` if the last digit is behind the point, and for more than
    /// [`MAX_DIGITS`].
    pub(super) fn integer_digits(&self) -> Option<u8> {
        let zeros = usize::try_from(self.last_exponent()).ok()?;
        let digits = u8::try_from(self.digits().len().checked_add(zeros)?).ok()?;
        (digits <= MAX_DIGITS).then_some(digits)
    }
}

/// The number of ASCII digits that a text begins with.
fn leading_digits(text: &str) -> usize {
    text.bytes().take_while(u8::is_ascii_digit).count()
}

fn without_sign(text: &str) -> (bool, &str) {
    match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    }
}

/// Parses a number such as `-1.5e3`; `None` for other texts.
pub(super) fn parse_number(text: &str) -> Option<Number<'_>> {
    let (is_negative, rest) = without_sign(text);
    let (whole, rest) = rest.split_at_checked(leading_digits(rest))?;
    let (fraction, rest) = match rest.strip_prefix('.') {
        Some(rest) => rest.split_at_checked(leading_digits(rest))?,
        None => ("", rest),
    };
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let exponent = match rest.strip_prefix(['e', 'E']) {
        None if rest.is_empty() => 0,
        None => return None,
        Some(exponent) => {
            let (is_negative, digits) = without_sign(exponent);
            if !(1..=9).contains(&digits.len()) || leading_digits(digits) != digits.len() {
                return None;
            }
            let exponent = digits.parse::<i64>().ok()?;
            if is_negative { -exponent } else { exponent }
        }
    };
    Some(Number { is_negative, whole, fraction, exponent })
}

/// Parses a float in the syntax of Java: blanks around it and a type suffix are allowed. `None` for other texts.
pub(super) fn parse_float(text: &str) -> Option<f64> {
    let text = text.trim();
    if matches!(without_sign(text).1, "NaN" | "Infinity") {
        return text.parse().ok();
    }
    let number = text.strip_suffix(['d', 'D', 'f', 'F']).unwrap_or(text);
    parse_number(number).and_then(|_| number.parse().ok())
}

/// Parses an integer of at most 38 characters, which may have a sign and leading zeros.
pub(super) fn parse_integer(text: &str) -> Option<i64> {
    if text.len() <= usize::from(MAX_DIGITS) { text.parse().ok() } else { None }
}
