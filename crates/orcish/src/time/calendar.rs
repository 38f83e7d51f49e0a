//! Rebasing between the hybrid calendar of `java.util.GregorianCalendar` and the proleptic Gregorian calendar (ORCv1, File
//! Footer, `calendar`).
//!
//! If the calendar of a file is `JULIAN_GREGORIAN`, or absent, dates before 1582-10-15 are Julian: the number stored for
//! "1500-01-01" is the number of this Julian day. Arrow and ISO 8601 have only Gregorian days. Rebasing keeps year, month,
//! day and time of day, and changes the number, as Hive and Spark do.
//!
//! Two kinds of dates exist in one calendar only:
//! * Julian 29 February of 1500, 1400, 1300, 1100, … becomes 1 March, as in Spark (`LocalDate` plus a day).
//!   `DateUtils` of Apache ORC throws on such a date, and changes such a timestamp to 28 February.
//! * Gregorian 1582-10-05 … 1582-10-14 become 1582-10-15 in the hybrid calendar, as in Spark. The time of day is kept.
//!   `DateUtils` adds ten days, which breaks the order of values.

use super::SECONDS_PER_DAY;

/// First day of the Gregorian calendar, 1582-10-15, in days since 1970-01-01. Both calendars agree from this day on.
pub const GREGORIAN_START_DAY: i32 = -141_427;

/// [`GREGORIAN_START_DAY`] in seconds since 1970.
pub const GREGORIAN_START_SECOND: i64 = GREGORIAN_START_DAY as i64 * SECONDS_PER_DAY;

/// Days from 0000-03-01 to 1970-01-01 in the Julian calendar. Years start in March: the leap day is the last day of a year.
const JULIAN_MARCH_0: i64 = 719_470;

/// Days from 0000-03-01 to 1970-01-01 in the Gregorian calendar.
const GREGORIAN_MARCH_0: i64 = 719_468;

/// Number of skipped dates: 1582-10-15 follows 1582-10-04.
const GAP_DAYS: i64 = 10;

/// Days of a Gregorian era of four centuries.
const DAYS_PER_ERA: i64 = 146_097;
/// Days of each of the first three centuries of an era.
const DAYS_PER_CENTURY: i64 = 36_524;

/// Rebases a date from the hybrid to the proleptic Gregorian calendar.
///
/// Dates are days since 1970-01-01. The result saturates at the bounds of `i32`.
#[inline]
pub fn days_to_proleptic(hybrid: i32) -> i32 {
    if hybrid >= GREGORIAN_START_DAY {
        return hybrid;
    }
    saturate(i64::from(hybrid) + julian_shift(hybrid.into()))
}

/// Rebases a date from the proleptic Gregorian to the hybrid calendar: the inverse of [`days_to_proleptic`], except for
/// dates that exist in one calendar only.
///
/// Dates are days since 1970-01-01. The result saturates at the bounds of `i32`.
#[inline]
pub fn days_to_hybrid(proleptic: i32) -> i32 {
    if proleptic >= GREGORIAN_START_DAY {
        return proleptic;
    }
    saturate(i64::from(proleptic) - gregorian_shift(proleptic.into()))
}

/// Rebases a local time from the hybrid to the proleptic Gregorian calendar.
///
/// Local times are seconds since 1970-01-01 00:00:00 local time, *not* UTC. The result saturates at the bounds of `i64`.
#[inline]
pub fn seconds_to_proleptic(hybrid: i64) -> i64 {
    if hybrid >= GREGORIAN_START_SECOND {
        return hybrid;
    }
    hybrid.saturating_add(julian_shift(hybrid.div_euclid(SECONDS_PER_DAY)) * SECONDS_PER_DAY)
}

/// Rebases a local time from the proleptic Gregorian to the hybrid calendar.
///
/// Local times are seconds since 1970-01-01 00:00:00 local time. The result saturates at the bounds of `i64`.
#[inline]
pub fn seconds_to_hybrid(proleptic: i64) -> i64 {
    if proleptic >= GREGORIAN_START_SECOND {
        return proleptic;
    }
    proleptic.saturating_sub(gregorian_shift(proleptic.div_euclid(SECONDS_PER_DAY)) * SECONDS_PER_DAY)
}

/// Number of days to add to a Julian day.
#[cold]
fn julian_shift(day: i64) -> i64 {
    let year = (4 * (day + JULIAN_MARCH_0) + 3).div_euclid(1461);
    century_shift(year.div_euclid(100))
}

/// Number of days to subtract from a Gregorian day.
#[cold]
fn gregorian_shift(day: i64) -> i64 {
    if day >= i64::from(GREGORIAN_START_DAY) - GAP_DAYS {
        return day - i64::from(GREGORIAN_START_DAY); // a skipped date becomes the first day of the Gregorian calendar
    }
    let march_0 = day + GREGORIAN_MARCH_0;
    // The fourth century of an era is a day longer.
    let century = (march_0.rem_euclid(DAYS_PER_ERA) / DAYS_PER_CENTURY).min(3);
    century_shift(4 * march_0.div_euclid(DAYS_PER_ERA) + century)
}

/// Number of days between the calendars in a century. The Gregorian calendar has three leap days less in four centuries.
/// The calendars agree in the third century.
fn century_shift(century: i64) -> i64 {
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
    fn rebases_as_spark() {
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
    fn dates_of_one_calendar_become_the_next_date() {
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
    fn results_saturate() {
        assert!(days_to_proleptic(i32::MIN) > i32::MIN);
        assert_eq!(days_to_hybrid(i32::MIN), i32::MIN);
        assert_eq!(days_to_proleptic(i32::MAX), i32::MAX);
        assert!(seconds_to_proleptic(i64::MIN) > i64::MIN);
        assert_eq!(seconds_to_hybrid(i64::MIN), i64::MIN);
        assert_eq!(seconds_to_hybrid(i64::MAX), i64::MAX);
    }

    proptest! {
        #[test]
        fn days_round_trip(day in -2_000_000_000..2_000_000_000_i32) {
            let proleptic = days_to_proleptic(day);
            let again = days_to_hybrid(proleptic);
            // Only a Julian 29 February becomes another day, the next day.
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
