//! Statistics as files record them, put together as they are: what one writer recorded of some rows and of others,
//! becomes what it would have recorded of all.

use std::cmp::Ordering;

use bytes::Bytes;
use orcish_core::statistics::{both, sum_of_doubles};

use super::Decimal;
use crate::proto::orc;

/// Takes in what the same writer recorded of further rows of a column. What cannot be put together is left out.
pub(crate) fn merge_proto(all: &mut orc::ColumnStatistics, more: &orc::ColumnStatistics) {
    // Bounds of no values are none, and not unknown.
    let (all_empty, more_empty) = (all.number_of_values == Some(0), more.number_of_values == Some(0));
    let own = std::mem::take(all);
    let mut merged = orc::ColumnStatistics {
        number_of_values: both(own.number_of_values, more.number_of_values, u64::checked_add),
        // Absent is not known; a null that is known is enough.
        has_null: match (own.has_null, more.has_null) {
            (Some(true), _) | (_, Some(true)) => Some(true),
            (Some(false), Some(false)) => Some(false),
            _ => None,
        },
        bytes_on_disk: both(own.bytes_on_disk, more.bytes_on_disk, u64::checked_add),
        ..orc::ColumnStatistics::default()
    };
    match (all_empty, more_empty) {
        (true, _) => take_details(&mut merged, more.clone()),
        (_, true) => take_details(&mut merged, own),
        _ => merge_details(&mut merged, &own, more),
    }
    detach(&mut merged);
    *all = merged;
}

/// Copies texts, so that the footers which they were read from do not stay in memory.
fn detach(statistics: &mut orc::ColumnStatistics) {
    for text in texts(statistics) {
        *text = Bytes::copy_from_slice(text);
    }
}

fn texts(statistics: &mut orc::ColumnStatistics) -> impl Iterator<Item = &mut Bytes> {
    let of_text = statistics.string_statistics.iter_mut();
    let of_text = of_text.flat_map(|it| [&mut it.minimum, &mut it.maximum, &mut it.lower_bound, &mut it.upper_bound]);
    let of_decimals = statistics.decimal_statistics.iter_mut();
    let of_decimals = of_decimals.flat_map(|it| [&mut it.minimum, &mut it.maximum, &mut it.sum]);
    of_text.chain(of_decimals).flatten()
}

/// Bytes of the texts and lists that statistics have.
pub(crate) fn bytes_beside(statistics: &orc::ColumnStatistics) -> u64 {
    let of_text = statistics.string_statistics.iter();
    let of_text = of_text.flat_map(|it| [&it.minimum, &it.maximum, &it.lower_bound, &it.upper_bound]);
    let of_decimals = statistics.decimal_statistics.iter().flat_map(|it| [&it.minimum, &it.maximum, &it.sum]);
    let texts = of_text.chain(of_decimals).flatten().map(Bytes::len).sum::<usize>();
    let counts = statistics.bucket_statistics.as_ref().map_or(0, |it| size_of_val(&*it.count));
    let kinds = statistics.geospatial_statistics.as_ref().map_or(0, |it| size_of_val(&*it.geospatial_types));
    (texts + counts + kinds) as u64
}

/// All but the counts.
fn take_details(to: &mut orc::ColumnStatistics, from: orc::ColumnStatistics) {
    *to = orc::ColumnStatistics {
        number_of_values: to.number_of_values,
        has_null: to.has_null,
        bytes_on_disk: to.bytes_on_disk,
        ..from
    };
}

fn least<T: PartialOrd>(a: Option<T>, b: Option<T>) -> Option<T> {
    both(a, b, |a, b| pick(a, b, Ordering::Less))
}

fn greatest<T: PartialOrd>(a: Option<T>, b: Option<T>) -> Option<T> {
    both(a, b, |a, b| pick(a, b, Ordering::Greater))
}

/// Whichever compares so to the other; none where they do not compare, as NaN does not.
fn pick<T: PartialOrd>(a: T, b: T, wanted: Ordering) -> Option<T> {
    match a.partial_cmp(&b)? {
        Ordering::Equal => Some(a),
        order if order == wanted => Some(a),
        _ => Some(b),
    }
}

