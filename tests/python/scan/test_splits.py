"""Splits: parts of a scan that other processes read; and what a scan says it would do."""

import multiprocessing
import pickle

import orcish
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from orcish import col
from support.case_loops import each_case
from support.cpp_writers import write_arrow
from support.http_server import serve
from support.orc_layout import layout
from support.small_tables import put
from support.splits import read

ROWS = 40_000
PARTS = [
    pa.table({"id": range(at, at + ROWS), "key": [i * 7919 % 10_007 for i in range(at, at + ROWS)]})
    for at in (0, ROWS, 2 * ROWS)
]
DATA = [write_arrow(part, stripe_size=64 << 10, batch_size=10_000, row_index_stride=2000) for part in PARTS]
WHOLE = pa.concat_tables(PARTS)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return put(tmp_path_factory.mktemp("splits"), {f"day={i}/{i}.orc": data for i, data in enumerate(DATA)})


def test_splits_give_each_row_once_in_other_processes(folder):
    splits = orcish.scan(folder, row_number=True).splits(40_000)
    assert len(splits) > 6
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        tables = pool.map(read, [pickle.dumps(split) for split in splits])
    assert [len(table) for table in tables] == [split.rows for split in splits]
    assert pa.concat_tables(tables).equals(orcish.scan(folder, row_number=True).to_table())


def test_splits_have_the_size_asked_for(folder):
    table = orcish.scan(folder)
    stripes = [orcish.ORCFile(file).stripes for file in table.files]
    lengths = [[s.index_length + s.data_length + s.footer_length for s in each] for each in stripes]
    assert min(map(len, lengths)) == 4
    small = table.splits(1)
    assert [(s.location, s.stripes, s.size, s.rows) for s in small] == [
        (file, [i], length, found[i].num_rows)
        for file, found, each in zip(table.files, stripes, lengths, strict=True)
        for i, length in enumerate(each)
    ]
    assert [s.stripes for s in table.splits()] == [list(range(len(each))) for each in lengths]
    for size in (40_000, 60_000):
        splits = table.splits(size)
        assert all(split.size <= size or len(split.stripes) == 1 for split in splits)
        assert sum(split.size for split in splits) == sum(map(sum, lengths))
        assert sum(split.rows for split in splits) == 3 * ROWS


def test_splits_leave_out_stripes_without_wanted_rows(folder):
    table = orcish.scan(folder).where(col("id").between(ROWS - 10, ROWS + 10)).select("day", "id")
    splits = table.splits(1)
    assert [split.location.rsplit("/", 1)[1] for split in splits] == ["0.orc", "1.orc"]
    found = pa.concat_tables([split.scan().to_table() for split in splits])
    assert found.equals(table.to_table())
    assert found["id"].to_pylist() == list(range(ROWS - 10, ROWS + 11))
    assert orcish.scan(folder).where(col("day") > 1).splits(1)[0].location.endswith("2.orc")
    assert orcish.scan(folder).where(col("id") < 0).splits() == []


@each_case(
    "filters", [col("key") == 5, pc.field("key") == 5, pl.col("key") == 5, pl.col("key") * 2 == 10, [("key", "=", 5)]]
)
def test_filters_travel_with_splits(folder, filters):
    table = orcish.scan(folder, filters=filters, columns=["id"])
    tables = [read(pickle.dumps(split)) for split in table.splits(40_000)]
    want = WHOLE.filter(pc.field("key") == 5).select(["id"])
    assert pa.concat_tables(tables).equals(want)
    assert table.to_table().equals(want)


def test_there_are_no_splits_of_what_is_about_all_rows(folder):
    """An aggregate in a filter would be computed for each split."""
    table = orcish.scan(folder).where(pl.col("id") > pl.col("id").mean())
    assert table.count() == 3 * ROWS // 2
    with pytest.raises(TypeError, match=r"mean.*all rows at once: there are no splits"):
        table.splits()


def test_splits_can_be_compared_and_kept_in_sets(folder):
    first, second, *_ = orcish.scan(folder).where(col("id") > 5).splits(1)
    assert first == first
    assert first != second
    assert len({first, second, first}) == 2


def test_splits_of_files_that_are_not_like_the_first():
    later = write_arrow(pa.table({"id": pa.array([1, 2], pa.int8()), "new": ["x", "y"]}))
    splits = orcish.scan([DATA[0], later], columns=["key", "id"]).splits()
    table = pickle.loads(pickle.dumps(splits[-1])).scan().to_table()
    assert table.to_pydict() == {"key": [None, None], "id": [1, 2]}
    assert table.schema == pa.schema([("key", pa.int64()), ("id", pa.int64())])


