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
//! | a vector that repeats one value adds it once, whatever its length | ORC Java | no sums of floating point numbers and decimals |
//! | sums of decimals: rounded to 38 digits; the part that left 18 digits in place of a sum that did (`Decimal64StatisticsImpl.merge`) | ORC Java | the same |
//! | a vector that repeats one value adds it for no rows too, which is a child's of empty lists | ORC Java from 1.6.12, and 1.7.1 | no sums of integers below lists and maps |
//! | `float` sums are those of the doubles before they were rounded | ORC C++ | none |
//! | rows in which a struct is null are nulls of its fields | ORC C++ | below structs, only that there is none is believed |
//! | values below a null struct are written and counted, where a struct around that one has no null | Arrow with ORC C++ | nothing, see `FileTail::column_statistics` |
//! | NaN goes unseen, in the sum too | cuDF, and maybe writers unknown to us | nothing of floating point numbers |
//! | numbers of children: of a buffer's slots in Java, of batches with nulls alone in C++ | ORC Java, ORC C++ | none |
//! | `has_null` absent | Hive before 1.1, Presto, Trino | unknown |
//! | Julian days before 1582-10-15 | as the footer says | converted |
//! | negative nanoseconds, of which milliseconds are cut towards zero | pyarrow, before 1970 | they are added to those |
//! | nothing was counted, yet 0 values are stated | ORC Java without row index | unknown, see `FileTail::column_statistics` |
//! | lists, maps and unions are not counted, yet 0 values and no null are stated | ORC C++ without row index | unknown |
//! | values and nulls of lists and structs are counted of a part of the rows | cuDF, which once gave no number of its own and so is ORC Java version 0 | no number of values, and only nulls are believed |
//! | days are recorded as integers are | cuDF | bounds of days |
//! | timestamps go round where their nanoseconds leave 64 bits | cuDF | no bounds of timestamps |
//! | strings are compared up to a NUL, then by their lengths | ORC C++ | inexact bounds of what is before it |
//! | other rules of a zone than we have, before 1970 and after 2037 | all, `timestamp` | bounds, a day wider |
//! | least above greatest, no value but bounds, another type than the column's, and the like | hostile files | unknown |

mod order;
mod strings;
mod timestamps;

use order::ordered;
pub(crate) use timestamps::MAX_OFFSET;

use bytes::Bytes;

use super::{BoundingBox, ColumnStatistics, Decimal, Detail, WriterContext};
use crate::proto::orc;
use crate::schema::Kind;
use crate::time::calendar;

/// The statistics that `proto` records, without what cannot be believed in this context. Never fails: in the
/// worst case nothing is known.
pub(crate) fn from_proto(proto: &orc::ColumnStatistics, context: WriterContext) -> ColumnStatistics {
    let mut values = proto.number_of_values;
    let detail = detail(proto, values, context);
    if values == Some(0) && has_bounds(&detail) || !context.is_counted() {
        values = None;
    }
    if !context.nulls_are_counted() {
        // They may be among what is counted.
        values = values.filter(|values| *values == 0);
    }
    let is_believed = context.nulls_are_counted() && context.is_counted();
    let has_null = proto.has_null.filter(|has_null| if *has_null { context.null_is_own() } else { is_believed });
    ColumnStatistics { values, has_null, bytes_on_disk: proto.bytes_on_disk, detail }
}

/// What is recorded for the type of the column; of another type, nothing.
fn detail(proto: &orc::ColumnStatistics, values: Option<u64>, context: WriterContext) -> Detail {
    let detail = recorded(proto, values, context);
    if context.kind.is_none_or(|kind| belongs(&detail, kind)) { detail } else { Detail::None }
}

