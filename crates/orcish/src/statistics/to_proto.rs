//! Encoding of statistics as messages of a file (ORCv1, Column Statistics), with the fields of the latest ORC Java.

use super::{Bound, ColumnStatistics, Decimal, Detail};
use crate::proto::orc;
use crate::time::NANOS_PER_MILLI;

/// The message of the statistics. Unknown numbers are absent.
pub(crate) fn to_proto(statistics: &ColumnStatistics) -> orc::ColumnStatistics {
    let mut proto = orc::ColumnStatistics {
        number_of_values: statistics.values,
        has_null: statistics.has_null,
        bytes_on_disk: statistics.bytes_on_disk,
        ..orc::ColumnStatistics::default()
    };
    match &statistics.detail {
        Detail::None => {}
        Detail::Integer { min, max, sum } => {
            proto.int_statistics = Some(orc::IntegerStatistics { minimum: *min, maximum: *max, sum: *sum });
        }
        Detail::Double { min, max, sum } => {
            proto.double_statistics = Some(orc::DoubleStatistics { minimum: *min, maximum: *max, sum: *sum });
        }
        Detail::String { min, max, total_length } => {
            let mut strings = orc::StringStatistics { sum: to_i64(*total_length), ..Default::default() };
            match min {
                Some(Bound { value, exact: true }) => strings.minimum = Some(value.clone()),
                Some(Bound { value, exact: false }) => strings.lower_bound = Some(value.clone()),
                None => {}
            }
            match max {
                Some(Bound { value, exact: true }) => strings.maximum = Some(value.clone()),
                Some(Bound { value, exact: false }) => strings.upper_bound = Some(value.clone()),
                None => {}
            }
            proto.string_statistics = Some(strings);
        }
        Detail::Boolean { true_count } => {
            proto.bucket_statistics = Some(orc::BucketStatistics { count: true_count.iter().copied().collect() });
        }
        Detail::Decimal { min, max, sum } => {
            let text = |number: &Option<Decimal>| number.map(|number| number.to_string().into());
            proto.decimal_statistics =
                Some(orc::DecimalStatistics { minimum: text(min), maximum: text(max), sum: text(sum) });
        }
        Detail::Date { min, max } => {
            proto.date_statistics = Some(orc::DateStatistics { minimum: *min, maximum: *max });
        }
        Detail::Timestamp { min, max, .. } => {
            let ((minimum_utc, minimum_nanos), (maximum_utc, maximum_nanos)) =
                (millis_and_nanos(*min), millis_and_nanos(*max));
            proto.timestamp_statistics = Some(orc::TimestampStatistics {
                minimum_utc,
                maximum_utc,
                minimum_nanos,
                maximum_nanos,
                ..Default::default()
            });
        }
        Detail::Binary { total_length } => {
            proto.binary_statistics = Some(orc::BinaryStatistics { sum: to_i64(*total_length) });
        }
        Detail::Collection { min_children, max_children, total_children } => {
            proto.collection_statistics = Some(orc::CollectionStatistics {
                min_children: *min_children,
                max_children: *max_children,
                total_children: *total_children,
            });
        }
        Detail::Geospatial { bounding_box, types } => {
            let (low, high) = (
                |axis: Option<(f64, f64)>| axis.map(|axis| axis.0),
                |axis: Option<(f64, f64)>| axis.map(|axis| axis.1),
            );
            proto.geospatial_statistics = Some(orc::GeospatialStatistics {
                bbox: bounding_box.x.is_some().then(|| orc::BoundingBox {
                    xmin: low(bounding_box.x),
                    xmax: high(bounding_box.x),
                    ymin: low(bounding_box.y),
                    ymax: high(bounding_box.y),
                    zmin: low(bounding_box.z),
                    zmax: high(bounding_box.z),
                    mmin: low(bounding_box.m),
                    mmax: high(bounding_box.m),
                }),
                geospatial_types: types.clone(),
            });
        }
    }
    proto
}

fn to_i64(length: Option<u64>) -> Option<i64> {
    length.and_then(|length| i64::try_from(length).ok())
}

/// Milliseconds, and the nanoseconds below the millisecond plus one.
fn millis_and_nanos(nanos: Option<i128>) -> (Option<i64>, Option<i32>) {
    let Some(nanos) = nanos else { return (None, None) };
    let millis = i64::try_from(nanos.div_euclid(NANOS_PER_MILLI)).ok();
    let sub_millis = i32::try_from(nanos.rem_euclid(NANOS_PER_MILLI) + 1).ok();
    (millis, sub_millis.filter(|_| millis.is_some()))
}
