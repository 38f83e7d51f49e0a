//! Reading a file whose bytes anybody may have made, in no more memory than the limits say.

mod counting;
#[path = "../../structured/mod.rs"]
mod structured;

use std::sync::Arc;

pub use counting::within_memory;

use arrow_array::Array as _;
use bytes::Bytes;
use orcish::{Limits, OrcFile, ReadOptions};
use orcish::io::MemorySource;

/// Most rows that are read of one input: files of few bytes may hold any number of equal rows.
const MOST_ROWS: usize = 200_000;

/// Most bytes that reading under the limits holds: the memory that they allow, once for what is decoded and once for what is
/// decompressed, and the sections of the tail.
pub const MOST_HELD: u64 = 2 * MEMORY + (16 << 20);
const MEMORY: u64 = 32 << 20;

/// Limits that an input is read under.
pub fn limits() -> Limits {
    Limits { tail: 1 << 20, chunk: 1 << 20, depth: 32, columns: 1_000, stripes: 1_000, memory: MEMORY }
}

/// The options that others are made from.
pub fn options() -> ReadOptions {
    ReadOptions { limits: limits(), threads: 1, allow_masked: true, ..ReadOptions::default() }
}

/// A mutator for libFuzzer: most changes are of messages and streams, the others are its own.
pub fn mutate(data: &mut [u8], size: usize, max_size: usize, seed: u32) -> usize {
    let mut random = structured::Random::new(seed.into());
    let changed = if random.below(5) == 0 { None } else { structured::mutate(&data[..size], &mut random) };
    match changed.filter(|changed| changed.len() <= max_size) {
        Some(changed) => {
            data[..changed.len()].copy_from_slice(&changed);
            changed.len()
        }
        None => libfuzzer_sys::fuzzer_mutate(data, size, max_size),
    }
}

/// The file, if its tail can be read.
pub fn open(data: &[u8]) -> Option<OrcFile> {
    OrcFile::new(Arc::new(MemorySource::new(Bytes::copy_from_slice(data))), &limits()).ok()
}

/// Reads a file, checks the batches, and counts their rows; none where it ends with an error, or is left early.
pub fn read(file: &OrcFile, options: ReadOptions) -> Option<u64> {
    let reader = file.read(options).ok()?;
    let schema = reader.schema();
    let mut rows = 0;
    for batch in reader {
        let batch = batch.ok()?;
        assert_eq!(batch.schema(), schema);
        for column in batch.columns() {
            // Arrow's own rules, but for nulls that NullMapKeys::Dictionary lets through on purpose.
            column.to_data().validate().expect("a valid array");
        }
        rows += batch.num_rows();
        if rows > MOST_ROWS {
            return None;
        }
    }
    Some(rows as u64)
}
