//! Texts of dates, times and timestamps, of all years.

use arrow_schema::TimeUnit;

use crate::calendar::{self, date_of, days_of};
use crate::error::Result;
use crate::types::nanoseconds;

const NANOS: i64 = 1_000_000_000;
const SECONDS_PER_DAY: i64 = 86_400;
/// Years of which texts of instants have the wall clock of the zone. Those of others are of UTC.
const NEAR_YEARS: std::ops::RangeInclusive<i64> = -32_767..=32_767;

/// Seconds to add to instants, in seconds since 1970, for the local time.
pub type Offsets = Box<dyn Fn(i64) -> i32>;

/// The offsets of a time zone, given its name.
pub type Zones<'a> = &'a dyn Fn(&str) -> Result<Offsets>;

/// The time zone of timestamps.
pub(super) enum Zone {
    Utc,
    Other(Offsets),
}

pub(super) fn per_second(unit: TimeUnit) -> i64 {
    NANOS / nanoseconds(unit)
}

/// A number of units in another unit; `None` if it is not whole, or beyond 64 bits.
pub(super) fn converted(count: i128, own: TimeUnit, unit: TimeUnit) -> Option<i64> {
    let scaled = count.checked_mul(nanoseconds(own).into())?;
    let width = i128::from(nanoseconds(unit));
    if scaled % width != 0 {
        return None;
    }
    i64::try_from(scaled / width).ok()
}

/// Whole seconds, rounded down, and nanoseconds.
pub(super) fn split(count: i64, unit: TimeUnit) -> (i64, i64) {
    (count.div_euclid(per_second(unit)), count.rem_euclid(per_second(unit)) * nanoseconds(unit))
}

/// The text of a number of days since 1970 in the proleptic Gregorian calendar. Years have four digits or more, and a sign
/// before the year 0.
///
/// ```
/// use orcish_core::cast::date_text;
///
/// assert_eq!([date_text(-719_529), date_text(2_932_897)], ["-0001-12-31", "10000-01-01"]);
/// ```
pub fn date_text(days: i64) -> String {
    let text = calendar::date_text(days);
    text.strip_prefix('+').map(str::to_owned).unwrap_or(text)
}

/// The ISO 8601 text of a timestamp without zone, without zeros at the end of the fraction.
///
/// ```
/// use orcish_core::cast::timestamp_text;
///
/// assert_eq!(timestamp_text(1_500_000_000, 120), "2017-07-14T02:40:00.00000012");
/// ```
pub fn timestamp_text(seconds: i64, nanoseconds: u32) -> String {
    let mut text = date_text(seconds.div_euclid(SECONDS_PER_DAY));
    text.push('T');
    write_clock(&mut text, seconds.rem_euclid(SECONDS_PER_DAY));
    write_fraction(&mut text, nanoseconds.into(), TimeUnit::Nanosecond, true);
    text
}

/// Writes a time of day such as `01:02:03`.
pub(super) fn write_clock(out: &mut String, seconds: i64) {
    for (part, sign) in [(seconds / 3_600, ":"), (seconds / 60 % 60, ":"), (seconds % 60, "")] {
        out.push_str(&format!("{part:02}{sign}"));
    }
}

/// Writes a fraction of a second, with the digits of the unit or without zeros at its end.
pub(super) fn write_fraction(out: &mut String, nanos: i64, unit: TimeUnit, is_trimmed: bool) {
    let width = match unit {
        TimeUnit::Second => 0,
        TimeUnit::Millisecond => 3,
        TimeUnit::Microsecond => 6,
        TimeUnit::Nanosecond => 9,
    };
    if width == 0 || (is_trimmed && nanos == 0) {
        return;
    }
    let digits = format!("{:0width$}", nanos / nanoseconds(unit));
    out.push('.');
    out.push_str(if is_trimmed { digits.trim_end_matches('0') } else { &digits });
}

/// Writes a timestamp. The texts of instants are wall clocks with the offset of their zone, in hours and minutes. ISO 8601
/// texts, and those whose offset has seconds or whose year is far, are of UTC, and end in `Z`.
pub(super) fn write_timestamp(out: &mut String, count: i64, unit: TimeUnit, zone: Option<&Zone>, is_iso: bool) {
    let (seconds, nanos) = split(count, unit);
    let is_near = |seconds: i64| NEAR_YEARS.contains(&date_of(seconds.div_euclid(SECONDS_PER_DAY)).0);
    let offset = match zone {
        Some(Zone::Other(offsets)) if !is_iso && is_near(seconds) => Some(offsets(seconds)),
        _ => None,
    };
    let offset = offset.filter(|offset| offset % 60 == 0 && is_near(seconds.saturating_add((*offset).into())));
    let wall = seconds.saturating_add(offset.unwrap_or(0).into());
    out.push_str(&date_text(wall.div_euclid(SECONDS_PER_DAY)));
    out.push(if is_iso { 'T' } else { ' ' });
    write_clock(out, wall.rem_euclid(SECONDS_PER_DAY));
    write_fraction(out, nanos, unit, is_iso);
    match (zone, offset) {
        (None, _) => {}
        (Some(_), None) => out.push('Z'),
        (Some(_), Some(offset)) => {
            let (sign, minutes) = (if offset < 0 { '-' } else { '+' }, offset.unsigned_abs() / 60);
            out.push_str(&format!("{sign}{:02}{:02}", minutes / 60, minutes % 60));
        }
    }
}

