//! Tests with the tables of Apache's writers in `ORCISH_CARBONDATA`: all pages are decoded, and compared with the
//! expected rows.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::types::{Float32Type, Int32Type, Int64Type};
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;
use orcish_core::{Error, Limits, Result};
use orcish_io::{FileSource, ReadAt};
use serde_json::Value;

use super::json_eq::{float, json_eq, quote_fractions};
use super::*;
use crate::metadata::schema::CarbonType;

/// Tables whose data files have exactly the expected rows.
const COMPARED: &[&str] = &[
    "adaptive_float",
    "adaptive_int",
    "complex_localdict",
    "compress_snappy",
    "compress_zstd",
    "dates",
    "decimals",
    "float_special",
    "localdict_on",
    "pages_small",
    "prim_all_null",
    "prim_nosort",
    "prim_one_row",
    "sort_adaptive_inverted",
    "sort_inverted_index",
    "spark_complex_nodict",
    "spark_complex_t",
    "spark_default_all",
    "spark_filefmt",
    "spark_global_sorted",
    "spark_gzip_t",
    "spark_local_sorted",
    "spark_longstr",
    "spark_no_local_dict",
    "spark_partitioned",
    "strings",
    "strings_sorted",
    "strings_sorted_nodict",
    "v161_adaptive_float",
    "v161_adaptive_int",
    "v161_complex_localdict",
    "v161_dates",
    "v161_decimals",
    "v161_prim_nosort",
    "v161_prim_nulls",
    "v161_sort_inverted_index",
    "v161_strings",
    "varchar_long",
];

fn tables() -> Option<Vec<PathBuf>> {
    let Some(folder) = std::env::var_os("ORCISH_CARBONDATA") else {
        eprintln!("ORCISH_CARBONDATA names no folder of tables: nothing is read");
        return None;
    };
    let mut all: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    all.sort();
    Some(all)
}

fn data_files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            data_files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "carbondata") {
            found.push(path);
        }
    }
}

fn open(path: &Path) -> Result<DataFile> {
    DataFile::open(Arc::new(FileSource::open(path)?), &Limits::default())
}

#[test]
fn tables_of_apache_have_the_expected_rows() {
    let Some(tables) = tables() else { return };
    let mut faults = Vec::new();
    let (mut read, mut compared) = (0, 0);
    for table in tables {
        let name = table.file_name().unwrap().to_str().unwrap().to_owned();
        // Skipped: other versions with global dictionaries, and streaming files.
        if name.starts_with("v110") || !table.join("table").is_dir() {
            continue;
        }
        let mut files = Vec::new();
        data_files(&table.join("table"), &mut files);
        let mut columns: BTreeMap<String, (CarbonType, Vec<ArrayRef>)> = BTreeMap::new();
        for path in files {
            let file = match open(&path) {
                Ok(file) => file,
                Err(error) if error.message().contains("streams") => continue,
                Err(error) => {
                    faults.push(format!("{error}"));
                    continue;
                }
            };
            let expected: Vec<usize> = (0..file.columns().len()).collect();
            let mut rows = 0;
            for at in 0..file.num_blocklets() {
                let data = file.read_blocklet(at, &expected).unwrap();
                for page in 0..data.pages() {
                    rows += data.page_rows(page).unwrap();
                    for (column, known) in file.columns().iter().enumerate() {
                        match data.decode(column, page) {
                            Ok(array) => {
                                assert_eq!(array.len(), data.page_rows(page).unwrap());
                                assert_eq!(array.data_type(), &known.data_type());
                                array.to_data().validate_full().unwrap();
                                let place =
                                    columns.entry(known.name.clone()).or_insert((known.carbon_type, Vec::new()));
                                place.1.push(array);
                                read += 1;
                            }
                            Err(error) => faults.push(format!("{error}")),
                        }
                    }
                }
            }
            assert_eq!(u64::try_from(rows).unwrap(), file.num_rows());
        }
        if COMPARED.contains(&name.as_str()) {
            compared += compare(&name, &table, &columns, &mut faults);
        }
    }
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
    eprintln!("{read} pages read, {compared} values compared");
}

