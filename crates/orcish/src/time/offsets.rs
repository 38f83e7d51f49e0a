//! A zone's offsets as a table: two loads and no search, for any instant.
//!
//! The table is filled by asking for the offset day by day from 1900 to 2099 and bisecting where it changes, so it
//! needs nothing of its source but a function. The rest of time follows the JVM (`sun.util.calendar.ZoneInfo`):
//! * before 1900 the zone's present standard time, not local mean time: this is what `java.sql.Timestamp` was
//!   turned into an instant with, so it is what turns the instant back into the same wall clock;
//! * after 2099 the rules of the last years go on for ever. Gregorian years of the same length that begin on the
//!   same weekday have the same transitions, and the calendar repeats after 400 years. (Gaza's summer time, which
//!   minds Ramadan up to 2086, is beyond that a guess, here as in the JVM.)

use super::SECONDS_PER_DAY;

/// 1900-01-01 00:00:00 UTC, before which the JVM knows only standard time.
const START: i64 = -2_208_988_800;

/// First year whose transitions are inferred.
const FIRST_INFERRED_YEAR: i64 = 2100;

/// 28 successive years without a skipped leap year hold every kind of year; these are the last that are sampled.
const MODEL_YEARS: std::ops::Range<i64> = 2072..2100;

const YEARS_PER_ERA: i64 = 400;
const SECONDS_PER_ERA: i64 = 146_097 * SECONDS_PER_DAY;

/// Width of a bucket: 2^21 s, 24 days. Few buckets hold a transition, few transitions share a bucket, and a table
/// is still only 18 KiB, of which the years of one column touch a few hundred bytes.
const BUCKET_BITS: u32 = 21;

/// The offset in force up to `end`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Span {
    /// First UTC second after this span; `i64::MAX` for the last one.
    end: i64,
    /// Seconds to add to UTC.
    offset: i32,
}

/// Offsets of one zone for every instant.
#[derive(Debug)]
pub(super) struct OffsetTable {
    /// From [`START`] on, ascending, never empty.
    spans: Vec<Span>,
    /// Index of the span in force where each bucket begins; the first begins at [`START`], the last reaches [`END`].
    buckets: Vec<u16>,
    /// Offset before [`START`].
    standard: i32,
}

impl OffsetTable {
    /// The table of the zone whose offset at an instant (UTC seconds since 1970, 1900 to 2099) is `offset_at`.
    ///
    /// About 75,000 calls of `offset_at`: some milliseconds, so keep the table.
    pub(super) fn sample(offset_at: impl Fn(i64) -> i32) -> Self {
        let mut spans = sample_spans(&offset_at);
        // Standard time is the least offset of a year; the JVM counts Ireland and Morocco so, too. Several years,
        // because the Moroccan one moves with the moon.
        let standard = (new_year(2030)..new_year(2038)).step_by(1 << BUCKET_BITS).map(offset_at).min().unwrap_or(0);
        infer_spans(&mut spans);
        let buckets = bucket_index(&spans);
        Self { spans, buckets, standard }
    }

    /// The offset, if it is the same at all times.
    pub(super) fn constant(&self) -> Option<i32> {
        match self.spans.as_slice() {
            [only] if only.offset == self.standard => Some(only.offset),
            _ => None,
        }
    }

    /// Seconds to add to the instant `utc` (seconds since 1970) to get the wall clock.
    #[inline]
    pub(super) fn offset_at(&self, utc: i64) -> i32 {
        // As unsigned, what lies before the table is beyond its end, too: one test for both.
        let bucket = usize::try_from(utc.wrapping_sub(START).cast_unsigned() >> BUCKET_BITS).unwrap_or(usize::MAX);
        let Some(first) = self.buckets.get(bucket) else { return self.outside(utc) };
        match self.spans.get(usize::from(*first)) {
            Some(span) if utc < span.end => span.offset,
            _ => self.later_in_bucket(*first, utc),
        }
    }

    /// The offset at `utc`, which lies after span `first`.
    fn later_in_bucket(&self, first: u16, utc: i64) -> i32 {
        let mut later = self.spans.iter().skip(usize::from(first) + 1);
        later.find(|span| utc < span.end).map_or(self.standard, |span| span.offset)
    }

    /// The offset before 1900, or after the last bucket: that of the instant in the last era of the table where
    /// the calendar is the same.
    #[cold]
    fn outside(&self, utc: i64) -> i32 {
        if utc < START {
            return self.standard;
        }
        let inferred = new_year(FIRST_INFERRED_YEAR);
        self.offset_at(inferred + (utc - inferred) % SECONDS_PER_ERA)
    }
}

/// What the buckets cover at least: one full era after the first inferred year.
const END: i64 = new_year(FIRST_INFERRED_YEAR) + SECONDS_PER_ERA;

/// Spans from [`START`] to the last that begins before 2100, found by asking once a day.
fn sample_spans(offset_at: &impl Fn(i64) -> i32) -> Vec<Span> {
    let mut spans = Vec::new();
    let mut offset = offset_at(START);
    let mut day = START;
    while day < new_year(FIRST_INFERRED_YEAR) {
        let next = day + SECONDS_PER_DAY;
        let (mut low, mut high) = (day, next);
        let after = offset_at(next);
        if after != offset {
            while high - low > 1 {
                let middle = low + (high - low) / 2;
                if offset_at(middle) == offset { low = middle } else { high = middle }
            }
            spans.push(Span { end: high, offset });
            offset = after;
        }
        day = next;
    }
    spans.push(Span { end: i64::MAX, offset });
    spans
}

