//! The time zone that a stripe footer names, by any id that a JVM writes.
//!
//! Zone data is built in (`chrono-tz`): nothing is read from the system, so files read the same everywhere.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use chrono::{DateTime, Offset, TimeZone};
use chrono_tz::Tz;
use orcish_core::error::{Error, Result};

use super::SECONDS_PER_DAY;
use super::offsets::{OffsetTable, new_year};

/// 1900-01-01 00:00:00 UTC, before which the JVM's old classes know only standard time.
pub(super) const STANDARD_BEFORE: i64 = new_year(1900);

/// 1800-01-01 00:00:00 UTC: before this no zone has changed its clock.
const FIRST_CHANGE: i64 = new_year(1800);

/// 2015-01-01 00:00:00, which `TIMESTAMP` counts from, in seconds since 1970.
const EPOCH: i64 = new_year(2015);

/// No zone is further than this from UTC, none leaps further, and none changes its clock twice within it, in seconds.
const FARTHEST: i64 = 26 * 3600;

/// The time zone of a stripe's writer: offsets between its wall clock and UTC. Cheap to clone.
#[derive(Debug, Clone)]
pub struct WriterZone {
    offsets: Offsets,
    /// See [`WriterZone::base`].
    base: i64,
    /// Where the offsets before 1900 are that people had then; none of zones that only the JVM knows.
    history: Option<Tz>,
}

#[derive(Debug, Clone)]
pub(super) enum Offsets {
    /// Seconds, the same at all times.
    Fixed(i32),
    Table(Arc<OffsetTable>),
}

impl WriterZone {
    /// The zone that `writer_timezone` of a stripe footer names.
    ///
    /// Known are all ids that a JVM gives its default zone (compared with Java 17 and 25), spelled as it spells them:
    /// * IANA ids and their links (`America/New_York`, `US/Pacific`, `Etc/GMT+5`, `EST5EDT`, `GMT0`);
    /// * the JVM's three-letter ids: `PST`, `CST`, `IST` (India), `AST` (Alaska) …; `EST`, `MST` and `HST` never had
    ///   summer time up to Java 22, later ones differ before 1968 only;
    /// * `SystemV/PST8PDT` and its kin;
    /// * fixed offsets: `GMT+08:00`, `GMT-3`, `GMT+0800`, `GMT+01:02:03`, `Z`; also `UTC+8`, `UT+8` and `+08:00`,
    ///   the ids of `java.time`, which a JVM itself turns to `GMT+08:00` or, as a default, refuses.
    ///
    /// An empty id is UTC. Writers before HIVE-8746 left the field out, and meant a zone that is not recorded:
    /// Apache ORC reads such stripes in the *reader's* zone, both in Java (the default zone) and C++ (`localtime`).
    /// We want the same values everywhere, and in UTC the stored wall clock stands as it is (off by an hour for
    /// half of the year if the writer had summer time, which no reader elsewhere can repair).
    ///
    /// # Errors
    ///
    /// `Unsupported` if the id is unknown. (A JVM would silently take GMT, and show other values than were written.)
    pub fn parse(id: &str) -> Result<Self> {
        // Filled with known ids only, so bounded by their number.
        static KNOWN: Mutex<BTreeMap<String, WriterZone>> = Mutex::new(BTreeMap::new());
        if let Some(offset) = parse_fixed(id) {
            return Ok(Self::fixed(offset));
        }
        if let Some(zone) = KNOWN.lock().unwrap_or_else(PoisonError::into_inner).get(id) {
            return Ok(zone.clone());
        }
        let zone = if let Some((standard, summer)) = parse_system_v(id) {
            if summer { Self::sampled(|utc| standard + system_v_saving(utc, standard)) } else { Self::fixed(standard) }
        } else if let Ok(zone) = java_short_id(id).unwrap_or(id).parse::<Tz>() {
            Self { history: Some(zone), ..Self::sampled(|utc| iana_offset(zone, utc)) }
        } else {
            let shown: String = id.chars().take(64).collect();
            return Err(Error::unsupported(format!("writer time zone {shown:?} is not known")));
        };
        KNOWN.lock().unwrap_or_else(PoisonError::into_inner).insert(id.to_owned(), zone.clone());
        Ok(zone)
    }

