//! Unit tests once more, with windows of random small sizes.
#![allow(clippy::panic, reason = "a test that fails")]

use std::process::Command;

use super::Tuning;

/// The environment variable that holds the seed of the sizes.
const SEED: &str = "ORCISH_TEST_TUNING";

/// Sets a window to a random small size, if the environment has a seed. The same seed gives the same size.
pub(super) fn make_small(tuning: &Tuning) {
    let Some(seed) = std::env::var(SEED).ok().and_then(|seed| seed.parse::<u64>().ok()) else { return };
    let mut state = tuning.name().bytes().fold(seed, |state, byte| state.wrapping_mul(31).wrapping_add(byte.into()));
    let mut random = || {
        // SplitMix64.
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed ^ mixed >> 31) >> 1).unwrap_or(0)
    };
    let (kind, value) = (random() % 8, random());
    let count = tuning.max - tuning.min + 1;
    tuning.set(match kind {
        0 => tuning.standard,
        1 => tuning.min,
        // The smaller the range is, the more windows a few rows cross.
        2..5 => tuning.min + value % count.min(10),
        _ => tuning.min + value % count,
    });
}

/// The factor by which random tests have more cases: `ORCISH_TEST_FACTOR`, or 1.
pub fn factor() -> u32 {
    std::env::var("ORCISH_TEST_FACTOR").ok().and_then(|factor| factor.parse().ok()).unwrap_or(1)
}

/// Runs the tests of this binary whose names begin with one of `tests` in processes with small windows.
///
/// # Panics
/// Where a test fails.
pub fn run_with_small_windows(tests: &[&str]) {
    if std::env::var(SEED).is_ok() {
        return;
    }
    for seed in 0..factor() {
        let binary = std::env::current_exe().unwrap_or_else(|error| panic!("no test binary: {error}"));
        // Windows are variables of a process.
        let output = Command::new(binary).args(tests).env(SEED, seed.to_string()).output();
        let output = output.unwrap_or_else(|error| panic!("the tests do not start: {error}"));
        let report = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && report.contains("test result: ok"), "{SEED}={seed}\n{report}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tuning::ALL;

    #[test]
    fn small_windows_are_ranges() {
        for tuning in ALL {
            let (name, small) = (tuning.name(), tuning.small());
            assert!(!small.is_empty() && !small.contains(&usize::MAX), "{name}");
        }
    }

    #[test]
    fn windows_are_no_smaller_than_loops_need_them() {
        let tuning = Tuning::new("X", 100, &(3..=10));
        for (value, found) in [(0, 3), (2, 3), (3, 3), (10, 10), (1 << 40, 1 << 40)] {
            tuning.set(value);
            assert_eq!(tuning.get(), found);
        }
    }

    #[test]
    fn rows_are_the_same_whatever_the_windows() {
        run_with_small_windows(&["parallel::", "predicate::"]);
    }
}
