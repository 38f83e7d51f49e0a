//! Timestamps (ORCv1, Timestamp Columns): seconds since 2015 in the writer's zone, and nanoseconds. Values are wall clocks
//! of that zone, or instants where their type has a zone.

use arrow_array::cast::AsArray as _;
use arrow_array::types::Int64Type;
use arrow_array::{Array as _, ArrayRef};
use arrow_buffer::NullBuffer;
use arrow_schema::DataType;
use orcish_core::error::{Error, Result};
use orcish_core::types::nanoseconds;

use super::integer::{as_numbers, nth_valid};
use super::{Compressors, Detail, Ended, Outcome, Starts, StreamKind, Tools, Values, valid_ranges};
use crate::bloom::BloomBuilder;
use crate::encoding::encode::encode_nanos;
use crate::time::{Instants, NANOS_PER_SECOND, WriterZone};
use crate::write::fault::Fault;
use crate::write::streams::{IntStream, Layout};

/// Fractions up to this many nanoseconds vanish in the milliseconds that readers look at for the sign.
const LOST_IN_MILLIS: u32 = 999_999;
/// Seconds that are beyond all time: 146 billion years from 1970.
const FOREVER: i64 = 1 << 62;

pub(super) struct TimestampValues {
    column: u32,
    /// The zone in which seconds are counted; UTC for `timestamp with local time zone`.
    zone: WriterZone,
    seconds: IntStream,
    nanos: IntStream,
    starts: Starts,
    /// First and last value, in seconds and nanoseconds of the wall clock.
    bounds: Option<((i64, u32), (i64, u32))>,
    /// Whether values that cannot be stored are refused. Otherwise they are counted, and what is stored is of no use.
    is_strict: bool,
}

impl TimestampValues {
    pub(super) fn new(column: u32, zone: WriterZone, is_strict: bool, layout: Layout) -> Self {
        TimestampValues {
            column,
            zone,
            seconds: IntStream::of_integers(layout, true),
            nanos: IntStream::of_integers(layout, false),
            starts: Starts::default(),
            bounds: None,
            is_strict,
        }
    }

    /// Takes the valid values of `numbers`, wall clocks or instants, each of so many nanoseconds.
    fn gather(
        &mut self,
        numbers: &[i64],
        valid: Option<&NullBuffer>,
        nanoseconds: i64,
        is_instant: bool,
        mut bloom: Option<&mut BloomBuilder>,
    ) -> Outcome {
        let per_second = 1_000_000_000 / nanoseconds;
        let nanos_each = u32::try_from(nanoseconds).unwrap_or_default();
        let (seconds_out, nanos_out) = (self.seconds.held(), self.nanos.held());
        let mut bounds = self.bounds;
        let mut taken = 0;
        for range in valid_ranges(numbers.len(), valid) {
            let part = numbers.get(range).unwrap_or_default();
            seconds_out.reserve(part.len());
            nanos_out.reserve(part.len());
            for &number in part {
                let second = number.div_euclid(per_second);
                // Below a second, so that it fits.
                let nanos = u32::try_from(number.rem_euclid(per_second)).unwrap_or_default() * nanos_each;
                let stored = if is_instant {
                    store_instant(&self.zone, second, nanos)
                } else {
                    store(&self.zone, second, nanos).map(|stored| (stored, second))
                };
                let (stored, second) = match stored {
                    Ok(stored) => stored,
                    Err(_) if !self.is_strict => (0, second),
                    Err(message) => {
                        let index = nth_valid(taken, numbers.len(), valid);
                        return Err(Fault::Value { index, column: self.column, message: message.to_owned() });
                    }
                };
                seconds_out.push(stored);
                nanos_out.push(encode_nanos(nanos).cast_signed());
                let value = (second, nanos);
                bounds = Some(match bounds {
                    Some((min, max)) => (min.min(value), max.max(value)),
                    None => (value, value),
                });
                if let Some(bloom) = &mut bloom {
                    bloom.add_integer(second.saturating_mul(1000).saturating_add(i64::from(nanos / 1_000_000)));
                }
                taken += 1;
            }
        }
        self.bounds = bounds;
        Ok(())
    }
}

/// What the DATA stream has for a wall clock in `zone`, or why there is nothing.
#[inline]
fn store(zone: &WriterZone, second: i64, nanos: u32) -> std::result::Result<i64, &'static str> {
    if !(-FOREVER..FOREVER).contains(&second) {
        return Err("a timestamp billions of years from now");
    }
    let Some(instant) = zone.instant_of(second) else {
        return Err("the clock of the time zone that is written in skips this time, when it is put forward");
    };
    with_fraction(zone, instant, nanos)
}

/// What the DATA stream has for an instant in `zone`, and the wall clock that it shows; or why there is nothing.
#[inline]
fn store_instant(zone: &WriterZone, second: i64, nanos: u32) -> std::result::Result<(i64, i64), &'static str> {
    if !(-FOREVER..FOREVER).contains(&second) {
        return Err("a timestamp billions of years from now");
    }
    let Some(instant) = Instants::encode(zone, second) else {
        return Err("an instant before 1900 that ORC cannot tell from another, where clocks were put back");
    };
    Ok((with_fraction(zone, instant, nanos)?, instant + i64::from(zone.offset_at(instant))))
}

