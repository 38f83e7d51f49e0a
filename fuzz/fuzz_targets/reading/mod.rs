//! Reading a file whose bytes anybody may have made.

use std::sync::Arc;

use arrow_array::Array as _;
use bytes::Bytes;
use orcish::{Limits, MemorySource, OrcFile, ReadOptions};

/// Most rows that are read of one input: files of few bytes may hold any number of equal rows.
const MOST_ROWS: usize = 200_000;

/// Limits that an input is read under.
pub fn limits() -> Limits {
    Limits { tail: 1 << 20, chunk: 1 << 20, depth: 32, columns: 1_000, stripes: 1_000, memory: 32 << 20 }
}

/// The options that others are made from.
pub fn options() -> ReadOptions {
    ReadOptions { limits: limits(), threads: 1, allow_masked: true, ..ReadOptions::default() }
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
