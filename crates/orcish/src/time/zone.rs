//! The time zone of the writer of a stripe, for any id that a JVM writes.
//!
//! Time zone data is built in (`chrono-tz`). No data of the system is used, so a file has the same values on any machine.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use orcish_core::error::{Error, Result};
use orcish_core::process::PerProcess;

use super::SECONDS_PER_DAY;
use super::iana;
use super::offsets::{OffsetTable, new_year};

/// 1900-01-01 00:00:00 UTC. `java.util.TimeZone` has only standard time before this instant.
pub(super) const STANDARD_BEFORE: i64 = new_year(1900);

/// 1800-01-01 00:00:00 UTC. No time zone has a transition before this instant.
const FIRST_TRANSITION: i64 = new_year(1800);

/// 2015-01-01 00:00:00, the epoch of `TIMESTAMP`, in seconds since 1970.
const EPOCH: i64 = new_year(2015);

/// An upper bound, in seconds, of the offsets of time zones and of the changes of an offset, and a lower bound of the time
/// between two transitions.
const MAX_OFFSET: i64 = 26 * 3600;

/// The offsets of a time zone for casts of instants to texts.
///
/// # Errors
/// As [`WriterZone::parse_reader_zone`].
pub fn zone_offsets(id: &str) -> Result<orcish_core::cast::Offsets> {
    let zone = WriterZone::parse_reader_zone(id)?;
    Ok(Box::new(move |instant| zone.historic_offset_at(instant)))
}

/// The time zone of the writer of a stripe: the offsets of its local time from UTC. Clones share the offsets.
#[derive(Debug, Clone)]
pub struct WriterZone {
    offsets: Offsets,
    /// See [`WriterZone::base`].
    base: i64,
    /// Source of the historic offsets before 1900; `None` for time zones that only the JVM has.
    history: Option<iana::Zone>,
}

#[derive(Debug, Clone)]
pub(super) enum Offsets {
    /// An offset in seconds that never changes.
    Fixed(i32),
    Table(Arc<OffsetTable>),
}

impl WriterZone {
    /// The time zone of the field `writer_timezone` of a stripe footer (ORCv1, Stripe Footer).
    ///
    /// These are all ids of default time zones of a JVM (compared with Java 17 and 25), in the same spelling:
    /// * IANA ids and their links (`America/New_York`, `US/Pacific`, `Etc/GMT+5`, `EST5EDT`, `GMT0`);
    /// * three-letter ids of the JVM: `PST`, `CST`, `IST` (India), `AST` (Alaska) …. `EST`, `MST` and `HST` have no daylight
    ///   saving time up to Java 22; later releases differ before 1968 only;
    /// * ids of UNIX System V, as `SystemV/PST8PDT`;
    /// * fixed offsets: `GMT+08:00`, `GMT-3`, `GMT+0800`, `GMT+01:02:03`, `Z`; also `UTC+8`, `UT+8` and `+08:00`, the ids of
    ///   `java.time`, which a JVM changes to `GMT+08:00` or rejects as a default.
    ///
    /// An empty id is UTC. Writers before HIVE-8746 did not record their time zone. Apache ORC reads such stripes in the
    /// time zone of the *reader*, in Java (the default time zone) and C++ (`localtime`). UTC gives the same values on any
    /// machine: the stored local times, which are off by an hour for half of the year if the writer had daylight saving
    /// time.
    ///
    /// # Errors
    /// `Unsupported` if the id is unknown. A JVM would use GMT, and return other values than were written. Without the
    /// feature `chrono-tz`, ids of IANA and three-letter ids are `Unsupported` too.
    pub fn parse(id: &str) -> Result<Self> {
        // The cache has valid ids only, so its size is bounded.
        static CACHE: PerProcess<Mutex<BTreeMap<String, WriterZone>>> = PerProcess::new();
        let cache = || CACHE.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(offset) = parse_fixed(id) {
            return Ok(Self::fixed(offset));
        }
        if let Some(zone) = cache().get(id) {
            return Ok(zone.clone());
        }
        let zone = if let Some((standard, has_dst)) = parse_system_v(id) {
            if has_dst { Self::sampled(|utc| standard + system_v_saving(utc, standard)) } else { Self::fixed(standard) }
        } else if let Some(zone) = iana::find(java_short_id(id).unwrap_or(id))? {
            Self { history: Some(zone), ..Self::sampled(|utc| iana::offset_at(zone, utc)) }
        } else {
            let shown: String = id.chars().take(64).collect();
            return Err(Error::unsupported(format!("writer time zone {shown:?} is not known")));
        };
        cache().insert(id.to_owned(), zone.clone());
        Ok(zone)
    }

