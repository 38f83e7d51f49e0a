//! Decimals (ORCv1, Decimal Columns): unbounded zigzag varints. Each value has its own scale.
//!
//! The fast path decodes the varints of a 64-byte window together. A bit mask of the last bytes of the varints gives the
//! start of each varint without decoding the varint before it.

use orcish_core::OrInternal as _;
use orcish_core::error::{Error, Result};

use super::cpu::{self, InstructionSet, Kernel};
use super::varint::{MAX_LEN_128, read_u128, unzigzag, unzigzag_128};
use crate::source::ByteSource;

/// Maximum precision of a decimal.
pub const MAX_PRECISION: u8 = 38;
/// Values that are decoded at a time.
const BLOCK: usize = 512;

/// Bytes of a window, of which a mask has one bit each.
const WINDOW: usize = 64;
/// Number of powers of ten that fit into 64 bits: 10^0 to 10^18.
const POWERS_OF_TEN: usize = 19;
/// Length of the table of factors. Any five bits are an index of the table.
const FACTOR_TABLE_LEN: usize = 32;

/// Powers of ten, followed by zeros.
const FACTOR: [i64; FACTOR_TABLE_LEN] = {
    let mut factors = [0; FACTOR_TABLE_LEN];
    let (mut i, mut power) = (0, 1i64);
    #[expect(clippy::indexing_slicing, reason = "evaluated by the compiler")]
    while i < POWERS_OF_TEN {
        factors[i] = power;
        power = power.wrapping_mul(10);
        i += 1;
    }
    factors
};

/// Precision and scale of the decoded values.
#[derive(Debug, Clone, Copy)]
pub struct DecimalType {
    /// Maximum number of digits, 1 to 38.
    pub precision: u8,
    /// Number of digits behind the decimal point.
    pub scale: u8,
}

/// Decodes the values of a column.
#[derive(Debug, Clone)]
pub struct DecimalDecoder {
    target: DecimalType,
    /// Buffer of values before rescaling.
    block: Box<[i64; BLOCK]>,
    /// Indexes of values that overflow the type in the output; `None` where an overflow is an error.
    overflows: Option<Vec<usize>>,
}

impl DecimalDecoder {
    /// A decoder of values of type `target`.
    pub fn new(target: DecimalType) -> Self {
        DecimalDecoder { target, block: Box::new([0; BLOCK]), overflows: None }
    }

    /// Sets whether values that overflow the type are recorded instead of being an error. The output has 0 for such a
    /// value, and [`take_overflows`](Self::take_overflows) returns the index of the value.
    #[must_use]
    pub fn record_overflows(self, record: bool) -> Self {
        DecimalDecoder { overflows: record.then(Vec::new), ..self }
    }

    /// Indexes, in the output, of the values that overflowed since the last call.
    pub fn take_overflows(&mut self) -> Vec<usize> {
        match &mut self.overflows {
            Some(overflows) => std::mem::take(overflows),
            None => Vec::new(),
        }
    }

    /// Reads a varint for each of `scales`, and appends it in the scale of the type. Values with a greater scale are
    /// rounded half away from zero, as in Java.
    ///
    /// # Errors
    /// `Corrupt` where the stream ends early, or a value has more digits than the type allows.
    pub fn append<S: ByteSource>(&mut self, source: &mut S, scales: &[i64], out: &mut Vec<i128>) -> Result<()> {
        for scales in scales.chunks(BLOCK) {
            let bytes = source.fill(scales.len() * MAX_LEN_128 + WINDOW + 8)?;
            let values = self.block.get_mut(..scales.len()).or_internal("a block has more scales than values")?;
            let taken = match cpu::run(ShortVarints { target: self.target, bytes, values, scales, out }) {
                Some(taken) => taken,
                None => match append_general(self.target, bytes, scales, out, self.overflows.as_mut()) {
                    Ok(taken) => taken,
                    Err(error) => return Err(source.fault().unwrap_or(error)),
                },
            };
            source.consume(taken);
        }
        Ok(())
    }
}

/// The fast path: appends all values and returns the number of bytes, or appends nothing and returns `None` where a value
/// needs the general path.
struct ShortVarints<'a> {
    target: DecimalType,
    bytes: &'a [u8],
    /// Buffer of values before rescaling.
    values: &'a mut [i64],
    scales: &'a [i64],
    out: &'a mut Vec<i128>,
}

impl Kernel for ShortVarints<'_> {
    type Output = Option<usize>;

    #[inline(always)]
    fn run(self, instructions: impl InstructionSet) -> Option<usize> {
        let (taken, largest) = read_short_varints(instructions, self.bytes, self.values)?;
        append_scaled(self.target, self.values, largest, self.scales, self.out).then_some(taken)
    }
}

