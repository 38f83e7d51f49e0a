//! Decoding of the statistics of a file, without the statistics that cannot be trusted.
//!
//! These are the known faults of writers:
//!
//! | fault | writers | result |
//! |---|---|---|
//! | HIVE-8732: maxima merged wrongly, strings ordered as UTF-16 | ORC Java version 0 | no bounds of strings, decimals, dates, timestamps |
//! | ORC-135: timestamps are instants, in an unknown time zone | ORC Java before version 6 | bounds are widened by a day |
//! | ORC-517: minima and maxima of short decimals start at 0 | ORC Java version 6 | no bounds of decimals up to 18 digits |
//! | ORC-611: timestamps are truncated to milliseconds | old releases of all writers | the upper bound is the end of the millisecond |
//! | ORC-203: long strings are truncated | ORC Java from version 8 | inexact bounds |
//! | invalid UTF-8 is replaced by U+FFFD, which has another order | ORC Java, perhaps others but orcish | inexact bounds: the prefix before U+FFFD |
//! | ORC-415: `has_null` describes the last batch only | ORC C++ before 1.6.0 | only `true` is trusted |
//! | nulls are not counted where an application marks them without setting `hasNulls`, until ORC-1130 | ORC C++ before 1.8.0 | only `true` is trusted; no number of values but 0 |
//! | ORC-1151: the offset of the time zone is added as if it were 1000 times smaller | ORC C++ before 1.7.5 | bounds are widened by a day |
//! | ORC-1725: negative `tinyint` values count as values above 127 | ORC C++ before 2.1.0 on ARM | no statistics outside of the range of the type |
//! | ORC-763: a value in the second before 1970 is read a second later | all | bounds near 1970 are widened by a second |
//! | bounds of `float` are the doubles before rounding | ORC C++ | bounds are rounded |
//! | ORC-629: a NaN that comes first makes all bounds NaN, a later NaN is ignored | all | no bounds where the sum is NaN |
//! | ORC-1008: sums wrap around | ORC Java and C++ before 1.6.12, and 1.7.0 | no sum where count and bounds allow an overflow |
//! | the value of a repeating vector is added once, for any number of rows | ORC Java | no sums of floating point numbers and decimals |
//! | sums of decimals are rounded to 38 digits, and wrong after a merge of sums of more than 18 digits (`Decimal64StatisticsImpl.merge`) | ORC Java | no sums of decimals |
//! | the value of a repeating vector is added even for no rows; elements of empty lists are such vectors | ORC Java from 1.6.12, and 1.7.1 | no sums of integers below lists and maps |
//! | sums of `float` are sums of the doubles before rounding | ORC C++ | no sums |
//! | null rows of a struct count as nulls of its fields | ORC C++, orcish from version 0.1.1 | only `has_null = false` is trusted for fields of structs |
//! | values below a null struct are written and counted, if the parent of the struct has no null | Arrow with ORC C++ | no statistics, see `FileTail::column_statistics` |
//! | NaN is ignored, also in the sum | cuDF, perhaps unknown writers | no statistics of floating point numbers |
//! | numbers of elements: Java counts slots of a buffer, C++ only batches with nulls | ORC Java, ORC C++ | no numbers of elements |
//! | `has_null` is absent | Hive before 1.1, Presto, Trino | unknown |
//! | Julian days before 1582-10-15 | writers with the hybrid calendar, see the footer | converted |
//! | nanoseconds are negative, as milliseconds are truncated towards zero | pyarrow, before 1970 | milliseconds and nanoseconds are added |
//! | nothing is counted, and the number of values is 0 | ORC Java without row index | unknown, see `FileTail::column_statistics` |
//! | lists, maps and unions are not counted: 0 values and no null | ORC C++ without row index | unknown |
//! | values and nulls of lists and structs are counted for some of the rows | cuDF; old releases look like ORC Java version 0 | no number of values; only `has_null = true` is trusted |
//! | statistics of dates are integer statistics | cuDF | bounds of dates |
//! | timestamps wrap around at 64 bits of nanoseconds | cuDF | no bounds of timestamps |
//! | strings are compared up to a NUL, then by their lengths | ORC C++ | inexact bounds: the prefix before NUL |
//! | the rules of a time zone differ before 1970 and after 2037 | all, `timestamp` | bounds are widened by a day |
//! | minimum above maximum, bounds without values, statistics of another type | corrupt files | unknown |

mod order;
mod strings;
mod timestamps;

use order::ordered;
pub(crate) use timestamps::MAX_UTC_OFFSET;

use bytes::Bytes;

use super::{BoundingBox, ColumnStatistics, Decimal, Detail, WriterContext};
use crate::proto::orc;
use crate::schema::Kind;
use crate::time::calendar;

