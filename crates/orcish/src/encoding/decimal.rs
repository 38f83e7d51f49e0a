//! Decimals (ORCv1, Decimal Columns): zigzag varints without bound, each with a scale of its own.
//!
//! Varints are found eight at a time and more: a mask of the bytes that end one, over 64 bytes, tells
//! where each begins without looking at the one before.

use orcish_core::error::{Error, Result};

use super::cpu::{self, Kernel};
use super::varint::{MAX_LEN_128, read_u128, unzigzag, unzigzag_128};
use crate::source::ByteSource;

/// Most digits of a decimal.
pub const MAX_PRECISION: u8 = 38;
/// Values that are decoded at a time.
const BLOCK: usize = 512;

/// Bytes that one mask covers.
const WINDOW: usize = 64;
/// Powers of ten that 64 bits hold: 10^0 to 10^18.
const POWERS: usize = 19;
/// Places of a table that any five bits lead into.
const FACTORS: usize = 32;

/// Powers of ten, and zeros behind them.
const FACTOR: [i64; FACTORS] = {
    let mut factors = [0; FACTORS];
    let (mut i, mut power) = (0, 1i64);
    #[expect(clippy::indexing_slicing, reason = "evaluated by the compiler")]
    while i < POWERS {
        factors[i] = power;
        power = power.wrapping_mul(10);
        i += 1;
    }
    factors
};

/// Scale and precision that values are brought to.
#[derive(Debug, Clone, Copy)]
pub struct DecimalType {
    /// Most digits, 1 to 38.
    pub precision: u8,
    /// Digits behind the point.
    pub scale: u8,
}

/// Decodes the values of one column.
#[derive(Debug, Clone)]
pub struct DecimalDecoder {
    target: DecimalType,
    /// Values before they are scaled.
    block: Box<[i64; BLOCK]>,
    /// Places of values that do not fit, in what was appended to, if that is no error.
    misfits: Option<Vec<usize>>,
}

impl DecimalDecoder {
    /// A decoder of values of type `target`.
    pub fn new(target: DecimalType) -> Self {
        DecimalDecoder { target, block: Box::new([0; BLOCK]), misfits: None }
    }

    /// With `keeps_going`, values that the type cannot hold are no error: 0 is in their place, and
    /// [`take_misfits`](Self::take_misfits) says where.
    #[must_use]
    pub fn past_misfits(self, keeps_going: bool) -> Self {
        DecimalDecoder { misfits: keeps_going.then(Vec::new), ..self }
    }

    /// Where in what was appended to, since the last time, values do not fit.
    pub fn take_misfits(&mut self) -> Vec<usize> {
        self.misfits.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// Reads one varint for each of `scales` and appends them in the scale of the type: finer digits are rounded
    /// half away from zero, as Java does.
    ///
    /// # Errors
    /// `Corrupt` when the stream ends, or when a value has more digits than the type allows.
    pub fn append<S: ByteSource>(&mut self, source: &mut S, scales: &[i64], out: &mut Vec<i128>) -> Result<()> {
        for scales in scales.chunks(BLOCK) {
            let bytes = source.fill(scales.len() * MAX_LEN_128 + WINDOW + 8)?;
            let values = self.block.get_mut(..scales.len()).unwrap_or_default();
            let taken = match cpu::run(Short { target: self.target, bytes, values, scales, out }) {
                Some(taken) => taken,
                None => append_any(self.target, bytes, scales, out, self.misfits.as_mut())?,
            };
            source.consume(taken);
        }
        Ok(())
    }
}

/// Values that mostly are short: appends all of them and says how many bytes they took, or appends none.
struct Short<'a> {
    target: DecimalType,
    bytes: &'a [u8],
    /// Room for values before they are scaled.
    values: &'a mut [i64],
    scales: &'a [i64],
    out: &'a mut Vec<i128>,
}

impl Kernel for Short<'_> {
    type Output = Option<usize>;

    #[inline(always)]
    fn run(self) -> Option<usize> {
        let (taken, largest) = read_short(self.bytes, self.values)?;
        append_short(self.target, self.values, largest, self.scales, self.out).then_some(taken)
    }
}

/// Appends values, none of which is further from zero than `largest`, in the scale of the type; none when one
/// might not fit.
#[inline(always)]
fn append_short(target: DecimalType, values: &[i64], largest: i64, scales: &[i64], out: &mut Vec<i128>) -> bool {
    let missing = |scale: i64| i64::from(target.scale).wrapping_sub(scale).cast_unsigned();
    // No number of missing digits is more than all of their bits together.
    let most_missing = scales.iter().fold(0, |all, &scale| all | missing(scale));
    let factor = usize::try_from(most_missing).ok().filter(|&most| most < POWERS);
    let factor = factor.and_then(|most| FACTOR.get(most));
    let Some(largest) = factor.and_then(|factor| largest.checked_mul(*factor)) else { return false };
    // More than 18 digits take more than 64 bits.
    let bound = FACTOR.get(usize::from(target.precision)).copied().filter(|&bound| bound > 0);
    let bound = bound.unwrap_or(i64::MAX);
    let from = out.len();
    if most_missing == 0 {
        out.extend(values.iter().map(|&value| i128::from(value)));
    } else {
        out.extend(values.iter().zip(scales).map(|(value, &scale)| {
            #[expect(clippy::indexing_slicing, clippy::cast_possible_truncation, reason = "five bits")]
            let factor = FACTOR[(missing(scale) % FACTORS as u64) as usize];
            i128::from(value.wrapping_mul(factor))
        }));
    }
    // Mostly the bits of all values together prove that each fits.
    let new = out.get(from..).unwrap_or_default();
    let fit = largest < bound || new.iter().all(|value| value.unsigned_abs() < bound.unsigned_abs().into());
    if !fit {
        out.truncate(from);
    }
    fit
}

