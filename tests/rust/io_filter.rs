//! Byte ranges that reads with filters, limits and row numbers request.

use std::sync::Arc;

use orcish::{Columns, Comparison, Limits, OrcFile, Predicate, ReadOptions};

use crate::io_log::{LoggedSource, assert_log, column, logged};

/// One stripe of 170 rows in row groups of 20, without compression, with bloom filters of id, word and text.
const GROUPS: &str = "groups/cpp.none.orc";
/// Two stripes, of 2030 and 50 rows in row groups of 1000, in chunks of no more than 256 bytes.
const CHUNKS: &str = "groups/java.zlib.orc";

/// Opens and reads a file. Returns the source with the requests after opening, and the number of rows.
fn read(name: &str, options: ReadOptions) -> (Arc<LoggedSource>, usize) {
    let source = logged(name);
    let file = OrcFile::try_new(source.clone(), &Limits::default()).unwrap();
    source.take();
    let batches = file.read(options.with_threads(1)).unwrap();
    (source, batches.map(|batch| batch.unwrap().num_rows()).sum())
}

#[track_caller]
fn assert_read(name: &str, filter: Predicate, columns: Columns, rows: usize, want: &str) {
    let what = format!("{filter} of {name}");
    let (source, got) = read(name, ReadOptions::default().with_filter(filter).with_columns(columns));
    assert_log(&source, &what, want);
    assert_eq!(got, rows, "{what}: rows");
}

fn equal(column: &str, value: impl Into<orcish::Literal>) -> Predicate {
    Predicate::compare(column, Comparison::Equal, value)
}

fn between(column: &str, from: i32, to: i32) -> Predicate {
    let from = Predicate::compare(column, Comparison::GreaterOrEqual, from);
    Predicate::And(vec![from, Predicate::compare(column, Comparison::LessOrEqual, to)])
}

#[test]
fn files_are_excluded_by_their_statistics() {
    assert_read(GROUPS, equal("id", 170), Columns::All, 0, "");
    assert_read(CHUNKS, equal("word", "\u{10ffff}"), Columns::All, 0, "");
    assert_read(GROUPS, Predicate::Constant(Some(false)), Columns::All, 0, "");
}

/// The stripe statistics are read with the tail. The requests are the footer of the second stripe, the bloom filter of
/// its only row group, and the streams.
#[test]
fn stripes_are_excluded_by_their_statistics() {
    assert_read(
        CHUNKS,
        equal("id", 2040),
        column("money"),
        1,
        "
            18975..19432
            16505..16673
            17729..17737
            18439..18514",
    );
}

/// The requests are the footer, the row index of the column, its bloom filters, and the column in row groups that may
/// have the value.
#[test]
fn bloom_filters_exclude_row_groups() {
    assert_read(
        GROUPS,
        equal("word", "cyan"),
        Columns::All,
        0,
        "
            16222..17258
            2221..2525
            2525..2651",
    );
    assert_read(
        GROUPS,
        equal("word", "日本"),
        column("word"),
        20,
        "
            16222..17258
            2221..2525
            2525..2651
            11167..11319",
    );
}

/// The requests are the footer, the row index of `id`, `id` in one row group, the row indexes of the payload columns,
/// and the payload columns in the row group.
#[test]
fn key_range_reads_one_row_group() {
    assert_read(
        GROUPS,
        between("id", 45, 47),
        Columns::from(["text", "list"]),
        3,
        "
            16222..17258
            75..277
            8081..8085
            2651..2994 5328..5742
            11319..11336 11358..11765 15121..15133 15142..15250 15269..15339",
    );
    assert_read(
        CHUNKS,
        between("id", 1001, 1003),
        column("text"),
        3,
        "
            14184..14778
            27..107
            3973..3995
            1709..1816
            7233..7910",
    );
}

/// Without selected rows only the filter column is read.
#[test]
fn payload_columns_are_read_for_selected_rows_only() {
    assert_read(
        GROUPS,
        equal("double", -0.0625),
        Columns::All,
        0,
        "
            16222..17258
            1826..2221
            9876..10031 10767..10927",
    );
}

#[test]
fn limit_ends_a_read() {
    let limit = |limit, filter, columns| {
        let mut options = ReadOptions::default().with_limit(limit).with_columns(columns);
        options.filter = filter;
        let (source, rows) = read(CHUNKS, options);
        assert_eq!(rows as u64, limit);
        source
    };
    assert_log(&limit(0, None, Columns::All), "no rows", "");
    assert_log(
        &limit(3, None, column("bool")),
        "the first stripe",
        "
            14184..14778
            3995..4058",
    );
    assert_log(
        &limit(3, Some(between("id", 10, 2050)), column("bool")),
        "rows of the first stripe",
        "
            14184..14778
            27..107
            3973..3995
            918..982
            3995..4058",
    );
}

/// Row numbers request nothing, and with a filter only the filter column.
#[test]
fn row_numbers_need_no_column() {
    let numbers = |filter| {
        let mut options = ReadOptions::default().with_columns(Columns::Ids(Vec::new())).with_row_number("row");
        options.filter = filter;
        read(GROUPS, options)
    };
    let (source, rows) = numbers(None);
    assert_log(&source, "all", "");
    assert_eq!(rows, 170);
    let (source, rows) = numbers(Some(equal("id", 45)));
    assert_log(
        &source,
        "one",
        "
            16222..17258
            75..277
            277..403
            8081..8085",
    );
    assert_eq!(rows, 1);
}

/// A stripe without a row index is one row group. The filter column is read before the payload column.
#[test]
fn stripes_without_row_index_are_read_whole() {
    assert_read(
        "pyorc.none.orc",
        equal("varchar", "vvv"),
        column("word"),
        2,
        "
            389..617
            165..221
            221..238",
    );
}
