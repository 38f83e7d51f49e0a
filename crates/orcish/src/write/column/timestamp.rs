//! Timestamp columns (ORCv1, Timestamp Columns): a stream of seconds since 2015-01-01 in the time zone of the writer,
//! and a stream of nanoseconds.
//!
//! Arrow timestamps without a zone are wall clock times in the zone of the writer. Arrow timestamps with a zone are
//! instants.

use arrow_array::cast::AsArray as _;
use arrow_array::types::Int64Type;
use arrow_array::{Array as _, ArrayRef};
use arrow_buffer::NullBuffer;
use arrow_schema::DataType;
use orcish_core::error::{Error, OrInternal as _, Result};
use orcish_core::type_names::TypeName;
use orcish_core::types::nanoseconds;

use super::integer::{nth_valid, physical_integers};
use super::{AppendContext, AppendResult, Compressors, Detail, EncodedValues, StreamKind, ValueEncoder, valid_slices};
use crate::bloom::BloomBuilder;
use crate::encoding::encode::encode_nanos;
use crate::time::{InstantDecoder, NANOS_PER_SECOND, WriterZone, is_in_range};
use crate::write::append_error::AppendError;
use crate::write::rle_stream::IntegerStream;
use crate::write::stream_options::StreamOptions;

/// Largest fraction of less than a millisecond, in nanoseconds. Readers subtract a second from a time before 1970 with
/// milliseconds.
const MAX_NANOS_WITHOUT_MILLIS: u32 = 999_999;
/// Bound of the seconds since 1970, 146 billion years. It prevents overflows.
const MAX_SECONDS: i64 = 1 << 62;
/// The reason why a time beyond the range of stored seconds cannot be stored.
const TOO_FAR: &str = "a timestamp billions of years from now";

pub(super) struct TimestampEncoder {
    column: u32,
    /// The time zone of the writer, or UTC for `timestamp with local time zone`.
    zone: WriterZone,
    seconds: IntegerStream,
    nanos: IntegerStream,
    /// Minimum and maximum of the row group, as seconds and nanoseconds of the wall clock.
    bounds: Option<((i64, u32), (i64, u32))>,
    /// Whether a value that cannot be stored is an error. Otherwise it counts in the statistics, and 0 is stored.
    is_strict: bool,
}

impl TimestampEncoder {
    pub(super) fn new(column: u32, zone: WriterZone, is_strict: bool, options: StreamOptions) -> Self {
        TimestampEncoder {
            column,
            zone,
            seconds: IntegerStream::signed(options),
            nanos: IntegerStream::unsigned(options),
            bounds: None,
            is_strict,
        }
    }

    /// Appends the valid `values`, which are wall clock times or instants in a unit of so many nanoseconds.
    fn append_values(
        &mut self,
        values: &[i64],
        valid: Option<&NullBuffer>,
        unit_nanos: i64,
        is_instant: bool,
        mut bloom_filter: Option<&mut BloomBuilder>,
    ) -> AppendResult {
        let units_per_second = 1_000_000_000 / unit_nanos;
        let nanos_per_unit = u32::try_from(unit_nanos).or_internal("a unit of more than four seconds")?;
        let (seconds_out, nanos_out) = (self.seconds.buffer(), self.nanos.buffer());
        let mut bounds = self.bounds;
        let mut num_appended = 0;
        for slice in valid_slices(values, valid) {
            let (_, valid_values) = slice?;
            seconds_out.reserve(valid_values.len());
            nanos_out.reserve(valid_values.len());
            for &value in valid_values {
                let second = value.div_euclid(units_per_second);
                #[expect(clippy::cast_possible_truncation, reason = "the fraction is less than 10⁹ nanoseconds")]
                let nanos = value.rem_euclid(units_per_second).cast_unsigned() as u32 * nanos_per_unit;
                let encoded = if is_instant {
                    encode_instant(&self.zone, second, nanos)
                } else {
                    encode_wall_clock(&self.zone, second, nanos).map(|stored_second| (stored_second, second))
                };
                let (stored_second, second) = match encoded {
                    Ok(encoded) => encoded,
                    Err(_) if !self.is_strict => (0, second),
                    Err(message) => {
                        let index = nth_valid(num_appended, values.len(), valid)?;
                        return Err(AppendError::Value { index, column: self.column, message: message.to_owned() });
                    }
                };
                seconds_out.push(stored_second);
                nanos_out.push(encode_nanos(nanos).cast_signed());
                let value = (second, nanos);
                bounds = Some(match bounds {
                    Some((min, max)) => (min.min(value), max.max(value)),
                    None => (value, value),
                });
                if let Some(bloom_filter) = &mut bloom_filter {
                    bloom_filter.add_integer(second.saturating_mul(1000).saturating_add(i64::from(nanos / 1_000_000)));
                }
                num_appended += 1;
            }
        }
        self.bounds = bounds;
        Ok(())
    }
}

