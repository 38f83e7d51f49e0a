"""Filters on tables of CarbonData: the rows that filtering in memory gives, and no blocklet that bounds rule out."""

import re

import orcish
import pyarrow as pa
import pytest
from support import carbon_filters as filters
from support import carbon_rows as cases
from support.carbon import CarbonTableWriter, as_read, write_folder
from support.carbon.thrift import Reader
from support.case_loops import each_case
from support.random_cases import pairs

VARIANTS = {
    "plain": {},
    "sorted": {"sort_columns": ("s", "day", "i32"), "inverted_index": True},
    "no dictionary": {"local_dictionary": False, "rle": False},
}


@pytest.fixture(scope="module", params=VARIANTS)
def subject(request, tmp_path_factory):
    """A table of all types in several pages and blocklets, and its rows."""
    path = tmp_path_factory.mktemp("filter") / "t"
    table = cases.table()
    write_folder(path, table, page_rows=8, blocklet_rows=24, **VARIANTS[request.param])
    return str(path), as_read(table)


FILTERED = set(pairs(VARIANTS, cases.COLUMNS, range(100)))
"""A variant, a column, and the number of a condition on it."""


@each_case("name", cases.COLUMNS)
def test_a_filter_on_each_column(subject, name, request):
    path, rows = subject
    variant = request.node.callspec.params["subject"]
    found = filters.conditions(rows, name)
    for condition in [each for number, each in enumerate(found) if (variant, name, number) in FILTERED]:
        wanted = filters.kept(rows, condition)
        scan = orcish.scan(path, filters=condition)
        assert scan.count() == wanted.num_rows, condition
        cases.equal(scan.to_table(), wanted, ordered=False)
        assert scan.select("id").to_table().num_rows == wanted.num_rows, condition


def test_filters_on_several_columns(subject):
    path, rows = subject
    col = orcish.col
    for condition in (
        (col("id") > 20) & (col("s") == "name 3 é"),
        (col("id") < 20) | (col("day") > rows["day"][90].as_py()),
        ~((col("id") < 20) | col("at").is_null()),
        (col("f64") >= 2.5) & (col("dec9") < 0),
        (col("long") == "") & col("raw").is_not_null(),
        (col("nest.x") > 50) & (col("id") < 70),
        col("nest.y") == "y1",
    ):
        wanted = filters.kept(rows, condition)
        cases.equal(orcish.scan(path, filters=condition).to_table(), wanted, ordered=False)


def test_filters_on_columns_that_are_not_read(subject):
    path, rows = subject
    found = orcish.read_table(path, columns=["s"], filters=orcish.col("id") == 50)
    assert found.to_pydict() == {"s": [rows.filter(pa.compute.equal(rows["id"], 50))["s"][0].as_py()]}


def test_filters_that_fit_no_column(subject):
    path, _ = subject
    with pytest.raises(orcish.UnknownColumnError, match="nothing"):
        orcish.scan(path, filters=orcish.col("nothing") == 1).to_table()
    with pytest.raises((TypeError, ValueError)):
        orcish.scan(path, filters=orcish.col("s") == 1).to_table()


# What is not read.

INDEXED = {
    # A condition that rows of one blocklet of five fit, by the bounds of its column.
    "id": lambda rows: orcish.col("id") == 50,
    "unsorted": lambda rows: orcish.col("id") > 79,
    "near": lambda rows: orcish.col("near") == rows["near"][50].as_py(),
    # What pages hold may be beyond their greatest, and not below their least.
    "f64": lambda rows: orcish.col("f64") < 1.95,
    "dec18": lambda rows: orcish.col("dec18") > rows["dec18"][79].as_py(),
    "dec38": lambda rows: orcish.col("dec38") > rows["dec38"][79].as_py(),
    "day": lambda rows: orcish.col("day") > rows["day"][79].as_py(),
    "at": lambda rows: orcish.col("at") == rows["at"][50].as_py(),
    "text": lambda rows: orcish.col("text") == "t050",
    "i16": lambda rows: orcish.col("less") < -7900,
}


def in_order(rows=100):
    """Columns whose values go up or down, without nulls."""
    table = cases.table(["near", "f64", "dec18", "dec38", "day", "at"], rows, nulls=False)
    table = table.append_column("text", pa.array([f"t{row:03d}" for row in range(rows)]))
    return table.append_column("less", pa.array([-100 * row for row in range(rows)], pa.int16()))


