//! Syntax of dates and times in texts of partition columns.

use orcish_core::calendar::days_of;

use crate::time::{NANOS, SECONDS_PER_DAY};

/// The value of ASCII digits, of which there are at least one and at most 18.
fn digits(text: &str) -> Option<i64> {
    let is_number = (1..=18).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    if is_number { text.parse().ok() } else { None }
}

/// As [`digits`], of exactly two digits.
fn two(text: &str) -> Option<i64> {
    if text.len() == 2 { digits(text) } else { None }
}

/// Days since 1970 of a date such as `2026-11-21`. Years beyond 9999 and before 0 have a sign and up to six digits.
pub(super) fn parse_date(text: &str) -> Option<i64> {
    let (text, day) = text.rsplit_once('-')?;
    let (year, month) = text.rsplit_once('-')?;
    let (sign, lengths, year) = match year.as_bytes().first()? {
        b'+' => (1, 5..=6, year.get(1..)?),
        b'-' => (-1, 4..=6, year.get(1..)?),
        _ => (1, 4..=4, year),
    };
    if !lengths.contains(&year.len()) {
        return None;
    }
    days_of(sign * digits(year)?, u8::try_from(two(month)?).ok()?, u8::try_from(two(day)?).ok()?)
}

/// As [`parse_date`]. Months and days may have one digit.
pub(super) fn parse_short_date(text: &str) -> Option<i64> {
    let (text, day) = text.rsplit_once('-')?;
    let (year, month) = text.rsplit_once('-')?;
    parse_date(&format!("{year}-{month:0>2}-{day:0>2}"))
}

/// Nanoseconds since midnight of a time such as `12:30:00.5`.
pub(super) fn parse_time(text: &str) -> Option<i64> {
    let (clock, fraction) = match text.split_once('.') {
        Some((clock, fraction)) => (clock, Some(fraction)),
        None => (text, None),
    };
    let mut parts = clock.split(':').map(two);
    let (hour, minute, second) = (parts.next()??, parts.next()??, parts.next()??);
    if parts.next().is_some() || hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let nanos = match fraction {
        None => 0,
        Some(fraction) if fraction.len() <= 9 => digits(fraction).and_then(|_| digits(&format!("{fraction:0<9}")))?,
        Some(_) => return None,
    };
    Some(((hour * 60 + minute) * 60 + second) * NANOS + nanos)
}

/// As [`parse_time`]. Seconds, then minutes, may be missing, and then colons too: `12:30`, `12`, `123000`.
fn parse_short_time(text: &str) -> Option<i64> {
    if let Some(nanos) = parse_time(text) {
        return Some(nanos);
    }
    match (text.len(), text.contains(':')) {
        (2, _) => parse_time(&format!("{text}:00:00")),
        (5, true) => parse_time(&format!("{text}:00")),
        (4, false) => parse_time(&format!("{}:{}:00", text.get(..2)?, text.get(2..)?)),
        (6, false) => parse_time(&format!("{}:{}:{}", text.get(..2)?, text.get(2..4)?, text.get(4..)?)),
        _ => None,
    }
}

/// A wall clock time as seconds since 1970 and nanoseconds: a date, a blank or `T`, and a time, or a date alone.
pub(super) fn parse_clock(text: &str) -> Option<(i64, i64)> {
    let (day, nanos) = match text.split_once([' ', 'T']) {
        Some((date, time)) => (parse_date(date)?, parse_short_time(time)?),
        None => (parse_date(text)?, 0),
    };
    Some((day * SECONDS_PER_DAY + nanos / NANOS, nanos % NANOS))
}

/// As [`parse_clock`], with the offset from UTC in seconds that may be behind the time: `+01:00`, `+00:53:28` or `Z`.
pub(super) fn parse_instant(text: &str) -> Option<(i64, i64, Option<i64>)> {
    let without = || parse_clock(text).map(|(seconds, nanos)| (seconds, nanos, None));
    let Some(time) = text.find([' ', 'T']) else { return without() };
    let Some(at) = text.get(time..)?.find(['+', '-', 'Z']) else { return without() };
    let (clock, offset) = text.split_at_checked(time + at)?;
    let (seconds, nanos) = parse_clock(clock)?;
    Some((seconds, nanos, Some(parse_offset(offset)?)))
}

fn parse_offset(text: &str) -> Option<i64> {
    let (sign, time) = match text.strip_prefix('-') {
        Some(time) => (-1, time),
        None if text == "Z" => return Some(0),
        None => (1, text.strip_prefix('+')?),
    };
    let time = if time.len() == 5 { format!("{time}:00") } else { time.to_owned() };
    let nanos = if time.contains('.') { None } else { parse_time(&time) };
    nanos.map(|nanos| sign * (nanos / NANOS))
}

/// Whether Spark infers that a text is a timestamp: a date, a blank and a time with at most one fractional digit.
pub(super) fn is_spark_timestamp(text: &str) -> bool {
    let Some((date, time)) = text.split_once(' ') else { return false };
    let has_short_fraction = text.split_once('.').is_none_or(|(_, fraction)| fraction.len() <= 1);
    has_short_fraction && parse_date(date).is_some() && parse_time(time).is_some()
}
