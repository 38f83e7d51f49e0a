//! From the DATA and SECONDARY streams of a timestamp column to seconds and nanoseconds.
//!
//! DATA holds seconds since 2015-01-01 00:00:00 in the writer's zone; SECONDARY holds nanoseconds with their trailing
//! zeros squeezed out. Two writers' habits must be undone for instants before 1970 that have a fraction:
//!
//! * Apache ORC's rule: the writer cuts milliseconds towards zero, −1.5 s becomes seconds −1 and nanoseconds
//!   500,000,000 (the fraction counts forward from −2 s). So when the stored instant is negative and there is at
//!   least a millisecond of fraction, a second is taken off. The test is made on the instant (DATA plus the base,
//!   in UTC), *before* the zone's offset is added: on the wall clock of Asia/Shanghai the last eight hours before
//!   1970 are positive already. Values from −0.999 s up to 0 were written with seconds 0, like those a second
//!   later, and come back as those: nothing in the file tells them apart.
//! * Arrow's C++ adapter (pyarrow) writes negative nanoseconds instead, which Apache's Java refuses. They mean what
//!   they say: −1 s and −500,000,000 ns is −1.5 s.
//!
//! ORCv1, "Timestamp Columns".

use orcish_core::error::{Error, Result};

use super::NANOS;
use super::zone::{Offsets, WriterZone};

/// Fractions up to this many nanoseconds vanish when milliseconds are cut, so they lose no second.
const LOST_IN_MILLIS: i64 = 999_999;

/// What the low three bits of a SECONDARY value multiply the rest with: *n* > 0 stands for *n* + 1 zeros.
const ZEROS: [i64; 8] = [1, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000];

/// Decodes a value of the SECONDARY stream to nanoseconds between −999,999,999 and 999,999,999.
///
/// `raw` is the value as the unsigned run-length decoder gives it; negative nanoseconds, which only Arrow's C++
/// adapter writes, are there as their 64-bit two's complement. `None` if it is a second or more.
#[inline]
pub fn decode_nanos(raw: u64) -> Option<i64> {
    let zeros = ZEROS.get(usize::try_from(raw & 7).ok()?)?;
    let (nanos, overflow) = (raw.cast_signed() >> 3).overflowing_mul(*zeros);
    // From -(1e9 - 1) to 1e9 - 1, as one comparison.
    let range = 2 * NANOS.cast_unsigned() - 1;
    let fits = nanos.wrapping_add(NANOS - 1).cast_unsigned() < range;
    (fits & !overflow).then_some(nanos)
}

/// Whether seconds are so few (less than 2^62, 146 billion years) that no step below can overflow.
fn is_small(seconds: i64) -> bool {
    seconds ^ (seconds << 1) >= 0
}

/// Turns stored timestamps into wall-clock time (`TIMESTAMP`) or instants (`TIMESTAMP_INSTANT`).
///
/// The result is seconds since 1970-01-01 00:00:00 and nanoseconds of 0..=999,999,999 after that second; for
/// `TIMESTAMP` the seconds are those of the wall clock, as if it stood in UTC. No calendar is applied yet.
#[derive(Debug, Clone)]
pub struct TimestampDecoder {
    /// Of the stored seconds, since 1970.
    base: i64,
    /// Of the results to UTC.
    offsets: Offsets,
}

impl TimestampDecoder {
    /// For `TIMESTAMP` columns of a stripe whose footer names `zone`.
    pub fn wall_clock(zone: WriterZone) -> Self {
        Self { base: zone.base(), offsets: zone.offsets().clone() }
    }

    /// For `TIMESTAMP` columns of which the instants are wanted that the stripe stores.
    pub fn stored_instant(zone: &WriterZone) -> Self {
        Self { base: zone.base(), offsets: Offsets::Fixed(0) }
    }

    /// For `TIMESTAMP_INSTANT` columns: base and result are UTC, whatever the footer says.
    pub fn instant() -> Self {
        Self::wall_clock(WriterZone::utc())
    }

    /// Decodes one value: `seconds` from DATA and `nanos` from SECONDARY, both as stored.
    ///
    /// # Errors
    ///
    /// `Corrupt` if the nanoseconds are a second or more, or the seconds 2^62 or more.
    #[inline]
    pub fn decode(&self, seconds: i64, nanos: u64) -> Result<(i64, i64)> {
        if !is_small(seconds) {
            return Err(too_many_seconds(seconds));
        }
        let nanos = decode_nanos(nanos).ok_or_else(|| too_many_nanos(nanos))?;
        Ok(wall_clock(seconds + self.base, nanos, |instant| match &self.offsets {
            Offsets::Fixed(offset) => *offset,
            Offsets::Table(table) => table.offset_at(instant),
        }))
    }

