//! Table of the offsets of a time zone: a lookup of any instant is two loads without a search.
//!
//! The table is built from a function of the offset, which is sampled daily from 1900 to 2099 and bisected between samples
//! that differ. Other instants follow the JVM (`sun.util.calendar.ZoneInfo`):
//! * The offset before 1900 is the present standard time, not local mean time. `java.sql.Timestamp` converts local times to
//!   instants by it, so the same offset converts the instants back.
//! * The rules of the last years continue after 2099. Gregorian years of the same length that begin on the same weekday have
//!   the same transitions, and the calendar repeats after 400 years. Daylight saving time of Gaza depends on Ramadan up to
//!   2086, and is inferred afterwards, as in the JVM.

use super::SECONDS_PER_DAY;

/// 1900-01-01 00:00:00 UTC. The JVM has only standard time before this instant.
const START: i64 = -2_208_988_800;

/// First year whose transitions are inferred.
const FIRST_INFERRED_YEAR: i64 = 2100;

/// The last sampled years, whose transitions are repeated. 28 consecutive years without a skipped leap year have all
/// combinations of length and first weekday.
const MODEL_YEARS: std::ops::Range<i64> = 2072..2100;

const YEARS_PER_ERA: i64 = 400;
const SECONDS_PER_ERA: i64 = 146_097 * SECONDS_PER_DAY;

/// Width of a bucket: 2^21 s, 24 days. Few buckets have a transition, and few transitions share a bucket. A table has 18
/// KiB, of which the years of a typical column use a few hundred bytes.
const BUCKET_BITS: u32 = 21;

/// A span of time with one offset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Span {
    /// First UTC second after this span; `i64::MAX` for the last one.
    end: i64,
    /// Seconds to add to UTC.
    offset: i32,
}

/// Offsets of a time zone for every instant.
#[derive(Debug)]
pub(super) struct OffsetTable {
    /// The spans from [`START`] on in ascending order; never empty.
    spans: Vec<Span>,
    /// For each bucket, the index of the span at its start. The first bucket starts at [`START`], the last includes [`END`].
    buckets: Vec<u16>,
    /// Offset before [`START`].
    standard: i32,
}

impl OffsetTable {
    /// The table of a time zone. `offset_at` is the offset at an instant from 1900 to 2099, in UTC seconds since 1970.
    ///
    /// It calls `offset_at` about 75,000 times, which takes milliseconds: callers cache the table.
    pub(super) fn sample(offset_at: impl Fn(i64) -> i32) -> Self {
        let mut spans = sample_spans(&offset_at);
        // Standard time is the least offset of a year, as in the JVM, also for Ireland and Morocco. Several years are
        // sampled, as the dates of Morocco depend on Ramadan.
        let standard = (new_year(2030)..new_year(2038)).step_by(1 << BUCKET_BITS).map(offset_at).min().unwrap_or(0);
        infer_spans(&mut spans);
        let buckets = bucket_index(&spans);
        Self { spans, buckets, standard }
    }

    /// The offset, if it never changes.
    pub(super) fn constant(&self) -> Option<i32> {
        match self.spans.as_slice() {
            [only] if only.offset == self.standard => Some(only.offset),
            _ => None,
        }
    }

    /// Seconds to add to the instant `utc`, in seconds since 1970, for the local time.
    #[inline]
    pub(super) fn offset_at(&self, utc: i64) -> i32 {
        // The cast to unsigned makes instants before the table large: one comparison checks both ends.
        let bucket = usize::try_from(utc.wrapping_sub(START).cast_unsigned() >> BUCKET_BITS).unwrap_or(usize::MAX);
        let Some(first) = self.buckets.get(bucket) else { return self.offset_outside_table(utc) };
        match self.spans.get(usize::from(*first)) {
            Some(span) if utc < span.end => span.offset,
            _ => self.offset_after(*first, utc),
        }
    }

    /// The offset at `utc`, which is after the span `first`.
    fn offset_after(&self, first: u16, utc: i64) -> i32 {
        let mut later = self.spans.iter().skip(usize::from(first) + 1);
        later.find(|span| utc < span.end).map_or(self.standard, |span| span.offset)
    }

    /// The offset before 1900, or after the last bucket. The latter is the offset of the corresponding instant in the last
    /// era of the table.
    #[cold]
    fn offset_outside_table(&self, utc: i64) -> i32 {
        if utc < START {
            return self.standard;
        }
        let inferred = new_year(FIRST_INFERRED_YEAR);
        self.offset_at(inferred + (utc - inferred) % SECONDS_PER_ERA)
    }
}

/// End of the buckets: a full era after the first inferred year.
const END: i64 = new_year(FIRST_INFERRED_YEAR) + SECONDS_PER_ERA;

/// Samples the spans that begin between [`START`] and the first inferred year.
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

/// Repeats the transitions of the model years in the 400 years after the samples, if the last sampled year has transitions.
fn infer_spans(spans: &mut Vec<Span>) {
    let Some((last, sampled)) = spans.split_last() else { return };
    let last_year = new_year(FIRST_INFERRED_YEAR - 1);
    if sampled.last().is_none_or(|span| span.end < last_year) {
        return;
    }
    // The transitions of the model years: the instant and the new offset.
    let after = sampled.iter().skip(1).chain([last]).map(|span| span.offset);
    let transitions: Vec<(i64, i32)> = sampled
        .iter()
        .map(|span| span.end)
        .zip(after)
        .filter(|transition| transition.0 >= new_year(MODEL_YEARS.start))
        .collect();
    let mut offset = last.offset;
    spans.pop();
    // The last bucket ends in the year after the era.
    for year in FIRST_INFERRED_YEAR..=FIRST_INFERRED_YEAR + YEARS_PER_ERA {
        let Some(model) = MODEL_YEARS.into_iter().find(|model| has_same_calendar(*model, year)) else { continue };
        let shift = new_year(year) - new_year(model);
        let model_year = new_year(model)..new_year(model + 1);
        for (at, new_offset) in transitions.iter().filter(|transition| model_year.contains(&transition.0)) {
            spans.push(Span { end: at + shift, offset });
            offset = *new_offset;
        }
    }
    spans.push(Span { end: i64::MAX, offset });
}

/// For each bucket up to [`END`], the index of the span at its start.
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
fn has_same_calendar(a: i64, b: i64) -> bool {
    let length = |year| new_year(year + 1) - new_year(year);
    length(a) == length(b) && (new_year(b) - new_year(a)) % (7 * SECONDS_PER_DAY) == 0
}

/// The first UTC second of `year`, at least 1, proleptic Gregorian, in seconds since 1970.
pub(super) const fn new_year(year: i64) -> i64 {
    let elapsed = year - 1;
    // Year 1 begins 719,162 days before 1970.
    (365 * elapsed + elapsed / 4 - elapsed / 100 + elapsed / 400 - 719_162) * SECONDS_PER_DAY
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Daylight saving time of an hour in the second half of each year, from 1980 on.
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
    fn agrees_with_the_sampled_function() {
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
    fn rules_continue_after_the_samples() {
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
    fn fixed_offsets_are_constant() {
        let table = OffsetTable::sample(|_| -18_000);
        assert_eq!(table.constant(), Some(-18_000));
        assert_eq!(table.offset_at(i64::MAX), -18_000);
    }
}
