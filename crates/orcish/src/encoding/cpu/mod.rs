//! Kernels that are compiled twice: for the baseline of the architecture, and for AVX2 and BMI.

#[cfg(target_arch = "x86_64")]
mod avx2;
mod instructions;

#[cfg(target_arch = "x86_64")]
use once_cell::race::OnceBool;

pub(crate) use instructions::{Baseline, COMPARED, InstructionSet, Kernel, UNPACKED};

/// Runs a kernel, with AVX2 and BMI if the processor supports them.
#[inline]
#[cfg_attr(
    target_arch = "x86_64",
    expect(unsafe_code, reason = "bit unpacking takes half the time, decoding of decimals two thirds")
)]
pub(crate) fn run<K: Kernel>(kernel: K) -> K::Output {
    #[cfg(target_arch = "x86_64")]
    if HAS_AVX2_AND_BMI.get_or_init(avx2::is_supported) {
        // SAFETY: the processor supports all features that the function is compiled for.
        return unsafe { avx2::run(kernel) };
    }
    kernel.run(Baseline)
}

#[cfg(target_arch = "x86_64")]
static HAS_AVX2_AND_BMI: OnceBool = OnceBool::new();

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    /// All operations, of which the results are compared.
    struct Operations<'a> {
        word: u64,
        step: u8,
        shift: u8,
        bytes: &'a [u8; 64],
        values: &'a [i64; COMPARED],
        others: &'a [i64; COMPARED],
    }

    impl Kernel for Operations<'_> {
        type Output = ([i64; UNPACKED], [i64; UNPACKED], u64, u64, u64);

        #[inline(always)]
        fn run(self, instructions: impl InstructionSet) -> Self::Output {
            let Operations { word, step, shift, bytes, values, others } = self;
            let (mut signed, mut unsigned) = ([0; UNPACKED], [0; UNPACKED]);
            instructions.unpack_word::<true>(word, step, shift, &mut signed);
            instructions.unpack_word::<false>(word, step, shift, &mut unsigned);
            let (equal, less) = (instructions.equal(values, others), instructions.less(values, others));
            (signed, unsigned, instructions.high_bits(bytes), equal, less)
        }
    }

    proptest! {
        #[test]
        fn instruction_sets_agree(
            word: u64,
            width in 1..=64u8,
            is_repeat: bool,
            seed: [u8; 32],
            values in vec(prop_oneof![-2..3i64, any::<i64>()], 2 * COMPARED),
        ) {
            let bytes = &[seed, seed.map(|byte| byte.wrapping_mul(3))].concat().try_into().unwrap();
            let (step, shift) = (if is_repeat { 0 } else { width }, 64 - width);
            let (values, others) = values.split_at(COMPARED);
            let (values, others) = (values.try_into().unwrap(), others.try_into().unwrap());
            let operations = || Operations { word, step, shift, bytes, values, others };
            let (signed, unsigned, high_bits, equal, less) = run(operations());
            let (want_signed, want_unsigned, want_high_bits, want_equal, want_less) = operations().run(Baseline);
            let count = if is_repeat { UNPACKED } else { UNPACKED.min(usize::from(64 / width)) };
            prop_assert_eq!(&signed[..count], &want_signed[..count]);
            prop_assert_eq!(&unsigned[..count], &want_unsigned[..count]);
            prop_assert_eq!((high_bits, equal, less), (want_high_bits, want_equal, want_less));
            for (i, byte) in bytes.iter().enumerate() {
                prop_assert_eq!(high_bits >> i & 1, u64::from(byte >> 7));
                prop_assert_eq!(equal >> i & 1 == 1, values[i] == others[i]);
                prop_assert_eq!(less >> i & 1 == 1, values[i] < others[i]);
            }
        }
    }
}
