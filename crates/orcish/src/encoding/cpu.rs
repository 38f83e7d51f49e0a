//! Kernels compiled twice: for every processor of the architecture, and for those of the last ten years.

#[cfg(target_arch = "x86_64")]
use std::sync::LazyLock;

/// Work that is worth a version of its own for better processors.
pub(crate) trait Kernel {
    type Output;
    /// Does the work. Has to be `#[inline(always)]`, and so has all that it calls and that should gain.
    fn run(self) -> Self::Output;
}

/// Runs a kernel, with AVX2 and BMI where the processor has them.
#[inline]
#[cfg_attr(
    target_arch = "x86_64",
    expect(unsafe_code, reason = "unpacking of bits takes half the time, decimals two thirds")
)]
pub(crate) fn run<K: Kernel>(kernel: K) -> K::Output {
    #[cfg(target_arch = "x86_64")]
    if *IS_MODERN {
        // SAFETY: the processor has all features that the function is compiled for.
        return unsafe { run_modern(kernel) };
    }
    kernel.run()
}

#[cfg(target_arch = "x86_64")]
static IS_MODERN: LazyLock<bool> = LazyLock::new(|| {
    is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("bmi1")
        && is_x86_feature_detected!("bmi2")
        && is_x86_feature_detected!("lzcnt")
        && is_x86_feature_detected!("popcnt")
});

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn run_modern<K: Kernel>(kernel: K) -> K::Output {
    kernel.run()
}