    /// The time zone of a reader, for any id of [`parse`](Self::parse) but the empty one.
    ///
    /// # Errors
    /// `InvalidArgument` if the id is unknown or empty.
    pub fn parse_reader_zone(id: &str) -> Result<Self> {
        match Self::parse(id) {
            Ok(zone) if !id.is_empty() => Ok(zone),
            Err(error) if cfg!(not(feature = "chrono-tz")) => Err(error),
            _ => Err(Error::invalid(format!("timezone={id:?}: no time zone that is known here"))),
        }
    }

    /// UTC.
    pub fn utc() -> Self {
        Self::fixed(0)
    }

    fn fixed(offset: i32) -> Self {
        Self { offsets: Offsets::Fixed(offset), base: EPOCH - i64::from(offset), history: None }
    }

    fn sampled(offset_at: impl Fn(i64) -> i32) -> Self {
        let table = OffsetTable::sample(offset_at);
        if let Some(offset) = table.constant() {
            return Self::fixed(offset);
        }
        // No time zone has a transition within a day of the epoch.
        let base = EPOCH - i64::from(table.offset_at(EPOCH));
        Self { offsets: Offsets::Table(Arc::new(table)), base, history: None }
    }

    /// The instant with the local time 2015-01-01 00:00:00, in seconds since 1970: the epoch of the DATA stream of a
    /// `TIMESTAMP` column.
    #[inline]
    pub fn base(&self) -> i64 {
        self.base
    }

    /// The offset in seconds, if it never changes.
    #[inline]
    pub fn fixed_offset(&self) -> Option<i32> {
        match self.offsets {
            Offsets::Fixed(offset) => Some(offset),
            Offsets::Table(_) => None,
        }
    }

    /// The offsets, for loops that branch once on their kind.
    #[inline]
    pub(super) fn offsets(&self) -> &Offsets {
        &self.offsets
    }

    /// Seconds to add to any instant `utc`, in seconds since 1970, for the local time.
    ///
    /// Offsets are those of the JVM: the present standard time before 1900, and the present rules in the future. They were
    /// compared with Java 17 and 25 for all ids of these. The differences are the version of the time zone data, and
    /// Africa/Windhoek before 1900, and Morocco and Gaza after 2037, where the JVM deviates from the data.
    #[inline]
    pub fn offset_at(&self, utc: i64) -> i32 {
        match &self.offsets {
            Offsets::Fixed(offset) => *offset,
            Offsets::Table(table) => table.offset_at(utc),
        }
    }

    /// The instant of the local time `wall`, both in seconds since 1970, of magnitudes below 2^62. The first instant of an
    /// ambiguous local time; `None` where the local time does not exist.
    #[inline]
    pub fn instant_of(&self, wall: i64) -> Option<i64> {
        match &self.offsets {
            Offsets::Fixed(offset) => Some(wall - i64::from(*offset)),
            Offsets::Table(table) => {
                // No offset is more than a day, and no time zone has two transitions in two days.
                let mut near =
                    [-SECONDS_PER_DAY, SECONDS_PER_DAY].map(|day| wall - i64::from(table.offset_at(wall + day)));
                near.sort_unstable();
                near.into_iter().find(|instant| instant + i64::from(table.offset_at(*instant)) == wall)
            }
        }
    }

    /// As [`offset_at`](Self::offset_at), with the historic offset before 1900: usually local mean time, as in `java.time`,
    /// Spark and pyarrow.
    pub fn historic_offset_at(&self, utc: i64) -> i32 {
        match self.history {
            Some(zone) if utc < STANDARD_BEFORE => iana::offset_at(zone, utc.max(FIRST_TRANSITION)),
            _ => self.offset_at(utc),
        }
    }