    /// The zone of a reader, by any id that [`parse`](Self::parse) knows.
    ///
    /// # Errors
    /// `InvalidArgument` if the id is unknown or empty: only to the writer of a file no id is UTC.
    pub fn of_reader(id: &str) -> Result<Self> {
        let zone = Self::parse(id).ok().filter(|_| !id.is_empty());
        zone.ok_or_else(|| Error::invalid(format!("timezone={id:?}: no time zone that is known here")))
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
        // No zone changed its clock within a day of the epoch, so either side's offset is the one in force.
        let base = EPOCH - i64::from(table.offset_at(EPOCH));
        Self { offsets: Offsets::Table(Arc::new(table)), base, history: None }
    }

    /// The instant, in UTC seconds since 1970, when this zone's wall clock showed 2015-01-01 00:00:00: what the
    /// DATA stream of a `TIMESTAMP` column counts from.
    #[inline]
    pub fn base(&self) -> i64 {
        self.base
    }

    /// The offset in seconds, if it is and was the same at all times.
    #[inline]
    pub fn fixed_offset(&self) -> Option<i32> {
        match self.offsets {
            Offsets::Fixed(offset) => Some(offset),
            Offsets::Table(_) => None,
        }
    }

    /// The two kinds of zone, for loops that tell them apart once.
    #[inline]
    pub(super) fn offsets(&self) -> &Offsets {
        &self.offsets
    }

    /// Seconds to add to the instant `utc` (seconds since 1970) to get the wall clock; any `i64` will do.
    ///
    /// As the JVM has it: before 1900 the zone's present standard time, and its present rules for ever after.
    /// Compared with Java 17 and 25 for every id they list, what differs is the age of the zone data, and
    /// Africa/Windhoek before 1900, Morocco and Gaza after 2037, where the JVM departs from the data.
    #[inline]
    pub fn offset_at(&self, utc: i64) -> i32 {
        match &self.offsets {
            Offsets::Fixed(offset) => *offset,
            Offsets::Table(table) => table.offset_at(utc),
        }
    }
}

impl WriterZone {
    /// The instant at which the wall clock shows `wall`, in seconds since 1970, as if it stood in UTC: the first, where
    /// it does so twice, and none where it skips that time. Of seconds less than 2^62 from 1970.
    #[inline]
    pub fn instant_of(&self, wall: i64) -> Option<i64> {
        match &self.offsets {
            Offsets::Fixed(offset) => Some(wall - i64::from(*offset)),
            Offsets::Table(table) => {
                // No zone is further than a day from UTC, and none changes its clock twice in two days.
                let mut near =
                    [-SECONDS_PER_DAY, SECONDS_PER_DAY].map(|day| wall - i64::from(table.offset_at(wall + day)));
                near.sort_unstable();
                near.into_iter().find(|instant| instant + i64::from(table.offset_at(*instant)) == wall)
            }
        }
    }
}

impl WriterZone {
    /// As [`offset_at`](Self::offset_at), but before 1900 what clocks showed then, local mean time for the most part,
    /// as `java.time`, Spark and pyarrow have it.
    pub fn historic_offset_at(&self, utc: i64) -> i32 {
        match self.history {
            Some(zone) if utc < STANDARD_BEFORE => iana_offset(zone, utc.max(FIRST_CHANGE)),
            _ => self.offset_at(utc),
        }
    }

    /// The instant at which clocks showed `wall`, those before 1900 by the time of their place, as `java.time` has it:
    /// the first where it does so twice; of a time that is skipped, the one that is as much later as the clock leapt. Of
    /// seconds less than 2^62 from 1970.
    pub fn historic_instant_of(&self, wall: i64) -> i64 {
        let near = |at: i64| wall - i64::from(self.historic_offset_at(at));
        let (before, after) = (near(wall - SECONDS_PER_DAY), near(wall + SECONDS_PER_DAY));
        let shows = |instant: i64| instant + i64::from(self.historic_offset_at(instant)) == wall;
        let mut found = [before.min(after), before.max(after)].into_iter();
        found.find(|instant| shows(*instant)).unwrap_or(before)
    }