/// Appends values in the scale of the type; returns `false` and appends nothing where a value may overflow the type.
/// No value has a magnitude above `max_magnitude`.
#[inline(always)]
fn append_scaled(target: DecimalType, values: &[i64], max_magnitude: i64, scales: &[i64], out: &mut Vec<i128>) -> bool {
    let exponent = |scale: i64| i64::from(target.scale).wrapping_sub(scale).cast_unsigned();
    // The bitwise or of the exponents is an upper bound of each exponent.
    let max_exponent = scales.iter().fold(0, |bits, &scale| bits | exponent(scale));
    let factor = usize::try_from(max_exponent).ok().filter(|&max| max < POWERS_OF_TEN);
    let factor = factor.and_then(|max| FACTOR.get(max));
    let Some(max_magnitude) = factor.and_then(|factor| max_magnitude.checked_mul(*factor)) else { return false };
    // Numbers of more than 18 digits may take more than 64 bits.
    let bound = FACTOR.get(usize::from(target.precision)).copied().filter(|&bound| bound > 0);
    let bound = bound.unwrap_or(i64::MAX);
    let start = out.len();
    if max_exponent == 0 {
        out.extend(values.iter().map(|&value| i128::from(value)));
    } else {
        out.extend(values.iter().zip(scales).map(|(value, &scale)| {
            #[expect(clippy::indexing_slicing, clippy::cast_possible_truncation, reason = "five bits")]
            let factor = FACTOR[(exponent(scale) % FACTOR_TABLE_LEN as u64) as usize];
            i128::from(value.wrapping_mul(factor))
        }));
    }
    // The bound of all magnitudes usually makes the check of each value unnecessary.
    let (_, new) = out.split_at(start);
    let fits = max_magnitude < bound || new.iter().all(|value| value.unsigned_abs() < bound.unsigned_abs().into());
    if !fits {
        out.truncate(start);
    }
    fits
}

/// The general path: appends values of any size and scale, and returns the number of bytes.
fn append_general(
    target: DecimalType,
    bytes: &[u8],
    scales: &[i64],
    out: &mut Vec<i128>,
    mut overflows: Option<&mut Vec<usize>>,
) -> Result<usize> {
    let bound = 10u128.pow(u32::from(target.precision));
    let mut rest = bytes;
    for &scale in scales {
        let value = rescale(unzigzag_128(read_u128(&mut rest)?), scale, target.scale);
        let value =
            value.and_then(|value| if value.unsigned_abs() < bound { Ok(value) } else { Err(too_many_digits(target)) });
        out.push(match (value, &mut overflows) {
            (Err(_), Some(overflows)) => {
                overflows.push(out.len());
                0
            }
            (value, _) => value?,
        });
    }
    Ok(bytes.len() - rest.len())
}

/// The error for a value with more digits than the precision of its type.
pub(crate) fn too_many_digits(target: DecimalType) -> Error {
    Error::corrupt(format!("a decimal has more than {} digits", target.precision))
}

/// Fills `out` with varints of at most eight bytes; returns the number of bytes and an upper bound of the magnitudes.
/// `None` where a varint is longer, or fewer bytes than a window are left.
#[inline(always)]
fn read_short_varints(instructions: impl InstructionSet, bytes: &[u8], out: &mut [i64]) -> Option<(usize, i64)> {
    let (mut at, mut all_bits) = (0, 0);
    let mut out = out;
    while !out.is_empty() {
        let window = bytes.get(at..)?.first_chunk::<{ WINDOW + 8 }>()?;
        // The last byte of a varint is the one without a high bit.
        let ends = !instructions.high_bits(window.first_chunk()?);
        let complete = (ends.count_ones() as usize).min(out.len());
        if complete == 0 {
            return None;
        }
        let (head, tail) = out.split_at_mut(complete);
        // The loops for short varints join fewer 7-bit groups. The branches are predictable, as the length of the varints
        // of a column rarely changes.
        let continues = !ends;
        let two = continues & continues >> 1;
        let four = two & two >> 2;
        let (taken, bits) = if continues == 0 {
            extract_single_bytes(window, head)
        } else if four == 0 {
            extract_up_to_4_bytes(window, ends, head)
        } else if four & four >> 4 == 0 {
            extract_up_to_8_bytes(window, ends, head)
        } else {
            return None;
        };
        at += taken;
        all_bits |= bits;
        out = tail;
    }
    // The bits are at most eight groups of seven bits. Zigzag decoding halves a value.
    Some((at, (all_bits >> 1).cast_signed() + 1))
}

/// Fills `out` with the first varints of `window`, of one byte each. Returns the number of bytes, and the bitwise or of the
/// varints.
#[inline(always)]
fn extract_single_bytes(window: &[u8; WINDOW + 8], out: &mut [i64]) -> (usize, u64) {
    let mut all_bits = 0;
    for (to, &byte) in out.iter_mut().zip(window) {
        all_bits |= byte;
        *to = unzigzag(byte.into());
    }
    (out.len(), all_bits.into())
}

