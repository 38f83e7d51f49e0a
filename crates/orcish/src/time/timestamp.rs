//! Decoder of the DATA and SECONDARY streams of a timestamp column (ORCv1, Timestamp Columns).
//!
//! DATA has seconds since 2015-01-01 00:00:00 in the time zone of the writer. SECONDARY has nanoseconds without their
//! trailing zeros. Instants before 1970 with a fraction depend on the writer:
//!
//! * Writers of Apache ORC truncate milliseconds towards zero: −1.5 s is stored as seconds −1 and nanoseconds 500,000,000,
//!   which count from −2 s. The decoder subtracts a second if the stored instant is negative and the fraction is at least a
//!   millisecond. It checks the instant (DATA plus the base, in UTC) *before* the offset of the time zone is added: local
//!   times of Asia/Shanghai in the last eight hours before 1970 are positive. Values from −0.999 s to 0 are stored with
//!   seconds 0, as values a second later. They are read as the later values.
//! * The C++ adapter of Arrow (pyarrow) writes negative nanoseconds, which Apache's Java rejects: −1 s and −500,000,000 ns
//!   is −1.5 s.

use orcish_core::error::{Error, Result};

use super::NANOS;
use super::zone::{Offsets, WriterZone};

/// Maximum nanoseconds of a fraction that is 0 in milliseconds. Truncation of such a fraction does not change the second.
const MAX_SUB_MILLI_NANOS: i64 = 999_999;

/// The factor of a SECONDARY value by its lowest three bits: *n* > 0 is *n* + 1 trailing zeros.
const FACTORS: [i64; 8] = [1, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000];

/// Decodes a value of the SECONDARY stream to nanoseconds between −999,999,999 and 999,999,999; `None` if it is out of this
/// range.
///
/// `raw` is an unsigned integer of the stream. Negative nanoseconds, which only the C++ adapter of Arrow writes, are in 64-bit
/// two's complement.
#[inline]
pub fn decode_nanos(raw: u64) -> Option<i64> {
    let factor = FACTORS.get(usize::try_from(raw & 7).ok()?)?;
    let (nanos, overflow) = (raw.cast_signed() >> 3).overflowing_mul(*factor);
    // One comparison for the range from -(1e9 - 1) to 1e9 - 1.
    let range = 2 * NANOS.cast_unsigned() - 1;
    let fits = nanos.wrapping_add(NANOS - 1).cast_unsigned() < range;
    (fits & !overflow).then_some(nanos)
}

/// Whether the magnitude of stored seconds is below 2^62, 146 billion years: the arithmetic of the decoder does not overflow.
#[inline]
pub(crate) fn is_in_range(seconds: i64) -> bool {
    seconds ^ (seconds << 1) >= 0
}

/// Decodes timestamps to local times (`TIMESTAMP`) or instants (`TIMESTAMP_INSTANT`).
///
/// The result is seconds since 1970-01-01 00:00:00, and 0..=999,999,999 nanoseconds after that second. Seconds of a
/// `TIMESTAMP` are in local time. The result is not rebased to another calendar.
#[derive(Debug, Clone)]
pub struct TimestampDecoder {
    /// The instant that stored seconds count from, in seconds since 1970.
    base: i64,
    /// Offsets of the results from UTC.
    offsets: Offsets,
}

impl TimestampDecoder {
    /// A decoder of local times, for `TIMESTAMP` columns of a stripe with the writer's time zone `zone`.
    pub fn wall_clock(zone: WriterZone) -> Self {
        Self { base: zone.base(), offsets: zone.offsets().clone() }
    }

    /// A decoder of the stored instants of `TIMESTAMP` columns.
    pub fn stored_instant(zone: &WriterZone) -> Self {
        Self { base: zone.base(), offsets: Offsets::Fixed(0) }
    }

    /// A decoder for `TIMESTAMP_INSTANT` columns. Base and result are in UTC, for any writer's time zone.
    pub fn instant() -> Self {
        Self::wall_clock(WriterZone::utc())
    }

    /// Decodes a value: `seconds` of the DATA stream and `nanos` of the SECONDARY stream.
    ///
    /// # Errors
    /// `Corrupt` if the nanoseconds are a second or more, or the magnitude of the seconds is 2^62 or more.
    #[inline]
    pub fn decode(&self, seconds: i64, nanos: u64) -> Result<(i64, i64)> {
        if !is_in_range(seconds) {
            return Err(too_many_seconds(seconds));
        }
        let nanos = decode_nanos(nanos).ok_or_else(|| too_many_nanos(nanos))?;
        Ok(to_local(seconds + self.base, nanos, |instant| match &self.offsets {
            Offsets::Fixed(offset) => *offset,
            Offsets::Table(table) => table.offset_at(instant),
        }))
    }

