//! Decimals (ORCv1, Decimal Columns): zigzag varints without bound, each with a scale of its own.
//!
//! Varints are found eight at a time and more: a mask of the bytes that end one, over 64 bytes, tells
//! where each begins without looking at the one before.

use super::varint::{MAX_LEN_128, read_u128, unzigzag, unzigzag_128};
use crate::error::{Error, Result};
use crate::source::ByteSource;

/// Most digits of a decimal.
pub const MAX_PRECISION: u8 = 38;
/// Most values of one call of [`read`].
pub const BLOCK: usize = 512;

/// Bytes that one mask covers.
const WINDOW: usize = 64;
/// Powers of ten that 64 bits hold.
const POWERS: usize = 19;

const POWERS_OF_TEN: [i64; POWERS] = {
    let mut powers = [1; POWERS];
    let mut i = 1;
    #[expect(clippy::indexing_slicing, reason = "evaluated by the compiler")]
    while i < POWERS {
        powers[i] = powers[i - 1] * 10;
        i += 1;
    }
    powers
};

/// Scale and precision that values are brought to.
#[derive(Debug, Clone, Copy)]
pub struct DecimalType {
    /// Most digits, 1 to 38.
    pub precision: u8,
    /// Digits behind the point.
    pub scale: u8,
}

/// Reads one varint for each of `scales`, at most [`BLOCK`], and brings it to the scale of `target`:
/// finer digits are rounded half away from zero, as Java does.
///
/// # Errors
/// `Corrupt` when the stream ends, or when a value has more digits than `target` allows.
pub fn read<S: ByteSource>(source: &mut S, scales: &[i64], target: DecimalType, out: &mut [i128]) -> Result<()> {
    let mut factors = [1i64; BLOCK];
    let mut regular = true;
    for (factor, &scale) in factors.iter_mut().zip(scales) {
        let steps = usize::try_from(i64::from(target.scale).wrapping_sub(scale));
        match steps.ok().and_then(|steps| POWERS_OF_TEN.get(steps)) {
            Some(power) => *factor = *power,
            None => regular = false,
        }
    }
    let bytes = source.fill(scales.len() * MAX_LEN_128 + WINDOW + 8)?;
    let taken = if regular {
        read_regular(bytes, factors.get(..scales.len()).unwrap_or_default(), out)?
    } else {
        read_any(bytes, scales, target.scale, out)?
    };
    source.consume(taken);
    let bound = 10u128.pow(u32::from(target.precision));
    if out.iter().take(scales.len()).fold(false, |over, value| over | (value.unsigned_abs() >= bound)) {
        return Err(Error::corrupt(format!("a decimal has more than {} digits", target.precision)));
    }
    Ok(())
}

/// Values that are multiplied by a factor of 64 bits each; returns the number of bytes taken.
fn read_regular(bytes: &[u8], factors: &[i64], out: &mut [i128]) -> Result<usize> {
    let mut at = 0;
    let mut slots = out.iter_mut().zip(factors);
    let mut left = factors.len().min(slots.len());
    let slow = |at: usize, factor: i64| -> Result<(i128, usize)> {
        let (value, taken) = read_u128(bytes.get(at..).unwrap_or_default())?;
        let value = unzigzag_128(value).checked_mul(factor.into());
        Ok((value.ok_or_else(|| Error::corrupt("a decimal has more than 38 digits"))?, taken))
    };
    while left > 0 {
        let window = bytes.get(at..).and_then(|rest| rest.first_chunk::<{ WINDOW + 8 }>());
        let mut ends = window.map_or(0, ends_of_varints);
        if ends == 0 {
            let Some((to, &factor)) = slots.next() else { break };
            let (value, taken) = slow(at, factor)?;
            *to = value;
            at += taken;
            left -= 1;
            continue;
        }
        let mut start = 0;
        for (to, &factor) in (&mut slots).take(left.min(ends.count_ones() as usize)) {
            let end = ends.trailing_zeros() as usize;
            ends &= ends - 1;
            let length = end + 1 - start;
            let word = window.and_then(|window| window.get(start..start + 8)).and_then(|rest| rest.first_chunk::<8>());
            match word {
                Some(word) if length <= 8 => {
                    let value = unzigzag(join_groups(u64::from_le_bytes(*word) & (u64::MAX >> (64 - 8 * length))));
                    *to = i128::from(value) * i128::from(factor);
                }
                _ => *to = slow(at + start, factor)?.0,
            }
            start = end + 1;
            left -= 1;
        }
        at += start;
    }
    Ok(at)
}