fn belongs(detail: &Detail, kind: Kind) -> bool {
    match detail {
        Detail::None => true,
        Detail::Integer { .. } => matches!(kind, Kind::Byte | Kind::Short | Kind::Int | Kind::Long),
        Detail::Double { .. } => matches!(kind, Kind::Float | Kind::Double),
        Detail::String { .. } => matches!(kind, Kind::String | Kind::Char | Kind::Varchar),
        Detail::Boolean { .. } => kind == Kind::Boolean,
        Detail::Decimal { .. } => kind == Kind::Decimal,
        Detail::Date { .. } => kind == Kind::Date,
        Detail::Timestamp { .. } => matches!(kind, Kind::Timestamp | Kind::TimestampInstant),
        Detail::Binary { .. } => kind == Kind::Binary,
        Detail::Collection { .. } => matches!(kind, Kind::List | Kind::Map),
        Detail::Geospatial { .. } => matches!(kind, Kind::Geometry | Kind::Geography),
    }
}

fn recorded(proto: &orc::ColumnStatistics, values: Option<u64>, context: WriterContext) -> Detail {
    if let Some(buckets) = &proto.bucket_statistics {
        let true_count = buckets.count.first().copied();
        Detail::Boolean { true_count: true_count.filter(|count| values.is_none_or(|values| *count <= values)) }
    } else if let Some(statistics) = &proto.int_statistics {
        match context.kind {
            Some(Kind::Date) => {
                let day = |day: Option<i64>| day.and_then(|day| i32::try_from(day).ok());
                let (minimum, maximum) = (day(statistics.minimum), day(statistics.maximum));
                date(&orc::DateStatistics { minimum, maximum }, context)
            }
            _ => integer(statistics, values, context),
        }
    } else if let Some(statistics) = &proto.collection_statistics {
        collection(statistics, context)
    } else if let Some(statistics) = &proto.double_statistics {
        double(statistics, context)
    } else if let Some(statistics) = &proto.string_statistics {
        strings::string(statistics, context)
    } else if let Some(statistics) = &proto.decimal_statistics {
        decimal(statistics, context)
    } else if let Some(statistics) = &proto.date_statistics {
        date(statistics, context)
    } else if let Some(statistics) = &proto.timestamp_statistics {
        timestamps::timestamp(statistics, context)
    } else if let Some(statistics) = &proto.binary_statistics {
        Detail::Binary { total_length: statistics.sum.and_then(|sum| sum.try_into().ok()) }
    } else if let Some(statistics) = &proto.geospatial_statistics {
        geospatial(statistics)
    } else {
        Detail::None
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
    let sum = statistics.sum.filter(|_| context.integer_sums_are_believed()).filter(is_possible);
    Detail::Integer { min, max, sum }
}

fn double(statistics: &orc::DoubleStatistics, context: WriterContext) -> Detail {
    // The sum is NaN if a value is; it also is where infinities of both signs meet, and there we give away a little.
    let is_nan = |bound: Option<f64>| bound.is_some_and(f64::is_nan);
    let believed = statistics.sum.filter(|_| context.double_sums_are_believed());
    if is_nan(statistics.minimum) || is_nan(statistics.maximum) || !context.excludes_nan(statistics.sum) {
        return Detail::Double { min: None, max: None, sum: believed.filter(|sum| sum.is_nan()) };
    }
    #[expect(clippy::cast_possible_truncation, reason = "as values of the column are rounded")]
    let stored = |bound: f64| if context.kind == Some(Kind::Float) { f64::from(bound as f32) } else { bound };
    let (min, max) = ordered(statistics.minimum.map(stored), statistics.maximum.map(stored));
    Detail::Double { min, max, sum: believed }
}

fn decimal(statistics: &orc::DecimalStatistics, context: WriterContext) -> Detail {
    let number = |text: &Option<Bytes>| text.as_ref().and_then(|text| Decimal::parse(text));
    let (min, max) = if context.decimals_are_believed() {
        ordered(number(&statistics.minimum), number(&statistics.maximum))
    } else {
        (None, None)
    };
    Detail::Decimal { min, max, sum: number(&statistics.sum).filter(|_| context.decimal_sums_are_believed()) }
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
