//! The hybrid Julian/Gregorian calendar of `java.util.GregorianCalendar` ↔ the proleptic Gregorian calendar.
//!
//! A file whose footer says `JULIAN_GREGORIAN`, or nothing, names days before 1582-10-15 by the Julian calendar:
//! the number stored for "1500-01-01" is that of the Julian day of this name. Arrow, like ISO 8601, has only
//! Gregorian days. The *name* is kept (year, month, day, time of day) and the number changes, as Hive and Spark do.
//!
//! Two rules where a name has no partner:
//! * Julian 29 February of 1500, 1400, 1300, 1100, … becomes 1 March, as in Spark (`LocalDate` plus a day).
//!   Apache ORC's `DateUtils` throws on such a date, and maps such a timestamp to 28 February.
//! * Gregorian 1582-10-05 … 1582-10-14 become 1582-10-15 in the hybrid calendar, as in Spark; time of day is kept.
//!   (`DateUtils` goes ten days ahead, which breaks the order of values.)
//!
//! ORCv1, "File Footer", `calendar`.

use super::SECONDS_PER_DAY;

/// First day of the Gregorian calendar, 1582-10-15, in days since 1970-01-01; from here on both calendars agree.
pub const GREGORIAN_START_DAY: i32 = -141_427;

/// [`GREGORIAN_START_DAY`] in seconds since 1970.
pub const GREGORIAN_START_SECOND: i64 = GREGORIAN_START_DAY as i64 * SECONDS_PER_DAY;

/// Days from 0000-03-01 to 1970-01-01 in the Julian calendar. Years start in March here, so that the leap day,
/// which is where the calendars drift apart, ends a year.
const JULIAN_MARCH_0: i64 = 719_470;

/// The same in the Gregorian calendar.
const GREGORIAN_MARCH_0: i64 = 719_468;

/// How many names were skipped: 1582-10-04 was followed by 1582-10-15.
const GAP_DAYS: i64 = 10;

/// Days of a Gregorian era of four centuries, and of each of its first three centuries.
const DAYS_PER_ERA: i64 = 146_097;
const DAYS_PER_CENTURY: i64 = 36_524;

/// Day of the hybrid calendar → day of the same name in the proleptic Gregorian calendar.
///
/// Days since 1970-01-01. Saturates at the ends of `i32`.
#[inline]
pub fn days_to_proleptic(hybrid: i32) -> i32 {
    if hybrid >= GREGORIAN_START_DAY {
        return hybrid;
    }
    saturate(i64::from(hybrid) + shift_of_julian_day(hybrid.into()))
}

/// Day of the proleptic Gregorian calendar → day of the same name in the hybrid calendar.
///
/// Days since 1970-01-01. Saturates at the ends of `i32`. Inverse of [`days_to_proleptic`] but for the
/// days that only one calendar has.
#[inline]
pub fn days_to_hybrid(proleptic: i32) -> i32 {
    if proleptic >= GREGORIAN_START_DAY {
        return proleptic;
    }
    saturate(i64::from(proleptic) - shift_of_gregorian_day(proleptic.into()))
}

/// Wall-clock seconds of the hybrid calendar → the same date and time of day in the proleptic Gregorian calendar.
///
/// Seconds since 1970-01-01 00:00:00 on the wall clock, *not* UTC instants of another zone. Saturates.
#[inline]
pub fn seconds_to_proleptic(hybrid: i64) -> i64 {
    if hybrid >= GREGORIAN_START_SECOND {
        return hybrid;
    }
    hybrid.saturating_add(shift_of_julian_day(hybrid.div_euclid(SECONDS_PER_DAY)) * SECONDS_PER_DAY)
}

/// Wall-clock seconds of the proleptic Gregorian calendar → the same date and time of day in the hybrid calendar.
///
/// Seconds since 1970-01-01 00:00:00 on the wall clock. Saturates.
#[inline]
pub fn seconds_to_hybrid(proleptic: i64) -> i64 {
    if proleptic >= GREGORIAN_START_SECOND {
        return proleptic;
    }
    proleptic.saturating_sub(shift_of_gregorian_day(proleptic.div_euclid(SECONDS_PER_DAY)) * SECONDS_PER_DAY)
}

/// Days to add to the number of a Julian day to get that of the Gregorian day of the same name.
#[cold]
fn shift_of_julian_day(day: i64) -> i64 {
    let year = (4 * (day + JULIAN_MARCH_0) + 3).div_euclid(1461);
    shift_of_century(year.div_euclid(100))
}