    /// Decodes values in place: `seconds` of the DATA stream, and `nanos` with the bits of the SECONDARY stream. The slices
    /// have no null slots, whose content may be out of range.
    ///
    /// # Errors
    /// The errors of [`Self::decode`]; `Corrupt` if the slices differ in length. Some values may be decoded in place then.
    pub fn decode_all(&self, seconds: &mut [i64], nanos: &mut [i64]) -> Result<()> {
        if seconds.len() != nanos.len() {
            return Err(Error::corrupt(format!("{} seconds but {} nanoseconds", seconds.len(), nanos.len())));
        }
        // One branch for all values.
        if !seconds.iter().fold(true, |all, second| all & is_in_range(*second))
            && let Some(second) = seconds.iter().find(|second| !is_in_range(**second))
        {
            return Err(too_many_seconds(*second));
        }
        // One branch for all values: the loop is compiled for each kind of time zone.
        match &self.offsets {
            Offsets::Fixed(offset) => decode_in_place(seconds, nanos, self.base, |_| *offset),
            Offsets::Table(table) => decode_in_place(seconds, nanos, self.base, |instant| table.offset_at(instant)),
        }
    }
}

#[inline]
fn decode_in_place(seconds: &mut [i64], nanos: &mut [i64], base: i64, offset_at: impl Fn(i64) -> i32) -> Result<()> {
    if nanos.iter().fold(0, |all, nano| all | nano) == 0 {
        // Columns of whole seconds are frequent.
        for second in seconds {
            (*second, _) = to_local(*second + base, 0, &offset_at);
        }
        return Ok(());
    }
    for (second, nano) in seconds.iter_mut().zip(nanos) {
        let raw = nano.cast_unsigned();
        let fraction = decode_nanos(raw).ok_or_else(|| too_many_nanos(raw))?;
        (*second, *nano) = to_local(*second + base, fraction, &offset_at);
    }
    Ok(())
}

/// The local time of a stored instant: seconds rounded down, and nanoseconds after that second.
#[inline]
fn to_local(seconds: i64, nanos: i64, offset_at: impl Fn(i64) -> i32) -> (i64, i64) {
    let (instant, nanos) = if nanos < 0 {
        (seconds - 1, nanos + NANOS)
    } else {
        // `&` avoids a branch: the signs of values near 1970 are unpredictable.
        (seconds - i64::from((seconds < 0) & (nanos > MAX_SUB_MILLI_NANOS)), nanos)
    };
    (instant + i64::from(offset_at(instant)), nanos)
}

#[cold]
fn too_many_nanos(raw: u64) -> Error {
    Error::corrupt(format!("timestamp whose fraction is a second or more (stored value {raw:#x})"))
}

