//! Writes a file: `cargo run --example write -- FILE`

use std::error::Error;
use std::path::Path;
use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use orcish::{Compression, OrcWriter, WriteOptions};

/// Writes a file of two columns.
#[allow(clippy::disallowed_types, reason = "the rule is for the crates")]
pub(crate) fn run(path: &Path) -> Result<u64, Box<dyn Error>> {
    let ids: ArrayRef = Arc::new((0..1000).collect::<Int64Array>());
    let names: ArrayRef = Arc::new((0..1000).map(|id| Some(format!("name {}", id % 7))).collect::<StringArray>());
    let batch = RecordBatch::try_from_iter([("id", ids), ("name", names)])?;

    let options = WriteOptions::default()
        .with_compression(Compression::Zlib)
        .with_bloom_filter_columns(["name"])
        .with_metadata("written.by", "an example");
    let mut writer = OrcWriter::try_new(std::fs::File::create(path)?, batch.schema(), &options)?;
    for _ in 0..10 {
        writer.write(&batch)?;
    }
    let written = writer.close()?;
    println!("{} rows in {} stripes, {} bytes", written.rows, written.stripes, written.bytes);
    Ok(written.rows)
}

#[allow(dead_code, reason = "a test runs the examples as modules")]
fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("a file has to be given")?;
    run(Path::new(&path)).map(drop)
}
