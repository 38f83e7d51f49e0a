//! Unit tests with windows of random small sizes.
#![allow(clippy::panic, reason = "a test that fails")]

use std::process::Command;

use super::SEED;

/// The factor of the number of cases of random tests: `ORCISH_TEST_FACTOR`, or 1.
pub fn factor() -> u32 {
    std::env::var("ORCISH_TEST_FACTOR").ok().and_then(|factor| factor.parse().ok()).unwrap_or(1)
}

/// Runs the tests of this binary with one of the name prefixes `tests` in processes with small windows.
///
/// # Panics
/// Where a test fails.
pub fn run_with_small_windows(tests: &[&str]) {
    if std::env::var(SEED).is_ok() {
        return;
    }
    for seed in 0..factor() {
        let binary = std::env::current_exe().unwrap_or_else(|error| panic!("no test binary: {error}"));
        // Windows are global variables.
        let output = Command::new(binary).args(tests).env(SEED, seed.to_string()).output();
        let output = output.unwrap_or_else(|error| panic!("the tests do not start: {error}"));
        let report = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && report.contains("test result: ok"), "{SEED}={seed}\n{report}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tuning::{ALL, Tuning};

    #[test]
    fn small_windows_are_ranges() {
        for tuning in ALL {
            let (name, small) = (tuning.name(), tuning.small());
            assert!(!small.is_empty() && !small.contains(&usize::MAX), "{name}");
        }
    }

    #[test]
    fn windows_have_a_minimum() {
        let tuning = Tuning::new("X", 100, &(3..=10));
        for (value, found) in [(0, 3), (2, 3), (3, 3), (10, 10), (1 << 40, 1 << 40)] {
            tuning.set(value);
            assert_eq!(tuning.get(), found);
        }
    }

    #[test]
    fn rows_do_not_depend_on_windows() {
        run_with_small_windows(&["parallel::", "predicate::"]);
    }
}