/// Days since 1970 of a text such as `2026-01-31`, whose year has from 4 to 12 digits, and may have a sign.
pub(super) fn parse_date(text: &str) -> Option<i64> {
    let (is_negative, date) = match text.strip_prefix('-') {
        Some(date) => (true, date),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let mut parts = date.split('-');
    let (year, month, day) = (parts.next()?, parts.next()?, parts.next()?);
    if parts.next().is_some() || !(4..=12).contains(&year.len()) {
        return None;
    }
    let year: i64 = number(year, year.len())?;
    let part = |text| u8::try_from(number(text, 2)?).ok();
    days_of(if is_negative { -year } else { year }, part(month)?, part(day)?)
}

/// A number of exactly so many digits.
fn number(text: &str, digits: usize) -> Option<i64> {
    let is_number = text.len() == digits && text.bytes().all(|byte| byte.is_ascii_digit());
    if is_number { text.parse().ok() } else { None }
}

/// Seconds and nanoseconds of a time of day: `01`, `01:02`, `01:02:03`, or with a fraction of at most nine digits besides zeros
/// at its end.
fn parse_clock(text: &str) -> Option<(i64, i64)> {
    let (clock, fraction) = match text.split_once('.') {
        Some((clock, fraction)) if clock.len() == 8 => (clock, fraction.trim_end_matches('0')),
        Some(_) => return None,
        None => (text, ""),
    };
    let mut parts = clock.split(':').map(|part| number(part, 2));
    let hours = parts.next()??;
    let minutes = parts.next().unwrap_or(Some(0))?;
    let seconds = parts.next().unwrap_or(Some(0))?;
    if parts.next().is_some() || hours > 23 || minutes > 59 || seconds > 59 || fraction.len() > 9 {
        return None;
    }
    let nanos = if fraction.is_empty() { 0 } else { number(&format!("{fraction:0<9}"), 9)? };
    Some((hours * 3_600 + minutes * 60 + seconds, nanos))
}

/// The number of units of a time of day.
pub(super) fn parse_time(text: &str, unit: TimeUnit) -> Option<i64> {
    let (seconds, nanos) = parse_clock(text)?;
    converted(i128::from(seconds) * i128::from(NANOS) + i128::from(nanos), TimeUnit::Nanosecond, unit)
}

/// The number of units of a text such as `2026-01-31`, `2026-01-31 01:02:03.5` or `2026-01-31T01:02:03+0200`. Texts of instants,
/// and no others, have a zone.
pub(super) fn parse_timestamp(text: &str, unit: TimeUnit, has_zone: bool) -> Option<i64> {
    let (date, rest) = match text.split_once([' ', 'T']) {
        Some((date, rest)) => (date, Some(rest)),
        None => (text, None),
    };
    let days = parse_date(date)?;
    let (clock, offset) = rest.map_or(Some(("00", None)), parse_zone)?;
    if offset.is_some() != has_zone {
        return None;
    }
    let (seconds, nanos) = parse_clock(clock)?;
    let instant = i128::from(days) * i128::from(SECONDS_PER_DAY) + i128::from(seconds - offset.unwrap_or(0));
    converted(instant * i128::from(NANOS) + i128::from(nanos), TimeUnit::Nanosecond, unit)
}

/// The time of day, and the offset of a zone in seconds behind it: `Z`, `+02`, `+0200` or `+02:00`.
fn parse_zone(text: &str) -> Option<(&str, Option<i64>)> {
    if let Some(clock) = text.strip_suffix('Z') {
        return Some((clock, Some(0)));
    }
    let Some(at) = text.find(['+', '-']) else { return Some((text, None)) };
    let (clock, zone) = text.split_at(at);
    let (sign, digits) = zone.split_at(1);
    let (hours, minutes) = match digits.len() {
        2 => (digits, "00"),
        4 => digits.split_at_checked(2)?,
        5 => digits.split_once(':')?,
        _ => return None,
    };
    let (hours, minutes) = (number(hours, 2)?, number(minutes, 2)?);
    if hours > 23 || minutes > 59 {
        return None;
    }
    let offset = hours * 3_600 + minutes * 60;
    Some((clock, Some(if sign == "-" { -offset } else { offset })))
}
