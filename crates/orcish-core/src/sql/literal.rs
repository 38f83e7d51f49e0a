//! Literals with a type before a string, such as `date '2026-01-31'`.

use super::number;
use crate::Literal;
use crate::calendar::{DAYS_PER_ERA, days_of};

/// Minutes of the farthest offset of a time zone, as in `java.time`.
const MAX_OFFSET: i128 = 18 * 60;
const NANOS: i128 = 1_000_000_000;

/// Parses the string of a literal. Errors continue a sentence that begins with the literal.
pub(super) type Parser = fn(&str) -> Result<Literal, &'static str>;

/// The parser of the literals of a type; `None` for words that are no type.
pub(super) fn typed(word: &str) -> Option<Parser> {
    Some(match word.to_ascii_lowercase().as_str() {
        "date" => |text| date(text.trim()).map(Literal::Date),
        "double" => |text| float(text.trim(), false),
        "float" => |text| float(text.trim(), true),
        "timestamp" => |text| timestamp(text.trim()),
        "timestamp_ltz" => |text| match timestamp(text.trim())? {
            Literal::Timestamp { is_instant: false, .. } => Err("is no instant: it has no time zone"),
            instant => Ok(instant),
        },
        "timestamp_ntz" => |text| match timestamp(text.trim())? {
            Literal::Timestamp { is_instant: true, .. } => Err("is no wall clock: it has a time zone"),
            wall_clock => Ok(wall_clock),
        },
        "x" => binary,
        _ => return None,
    })
}

/// What a string stands for where it is compared with a column of another type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Meaning {
    /// `true` or `false`.
    Boolean,
    /// A number, as without quotes, or `NaN` or an infinity.
    Number,
    /// A date, or a timestamp.
    Date,
    /// A timestamp, or a date.
    Timestamp,
}

/// The literal that a string stands for, as SQL engines cast strings that are compared with columns of other types.
///
/// # Errors
/// The description continues a sentence that begins with the string.
pub(crate) fn read_string(text: &str, meaning: Meaning) -> Result<Literal, &'static str> {
    let text = text.trim();
    match meaning {
        Meaning::Boolean if text.eq_ignore_ascii_case("true") => Ok(Literal::Boolean(true)),
        Meaning::Boolean if text.eq_ignore_ascii_case("false") => Ok(Literal::Boolean(false)),
        Meaning::Boolean => Err("is neither true nor false"),
        Meaning::Number => number::number(text).or_else(|why| float(text, false).map_err(|_| why)),
        Meaning::Date | Meaning::Timestamp => match (date(text), timestamp(text)) {
            (Ok(days), _) => Ok(Literal::Date(days)),
            (Err(_), Ok(timestamp)) => Ok(timestamp),
            (Err(why), Err(_)) if meaning == Meaning::Date => Err(why),
            (Err(_), Err(why)) => Err(why),
        },
    }
}

/// Whether the literals of a type may be written as a call: `double('NaN')`.
pub(super) fn is_callable(word: &str) -> bool {
    ["double", "float"].iter().any(|name| name.eq_ignore_ascii_case(word))
}

fn binary(text: &str) -> Result<Literal, &'static str> {
    const WRONG: &str = "is no binary: it takes pairs of hexadecimal digits";
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let pairs = text.as_bytes().chunks(2).map(|pair| match pair {
        [high, low] => Some((digit(*high)? << 4) | digit(*low)?),
        _ => None,
    });
    pairs.collect::<Option<Vec<u8>>>().map(Literal::Binary).ok_or(WRONG)
}

fn float(text: &str, is_single: bool) -> Result<Literal, &'static str> {
    const WRONG: &str = "is no floating point number";
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    if ["nan", "inf", "infinity"].iter().any(|word| word.eq_ignore_ascii_case(unsigned)) {
        return text.parse().map(Literal::Float).map_err(|_| WRONG);
    }
    match number::number_length(text) {
        Some(length) if length == text.len() => number::float(text, is_single),
        _ => Err(WRONG),
    }
}

/// Days since 1970, saturated.
fn date(text: &str) -> Result<i64, &'static str> {
    let (days, rest) = leading_date(text, "is no date: they are written '2026-01-31'")?;
    if !rest.is_empty() {
        return Err("is no date: they are written '2026-01-31'");
    }
    Ok(i64::try_from(days).unwrap_or(if days < 0 { i64::MIN } else { i64::MAX }))
}

