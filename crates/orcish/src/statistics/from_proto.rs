//! What can be believed of the statistics in a file. Every known fault of every writer ends here.
//!
//! | fault | who | what we do |
//! |---|---|---|
//! | HIVE-8732: maxima merged wrongly, strings ordered as UTF-16 | ORC Java version 0 | no bounds of strings, decimals, dates, timestamps |
//! | ORC-135: timestamps are instants, in a zone unknown here | ORC Java before version 6 | bounds, a day wider |
//! | ORC-517: minima and maxima of short decimals start from 0 | ORC Java version 6 | no bounds of decimals up to 18 digits |
//! | ORC-611: timestamps are cut to milliseconds | all once | the upper bound is the end of the millisecond |
//! | ORC-203: long strings are cut | ORC Java from version 8 | inexact bounds |
//! | text that is not UTF-8 becomes U+FFFD, which orders differently | ORC Java | inexact bounds of what is before it |
//! | ORC-415: `has_null` is that of the last batch only | ORC C++ before 1.6.0 | only `true` is believed |
//! | nulls are written, but not counted, where an application marks them and does not say that there are any; until ORC-1130 | ORC C++ before 1.8.0 | likewise, and no number of values but 0 |
//! | ORC-1151: zone offset added as if it were 1000 times smaller | ORC C++ before 1.7.5 | bounds, a day wider |
//! | ORC-1725: `tinyint` below 0 counts as above 127 | ORC C++ before 2.1.0 on ARM | no integers outside of the type |
//! | ORC-763: what is within the second before 1970 is read as a second later | all | bounds near 1970 are a second wider |
//! | `float` bounds are those of the doubles before they were rounded | ORC C++ | rounded likewise |
//! | ORC-629: NaN first makes all NaN, NaN later goes unseen | all | nothing is known where the sum is NaN |
//! | ORC-1008: sums that overflow unnoticed | ORC Java and C++ before 1.6.12, and 1.7.0 | no sum where count and bounds let one overflow |
//! | numbers of children: of a buffer's slots in Java, of batches with nulls alone in C++ | ORC Java, ORC C++ | none |
//! | `has_null` absent | Hive before 1.1, Presto, Trino | unknown |
//! | Julian days before 1582-10-15 | as the footer says | converted |
//! | negative nanoseconds, of which milliseconds are cut towards zero | pyarrow, before 1970 | they are added to those |
//! | nothing was counted, yet 0 values are stated | ORC Java without row index | unknown, see `FileTail::column_statistics` |
//! | lists, maps and unions are not counted, yet 0 values and no null are stated | ORC C++ without row index | unknown |
//! | least above greatest, no value but bounds, and the like | hostile files | unknown |

use bytes::Bytes;

use super::{Bound, BoundingBox, ColumnStatistics, Decimal, Detail};
use crate::proto::orc;
use crate::schema::Kind;
use crate::time::calendar;

const NANOS_PER_MILLI: i128 = 1_000_000;
const NANOS_PER_SECOND: i128 = 1_000_000_000;
/// No zone is further than this from UTC, a change of clocks included.
const MOST_OFFSET: i128 = 25 * 3600 * NANOS_PER_SECOND;

/// Precision up to which ORC Java keeps decimals in 64 bits.
const DECIMAL64_DIGITS: u32 = 18;

/// What decides whether statistics can be believed. What it is not told, it takes for the worst.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WriterContext {
    writer: u32,
    version: u32,
    /// Release of the writing software; `None` also where it is older than the field.
    release: Option<[u32; 3]>,
    proleptic: Option<bool>,
    kind: Option<Kind>,
    precision: Option<u32>,
    has_row_index: bool,
}

impl WriterContext {
    const JAVA: u32 = 0;
    const CPP: u32 = 1;

    /// `Footer.writer` (0 where absent) and `PostScript.writer_version` (0 where absent).
    pub(crate) fn new(writer: u32, version: u32) -> Self {
        WriterContext {
            writer,
            version,
            release: None,
            proleptic: None,
            kind: None,
            precision: None,
            has_row_index: false,
        }
    }

    /// Adds `Footer.software_version`.
    pub(crate) fn with_software_version(self, version: Option<&str>) -> Self {
        WriterContext { release: version.map(parse_release), ..self }
    }

    /// Adds whether dates and timestamps are proleptic Gregorian, as against Julian before 1582-10-15.
    pub(crate) fn with_proleptic_calendar(self, proleptic: bool) -> Self {
        WriterContext { proleptic: Some(proleptic), ..self }
    }