/// Values of any size and scale; returns the number of bytes taken.
fn append_any(
    target: DecimalType,
    bytes: &[u8],
    scales: &[i64],
    out: &mut Vec<i128>,
    mut misfits: Option<&mut Vec<usize>>,
) -> Result<usize> {
    let bound = 10u128.pow(u32::from(target.precision));
    let mut at = 0;
    for &scale in scales {
        let (value, taken) = read_u128(bytes.get(at..).unwrap_or_default())?;
        let value = rescale(unzigzag_128(value), scale, target.scale);
        let value = value.and_then(|value| match value.unsigned_abs() < bound {
            true => Ok(value),
            false => Err(too_many_digits(target)),
        });
        out.push(match (value, &mut misfits) {
            (Err(_), Some(misfits)) => {
                misfits.push(out.len());
                0
            }
            (value, _) => value?,
        });
        at += taken;
    }
    Ok(at)
}

/// The error of a value of more digits than its type has.
pub(crate) fn too_many_digits(target: DecimalType) -> Error {
    Error::corrupt(format!("a decimal has more than {} digits", target.precision))
}

/// Fills `out` with varints of at most eight bytes; returns the number of bytes taken, and a number that no value
/// is further from zero than. `None` when one is longer, or when the bytes end so early that they must be looked
/// at one by one.
#[inline(always)]
fn read_short(bytes: &[u8], out: &mut [i64]) -> Option<(usize, i64)> {
    let (mut at, mut all) = (0, 0);
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
        let (taken, bits) = if two == 0 {
            cut_out::<2>(window, ends, now)
        } else if four == 0 {
            cut_out::<4>(window, ends, now)
        } else if four & four >> 4 == 0 {
            cut_out::<8>(window, ends, now)
        } else {
            return None;
        };
        at += taken;
        all |= bits;
        out = later;
    }
    // Eight groups of seven bits, halved.
    Some((at, (all >> 1).cast_signed() + 1))
}

/// Fills `out` with the first varints of `window`, of at most `LONGEST` bytes each, which end where `ends`
/// has a bit set; returns the number of bytes taken, and the bits that are set in any of them.
#[inline(always)]
#[expect(clippy::indexing_slicing, reason = "eight bytes from one of the first 64 are within the window")]
fn cut_out<const LONGEST: u32>(window: &[u8; WINDOW + 8], ends: u64, out: &mut [i64]) -> (usize, u64) {
    let mut ends = ends;
    let (mut start, mut all) = (0u32, 0);
    for to in out {
        let rest = &window[(start & 63) as usize..];
        let bits = match LONGEST {
            2 => {
                let word = first_varint(rest.first_chunk().map_or(0, |&bytes| u16::from_le_bytes(bytes)).into());
                (word & 0x7f) | (word >> 1 & 0x3f80)
            }
            4 => {
                let word = first_varint(rest.first_chunk().map_or(0, |&bytes| u32::from_le_bytes(bytes)).into());
                let pairs = (word & 0x007f_007f) | (word >> 1 & 0x3f80_3f80);
                (pairs & 0x3fff) | (pairs >> 2 & 0x0fff_c000)
            }
            _ => join_groups(first_varint(rest.first_chunk().map_or(0, |&bytes| u64::from_le_bytes(bytes)))),
        };
        all |= bits;
        *to = unzigzag(bits);
        start = ends.trailing_zeros() + 1;
        ends &= ends.wrapping_sub(1);
    }
    (start as usize, all)
}

/// The bytes up to the first whose high bit is not set.
#[inline(always)]
fn first_varint(word: u64) -> u64 {
    let ends = !word & 0x8080_8080_8080_8080;
    word & (ends ^ ends.wrapping_sub(1))
}

/// Bit `i` is set when byte `i` ends a varint, for the first 64 bytes.
#[inline(always)]
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
#[inline(always)]
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
        prop::collection::vec((value, scale), 0..2 * BLOCK)
    }

    proptest! {
        #[test]
        fn reads_what_was_encoded(values in values(), regular: bool) {
            let mut bytes = Vec::new();
            let scale = |scale: i64| if regular { scale.min(10) } else { scale };
            values.iter().for_each(|&(value, _)| encode::varint::write_i128(value, &mut bytes));
            let scales: Vec<i64> = values.iter().map(|&(_, s)| scale(s)).collect();
            let mut decoder = DecimalDecoder::new(WIDE);
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
            let mut decoder = DecimalDecoder::new(DecimalType { precision: 18, scale: 7 });
            let (mut some, mut any) = (Vec::new(), Vec::new());
            let result = decoder.append(&mut &bytes[..], &scales, &mut some);
            let taken = append_any(decoder.target, &bytes, &scales, &mut any, None);
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
        let mut decoder = DecimalDecoder::new(target);
        decoder.append(&mut &bytes[..], &[0], &mut out).unwrap();
        assert_eq!(out, [990]);
        assert!(decoder.append(&mut &bytes[..], &[0, 0], &mut out).is_err());
        bytes.extend([0; WINDOW + 8]);
        assert!(decoder.append(&mut &bytes[..], &[0, 0], &mut out).is_err());
    }
}