/// Days to take from the number of a Gregorian day to get that of the hybrid day of the same name.
#[cold]
fn shift_of_gregorian_day(day: i64) -> i64 {
    if day >= i64::from(GREGORIAN_START_DAY) - GAP_DAYS {
        return day - i64::from(GREGORIAN_START_DAY); // a name that was skipped: the first day after
    }
    let march_0 = day + GREGORIAN_MARCH_0;
    // The last century of an era is a day longer, hence the bound.
    let century = (march_0.rem_euclid(DAYS_PER_ERA) / DAYS_PER_CENTURY).min(3);
    shift_of_century(4 * march_0.div_euclid(DAYS_PER_ERA) + century)
}

/// The Gregorian calendar drops three leap days in four centuries; in the third century the calendars agree.
fn shift_of_century(century: i64) -> i64 {
    2 - century + century.div_euclid(4)
}

fn saturate(day: i64) -> i32 {
    i32::try_from(day).unwrap_or(if day < 0 { i32::MIN } else { i32::MAX })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn as_spark_rebases() {
        // (hybrid, proleptic), from org.apache.spark.sql.catalyst.util.RebaseDateTime
        let pairs = [
            (-141_427, -141_427),     // 1582-10-15
            (-141_428, -141_438),     // 1582-10-04
            (-171_595, -171_605),     // 1500-03-01
            (-171_597, -171_606),     // 1500-02-28
            (-171_655, -171_664),     // 1500-01-01
            (-646_420, -646_420),     // 0200-03-01
            (-682_945, -682_944),     // 0100-03-01
            (-718_010, -718_008),     // 0004-02-29
            (-719_164, -719_162),     // 0001-01-01
            (-735_162, -735_160),     // 44 BC, 15 March
            (-1_084_780, -1_084_770), // year -1000
            (-4_372_030, -4_371_953), // year -10000
        ];
        for (hybrid, proleptic) in pairs {
            assert_eq!(days_to_proleptic(hybrid), proleptic);
            assert_eq!(days_to_hybrid(proleptic), hybrid);
        }
    }

    #[test]
    fn days_of_one_calendar_only() {
        assert_eq!(days_to_proleptic(-171_596), -171_605); // Julian 1500-02-29 → 1500-03-01
        for skipped in -141_437..=-141_428 {
            assert_eq!(days_to_hybrid(skipped), GREGORIAN_START_DAY);
        }
        assert_eq!(days_to_hybrid(-141_438), -141_428);
    }

    #[test]
    fn seconds_keep_the_time_of_day() {
        assert_eq!(seconds_to_proleptic(-12_219_292_800), -12_219_292_800);
        assert_eq!(seconds_to_proleptic(-12_219_292_801), -12_220_156_801);
        assert_eq!(seconds_to_proleptic(-62_135_769_601), -62_135_596_801);
        assert_eq!(seconds_to_hybrid(-62_135_596_801), -62_135_769_601);
        assert_eq!(seconds_to_hybrid(-12_219_292_801), -12_219_292_800 + 86_399);
    }

    #[test]
    fn the_ends_do_not_overflow() {
        assert!(days_to_proleptic(i32::MIN) > i32::MIN);
        assert_eq!(days_to_hybrid(i32::MIN), i32::MIN);
        assert_eq!(days_to_proleptic(i32::MAX), i32::MAX);
        assert!(seconds_to_proleptic(i64::MIN) > i64::MIN);
        assert_eq!(seconds_to_hybrid(i64::MIN), i64::MIN);
        assert_eq!(seconds_to_hybrid(i64::MAX), i64::MAX);
    }

    proptest! {
        #[test]
        fn there_and_back(day in -2_000_000_000..2_000_000_000_i32) {
            let proleptic = days_to_proleptic(day);
            let again = days_to_hybrid(proleptic);
            // Only a Julian 29 February comes back as another day, the next.
            prop_assert!(again == day || (again == day + 1 && days_to_proleptic(again) == proleptic));
        }

        #[test]
        fn order_is_kept(day in -1_000_000..0_i32) {
            prop_assert!(days_to_proleptic(day) <= days_to_proleptic(day + 1));
            prop_assert!(days_to_hybrid(day) <= days_to_hybrid(day + 1));
        }

        #[test]
        fn seconds_agree_with_days(second in -90_000_000_000..0_i64) {
            let day = i32::try_from(second.div_euclid(SECONDS_PER_DAY)).unwrap();
            let proleptic = i64::from(days_to_proleptic(day)) * SECONDS_PER_DAY + second.rem_euclid(SECONDS_PER_DAY);
            prop_assert_eq!(seconds_to_proleptic(second), proleptic);
        }
    }
}
