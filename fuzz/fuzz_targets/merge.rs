//! A file merged with itself has twice the rows, unless the file itself cannot be read.

#![no_main]

#[allow(dead_code, reason = "each target uses a part of the module")]
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

fuzz_target!(|data: &[u8]| reading::within_memory(2 * reading::MAX_MEMORY, || run(data)));

fn run(data: &[u8]) {
    let Some(file) = reading::open(data) else { return };
    let source: Arc<dyn ReadAt> = Arc::new(MemorySource::new(Bytes::copy_from_slice(data)));
    let sink = MemorySink::new();
    if merge(&[source.clone(), source], Box::new(sink.clone()), &reading::limits(), None, None).is_err() {
        return;
    }
    let merged = Arc::new(MemorySource::new(sink.take().expect("a finished file")));
    let limits = reading::limits().with_tail(4 << 20).with_columns(10_000).with_stripes(10_000);
    let merged = OrcFile::try_new(merged, &limits).expect("a merged file is readable");
    assert_eq!(merged.tail().rows, 2 * file.tail().rows);
    let (once, twice) = (reading::read(&file, reading::options()), reading::read(&merged, reading::options()));
    if let (Some(once), Some(twice)) = (once, twice) {
        assert_eq!(twice, 2 * once);
    }
}
