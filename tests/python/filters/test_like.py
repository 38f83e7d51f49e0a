"""``like``, ``contains`` and ``ends_with``: DuckDB and pyarrow are the judges of what matches."""

import duckdb
import orcish
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given
from hypothesis import strategies as st
from orcish import col
from support.case_loops import each_case
from support.random_cases import examples

PIECES = ["a", "b", "ab", "é", "😀", "%", "_", "\\", " ", "'", "\n", "A"]
VALUES = st.lists(st.one_of(st.none(), st.lists(st.sampled_from(PIECES), max_size=6).map("".join)), max_size=12)
PATTERNS = st.lists(st.sampled_from([*"ab%_é😀 '\n%_", r"\%", r"\_", "\\\\"]), max_size=7).map("".join)
TEXTS = st.lists(st.sampled_from(PIECES), max_size=3).map("".join)
WAYS = {
    "strings": lambda values: pa.array(values, pa.string()),
    "dictionary": lambda values: pa.array(values * 30, pa.string()),
    "binary": lambda values: pa.array([None if value is None else value.encode() for value in values], pa.binary()),
}


def matching(table, path, filters):
    found = orcish.read_table(path, columns=["row"], filters=filters)["row"].to_pylist()
    assert orcish.scan(path, filters=filters).count() == len(found)
    return found


@pytest.mark.parametrize("way", WAYS)
@examples(40)
@given(VALUES, PATTERNS, TEXTS)
def test_patterns_match_as_in_duckdb(tmp_path_factory, way, values, pattern, text):
    column = WAYS[way](values)
    table = pa.table({"row": range(len(column)), "s": column})
    path = tmp_path_factory.mktemp("like") / "t.orc"
    orcish.write_table(table, path, row_index_stride=1000)
    texts = pa.table({"row": table["row"], "s": column.cast(pa.string())})
    with duckdb.connect() as judge:
        judge.register("texts", texts)
        for condition, parameter, filters in [
            ("s like ? escape '\\'", pattern, col("s").like(pattern)),
            ("s not like ? escape '\\'", pattern, ~col("s").like(pattern)),
            ("contains(s, ?)", text, col("s").contains(text)),
            ("not contains(s, ?)", text, ~col("s").contains(text)),
            ("suffix(s, ?)", text, col("s").ends_with(text)),
        ]:
            found = judge.execute(f"select row from texts where {condition} order by row", [parameter]).fetchall()
            assert matching(table, path, filters) == [row for (row,) in found], (condition, parameter)
            assert matching(table, path, str(filters)) == [row for (row,) in found]


ROWS = 20_000
TABLE = pa.table(
    {
        "row": range(ROWS),
        "name": [None if row % 11 == 0 else f"{row // 100:04}/{row % 7}é" for row in range(ROWS)],
    }
)


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("like") / "names.orc"
    orcish.write_table(TABLE, path, row_index_stride=1000)
    return path


@each_case(
    ("filters", "is_whole"),
    [
        (pl.col("name").str.contains("/3"), True),
        (pl.col("name").str.contains("/3é", literal=True), True),
        (pl.col("name").str.contains("/[34]"), False),
        (pl.col("name").str.ends_with("3é"), True),
        (~pl.col("name").str.ends_with("3é"), True),
        (pc.match_substring(pc.field("name"), "/3"), True),
        (pc.match_substring(pc.field("name"), "/3É", ignore_case=True), False),
        (pc.ends_with(pc.field("name"), "3é"), True),
        (~pc.match_substring(pc.field("name"), "%"), True),
    ],
    ids=str,
)
def test_filters_of_other_libraries(path, filters, is_whole):
    """They keep the rows that these libraries keep, and need no evaluation by these where a pattern says the same."""
    if isinstance(filters, pl.Expr):
        want = pl.from_arrow(TABLE).filter(filters)["row"].to_list()
    else:
        want = TABLE.filter(filters)["row"].to_pylist()
    assert matching(TABLE, path, filters) == want
    explained = str(orcish.scan(path, filters=filters).explain())
    assert ("applied after the read" in explained) != is_whole


def test_row_groups_are_skipped_by_the_beginning_of_a_pattern(path):
    def rows_read(filters):
        return orcish.scan(path, columns=["row"], filters=filters).explain().rows_read

    assert rows_read(col("name").like("0123%3_")) == 1000
    assert rows_read(col("name").like("9%3_")) == 0
    assert rows_read(col("name").like("_123%")) == ROWS
    # What does not match may be in any row group.
    assert rows_read(~col("name").like("0123%3_")) == ROWS


def test_partition_columns(tmp_path):
    table = TABLE.slice(0, 300).append_column("kind", [[f"kind {row % 3}" for row in range(300)]])
    orcish.write_dataset(table, tmp_path / "t", partition_by="kind")
    for filters, want in [("kind like '%d 1'", 1), (col("kind").contains("nd"), None), ("kind like '_ind_2'", 2)]:
        found = orcish.scan(tmp_path / "t", filters=filters).to_table()["row"].to_pylist()
        assert sorted(found) == [row for row in range(300) if want is None or row % 3 == want]


@each_case("pattern", ["a\\", r"\a", r"%\\\ "])
def test_backslashes_are_before_something(path, pattern):
    with pytest.raises(ValueError, match="with a backslash"):
        col("name").like(pattern)


@each_case("method", ["like", "contains", "ends_with"])
def test_types(path, method):
    with pytest.raises(TypeError, match=f"{method} takes a str, not bytes"):
        getattr(col("name"), method)(b"a")
    with pytest.raises(ValueError, match="column row of type bigint cannot be like the pattern"):
        orcish.read_table(path, filters=getattr(col("row"), method)("%a_"))


def test_patterns_of_prefixes_are_simpler_predicates():
    for pattern, want in [
        ("abc%%", col("s").starts_with("abc")),
        ("a\\%%", col("s").starts_with("a%")),
    ]:
        assert col("s").like(pattern).equals(want)