/// Days since 1970 of the date at the beginning of a text, and the text behind it.
fn leading_date<'a>(text: &'a str, otherwise: &'static str) -> Result<(i128, &'a str), &'static str> {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let parse = || {
        let (year, rest) = digits(unsigned, 4, 18)?;
        let (month, rest) = digits(rest.strip_prefix('-')?, 1, 2)?;
        let (day, rest) = digits(rest.strip_prefix('-')?, 1, 2)?;
        Some((year, u8::try_from(month).ok()?, u8::try_from(day).ok()?, rest))
    };
    let (year, month, day, rest) = parse().ok_or(otherwise)?;
    let year = if text.starts_with('-') { -year } else { year };
    let day_of_era = days_of(year.rem_euclid(400), month, day).ok_or("is a day that no calendar has")?;
    Ok((i128::from(year.div_euclid(400)) * i128::from(DAYS_PER_ERA) + i128::from(day_of_era), rest))
}

/// The number at the beginning of a text, of `min` to `max` digits, and the text behind it.
fn digits(text: &str, min: usize, max: usize) -> Option<(i64, &str)> {
    let length = text.bytes().take(max).take_while(u8::is_ascii_digit).count();
    let (digits, rest) = text.split_at_checked(length).filter(|_| length >= min)?;
    Some((digits.parse().ok()?, rest))
}

/// The literal of a wall clock time, or, with a zone, of an instant.
fn timestamp(text: &str) -> Result<Literal, &'static str> {
    const WRONG: &str = "is no timestamp: they are written '2026-01-31 12:00:00.5', with Z or an offset such as +01:00 behind where \
        they are instants";
    let (days, rest) = leading_date(text, WRONG)?;
    let midnight = days * 86_400;
    let Some(clock) = rest.strip_prefix([' ', 'T', 't']) else {
        let literal = Literal::Timestamp { nanoseconds: midnight * NANOS, is_instant: false };
        return if rest.is_empty() { Ok(literal) } else { Err(WRONG) };
    };
    let (hour, rest) = digits(clock, 1, 2).ok_or(WRONG)?;
    let (minute, rest) = rest.strip_prefix(':').and_then(|rest| digits(rest, 1, 2)).ok_or(WRONG)?;
    let (second, fraction, rest) = match rest.strip_prefix(':') {
        Some(rest) => {
            let (second, rest) = digits(rest, 1, 2).ok_or(WRONG)?;
            let (fraction, rest) = match rest.strip_prefix('.') {
                Some(rest) => rest.split_at(rest.bytes().take_while(u8::is_ascii_digit).count()),
                None => ("0", rest),
            };
            (second, fraction, rest)
        }
        None => (0, "0", rest),
    };
    let zone = rest.strip_prefix(' ').unwrap_or(rest);
    let is_zone =
        zone.starts_with(['+', '-']) || ["z", "utc", "gmt"].iter().any(|name| name.eq_ignore_ascii_case(zone));
    if fraction.is_empty() || !(rest.is_empty() || is_zone) {
        return Err(WRONG);
    }
    if hour > 23 || minute > 59 || second > 59 {
        return Err("is a time that no clock shows");
    }
    let fraction = fraction.trim_end_matches('0');
    if fraction.len() > 9 {
        return Err("is finer than a nanosecond");
    }
    let nanos: i128 = format!("{fraction:0<9}").parse().map_err(|_| WRONG)?;
    let minutes = i128::from(hour * 60 + minute) - offset(zone, WRONG)?;
    let seconds = midnight + minutes * 60 + i128::from(second);
    Ok(Literal::Timestamp { nanoseconds: seconds * NANOS + nanos, is_instant: !zone.is_empty() })
}

/// Minutes that a zone is ahead of UTC.
fn offset(zone: &str, otherwise: &'static str) -> Result<i128, &'static str> {
    const WRONG: &str = "has an offset that no time zone has";
    let Some(clock) = zone.strip_prefix(['+', '-']) else {
        return Ok(0);
    };
    if !clock.bytes().all(|byte| byte.is_ascii_digit() || byte == b':') || clock.is_empty() {
        return Err(otherwise);
    }
    let (hours, minutes) = match clock.split_once(':') {
        Some((hours, minutes)) if minutes.len() == 2 => (hours, minutes),
        None if clock.len() == 4 => clock.split_at(2),
        None => (clock, "0"),
        Some(_) => return Err(WRONG),
    };
    let (hours, minutes) = match (digits(hours, 1, 2), digits(minutes, 1, 2)) {
        (Some((hours, "")), Some((minutes @ 0..60, ""))) => (hours, minutes),
        _ => return Err(WRONG),
    };
    let ahead = i128::from(hours * 60 + minutes);
    if ahead > MAX_OFFSET {
        return Err(WRONG);
    }
    Ok(if zone.starts_with('-') { -ahead } else { ahead })
}
