"""Folders without a log whose files differ: the first change keeps what readers saw."""

import datetime as dt
import decimal
import io
import pathlib
from collections.abc import Callable
from typing import Any

import orcish
import pyarrow as pa
import pyorc
from support.case_loops import each_case
from support.random_cases import pairs

UNITS = {"s": 0, "ms": 3, "us": 6, "ns": 9}
OLD, NEW = dt.datetime(1583, 1, 1), dt.datetime(2020, 1, 1)


def moments(unit: str, value: dt.datetime) -> pa.Array:
    return pa.array([value], pa.timestamp(unit))


@each_case("place", ["top", "struct", "list"])
@each_case("verb", ["append", "delete", "append of a hidden column"])
@each_case(("first", "other"), [("us", "ns"), ("s", "us"), ("ms", "ns"), ("s", "ns")])
def test_units_that_hold_the_values_of_all_files(
    tmp_path: pathlib.Path, first: str, other: str, verb: str, place: str
) -> None:
    """A column has the finest unit of any file, whichever is first, but nanoseconds only where they hold all values."""

    def placed(array: pa.Array) -> pa.Array:
        if place == "struct":
            return pa.StructArray.from_arrays([array], ["a"])
        return pa.ListArray.from_arrays([0, 1], array) if place == "list" else array

    def put(name: str, number: int, unit: str | None, value: dt.datetime = NEW, **more: Any) -> None:
        columns = {"id": [number], **more}
        if unit is not None:
            columns["t"] = placed(moments(unit, value))
        orcish.write_table(pa.table(columns), tmp_path / name)

    hidden = verb == "append of a hidden column"
    put("a.orc", 0, None if hidden else first, extra=[1])
    put("b.orc", 1, first, OLD)
    put("c.orc", 2, other)
    before = orcish.read_table(tmp_path)
    if verb == "delete":
        orcish.delete(tmp_path, "id = 0")
    else:
        rows = pa.table({"id": [3], "t": placed(moments(first, NEW))})
        orcish.write_dataset(rows, tmp_path, existing_data="append")
    after = orcish.read_table(tmp_path).sort_by("id")
    assert after.schema.field("t").type == placed(moments("us", NEW)).type
    if not hidden:
        assert after.schema.field("t") == before.schema.field("t")
    wanted = placed(moments("us", NEW)).to_pylist()[0]
    old = placed(moments("us", OLD)).to_pylist()[0]
    by_id = {0: None if hidden else wanted, 1: old, 2: wanted, 3: wanted}
    assert after["t"].to_pylist() == [by_id[number] for number in after["id"].to_pylist()]


Column = tuple[list[Any], Any] | None
INSTANT = NEW.replace(tzinfo=dt.timezone.utc)
COLUMNS: dict[str, tuple[Column, Column]] = {
    "integers": (([1], pa.int8()), ([2], pa.int64())),
    "unsigned": (([1], pa.int64()), ([2**63], pa.uint64())),
    "decimals": (([1], pa.int32()), ([decimal.Decimal("1.50")], pa.decimal128(12, 2))),
    "floats": (([1.5], pa.float32()), ([2.5], pa.float64())),
    "instants": (([NEW], pa.timestamp("us")), ([INSTANT], pa.timestamp("us", "UTC"))),
    "instants before": (([INSTANT], pa.timestamp("us", "UTC")), ([NEW], pa.timestamp("us"))),
    "units": (([NEW], pa.timestamp("s")), ([NEW], pa.timestamp("ns"))),
    "units of times": (([dt.time(1)], pa.time32("s")), ([dt.time(2)], pa.time64("us"))),
    "bytes": ((["a"], pa.string()), ([b"b"], pa.binary())),
    "encodings": ((["a"], pa.string()), (["b"], pa.dictionary(pa.int8(), pa.string()))),
    "nulls": (([None], pa.null()), ([1], pa.int16())),
    "lists": (([[1]], pa.list_(pa.int8())), ([[2]], pa.list_(pa.int64()))),
    "fields": (
        ([{"a": 1}], pa.struct({"a": pa.int8()})),
        ([{"a": 2, "b": 3}], pa.struct({"a": pa.int64(), "b": pa.int8()})),
    ),
    "a column of the first file": (([1], pa.int8()), None),
    "a column of a later file": (None, ([1], pa.int8())),
}
"""A column in the first file and in the next one; ``None`` where it is not there."""
HIDDEN = {"fields": pa.struct({"a": pa.int64(), "b": pa.int8()}), "a column of a later file": pa.int8()}
"""Types of columns that are in a later file only, or have fields there, and that appear with the first commit."""


def rows_with(number: int, column: Column) -> pa.Table:
    rows = pa.table({"id": [number]})
    return rows if column is None else rows.append_column("x", pa.array(*column))