fn merge_details(to: &mut orc::ColumnStatistics, a: &orc::ColumnStatistics, b: &orc::ColumnStatistics) {
    to.int_statistics = both(a.int_statistics, b.int_statistics, |a, b| {
        Some(orc::IntegerStatistics {
            minimum: least(a.minimum, b.minimum),
            maximum: greatest(a.maximum, b.maximum),
            sum: both(a.sum, b.sum, i64::checked_add),
        })
    });
    to.double_statistics = both(a.double_statistics, b.double_statistics, |a, b| {
        Some(orc::DoubleStatistics {
            minimum: least(a.minimum, b.minimum),
            maximum: greatest(a.maximum, b.maximum),
            sum: sum_of_doubles(a.sum, b.sum),
        })
    });
    to.string_statistics = both(a.string_statistics.as_ref(), b.string_statistics.as_ref(), |a, b| Some(strings(a, b)));
    to.bucket_statistics = both(a.bucket_statistics.as_ref(), b.bucket_statistics.as_ref(), |a, b| {
        let count = a.count.iter().zip(&b.count).map(|(a, b)| a.checked_add(*b)).collect::<Option<_>>()?;
        (a.count.len() == b.count.len()).then_some(orc::BucketStatistics { count })
    });
    to.decimal_statistics = both(a.decimal_statistics.as_ref(), b.decimal_statistics.as_ref(), |a, b| {
        let parse = |text: &Option<Bytes>| text.as_ref().and_then(|text| Decimal::parse(text));
        let text = |number: Option<Decimal>| number.map(|number| number.to_string().into());
        Some(orc::DecimalStatistics {
            minimum: text(least(parse(&a.minimum), parse(&b.minimum))),
            maximum: text(greatest(parse(&a.maximum), parse(&b.maximum))),
            sum: text(both(parse(&a.sum), parse(&b.sum), Decimal::checked_add)),
        })
    });
    to.date_statistics = both(a.date_statistics, b.date_statistics, |a, b| {
        Some(orc::DateStatistics { minimum: least(a.minimum, b.minimum), maximum: greatest(a.maximum, b.maximum) })
    });
    to.binary_statistics = both(a.binary_statistics, b.binary_statistics, |a, b| {
        Some(orc::BinaryStatistics { sum: both(a.sum, b.sum, i64::checked_add) })
    });
    to.timestamp_statistics = both(a.timestamp_statistics, b.timestamp_statistics, |a, b| Some(timestamps(&a, &b)));
    to.collection_statistics = both(a.collection_statistics, b.collection_statistics, |a, b| {
        Some(orc::CollectionStatistics {
            min_children: least(a.min_children, b.min_children),
            max_children: greatest(a.max_children, b.max_children),
            total_children: both(a.total_children, b.total_children, u64::checked_add),
        })
    });
    // Extents may span the antimeridian: two of them have no single best one. None is written.
}

/// A bound, and whether it was cut.
fn bound<'a>(exact: &'a Option<Bytes>, cut: &'a Option<Bytes>) -> Option<(&'a Bytes, bool)> {
    exact.as_ref().map(|value| (value, false)).or(cut.as_ref().map(|value| (value, true)))
}

fn strings(a: &orc::StringStatistics, b: &orc::StringStatistics) -> orc::StringStatistics {
    let min = least(bound(&a.minimum, &a.lower_bound), bound(&b.minimum, &b.lower_bound));
    let max = greatest(bound(&a.maximum, &a.upper_bound), bound(&b.maximum, &b.upper_bound));
    let of =
        |bound: Option<(&Bytes, bool)>, is_cut| bound.filter(|(_, cut)| *cut == is_cut).map(|(value, _)| value.clone());
    orc::StringStatistics {
        minimum: of(min, false),
        maximum: of(max, false),
        lower_bound: of(min, true),
        upper_bound: of(max, true),
        sum: both(a.sum, b.sum, i64::checked_add),
    }
}

/// Nanoseconds belong to the milliseconds that they are below. Where one is absent, nothing is known of them.
fn timestamps(a: &orc::TimestampStatistics, b: &orc::TimestampStatistics) -> orc::TimestampStatistics {
    let nanos = |millis: Option<i64>, nanos: Option<i32>| millis.map(|millis| (millis, nanos));
    // Absent nanoseconds are the least of a minimum; of a maximum they are the greatest.
    let min = least(nanos(a.minimum_utc, a.minimum_nanos), nanos(b.minimum_utc, b.minimum_nanos));
    let last = |millis: Option<i64>, nanos: Option<i32>| millis.map(|millis| (millis, nanos.unwrap_or(i32::MAX)));
    let max = greatest(last(a.maximum_utc, a.maximum_nanos), last(b.maximum_utc, b.maximum_nanos));
    orc::TimestampStatistics {
        minimum: least(a.minimum, b.minimum),
        maximum: greatest(a.maximum, b.maximum),
        minimum_utc: min.map(|(millis, _)| millis),
        maximum_utc: max.map(|(millis, _)| millis),
        minimum_nanos: min.and_then(|(_, nanos)| nanos),
        maximum_nanos: max.map(|(_, nanos)| nanos).filter(|nanos| *nanos != i32::MAX),
    }
}
