//! Byte ranges that reads request.

use std::fmt::Write as _;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use orcish::io::{MemorySource, ReadAt};
use orcish::options::Masked;
use orcish::schema::Kind;
use orcish::tail::FileTail;
use orcish::{Columns, Limits, OrcFile, ReadOptions, Result};

use crate::data;

/// A source that records its requests.
pub(crate) struct LoggedSource {
    inner: MemorySource,
    requests: Mutex<Vec<Vec<Range<u64>>>>,
}

impl ReadAt for LoggedSource {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn size(&self) -> Result<u64> {
        self.inner.size()
    }

    fn read_ranges(&self, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner).push(ranges.to_vec());
        self.inner.read_ranges(ranges)
    }
}

pub(crate) fn logged(name: &str) -> Arc<LoggedSource> {
    Arc::new(LoggedSource { inner: MemorySource::new(data::file(name)), requests: Mutex::default() })
}

impl LoggedSource {
    /// Number of requested bytes since the last call.
    fn bytes(&self) -> u64 {
        self.requests.lock().unwrap().drain(..).flatten().map(|range| range.end - range.start).sum()
    }

    /// The requests since the last call, one per line.
    pub(crate) fn take(&self) -> String {
        let mut text = String::new();
        for request in self.requests.lock().unwrap().drain(..) {
            let ranges: Vec<_> = request.iter().map(|range| format!("{}..{}", range.start, range.end)).collect();
            writeln!(text, "{}", ranges.join(" ")).unwrap();
        }
        text
    }
}

fn read(file: &OrcFile, columns: Columns) {
    let options = ReadOptions::default().with_columns(columns).with_threads(1).with_masked(Masked::Allow);
    file.read(options).unwrap().for_each(|batch| drop(batch.unwrap()));
}

pub(crate) fn column(name: &str) -> Columns {
    Columns::from([name])
}

#[track_caller]
pub(crate) fn assert_log(source: &LoggedSource, what: &str, want: &str) {
    let got = source.take();
    let want: String = want.split_inclusive('\n').map(|line| line.trim_start_matches(' ')).collect();
    assert_eq!(got.trim(), want.trim(), "{what}");
}

/// Three stripes without compression: struct<choice:uniontype<…>,char,varchar,word,at,instant,money,maps,none,hollow>.
const FILE: &str = "java.v1.orc";

#[test]
fn opening_a_file_is_one_request() {
    let source = logged(FILE);
    let file = OrcFile::try_new(source.clone(), &Limits::default()).unwrap();
    assert_log(&source, "opening", "0..10487");
    file.schema(&ReadOptions::default()).unwrap();
    for id in 0..5 {
        file.tail().column_statistics(id).unwrap();
    }
    assert_log(&source, "schema and statistics", "");
}

#[test]
fn file_with_tail_reads_no_tail() {
    let tail = OrcFile::try_new(logged(FILE), &Limits::default()).unwrap().tail().clone();
    let source = logged(FILE);
    let file = OrcFile::try_with_tail(source.clone(), tail).unwrap();
    file.read(ReadOptions::default()).unwrap();
    assert_log(&source, "a reader without batches", "");
    read(&file, column("none"));
    assert_log(
        &source,
        "a column of nulls",
        "
            886..1486
            880..883
            3287..3887
            3283..3285
            6175..6775
            6169..6172",
    );
}

/// Stripe statistics are read with the tail. A deserialized tail does not have them.
#[test]
fn stripe_statistics_are_at_most_one_request() {
    let source = logged(FILE);
    let file = OrcFile::try_new(source.clone(), &Limits::default()).unwrap();
    source.take();
    assert_eq!(file.stripe_statistics(&Limits::default()).unwrap().len(), 3);
    assert_log(&source, "stripe statistics beside the tail", "");
    let tail = FileTail::from_bytes(&file.tail().to_bytes(), &Limits::default()).unwrap();
    let file = OrcFile::try_with_tail(source.clone(), tail).unwrap();
    assert_eq!(file.stripe_statistics(&Limits::default()).unwrap().len(), 3);
    assert_log(&source, "stripe statistics", "8631..9807");
}

#[test]
fn all_columns_are_one_request_per_stripe() {
    let source = logged(FILE);
    let file = OrcFile::try_new(source.clone(), &Limits::default()).unwrap();
    source.take();
    read(&file, Columns::All);
    assert_log(
        &source,
        "all",
        "
            491..1486
            3008..3887
            5824..6775",
    );
    let options = ReadOptions::default().with_stripes(vec![2]);
    file.read(options).unwrap().for_each(|batch| drop(batch.unwrap()));
    assert_log(&source, "the last stripe", "5824..6775");
}

#[test]
fn single_column_reads_only_its_streams() {
    let source = logged(FILE);
    let file = OrcFile::try_new(source.clone(), &Limits::default()).unwrap();
    source.take();
    read(&file, column("money"));
    assert_log(
        &source,
        "money",
        "
            886..1486
            773..803
            3287..3887
            3205..3228
            6175..6775
            6067..6101",
    );
    read(&file, Columns::from(["char", "at"]));
    assert_log(
        &source,
        "char and at",
        "
            886..1486
            545..587 633..709
            3287..3887
            3040..3076 3115..3161
            6175..6775
            5869..5909 5953..6013",
    );
}

#[test]
fn nested_field_reads_its_parents() {
    let source = logged(FILE);
    let file = OrcFile::try_new(source.clone(), &Limits::default()).unwrap();
    source.take();
    read(&file, column("maps"));
    assert_log(
        &source,
        "maps",
        "
            886..1486
            803..880
            3287..3887
            3228..3283
            6175..6775
            6101..6169",
    );
    read(&file, column("maps.element.value.a"));
    assert_log(
        &source,
        "maps.element.value.a",
        "
            886..1486
            803..863
            3287..3887
            3228..3269
            6175..6775
            6101..6153",
    );
}

/// A read of a column requests stripe footers, and data streams of the column, its parents and its children.
#[test]
fn only_streams_of_selected_columns_are_read() {
    for (name, bytes) in data::files("tests/data") {
        let source = logged(&name);
        let file = OrcFile::try_new(source.clone(), &Limits::default()).unwrap();
        source.take();
        let root = file.tail().schema.get(0).unwrap();
        if root.kind != Kind::Struct {
            continue;
        }
        read(&file, Columns::All);
        let all = source.bytes();
        let stripes = &file.tail().stripes;
        let footers: u64 = stripes.iter().map(|stripe| stripe.footer_length).sum();
        let mut sum = 0;
        for &id in &root.children {
            read(&file, Columns::Ids(vec![id]));
            for range in source.requests.lock().unwrap().iter().flatten() {
                let is_footer = stripes.iter().any(|stripe| stripe.footer() == *range);
                let is_data = stripes.iter().any(|s| s.data().start <= range.start && range.end <= s.data().end);
                assert!(is_footer || is_data, "{name}, column {id}: {range:?} of {} bytes", bytes.len());
            }
            sum += source.bytes() - footers;
        }
        // Top-level columns share no streams.
        assert!(sum <= all - footers, "{name}: {sum} of {all} bytes");
        assert!(sum > 0 || stripes.is_empty(), "{name}");
    }
}
