//! What all benchmarks share: how long they run, and numbers that look random and are the same in each run.

use std::time::Duration;

use criterion::Criterion;

/// Criterion with short measurements: there are many, and all should be done in about a minute.
/// Filters and the other arguments of the command line count.
pub(crate) fn criterion() -> Criterion {
    Criterion::default()
        .sample_size(10)
        .warm_up_time(Duration::from_millis(150))
        .measurement_time(Duration::from_millis(600))
        .configure_from_args()
}

/// Splitmix64.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `end`.
    pub(crate) fn below(&mut self, end: u32) -> u32 {
        let high = (u128::from(self.next()) * u128::from(end)) >> 64;
        u32::try_from(high).unwrap_or_default()
    }

    /// A number of `bits` bits, 1 to 64.
    pub(crate) fn bits(&mut self, bits: u32) -> u64 {
        self.next() >> (64 - bits)
    }
}
