//! Reads columns of a file: `cargo run --example read -- FILE [COLUMN]...`

use std::error::Error;
use std::path::Path;

use arrow_array::RecordBatchReader as _;
use orcish::OrcReaderBuilder;

/// Prints the schema and the number of rows of the columns of a file. Without columns, all are read.
pub(crate) fn run(path: &Path, columns: &[&str]) -> Result<usize, Box<dyn Error>> {
    let mut builder = OrcReaderBuilder::open(path)?.with_batch_size(8192);
    if !columns.is_empty() {
        builder = builder.with_projection(columns);
    }
    let reader = builder.build()?;
    for field in reader.schema().fields() {
        println!("{field}");
    }
    let mut rows = 0;
    for batch in reader {
        rows += batch?.num_rows();
    }
    println!("{rows} rows");
    Ok(rows)
}

#[allow(dead_code, reason = "a test runs the examples as modules")]
fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (path, columns) = arguments.split_first().ok_or("a file, and columns, have to be given")?;
    let columns: Vec<_> = columns.iter().map(String::as_str).collect();
    run(Path::new(path), &columns).map(drop)
}
