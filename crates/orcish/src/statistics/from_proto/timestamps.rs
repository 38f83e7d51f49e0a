//! Bounds of timestamps.

use std::ops::Range;

use orcish_core::statistics::Detail;

use super::order::ordered;
use crate::proto::orc;
use crate::schema::Kind;
use crate::statistics::WriterContext;
use crate::time::{NANOS_PER_MILLI, NANOS_PER_SECOND, calendar};
use crate::writer::Writer;

/// No zone is further than this from UTC, a change of clocks included.
pub(crate) const MAX_OFFSET: i128 = 25 * 3600 * NANOS_PER_SECOND;
/// From 1970 to the end of 2037, on the wall clock of any zone, for what is read one offset off as well.
const OF_CERTAIN_RULES: Range<i128> = 2 * MAX_OFFSET..2_145_916_800 * NANOS_PER_SECOND - 2 * MAX_OFFSET;

pub(super) fn timestamp(statistics: &orc::TimestampStatistics, context: WriterContext) -> Detail {
    const NOTHING: Detail = Detail::Timestamp { min: None, max: None, lower_bound: None, upper_bound: None };
    if !context.bounds_are_believed() || !context.timestamps_are_believed() {
        return NOTHING;
    }
    let nanos = |millis: i64| i128::from(millis) * NANOS_PER_MILLI;
    let (utc_min, utc_max) = ordered(statistics.minimum_utc, statistics.maximum_utc);
    if utc_min.is_none() && utc_max.is_none() || !context.utc_is_believed() {
        // Of files with the fault ORC-1151 there is the UTC pair only, which is off by less than an offset.
        let (min, max) = match (utc_min, utc_max) {
            (None, None) => ordered(statistics.minimum, statistics.maximum),
            utc => utc,
        };
        return Detail::Timestamp {
            min: None,
            max: None,
            lower_bound: min.and_then(|millis| lower_bound(nanos(millis), MAX_OFFSET, context)),
            upper_bound: max.and_then(|millis| upper_bound(nanos(millis), MAX_OFFSET, context)),
        };
    }
    // Stored plus one, so that 0 can be told from absent, which is the least for minima and the greatest for maxima.
    // Of negative nanoseconds, as pyarrow has them, ORC C++ cuts the milliseconds towards zero, and has the rest below 0.
    let least = if context.writer == Writer::Cpp { 1 - NANOS_PER_MILLI } else { 0 };
    let rest = |stored: Option<i32>| {
        stored.map(|stored| i128::from(stored) - 1).filter(|rest| (least..NANOS_PER_MILLI).contains(rest))
    };
    let (min_rest, max_rest) = (rest(statistics.minimum_nanos), rest(statistics.maximum_nanos));
    let min = utc_min.map(|millis| nanos(millis) + min_rest.unwrap_or(0));
    let max = utc_max.map(|millis| nanos(millis) + max_rest.unwrap_or(0));
    // Releases that do not record the rest have cut it off all the same.
    let cut_off = match min_rest {
        None if utc_min.is_some_and(|millis| millis <= 0) => -least,
        _ => 0,
    };
    let last = utc_max.map(|millis| nanos(millis) + max_rest.unwrap_or(NANOS_PER_MILLI - 1));
    if min > last && last.is_some() {
        return NOTHING;
    }
    Detail::Timestamp {
        min: min.and_then(|min| to_proleptic(min, context)),
        max: max.and_then(|max| to_proleptic(max, context)),
        lower_bound: min.and_then(|min| lower_bound(min - cut_off, zone_slack(min, context), context)),
        upper_bound: last.and_then(|last| upper_bound(last, zone_slack(last, context), context)),
    }
}

/// Converts the calendar; `None` where it should but is not known.
fn to_proleptic(nanos: i128, context: WriterContext) -> Option<i128> {
    let is_julian = nanos < i128::from(calendar::GREGORIAN_START_SECOND) * NANOS_PER_SECOND;
    match context.proleptic {
        Some(false) if is_julian => {
            let seconds = i64::try_from(nanos.div_euclid(NANOS_PER_SECOND)).ok()?;
            let seconds = i128::from(calendar::seconds_to_proleptic(seconds));
            Some(seconds * NANOS_PER_SECOND + nanos.rem_euclid(NANOS_PER_SECOND))
        }
        None if is_julian => None,
        _ => Some(nanos),
    }
}

/// How far what is read may be from what the writer meant: it may have had other rules of its zone than we have. Which
/// zone that is, only the stripes say.
fn zone_slack(nanos: i128, context: WriterContext) -> i128 {
    let is_certain = context.kind == Some(Kind::TimestampInstant) || OF_CERTAIN_RULES.contains(&nanos);
    if is_certain { 0 } else { MAX_OFFSET }
}

/// The bound that is `slack` below this.
fn lower_bound(nanos: i128, slack: i128, context: WriterContext) -> Option<i128> {
    let nanos = nanos - slack;
    Some(to_proleptic(nanos, context)? - calendar_slack(nanos, context))
}

/// The bound that is `slack` above this.
fn upper_bound(nanos: i128, slack: i128, context: WriterContext) -> Option<i128> {
    // ORC-763: the format has no room for the second before 1970, UTC; what a writer puts there is read as one later.
    // Here is wall clock of any zone, and only what is about 1970 itself can be moved past a bound.
    let moved = if nanos.abs() <= MAX_OFFSET { NANOS_PER_SECOND } else { 0 };
    let nanos = nanos + slack;
    Some(to_proleptic(nanos, context)? + calendar_slack(nanos, context) + moved)
}

/// 29 February of years which are no Gregorian leap years falls on the day after, which blurs the order within days.
fn calendar_slack(nanos: i128, context: WriterContext) -> i128 {
    let is_proleptic = context.proleptic == Some(true);
    if !is_proleptic && nanos < i128::from(calendar::GREGORIAN_START_SECOND) * NANOS_PER_SECOND {
        24 * 3600 * NANOS_PER_SECOND
    } else {
        0
    }
}
