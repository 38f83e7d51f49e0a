//! Every file of `tests/data/corrupt` is refused, in exactly these words.

use std::sync::Arc;

use crate::data;
use orcish::{Limits, MemorySource, OrcFile, ReadOptions, Result};

/// Name of the file and the error that it gives.
const EXPECTED: &[(&str, &str)] = &[
];

fn read(bytes: bytes::Bytes) -> Result<usize> {
    let file = OrcFile::new(Arc::new(MemorySource::new(bytes)), &Limits::default())?;
    let mut rows = 0;
    for batch in file.read(ReadOptions::default())? {
        rows += batch?.num_rows();
    }
    Ok(rows)
}

#[test]
fn corrupt_files_are_refused_in_these_words() {
    let mut faults = Vec::new();
    let files = data::files("tests/data/corrupt");
    for (name, bytes) in &files {
        let name = name.trim_end_matches(".orc");
        let got = match read(bytes.clone()) {
            Ok(rows) => format!("{rows} rows and no error"),
            Err(error) => format!("{error:?}").replace("<memory>: ", ""),
        };
        match EXPECTED.iter().find(|(known, _)| *known == name) {
            Some((_, want)) if *want == got => {}
            Some((_, want)) => faults.push(format!("{name}\n  gives {got}\n  not   {want}")),
            None => faults.push(format!("no entry yet:\n    ({name:?}, {got:?}),")),
        }
    }
    let is_there = |name: &str| files.iter().any(|(file, _)| file.trim_end_matches(".orc") == name);
    faults.extend(EXPECTED.iter().filter(|(name, _)| !is_there(name)).map(|(name, _)| format!("no file {name}")));
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}