    /// Adds whether the file has a row index.
    pub(crate) fn with_row_index(self, has_row_index: bool) -> Self {
        WriterContext { has_row_index, ..self }
    }

    /// Adds the type of the column, and the precision of a decimal.
    pub(crate) fn with_column(self, kind: Kind, precision: Option<u32>) -> Self {
        WriterContext { kind: Some(kind), precision, ..self }
    }

    fn is_java_before(self, version: u32) -> bool {
        self.writer == Self::JAVA && self.version < version
    }

    fn is_cpp_before(self, release: [u32; 3]) -> bool {
        self.writer == Self::CPP && self.release.is_none_or(|this| this < release)
    }

    /// ORC-415, and what was before ORC-1130.
    fn nulls_are_counted(self) -> bool {
        !self.is_cpp_before([1, 8, 0])
    }

    /// ORC-1008.
    fn sums_may_wrap(self) -> bool {
        let orc_1008 = |release| release < [1, 6, 12] || ([1, 7, 0]..[1, 7, 1]).contains(&release);
        matches!(self.writer, Self::JAVA | Self::CPP) && self.release.is_none_or(orc_1008)
    }

    /// Whether values and nulls were counted at all: without row index, ORC C++ does not for some types.
    fn is_counted(self) -> bool {
        let uncounted = matches!(self.kind, Some(Kind::List | Kind::Map | Kind::Union));
        !(self.writer == Self::CPP && !self.has_row_index && uncounted)
    }

    /// HIVE-8732. Nothing else but integers and floating point numbers of those files is believed by ORC C++ either.
    fn bounds_are_believed(self) -> bool {
        !self.is_java_before(1)
    }

    fn decimals_are_believed(self) -> bool {
        let orc_517 = self.writer == Self::JAVA && self.version == 6;
        self.bounds_are_believed() && !(orc_517 && self.precision.is_none_or(|digits| digits <= DECIMAL64_DIGITS))
    }

    fn collections_are_believed(self) -> bool {
        self.writer != Self::JAVA && self.writer != Self::CPP
    }

    /// Whether `*_utc` are what they should be: ORC-135, and ORC-1151, which instants do not suffer from.
    fn utc_is_believed(self) -> bool {
        let orc_1151 = self.is_cpp_before([1, 7, 5]) && self.kind != Some(Kind::TimestampInstant);
        !self.is_java_before(6) && !orc_1151
    }
}

/// `1.7.2-SNAPSHOT` → 1, 7, 2; what is missing or no number is 0.
fn parse_release(text: &str) -> [u32; 3] {
    let mut parts = text.split(|c: char| !c.is_ascii_digit()).map(|part| part.parse().unwrap_or(0));
    std::array::from_fn(|_| parts.next().unwrap_or(0))
}

impl ColumnStatistics {
    /// The statistics that `proto` records, without what cannot be believed in this context. Never fails: in the
    /// worst case nothing is known.
    pub(crate) fn from_proto(proto: &orc::ColumnStatistics, context: WriterContext) -> Self {
        let mut values = proto.number_of_values;
        let detail = detail(proto, values, context);
        if values == Some(0) && (has_bounds(&detail) || !context.is_counted()) {
            values = None;
        }
        if !context.nulls_are_counted() {
            // They may be among what is counted.
            values = values.filter(|values| *values == 0);
        }
        let is_believed = context.nulls_are_counted() && context.is_counted();
        let has_null = proto.has_null.filter(|has_null| *has_null || is_believed);
        ColumnStatistics { values, has_null, bytes_on_disk: proto.bytes_on_disk, detail }
    }
}

fn detail(proto: &orc::ColumnStatistics, values: Option<u64>, context: WriterContext) -> Detail {
    if let Some(buckets) = &proto.bucket_statistics {
        let true_count = buckets.count.first().copied();
        Detail::Boolean { true_count: true_count.filter(|count| values.is_none_or(|values| *count <= values)) }
    } else if let Some(statistics) = &proto.int_statistics {
        integer(statistics, values, context)
    } else if let Some(statistics) = &proto.collection_statistics {
        collection(statistics, context)
    } else if let Some(statistics) = &proto.double_statistics {
        double(statistics, context)
    } else if let Some(statistics) = &proto.string_statistics {
        string(statistics, context)
    } else if let Some(statistics) = &proto.decimal_statistics {
        decimal(statistics, context)
    } else if let Some(statistics) = &proto.date_statistics {
        date(statistics, context)
    } else if let Some(statistics) = &proto.timestamp_statistics {
        timestamp(statistics, context)
    } else if let Some(statistics) = &proto.binary_statistics {
        Detail::Binary { total_length: statistics.sum.and_then(|sum| sum.try_into().ok()) }
    } else if let Some(statistics) = &proto.geospatial_statistics {
        geospatial(statistics)
    } else {
        Detail::None
    }
}

