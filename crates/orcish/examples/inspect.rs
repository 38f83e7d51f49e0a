//! Prints the metadata of a file: `cargo run --example inspect -- FILE`

use std::error::Error;
use std::path::Path;

use orcish::OrcFile;

/// Prints the types, the stripes and the statistics of the columns of a file. No column is read.
pub(crate) fn run(path: &Path) -> Result<usize, Box<dyn Error>> {
    let file = OrcFile::open(path)?;
    let tail = file.tail();
    println!("{}", tail.schema.type_string(0)?);
    println!("{} rows, {}, written by {:?}", tail.rows, tail.compression.name(), tail.writer);
    for (index, stripe) in tail.stripes.iter().enumerate() {
        println!("stripe {index}: {} rows from row {}", stripe.rows, stripe.first_row);
    }
    for id in tail.schema.get(0)?.children.clone() {
        println!("{}: {:?}", tail.schema.path(id), tail.column_statistics(id)?);
    }
    Ok(tail.stripes.len())
}

#[allow(dead_code, reason = "a test runs the examples as modules")]
fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("a file has to be given")?;
    run(Path::new(&path)).map(drop)
}