/// The stored seconds of a wall clock time in `zone`.
///
/// # Errors
/// The reason why the time cannot be stored.
#[inline]
fn encode_wall_clock(zone: &WriterZone, second: i64, nanos: u32) -> std::result::Result<i64, &'static str> {
    if !(-MAX_SECONDS..MAX_SECONDS).contains(&second) {
        return Err(TOO_FAR);
    }
    let Some(instant) = zone.instant_of(second) else {
        return Err("the clock of the time zone that is written in skips this time, when it is put forward");
    };
    encode_seconds(zone, instant, nanos)
}

/// The stored seconds of an instant in `zone`, and the seconds of its wall clock time.
///
/// # Errors
/// The reason why the instant cannot be stored.
#[inline]
fn encode_instant(zone: &WriterZone, second: i64, nanos: u32) -> std::result::Result<(i64, i64), &'static str> {
    if !(-MAX_SECONDS..MAX_SECONDS).contains(&second) {
        return Err(TOO_FAR);
    }
    let Some(instant) = InstantDecoder::encode(zone, second) else {
        return Err("an instant before 1900 that ORC cannot tell from another, where clocks were put back");
    };
    Ok((encode_seconds(zone, instant, nanos)?, instant + i64::from(zone.offset_at(instant))))
}

/// The stored seconds of an instant with a fraction. ORC rounds seconds before 1970 towards zero if the fraction has
/// milliseconds.
///
/// # Errors
/// A fraction in the last second before 1970 would be rounded to the second after. The stored seconds are beyond the range
/// of readers.
#[inline]
fn encode_seconds(zone: &WriterZone, instant: i64, nanos: u32) -> std::result::Result<i64, &'static str> {
    let stored = if instant >= 0 || nanos <= MAX_NANOS_WITHOUT_MILLIS {
        instant - zone.base()
    } else if instant == -1 {
        return Err("a fraction in the second before 1970, which ORC cannot tell from the second after");
    } else {
        instant + 1 - zone.base()
    };
    if is_in_range(stored) { Ok(stored) } else { Err(TOO_FAR) }
}

impl ValueEncoder for TimestampEncoder {
    fn append(&mut self, array: &ArrayRef, valid: Option<&NullBuffer>, context: AppendContext<'_>) -> AppendResult {
        self.seconds.encode_if_large(context.compressors)?;
        self.nanos.encode_if_large(context.compressors)?;
        let DataType::Timestamp(unit, zone) = array.data_type() else {
            return Err(Error::internal(format!("{} is no timestamp", TypeName(array.data_type()))).into());
        };
        let values = physical_integers(array, DataType::Int64)?;
        let values = values.as_primitive::<Int64Type>().values();
        self.append_values(values, valid, nanoseconds(*unit), zone.is_some(), context.bloom_filter)
    }

    fn begin_row_group(&mut self) {
        self.seconds.begin_row_group();
        self.nanos.begin_row_group();
    }

    fn end_row_group(&mut self, compressors: &mut Compressors) -> Result<Detail> {
        self.seconds.end_run(compressors)?;
        self.nanos.end_run(compressors)?;
        let nanos = |(second, nanos): (i64, u32)| i128::from(second) * NANOS_PER_SECOND + i128::from(nanos);
        let (min, max) = self.bounds.take().unzip();
        let (min, max) = (min.map(nanos), max.map(nanos));
        Ok(Detail::Timestamp { min, max, lower_bound: min, upper_bound: max })
    }

    fn size(&self) -> usize {
        self.seconds.size() + self.nanos.size()
    }

    fn memory_size(&self) -> usize {
        self.seconds.memory_size() + self.nanos.memory_size()
    }

