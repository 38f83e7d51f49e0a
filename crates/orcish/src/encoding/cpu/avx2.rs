//! AVX2 and BMI.

use std::arch::x86_64::{
    __m256i, _mm_cvtsi32_si128, _mm256_and_si256, _mm256_castsi256_pd, _mm256_cmpeq_epi64, _mm256_cmpgt_epi64,
    _mm256_loadu_si256, _mm256_movemask_epi8, _mm256_movemask_pd, _mm256_mul_epu32, _mm256_set1_epi64x,
    _mm256_setr_epi64x, _mm256_setzero_si256, _mm256_sllv_epi64, _mm256_srl_epi64, _mm256_srli_epi64,
    _mm256_storeu_si256, _mm256_sub_epi64, _mm256_xor_si256,
};

use super::instructions::{COMPARED, InstructionSet, Kernel, UNPACKED};

/// The instruction set. Only [`run`] makes a value, so that there is none where the processor does not support it.
#[derive(Clone, Copy)]
struct Avx2(());

/// Whether the processor supports the instruction set.
pub(super) fn is_supported() -> bool {
    is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("bmi1")
        && is_x86_feature_detected!("bmi2")
        && is_x86_feature_detected!("lzcnt")
        && is_x86_feature_detected!("popcnt")
}

/// Runs a kernel that is compiled for the instruction set.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn run<K: Kernel>(kernel: K) -> K::Output {
    kernel.run(Avx2(()))
}

#[expect(unsafe_code, reason = "only the type tells that the processor supports the instructions")]
impl InstructionSet for Avx2 {
    #[inline(always)]
    fn unpack_word<const ZIGZAG: bool>(self, word: u64, step: u8, shift: u8, out: &mut [i64; UNPACKED]) {
        // SAFETY: the processor supports AVX2, because there is a value of this type.
        unsafe { unpack_word::<ZIGZAG>(word, step, shift, out) }
    }

    #[inline(always)]
    fn high_bits(self, bytes: &[u8; 64]) -> u64 {
        // SAFETY: the processor supports AVX2, because there is a value of this type.
        unsafe { high_bits(bytes) }
    }

    #[inline(always)]
    fn equal(self, values: &[i64; COMPARED], others: &[i64; COMPARED]) -> u64 {
        // SAFETY: the processor supports AVX2, because there is a value of this type.
        unsafe { compare::<true>(values, others) }
    }

    #[inline(always)]
    fn less(self, values: &[i64; COMPARED], others: &[i64; COMPARED]) -> u64 {
        // SAFETY: the processor supports AVX2, because there is a value of this type.
        unsafe { compare::<false>(values, others) }
    }
}

#[target_feature(enable = "avx2")]
#[inline]
#[expect(unsafe_code, reason = "vectors are stored through pointers")]
fn unpack_word<const ZIGZAG: bool>(word: u64, step: u8, shift: u8, out: &mut [i64; UNPACKED]) {
    let words = _mm256_set1_epi64x(word.cast_signed());
    let steps = _mm256_set1_epi64x(step.into());
    let shift = _mm_cvtsi32_si128(shift.into());
    let (vectors, _) = out.as_chunks_mut::<4>();
    for (to, first) in vectors.iter_mut().zip([0, 4, 8]) {
        let indexes = _mm256_setr_epi64x(first, first + 1, first + 2, first + 3);
        let offsets = _mm256_mul_epu32(indexes, steps);
        let mut values = _mm256_srl_epi64(_mm256_sllv_epi64(words, offsets), shift);
        if ZIGZAG {
            let signs = _mm256_sub_epi64(_mm256_setzero_si256(), _mm256_and_si256(values, _mm256_set1_epi64x(1)));
            values = _mm256_xor_si256(_mm256_srli_epi64::<1>(values), signs);
        }
        // SAFETY: the pointer is that of an array of 32 bytes. The instruction needs no alignment.
        unsafe { _mm256_storeu_si256(to.as_mut_ptr().cast::<__m256i>(), values) };
    }
}

#[target_feature(enable = "avx2")]
#[inline]
#[expect(unsafe_code, reason = "vectors are loaded through pointers")]
fn high_bits(bytes: &[u8; 64]) -> u64 {
    let mut bits = 0;
    let (vectors, _) = bytes.as_chunks::<32>();
    for vector in vectors.iter().rev() {
        // SAFETY: the pointer is that of an array of 32 bytes. The instruction needs no alignment.
        let vector = unsafe { _mm256_loadu_si256(vector.as_ptr().cast::<__m256i>()) };
        bits = bits << 32 | u64::from(_mm256_movemask_epi8(vector).cast_unsigned());
    }
    bits
}

/// A bit for each pair of values: whether they are equal, or whether the first is less.
#[target_feature(enable = "avx2")]
#[inline]
#[expect(unsafe_code, reason = "vectors are loaded through pointers")]
fn compare<const IS_EQUAL: bool>(values: &[i64; COMPARED], others: &[i64; COMPARED]) -> u64 {
    let mut bits = 0;
    let pairs = values.as_chunks::<4>().0.iter().zip(others.as_chunks::<4>().0);
    for (at, (values, others)) in pairs.enumerate() {
        // SAFETY: the pointers are those of arrays of 32 bytes. The instructions need no alignment.
        let (values, others) = unsafe {
            (
                _mm256_loadu_si256(values.as_ptr().cast::<__m256i>()),
                _mm256_loadu_si256(others.as_ptr().cast::<__m256i>()),
            )
        };
        let lanes = if IS_EQUAL { _mm256_cmpeq_epi64(values, others) } else { _mm256_cmpgt_epi64(others, values) };
        bits |= u64::from(_mm256_movemask_pd(_mm256_castsi256_pd(lanes)).cast_unsigned()) << (4 * at);
    }
    bits
}