/// Fills `out` with the first varints of `window`, of at most four bytes each. `ends` has a bit set for the last byte of each
/// varint. Returns the number of bytes, and the bitwise or of the varints.
#[inline(always)]
fn extract_up_to_4_bytes(window: &[u8; WINDOW + 8], ends: u64, out: &mut [i64]) -> (usize, u64) {
    let mut words = [0; WINDOW];
    let taken = split_varints(window, ends, words.iter_mut().take(out.len()), u32::from_le_bytes);
    let mut all_bits = 0;
    // This loop is vectorized.
    for (to, &word) in out.iter_mut().zip(&words) {
        // The bytes behind the varint are cleared: the first byte without a high bit ends it.
        let end = !word & 0x8080_8080;
        let word = word & (end ^ end.wrapping_sub(1));
        let pairs = (word & 0x007f_007f) | (word >> 1 & 0x3f80_3f80);
        let bits = (pairs & 0x3fff) | (pairs >> 2 & 0x0fff_c000);
        all_bits |= bits;
        *to = ((bits >> 1).cast_signed() ^ -(bits & 1).cast_signed()).into();
    }
    (taken, all_bits.into())
}

/// As [`extract_up_to_4_bytes`], for varints of at most eight bytes.
#[inline(always)]
fn extract_up_to_8_bytes(window: &[u8; WINDOW + 8], ends: u64, out: &mut [i64]) -> (usize, u64) {
    let mut words = [0; WINDOW];
    let taken = split_varints(window, ends, words.iter_mut().take(out.len()), u64::from_le_bytes);
    let mut all_bits = 0;
    for (to, &word) in out.iter_mut().zip(&words) {
        let end = !word & 0x8080_8080_8080_8080;
        let bits = join_7_bit_groups(word & (end ^ end.wrapping_sub(1)));
        all_bits |= bits;
        *to = unzigzag(bits);
    }
    (taken, all_bits)
}

/// Sets `words` to the bytes from the first byte of each varint on. Returns the number of bytes of the varints.
#[inline(always)]
#[expect(clippy::indexing_slicing, reason = "the window has eight bytes behind each of the first 64")]
fn split_varints<'a, const N: usize, W: 'a>(
    window: &[u8; WINDOW + 8],
    ends: u64,
    words: impl Iterator<Item = &'a mut W>,
    from_le_bytes: impl Fn([u8; N]) -> W,
) -> usize {
    let (mut ends, mut start) = (ends, 0u32);
    for to in words {
        let rest = &window[(start & 63) as usize..];
        *to = from_le_bytes(rest.first_chunk().copied().unwrap_or([0; N]));
        start = ends.trailing_zeros() + 1;
        ends &= ends.wrapping_sub(1);
    }
    start as usize
}

/// Joins the 7-bit groups of eight bytes. The first byte has the lowest bits.
#[inline(always)]
fn join_7_bit_groups(word: u64) -> u64 {
    let pairs = (word & 0x007f_007f_007f_007f) | ((word & 0x7f00_7f00_7f00_7f00) >> 1);
    let quads = (pairs & 0x0000_3fff_0000_3fff) | ((pairs & 0x3fff_0000_3fff_0000) >> 2);
    (quads & 0x0fff_ffff) | ((quads >> 32) << 28)
}

/// Changes the scale of `value`: `value` · 10^(`to` − `from`), rounded half away from zero.
fn rescale(value: i128, from: i64, to: u8) -> Result<i128> {
    let exponent = i64::from(to).saturating_sub(from);
    let power = u32::try_from(exponent.unsigned_abs()).ok().and_then(|exponent| 10i128.checked_pow(exponent));
    let result = match power {
        _ if value == 0 => Some(0),
        Some(power) if exponent >= 0 => value.checked_mul(power),
        Some(power) => {
            let half =
                i128::from(value % power >= power - power / 2) - i128::from(-(value % power) >= power - power / 2);
            Some(value / power + half)
        }
        // The removed digits are more than a value has.
        None if exponent < 0 => Some(0),
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
        fn decodes_encoded_values(values in values(), regular: bool) {
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
        fn fast_path_agrees_with_general_path(
            values in prop::collection::vec((-(1i64 << 54)..1i64 << 54, 0..8i64, 0..54u32), 0..BLOCK),
        ) {
            let mut bytes = Vec::new();
            values.iter().for_each(|&(value, _, cut)| encode::varint::write_i128((value >> cut).into(), &mut bytes));
            bytes.extend([0; WINDOW + 8]);
            let scales: Vec<i64> = values.iter().map(|&(_, scale, _)| scale).collect();
            let mut decoder = DecimalDecoder::new(DecimalType { precision: 18, scale: 7 });
            let (mut fast, mut general) = (Vec::new(), Vec::new());
            let result = decoder.append(&mut &bytes[..], &scales, &mut fast);
            let taken = append_general(decoder.target, &bytes, &scales, &mut general, None);
            prop_assert_eq!(result.is_ok(), taken.is_ok());
            if result.is_ok() {
                prop_assert_eq!(fast, general);
            }
        }
    }

    #[test]
    fn values_beyond_the_precision_are_errors() {
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