    fn end_stripe(&mut self, compressors: &mut Compressors) -> Result<EncodedValues> {
        Ok(EncodedValues::direct(vec![
            (StreamKind::Data, self.seconds.finish(compressors)?),
            (StreamKind::Secondary, self.nanos.finish(compressors)?),
        ]))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::time::TimestampDecoder;

    /// Seconds between 1970 and a time after 2015, beyond any offset.
    const FAR: u64 = 2_000_000_000;

    /// Seconds near the end of the range.
    fn far_seconds() -> impl Strategy<Value = i64> {
        let end = MAX_SECONDS.unsigned_abs();
        (end - 2 * FAR..end + 2 * FAR).prop_map(u64::cast_signed)
    }

    proptest! {
        /// A stored time is read as the same wall clock time. A refused time could not be.
        #[test]
        fn wall_clock_times_round_trip(
            second in prop_oneof![
                -100_000_000_000..300_000_000_000_i64,
                -200_000..200_000_i64,
                any::<i64>(),
                far_seconds(),
                far_seconds().prop_map(|second| -second),
            ],
            nanos in prop_oneof![0..1_000_000_000_u32, Just(0), 999_000..1_001_000_u32],
            id in prop::sample::select(vec!["UTC", "America/New_York", "Asia/Shanghai", "GMT+08:00", "Europe/Paris"]),
        ) {
            let zone = WriterZone::parse(id).unwrap();
            if let Ok(stored) = encode_wall_clock(&zone, second, nanos) {
                let decoder = TimestampDecoder::wall_clock(zone);
                prop_assert_eq!(decoder.decode(stored, encode_nanos(nanos)).unwrap(), (second, i64::from(nanos)));
            } else {
                let is_skipped = zone.instant_of(second).is_none();
                let instant = zone.instant_of(second).unwrap_or(0);
                let is_out_of_range = second.unsigned_abs() >= (1 << 62) - FAR;
                let is_before_1970 = instant == -1 && nanos > MAX_NANOS_WITHOUT_MILLIS;
                prop_assert!(is_skipped || is_before_1970 || is_out_of_range);
            }
        }
    }

    proptest! {
        /// A stored instant is read as the same instant, even if clocks show its time twice.
        #[test]
        fn instants_round_trip(
            second in prop_oneof![
                -100_000_000_000..300_000_000_000_i64,
                -200_000..200_000_i64,
                1_700_000_000..1_800_000_000_i64,
                any::<i64>(),
                far_seconds(),
                far_seconds().prop_map(|second| -second),
            ],
            nanos in prop_oneof![0..1_000_000_000_u32, Just(0), 999_000..1_001_000_u32],
            id in prop::sample::select(vec![
                "UTC", "America/New_York", "Asia/Kolkata", "GMT+08:00", "Australia/Lord_Howe",
            ]),
        ) {
            let zone = WriterZone::parse(id).unwrap();
            if let Ok((stored, wall)) = encode_instant(&zone, second, nanos) {
                let decoded = TimestampDecoder::stored_instant(&zone).decode(stored, encode_nanos(nanos)).unwrap();
                prop_assert_eq!(decoded.1, i64::from(nanos));
                prop_assert_eq!(InstantDecoder::new(zone.clone(), false).decode(decoded.0), second);
                // Statistics have the time that is read as a wall clock time.
                let clock = TimestampDecoder::wall_clock(zone).decode(stored, encode_nanos(nanos)).unwrap();
                prop_assert_eq!(clock.0, wall);
            } else {
                let is_out_of_range = second.unsigned_abs() >= (1 << 62) - FAR;
                let is_before_1970 = second == -1 && nanos > MAX_NANOS_WITHOUT_MILLIS;
                prop_assert!(is_out_of_range || is_before_1970 || InstantDecoder::encode(&zone, second).is_none());
            }
        }
    }

    #[test]
    fn skipped_wall_clock_times_are_refused() {
        let zone = WriterZone::parse("America/New_York").unwrap();
        let half_past_two = 1_331_433_000; // 2012-03-11 02:30
        assert!(encode_wall_clock(&zone, half_past_two, 0).unwrap_err().contains("skips"));
        assert!(encode_wall_clock(&zone, half_past_two + 3600, 0).is_ok());
        assert!(encode_wall_clock(&WriterZone::utc(), -1, 500_000_000).unwrap_err().contains("before 1970"));
        assert_eq!(encode_wall_clock(&WriterZone::utc(), -1, 999_999), Ok(-1 - 1_420_070_400));
        assert_eq!(encode_wall_clock(&WriterZone::utc(), -2, 500_000_000), Ok(-1 - 1_420_070_400));
    }
}