/// Nothing where the least is above the greatest.
fn ordered<T: PartialOrd>(min: Option<T>, max: Option<T>) -> (Option<T>, Option<T>) {
    match (&min, &max) {
        (Some(least), Some(greatest)) if least > greatest => (None, None),
        _ => (min, max),
    }
}

fn has_bounds(detail: &Detail) -> bool {
    match detail {
        Detail::Integer { min, max, .. } => min.is_some() || max.is_some(),
        Detail::Double { min, max, .. } => min.is_some() || max.is_some(),
        Detail::String { min, max, .. } => min.is_some() || max.is_some(),
        Detail::Decimal { min, max, .. } => min.is_some() || max.is_some(),
        Detail::Date { min, max } => min.is_some() || max.is_some(),
        Detail::Timestamp { lower_bound, upper_bound, .. } => lower_bound.is_some() || upper_bound.is_some(),
        // ORC Java leaves these at 0 where there are no values.
        Detail::None | Detail::Boolean { .. } | Detail::Binary { .. } => false,
        Detail::Collection { .. } | Detail::Geospatial { .. } => false,
    }
}

fn collection(statistics: &orc::CollectionStatistics, context: WriterContext) -> Detail {
    if !context.collections_are_believed() {
        return Detail::Collection { min_children: None, max_children: None, total_children: None };
    }
    let (min_children, max_children) = ordered(statistics.min_children, statistics.max_children);
    Detail::Collection { min_children, max_children, total_children: statistics.total_children }
}

fn integer(statistics: &orc::IntegerStatistics, values: Option<u64>, context: WriterContext) -> Detail {
    let (least, greatest) = match context.kind {
        Some(Kind::Byte) => (i8::MIN.into(), i8::MAX.into()),
        Some(Kind::Short) => (i16::MIN.into(), i16::MAX.into()),
        Some(Kind::Int) => (i32::MIN.into(), i32::MAX.into()),
        _ => (i64::MIN, i64::MAX),
    };
    let (min, max) = ordered(statistics.minimum, statistics.maximum);
    if min.into_iter().chain(max).any(|bound| bound < least || bound > greatest) {
        return Detail::Integer { min: None, max: None, sum: None };
    }
    let is_possible = |sum: &i64| match (values, min, max) {
        (Some(values), Some(min), Some(max)) => {
            // 64 bits times 64 bits: no overflow.
            let (sum, least, most) =
                (i128::from(*sum), i128::from(values) * i128::from(min), i128::from(values) * i128::from(max));
            let is_within = least <= sum && sum <= most;
            // What has wrapped may lie between these too.
            is_within && (!context.sums_may_wrap() || least.abs().max(most.abs()) <= i64::MAX.into())
        }
        _ => values == Some(0) || !context.sums_may_wrap(),
    };
    Detail::Integer { min, max, sum: statistics.sum.filter(is_possible) }
}

fn double(statistics: &orc::DoubleStatistics, context: WriterContext) -> Detail {
    // The sum is NaN if a value is; it also is where infinities of both signs meet, and there we give away a little.
    // Presto and Trino record no sum, and nothing at all if a value is NaN.
    let numbers = [statistics.minimum, statistics.maximum, statistics.sum];
    if numbers.into_iter().flatten().any(f64::is_nan) {
        return Detail::Double { min: None, max: None, sum: None };
    }
    #[expect(clippy::cast_possible_truncation, reason = "as values of the column are rounded")]
    let stored = |bound: f64| if context.kind == Some(Kind::Float) { f64::from(bound as f32) } else { bound };
    let (min, max) = ordered(statistics.minimum.map(stored), statistics.maximum.map(stored));
    Detail::Double { min, max, sum: statistics.sum }
}

fn string(statistics: &orc::StringStatistics, context: WriterContext) -> Detail {
    let total_length = statistics.sum.and_then(|sum| sum.try_into().ok());
    if !context.bounds_are_believed() {
        return Detail::String { min: None, max: None, total_length };
    }
    let bound = |exact: &Option<Bytes>, cut: &Option<Bytes>| match exact {
        Some(value) => Some(Bound { value: value.clone(), exact: true }),
        None => cut.as_ref().map(|value| Bound { value: value.clone(), exact: false }),
    };
    let min = bound(&statistics.minimum, &statistics.lower_bound).map(|bound| match before_replacement(&bound.value) {
        Some(value) => Bound { value, exact: false },
        None => bound,
    });
    let max =
        bound(&statistics.maximum, &statistics.upper_bound).and_then(|bound| match before_replacement(&bound.value) {
            Some(value) => Some(Bound { value: successor(&value)?, exact: false }),
            None => Some(bound),
        });
    match (&min, &max) {
        (Some(least), Some(greatest)) if least.value > greatest.value => {
            Detail::String { min: None, max: None, total_length }
        }
        _ => Detail::String { min, max, total_length },
    }
}

