//! Decimals (ORCv1, Decimal Columns): zigzag varints without bound, each with a scale of its own.
//!
//! Varints are found eight at a time and more: a mask of the bytes that end one, over 64 bytes, tells
//! where each begins without looking at the one before.

use super::varint::{MAX_LEN_128, read_u128, unzigzag, unzigzag_128};
use crate::error::{Error, Result};
use crate::source::ByteSource;

/// Most digits of a decimal.
pub const MAX_PRECISION: u8 = 38;
/// Most values of one call of [`DecimalDecoder::append`].
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

/// Factor that brings a value to the type's scale, and the largest value that fits the precision then.
type Step = (i64, i64);
/// Factors by the number of digits that a value's scale is short of the type's; unused ones fit no value.
const STEPS: usize = 32;

/// Decodes the values of one column.
#[derive(Debug, Clone)]
pub struct DecimalDecoder {
    target: DecimalType,
    /// For precisions that 64 bits hold.
    steps: [Step; STEPS],
}

impl DecimalDecoder {
    /// A decoder of values of type `target`.
    pub fn new(target: DecimalType) -> Self {
        let mut steps = [(0, -1); STEPS];
        if usize::from(target.precision) < POWERS {
            let bound = POWERS_OF_TEN.get(usize::from(target.precision)).copied().unwrap_or(1);
            for (step, &power) in steps.iter_mut().zip(&POWERS_OF_TEN) {
                *step = (power, (bound - 1) / power);
            }
        }
        DecimalDecoder { target, steps }
    }

    /// Reads one varint for each of `scales`, at most [`BLOCK`], and appends them in the scale of the type:
    /// finer digits are rounded half away from zero, as Java does.
    ///
    /// # Errors
    /// `Corrupt` when the stream ends, or when a value has more digits than the type allows.
    pub fn append<S: ByteSource>(&self, source: &mut S, scales: &[i64], out: &mut Vec<i128>) -> Result<()> {
        let bytes = source.fill(scales.len() * MAX_LEN_128 + WINDOW + 8)?;
        let mut block = [0; BLOCK];
        let values = block.get_mut(..scales.len()).unwrap_or_default();
        let taken = match read_short(bytes, values).filter(|_| self.scale_all(values, scales)) {
            Some(taken) => {
                out.extend(values.iter().map(|&value| i128::from(value)));
                taken
            }
            None => self.append_any(bytes, scales, out)?,
        };
        source.consume(taken);
        Ok(())
    }

    /// Brings values to the scale of the type; `false` when one does not fit.
    fn scale_all(&self, values: &mut [i64], scales: &[i64]) -> bool {
        let target = i64::from(self.target.scale);
        let mut fit = true;
        for (value, &scale) in values.iter_mut().zip(scales) {
            let index = usize::try_from(target.wrapping_sub(scale)).unwrap_or(STEPS);
            let (factor, most) = self.steps.get(index).copied().unwrap_or((0, -1));
            fit &= value.wrapping_abs() <= most;
            *value = value.wrapping_mul(factor);
        }
        fit
    }

    /// Values of any size and scale; returns the number of bytes taken.
    fn append_any(&self, bytes: &[u8], scales: &[i64], out: &mut Vec<i128>) -> Result<usize> {
        let bound = 10u128.pow(u32::from(self.target.precision));
        let mut at = 0;
        for &scale in scales {
            let (value, taken) = read_u128(bytes.get(at..).unwrap_or_default())?;
            let value = rescale(unzigzag_128(value), scale, self.target.scale)?;
            if value.unsigned_abs() >= bound {
                return Err(Error::corrupt(format!("a decimal has more than {} digits", self.target.precision)));
            }
            out.push(value);
            at += taken;
        }
        Ok(at)
    }
}

/// Fills `out` with varints of at most eight bytes and returns the number of bytes taken; `None` when
/// one is longer, or when the bytes end so early that they must be looked at one by one.
fn read_short(bytes: &[u8], out: &mut [i64]) -> Option<usize> {
    let mut at = 0;
    let mut out = out;
    while !out.is_empty() {
        let window = bytes.get(at..)?.first_chunk::<{ WINDOW + 8 }>()?;
        let ends = ends_of_varints(window);
        let whole = (ends.count_ones() as usize).min(out.len());
        if whole == 0 {
            return None;
        }
        let (now, later) = out.split_at_mut(whole);
        // Short varints have fewer groups to join; how short they are is the same for long stretches.
        let inner = !ends;
        let two = inner & inner >> 1;
        let four = two & two >> 2;
        at += if two == 0 {
            cut_out::<2>(window, ends, now)
        } else if four == 0 {
            cut_out::<4>(window, ends, now)
        } else if four & four >> 4 == 0 {
            cut_out::<8>(window, ends, now)
        } else {
            return None;
        };
        out = later;
    }
    Some(at)
}