def mixed(table: pathlib.Path, columns: str, layout: str) -> None:
    """A table of three files, of which the second one decides types of columns, and of the partition column."""
    first, other = COLUMNS[columns]
    for number, (folder, column) in enumerate(zip("1t1", (first, other, first), strict=True)):
        path = table / (f"k={folder}/{number}.orc" if layout == "partitions" else f"{number}.orc")
        path.parent.mkdir(parents=True, exist_ok=True)
        orcish.write_table(rows_with(number, column), path)


def all_rows(table: pathlib.Path, columns: str) -> pa.Table:
    """The rows that readers see, and the columns that they do not see yet."""
    schema = pa.schema({"id": pa.int64(), "x": HIDDEN[columns]}) if columns in HIDDEN else None
    return orcish.read_table(table, schema=schema).sort_by("id")


DELETED: dict[str, tuple[Callable[[pathlib.Path], object], set[int]]] = {
    "delete the first file": (lambda table: orcish.delete(table, "id = 0"), {0}),
    "delete the other file": (lambda table: orcish.delete(table, "id = 1"), {1}),
    "delete the last file": (lambda table: orcish.delete(table, "id = 2"), {2}),
    "delete all rows": (lambda table: orcish.delete(table, "true"), {0, 1, 2}),
    "compact": (orcish.compact, set()),
    "rewrite": (lambda table: orcish.compact(table, rewrite=True), set()),
}
"""Changes, and the rows that they delete."""


@each_case(("columns", "layout", "verb"), pairs(COLUMNS, ["files", "partitions"], DELETED))
def test_the_first_change_records_what_readers_saw(
    tmp_path: pathlib.Path, columns: str, layout: str, verb: str
) -> None:
    """Whichever file goes away, or is joined with others; the next change keeps it, too."""
    mixed(tmp_path, columns, layout)
    before = all_rows(tmp_path, columns)
    change, gone = DELETED[verb]
    change(tmp_path)
    after = orcish.read_table(tmp_path).sort_by("id")
    assert after.schema.equals(before.schema)
    assert after.to_pylist() == [row for row in before.to_pylist() if row["id"] not in gone]
    orcish.delete(tmp_path, "id > 0")
    assert orcish.scan(tmp_path).schema.equals(before.schema)


@each_case("columns", COLUMNS)
def test_a_change_of_a_partition_records_what_readers_of_the_table_saw(tmp_path: pathlib.Path, columns: str) -> None:
    mixed(tmp_path, columns, "partitions")
    before = all_rows(tmp_path, columns)
    orcish.delete(tmp_path / "k=t", "true")
    after = orcish.read_table(tmp_path).sort_by("id")
    assert after.schema.equals(before.schema)
    assert after.to_pylist() == [row for row in before.to_pylist() if row["k"] != "t"]


@each_case("verb", ["append", "overwrite", "overwrite_partitions"])
@each_case("columns", COLUMNS)
def test_rows_that_are_added_keep_the_types_that_readers_saw(tmp_path: pathlib.Path, columns: str, verb: Any) -> None:
    """Also where they replace the file that has decided on the types."""
    mixed(tmp_path, columns, "partitions")
    before = all_rows(tmp_path, columns).schema
    target = tmp_path / "k=t" if verb == "overwrite" else tmp_path
    rows = rows_with(3, None)
    by = [] if verb == "overwrite" else ["k"]
    rows = rows.append_column("k", pa.array(["t"])) if by else rows
    orcish.write_dataset(rows, target, partition_by=by, existing_data=verb)
    after = orcish.read_table(tmp_path).sort_by("id")
    assert after["id"].to_pylist() == ([0, 1, 2, 3] if verb == "append" else [0, 2, 3])
    assert after.schema.equals(before)


@each_case("verb", ["append", "delete", "compact"])
@each_case("columns", ["instants", "instants before"])
def test_instants_of_one_file_are_instants_without_arrow_types(tmp_path: pathlib.Path, columns: str, verb: str) -> None:
    mixed(tmp_path, columns, "files")
    before = orcish.scan(tmp_path, arrow_schema=False).schema
    if verb == "append":
        orcish.write_dataset(rows_with(3, None), tmp_path, existing_data="append")
    else:
        DELETED["compact" if verb == "compact" else "delete the other file"][0](tmp_path)
    assert orcish.scan(tmp_path, arrow_schema=False).schema.equals(before)


BEYOND = {
    "another type": {"2.orc": pa.table({"id": [2], "x": ["text"]})},
    "another format": {"2.orc": b"text"},
    "other partition columns": {"j=1/2.orc": pa.table({"id": [2]})},
}
"""Files with which readers cannot read the others."""