#[cold]
fn too_many_seconds(seconds: i64) -> Error {
    Error::corrupt(format!("timestamp of {seconds} s since 2015 is out of range"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// 2015-01-01 00:00:00 UTC.
    const BASE: i64 = 1_420_070_400;

    fn zone(id: &str) -> WriterZone {
        WriterZone::parse(id).unwrap()
    }

    /// The stored values (DATA, SECONDARY) of `TimestampTreeWriter` for an instant.
    fn store(zone: &WriterZone, second: i64, nanos: i64) -> (i64, u64) {
        let millis = second * 1000 + nanos / 1_000_000;
        let (mut digits, mut zeros) = (nanos, 0);
        while digits != 0 && digits % 10 == 0 && zeros < 8 {
            digits /= 10;
            zeros += 1;
        }
        let secondary = if zeros < 2 { nanos << 3 } else { digits << 3 | (zeros - 1) };
        (millis / 1000 - zone.base(), secondary.cast_unsigned())
    }

    #[test]
    fn nanoseconds() {
        assert_eq!(decode_nanos(0), Some(0));
        assert_eq!(decode_nanos(5 << 3), Some(5));
        assert_eq!(decode_nanos(10 << 3), Some(10));
        assert_eq!(decode_nanos(1 << 3 | 1), Some(100));
        assert_eq!(decode_nanos(5 << 3 | 7), Some(500_000_000));
        assert_eq!(decode_nanos(999_999_999 << 3), Some(999_999_999));
        assert_eq!(decode_nanos(1_000_000_000 << 3), None);
        assert_eq!(decode_nanos(10 << 3 | 7), None);
        assert_eq!(decode_nanos(u64::MAX >> 1), None);
        assert_eq!(decode_nanos(u64::MAX), Some(-100_000_000));
        assert_eq!(decode_nanos(1 << 63), None);
    }

    #[test]
    fn fractions_before_1970() {
        let decode = |seconds, nanos| TimestampDecoder::instant().decode(seconds, nanos).unwrap();
        assert_eq!(decode(-BASE - 1, 5 << 3 | 7), (-2, 500_000_000));
        assert_eq!(decode(-BASE - 1, 999_999 << 3), (-1, 999_999));
        assert_eq!(decode(-BASE - 1, 1_000_000 << 3), (-2, 1_000_000));
        assert_eq!(decode(-BASE, 5 << 3 | 7), (0, 500_000_000));
        assert_eq!(decode(-BASE - 1, 0), (-1, 0));
    }

    #[test]
    fn a_second_is_subtracted_by_the_sign_of_the_instant() {
        // -7713.116127 s is 1970-01-01 05:51:26.883873 in Shanghai, a positive local time.
        let shanghai = zone("Asia/Shanghai");
        let (seconds, nanos) = store(&shanghai, -7714, 883_873_000);
        let decoder = TimestampDecoder::wall_clock(shanghai);
        assert_eq!(decoder.decode(seconds, nanos).unwrap(), (-7714 + 28_800, 883_873_000));
        // Half a second after 1970 is a negative local time in New York.
        let new_york = zone("America/New_York");
        let (seconds, nanos) = store(&new_york, 0, 500_000_000);
        let decoder = TimestampDecoder::wall_clock(new_york);
        assert_eq!(decoder.decode(seconds, nanos).unwrap(), (-18_000, 500_000_000));
    }

    #[test]
    fn negative_nanoseconds_of_arrow() {
        // pyarrow 26: -1.5 s is stored as -1 s and -5 << 3 | 7, -0.5 s as 0 s and the same.
        let (mut seconds, mut nanos) = ([-BASE - 1, -BASE], [-33, -33]);
        TimestampDecoder::instant().decode_all(&mut seconds, &mut nanos).unwrap();
        assert_eq!((seconds, nanos), ([-2, -1], [500_000_000, 500_000_000]));
    }

    #[test]
    fn values_out_of_range_are_errors() {
        let utc = TimestampDecoder::instant();
        let error = utc.decode_all(&mut [0, 1 << 62], &mut [0, 0]).unwrap_err();
        assert_eq!(error.to_string(), "timestamp of 4611686018427387904 s since 2015 is out of range");
        let error = utc.decode_all(&mut [0, 0], &mut [0, 10 << 3 | 7]).unwrap_err();
        assert_eq!(error.to_string(), "timestamp whose fraction is a second or more (stored value 0x57)");
        assert!(utc.decode_all(&mut [0, 0], &mut [0]).is_err());
        assert!(utc.decode(0, 10 << 3 | 7).is_err());
        for seconds in [i64::MIN, -(1 << 62) - 1, 1 << 62, i64::MAX] {
            assert!(utc.decode(seconds, 0).is_err());
        }
        for seconds in [-(1 << 62), (1 << 62) - 1] {
            assert_eq!(utc.decode(seconds, 0).unwrap(), (seconds + BASE, 0));
        }
    }

    proptest! {
        #[test]
        fn values_of_java_round_trip(second in -100_000_000_000..300_000_000_000_i64, nanos in 0..1_000_000_000_i64,
                                      zeros in 0..9_u32, id in prop::sample::select(vec!["UTC", "America/New_York"])) {
            let nanos = nanos / 10_i64.pow(zeros) * 10_i64.pow(zeros);
            prop_assume!(second != -1 || nanos <= 999_999); // cannot be stored
            let zone = zone(id);
            let (data, secondary) = store(&zone, second, nanos);
            let (mut seconds, mut fractions) = ([data], [secondary.cast_signed()]);
            let decoder = TimestampDecoder::wall_clock(zone.clone());
            decoder.decode_all(&mut seconds, &mut fractions).unwrap();
            prop_assert_eq!((seconds[0], fractions[0]), (second + i64::from(zone.offset_at(second)), nanos));
            prop_assert_eq!(decoder.decode(data, secondary).unwrap(), (seconds[0], fractions[0]));
        }

        #[test]
        fn any_value_is_decoded_or_an_error(seconds in any::<i64>(), nanos in any::<i64>()) {
            for zone in [WriterZone::utc(), zone("America/New_York")] {
                let _ = TimestampDecoder::wall_clock(zone).decode_all(&mut [seconds], &mut [nanos]);
            }
        }
    }
}