/// What the DATA stream has for an instant as it is stored, with so many nanoseconds.
#[inline]
fn with_fraction(zone: &WriterZone, instant: i64, nanos: u32) -> std::result::Result<i64, &'static str> {
    if instant >= 0 || nanos <= LOST_IN_MILLIS {
        Ok(instant - zone.base())
    } else if instant == -1 {
        Err("a fraction in the second before 1970, which ORC cannot tell from the second after")
    } else {
        Ok(instant + 1 - zone.base())
    }
}

impl Values for TimestampValues {
    fn append(&mut self, array: &ArrayRef, valid: Option<&NullBuffer>, tools: Tools<'_>) -> Outcome {
        self.seconds.relieve(tools.compressors)?;
        self.nanos.relieve(tools.compressors)?;
        let DataType::Timestamp(unit, zone) = array.data_type() else {
            return Err(Error::invalid(format!("{} is no timestamp", array.data_type())).into());
        };
        let numbers = as_numbers(array, DataType::Int64)?;
        let numbers = numbers.as_primitive::<Int64Type>().values();
        self.gather(numbers, valid, nanoseconds(*unit), zone.is_some(), tools.bloom)
    }

    fn begin_group(&mut self) {
        self.starts.push(|position| {
            self.seconds.position(position);
            self.nanos.position(position);
        });
    }

    fn end_group(&mut self, compressors: &mut Compressors) -> Result<Detail> {
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

    fn end_stripe(&mut self, compressors: &mut Compressors) -> Result<Ended> {
        Ok(Ended {
            streams: vec![
                (StreamKind::Data, self.seconds.take(compressors)?),
                (StreamKind::Secondary, self.nanos.take(compressors)?),
            ],
            has_integers: true,
            positions: self.starts.take(),
            ..Ended::default()
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::time::TimestampDecoder;

    proptest! {
        /// What is stored is read as the same wall clock, and what is refused could not be.
        #[test]
        fn what_is_stored_comes_back(
            second in prop_oneof![-100_000_000_000..300_000_000_000_i64, -200_000..200_000_i64, any::<i64>()],
            nanos in prop_oneof![0..1_000_000_000_u32, Just(0), 999_000..1_001_000_u32],
            id in prop::sample::select(vec!["UTC", "America/New_York", "Asia/Shanghai", "GMT+08:00", "Europe/Paris"]),
        ) {
            let zone = WriterZone::parse(id).unwrap();
            if let Ok(stored) = store(&zone, second, nanos) {
                let decoder = TimestampDecoder::wall_clock(zone);
                prop_assert_eq!(decoder.decode(stored, encode_nanos(nanos)).unwrap(), (second, i64::from(nanos)));
            } else {
                let is_skipped = zone.instant_of(second).is_none();
                let instant = zone.instant_of(second).unwrap_or_default();
                prop_assert!(is_skipped || instant == -1 && nanos > LOST_IN_MILLIS || second.unsigned_abs() >= 1 << 62);
            }
        }
    }

    proptest! {
        /// What is stored of an instant is read as the same one, whichever time of the clock it was.
        #[test]
        fn instants_come_back(
            second in prop_oneof![
                -100_000_000_000..300_000_000_000_i64,
                -200_000..200_000_i64,
                1_700_000_000..1_800_000_000_i64,
                any::<i64>()
            ],
            nanos in prop_oneof![0..1_000_000_000_u32, Just(0), 999_000..1_001_000_u32],
            id in prop::sample::select(vec!["UTC", "America/New_York", "Asia/Kolkata", "GMT+08:00", "Australia/Lord_Howe"]),
        ) {
            let zone = WriterZone::parse(id).unwrap();
            if let Ok((stored, wall)) = store_instant(&zone, second, nanos) {
                let decoded = TimestampDecoder::stored_instant(&zone).decode(stored, encode_nanos(nanos)).unwrap();
                prop_assert_eq!(decoded.1, i64::from(nanos));
                prop_assert_eq!(Instants::new(zone.clone(), false).decode(decoded.0), second);
                // Statistics have what is read as a wall clock.
                let clock = TimestampDecoder::wall_clock(zone).decode(stored, encode_nanos(nanos)).unwrap();
                prop_assert_eq!(clock.0, wall);
            } else {
                let is_far = second.unsigned_abs() >= 1 << 62;
                prop_assert!(is_far || second == -1 && nanos > LOST_IN_MILLIS || Instants::encode(&zone, second).is_none());
            }
        }
    }

    #[test]
    fn times_that_a_clock_skips_are_refused() {
        let zone = WriterZone::parse("America/New_York").unwrap();
        let half_past_two = 1_331_433_000; // 2012-03-11 02:30
        assert!(store(&zone, half_past_two, 0).unwrap_err().contains("skips"));
        assert!(store(&zone, half_past_two + 3600, 0).is_ok());
        assert!(store(&WriterZone::utc(), -1, 500_000_000).unwrap_err().contains("before 1970"));
        assert_eq!(store(&WriterZone::utc(), -1, 999_999), Ok(-1 - 1_420_070_400));
        assert_eq!(store(&WriterZone::utc(), -2, 500_000_000), Ok(-1 - 1_420_070_400));
    }
}
