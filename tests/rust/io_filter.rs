//! What is read of a file with a filter, a limit or row numbers, byte range by byte range.

use std::sync::Arc;

use orcish::{Columns, Comparison, Limits, OrcFile, Predicate, ReadOptions};

use crate::io_log::{Logged, assert_log, logged, named};

/// One stripe of 170 rows in row groups of 20, without compression; bloom filters of id, word and text.
const GROUPS: &str = "groups/cpp.none.orc";
/// Two stripes, of 2030 and 50 rows in row groups of 1000, in chunks of no more than 256 bytes.
const CHUNKS: &str = "groups/java.zlib.orc";

/// Reads a file whose tail has been read; says how many rows it has.
fn read(name: &str, options: ReadOptions) -> (Arc<Logged>, usize) {
    let source = logged(name);
    let file = OrcFile::new(source.clone(), &Limits::default()).unwrap();
    source.take();
    let batches = file.read(ReadOptions { threads: 1, ..options }).unwrap();
    (source, batches.map(|batch| batch.unwrap().num_rows()).sum())
}

#[track_caller]
fn assert_read(name: &str, filter: Predicate, columns: Columns, rows: usize, want: &str) {
    let what = format!("{filter} of {name}");
    let (source, got) = read(name, ReadOptions { filter: Some(filter), columns, ..ReadOptions::default() });
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
fn nothing_is_read_that_the_file_statistics_exclude() {
    assert_read(GROUPS, equal("id", 170), Columns::All, 0, "");
    assert_read(CHUNKS, equal("word", "\u{10ffff}"), Columns::All, 0, "");
    assert_read(GROUPS, Predicate::Constant(Some(false)), Columns::All, 0, "");
}

/// Stripe statistics came along with the tail. Of the second stripe the footer, the bloom filter of its one row group,
/// and the streams.
#[test]
fn stripes_are_excluded_by_their_statistics() {
    assert_read(
        CHUNKS,
        equal("id", 2040),
        named("money"),
        1,
        "
            18975..19432
            16505..16673
            17729..17737
            18439..18514",
    );
}

/// Footer, row index of the column, its bloom filters; then the column in the row groups that may have it.
#[test]
fn bloom_filters_are_looked_up() {
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
        named("word"),
        20,
        "
            16222..17258
            2221..2525
            2525..2651
            11167..11319",
    );
}

/// Footer, row index of `id`, `id` in one row group; then row indexes of the others, and the others in that group.
#[test]
fn a_key_range_is_one_row_group() {
    assert_read(
        GROUPS,
        between("id", 45, 47),
        Columns::Names(vec!["text".to_owned(), "list".to_owned()]),
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
        named("text"),
        3,
        "
            14184..14778
            27..107
            3973..3995
            1709..1816
            7233..7910",
    );
}

/// The condition is decided by `double` alone, and no row is left.
#[test]
fn other_columns_are_read_where_rows_survive() {
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
fn a_limit_stops_reading() {
    let limit = |limit, filter, columns| {
        let (source, rows) =
            read(CHUNKS, ReadOptions { limit: Some(limit), filter, columns, ..ReadOptions::default() });
        assert_eq!(rows as u64, limit);
        source
    };
    assert_log(&limit(0, None, Columns::All), "no rows", "");
    assert_log(
        &limit(3, None, named("bool")),
        "the first stripe",
        "
            14184..14778
            3995..4058",
    );
    assert_log(
        &limit(3, Some(between("id", 10, 2050)), named("bool")),
        "rows of the first stripe",
        "
            14184..14778
            27..107
            3973..3995
            918..982
            3995..4058",
    );
}

/// Nothing; with a filter, what it asks.
#[test]
fn row_numbers_need_no_column() {
    let numbers = |filter| {
        let (columns, row_number) = (Columns::Ids(Vec::new()), Some("row".to_owned()));
        read(GROUPS, ReadOptions { columns, row_number, filter, ..ReadOptions::default() })
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

/// Without a row index a stripe is one row group: the column that is asked, then the other.
#[test]
fn stripes_without_an_index_are_read_as_a_whole() {
    assert_read(
        "pyorc.none.orc",
        equal("varchar", "vvv"),
        named("word"),
        2,
        "
            389..617
            165..221
            221..238",
    );
}
