//! Unpacking of big-endian bit-packed values (ORCv1, Integer Run Length Encoding, version 2).

use orcish_core::error::{Error, Result};

use super::cpu::{self, InstructionSet, Kernel};
use super::varint::unzigzag;

/// Values that are unpacked together. A group is a whole number of bytes at any width.
pub(crate) const GROUP: usize = 8;

/// Bytes of `n` values of `width` bits each.
pub(crate) fn packed_len(n: usize, width: usize) -> usize {
    (n * width).div_ceil(8)
}

/// Unpacks values of `width` bits from the front of `bytes`, and decodes zigzag if `ZIGZAG` is set.
///
/// `width` is a width of integer run length encoding version 2: 1 to 24, 26, 28, 30, 32, 40, 48, 56 or 64. Bytes behind the
/// last value may be read. Where `bytes` is too short, the missing values are unspecified.
///
/// # Errors
/// `Internal` for other widths.
pub fn unpack<const ZIGZAG: bool>(bytes: &[u8], width: usize, out: &mut [i64]) -> Result<()> {
    cpu::run(Unpack::<ZIGZAG> { bytes, width, out })
}

struct Unpack<'a, const ZIGZAG: bool> {
    bytes: &'a [u8],
    width: usize,
    out: &'a mut [i64],
}

impl<const ZIGZAG: bool> Kernel for Unpack<'_, ZIGZAG> {
    type Output = Result<()>;

    #[inline(always)]
    fn run(self, _instructions: impl InstructionSet) -> Result<()> {
        let Unpack { bytes, width, out } = self;
        macro_rules! widths {
            ($($w:literal)*) => {
                match width {
                    $($w => unpack_fields::<$w, ZIGZAG>(bytes, out),)*
                    8 => out.iter_mut().zip(bytes).for_each(|(to, &byte)| *to = to_i64::<ZIGZAG>(byte.into())),
                    16 => unpack_words::<2, ZIGZAG>(bytes, out, |word| u16::from_be_bytes(*word).into()),
                    32 => unpack_words::<4, ZIGZAG>(bytes, out, |word| u32::from_be_bytes(*word).into()),
                    64 => unpack_words::<8, ZIGZAG>(bytes, out, |word| u64::from_be_bytes(*word)),
                    _ => return Err(Error::internal(format!("no values are packed into {width} bits"))),
                }
            };
        }
        widths!(1 2 3 4 5 6 7 9 10 11 12 13 14 15 17 18 19 20 21 22 23 24 26 28 30 40 48 56);
        Ok(())
    }
}

/// Greatest width of which a group fits into a 64-bit word.
pub(crate) const MAX_WORD_WIDTH: usize = 64 / GROUP;

/// Unpacks a group of values of `width` bits from the highest bits of `word`, without branches.
///
/// `width` is 1 to [`MAX_WORD_WIDTH`].
#[inline(always)]
pub(crate) fn unpack_word<const ZIGZAG: bool>(mut word: u64, width: usize, out: &mut [i64; GROUP]) {
    for to in out {
        *to = to_i64::<ZIGZAG>(word >> ((64 - width) & 63));
        word <<= width & 63;
    }
}

#[inline(always)]
fn to_i64<const ZIGZAG: bool>(value: u64) -> i64 {
    if ZIGZAG { unzigzag(value) } else { value.cast_signed() }
}

#[inline(always)]
fn unpack_words<const N: usize, const ZIGZAG: bool>(bytes: &[u8], out: &mut [i64], word: impl Fn(&[u8; N]) -> u64) {
    for (to, from) in out.iter_mut().zip(bytes.as_chunks::<N>().0) {
        *to = to_i64::<ZIGZAG>(word(from));
    }
}

/// Unpacks groups of eight values, which take `W` bytes each. A value is extracted from the eight bytes that begin with
/// the first byte of the value.
#[inline(always)]
fn unpack_fields<const W: usize, const ZIGZAG: bool>(bytes: &[u8], out: &mut [i64]) {
    for (i, group) in out.chunks_mut(GROUP).enumerate() {
        match bytes.get(i * W..(i + 1) * W + 8) {
            Some(window) => unpack_group::<W, ZIGZAG>(window, group),
            None => unpack_group::<W, ZIGZAG>(&zero_padded(bytes, i * W), group),
        }
    }
}

/// The bytes from index `at` on, followed by zeros.
#[cold]
fn zero_padded(bytes: &[u8], at: usize) -> [u8; 72] {
    let mut window = [0; 72];
    window.iter_mut().zip(bytes.iter().skip(at)).for_each(|(to, &from)| *to = from);
    window
}

#[inline(always)]
#[expect(clippy::indexing_slicing, reason = "the window has at least W + 8 bytes, the group at most eight values")]
fn unpack_group<const W: usize, const ZIGZAG: bool>(window: &[u8], group: &mut [i64]) {
    let window = &window[..W + 8];
    let field = |i: usize| {
        let bit = i * W;
        let from = &window[bit / 8..bit / 8 + 8];
        let word = u64::from_be_bytes([from[0], from[1], from[2], from[3], from[4], from[5], from[6], from[7]]);
        to_i64::<ZIGZAG>(word << (bit % 8) >> (64 - W))
    };
    match <&mut [i64; GROUP]>::try_from(&mut *group) {
        // Unrolled: all shifts are constants.
        Ok(group) => *group = [field(0), field(1), field(2), field(3), field(4), field(5), field(6), field(7)],
        Err(_) => group.iter_mut().enumerate().for_each(|(i, to)| *to = field(i)),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const WIDTHS: [usize; 32] = [
        1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 26, 28, 30, 32, 40, 48,
        56, 64,
    ];

    fn unpack_bits(bytes: &[u8], width: usize, n: usize) -> Vec<i64> {
        let bit = |i: usize| u64::from(bytes[i / 8] >> (7 - i % 8) & 1);
        (0..n).map(|i| (0..width).fold(0, |value, j| value << 1 | bit(i * width + j)).cast_signed()).collect()
    }

    proptest! {
        #[test]
        fn unpacks_the_same_values_as_bit_by_bit(
            width in prop::sample::select(&WIDTHS[..]),
            n in 0..70usize,
            trailing in 0..20usize,
            seed in prop::collection::vec(any::<u8>(), 70 * 8 + 20),
        ) {
            let bytes = &seed[..packed_len(n, width) + trailing];
            let mut out = vec![-1; n];
            unpack::<false>(bytes, width, &mut out).unwrap();
            let want = unpack_bits(bytes, width, n);
            prop_assert_eq!(&out, &want);
            unpack::<true>(bytes, width, &mut out).unwrap();
            let want: Vec<i64> = want.into_iter().map(|v| unzigzag(v.cast_unsigned())).collect();
            prop_assert_eq!(&out, &want);
            if let Some(word) = bytes.first_chunk().filter(|_| width <= MAX_WORD_WIDTH && n <= GROUP) {
                let mut group = [-1; GROUP];
                unpack_word::<true>(u64::from_be_bytes(*word), width, &mut group);
                prop_assert_eq!(&group[..n], want);
            }
        }
    }
}
