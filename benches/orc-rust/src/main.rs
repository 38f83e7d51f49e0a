//! Reads a file with orc-rust, batch by batch, and prints the number of rows: `orc-rust-reader FILE [COLUMN…]`.

use std::error::Error;
use std::fs::File;

use orc_rust::ArrowReaderBuilder;
use orc_rust::projection::ProjectionMask;

/// The allocator of the Python module of orcish.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().ok_or("no file")?;
    let columns: Vec<String> = arguments.collect();
    let mut builder = ArrowReaderBuilder::try_new(File::open(path)?)?;
    if !columns.is_empty() {
        let projection = ProjectionMask::named_roots(builder.file_metadata().root_data_type(), &columns);
        builder = builder.with_projection(projection);
    }
    let mut rows = 0;
    for batch in builder.with_batch_size(1 << 16).build() {
        rows += batch?.num_rows();
    }
    println!("{rows}");
    Ok(())
}
