//! Round trip of a file: its rows are written, and read again.

#![no_main]

#[allow(dead_code, reason = "each target uses a part of the module")]
mod reading;

use std::sync::Arc;

use arrow_array::{Array as _, RecordBatch};
use libfuzzer_sys::{fuzz_mutator, fuzz_target};
use orcish::io::{MemorySink, MemorySource};
use orcish::{ErrorKind, FileWriter, OrcFile, ReadOptions, WriteOptions};

/// Maximum number of rows.
const MAX_ROWS: usize = 20_000;
/// Maximum bytes of the rows.
const MAX_BYTES: usize = 8 << 20;

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    reading::mutate(data, size, max_size, seed)
});

fuzz_target!(|data: &[u8]| reading::within_memory(4 * reading::MAX_MEMORY, || run(data)));

/// The rows of a file. `None` for too many rows, and for a file that cannot be read.
fn rows(file: &OrcFile) -> Option<Vec<RecordBatch>> {
    let options = reading::options().with_batch_size(MAX_ROWS);
    let (mut all, mut rows, mut bytes) = (Vec::new(), 0, 0);
    for batch in file.read(options).ok()? {
        let batch = batch.ok()?;
        rows += batch.num_rows();
        bytes += batch.get_array_memory_size();
        if rows > MAX_ROWS || bytes > MAX_BYTES {
            return None;
        }
        all.push(batch);
    }
    Some(all)
}

fn run(data: &[u8]) {
    let Some(file) = reading::open(data) else { return };
    let Some(given) = rows(&file) else { return };
    let Some(first) = given.first() else { return };
    let sink = MemorySink::new();
    let options = WriteOptions::default().with_threads(1);
    let Ok(mut writer) = FileWriter::try_new(Box::new(sink.clone()), first.schema(), &options) else { return };
    let written = given.iter().try_for_each(|batch| writer.write(batch));
    match written.and_then(|()| writer.finish().map(drop)) {
        Ok(()) => {}
        // Values that ORC cannot hold are refused.
        Err(error) => {
            let is_refused = [ErrorKind::InvalidArgument, ErrorKind::LimitExceeded, ErrorKind::Unsupported];
            assert!(is_refused.contains(&error.kind()), "{error}");
            return;
        }
    }
    let source = Arc::new(MemorySource::new(sink.take().expect("a finished file")));
    let again = OrcFile::try_new(source, &orcish::Limits::default()).expect("a written file is readable");
    let read: Vec<_> = again
        .read(ReadOptions::default().with_batch_size(MAX_ROWS).with_threads(1))
        .expect("a written file is readable")
        .map(|batch| batch.expect("a written file is readable"))
        .collect();
    let count = |batches: &[RecordBatch]| batches.iter().map(RecordBatch::num_rows).sum::<usize>();
    assert_eq!(count(&read), count(&given));
    if let ([read], [given]) = (&read[..], &given[..]) {
        for (read, given) in read.columns().iter().zip(given.columns()) {
            assert_eq!(read.data_type(), given.data_type());
            // NaN is not equal to itself, so that arrays with NaN are compared as text.
            let text = |array| format!("{array:?}");
            assert!(read.to_data() == given.to_data() || text(read) == text(given), "{read:?} for {given:?}");
        }
    }
}
