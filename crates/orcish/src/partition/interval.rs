//! Intervals of Spark: `INTERVAL '1 02:03:04.5' DAY TO SECOND`.

/// A field of an interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum IntervalField {
    /// Days.
    Day,
    /// Hours.
    Hour,
    /// Minutes.
    Minute,
    /// Seconds with a fraction.
    Second,
}

/// All fields, the largest first.
const FIELDS: [IntervalField; 4] =
    [IntervalField::Day, IntervalField::Hour, IntervalField::Minute, IntervalField::Second];

impl IntervalField {
    fn microseconds(self) -> u64 {
        match self {
            IntervalField::Day => 86_400_000_000,
            IntervalField::Hour => 3_600_000_000,
            IntervalField::Minute => 60_000_000,
            IntervalField::Second => 1_000_000,
        }
    }

    fn word(self) -> &'static str {
        match self {
            IntervalField::Day => "DAY",
            IntervalField::Hour => "HOUR",
            IntervalField::Minute => "MINUTE",
            IntervalField::Second => "SECOND",
        }
    }
}

/// The fields of an interval type of Spark, such as `INTERVAL DAY TO SECOND`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IntervalFields {
    /// The first field.
    pub first: IntervalField,
    /// The last field, which is not larger than the first.
    pub last: IntervalField,
}

impl Default for IntervalFields {
    /// `DAY TO SECOND`.
    fn default() -> Self {
        IntervalFields { first: IntervalField::Day, last: IntervalField::Second }
    }
}

/// The text of a duration in microseconds.
pub(super) fn interval_text(microseconds: i64, fields: IntervalFields) -> String {
    let IntervalFields { first, last } = fields;
    let mut rest = microseconds.unsigned_abs();
    let mut text = String::new();
    for field in FIELDS.into_iter().filter(|field| (first..=last).contains(field)) {
        let count = rest / field.microseconds();
        rest %= field.microseconds();
        text += match (field == first, first == IntervalField::Day, field) {
            (true, _, _) => "",
            (false, true, IntervalField::Hour) => " ",
            _ => ":",
        };
        // Days are not padded.
        text += &if field == IntervalField::Day { count.to_string() } else { format!("{count:02}") };
    }
    if last == IntervalField::Second && rest > 0 {
        text += format!(".{rest:06}").trim_end_matches('0');
    }
    let sign = if microseconds < 0 { "-" } else { "" };
    let words = if first == last { first.word().to_owned() } else { format!("{} TO {}", first.word(), last.word()) };
    format!("INTERVAL '{sign}{text}' {words}")
}

/// Microseconds of the text of an interval; `None` for other texts and for intervals beyond 64 bits.
pub(super) fn parse_interval(text: &str) -> Option<i64> {
    let (value, words) = text.strip_prefix("INTERVAL '")?.split_once("' ")?;
    let (first, last) = words.split_once(" TO ").unwrap_or((words, words));
    let field = |word: &str| FIELDS.into_iter().position(|field| field.word() == word);
    let (first, last) = (field(first)?, field(last)?);
    let (sign, value) = match value.strip_prefix('-') {
        Some(value) => (-1, value),
        None => (1, value.strip_prefix('+').unwrap_or(value)),
    };
    let units = FIELDS.get(first..=last)?;
    let parts: Vec<_> = value.split([' ', ':']).collect();
    if parts.len() != units.len() {
        return None;
    }
    let mut total: i128 = 0;
    for (part, unit) in parts.into_iter().zip(units) {
        let (whole, fraction) = part.split_once('.').unwrap_or((part, ""));
        let is_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        if whole.is_empty() || !is_digits(whole) || !is_digits(fraction) {
            return None;
        }
        let has_fraction = part.contains('.');
        if has_fraction && *unit != IntervalField::Second {
            return None;
        }
        // Finer digits are cut.
        let micros = format!("{fraction:0<6.6}").parse::<i64>().ok()?;
        total += i128::from(whole.parse::<i64>().ok()?) * i128::from(unit.microseconds()) + i128::from(micros);
    }
    i64::try_from(sign * total).ok()
}
