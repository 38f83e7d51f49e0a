//! Reading of untrusted files within the memory of the limits.

mod counting;
#[path = "../../structured/mod.rs"]
mod structured;

use std::sync::Arc;

pub use counting::within_memory;

use arrow_array::Array as _;
use bytes::Bytes;
use orcish::encryption::{Keys, MasterKeys, SecretKey};
use orcish::io::MemorySource;
use orcish::options::Masked;
use orcish::{Limits, OrcFile, ReadOptions};

/// Maximum number of rows of an input: a small file may have any number of equal rows.
const MAX_ROWS: usize = 200_000;

/// Maximum memory of a read: the memory of the limits for decoded data, the same for decompressed data, and the
/// sections of the tail.
pub const MAX_MEMORY: u64 = 2 * MEMORY + (16 << 20);
const MEMORY: u64 = 32 << 20;

/// The limits of all reads.
pub fn limits() -> Limits {
    Limits::default()
        .with_tail(1 << 20)
        .with_chunk(1 << 20)
        .with_depth(32)
        .with_columns(1_000)
        .with_stripes(1_000)
        .with_memory(MEMORY)
}

/// The default options of all reads.
pub fn options() -> ReadOptions {
    ReadOptions::default().with_limits(limits()).with_threads(1).with_masked(Masked::Allow)
}

/// A mutator for libFuzzer: four of five mutations change messages and streams, the others are those of libFuzzer.
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

/// The file, with the encrypted columns that the key of the seeds decrypts. `None` if its tail cannot be read.
pub fn open(data: &[u8]) -> Option<OrcFile> {
    let file = OrcFile::try_new(Arc::new(MemorySource::new(Bytes::copy_from_slice(data))), &limits()).ok()?;
    let key = SecretKey::try_new((0..16).collect()).expect("16 bytes");
    let keys = Keys::new(Arc::new(MasterKeys::default().with_key("secret", 0, key)));
    Some(file.clone().with_keys(&keys).unwrap_or(file))
}

/// Reads a file, validates its batches, and returns the number of rows. `None` after an error and for too many rows.
pub fn read(file: &OrcFile, options: ReadOptions) -> Option<u64> {
    let reader = file.read(options).ok()?;
    let schema = reader.schema();
    let mut rows = 0;
    for batch in reader {
        let batch = batch.ok()?;
        assert_eq!(batch.schema(), schema);
        for column in batch.columns() {
            // `validate_full` refuses the null map keys of NullMapKeys::Dictionary.
            column.to_data().validate().expect("a valid array");
        }
        rows += batch.num_rows();
        if rows > MAX_ROWS {
            return None;
        }
    }
    Some(rows as u64)
}