/// Bit `i` is set when byte `i` ends a varint, for the first 64 bytes.
#[inline]
fn ends_of_varints(window: &[u8; WINDOW + 8]) -> u64 {
    let mut ends = 0;
    for (i, word) in window.as_chunks::<8>().0.iter().take(WINDOW / 8).enumerate() {
        let high_bits = !u64::from_le_bytes(*word) & 0x8080_8080_8080_8080;
        // The product moves the eight high bits next to each other, at the top.
        let mask = (high_bits >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56;
        ends |= mask << (8 * i);
    }
    ends
}

/// Joins the groups of seven bits of eight bytes, the first lowest.
#[inline]
fn join_groups(word: u64) -> u64 {
    let pairs = (word & 0x007f_007f_007f_007f) | ((word & 0x7f00_7f00_7f00_7f00) >> 1);
    let quads = (pairs & 0x0000_3fff_0000_3fff) | ((pairs & 0x3fff_0000_3fff_0000) >> 2);
    (quads & 0x0fff_ffff) | ((quads >> 32) << 28)
}

/// Values of any scale; returns the number of bytes taken.
fn read_any(bytes: &[u8], scales: &[i64], target: u8, out: &mut [i128]) -> Result<usize> {
    let mut at = 0;
    for (to, &scale) in out.iter_mut().zip(scales) {
        let (value, taken) = read_u128(bytes.get(at..).unwrap_or_default())?;
        *to = rescale(unzigzag_128(value), scale, target)?;
        at += taken;
    }
    Ok(at)
}

/// `value` · 10^(`to` − `from`), rounded half away from zero.
fn rescale(value: i128, from: i64, to: u8) -> Result<i128> {
    let steps = i64::from(to).wrapping_sub(from);
    let power = u32::try_from(steps.unsigned_abs()).ok().and_then(|steps| 10i128.checked_pow(steps));
    let result = match power {
        _ if value == 0 => Some(0),
        Some(power) if steps >= 0 => value.checked_mul(power),
        Some(power) => {
            let half =
                i128::from(value % power >= power - power / 2) - i128::from(-(value % power) >= power - power / 2);
            Some(value / power + half)
        }
        // More digits are cut off than a value has.
        None if steps < 0 => Some(0),
        None => None,
    };
    result.ok_or_else(|| Error::corrupt(format!("a decimal of scale {from} does not fit into 38 digits")))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::encoding::encode;

    const WIDE: DecimalType = DecimalType { precision: 38, scale: 10 };

    #[test]
    fn rounds_half_away_from_zero() {
        let cases = [(125, 12, 1), (150, 12, 2), (-150, 12, -2), (149, 12, 1), (-149, 12, -1), (7, 9, 70), (5, 99, 0)];
        for (value, scale, want) in cases {
            assert_eq!(rescale(value, scale, 10).unwrap(), want, "{value} of scale {scale}");
        }
        assert!(rescale(i128::MAX, 9, 10).is_err());
        assert!(rescale(1, i64::MIN, 10).is_err());
    }

    fn values() -> impl Strategy<Value = Vec<(i128, i64)>> {
        let value = prop_oneof![
            4 => (0..63u32).prop_flat_map(|bits| -(1i128 << bits)..(1i128 << bits)),
            1 => -10i128.pow(28)..10i128.pow(28),
        ];
        let scale = prop_oneof![4 => Just(10i64), 2 => 5..12i64, 1 => 0..20i64];
        prop::collection::vec((value, scale), 0..BLOCK)
    }

    proptest! {
        #[test]
        fn reads_what_was_encoded(values in values(), regular: bool) {
            let mut bytes = Vec::new();
            let scale = |scale: i64| if regular { scale.min(10) } else { scale };
            values.iter().for_each(|&(value, _)| encode::varint::write_i128(value, &mut bytes));
            let scales: Vec<i64> = values.iter().map(|&(_, s)| scale(s)).collect();
            let mut out = vec![0; values.len()];
            let mut source = &bytes[..];
            read(&mut source, &scales, WIDE, &mut out).unwrap();
            prop_assert!(source.is_empty());
            for (i, &(value, s)) in values.iter().enumerate() {
                prop_assert_eq!(out[i], rescale(value, scale(s), 10).unwrap());
            }
            if !values.is_empty() {
                prop_assert!(read(&mut &bytes[..bytes.len() - 1], &scales, WIDE, &mut out).is_err());
            }
        }

        #[test]
        fn any_bytes_give_values_or_an_error(bytes: Vec<u8>, scales in prop::collection::vec(any::<i64>(), 0..100)) {
            let mut out = vec![0; scales.len()];
            let _ = read(&mut &bytes[..], &scales, WIDE, &mut out);
        }
    }

    #[test]
    fn digits_are_counted() {
        let target = DecimalType { precision: 3, scale: 1 };
        let mut bytes = Vec::new();
        encode::varint::write_i128(99, &mut bytes);
        encode::varint::write_i128(100, &mut bytes);
        let mut out = [0; 2];
        read(&mut &bytes[..], &[0], target, &mut out).unwrap();
        assert_eq!(out[0], 990);
        assert!(read(&mut &bytes[..], &[0, 0], target, &mut out).is_err());
    }
}
