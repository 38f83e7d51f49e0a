//! The instants of `TIMESTAMP` columns, whose stripes name the zone that their writer had.
//!
//! What is stored is an instant: seconds from 2015 on the writer's clock. An hour that this clock showed twice is told
//! apart by it, which a wall clock cannot do.
//!
//! * From 1900 on the stored instant is the instant.
//! * Before, `java.util.TimeZone`, with which Java's writer made it from a wall clock, knows only the standard time of
//!   today, and the calendar of the file may be Julian. So the wall clock is what counts, and the instant is that at
//!   which the clocks of the place showed it: local mean time, as `java.time`, Spark and pyarrow have it.
//! * A reader may have a zone of its own ([`Instants::seen_from`]): ORC Java gives the instant at which the clock of the
//!   *reader's* machine shows what the clock of the writer showed. Where both zones are the same, that is the instant.

use super::calendar;
use super::zone::{STANDARD_BEFORE, WriterZone};

/// From the instants that a stripe stores to those that they mean.
#[derive(Debug, Clone)]
pub struct Instants {
    writer: WriterZone,
    /// Where it is another zone.
    reader: Option<WriterZone>,
    /// Whether dates before 1582-10-15 are in the Julian calendar.
    hybrid: bool,
}

impl Instants {
    /// Of a stripe that was written in a zone.
    pub fn new(writer: WriterZone, hybrid: bool) -> Self {
        Self { writer, reader: None, hybrid }
    }

    /// As ORC Java has them in a JVM of another zone.
    #[must_use]
    pub fn seen_from(self, reader: WriterZone) -> Self {
        Self { reader: Some(reader), ..self }
    }

    /// Makes the instants of what is stored, in seconds since 1970 less than 2^62 from it, in place.
    pub fn decode_all(&self, seconds: &mut [i64]) {
        let is_recent = seconds.iter().fold(true, |all, second| all & (*second >= STANDARD_BEFORE));
        if self.reader.is_some() || !is_recent {
            seconds.iter_mut().for_each(|second| *second = self.decode(*second));
        }
    }

    /// The instant of a stored one.
    pub fn decode(&self, stored: i64) -> i64 {
        let (zone, instant) = match &self.reader {
            None => (&self.writer, stored),
            Some(reader) => (reader, reclocked(stored, &self.writer, reader)),
        };
        if instant >= STANDARD_BEFORE {
            return instant;
        }
        let wall = instant + i64::from(zone.offset_at(instant));
        zone.historic_instant_of(if self.hybrid { calendar::seconds_to_proleptic(wall) } else { wall })
    }

    /// What a stripe of the writer's zone, of the proleptic Gregorian calendar, has for an instant less than 2^62 seconds
    /// from 1970; none where there is nothing from which the instant comes back.
    pub fn encode(writer: &WriterZone, instant: i64) -> Option<i64> {
        if instant >= STANDARD_BEFORE {
            return Some(instant);
        }
        let wall = instant + i64::from(writer.historic_offset_at(instant));
        let stored = wall - i64::from(writer.offset_at(STANDARD_BEFORE - 1));
        (stored < STANDARD_BEFORE && writer.historic_instant_of(wall) == instant).then_some(stored)
    }
}