/// Repeats the transitions of the model years for the 400 years that follow, if the rules still change clocks then.
fn infer_spans(spans: &mut Vec<Span>) {
    let Some((last, sampled)) = spans.split_last() else { return };
    let last_year = new_year(FIRST_INFERRED_YEAR - 1);
    if sampled.last().is_none_or(|span| span.end < last_year) {
        return;
    }
    // (where the clock changes, to what) in the model years
    let after = sampled.iter().skip(1).chain([last]).map(|span| span.offset);
    let changes: Vec<(i64, i32)> = sampled
        .iter()
        .map(|span| span.end)
        .zip(after)
        .filter(|change| change.0 >= new_year(MODEL_YEARS.start))
        .collect();
    let mut offset = last.offset;
    spans.pop();
    // A year more than an era, since the last bucket reaches into it.
    for year in FIRST_INFERRED_YEAR..=FIRST_INFERRED_YEAR + YEARS_PER_ERA {
        let Some(model) = MODEL_YEARS.into_iter().find(|model| same_kind(*model, year)) else { continue };
        let shift = new_year(year) - new_year(model);
        for (at, to) in changes.iter().filter(|change| (new_year(model)..new_year(model + 1)).contains(&change.0)) {
            spans.push(Span { end: at + shift, offset });
            offset = *to;
        }
    }
    spans.push(Span { end: i64::MAX, offset });
}

/// For each bucket up to [`END`], the index of the span in force where it begins.
fn bucket_index(spans: &[Span]) -> Vec<u16> {
    let mut current = 0_u16;
    let starts = (START..END).step_by(1 << BUCKET_BITS);
    let index = starts.map(|start| {
        while spans.get(usize::from(current)).is_some_and(|span| span.end <= start) {
            current += 1;
        }
        current
    });
    index.collect()
}

/// Whether two years have the same length and begin on the same weekday.
fn same_kind(a: i64, b: i64) -> bool {
    let length = |year| new_year(year + 1) - new_year(year);
    length(a) == length(b) && (new_year(b) - new_year(a)) % (7 * SECONDS_PER_DAY) == 0
}

/// UTC second at which `year` (1 or later) begins, proleptic Gregorian.
pub(super) const fn new_year(year: i64) -> i64 {
    let past = year - 1;
    // 719,162 days before 1970, at the start of the year 1
    (365 * past + past / 4 - past / 100 + past / 400 - 719_162) * SECONDS_PER_DAY
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Summer time of an hour in the second half of each year, from 1980 on.
    fn half_years(utc: i64) -> i32 {
        let mut year = 1900;
        while new_year(year + 1) <= utc {
            year += 1;
        }
        let summer = utc >= new_year(year) + 200 * SECONDS_PER_DAY && utc < new_year(year) + 350 * SECONDS_PER_DAY;
        if year >= 1980 && summer { 7200 } else { 3600 }
    }

    #[test]
    fn new_years() {
        assert_eq!(new_year(1970), 0);
        assert_eq!(new_year(1900), START);
        assert_eq!(new_year(2015), 1_420_070_400);
        assert_eq!(new_year(10_000), 253_402_300_800);
    }

    #[test]
    fn agrees_with_what_was_sampled() {
        let table = OffsetTable::sample(half_years);
        let mut utc = START;
        while utc < new_year(2100) {
            assert_eq!(table.offset_at(utc), half_years(utc), "{utc}");
            utc += 9_999_991;
        }
        let summer = new_year(1980) + 200 * SECONDS_PER_DAY;
        assert_eq!((table.offset_at(summer - 1), table.offset_at(summer)), (3600, 7200));
        assert_eq!(table.constant(), None);
    }

    #[test]
    fn rules_go_on_after_the_samples() {
        let table = OffsetTable::sample(half_years);
        for year in [2100, 2101, 2400, 2499, 2500, 2501, 9999, 250_000] {
            let at = |day: i64| table.offset_at(new_year(year) + day * SECONDS_PER_DAY);
            assert_eq!([at(0), at(199), at(200), at(349), at(350)], [3600, 3600, 7200, 7200, 3600], "{year}");
        }
    }

    #[test]
    fn any_instant_has_an_offset() {
        let table = OffsetTable::sample(half_years);
        assert_eq!(table.offset_at(i64::MIN), 3600);
        assert_eq!(table.offset_at(START - 1), 3600);
        for utc in [END - 1, END, END + 1, i64::MAX - 1, i64::MAX] {
            assert!([3600, 7200].contains(&table.offset_at(utc)), "{utc}");
        }
    }

    #[test]
    fn a_zone_that_never_changes() {
        let table = OffsetTable::sample(|_| -18_000);
        assert_eq!(table.constant(), Some(-18_000));
        assert_eq!(table.offset_at(i64::MAX), -18_000);
    }
}
