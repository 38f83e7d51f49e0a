//! Dates of the proleptic Gregorian calendar. The year 0 is the year before 1.

/// Days of 400 years, after which the calendar repeats.
pub const DAYS_PER_ERA: i64 = 146_097;
/// Days from 0000-03-01 to 1970-01-01.
const EPOCH: i64 = 719_468;

/// Days since 1970 of a date in a year of at most 15 digits; `None` if the calendar does not have the day.
///
/// ```
/// use orcish_core::calendar::days_of;
///
/// assert_eq!(days_of(1970, 1, 2), Some(1));
/// assert_eq!(days_of(2023, 2, 29), None);
/// ```
pub fn days_of(year: i64, month: u8, day: u8) -> Option<i64> {
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let length = match month {
        4 | 6 | 9 | 11 => 30,
        2 => 28 + u8::from(is_leap),
        1..=12 => 31,
        _ => return None,
    };
    if !(1..=length).contains(&day) {
        return None;
    }
    // Years begin in March, so that the leap day is the last one.
    let year = year - i64::from(month <= 2);
    let (era, year_of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let day_of_year = (153 * ((i64::from(month) + 9) % 12) + 2) / 5 + i64::from(day) - 1;
    Some(era * DAYS_PER_ERA + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - EPOCH)
}

/// Year, month and day of a number of days since 1970.
pub fn date_of(days: i64) -> (i64, i64, i64) {
    let shifted = days.saturating_add(EPOCH);
    let (era, day_of_era) = (shifted.div_euclid(DAYS_PER_ERA), shifted.rem_euclid(DAYS_PER_ERA));
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (era * 400 + year_of_era + i64::from(month <= 2), month, day)
}

/// A date as text. Years beyond 9999 and before 0 have a sign.
///
/// ```
/// assert_eq!(orcish_core::calendar::date_text(-1), "1969-12-31");
/// ```
pub fn date_text(days: i64) -> String {
    let (year, month, day) = date_of(days);
    let sign = match year {
        ..0 => "-",
        0..=9_999 => "",
        _ => "+",
    };
    format!("{sign}{:04}-{month:02}-{day:02}", year.abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_chrono() {
        let epoch = chrono::NaiveDate::default();
        for days in (-4_000_000..4_000_000).step_by(997).chain(-800_000..-700_000) {
            let date = epoch + chrono::TimeDelta::days(days);
            let (year, month, day) = date_of(days);
            assert_eq!(format!("{date:?}"), date_text(days), "{days}");
            assert_eq!(days_of(year, u8::try_from(month).unwrap(), u8::try_from(day).unwrap()), Some(days));
        }
        assert_eq!((days_of(2023, 2, 29), days_of(2024, 2, 29).is_some(), days_of(1, 13, 1)), (None, true, None));
        assert_eq!((days_of(1900, 2, 29), days_of(1, 1, 0), days_of(1, 4, 31)), (None, None, None));
    }
}
