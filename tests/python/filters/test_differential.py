"""Reading with a filter gives the rows that the same filter keeps of all rows in memory, whatever the file."""

import numpy as np
import orcish
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from orcish import Expression, col
from support import predicate_oracle
from support.case_loops import each_case
from support.cpp_writers import write_arrow, write_rows
from support.filter_cases import ROW, Subject, check, leaf, predicate, same
from support.filter_files import FILES, near_1970
from support.random_cases import cases, seeded


@pytest.fixture(scope="module")
def subject(spark, tmp_path_factory):
    """A function that gives a file, which is written once."""
    written = {}

    def written_once(title):
        if title not in written:
            written[title] = Subject(FILES[title](tmp_path_factory.mktemp("orc"), spark))
        return written[title]

    return written_once


@each_case("title", FILES)
def test_a_filter_reads_the_rows_that_it_keeps_in_memory(title, subject):
    this = subject(title)
    rng = seeded(f"filters of {title}")
    for case in range(cases(300)):
        asked = rng.choices(list(this.kinds), k=rng.choice([1, 2, 4]))
        tree = predicate(rng, [leaf(rng, this, column) for column in asked])
        check(rng, this, tree, with_values=case % 3 == 0)


@each_case("title", list(FILES)[:2])
def test_what_is_judged_leaf_by_leaf_is_what_is_judged_as_a_whole(title, subject):
    this = subject(title)
    rng = seeded(f"leaves of {title}")
    table = this.whole(columns=[column for column in this.whole().column_names if column != "u"])
    for _ in range(cases(15)):
        tree = predicate(rng, [leaf(rng, this, rng.choice(list(this.kinds))) for _ in range(3)])
        assert predicate_oracle.truth(Expression(tree), table).equals(this.truth(tree, {})), tree


MANY = 2_300_000


@pytest.fixture(scope="module")
def many():
    """More rows in a stripe than are decided ahead, and more in a row group than a batch has."""
    rows = np.arange(MANY)
    columns = {
        "id": pa.array(rows),
        "half": pa.array(rows, mask=rows % 2 == 1),
        "spread": pa.array(rows * 7919 % 1_000_003),
        "text": pa.array((rows // 1000).astype(str)),
        "list": pa.ListArray.from_arrays(np.arange(MANY + 1, dtype=np.int32), pa.array(rows % 5)),
    }
    data = write_arrow(columns, row_index_stride=50_000, batch_size=100_000, stripe_size=1 << 30, compression="lz4")
    return orcish.ORCFile(data)


@each_case(
    ("filters", "kept"),
    [
        (col("spread") == 5, lambda rows: rows * 7919 % 1_000_003 == 5),
        (col("id") >= 0, lambda rows: rows >= 0),
        (col("half").is_null() & (col("id") < 1_500_000), lambda rows: (rows % 2 == 1) & (rows < 1_500_000)),
        (
            (col("spread") < 3) | (col("id") > 2_200_000),
            lambda rows: (rows * 7919 % 1_000_003 < 3) | (rows > 2_200_000),
        ),
        (col("text").is_in(["3", "1999"]), lambda rows: np.isin(rows // 1000, [3, 1999])),
        (col("id").between(1_048_570, 1_048_580), lambda rows: (rows >= 1_048_570) & (rows <= 1_048_580)),
    ],
    ids=lambda each: str(each) if isinstance(each, Expression) else "",
)
def test_stripes_of_many_rows(many, filters, kept):
    assert many.num_stripes == 1
    want = np.flatnonzero(kept(np.arange(MANY)))
    for options in ({}, {"batch_size": 3_000_000, "threads": 1}, {"columns": ["list", "half"], "batch_size": 7777}):
        found = many.read(filters=filters, row_number=ROW, **options)
        assert np.array_equal(found[ROW].to_numpy(), want)
        assert np.array_equal(pc.list_flatten(found["list"]).to_numpy(), want % 5)
        assert found["half"].null_count == np.count_nonzero(want % 2)
    assert np.array_equal(many.read(filters=filters, columns=["id"], limit=12_345)["id"].to_numpy(), want[:12_345])


@each_case("kind", ["bigint", "string", "timestamp", "array<int>"])
def test_roots_that_are_no_struct(kind):
    rng = seeded(f"root {kind}")
    value = {
        "bigint": lambda row: row,
        "string": lambda row: f"{row // 7:04}",
        "timestamp": lambda row: near_1970(rng, row, 0),
        "array<int>": lambda row: [row],
    }[kind]
    rows = [None if row % 11 == 0 or row // 100 == 3 else value(row) for row in range(2000)]
    this = Subject(write_rows(kind, rows, row_index_stride=100))
    for _ in range(cases(50)):
        tree = predicate(rng, [leaf(rng, this, "value") for _ in range(2)])
        found = this.file.read(filters=Expression(tree), row_number=ROW)
        want = this.rows(tree, {})
        assert found[ROW].to_pylist() == want.to_pylist(), tree
        assert same(found.drop_columns([ROW]), this.whole(), want)