/// What is before the first U+FFFD, if there is one: it may stand for bytes that were not UTF-8, whose order is another.
fn before_replacement(value: &Bytes) -> Option<Bytes> {
    const REPLACEMENT: &[u8] = "\u{FFFD}".as_bytes();
    let position = value.windows(REPLACEMENT.len()).position(|window| window == REPLACEMENT)?;
    Some(value.slice(..position))
}

/// Least string that is above all which start with `prefix`.
fn successor(prefix: &Bytes) -> Option<Bytes> {
    let mut bytes = prefix.to_vec();
    while let Some(last) = bytes.pop() {
        if let Some(next) = last.checked_add(1) {
            bytes.push(next);
            return Some(bytes.into());
        }
    }
    None
}

fn decimal(statistics: &orc::DecimalStatistics, context: WriterContext) -> Detail {
    let number = |text: &Option<Bytes>| text.as_ref().and_then(|text| Decimal::parse(text));
    let (min, max) = if context.decimals_are_believed() {
        ordered(number(&statistics.minimum), number(&statistics.maximum))
    } else {
        (None, None)
    };
    Detail::Decimal { min, max, sum: number(&statistics.sum) }
}

fn date(statistics: &orc::DateStatistics, context: WriterContext) -> Detail {
    if !context.bounds_are_believed() {
        return Detail::Date { min: None, max: None };
    }
    let (min, max) = ordered(statistics.minimum, statistics.maximum);
    let convert = |day: i32| match context.proleptic {
        Some(true) => Some(day),
        Some(false) => Some(calendar::days_to_proleptic(day)),
        None => (day >= calendar::GREGORIAN_START_DAY).then_some(day),
    };
    Detail::Date { min: min.and_then(convert), max: max.and_then(convert) }
}

fn timestamp(statistics: &orc::TimestampStatistics, context: WriterContext) -> Detail {
    const NOTHING: Detail = Detail::Timestamp { min: None, max: None, lower_bound: None, upper_bound: None };
    if !context.bounds_are_believed() {
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
            lower_bound: min.and_then(|millis| lower_bound(nanos(millis) - MOST_OFFSET, context)),
            upper_bound: max.and_then(|millis| upper_bound(nanos(millis) + MOST_OFFSET, context)),
        };
    }
    // Stored plus one, so that 0 can be told from absent, which is the least for minima and the greatest for maxima.
    // Of negative nanoseconds, as pyarrow has them, ORC C++ cuts the milliseconds towards zero, and has the rest below 0.
    let least = if context.writer == WriterContext::CPP { 1 - NANOS_PER_MILLI } else { 0 };
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
        lower_bound: min.and_then(|min| lower_bound(min - cut_off, context)),
        upper_bound: last.and_then(|last| upper_bound(last, context)),
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

fn lower_bound(nanos: i128, context: WriterContext) -> Option<i128> {
    Some(to_proleptic(nanos, context)? - calendar_slack(nanos, context))
}

fn upper_bound(nanos: i128, context: WriterContext) -> Option<i128> {
    // ORC-763: the format has no room for the second before 1970, UTC; what a writer puts there is read as one later.
    // Here is wall clock of any zone, and only what is about 1970 itself can be moved past a bound.
    let moved = if nanos.abs() <= MOST_OFFSET { NANOS_PER_SECOND } else { 0 };
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

fn geospatial(statistics: &orc::GeospatialStatistics) -> Detail {
    let number = |number: Option<f64>| number.filter(|number| !number.is_nan());
    let axis = |min, max| number(min).zip(number(max));
    let ascending = |span: &(f64, f64)| span.0 <= span.1;
    let bounding_box = statistics.bbox.as_ref().map_or(BoundingBox::default(), |bbox| BoundingBox {
        x: axis(bbox.xmin, bbox.xmax),
        y: axis(bbox.ymin, bbox.ymax).filter(ascending),
        z: axis(bbox.zmin, bbox.zmax).filter(ascending),
        m: axis(bbox.mmin, bbox.mmax).filter(ascending),
    });
    let mut types = statistics.geospatial_types.clone();
    types.sort_unstable();
    types.dedup();
    Detail::Geospatial { bounding_box, types }
}
