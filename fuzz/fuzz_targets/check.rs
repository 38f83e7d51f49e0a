//! What is recorded in a file, compared with its rows.

#![no_main]

#[allow(dead_code, reason = "each target has its own way to read")]
mod reading;

use libfuzzer_sys::{fuzz_mutator, fuzz_target};

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    reading::mutate(data, size, max_size, seed)
});

fuzz_target!(|data: &[u8]| reading::within_memory(reading::MOST_HELD, || run(data)));

fn run(data: &[u8]) {
    let Some(file) = reading::open(data) else { return };
    // Rows cost time, and a few bytes may state any number of them.
    if file.tail().rows > 100_000 {
        return;
    }
    if let Ok(findings) = file.check(&reading::limits(), None) {
        findings.iter().for_each(|finding| assert!(!format!("{finding:?}").is_empty()));
    }
}