def test_tails_of_splits_are_not_read_again():
    with serve({"/t.orc": DATA[0]}) as server:
        options = {"orcish.first_read": 5000}
        table = orcish.scan(f"{server.url}/t.orc", storage_options=options)
        splits = [pickle.loads(pickle.dumps(split)) for split in table.splits(1)]
        server.take()
        assert splits[1].scan().schema.names == ["id", "key"]
        assert server.take() == ([], 0)
        # An answer by the tail asks for the version of the file.
        assert splits[1].scan().count() == splits[1].rows
        assert server.take() == ([("HEAD", None)], 0)
        assert len(splits[1].scan().to_table()) == splits[1].rows
        log, sent = server.take()
        tail = layout(DATA[0]).tail_start
        assert log
        assert all(int(asked.rsplit("-", 1)[1]) < tail for _, asked in log)
        assert sent <= len(DATA[0])


def test_explanations_add_up(folder):
    table = orcish.scan(folder).where((col("id") >= ROWS + 100) & (col("id") < ROWS + 200)).select("key")
    plan = table.explain()
    assert [file.file for file in plan.files] == table.files
    outcomes = [[stripe.outcome for stripe in file.stripes] for file in plan.files]
    assert set(outcomes[0]) == set(outcomes[2]) == {"skipped"}
    assert outcomes[1] == ["read", *["skipped"] * (len(outcomes[1]) - 1)]
    assert plan.files[0].stripes[0].reasons[0][1] == "statistics of the file"
    assert ("id >= 40100", "statistics of the file") in plan.files[0].stripes[0].reasons
    assert plan.files[1].stripes[1].reasons[0][1] == "statistics of the stripe"
    stripe = plan.files[1].stripes[0]
    assert sum(count for count, _, _ in stripe.row_groups) == stripe.rows
    assert [what for _, what, _ in stripe.row_groups].count("read") == 1
    assert stripe.rows_read == plan.rows_read == 2000
    assert plan.bytes == stripe.filter_bytes + stripe.other_bytes > 0
    assert plan.requests == stripe.filter_requests + stripe.other_requests > 0
    text = str(plan)
    assert text.startswith("2,000 rows to look at, at most")
    for words in (table.files[0], "stripe 0", "skipped by statistics of the file (id < 40200)", "row groups read: 0"):
        assert words in text, text
    assert plan.after_read is None
    assert orcish.scan(folder).explain().rows_read == 3 * ROWS
    assert {s.outcome for f in orcish.scan(folder).explain().files for s in f.stripes} == {"all"}
    half = table.where(pl.col("key") % 2 == 0).explain()
    assert half.rows_read == 2000
    assert "key" in half.after_read
    assert f"applied after the read: {half.after_read}" in str(half)


def test_explanations_have_a_line_for_neighbours_that_are_skipped_alike(folder):
    plan = orcish.scan(folder / "day=1" / "1.orc", filters=col("id").between(ROWS + 10_100, ROWS + 10_200)).explain()
    before, read, *after = (stripe.stripe for stripe in plan.files[0].stripes)
    assert repr(plan) == str(plan)
    stripes = [line.strip() for line in str(plan).splitlines() if line.startswith("  stripe")]
    assert [line.split(",")[0] for line in stripes] == [
        f"stripe {before}",
        f"stripe {read}",
        f"stripes {after[0]}-{after[-1]}",
    ]
    assert f"{sum(stripe.rows for stripe in plan.files[0].stripes[2:]):,} rows: skipped by statistics" in stripes[2]


def test_what_is_read_is_what_is_explained():
    with serve({"/t.orc": DATA[0]}) as server:
        options = {"orcish.first_read": 3000, "orcish.coalesce_gap": 0}
        table = orcish.scan(f"{server.url}/t.orc", storage_options=options).where(col("id") == 12_345)
        plan = table.explain()
        server.take()
        assert table.to_table()["id"].to_pylist() == [12_345]
        log, sent = server.take()
        found = layout(DATA[0])
        stripe = next(s.stripe for s in plan.files[0].stripes if s.outcome != "skipped")
        index = sum(s.end - s.start for s in found.streams if s.stripe == stripe and s.kind == "ROW_INDEX")
        assert sent <= plan.bytes + index + len(found.stripe_footers[stripe])
        assert len(log) <= plan.requests + 3
        assert plan.bytes < len(DATA[0]) / 5
