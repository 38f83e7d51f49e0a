//! Whole files, and all columns of a type: `cargo bench --bench scan [FILTER]`.
//!
//! The file is the one of ORCISH_BENCH_FILE. Without it, files of benches/python/make_data.py are read, uncompressed
//! and with zlib. An element is a row of a whole file, or a value of the columns of a type.

mod common;

use std::collections::BTreeMap;
use std::error::Error;
use std::path::{Path, PathBuf};

use common::Criterion;
use criterion::Throughput;
use orcish::{Columns, OrcFile, ReadOptions};

/// Datasets, codecs and writers of the files in benches/python/data. The file of the first writer that exists is read.
const DATASETS: [&str; 4] = ["lineitem", "taxi", "events", "wide"];
const CODECS: [&str; 2] = ["none", "zlib"];
const WRITERS: [&str; 2] = ["spark", "pyarrow"];

fn main() -> Result<(), Box<dyn Error>> {
    let files = files();
    if files.is_empty() {
        eprintln!("scan: no files; run benches/python/make_data.py, or set ORCISH_BENCH_FILE");
    }
    let mut criterion = common::criterion();
    for path in files {
        bench(&mut criterion, &path)?;
    }
    criterion.final_summary();
    Ok(())
}

fn files() -> Vec<PathBuf> {
    if let Some(path) = std::env::var_os("ORCISH_BENCH_FILE") {
        return vec![path.into()];
    }
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../benches/python/data");
    let mut files = Vec::new();
    for dataset in DATASETS {
        for codec in CODECS {
            let candidates = WRITERS.map(|writer| data.join(format!("{dataset}.{writer}.{codec}.orc")));
            files.extend(candidates.into_iter().find(|path| path.exists()));
        }
    }
    files
}

/// Reads a file with `options`. Returns the number of rows.
fn scan(file: &OrcFile, options: ReadOptions) -> orcish::Result<u64> {
    file.read(options)?.try_fold(0, |rows, batch| Ok(rows + batch?.num_rows() as u64))
}

fn bench(criterion: &mut Criterion, path: &Path) -> Result<(), Box<dyn Error>> {
    let file = OrcFile::open(path)?;
    let rows = file.tail().rows;
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let mut group = criterion.benchmark_group(name.trim_end_matches(".orc"));

    group.throughput(Throughput::Elements(rows));
    for threads in [1, 2] {
        let options = ReadOptions::default().with_threads(threads);
        // The benchmark does not run if the filter of the command line excludes it.
        let mut read = Ok(rows);
        let id = format!("all columns, {threads} threads");
        group.bench_function(id, |b| b.iter(|| read = scan(&file, options.clone())));
        if read? != rows {
            return Err(format!("{name} does not have the rows that its tail states").into());
        }
    }

    let schema = &file.tail().schema;
    let mut types: BTreeMap<String, Vec<u32>> = BTreeMap::new();
    for &id in &schema.get(0)?.children {
        types.entry(schema.get(id)?.kind.name().to_owned()).or_default().push(id);
    }
    for (kind, ids) in types {
        group.throughput(Throughput::Elements(rows * ids.len() as u64));
        let options = ReadOptions::default().with_columns(Columns::Ids(ids)).with_threads(1);
        group.bench_function(kind, |b| b.iter(|| scan(&file, options.clone())));
    }
    group.finish();
    Ok(())
}
