"""CarbonData tables whose columns changed since files were written, and tables that are streamed to."""

import datetime as dt

import orcish
import pyarrow as pa
import pytest
from support import carbon_rows as cases
from support.carbon_tables import NAMES, check, some, writer
from support.case_loops import each_case

# Schemas that changed.

ADDED = {
    "text": (pa.string(), "dflt"),
    "int": (pa.int32(), -42),
    "long": (pa.int64(), 1 << 40),
    "short": (pa.int16(), 7),
    "double": (pa.float64(), 1.5),
    "decimal": (pa.decimal128(10, 2), cases.decimal(-1234, 2)),
    "wide decimal": (pa.decimal128(38, 5), cases.decimal(10**36, 5)),
    "flag": (pa.bool_(), True),
    "day": (pa.date32(), dt.date(2001, 2, 3)),
    "instant": (pa.timestamp("ms"), dt.datetime(1950, 1, 2, 3, 4, 5)),
    "text without one": (pa.string(), None),
    "decimal without one": (pa.decimal128(10, 2), None),
    "list": (pa.list_(pa.int32()), None),
}


@each_case("case", ADDED)
def test_added_columns(tmp_path, case):
    """Rows of files without the column have its default."""
    of, default = ADDED[case]
    written = writer(tmp_path)
    written.load(some())
    written.alter_add("new", of, default)
    check(written)
    more = some(100, 20).append_column("new", pa.array([default, None] * 10, of))
    written.load(more)
    written.delete("0", [0, 40])
    table = check(written)
    if default is not None and not pa.types.is_nested(of):
        whole = written.rows().column("new").to_pylist()
        asked = written.rows().slice(0, 1).column("new")[0].as_py()
        assert table.scan(filters=orcish.col("new") == asked).count() == whole.count(asked)
        assert table.scan(filters=orcish.col("new").is_null()).count() == whole.count(None)


def test_dropped_and_renamed_columns(tmp_path):
    written = writer(tmp_path)
    written.load(some())
    written.alter_drop("f64")
    written.alter_rename("s", "renamed")
    check(written)
    # A column of the name of one that is gone is another one.
    written.alter_add("f64", pa.float64())
    names = ["renamed" if name == "s" else name for name in NAMES if name != "f64"]
    more = some(100).drop_columns(["f64"]).rename_columns(["id", *names])
    written.load(more.append_column("f64", pa.array([0.5] * 100)))
    table = check(written)
    assert table.scan(columns=["f64"]).to_table().column("f64").to_pylist() == [None] * 100 + [0.5] * 100
    assert table.scan(filters=orcish.col("renamed") == "name 1 é").count() > 0
    with pytest.raises(orcish.UnknownColumnError):
        table.read(columns=["s"])


def test_wider_types(tmp_path):
    names = ["i32", "dec9", "dec18"]
    written = writer(tmp_path, names)
    written.load(some(names=names))
    for name, of in (("i32", pa.int64()), ("dec9", pa.decimal128(18, 2)), ("dec18", pa.decimal128(30, 6))):
        written.alter_widen(name, of)
    wide = pa.table(
        {
            "id": pa.array([500], pa.int32()),
            "i32": [1 << 50],
            "dec9": [cases.decimal(10**15, 2)],
            "dec18": [cases.decimal(10**29, 6)],
        }
    )
    written.load(wide.cast(pa.schema([(column.name, column.type) for column in written.columns])))
    table = check(written)
    assert table.scan(filters=orcish.col("i32") > 1 << 40).count() == 1
    assert table.scan(filters=orcish.col("dec9") < 0).count() == sum(
        value is not None and value < 0 for value in written.rows()["dec9"].to_pylist()
    )


# Streams.

STREAMED = [name for name in cases.COLUMNS if name not in ("i8", "f32")]


@each_case("finished", [True, False])
@each_case("compressor", ["snappy", "zstd", "gzip"])
def test_streams(tmp_path, compressor, finished):
    """Streamed rows of all types are read beside rows of a load."""
    written = writer(tmp_path, STREAMED, compressor=compressor)
    written.load(some(names=STREAMED))
    written.stream(some(100, 50, STREAMED), block_rows=20, finished=finished)
    written.stream(some(150, 1, STREAMED), finished=finished)
    check(written)


def test_streamed_rows_that_are_not_committed(tmp_path):
    """Bytes behind the end that the index states are not read."""
    written = writer(tmp_path, ["s"])
    written.stream(some(names=["s"]), uncommitted=b"@carbondata_sync\0\0\0\x05half")
    check(written)


def test_streams_with_filters_and_columns(tmp_path):
    written = writer(tmp_path, STREAMED)
    written.stream(some(names=STREAMED), block_rows=9)
    table = orcish.CarbonTable(str(written.path))
    assert table.read(columns=["map", "id"]).num_rows == 100
    assert table.scan(columns=["s"], filters=orcish.col("id") >= 90).count() == 10


@each_case("by", [["flag"], ["day", "s"], ["s", "day"]])
def test_added_columns_of_tables_with_partitions(tmp_path, by):
    """Partition columns stay the last ones, in the order of the partitions, as in Spark."""
    written = writer(tmp_path, ["i64", "s", "day", "flag"], partition_by=by)
    rows = some(0, 30, ["i64", "s", "day", "flag"])
    written.load(rows)
    written.alter_add("new", pa.int32(), 5)
    more = some(30, 10, ["i64", "s", "day", "flag"]).append_column("new", pa.array(range(10), pa.int32()))
    written.load(more)
    names = [*(name for name in [*rows.column_names, "new"] if name not in by), *by]
    table = orcish.CarbonTable(written.path)
    assert (table.schema.names, table.scan().schema.names, table.partition_columns) == (names, names, by)
    cases.equal(table.read(), written.rows().select(names), ordered=False)
    for column in names[1:]:
        cases.equal(table.read(columns=["id", column]), written.rows().select(["id", column]), ordered=False)
    parts = [split.scan().to_table() for split in table.scan().splits(1)]
    cases.equal(pa.concat_tables(parts), written.rows().select(names), ordered=False)
