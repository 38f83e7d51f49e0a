//! Memory of a scan of many files.

use arrow_array::cast::AsArray as _;
use arrow_array::types::Int64Type;
use arrow_array::{ArrayRef, Int64Array};
use orcish_core::Limits;
use orcish_io::{MemorySink, MemorySource};

use crate::options::{Columns, ReadOptions};
use crate::scan::{Matching, Scan, TableFile};
use crate::write::{FileWriter, WriteOptions};

use super::*;

const FILES: i64 = 6;
const STRIPES: i64 = 8;
const ROWS: i64 = 32_768;
/// Stored bytes of a stripe, roughly: numbers that no encoding makes small.
const STRIPE_BYTES: u64 = ROWS.cast_unsigned() * 8;

/// A number that looks random.
fn number(row: i64) -> i64 {
    row.wrapping_mul(0x9e37_79b9_7f4a_7c15_u64.cast_signed())
}

fn files() -> Vec<TableFile> {
    let file = |file: i64| {
        let sink = MemorySink::new();
        let batch = |stripe: i64| {
            let first = (file * STRIPES + stripe) * ROWS;
            let values: ArrayRef = Arc::new((first..first + ROWS).map(number).collect::<Int64Array>());
            RecordBatch::try_from_iter([("n", values)]).unwrap()
        };
        let mut writer =
            FileWriter::try_new(Box::new(sink.clone()), batch(0).schema(), &WriteOptions::default()).unwrap();
        for stripe in 0..STRIPES {
            writer.write(&batch(stripe)).unwrap();
            writer.end_stripe().unwrap();
        }
        writer.finish().unwrap();
        let source = Arc::new(MemorySource::new(sink.take().unwrap()));
        TableFile { location: format!("{file}.orc"), source: Some(source), ..TableFile::default() }
    };
    (0..FILES).map(file).collect()
}

#[test]
fn all_readers_share_the_memory_of_a_scan() {
    let files = files();
    for (memory, threads) in [(4 * STRIPE_BYTES, 8), (4 * STRIPE_BYTES, 2), (2 * STRIPE_BYTES, 8), (1 << 30, 8)] {
        let options = ReadOptions::default()
            .with_columns(Columns::All)
            .with_threads(threads)
            .with_batch_size(4096)
            .with_limits(Limits::default().with_memory(memory));
        let scan = Scan::try_new(files.clone(), None, options, Matching::Name, Default::default()).unwrap();
        let mut reader = scan.read();
        let (mut row, mut max_held) = (0, 0);
        while let Some(batch) = reader.next() {
            for &found in batch.unwrap().column(0).as_primitive::<Int64Type>().values() {
                assert_eq!(found, number(row));
                row += 1;
            }
            // Threads read ahead while the caller is slow.
            std::thread::sleep(std::time::Duration::from_micros(300));
            max_held = max_held.max(reader.batches.memory().held());
        }
        assert_eq!(row, FILES * STRIPES * ROWS);
        // The reader of the first file goes on with one stripe, its decoded rows, and one batch.
        assert!(max_held <= memory + 3 * STRIPE_BYTES, "{max_held} bytes with a limit of {memory}, {threads} threads");
        assert_eq!(reader.batches.memory().held(), 0);
    }
}

#[test]
fn readers_of_a_larger_scan_share_its_memory() {
    let options = ReadOptions::default().with_columns(Columns::All).with_batch_size(4096);
    let scan = Scan::try_new(files(), None, options, Matching::Name, Default::default()).unwrap();
    let context = ScanContext { readers: 2, memory: ScanMemory::new(4 * STRIPE_BYTES) };
    let reader = |file| scan.read_file(file, 8, &context).unwrap().unwrap();
    // The first row of each file, and its batches.
    let mut readers = [(0, reader(0)), (STRIPES * ROWS, reader(1))];
    let mut max_held = 0;
    for _ in 0..STRIPES * ROWS / 4096 {
        for (row, reader) in &mut readers {
            for &found in reader.next().unwrap().unwrap().column(0).as_primitive::<Int64Type>().values() {
                assert_eq!(found, number(*row));
                *row += 1;
            }
            std::thread::sleep(std::time::Duration::from_micros(300));
            max_held = max_held.max(context.memory.held());
        }
    }
    assert!(readers.iter_mut().all(|(_, reader)| reader.next().is_none()));
    // Each of the two readers goes on with one stripe, its decoded rows, and one batch.
    assert!((STRIPE_BYTES..10 * STRIPE_BYTES).contains(&max_held), "{max_held} bytes");
    drop(readers);
    assert_eq!(context.memory.held(), 0);
    assert!(scan.read_file(usize::try_from(FILES).unwrap(), 1, &context).is_err());
}