/// The recorded statistics, without the statistics that cannot be trusted in this context.
pub(crate) fn from_proto(proto: &orc::ColumnStatistics, context: WriterContext) -> ColumnStatistics {
    let mut values = proto.number_of_values;
    let detail = detail(proto, values, context);
    if values == Some(0) && has_bounds(&detail) || !context.counts_are_trusted() {
        values = None;
    }
    if !context.nulls_are_counted() {
        // The number of values may include nulls.
        values = values.filter(|values| *values == 0);
    }
    let false_is_trusted = context.nulls_are_counted() && context.counts_are_trusted();
    let true_is_trusted = context.nulls_exclude_parent_nulls();
    let has_null = proto.has_null.filter(|has_null| if *has_null { true_is_trusted } else { false_is_trusted });
    ColumnStatistics { values, has_null, bytes_on_disk: proto.bytes_on_disk, detail }
}

/// The statistics of the type of the column; [`Detail::None`] if the recorded statistics are of another type.
fn detail(proto: &orc::ColumnStatistics, values: Option<u64>, context: WriterContext) -> Detail {
    let detail = recorded_detail(proto, values, context);
    if context.kind.is_none_or(|kind| is_detail_of(&detail, kind)) { detail } else { Detail::None }
}

fn is_detail_of(detail: &Detail, kind: Kind) -> bool {
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

fn recorded_detail(proto: &orc::ColumnStatistics, values: Option<u64>, context: WriterContext) -> Detail {
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
        // ORC Java records 0 for these where there are no values.
        Detail::None | Detail::Boolean { .. } | Detail::Binary { .. } => false,
        Detail::Collection { .. } | Detail::Geospatial { .. } => false,
    }
}

fn collection(statistics: &orc::CollectionStatistics, context: WriterContext) -> Detail {
    if !context.collections_are_trusted() {
        return Detail::Collection { min_children: None, max_children: None, total_children: None };
    }
    let (min_children, max_children) = ordered(statistics.min_children, statistics.max_children);
    Detail::Collection { min_children, max_children, total_children: statistics.total_children }
}

fn integer(statistics: &orc::IntegerStatistics, values: Option<u64>, context: WriterContext) -> Detail {
    let (type_min, type_max) = match context.kind {
        Some(Kind::Byte) => (i8::MIN.into(), i8::MAX.into()),
        Some(Kind::Short) => (i16::MIN.into(), i16::MAX.into()),
        Some(Kind::Int) => (i32::MIN.into(), i32::MAX.into()),
        _ => (i64::MIN, i64::MAX),
    };
    let (min, max) = ordered(statistics.minimum, statistics.maximum);
    if min.into_iter().chain(max).any(|bound| bound < type_min || bound > type_max) {
        return Detail::Integer { min: None, max: None, sum: None };
    }
    let is_possible = |sum: &i64| match (values, min, max) {
        (Some(values), Some(min), Some(max)) => {
            // A product of 64-bit integers does not overflow 128 bits.
            let (sum, min_sum, max_sum) =
                (i128::from(*sum), i128::from(values) * i128::from(min), i128::from(values) * i128::from(max));
            let is_within = min_sum <= sum && sum <= max_sum;
            // A sum that wrapped around may be within the range, too.
            is_within && (!context.sums_may_wrap() || min_sum.abs().max(max_sum.abs()) <= i64::MAX.into())
        }
        _ => values == Some(0) || !context.sums_may_wrap(),
    };
    let sum = statistics.sum.filter(|_| context.integer_sums_are_trusted()).filter(is_possible);
    Detail::Integer { min, max, sum }
}

fn double(statistics: &orc::DoubleStatistics, context: WriterContext) -> Detail {
    // The sum is NaN if a value is NaN, and also if infinities of both signs are added.
    let is_nan = |bound: Option<f64>| bound.is_some_and(f64::is_nan);
    let sum = statistics.sum.filter(|_| context.double_sums_are_trusted());
    if is_nan(statistics.minimum) || is_nan(statistics.maximum) || !context.excludes_nan(statistics.sum) {
        return Detail::Double { min: None, max: None, sum: sum.filter(|sum| sum.is_nan()) };
    }
    #[expect(clippy::cast_possible_truncation, reason = "bounds are rounded as the values of the column")]
    let rounded = |bound: f64| if context.kind == Some(Kind::Float) { f64::from(bound as f32) } else { bound };
    let (min, max) = ordered(statistics.minimum.map(rounded), statistics.maximum.map(rounded));
    Detail::Double { min, max, sum }
}

fn decimal(statistics: &orc::DecimalStatistics, context: WriterContext) -> Detail {
    let number = |text: &Option<Bytes>| text.as_ref().and_then(|text| Decimal::parse(text));
    let (min, max) = if context.decimals_are_trusted() {
        ordered(number(&statistics.minimum), number(&statistics.maximum))
    } else {
        (None, None)
    };
    Detail::Decimal { min, max, sum: number(&statistics.sum).filter(|_| context.decimal_sums_are_trusted()) }
}

fn date(statistics: &orc::DateStatistics, context: WriterContext) -> Detail {
    if !context.bounds_are_trusted() {
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
    let not_nan = |bound: Option<f64>| bound.filter(|bound| !bound.is_nan());
    let axis = |min, max| not_nan(min).zip(not_nan(max));
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