    /// Decodes values in place: `seconds` from DATA and `nanos` from SECONDARY (its bits), both as stored.
    ///
    /// Only values, no null slots: what stands in those may be out of range.
    ///
    /// # Errors
    ///
    /// As [`Self::decode`], or if the slices differ in length. Part of the values may be decoded by then.
    pub fn decode_all(&self, seconds: &mut [i64], nanos: &mut [i64]) -> Result<()> {
        if seconds.len() != nanos.len() {
            return Err(Error::corrupt(format!("{} seconds but {} nanoseconds", seconds.len(), nanos.len())));
        }
        // All in one go, without a branch per value.
        if !seconds.iter().fold(true, |all, second| all & is_small(*second)) {
            let first = seconds.iter().find(|second| !is_small(**second));
            return Err(too_many_seconds(first.copied().unwrap_or_default()));
        }
        // A loop for each kind of zone rather than a test per value.
        match &self.offsets {
            Offsets::Fixed(offset) => decode_each(seconds, nanos, self.base, |_| *offset),
            Offsets::Table(table) => decode_each(seconds, nanos, self.base, |instant| table.offset_at(instant)),
        }
    }
}

#[inline]
fn decode_each(seconds: &mut [i64], nanos: &mut [i64], base: i64, offset_at: impl Fn(i64) -> i32) -> Result<()> {
    if nanos.iter().fold(0, |all, nano| all | nano) == 0 {
        // Whole seconds, which are frequent, stay as they are.
        for second in seconds {
            (*second, _) = wall_clock(*second + base, 0, &offset_at);
        }
        return Ok(());
    }
    for (second, nano) in seconds.iter_mut().zip(nanos) {
        let raw = nano.cast_unsigned();
        let fraction = decode_nanos(raw).ok_or_else(|| too_many_nanos(raw))?;
        (*second, *nano) = wall_clock(*second + base, fraction, &offset_at);
    }
    Ok(())
}

/// The wall clock of a stored instant, as whole seconds rounded down and nanoseconds forward from there.
#[inline]
fn wall_clock(stored: i64, nanos: i64, offset_at: impl Fn(i64) -> i32) -> (i64, i64) {
    let (instant, nanos) = if nanos < 0 {
        (stored - 1, nanos + NANOS)
    } else {
        // `&` and no branch: signs are unpredictable in columns about 1970.
        (stored - i64::from((stored < 0) & (nanos > LOST_IN_MILLIS)), nanos)
    };
    (instant + i64::from(offset_at(instant)), nanos)
}

#[cold]
fn too_many_nanos(raw: u64) -> Error {
    Error::corrupt(format!("timestamp whose fraction is a second or more (stored value {raw:#x})"))
}

#[cold]
fn too_many_seconds(stored: i64) -> Error {
    Error::corrupt(format!("timestamp of {stored} s since 2015 is out of range"))
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

    /// As `TimestampTreeWriter` stores the instant `second` + `nanos`: (DATA, SECONDARY).
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
    fn the_sign_is_that_of_the_instant() {
        // -7713.116127 s is 1970-01-01 05:51:26.883873 in Shanghai, a positive wall clock.
        let shanghai = zone("Asia/Shanghai");
        let (seconds, nanos) = store(&shanghai, -7714, 883_873_000);
        let decoder = TimestampDecoder::wall_clock(shanghai);
        assert_eq!(decoder.decode(seconds, nanos).unwrap(), (-7714 + 28_800, 883_873_000));
        // Half a second after 1970 is a negative wall clock in New York.
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
    fn what_is_out_of_range_is_an_error() {
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
        fn what_java_wrote_comes_back(second in -100_000_000_000..300_000_000_000_i64, nanos in 0..1_000_000_000_i64,
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
        fn nothing_panics(seconds in any::<i64>(), nanos in any::<i64>()) {
            for zone in [WriterZone::utc(), zone("America/New_York")] {
                let _ = TimestampDecoder::wall_clock(zone).decode_all(&mut [seconds], &mut [nanos]);
            }
        }
    }
}