/// Fills `out` with the first varints of `window`, of at most `LONGEST` bytes each, which end where `ends`
/// has a bit set; returns the number of bytes taken.
#[inline(always)]
#[expect(clippy::indexing_slicing, reason = "eight bytes from one of the first 64 are within the window")]
fn cut_out<const LONGEST: u32>(window: &[u8; WINDOW + 8], ends: u64, out: &mut [i64]) -> usize {
    let mut ends = ends;
    let mut start = 0u32;
    for to in out {
        let end = ends.trailing_zeros();
        ends &= ends.wrapping_sub(1);
        let word = &window[(start & 63) as usize..][..8];
        let word = u64::from_le_bytes([word[0], word[1], word[2], word[3], word[4], word[5], word[6], word[7]]);
        let word = word & u64::MAX.wrapping_shr(8u32.wrapping_mul(start.wrapping_sub(end + 1)));
        *to = unzigzag(match LONGEST {
            2 => (word & 0x7f) | (word >> 1 & 0x3f80),
            4 => {
                let pairs = (word & 0x007f_007f) | (word >> 1 & 0x3f80_3f80);
                (pairs & 0x3fff) | (pairs >> 2 & 0x0fff_c000)
            }
            _ => join_groups(word),
        });
        start = end + 1;
    }
    start as usize
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

/// `value` · 10^(`to` − `from`), rounded half away from zero.
fn rescale(value: i128, from: i64, to: u8) -> Result<i128> {
    let steps = i64::from(to).saturating_sub(from);
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
            let decoder = DecimalDecoder::new(WIDE);
            let mut out = Vec::new();
            let mut source = &bytes[..];
            decoder.append(&mut source, &scales, &mut out).unwrap();
            prop_assert!(source.is_empty());
            for (i, &(value, s)) in values.iter().enumerate() {
                prop_assert_eq!(out[i], rescale(value, scale(s), 10).unwrap());
            }
            if !values.is_empty() {
                prop_assert!(decoder.append(&mut &bytes[..bytes.len() - 1], &scales, &mut out).is_err());
            }
        }

        #[test]
        fn any_bytes_give_values_or_an_error(bytes: Vec<u8>, scales in prop::collection::vec(any::<i64>(), 0..100)) {
            for target in [WIDE, DecimalType { precision: 18, scale: 3 }] {
                let _ = DecimalDecoder::new(target).append(&mut &bytes[..], &scales, &mut Vec::new());
            }
        }

        #[test]
        fn short_values_agree_with_any(
            values in prop::collection::vec((-(1i64 << 54)..1i64 << 54, 0..8i64, 0..54u32), 0..BLOCK),
        ) {
            let mut bytes = Vec::new();
            values.iter().for_each(|&(value, _, cut)| encode::varint::write_i128((value >> cut).into(), &mut bytes));
            bytes.extend([0; WINDOW + 8]);
            let scales: Vec<i64> = values.iter().map(|&(_, scale, _)| scale).collect();
            let decoder = DecimalDecoder::new(DecimalType { precision: 18, scale: 7 });
            let (mut some, mut any) = (Vec::new(), Vec::new());
            let result = decoder.append(&mut &bytes[..], &scales, &mut some);
            let taken = decoder.append_any(&bytes, &scales, &mut any);
            prop_assert_eq!(result.is_ok(), taken.is_ok());
            if result.is_ok() {
                prop_assert_eq!(some, any);
            }
        }
    }

    #[test]
    fn digits_are_counted() {
        let target = DecimalType { precision: 3, scale: 1 };
        let mut bytes = Vec::new();
        encode::varint::write_i128(99, &mut bytes);
        encode::varint::write_i128(100, &mut bytes);
        let mut out = Vec::new();
        let decoder = DecimalDecoder::new(target);
        decoder.append(&mut &bytes[..], &[0], &mut out).unwrap();
        assert_eq!(out, [990]);
        assert!(decoder.append(&mut &bytes[..], &[0, 0], &mut out).is_err());
        bytes.extend([0; WINDOW + 8]);
        assert!(decoder.append(&mut &bytes[..], &[0, 0], &mut out).is_err());
    }
}