#[test]
fn damaged_files_are_errors_or_rows() {
    let Some(tables) = tables() else { return };
    let mut files = Vec::new();
    for table in tables.iter().map(|table| table.join("table")).filter(|table| table.is_dir()) {
        data_files(&table, &mut files);
    }
    let (mut errors, mut fine) = (0, 0);
    let mut random = 1u64;
    for path in files {
        let bytes = std::fs::read(&path).unwrap();
        if bytes.len() > 100_000 {
            continue;
        }
        for round in 0..40 {
            let mut next = |end: usize| {
                random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                usize::try_from(random >> 33).unwrap() % end
            };
            let mut damaged = bytes.clone();
            for _ in 0..=round % 4 {
                let at = next(bytes.len());
                damaged[at] = u8::try_from(next(256)).unwrap();
            }
            if round % 8 == 0 {
                damaged.truncate(next(bytes.len()));
            }
            let source = orcish_io::MemorySource::new(damaged).named("damaged");
            match decode_all(Arc::new(source)) {
                Ok(()) => fine += 1,
                Err(error) => {
                    assert_eq!(error.place().file.as_deref(), Some("damaged"), "{error}");
                    errors += 1;
                }
            }
        }
    }
    eprintln!("{errors} errors, {fine} files that could be read");
}

fn decode_all(source: Arc<dyn ReadAt>) -> Result<()> {
    let limits = Limits::default().with_memory(64 << 20);
    let file = DataFile::open(source, &limits)?;
    let expected: Vec<usize> = (0..file.columns().len()).collect();
    for at in 0..file.num_blocklets() {
        let data = file.read_blocklet(at, &expected)?;
        for page in 0..data.pages() {
            for column in 0..expected.len() {
                let valid = data.decode(column, page)?.to_data().validate_full();
                valid.map_err(|error| Error::invalid("no valid array").with_source(error))?;
            }
        }
    }
    Ok(())
}

fn compare(
    name: &str,
    table: &Path,
    columns: &BTreeMap<String, (CarbonType, Vec<ArrayRef>)>,
    faults: &mut Vec<String>,
) -> usize {
    let mut text = String::new();
    let bytes = std::fs::read(table.join("expected.jsonl.gz")).unwrap();
    flate2::bufread::MultiGzDecoder::new(bytes.as_slice()).read_to_string(&mut text).unwrap();
    let mut expected: Vec<Value> =
        text.lines().map(|line| serde_json::from_str(&quote_fractions(line)).unwrap()).collect();
    expected.sort_by_key(|row| row["id"].as_i64());
    let mut inverted_index: Vec<(i64, usize, usize)> = Vec::new();
    for (page, array) in columns["id"].1.iter().enumerate() {
        for row in 0..array.len() {
            let id = match array.data_type() {
                DataType::Int64 => array.as_primitive::<Int64Type>().value(row),
                _ => array.as_primitive::<Int32Type>().value(row).into(),
            };
            inverted_index.push((id, page, row));
        }
    }
    inverted_index.sort_unstable();
    if inverted_index.len() != expected.len() {
        faults.push(format!("{name}: {} rows, of {}", inverted_index.len(), expected.len()));
        return 0;
    }
    let mut count = 0;
    for (column, (carbon_type, pages)) in columns {
        let mut wrong = 0;
        for (row, &(_, page, at)) in expected.iter().zip(&inverted_index) {
            let expected = &row[column];
            count += 1;
            if !json_eq(&pages[page], at, expected) && !is_known(name, column, *carbon_type, &pages[page], at, expected)
            {
                if wrong == 0 {
                    let found = pages[page].slice(at, 1);
                    faults.push(format!("{name}.{column}: {expected} is {found:?}"));
                }
                wrong += 1;
            }
        }
        if wrong > 1 {
            faults.push(format!("{name}.{column}: {wrong} values differ"));
        }
    }
    count
}

/// Differences to the expected rows that Apache's reader has too.
fn is_known(
    table: &str,
    column: &str,
    carbon_type: CarbonType,
    array: &ArrayRef,
    row: usize,
    expected: &Value,
) -> bool {
    match carbon_type {
        CarbonType::Varchar if expected.is_null() => array.as_string::<i32>().value(row).is_empty(),
        CarbonType::Binary if expected.is_null() => array.as_binary::<i32>().value(row).is_empty(),
        // Dates before the Gregorian calendar.
        CarbonType::Date => expected.as_str().is_some_and(|day| day < "1582-10-15"),
        // The writer truncates digits.
        CarbonType::Float if column.starts_with("f_delta") => {
            let found = f64::from(array.as_primitive::<Float32Type>().value(row));
            float(expected).is_some_and(|expected| (found - expected).abs() < 0.2)
        }
        _ => (table, column) == ("spark_default_all", "f"),
    }
}
