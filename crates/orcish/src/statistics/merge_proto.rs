//! Merging of recorded statistics: the result is what the same writer would have recorded for all rows.

use std::cmp::Ordering;

use bytes::Bytes;
use orcish_core::statistics::{add_double_sums, zip_and_then};

use super::Decimal;
use crate::proto::orc;

/// Merges statistics that the same writer recorded for other rows of the column. A number that cannot be merged is absent in
/// the result.
pub(crate) fn merge_proto(statistics: &mut orc::ColumnStatistics, other: &orc::ColumnStatistics) {
    // Absent bounds of statistics without values are not unknown.
    let (is_empty, other_is_empty) = (statistics.number_of_values == Some(0), other.number_of_values == Some(0));
    let unmerged = std::mem::take(statistics);
    let mut merged = orc::ColumnStatistics {
        number_of_values: zip_and_then(unmerged.number_of_values, other.number_of_values, u64::checked_add),
        // A null on one side is enough. An absent field is unknown.
        has_null: match (unmerged.has_null, other.has_null) {
            (Some(true), _) | (_, Some(true)) => Some(true),
            (Some(false), Some(false)) => Some(false),
            _ => None,
        },
        bytes_on_disk: zip_and_then(unmerged.bytes_on_disk, other.bytes_on_disk, u64::checked_add),
        ..orc::ColumnStatistics::default()
    };
    match (is_empty, other_is_empty) {
        (true, _) => take_details(&mut merged, other.clone()),
        (_, true) => take_details(&mut merged, unmerged),
        _ => merge_details(&mut merged, &unmerged, other),
    }
    copy_bounds(&mut merged);
    *statistics = merged;
}

/// Copies strings and decimals, which otherwise keep their whole footer in memory.
fn copy_bounds(statistics: &mut orc::ColumnStatistics) {
    for value in byte_values(statistics) {
        *value = Bytes::copy_from_slice(value);
    }
}

fn byte_values(statistics: &mut orc::ColumnStatistics) -> impl Iterator<Item = &mut Bytes> {
    let strings = statistics.string_statistics.iter_mut();
    let strings = strings.flat_map(|it| [&mut it.minimum, &mut it.maximum, &mut it.lower_bound, &mut it.upper_bound]);
    let decimals = statistics.decimal_statistics.iter_mut();
    let decimals = decimals.flat_map(|it| [&mut it.minimum, &mut it.maximum, &mut it.sum]);
    strings.chain(decimals).flatten()
}

/// Bytes of the strings, decimals and lists of statistics.
pub(crate) fn heap_size(statistics: &orc::ColumnStatistics) -> u64 {
    let strings = statistics.string_statistics.iter();
    let strings = strings.flat_map(|it| [&it.minimum, &it.maximum, &it.lower_bound, &it.upper_bound]);
    let decimals = statistics.decimal_statistics.iter().flat_map(|it| [&it.minimum, &it.maximum, &it.sum]);
    let values = strings.chain(decimals).flatten().map(Bytes::len).sum::<usize>();
    let counts = statistics.bucket_statistics.as_ref().map_or(0, |it| size_of_val(&*it.count));
    let wkb_types = statistics.geospatial_statistics.as_ref().map_or(0, |it| size_of_val(&*it.geospatial_types));
    (values + counts + wkb_types) as u64
}

/// Copies all fields but the counts.
fn take_details(to: &mut orc::ColumnStatistics, from: orc::ColumnStatistics) {
    *to = orc::ColumnStatistics {
        number_of_values: to.number_of_values,
        has_null: to.has_null,
        bytes_on_disk: to.bytes_on_disk,
        ..from
    };
}

fn min_of<T: PartialOrd>(a: Option<T>, b: Option<T>) -> Option<T> {
    zip_and_then(a, b, |a, b| pick(a, b, Ordering::Less))
}

fn max_of<T: PartialOrd>(a: Option<T>, b: Option<T>) -> Option<T> {
    zip_and_then(a, b, |a, b| pick(a, b, Ordering::Greater))
}

/// The value that compares to the other as `wanted`; `None` where the values do not compare, as NaN.
fn pick<T: PartialOrd>(a: T, b: T, wanted: Ordering) -> Option<T> {
    match a.partial_cmp(&b)? {
        Ordering::Equal => Some(a),
        order if order == wanted => Some(a),
        _ => Some(b),
    }
}