    /// The instant of the local time `wall` by historic offsets, as in `java.time`. Both are seconds since 1970, of magnitudes
    /// below 2^62. The first instant of an ambiguous local time. A local time that does not exist is moved forward by the
    /// length of the gap.
    pub fn historic_instant_of(&self, wall: i64) -> i64 {
        let near = |at: i64| wall - i64::from(self.historic_offset_at(at));
        let (before, after) = (near(wall - SECONDS_PER_DAY), near(wall + SECONDS_PER_DAY));
        let shows = |instant: i64| instant + i64::from(self.historic_offset_at(instant)) == wall;
        let mut candidates = [before.min(after), before.max(after)].into_iter();
        candidates.find(|instant| shows(*instant)).unwrap_or(before)
    }

    /// The offsets within 26 hours of `at`, which is a local time or an instant in seconds since 1970, and the offset at the
    /// epoch in 2015. The result has the offsets of the JVM and the historic ones, at least one.
    pub fn offsets_near(&self, at: i64) -> Vec<i32> {
        let mut offsets = vec![self.offset_at(EPOCH)];
        if self.has_transitions() {
            for at in [at.saturating_sub(MAX_OFFSET), at, at.saturating_add(MAX_OFFSET)] {
                offsets.extend([self.offset_at(at), self.historic_offset_at(at)]);
            }
            offsets.sort_unstable();
            offsets.dedup();
        }
        offsets
    }

    /// The minimum and maximum offset for the conversion of a bound of local times to a bound of instants.
    ///
    /// Local times from `wall` on have no instant before `wall` minus the maximum. Local times up to `wall` have no instant
    /// after `wall` minus the minimum. That holds across transitions, where an earlier local time can be a later instant.
    pub fn offset_bounds(&self, wall: i64) -> (i32, i32) {
        let mut offsets = self.offsets_near(wall);
        if self.has_transitions() {
            for at in [wall.saturating_sub(MAX_OFFSET), wall.saturating_add(MAX_OFFSET)] {
                offsets.extend(self.offsets_near(at));
            }
        }
        let epoch = self.offset_at(EPOCH);
        offsets.iter().fold((epoch, epoch), |(min, max), &offset| (min.min(offset), max.max(offset)))
    }

    fn has_transitions(&self) -> bool {
        self.fixed_offset().is_none() || self.history.is_some()
    }
}

/// The IANA id of a three-letter id of the JVM (`ZoneId.SHORT_IDS`, and ids of `java.util.TimeZone`), or of an id of older
/// JVMs that tzdata no longer has.
fn java_short_id(id: &str) -> Option<&'static str> {
    Some(match id {
        "ACT" => "Australia/Darwin",
        "AET" => "Australia/Sydney",
        "AGT" => "America/Argentina/Buenos_Aires",
        "ART" => "Africa/Cairo",
        "AST" => "America/Anchorage",
        "BET" => "America/Sao_Paulo",
        "BST" => "Asia/Dhaka",
        "CAT" => "Africa/Harare",
        "CNT" => "America/St_Johns",
        "CST" => "America/Chicago",
        "CTT" => "Asia/Shanghai",
        "EAT" => "Africa/Addis_Ababa",
        "ECT" => "Europe/Paris",
        "IET" => "America/Indiana/Indianapolis",
        "IST" => "Asia/Kolkata",
        "JST" => "Asia/Tokyo",
        "MIT" => "Pacific/Apia",
        "NET" => "Asia/Yerevan",
        "NST" => "Pacific/Auckland",
        "PLT" => "Asia/Karachi",
        "PNT" => "America/Phoenix",
        "PRT" => "America/Puerto_Rico",
        "PST" => "America/Los_Angeles",
        "SST" => "Pacific/Guadalcanal",
        "VST" => "Asia/Ho_Chi_Minh",
        "Canada/East-Saskatchewan" => "America/Regina",
        "US/Pacific-New" => "America/Los_Angeles",
        _ => return None,
    })
}