@each_case("case", BEYOND)
def test_folders_that_cannot_be_read_get_no_schema(tmp_path: pathlib.Path, case: str) -> None:
    """Once the file that is in the way is gone, the files decide on the types."""
    for number, kind in enumerate([pa.int8(), pa.int8(), pa.int64()]):
        path = tmp_path / f"k={number // 2}" / f"{number}.orc"
        path.parent.mkdir(exist_ok=True)
        orcish.write_table(rows_with(number, ([number], kind)), path)
    before = orcish.read_table(tmp_path)
    ((name, content),) = BEYOND[case].items()
    path = tmp_path / name if "=" in name else tmp_path / "k=9" / name
    path.parent.mkdir()
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        orcish.write_table(content, path)
    assert len(orcish.compact(tmp_path / "k=0")) == 1
    path.unlink()
    assert orcish.read_table(tmp_path).equals(before)


def test_types_of_other_files_than_one_of_another_format(tmp_path: pathlib.Path) -> None:
    """Rows are appended beside a file that is no ORC file; the types are those of the others."""
    mixed(tmp_path, "integers", "files")
    before = orcish.scan(tmp_path).schema
    (tmp_path / "9.txt").write_text("text")
    orcish.write_dataset(rows_with(3, None), tmp_path, existing_data="append")
    (tmp_path / "9.txt").unlink()
    assert orcish.read_table(tmp_path).schema.equals(before)


def test_types_of_nulls_stay(tmp_path: pathlib.Path) -> None:
    """The file that has given a column of nulls its type is deleted."""
    orcish.write_table(pa.table({"id": [0, 1], "n": pa.nulls(2)}), tmp_path / "a.orc")
    orcish.write_table(pa.table({"id": [2], "n": pa.array([5], pa.int64())}), tmp_path / "b.orc")
    orcish.write_table(pa.table({"id": [3], "n": pa.array([6], pa.int32())}), tmp_path / "c.orc")
    for number in (2, 3, 0):
        orcish.delete(tmp_path, f"id = {number}")
        assert orcish.scan(tmp_path).schema.field("n").type == pa.int64()


@each_case("kind", ["char(5)", "varchar(1)"])
@each_case("limited_first", [True, False])
def test_conversions_of_limited_texts(tmp_path: pathlib.Path, kind: str, limited_first: bool) -> None:
    """A column that is limited in some files only is not limited in the target: values are neither padded nor refused."""
    source = tmp_path / "s"
    source.mkdir()
    for name, type_, text in (("b", kind, "x"), ("a" if not limited_first else "c", "string", "longer")):
        file = io.BytesIO()
        with pyorc.Writer(file, f"struct<id:bigint,t:{type_}>") as writer:
            writer.write((0, text))
        (source / f"{name}.orc").write_bytes(file.getvalue())
    before = sorted(orcish.read_table(source)["t"].to_pylist())
    orcish.convert(source, tmp_path / "t")
    assert sorted(orcish.read_table(tmp_path / "t")["t"].to_pylist()) == before
    orcish.convert(source / "b.orc", tmp_path / "u")
    assert orcish.scan(tmp_path / "u").schema.field("t").metadata == {b"orc.type": kind.encode()}


@each_case("kind", [pa.list_view(pa.int8()), pa.large_list_view(pa.string()), pa.int8()], ids=str)
def test_results_without_rows_have_chunks(tmp_path: pathlib.Path, kind: pa.DataType) -> None:
    """pyarrow ends the process where pandas gets list views without chunks."""
    values = [[1]] if kind == pa.list_view(pa.int8()) else [["a"]] if pa.types.is_nested(kind) else [1]
    orcish.write_dataset(pa.table({"id": [1], "u": pa.array(values, kind)}), tmp_path / "t")
    orcish.delete(tmp_path / "t", "id = 1")
    for found in (orcish.read_table(tmp_path / "t"), orcish.read_table(tmp_path / "t", columns=["u"])):
        assert (found.num_rows, found["u"].num_chunks, len(found.to_pandas())) == (0, 1, 0)


def test_empty_values_of_partitions_are_null(tmp_path: pathlib.Path) -> None:
    """In scans, conversions and overwrites."""
    table = tmp_path / "t"
    (table / "k=").mkdir(parents=True)
    orcish.write_table(pa.table({"id": [77]}), table / "k=" / "a.orc")
    orcish.write_dataset(pa.table({"id": [0], "k": ["a"]}), table, partition_by=["k"], existing_data="append")
    assert orcish.scan(table, filters="k is null").to_table()["id"].to_pylist() == [77]
    orcish.convert(table, tmp_path / "u")
    assert orcish.scan(tmp_path / "u", filters="k is null").to_table()["id"].to_pylist() == [77]
    rows = pa.table({"id": [78], "k": [""]})
    orcish.write_dataset(rows, table, partition_by=["k"], existing_data="overwrite_partitions")
    assert sorted(orcish.read_table(table)["id"].to_pylist()) == [0, 78]
