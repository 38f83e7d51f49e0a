use std::sync::Arc;

use arrow_array::ArrayRef;
use orcish_core::Limits;
use orcish_io::{FileSource, MemorySource, StorageOptions};

use super::DataFile;
use crate::fixtures;
use crate::page;

fn read(file: &DataFile) -> orcish_core::Result<Vec<(String, ArrayRef)>> {
    let wanted: Vec<usize> = (0..file.columns().len()).collect();
    let mut columns: Vec<(String, Vec<ArrayRef>)> =
        file.columns().iter().map(|column| (column.name.clone(), Vec::new())).collect();
    if file.num_blocklets() == 0 {
        return Err(orcish_core::Error::corrupt("no blocklets"));
    }
    for at in 0..file.num_blocklets() {
        let data = file.read_blocklet(at, &wanted)?;
        for page in 0..data.pages() {
            for (place, (_, parts)) in columns.iter_mut().enumerate() {
                parts.push(data.decode(place, page)?);
            }
        }
    }
    let joined = columns.into_iter().map(|(name, parts)| {
        let parts: Vec<&dyn arrow_array::Array> = parts.iter().map(|part| &**part).collect();
        (name, arrow_select::concat::concat(&parts).unwrap())
    });
    Ok(joined.collect())
}

fn check(name: &str, version: u8) {
    let Some(table) = fixtures::table(name) else { return };
    let path = fixtures::files(&table, ".carbondata").pop().unwrap();
    let limits = Limits::default();
    let file = DataFile::open(Arc::new(FileSource::open(&path).unwrap()), &limits).unwrap();
    assert_eq!(file.version(), version);
    let metadata = table.join("table/Metadata");
    let dictionaries = page::global_dictionaries(&metadata.to_string_lossy(), &StorageOptions::default(), &limits);
    let file = file.with_dictionaries(Arc::clone(&dictionaries));
    let columns = read(&file).unwrap();
    assert_eq!(columns.len(), 13);
    fixtures::assert_rows(&columns, &fixtures::rows(&table.join("expected.jsonl.gz")));

    // A damaged file gives an error or other values, and never panics.
    let bytes = std::fs::read(&path).unwrap();
    let limits = limits.with_memory(64 << 20).with_tail(1 << 20);
    for step in 0..400 {
        let mut damaged = bytes.clone();
        // Half of the changes are in the footer and in the chunk headers, which are small.
        let at = if step % 2 == 0 { bytes.len() - 1 - step * 7 } else { step * bytes.len() / 400 };
        damaged[at] = damaged[at].wrapping_add(1 + u8::try_from(step % 250).unwrap());
        if let Ok(file) = DataFile::open(Arc::new(MemorySource::new(damaged)), &limits) {
            _ = read(&file.with_dictionaries(Arc::clone(&dictionaries)));
        }
    }
}

#[test]
fn version_1_has_the_expected_rows() {
    check("v110_format1", 1);
}

#[test]
fn version_2_has_the_expected_rows() {
    check("v110_format2", 2);
}

#[test]
fn version_3_of_1_1_has_the_expected_rows() {
    check("v110_format3", 3);
}
