//! Kernels and the operations of an instruction set, and the baseline of the architecture.

use crate::encoding::varint::unzigzag;

/// A function that is compiled for several instruction sets.
pub(crate) trait Kernel {
    type Output;
    /// Runs the kernel. Implementations, and the functions whose time matters, are `#[inline(always)]`: functions that are not
    /// inlined are compiled for the baseline only.
    fn run(self, instructions: impl InstructionSet) -> Self::Output;
}

/// Values that [`InstructionSet::unpack_word`] unpacks.
pub(crate) const UNPACKED: usize = 12;

/// Values that [`InstructionSet::equal`] and [`InstructionSet::less`] compare.
pub(crate) const COMPARED: usize = 64;

/// Operations for which the compiler does not reliably find the instructions of a set.
pub(crate) trait InstructionSet: Copy {
    /// Unpacks values of `64 - shift` bits from the highest bits of `word`, each `step` bits behind the one before, and decodes
    /// zigzag if `ZIGZAG` is set. `shift` is at most 63. Values that are not in the word as a whole are unspecified.
    fn unpack_word<const ZIGZAG: bool>(self, word: u64, step: u8, shift: u8, out: &mut [i64; UNPACKED]);

    /// The high bit of each byte. The first byte has the lowest bit.
    fn high_bits(self, bytes: &[u8; 64]) -> u64;

    /// Whether each value is equal to the other value at its position. The first has the lowest bit.
    fn equal(self, values: &[i64; COMPARED], others: &[i64; COMPARED]) -> u64;

    /// Whether each value is less than the other value at its position. The first has the lowest bit.
    fn less(self, values: &[i64; COMPARED], others: &[i64; COMPARED]) -> u64;
}

/// The baseline of the architecture.
#[derive(Clone, Copy)]
pub(crate) struct Baseline;

impl InstructionSet for Baseline {
    #[inline(always)]
    fn unpack_word<const ZIGZAG: bool>(self, word: u64, step: u8, shift: u8, out: &mut [i64; UNPACKED]) {
        let mut word = word;
        for to in out {
            let value = word >> (shift & 63);
            *to = if ZIGZAG { unzigzag(value) } else { value.cast_signed() };
            word = word.unbounded_shl(step.into());
        }
    }

    #[inline(always)]
    fn high_bits(self, bytes: &[u8; 64]) -> u64 {
        let mut bits = 0;
        for (i, word) in bytes.as_chunks::<8>().0.iter().enumerate() {
            let high_bits = u64::from_le_bytes(*word) & 0x8080_8080_8080_8080;
            // The multiplication moves the eight high bits into the highest byte.
            let mask = (high_bits >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56;
            bits |= mask << (8 * i);
        }
        bits
    }

    #[inline(always)]
    fn equal(self, values: &[i64; COMPARED], others: &[i64; COMPARED]) -> u64 {
        compare(values, others, |value, other| value == other)
    }

    #[inline(always)]
    fn less(self, values: &[i64; COMPARED], others: &[i64; COMPARED]) -> u64 {
        compare(values, others, |value, other| value < other)
    }
}

/// A bit for each pair of values.
#[inline(always)]
fn compare(values: &[i64; COMPARED], others: &[i64; COMPARED], is_set: impl Fn(i64, i64) -> bool) -> u64 {
    let pairs = values.iter().zip(others).enumerate();
    pairs.fold(0, |bits, (at, (&value, &other))| bits | u64::from(is_set(value, other)) << at)
}
