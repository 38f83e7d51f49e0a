//! Instants of `TIMESTAMP` columns. The stripe footer states the time zone of the writer.
//!
//! A `TIMESTAMP` is stored as an instant: seconds since 2015-01-01 00:00:00 in the time zone of the writer. The stored
//! instant distinguishes two times with the same local time, at the end of daylight saving time.
//!
//! * From 1900 on the stored instant is the instant.
//! * Before 1900 Java's writer converts local times with `java.util.TimeZone`, which has only the present standard time, and
//!   the calendar of the file may be hybrid. So the stored instant is converted to local time, and the local time to an
//!   instant by the historic offset, local mean time, as in `java.time`, Spark and pyarrow.
//! * A reader may have another time zone ([`InstantDecoder::with_reader_zone`]). ORC Java returns the instant with the same
//!   local time in the time zone of the *reader*.

use super::calendar;
use super::zone::{STANDARD_BEFORE, WriterZone};

/// Decodes the stored instants of a stripe.
#[derive(Debug, Clone)]
pub struct InstantDecoder {
    writer: WriterZone,
    /// Time zone of the reader, if it is not the time zone of the writer.
    reader: Option<WriterZone>,
    /// Whether dates before 1582-10-15 are in the Julian calendar.
    hybrid: bool,
}

impl InstantDecoder {
    /// A decoder for a stripe of a writer in a time zone. `hybrid` states that the calendar of the file is the hybrid one.
    pub fn new(writer: WriterZone, hybrid: bool) -> Self {
        Self { writer, reader: None, hybrid }
    }

    /// Sets the time zone of the reader: decodes as ORC Java in a JVM of this time zone.
    #[must_use]
    pub fn with_reader_zone(self, reader: WriterZone) -> Self {
        Self { reader: Some(reader), ..self }
    }

    /// Decodes stored instants in place, in seconds since 1970. Their magnitudes are below 2^62.
    pub fn decode_all(&self, seconds: &mut [i64]) {
        let is_recent = seconds.iter().fold(true, |all, second| all & (*second >= STANDARD_BEFORE));
        if self.reader.is_some() || !is_recent {
            seconds.iter_mut().for_each(|second| *second = self.decode(*second));
        }
    }

    /// Decodes a stored instant, in seconds since 1970. Its magnitude is below 2^62.
    pub fn decode(&self, stored_instant: i64) -> i64 {
        let (zone, instant) = match &self.reader {
            None => (&self.writer, stored_instant),
            Some(reader) => (reader, to_reader_zone(stored_instant, &self.writer, reader)),
        };
        if instant >= STANDARD_BEFORE {
            return instant;
        }
        let wall = instant + i64::from(zone.offset_at(instant));
        zone.historic_instant_of(if self.hybrid { calendar::seconds_to_proleptic(wall) } else { wall })
    }

    /// The stored instant for an instant, in the time zone of the writer and the proleptic Gregorian calendar. Both are
    /// seconds since 1970. The magnitude is below 2^62. `None` where no stored instant decodes to the instant.
    pub fn encode(writer: &WriterZone, instant: i64) -> Option<i64> {
        if instant >= STANDARD_BEFORE {
            return Some(instant);
        }
        let wall = instant + i64::from(writer.historic_offset_at(instant));
        let stored_instant = wall - i64::from(writer.offset_at(STANDARD_BEFORE - 1));
        (stored_instant < STANDARD_BEFORE && writer.historic_instant_of(wall) == instant).then_some(stored_instant)
    }
}

