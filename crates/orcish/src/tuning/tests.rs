//! Tests of other modules once more, with windows of random small sizes.

use std::process::Command;
use std::sync::Once;

use super::{ALL, make_small};
use crate::io;
use crate::write::LEAST_CHUNK_SIZE;

/// The seed of the sizes, in a process that has small windows.
const SEED: &str = "ORCISH_TEST_TUNING";
/// Begin the names of tests that are about rows, and hold whatever the windows are.
const TESTS: [&str; 5] = ["codec::", "predicate::", "shared::", "write::column::", "write::stream"];

/// Makes windows small where the environment says so; once in a process.
pub(super) fn read_environment() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        if let Some(seed) = std::env::var(SEED).ok().and_then(|seed| seed.parse().ok()) {
            make_small(seed);
        }
    });
}

/// How many times as many cases `make test-long` has.
pub(crate) fn factor() -> u32 {
    std::env::var("ORCISH_TEST_FACTOR").ok().and_then(|factor| factor.parse().ok()).unwrap_or(1)
}

#[test]
fn standards_are_what_is_documented() {
    assert_eq!(super::FIRST_READ.standard() as u64, io::FIRST_READ);
    assert_eq!(super::LEAST_USUAL_CHUNK.standard(), LEAST_CHUNK_SIZE);
    for tuning in ALL {
        let (name, small) = (tuning.name(), tuning.small());
        assert!(!small.is_empty() && !small.contains(&usize::MAX), "{name}");
    }
}

#[test]
fn windows_are_no_smaller_than_loops_need_them() {
    // Of no reader or writer, as other tests run beside this one.
    let tuning = super::Tuning::new("X", 100, &(3..=10));
    for (value, found) in [(0, 3), (2, 3), (3, 3), (10, 10), (1 << 40, 1 << 40)] {
        tuning.set(value);
        assert_eq!(tuning.get(), found);
    }
}

#[test]
fn rows_are_the_same_whatever_the_windows() {
    if std::env::var(SEED).is_ok() {
        return;
    }
    for seed in 0..factor() {
        // A process of its own: these sizes are those of a process.
        let mut again = Command::new(std::env::current_exe().unwrap());
        let done = again.args(TESTS).env(SEED, seed.to_string()).output().unwrap();
        let told = String::from_utf8_lossy(&done.stdout);
        assert!(done.status.success(), "{SEED}={seed}\n{told}");
        assert!(told.contains("test result: ok"), "{told}");
    }
}
