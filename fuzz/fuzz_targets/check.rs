//! The check of a file, which compares its rows with recorded statistics, positions and bloom filters.

#![no_main]

#[allow(dead_code, reason = "each target uses a part of the module")]
mod reading;

use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use libfuzzer_sys::{fuzz_mutator, fuzz_target};
use orcish::{Error, ErrorKind};
use orcish_core::cancel::CancelCheck;

/// Time after which a check is cancelled.
const MAX_TIME: Duration = Duration::from_millis(500);

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    reading::mutate(data, size, max_size, seed)
});

fuzz_target!(|data: &[u8]| reading::within_memory(reading::MAX_MEMORY, || run(data)));

fn run(data: &[u8]) {
    let Some(file) = reading::open(data) else { return };
    // A few bytes may state any number of rows. A check that does not poll for cancellation hangs.
    let check = || {
        let start = Instant::now();
        let cancel_check: CancelCheck = Arc::new(move || match start.elapsed() > MAX_TIME {
            true => Err(Error::new(ErrorKind::Interrupted, "it takes too long")),
            false => Ok(()),
        });
        file.check(&reading::limits(), Some(&cancel_check), None)
    };
    let findings = match check() {
        Ok(findings) => findings,
        Err(error) if error.kind() == ErrorKind::Interrupted => return,
        Err(error) => return assert_error(&error),
    };
    let schema = &file.tail().schema;
    let paths: HashSet<String> = (0u32..).zip(schema.types()).map(|(id, _)| schema.path(id)).collect();
    for finding in &findings {
        assert!(paths.contains(&finding.column), "{finding}: no column of the file");
        assert!(finding.stripe.is_none_or(|stripe| stripe < file.tail().stripes.len()), "{finding}: no stripe");
        assert!(finding.group.is_none() || finding.stripe.is_some(), "{finding}: a row group of no stripe");
        assert!(!finding.message.is_empty(), "{finding}: no message");
    }
    match check() {
        Ok(again) => assert_eq!(again, findings),
        Err(error) => assert_eq!(error.kind(), ErrorKind::Interrupted, "{error}"),
    }
}

/// Checks that an error is about the bytes of the file, limits, or unsupported features.
fn assert_error(error: &Error) {
    use ErrorKind::{Corrupt, LimitExceeded, NullMapKey, Unsupported};
    assert!(matches!(error.kind(), Corrupt | LimitExceeded | NullMapKey | Unsupported), "{error}");
}