/// The instant at which the clock of the reader shows what that of the writer showed, as ORC Java finds it: also of times
/// that the one clock shows twice, or the other never.
fn reclocked(instant: i64, writer: &WriterZone, reader: &WriterZone) -> i64 {
    let wall = instant + i64::from(writer.offset_at(instant));
    let near = wall - i64::from(reader.offset_at(instant));
    wall - i64::from(reader.offset_at(near))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const ZONES: [&str; 9] = [
        "UTC",
        "America/New_York",
        "Europe/Berlin",
        "Asia/Kolkata",
        "Australia/Lord_Howe",
        "Pacific/Port_Moresby",
        "GMT+08:00",
        "SystemV/PST8PDT",
        "Africa/Casablanca",
    ];

    fn zone(id: &str) -> WriterZone {
        WriterZone::parse(id).unwrap()
    }

    #[test]
    fn both_times_of_an_hour_are_kept() {
        // 2025-11-02 01:30 in New York, in summer time and an hour later.
        for instant in [1_762_061_400, 1_762_065_000] {
            let instants = Instants::new(zone("America/New_York"), true);
            assert_eq!(instants.decode(instant), instant);
            assert_eq!(instants.clone().seen_from(zone("US/Eastern")).decode(instant), instant);
            // In London it is 01:30 once.
            assert_eq!(instants.seen_from(zone("Europe/London")).decode(instant), 1_762_047_000);
        }
    }

    #[test]
    fn before_1900_the_wall_clock_counts() {
        let new_york = zone("America/New_York");
        // 1883-11-18 was the day on which New York left its own time, 4:56:02 behind Greenwich.
        let noon_before = -2_717_668_800 + 17_762; // 12:00 of its own time
        let stored = Instants::encode(&new_york, noon_before).unwrap();
        assert_eq!(stored - noon_before, 238);
        assert_eq!(Instants::new(new_york.clone(), false).decode(stored), noon_before);
        // A month later the clock is that of today.
        let later = noon_before + 30 * 86_400;
        assert_eq!(Instants::encode(&new_york, later), Some(later));
        // Four minutes came twice, and no file says which.
        assert_eq!(Instants::encode(&new_york, -2_717_650_800 + 100), None);
        assert_eq!(Instants::encode(&new_york, -2_717_650_800 + 238), Some(-2_717_650_800 + 238));
    }

    #[test]
    fn julian_days_are_days_of_that_name() {
        // Spark's 1500-01-01 00:00 in UTC.
        assert_eq!(Instants::new(WriterZone::utc(), true).decode(-171_655 * 86_400), -171_664 * 86_400);
        assert_eq!(Instants::new(WriterZone::utc(), false).decode(-171_664 * 86_400), -171_664 * 86_400);
    }

    proptest! {
        #[test]
        fn instants_come_back(
            instant in prop_oneof![-60_000_000_000..200_000_000_000_i64, -3_000_000_000..0_i64, -(1_i64 << 61)..1 << 61],
            id in prop::sample::select(ZONES.to_vec()),
        ) {
            let zone = zone(id);
            let instants = Instants::new(zone.clone(), false);
            match Instants::encode(&zone, instant) {
                Some(stored) => prop_assert_eq!(instants.decode(stored), instant),
                None => prop_assert!((-6_000_000_000..STANDARD_BEFORE).contains(&instant)),
            }
        }

        /// The clock of the zone shows at the instant what it has as a wall clock.
        #[test]
        fn clocks_show_what_is_read_as_a_wall_clock(
            stored in prop_oneof![-60_000_000_000..200_000_000_000_i64, -3_000_000_000..-2_000_000_000_i64],
            id in prop::sample::select(ZONES.to_vec()),
            hybrid in any::<bool>(),
        ) {
            let zone = zone(id);
            let wall = stored + i64::from(zone.offset_at(stored));
            let wall = if hybrid { calendar::seconds_to_proleptic(wall) } else { wall };
            let instant = Instants::new(zone.clone(), hybrid).decode(stored);
            let shown = instant + i64::from(zone.historic_offset_at(instant));
            // What was skipped before 1900 is shown as another time.
            prop_assert!(shown == wall || stored < STANDARD_BEFORE && (shown - wall).abs() < 3 * 3600);
            let near = zone.offsets_near(wall);
            prop_assert!(near.into_iter().any(|offset| i64::from(offset) == wall - instant) || shown != wall);
        }

        #[test]
        fn a_reader_in_the_same_zone_changes_nothing(
            stored in -60_000_000_000..200_000_000_000_i64,
            id in prop::sample::select(ZONES.to_vec()),
            hybrid in any::<bool>(),
        ) {
            let instants = Instants::new(zone(id), hybrid);
            let mut seconds = [stored];
            instants.clone().seen_from(zone(id)).decode_all(&mut seconds);
            prop_assert_eq!(seconds[0], instants.decode(stored));
        }

        /// Whatever the reader's zone, its clock shows what the writer's showed, but for times that one of them skips.
        #[test]
        fn a_reader_elsewhere_sees_the_wall_clock(
            stored in -2_208_000_000..200_000_000_000_i64,
            ids in [prop::sample::select(ZONES.to_vec()), prop::sample::select(ZONES.to_vec())],
        ) {
            let (writer, reader) = (zone(ids[0]), zone(ids[1]));
            let wall = stored + i64::from(writer.offset_at(stored));
            let instant = Instants::new(writer, false).seen_from(reader.clone()).decode(stored);
            let is_shown = instant + i64::from(reader.offset_at(instant)) == wall;
            prop_assert!(is_shown || reader.instant_of(wall).is_none() || wall < STANDARD_BEFORE + 86_400);
            for near in [wall, instant] {
                let near = reader.offsets_near(near);
                prop_assert!(near.into_iter().any(|offset| i64::from(offset) == wall - instant));
            }
        }

        #[test]
        fn nothing_panics(stored in -(1_i64 << 62)..1 << 62, id in prop::sample::select(ZONES.to_vec())) {
            let _ = Instants::encode(&zone(id), stored);
            Instants::new(zone(id), true).seen_from(zone("Asia/Kolkata")).decode_all(&mut [stored]);
            let _ = zone(id).offsets_near(stored);
        }
    }
}