    /// The offsets in force within 26 hours of `at`, which is a wall clock or an instant, and that of the base in 2015, in
    /// seconds to add to an instant for the wall clock. Both those of the JVM and historic ones. At least one.
    pub fn offsets_near(&self, at: i64) -> Vec<i32> {
        let mut found = vec![self.offset_at(EPOCH)];
        if self.is_changing() {
            for at in [at.saturating_sub(FARTHEST), at, at.saturating_add(FARTHEST)] {
                found.extend([self.offset_at(at), self.historic_offset_at(at)]);
            }
            found.sort_unstable();
            found.dedup();
        }
        found
    }

    /// The least and the greatest seconds to add to an instant, such that no wall clock from `wall` on is that of an
    /// instant before `wall` less the greatest, and none up to `wall` that of an instant after `wall` less the least.
    ///
    /// A wall clock that is earlier may be that of a later instant: by as much as the clock leapt.
    pub fn offsets_about(&self, wall: i64) -> (i32, i32) {
        let mut found = self.offsets_near(wall);
        if self.is_changing() {
            for at in [wall.saturating_sub(FARTHEST), wall.saturating_add(FARTHEST)] {
                found.extend(self.offsets_near(at));
            }
        }
        (found.iter().copied().min().unwrap_or_default(), found.iter().copied().max().unwrap_or_default())
    }

    fn is_changing(&self) -> bool {
        self.fixed_offset().is_none() || self.history.is_some()
    }
}

fn iana_offset(zone: Tz, utc: i64) -> i32 {
    // Sampling keeps to years that chrono knows.
    let instant = DateTime::from_timestamp(utc, 0).unwrap_or_default();
    zone.offset_from_utc_datetime(&instant.naive_utc()).fix().local_minus_utc()
}

/// What the JVM's three-letter ids stand for (`ZoneId.SHORT_IDS` and its like in `java.util.TimeZone`), and ids
/// that older JVMs have and tzdata dropped.
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

/// Offset in seconds of an id that names nothing else: UTC, the fixed three-letter ids, `GMT+8` and the like.
fn parse_fixed(id: &str) -> Option<i32> {
    match id {
        "" | "Z" | "UTC" | "GMT" => return Some(0),
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
    // h, hh, hmm, hhmm, hhmmss, h:mm, hh:mm, hh:mm:ss
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
    let two = |digits: &str, most: i32| two_digits(digits).filter(|value| digits.len() == 2 && *value <= most);
    let hours = two_digits(hours).filter(|hours| *hours <= 23)?;
    Some(sign * (hours * 3600 + two(minutes, 59)? * 60 + two(seconds, 59)?))
}

/// The value of one or two decimal digits.
fn two_digits(text: &str) -> Option<i32> {
    let digits = (1..=2).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    if digits { text.parse().ok() } else { None }
}

/// Standard offset in seconds of an id of UNIX System V, and whether the zone has summer time.
fn parse_system_v(id: &str) -> Option<(i32, bool)> {
    let (hours, summer) = match id.strip_prefix("SystemV/")? {
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
    Some((-3600 * hours, summer))
}

/// Seconds of summer time at `utc` by the rule of UNIX System V: from the last Sunday of April to that of October,
/// at two o'clock; earlier in the two years of the oil crisis.
fn system_v_saving(utc: i64, standard: i32) -> i32 {
    let wall = utc + i64::from(standard);
    let past = wall.div_euclid(SECONDS_PER_DAY);
    // Off by some hours at most at the turn of a year, which is winter in either year.
    let year = 1970 + (past * 400).div_euclid(146_097);
    let in_year = |month_and_day: i64| new_year(year).div_euclid(SECONDS_PER_DAY) + month_and_day;
    let leap = (new_year(year + 1) - new_year(year)) / SECONDS_PER_DAY - 365;
    // 1970-01-01 was a Thursday, so day 3 a Sunday
    let sunday_by = |day: i64| day - (day - 3).rem_euclid(7);
    let (begin, end) = match year {
        1974 => (in_year(5), sunday_by(in_year(333))),
        1975 => (in_year(53), sunday_by(in_year(303))),
        _ => (sunday_by(in_year(119 + leap)), sunday_by(in_year(303 + leap))),
    };
    let two_o_clock = 7200;
    let summer = wall >= begin * SECONDS_PER_DAY + two_o_clock && wall < end * SECONDS_PER_DAY + two_o_clock - 3600;
    if summer { 3600 } else { 0 }
}

#[cfg(test)]
mod tests;
