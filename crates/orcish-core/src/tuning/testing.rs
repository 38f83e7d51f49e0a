//! Unit tests with windows of random small sizes.
#![allow(clippy::panic, clippy::expect_used, reason = "a test that fails")]

use std::process::Command;

use super::SEED;

/// The number of cases of a random test: `number` times the environment variable `ORCISH_TEST_FACTOR`, at least 1 of any.
///
/// # Panics
/// If the variable is no number.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "numbers of cases are small")]
pub fn cases(number: u32) -> u32 {
    let factor = std::env::var("ORCISH_TEST_FACTOR").unwrap_or_else(|_| "1".to_owned());
    let factor: f64 = factor.parse().expect("ORCISH_TEST_FACTOR is a number");
    ((f64::from(number) * factor).round() as u32).max(number.min(1))
}

/// Runs the tests of this binary with one of the name prefixes `tests` in processes with small windows.
///
/// # Panics
/// Where a test fails.
pub fn run_with_small_windows(tests: &[&str]) {
    if std::env::var(SEED).is_ok() {
        return;
    }
    for seed in 0..cases(1) {
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
