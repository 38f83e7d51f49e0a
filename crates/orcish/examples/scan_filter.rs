//! Scans several files with a filter: `cargo run --example scan_filter -- FILTER FILE...`

use std::error::Error;

use orcish::io::StorageOptions;
use orcish::scan::{Matching, TableFile};
use orcish::{Predicate, ReadOptions, Scan};

/// Prints what the scan skips, and the number of rows that match.
pub(crate) fn run(filter: &str, files: &[&str]) -> Result<usize, Box<dyn Error>> {
    let filter: Predicate = filter.parse()?;
    let files = files.iter().map(|location| TableFile::new(*location)).collect();
    let options = ReadOptions::default().with_filter(filter);
    // The schema of the table is that of the first file.
    let scan = Scan::try_new(files, None, options, Matching::Name, StorageOptions::default())?;
    for file in scan.explain()? {
        let sections = file.sections.iter().filter(|section| !section.outcome.is_skipped());
        println!("{}: {} stripes may have matching rows", file.file, sections.count());
    }
    let rows = scan.read().map(|batch| Ok(batch?.num_rows())).sum::<orcish::Result<usize>>()?;
    println!("{rows} rows");
    Ok(rows)
}

#[allow(dead_code, reason = "a test runs the examples as modules")]
fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (filter, files) = arguments.split_first().ok_or("a filter and files have to be given")?;
    let files: Vec<_> = files.iter().map(String::as_str).collect();
    run(filter, &files).map(drop)
}
