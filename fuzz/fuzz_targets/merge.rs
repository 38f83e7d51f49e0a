//! A file merged with itself: what comes out has twice the rows, or could not be read before.

#![no_main]

#[allow(dead_code, reason = "each target has its own way to read")]
mod reading;

use std::sync::Arc;

use bytes::Bytes;
use libfuzzer_sys::{fuzz_mutator, fuzz_target};
use orcish::OrcFile;
use orcish::io::{MemorySink, MemorySource, ReadAt};
use orcish::write::merge;

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    reading::mutate(data, size, max_size, seed)
});

fuzz_target!(|data: &[u8]| reading::within_memory(2 * reading::MOST_HELD, || run(data)));

fn run(data: &[u8]) {
    let Some(file) = reading::open(data) else { return };
    let source: Arc<dyn ReadAt> = Arc::new(MemorySource::new(Bytes::copy_from_slice(data)));
    let sink = MemorySink::new();
    if merge(&[source.clone(), source], Box::new(sink.clone()), &reading::limits(), None).is_err() {
        return;
    }
    let merged = Arc::new(MemorySource::new(sink.take().expect("a whole file")));
    let limits = orcish::Limits { tail: 4 << 20, columns: 10_000, stripes: 10_000, ..reading::limits() };
    let merged = OrcFile::new(merged, &limits).expect("what was written is read");
    assert_eq!(merged.tail().rows, 2 * file.tail().rows);
    let (once, twice) = (reading::read(&file, reading::options()), reading::read(&merged, reading::options()));
    if let (Some(once), Some(twice)) = (once, twice) {
        assert_eq!(twice, 2 * once);
    }
}