/// The offset in seconds of an id with a fixed offset: UTC, some three-letter ids, and ids as `GMT+8`.
fn parse_fixed(id: &str) -> Option<i32> {
    match id {
        "" | "Z" | "UTC" | "GMT" | "Etc/UTC" => return Some(0),
        "EST" => return Some(-5 * 3600),
        "MST" => return Some(-7 * 3600),
        "HST" => return Some(-10 * 3600),
        _ => {}
    }
    let signed = ["GMT", "UTC", "UT"].iter().find_map(|prefix| id.strip_prefix(prefix)).unwrap_or(id);
    let (sign, digits) = match signed.strip_prefix('-') {
        Some(digits) => (-1, digits),
        None => (1, signed.strip_prefix('+')?),
    };
    // Forms: h, hh, hmm, hhmm, hhmmss, h:mm, hh:mm, hh:mm:ss.
    let mut parts = digits.split(':');
    let (first, minutes, seconds) = (parts.next()?, parts.next(), parts.next());
    if parts.next().is_some() {
        return None;
    }
    let (hours, minutes, seconds) = match (minutes, seconds) {
        (Some(minutes), seconds) => (first, minutes, seconds.unwrap_or("00")),
        (None, _) if first.len() <= 2 => (first, "00", "00"),
        (None, _) => {
            let (hours, rest) = first.split_at_checked(if first.len() == 3 { 1 } else { 2 })?;
            let (minutes, seconds) = rest.split_at_checked(2)?;
            (hours, minutes, if seconds.is_empty() { "00" } else { seconds })
        }
    };
    let below_60 = |digits: &str| two_digits(digits).filter(|value| digits.len() == 2 && *value <= 59);
    let hours = two_digits(hours).filter(|hours| *hours <= 23)?;
    Some(sign * (hours * 3600 + below_60(minutes)? * 60 + below_60(seconds)?))
}

/// The value of one or two decimal digits.
fn two_digits(text: &str) -> Option<i32> {
    let digits = (1..=2).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    if digits { text.parse().ok() } else { None }
}

/// The standard offset in seconds of an id of UNIX System V, and whether the time zone has daylight saving time.
fn parse_system_v(id: &str) -> Option<(i32, bool)> {
    let (hours, has_dst) = match id.strip_prefix("SystemV/")? {
        "AST4" => (4, false),
        "AST4ADT" => (4, true),
        "EST5" => (5, false),
        "EST5EDT" => (5, true),
        "CST6" => (6, false),
        "CST6CDT" => (6, true),
        "MST7" => (7, false),
        "MST7MDT" => (7, true),
        "PST8" => (8, false),
        "PST8PDT" => (8, true),
        "YST9" => (9, false),
        "YST9YDT" => (9, true),
        "HST10" => (10, false),
        _ => return None,
    };
    Some((-3600 * hours, has_dst))
}

/// Seconds of daylight saving time at `utc` by the rule of UNIX System V: from the last Sunday of April to the last Sunday of
/// October, at two o'clock. It begins earlier in 1974 and 1975, the years of the oil crisis.
fn system_v_saving(utc: i64, standard: i32) -> i32 {
    let wall = utc + i64::from(standard);
    let days = wall.div_euclid(SECONDS_PER_DAY);
    // The year is wrong for some hours at most at the turn of a year, where both years have standard time.
    let year = 1970 + (days * 400).div_euclid(146_097);
    let in_year = |day_of_year: i64| new_year(year).div_euclid(SECONDS_PER_DAY) + day_of_year;
    let leap = (new_year(year + 1) - new_year(year)) / SECONDS_PER_DAY - 365;
    // 1970-01-01 is a Thursday, and day 3 a Sunday.
    let sunday_by = |day: i64| day - (day - 3).rem_euclid(7);
    let (begin, end) = match year {
        1974 => (in_year(5), sunday_by(in_year(333))),
        1975 => (in_year(53), sunday_by(in_year(303))),
        _ => (sunday_by(in_year(119 + leap)), sunday_by(in_year(303 + leap))),
    };
    let two_o_clock = 7200;
    let is_dst = wall >= begin * SECONDS_PER_DAY + two_o_clock && wall < end * SECONDS_PER_DAY + two_o_clock - 3600;
    if is_dst { 3600 } else { 0 }
}

#[cfg(test)]
mod tests;