@each_case("case", INDEXED)
def test_blocklets_are_skipped_by_their_bounds(tmp_path, case):
    table = in_order()
    writer = CarbonTableWriter(tmp_path / "t", table.schema, page_rows=10, blocklet_rows=20)
    writer.load(table)
    rows = writer.rows()
    condition = INDEXED[case](rows)
    scan = orcish.CarbonTable(str(writer.path)).scan(filters=condition)
    cases.equal(scan.to_table(), filters.kept(rows, condition))
    assert re.search("skip", str(scan.explain()))
    # Nothing of the file is read but the one blocklet.
    (data,) = writer.path.rglob("*.carbondata")
    whole = data.read_bytes()
    footer = int.from_bytes(whole[-8:], "big")
    kept = [at for at in range(0, 100, 20) if filters.kept(rows.slice(at, 20), condition).num_rows]
    assert len(kept) == 1
    spoiled = bytearray(whole)
    for number, blocklet in enumerate(Reader(whole, footer).struct()[4]):
        if number * 20 not in kept:
            start, end = blocklet[2][0], blocklet[5]
            spoiled[start:end] = bytes(end - start)
    data.write_bytes(spoiled)
    cases.equal(scan.to_table(), filters.kept(rows, condition))


def test_counting_opens_no_file_that_the_index_rules_out(tmp_path):
    table = in_order()
    writer = CarbonTableWriter(tmp_path / "t", table.schema, page_rows=10, blocklet_rows=20)
    writer.load(table.slice(0, 50))
    writer.load(table.slice(50), files=2)
    for path in writer.path.rglob("*.carbondata"):
        path.unlink()
    found = orcish.CarbonTable(str(writer.path))
    assert found.count() == found.num_rows == 100
    for condition in (orcish.col("id") > 1000, orcish.col("text") == "nothing", orcish.col("near") < 0):
        assert found.scan(filters=condition).count() == 0
        assert found.scan(filters=condition).to_table().num_rows == 0
    with pytest.raises(OSError, match="carbondata"):
        found.scan(filters=orcish.col("id") > 50).to_table()


def test_bounds_that_may_not_be_used(tmp_path):
    """Bounds of long texts and of complex columns are not used."""
    values = ["x" * 300, "y" * 300]
    table = pa.table({"id": pa.array([0, 1], pa.int32()), "s": values, "n": pa.array([{"a": 5}, {"a": 7}])})
    write_folder(tmp_path / "t", table)
    path = str(tmp_path / "t")
    assert orcish.scan(path, filters=orcish.col("s") == values[1]).count() == 1
    assert orcish.scan(path, filters=orcish.col("s") > "z").count() == 0
    assert orcish.scan(path, filters=orcish.col("n.a") == 7).count() == 1


@each_case("zero", [0, 5])
def test_bounds_of_columns_with_nulls(tmp_path, zero):
    """Writers record nulls as zeros in bounds of numbers, and as a marker in bounds of texts."""
    numbers = [None if at % 2 else at + zero for at in range(20)]
    table = pa.table(
        {
            "id": pa.array(range(20), pa.int32()),
            "n": pa.array(numbers, pa.int64()),
            "s": [None if number is None else f"{number:02d}" for number in numbers],
        }
    )
    write_folder(tmp_path / "t", table, page_rows=5, blocklet_rows=10)
    rows = as_read(table)
    for name in ("n", "s"):
        for condition in filters.conditions(rows, name):
            found = orcish.read_table(str(tmp_path / "t"), filters=condition)
            cases.equal(found, filters.kept(rows, condition))


def test_deleted_rows_are_not_found(tmp_path):
    table = in_order()
    writer = CarbonTableWriter(tmp_path / "t", table.schema, page_rows=10, blocklet_rows=20)
    writer.load(table)
    writer.delete("0", range(0, 100, 3))
    rows = writer.rows()
    found = orcish.CarbonTable(str(writer.path))
    for name in ("id", "text", "day"):
        for condition in filters.conditions(rows, name):
            wanted = filters.kept(rows, condition)
            assert found.scan(filters=condition).count() == wanted.num_rows
            cases.equal(found.read(filters=condition), wanted)


def test_partitions_are_skipped(tmp_path):
    """Files are skipped by the bounds of partition columns: skipped files do not exist in this test."""
    table = in_order()
    table = table.append_column("part", pa.array([f"p{row // 20}" for row in range(100)]))
    writer = CarbonTableWriter(tmp_path / "t", table.schema, partition_by=("part",))
    writer.load(table)
    for path in writer.path.rglob("*.carbondata"):
        if path.parent.name != "part=p2":
            path.unlink()
    found = orcish.CarbonTable(str(writer.path))
    assert found.scan(filters=orcish.col("part") == "p2").to_table().num_rows == 20
    assert found.scan(filters=orcish.col("part") == "p7").count() == 0


def test_splits_are_the_table(tmp_path):
    table = in_order()
    writer = CarbonTableWriter(tmp_path / "t", table.schema, page_rows=10, blocklet_rows=20)
    writer.load(table, files=2)
    writer.load(table.slice(0, 30))
    for condition in (None, orcish.col("id") < 45):
        scan = orcish.CarbonTable(str(writer.path)).scan(filters=condition)
        parts = [split.scan().to_table() for split in scan.splits()]
        cases.equal(pa.concat_tables(parts), scan.to_table(), ordered=False)
