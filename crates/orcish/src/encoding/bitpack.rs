//! Unpacking of big-endian bit fields (ORCv1, Integer Run Length Encoding, version 2).

use super::cpu::{self, Kernel};
use super::varint::unzigzag;

/// Fields that are unpacked at once: they take whole bytes.
pub(crate) const GROUP: usize = 8;

/// Bytes that `n` fields of `width` bits take.
pub(crate) fn packed_len(n: usize, width: usize) -> usize {
    (n * width).div_ceil(8)
}

/// Unpacks fields of `width` bits from the front of `bytes`; `ZIGZAG` fields are signed. Bytes beyond the last
/// field may be looked at; a field of which bits are missing is anything.
///
/// Widths are those that run length encoding knows: 1 to 24, 26, 28, 30, 32, 40, 48, 56 and 64;
/// others give zeros.
pub fn unpack<const ZIGZAG: bool>(bytes: &[u8], width: usize, out: &mut [i64]) {
    cpu::run(Unpack::<ZIGZAG> { bytes, width, out });
}

struct Unpack<'a, const ZIGZAG: bool> {
    bytes: &'a [u8],
    width: usize,
    out: &'a mut [i64],
}

impl<const ZIGZAG: bool> Kernel for Unpack<'_, ZIGZAG> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Unpack { bytes, width, out } = self;
        macro_rules! widths {
            ($($w:literal)*) => {
                match width {
                    $($w => fields::<$w, ZIGZAG>(bytes, out),)*
                    8 => out.iter_mut().zip(bytes).for_each(|(to, &byte)| *to = signed::<ZIGZAG>(byte.into())),
                    16 => words::<2, ZIGZAG>(bytes, out, |word| u16::from_be_bytes(*word).into()),
                    32 => words::<4, ZIGZAG>(bytes, out, |word| u32::from_be_bytes(*word).into()),
                    64 => words::<8, ZIGZAG>(bytes, out, |word| u64::from_be_bytes(*word)),
                    _ => out.fill(0),
                }
            };
        }
        widths!(1 2 3 4 5 6 7 9 10 11 12 13 14 15 17 18 19 20 21 22 23 24 26 28 30 40 48 56);
    }
}

/// Widest fields of which a word holds a whole group.
pub(crate) const MAX_WIDTH_OF_WORD: usize = 64 / GROUP;

/// Unpacks a group of fields of `width` bits, at least 1 and at most [`MAX_WIDTH_OF_WORD`], from the top of `word`,
/// without a jump.
#[inline(always)]
pub(crate) fn unpack_word<const ZIGZAG: bool>(mut word: u64, width: usize, out: &mut [i64; GROUP]) {
    for to in out {
        *to = signed::<ZIGZAG>(word >> ((64 - width) & 63));
        word <<= width & 63;
    }
}

#[inline(always)]
fn signed<const ZIGZAG: bool>(value: u64) -> i64 {
    if ZIGZAG { unzigzag(value) } else { value.cast_signed() }
}

#[inline(always)]
fn words<const N: usize, const ZIGZAG: bool>(bytes: &[u8], out: &mut [i64], word: impl Fn(&[u8; N]) -> u64) {
    for (to, from) in out.iter_mut().zip(bytes.as_chunks::<N>().0) {
        *to = signed::<ZIGZAG>(word(from));
    }
}

/// Eight fields take `W` bytes; each is cut out of the eight bytes that begin where it does.
#[inline(always)]
fn fields<const W: usize, const ZIGZAG: bool>(bytes: &[u8], out: &mut [i64]) {
    for (i, group) in out.chunks_mut(GROUP).enumerate() {
        match bytes.get(i * W..(i + 1) * W + 8) {
            Some(window) => group_of::<W, ZIGZAG>(window, group),
            None => group_of::<W, ZIGZAG>(&padded(bytes, i * W), group),
        }
    }
}

/// What is left of `bytes` from `at`, with zeros behind it.
#[cold]
fn padded(bytes: &[u8], at: usize) -> [u8; 72] {
    let mut window = [0; 72];
    window.iter_mut().zip(bytes.get(at..).unwrap_or_default()).for_each(|(to, &from)| *to = from);
    window
}

#[inline(always)]
#[expect(clippy::indexing_slicing, reason = "the window is W + 8 bytes at least, the group eight values at most")]
fn group_of<const W: usize, const ZIGZAG: bool>(window: &[u8], group: &mut [i64]) {
    let window = &window[..W + 8];
    let field = |i: usize| {
        let bit = i * W;
        let from = &window[bit / 8..bit / 8 + 8];
        let word = u64::from_be_bytes([from[0], from[1], from[2], from[3], from[4], from[5], from[6], from[7]]);
        signed::<ZIGZAG>(word << (bit % 8) >> (64 - W))
    };
    match <&mut [i64; GROUP]>::try_from(&mut *group) {
        // Unrolled, with all shifts known.
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

    fn bit_by_bit(bytes: &[u8], width: usize, n: usize) -> Vec<i64> {
        let bit = |i: usize| u64::from(bytes[i / 8] >> (7 - i % 8) & 1);
        (0..n).map(|i| (0..width).fold(0, |value, j| value << 1 | bit(i * width + j)).cast_signed()).collect()
    }

    proptest! {
        #[test]
        fn agrees_with_one_bit_at_a_time(
            width in prop::sample::select(&WIDTHS[..]),
            n in 0..70usize,
            spare in 0..20usize,
            seed in prop::collection::vec(any::<u8>(), 70 * 8 + 20),
        ) {
            let bytes = &seed[..packed_len(n, width) + spare];
            let mut out = vec![-1; n];
            unpack::<false>(bytes, width, &mut out);
            let want = bit_by_bit(bytes, width, n);
            prop_assert_eq!(&out, &want);
            unpack::<true>(bytes, width, &mut out);
            let want: Vec<i64> = want.into_iter().map(|v| unzigzag(v.cast_unsigned())).collect();
            prop_assert_eq!(&out, &want);
            if let Some(word) = bytes.first_chunk().filter(|_| width <= MAX_WIDTH_OF_WORD && n <= GROUP) {
                let mut group = [-1; GROUP];
                unpack_word::<true>(u64::from_be_bytes(*word), width, &mut group);
                prop_assert_eq!(&group[..n], want);
            }
        }
    }
}
