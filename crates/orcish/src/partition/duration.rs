//! Texts of durations in tables of Hive.

use super::syntax::parse_time;
use super::time_text::whole_fraction;
use crate::time::{NANOS, SECONDS_PER_DAY};

/// The text of a duration: `1 day, 2:03:04.500000`. Days are rounded down.
pub(super) fn duration_text(seconds: i64, nanos: i64) -> String {
    let (days, rest) = (seconds.div_euclid(SECONDS_PER_DAY), seconds.rem_euclid(SECONDS_PER_DAY));
    let days = match days {
        0 => String::new(),
        1 | -1 => format!("{days} day, "),
        days => format!("{days} days, "),
    };
    let (hours, minutes, seconds) = (rest / 3_600, rest / 60 % 60, rest % 60);
    format!("{days}{hours}:{minutes:02}:{seconds:02}{}", whole_fraction(nanos))
}

/// Nanoseconds of the text of a duration.
pub(super) fn parse_duration(text: &str) -> Option<i128> {
    let (days, time) = match text.split_once(", ") {
        Some((days, time)) => (days.strip_suffix(" days").or_else(|| days.strip_suffix(" day"))?.parse().ok()?, time),
        None => (0_i64, text),
    };
    let nanos = parse_time(&format!("{time:0>8}")).or_else(|| {
        let (clock, fraction) = time.split_once('.')?;
        parse_time(&format!("{clock:0>8}.{fraction}"))
    })?;
    Some(i128::from(days) * i128::from(SECONDS_PER_DAY) * i128::from(NANOS) + i128::from(nanos))
}
