//! Kernels that are compiled twice: for the baseline of the architecture, and for AVX2 and BMI.

#[cfg(target_arch = "x86_64")]
use once_cell::race::OnceBool;

/// A function that is compiled for several instruction sets.
pub(crate) trait Kernel {
    type Output;
    /// Runs the kernel. Implementations and the functions that they call are `#[inline(always)]`: functions that are not
    /// inlined are compiled for the baseline only.
    fn run(self) -> Self::Output;
}

/// Runs a kernel, with AVX2 and BMI if the processor supports them.
#[inline]
#[cfg_attr(
    target_arch = "x86_64",
    expect(unsafe_code, reason = "bit unpacking takes half the time, decoding of decimals two thirds")
)]
pub(crate) fn run<K: Kernel>(kernel: K) -> K::Output {
    #[cfg(target_arch = "x86_64")]
    if HAS_AVX2_AND_BMI.get_or_init(has_avx2_and_bmi) {
        // SAFETY: the processor supports all features that the function is compiled for.
        return unsafe { run_with_avx2_and_bmi(kernel) };
    }
    kernel.run()
}

#[cfg(target_arch = "x86_64")]
static HAS_AVX2_AND_BMI: OnceBool = OnceBool::new();

#[cfg(target_arch = "x86_64")]
fn has_avx2_and_bmi() -> bool {
    is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("bmi1")
        && is_x86_feature_detected!("bmi2")
        && is_x86_feature_detected!("lzcnt")
        && is_x86_feature_detected!("popcnt")
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn run_with_avx2_and_bmi<K: Kernel>(kernel: K) -> K::Output {
    kernel.run()
}