/// The instant with the same local time in the time zone of the reader. Local times that exist twice or never are converted
/// as in ORC Java.
fn to_reader_zone(instant: i64, writer: &WriterZone, reader: &WriterZone) -> i64 {
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
    fn both_instants_of_an_ambiguous_local_time_are_kept() {
        // 2025-11-02 01:30 in New York, in daylight saving time and in standard time.
        for instant in [1_762_061_400, 1_762_065_000] {
            let instants = InstantDecoder::new(zone("America/New_York"), true);
            assert_eq!(instants.decode(instant), instant);
            assert_eq!(instants.clone().with_reader_zone(zone("US/Eastern")).decode(instant), instant);
            // 01:30 is not ambiguous in London.
            assert_eq!(instants.with_reader_zone(zone("Europe/London")).decode(instant), 1_762_047_000);
        }
    }

    #[test]
    fn local_times_before_1900_are_kept() {
        let new_york = zone("America/New_York");
        // New York had local mean time, UTC-4:56:02, until 1883-11-18.
        let noon_before = -2_717_668_800 + 17_762; // 12:00 local mean time
        let stored = InstantDecoder::encode(&new_york, noon_before).unwrap();
        assert_eq!(stored - noon_before, 238);
        assert_eq!(InstantDecoder::new(new_york.clone(), false).decode(stored), noon_before);
        // A month later the offset is the present offset.
        let later = noon_before + 30 * 86_400;
        assert_eq!(InstantDecoder::encode(&new_york, later), Some(later));
        // Four minutes are ambiguous. Their second instant cannot be stored.
        assert_eq!(InstantDecoder::encode(&new_york, -2_717_650_800 + 100), None);
        assert_eq!(InstantDecoder::encode(&new_york, -2_717_650_800 + 238), Some(-2_717_650_800 + 238));
    }

    #[test]
    fn julian_dates_are_rebased() {
        // Spark's 1500-01-01 00:00 in UTC.
        assert_eq!(InstantDecoder::new(WriterZone::utc(), true).decode(-171_655 * 86_400), -171_664 * 86_400);
        assert_eq!(InstantDecoder::new(WriterZone::utc(), false).decode(-171_664 * 86_400), -171_664 * 86_400);
    }

    proptest! {
        #[test]
        fn instants_round_trip(
            instant in prop_oneof![-60_000_000_000..200_000_000_000_i64, -3_000_000_000..0_i64, -(1_i64 << 61)..1 << 61],
            id in prop::sample::select(ZONES.to_vec()),
        ) {
            let zone = zone(id);
            let instants = InstantDecoder::new(zone.clone(), false);
            match InstantDecoder::encode(&zone, instant) {
                Some(stored) => prop_assert_eq!(instants.decode(stored), instant),
                None => prop_assert!((-6_000_000_000..STANDARD_BEFORE).contains(&instant)),
            }
        }

        #[test]
        fn instants_have_the_decoded_local_time(
            stored in prop_oneof![-60_000_000_000..200_000_000_000_i64, -3_000_000_000..-2_000_000_000_i64],
            id in prop::sample::select(ZONES.to_vec()),
            hybrid in any::<bool>(),
        ) {
            let zone = zone(id);
            let wall = stored + i64::from(zone.offset_at(stored));
            let wall = if hybrid { calendar::seconds_to_proleptic(wall) } else { wall };
            let instant = InstantDecoder::new(zone.clone(), hybrid).decode(stored);
            let shown = instant + i64::from(zone.historic_offset_at(instant));
            // A local time before 1900 may not exist.
            prop_assert!(shown == wall || stored < STANDARD_BEFORE && (shown - wall).abs() < 3 * 3600);
            let near = zone.offsets_near(wall);
            prop_assert!(near.into_iter().any(|offset| i64::from(offset) == wall - instant) || shown != wall);
        }

        #[test]
        fn a_reader_in_the_same_zone_reads_the_same_instants(
            stored in -60_000_000_000..200_000_000_000_i64,
            id in prop::sample::select(ZONES.to_vec()),
            hybrid in any::<bool>(),
        ) {
            let instants = InstantDecoder::new(zone(id), hybrid);
            let mut seconds = [stored];
            instants.clone().with_reader_zone(zone(id)).decode_all(&mut seconds);
            prop_assert_eq!(seconds[0], instants.decode(stored));
        }

        /// Except for local times that do not exist in the time zone of the reader.
        #[test]
        fn a_reader_in_another_zone_reads_the_same_local_time(
            stored in -2_208_000_000..200_000_000_000_i64,
            ids in [prop::sample::select(ZONES.to_vec()), prop::sample::select(ZONES.to_vec())],
        ) {
            let (writer, reader) = (zone(ids[0]), zone(ids[1]));
            let wall = stored + i64::from(writer.offset_at(stored));
            let instant = InstantDecoder::new(writer, false).with_reader_zone(reader.clone()).decode(stored);
            let is_shown = instant + i64::from(reader.offset_at(instant)) == wall;
            prop_assert!(is_shown || reader.instant_of(wall).is_none() || wall < STANDARD_BEFORE + 86_400);
            for near in [wall, instant] {
                let near = reader.offsets_near(near);
                prop_assert!(near.into_iter().any(|offset| i64::from(offset) == wall - instant));
            }
        }

        #[test]
        fn any_instant_is_decoded(stored in -(1_i64 << 62)..1 << 62, id in prop::sample::select(ZONES.to_vec())) {
            let _ = InstantDecoder::encode(&zone(id), stored);
            InstantDecoder::new(zone(id), true).with_reader_zone(zone("Asia/Kolkata")).decode_all(&mut [stored]);
            let _ = zone(id).offsets_near(stored);
        }
    }
}