fn merge_details(to: &mut orc::ColumnStatistics, a: &orc::ColumnStatistics, b: &orc::ColumnStatistics) {
    to.int_statistics = zip_and_then(a.int_statistics, b.int_statistics, |a, b| {
        Some(orc::IntegerStatistics {
            minimum: min_of(a.minimum, b.minimum),
            maximum: max_of(a.maximum, b.maximum),
            sum: zip_and_then(a.sum, b.sum, i64::checked_add),
        })
    });
    to.double_statistics = zip_and_then(a.double_statistics, b.double_statistics, |a, b| {
        Some(orc::DoubleStatistics {
            minimum: min_of(a.minimum, b.minimum),
            maximum: max_of(a.maximum, b.maximum),
            sum: add_double_sums(a.sum, b.sum),
        })
    });
    to.string_statistics =
        zip_and_then(a.string_statistics.as_ref(), b.string_statistics.as_ref(), |a, b| Some(strings(a, b)));
    to.bucket_statistics = zip_and_then(a.bucket_statistics.as_ref(), b.bucket_statistics.as_ref(), |a, b| {
        let count = a.count.iter().zip(&b.count).map(|(a, b)| a.checked_add(*b)).collect::<Option<_>>()?;
        (a.count.len() == b.count.len()).then_some(orc::BucketStatistics { count })
    });
    to.decimal_statistics = zip_and_then(a.decimal_statistics.as_ref(), b.decimal_statistics.as_ref(), |a, b| {
        let parse = |text: &Option<Bytes>| text.as_ref().and_then(|text| Decimal::parse(text));
        let text = |number: Option<Decimal>| number.map(|number| number.to_string().into());
        Some(orc::DecimalStatistics {
            minimum: text(min_of(parse(&a.minimum), parse(&b.minimum))),
            maximum: text(max_of(parse(&a.maximum), parse(&b.maximum))),
            sum: text(zip_and_then(parse(&a.sum), parse(&b.sum), Decimal::checked_add)),
        })
    });
    to.date_statistics = zip_and_then(a.date_statistics, b.date_statistics, |a, b| {
        Some(orc::DateStatistics { minimum: min_of(a.minimum, b.minimum), maximum: max_of(a.maximum, b.maximum) })
    });
    to.binary_statistics = zip_and_then(a.binary_statistics, b.binary_statistics, |a, b| {
        Some(orc::BinaryStatistics { sum: zip_and_then(a.sum, b.sum, i64::checked_add) })
    });
    to.timestamp_statistics =
        zip_and_then(a.timestamp_statistics, b.timestamp_statistics, |a, b| Some(timestamps(&a, &b)));
    to.collection_statistics = zip_and_then(a.collection_statistics, b.collection_statistics, |a, b| {
        Some(orc::CollectionStatistics {
            min_children: min_of(a.min_children, b.min_children),
            max_children: max_of(a.max_children, b.max_children),
            total_children: zip_and_then(a.total_children, b.total_children, u64::checked_add),
        })
    });
    // Geospatial statistics are not merged: there is no unique union of extents that cross the antimeridian.
}

/// A bound, and whether it is truncated.
fn bound<'a>(exact: &'a Option<Bytes>, truncated: &'a Option<Bytes>) -> Option<(&'a Bytes, bool)> {
    exact.as_ref().map(|value| (value, false)).or(truncated.as_ref().map(|value| (value, true)))
}

fn strings(a: &orc::StringStatistics, b: &orc::StringStatistics) -> orc::StringStatistics {
    let min = min_of(bound(&a.minimum, &a.lower_bound), bound(&b.minimum, &b.lower_bound));
    let max = max_of(bound(&a.maximum, &a.upper_bound), bound(&b.maximum, &b.upper_bound));
    let value_if = |bound: Option<(&Bytes, bool)>, is_truncated| {
        bound.filter(|(_, truncated)| *truncated == is_truncated).map(|(value, _)| value.clone())
    };
    orc::StringStatistics {
        minimum: value_if(min, false),
        maximum: value_if(max, false),
        lower_bound: value_if(min, true),
        upper_bound: value_if(max, true),
        sum: zip_and_then(a.sum, b.sum, i64::checked_add),
    }
}

/// Merges bounds as pairs of milliseconds and the nanoseconds below the millisecond.
fn timestamps(a: &orc::TimestampStatistics, b: &orc::TimestampStatistics) -> orc::TimestampStatistics {
    let nanos = |millis: Option<i64>, nanos: Option<i32>| millis.map(|millis| (millis, nanos));
    // Absent nanoseconds are the least of a minimum, and the greatest of a maximum.
    let min = min_of(nanos(a.minimum_utc, a.minimum_nanos), nanos(b.minimum_utc, b.minimum_nanos));
    let last = |millis: Option<i64>, nanos: Option<i32>| millis.map(|millis| (millis, nanos.unwrap_or(i32::MAX)));
    let max = max_of(last(a.maximum_utc, a.maximum_nanos), last(b.maximum_utc, b.maximum_nanos));
    orc::TimestampStatistics {
        minimum: min_of(a.minimum, b.minimum),
        maximum: max_of(a.maximum, b.maximum),
        minimum_utc: min.map(|(millis, _)| millis),
        maximum_utc: max.map(|(millis, _)| millis),
        minimum_nanos: min.and_then(|(_, nanos)| nanos),
        maximum_nanos: max.map(|(_, nanos)| nanos).filter(|nanos| *nanos != i32::MAX),
    }
}
