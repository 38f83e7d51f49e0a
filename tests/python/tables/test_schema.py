"""The schema of a table, which its log has."""

from __future__ import annotations

import base64
import decimal
import io
import json
import pathlib
import zlib
from typing import Any

import orcish
import polars
import pyarrow as pa
import pytest
from orcish import CorruptFileError, col
from orcish.tables.commit import Job
from support.case_loops import each_case
from support.processes import run_python
from support.protobuf import varint
from support.random_cases import seeded
from support.staged_commits import decide, sealed, staged

TYPES: list[tuple[pa.DataType, Any]] = [
    (pa.int64(), 7),
    (pa.string(), "x"),
    (pa.float64(), 1.5),
    (pa.timestamp("ms", "UTC"), 0),
    (pa.struct([("a", pa.int32())]), {"a": 1}),
    (pa.list_(pa.string()), ["x"]),
]


def last_entry(table: pathlib.Path) -> pathlib.Path:
    return max((table / "_orcish" / "log").glob("*.json"))


def stored_schema(file: str, *partition: str) -> dict[str, Any]:
    """A schema as entries and markers have it. The file is text of Base64."""
    return {"file": file, "partition": list(partition)}


def marker_of(entry: dict[str, Any]) -> str:
    """The marker of an entry that is finished."""
    return sealed({"job": entry["job"], "streams": entry["streams"], "schema": entry["new_schema"]})


@each_case("partition_by", [(), ("k",)])
def test_columns_of_appends(tmp_path: pathlib.Path, partition_by: tuple[str, ...]) -> None:
    """A table has all columns that were ever appended, in the order of their appearance, whatever its files are named.
    Rows whose types do not fit are refused, and so are names that differ only by case.
    """
    chance = seeded(f"columns of appends {partition_by}")
    for attempt in range(15):
        table = tmp_path / f"{attempt}"
        columns: dict[str, int] = {}
        rows: list[dict[str, Any]] = []
        for at in range(8):
            names = chance.sample("abcdeABf", chance.randint(1, 4))
            chosen = {name: chance.randrange(len(TYPES)) for name in names}
            if len({name.lower() for name in names}) < len(names):
                continue
            lower = {name.lower(): name for name in columns}
            fits = all(
                lower.get(name.lower(), name) == name and columns.get(name, kind) == kind
                for name, kind in chosen.items()
            )
            data = {name: pa.array([TYPES[kind][1]], TYPES[kind][0]) for name, kind in chosen.items()}
            data |= {name: pa.array([at]) for name in partition_by}
            written = {"existing_data": "append", "partition_by": partition_by}
            template = f"{chance.choice('pqrs')}{{i}}.orc"
            if not fits:
                with pytest.raises(ValueError, match="column"):
                    orcish.write_dataset(pa.table(data), table, **written, basename_template=template)
                continue
            orcish.write_dataset(pa.table(data), table, **written, basename_template=template)
            rows += pa.table(data).to_pylist()
            columns = {**columns, **{name: kind for name, kind in chosen.items() if name not in columns}}
            if chance.random() < 0.3:
                orcish.compact(table)
            found = orcish.read_table(table)
            assert found.schema.names == [*columns, *partition_by]
            assert [found.schema.field(name).type for name in columns] == [TYPES[kind][0] for kind in columns.values()]
            wanted = [{name: row.get(name) for name in found.schema.names} for row in rows]
            assert sorted(map(str, found.to_pylist())) == sorted(map(str, wanted))
            assert orcish.scan(f"{table}/**/*.orc").schema.names[: len(columns)] == [*columns]
            assert set(orcish.scan_polars(table).collect_schema().names()) == {*columns, *partition_by}


def test_fields_of_structs_can_be_added(tmp_path: pathlib.Path) -> None:
    table = tmp_path / "t"
    values = [{"s": [{"a": 1}]}, {"s": [{"b": "x"}]}, {"s": [{"b": "y", "a": 3}]}]
    for value in values:
        orcish.write_dataset(pa.Table.from_pylist([value]), table, existing_data="append")
    assert orcish.scan(table).schema.field("s").type == pa.list_(pa.struct([("a", pa.int64()), ("b", pa.string())]))
    found = [row["s"][0] for row in orcish.read_table(table).to_pylist()]
    assert sorted(map(str, found)) == sorted(map(str, [{"a": 1, "b": None}, {"a": None, "b": "x"}, {"a": 3, "b": "y"}]))
    with pytest.raises(ValueError, match=r"s\.element\.a"):
        orcish.write_dataset(pa.table({"s": [[{"a": "no"}]]}), table, existing_data="append")


def test_a_table_without_rows(tmp_path: pathlib.Path) -> None:
    """The columns stay when the last row is deleted."""
    table = tmp_path / "t"
    rows = pa.table({"k": [1, 2], "id": [1, 2], "s": ["a", "b"]})
    orcish.write_dataset(rows, table, partition_by=["k"])
    assert orcish.delete(table, "id > 0").rows == 2
    found = orcish.read_table(table)
    assert (found.num_rows, found.schema) == (0, pa.schema({"id": pa.int64(), "s": pa.string(), "k": pa.int64()}))
    scan = orcish.scan(table)
    assert (scan.count(), scan.files, scan.splits(1 << 20)) == (0, [], [])
    assert scan.where(col("id") == 1).select("s").to_table().to_pydict() == {"s": []}
    assert scan.max("id") is None
    assert orcish.scan_polars(table).filter(polars.col("id") == 1).collect().height == 0
    assert orcish.scan(table, partitions=False).schema.names == ["id", "s"]
    assert orcish.scan(f"{table}/k=1").schema.names == ["id", "s", "k"]
    assert orcish.compact(table) == []
    with pytest.raises(ValueError, match="partition"):
        orcish.write_dataset(rows, table, existing_data="append")
    with pytest.raises(ValueError, match="column id"):
        orcish.write_dataset(pa.table({"k": [1], "id": ["x"]}), table, existing_data="append", partition_by=["k"])
    orcish.convert(table, tmp_path / "copy")
    # A mistaken filter or folder is no deletion of nothing.
    for wrong in ("nonsense = ", "other = 1"):
        with pytest.raises((ValueError, KeyError)):
            orcish.delete(table, wrong)
    for call in (orcish.compact, lambda path: orcish.delete(path, "id = 1")):
        with pytest.raises(FileNotFoundError):
            call(table / "kk=1")
    assert orcish.delete(table, "id = 1").rows == 0
    orcish.write_dataset(rows.select(["k", "id"]), table, existing_data="append", partition_by=["k"])
    assert orcish.read_table(table).to_pylist() == [{"id": 1, "s": None, "k": 1}, {"id": 2, "s": None, "k": 2}]


def test_rows_are_deleted_by_columns_of_later_files(tmp_path: pathlib.Path) -> None:
    """A filter may have any column of the table, and its types, whatever the first file has."""
    table = tmp_path / "t"
    orcish.write_dataset(pa.table({"id": [1, 2]}), table, basename_template="a{i}.orc")
    orcish.write_dataset(pa.table({"s": ["x", "y"]}), table, existing_data="append", basename_template="b{i}.orc")
    assert orcish.delete(table, "s = 'x'").rows == 1
    assert orcish.delete(table, (col("id") == 2) & col("s").is_null()).rows == 1
    assert orcish.delete(table, "id is null and s is null").rows == 0
    rows = [{"id": 1, "s": None}, {"id": None, "s": "y"}]
    assert sorted(map(str, orcish.read_table(table).to_pylist())) == sorted(map(str, rows))
    assert orcish.delete(table, "id is not null or s is not null").rows == 2
    assert orcish.delete(table, "s = 'x'").rows == 0


def test_a_plain_folder_without_rows(tmp_path: pathlib.Path) -> None:
    """The log of a folder begins with a deletion of all rows."""
    (tmp_path / "k=1").mkdir()
    orcish.write_table(pa.table({"id": [1], "s": ["x"]}), tmp_path / "k=1" / "a.orc", arrow_schema=False)
    assert orcish.delete(tmp_path, "id = 1").rows == 1
    assert orcish.read_table(tmp_path).schema.names == ["id", "s", "k"]
    with pytest.raises(ValueError, match="partition"):
        orcish.write_dataset(pa.table({"id": [1]}), tmp_path, existing_data="append")


PARTITION_TYPES = [
    (pa.int32(), [1, 2], pa.int32()),
    (pa.int64(), [1, None], pa.int64()),
    (pa.bool_(), [True, False], pa.bool_()),
    (pa.date32(), [1, 2], pa.date32()),
    (pa.date64(), [86_400_000, 0], pa.date64()),
    (pa.string(), ["2024", "07"], pa.string()),
    (pa.dictionary(pa.int8(), pa.large_string()), ["x", None], pa.large_string()),
    (pa.float64(), [1.0, 2.5], pa.float64()),
    (pa.timestamp("us"), [0, 1], pa.timestamp("us")),
    (pa.decimal128(5, 2), ["1.50", None], pa.decimal128(5, 2)),
]


@each_case(("kind", "values", "read"), PARTITION_TYPES, ids=lambda value: str(value))
@each_case("arrow_schema", [True, False])
def test_types_of_partition_columns(
    tmp_path: pathlib.Path, kind: pa.DataType, values: list[Any], read: pa.DataType, arrow_schema: bool
) -> None:
    """They are those of the rows, with files and without, and no append changes them."""
    table = tmp_path / "t"
    given = [
        decimal.Decimal(value) if isinstance(value, str) and pa.types.is_decimal(kind) else value for value in values
    ]
    rows = pa.table({"id": [1, 2], "k": pa.array(given, kind)})
    if not arrow_schema:
        plain = {pa.date64(): pa.date32(), pa.timestamp("us"): pa.string(), pa.large_string(): pa.string()}
        read = plain.get(read, read)
    options: Any = {"partition_by": ["k"], "existing_data": "append", "arrow_schema": arrow_schema}
    for count in (2, 4):
        orcish.write_dataset(rows, table, **options)
        found = orcish.read_table(table)
        assert (found.num_rows, found.schema.field("k").type) == (count, read)
    # Values of other types are taken if they have the type of the table.
    if read not in (pa.string(), pa.large_string()):
        with pytest.raises(ValueError, match="column k is"):
            orcish.write_dataset(pa.table({"id": [1], "k": ["x"]}), table, **options)
        with pytest.raises(ValueError, match="column k is"):
            orcish.write_dataset(pa.table({"id": [1]}), table / "k=x", existing_data="append")
        assert not (table / "k=x").exists()
    else:
        orcish.write_dataset(pa.table({"id": [1], "k": [7]}), table, **options)
        assert orcish.delete(table, "k = '7'").rows == 1
    before = orcish.read_table(table).sort_by("id")
    assert orcish.scan(table, partitions=False).schema.names == ["id"]
    assert orcish.scan(next(table.glob("k=*"))).schema.equals(before.schema)
    assert orcish.scan(next(table.glob("k=*")), partitions=False).schema.names == ["id"]
    assert orcish.scan(f"{table}/k=*").schema.equals(before.schema)
    orcish.convert(table, tmp_path / "copy")
    assert orcish.read_table(tmp_path / "copy").sort_by("id").equals(before)
    orcish.delete(table, "true")
    assert orcish.read_table(table).schema.equals(before.schema)
    with pytest.raises(FileNotFoundError, match="nothing matches the pattern"):
        orcish.scan(f"{table}/k=*")
    orcish.write_dataset(rows, table, **options)
    assert orcish.read_table(table).sort_by("id").to_pylist() == before.to_pylist()[::2]
    # Rows that were read can be appended.
    orcish.write_dataset(orcish.read_table(table), table, **options)
    assert orcish.read_table(table).sort_by("id").equals(before)


@each_case("arrow_schema", [True, False])
def test_partition_columns_of_inferred_types(tmp_path: pathlib.Path, arrow_schema: bool) -> None:
    table = tmp_path / "t"
    rows = pa.table({"id": [1], "k": pa.nulls(1)})
    for count in (1, 2):
        orcish.write_dataset(rows, table, partition_by=["k"], existing_data="append", arrow_schema=arrow_schema)
        assert orcish.read_table(table).num_rows == count
    orcish.write_dataset(pa.table({"id": [1], "k": [1]}), table, partition_by=["k"], existing_data="append")
    assert orcish.scan(table).schema.field("k").type == pa.int64()


def test_the_only_partition_is_replaced(tmp_path: pathlib.Path) -> None:
    """The rest of the table is as if there were other partitions."""
    table = tmp_path / "t"
    orcish.write_dataset(pa.table({"id": [1], "s": ["x"], "k": ["7"]}), table, partition_by=["k"])
    orcish.write_dataset(pa.table({"id": [2]}), table / "k=7", existing_data="overwrite")
    assert orcish.read_table(table).to_pylist() == [{"id": 2, "s": None, "k": "7"}]
    with pytest.raises(ValueError, match="column id"):
        orcish.write_dataset(pa.table({"id": ["x"]}), table / "k=7", existing_data="overwrite")


def test_lists_of_tables(tmp_path: pathlib.Path) -> None:
    """The order of tables does not matter for the types of partition columns."""
    tables = [tmp_path / "a", tmp_path / "b"]
    for table, value in zip(tables, (7, "x"), strict=True):
        orcish.write_dataset(pa.table({"id": [1], "k": [value]}), table, partition_by=["k"])
    for order in (tables, tables[::-1]):
        assert sorted(orcish.read_table(order)["k"].to_pylist()) == ["7", "x"]
    assert orcish.scan([next(tables[0].glob("k=*"))] * 2).schema.names == ["id", "k"]


def test_names_of_plain_files_that_differ_by_case(tmp_path: pathlib.Path) -> None:
    """A column that is hidden by another one stays hidden."""
    orcish.write_table(pa.table({"a": [1]}), tmp_path / "a.orc")
    orcish.write_table(pa.table({"A": [2], "b": [3]}), tmp_path / "b.orc")
    orcish.write_dataset(pa.table({"a": [4]}), tmp_path, existing_data="append")
    found = orcish.read_table(tmp_path, match="name_ignoring_case")
    assert found.schema.names == ["a", "b"]
    assert sorted(found["a"].to_pylist()) == [1, 2, 4]


@each_case("filters", ["A = 2", "a = 3"])
def test_names_of_one_plain_file_that_differ_by_case(tmp_path: pathlib.Path, filters: str) -> None:
    """A deletion hides no column that readers see."""
    orcish.write_table(pa.table({"a": [1], "A": [2]}), tmp_path / "a.orc")
    orcish.write_table(pa.table({"a": [3]}), tmp_path / "b.orc")
    assert orcish.delete(tmp_path, filters).rows == 1
    assert orcish.scan(tmp_path).schema.names == ["a", "A"]


def test_the_last_rows_of_files_without_common_schema_are_deleted(tmp_path: pathlib.Path) -> None:
    orcish.write_table(pa.table({"id": [1], "s": ["x"]}), tmp_path / "a.orc")
    orcish.write_table(pa.table({"id": [1], "s": [1]}), tmp_path / "b.orc")
    assert orcish.delete(tmp_path, "true").rows == 2


def test_a_new_table_has_new_columns(tmp_path: pathlib.Path) -> None:
    table = tmp_path / "t"
    orcish.write_dataset(pa.table({"id": [1]}), table)
    orcish.write_dataset(pa.table({"other": ["x"]}), table, existing_data="overwrite")
    assert orcish.read_table(table).to_pydict() == {"other": ["x"]}
    orcish.delete(table, "other = 'x'")
    orcish.write_dataset(pa.table({"other": [1.5]}), table, existing_data="overwrite")
    assert orcish.read_table(table).to_pydict() == {"other": [1.5]}


@each_case("pending", ["wait", "before"])
def test_an_unfinished_commit(tmp_path: pathlib.Path, pending: Any) -> None:
    """Readers see the columns of the commits whose rows they see."""
    table = tmp_path / "t"
    orcish.write_dataset(pa.table({"id": [1]}), table)
    orcish.write_dataset(pa.table({"id": [2], "s": ["x"]}), table, existing_data="append")
    path = last_entry(table)
    path.with_suffix(".done").unlink()
    assert orcish.read_table(table, pending=pending).schema.names == ["id", "s"]
    (file,) = (table / json.loads(path.read_text())["added"][0]["name"] for _ in range(1))
    file.unlink()
    if pending == "before":
        assert orcish.read_table(table, pending=pending).to_pydict() == {"id": [1]}
    assert orcish.recover(table, undo=True) == "undone"
    assert orcish.read_table(table, pending=pending).to_pydict() == {"id": [1]}
    orcish.write_dataset(pa.table({"id": [3], "s": [1.5]}), table, existing_data="append")
    assert orcish.read_table(table).schema.field("s").type == pa.float64()


def test_a_plain_folder_has_the_schema_of_its_first_file(tmp_path: pathlib.Path) -> None:
    orcish.write_table(pa.table({"id": [1]}), tmp_path / "a.orc")
    orcish.write_table(pa.table({"id": [2], "s": ["x"]}), tmp_path / "b.orc")
    assert orcish.scan(tmp_path).schema.names == ["id"]
    # Columns of later files, which no reader sees, are compared too.
    for wrong in ({"s": [1]}, {"S": ["x"]}, {"id": ["x"]}):
        with pytest.raises(ValueError, match="column"):
            orcish.write_dataset(pa.table(wrong), tmp_path, existing_data="append")
    orcish.write_dataset(pa.table({"t": [1.5]}), tmp_path, existing_data="append")
    assert orcish.scan(tmp_path).schema.names == ["id", "s", "t"]
    orcish.delete(tmp_path, "id = 2")
    rows = [{"id": 1, "s": None, "t": None}, {"id": None, "s": None, "t": 1.5}]
    assert sorted(map(str, orcish.read_table(tmp_path).to_pylist())) == sorted(map(str, rows))


def test_plain_files_without_common_schema(tmp_path: pathlib.Path) -> None:
    orcish.write_table(pa.table({"id": [1]}), tmp_path / "a.orc")
    orcish.write_table(pa.table({"id": [1], "s": ["x"]}), tmp_path / "b.orc")
    orcish.write_table(pa.table({"id": [1], "s": [1]}), tmp_path / "c.orc")
    with pytest.raises(ValueError, match=r"have no common schema: .*c\.orc"):
        orcish.write_dataset(pa.table({"id": [1]}), tmp_path, existing_data="append")


def test_a_deletion_leaves_the_types_of_plain_files(tmp_path: pathlib.Path) -> None:
    """Files whose types differ can still be compacted to a common type."""
    orcish.write_table(pa.table({"a": pa.array([1, 2], pa.int32())}), tmp_path / "a.orc")
    orcish.write_table(pa.table({"a": [2**40]}), tmp_path / "b.orc")
    orcish.delete(tmp_path, "a = 1")
    orcish.compact(tmp_path)
    assert sorted(orcish.read_table(tmp_path)["a"].to_pylist()) == [2, 2**40]


@each_case(
    "stored",
    [
        pa.field("x", pa.string(), metadata={"orc.type": "char(5)"}),
        pa.field("x", pa.string(), metadata={"iceberg.id": "1"}),
        pa.field("x", pa.timestamp("us"), metadata={"spark.sql.catalyst.type": "timestamp_ntz"}),
        pa.field("x", pa.list_(pa.field("item", pa.string(), metadata={"orc.type": "varchar(5)"}))),
    ],
    ids=["char", "attribute", "ntz", "nested"],
)
@each_case("arrow_schema", [True, False])
def test_rows_are_stored_as_the_table_has_them(tmp_path: pathlib.Path, stored: pa.Field, arrow_schema: bool) -> None:
    """Appended columns have the types in files and the attributes of the table, so that compaction changes no answer."""
    table = tmp_path / "t"
    values = (
        pa.array([None], stored.type)
        if pa.types.is_timestamp(stored.type)
        else pa.array([["ab"]] if stored.type.num_fields else ["ab"], stored.type)
    )
    orcish.write_dataset(pa.table([values], schema=pa.schema([stored])), table, arrow_schema=arrow_schema)
    plain = pa.field("x", pa.list_(pa.string()) if stored.type.num_fields else stored.type)
    orcish.write_dataset(
        pa.table([values], schema=pa.schema([plain])), table, existing_data="append", arrow_schema=arrow_schema
    )
    files = [orcish.ORCFile(path) for path in table.glob("*.orc")]
    assert len({tuple(file.column_types) for file in files}) == 1
    assert len({str([(f.name, f.metadata) for f in file.arrow_schema()]) for file in files}) == 1
    before = orcish.read_table(table)
    orcish.compact(table, rewrite=True)
    assert orcish.read_table(table).equals(before)
    if b"orc.type" in (stored.metadata or {}):
        with pytest.raises(ValueError, match=r"char\(5\)"):
            orcish.write_dataset(pa.table({"x": ["abcdefgh"]}), table, existing_data="append")


def test_instants_are_not_added_to_local_timestamps_of_spark(tmp_path: pathlib.Path) -> None:
    field = pa.field("x", pa.timestamp("us"), metadata={"spark.sql.catalyst.type": "timestamp_ntz"})
    orcish.write_table(
        pa.table([pa.array([0], field.type)], schema=pa.schema([field])), tmp_path / "a.orc", arrow_schema=False
    )
    with pytest.raises(ValueError, match="column x"):
        orcish.write_dataset(
            pa.table({"x": pa.array([0], pa.timestamp("us", "UTC"))}), tmp_path, existing_data="append"
        )


def test_lists_of_another_length_are_refused(tmp_path: pathlib.Path) -> None:
    table = tmp_path / "t"
    two = pa.table({"v": pa.array([[1.0, 2.0]], pa.list_(pa.float32(), 2))})
    orcish.write_dataset(two, table)
    for kind in (pa.list_(pa.float32(), 1), pa.list_(pa.float32())):
        with pytest.raises(ValueError, match="column v"):
            orcish.write_dataset(pa.table({"v": pa.array([[1.0]], kind)}), table, existing_data="append")
    orcish.write_dataset(two, table, existing_data="append")
    assert orcish.read_table(table)["v"].to_pylist() == [[1.0, 2.0]] * 2


@each_case("existing_data", ["append", "overwrite_partitions"])
def test_no_rows_change_nothing(tmp_path: pathlib.Path, existing_data: Any) -> None:
    table = tmp_path / "t"
    rows = pa.table({"k": [1], "id": [1]})
    orcish.write_dataset(rows, table, partition_by=["k"])
    more = rows.append_column("x", pa.array([1])).slice(0, 0)
    orcish.write_dataset(more, table, partition_by=["k"], existing_data=existing_data)
    assert len(orcish.history(table)) == 1
    assert orcish.scan(table).schema.names == ["id", "k"]


@each_case("arrow_schema", [True, False])
def test_types_of_arrow(tmp_path: pathlib.Path, arrow_schema: bool) -> None:
    """A table whose files have an Arrow schema has its types, and one whose files have none is read as its files are."""
    rows = pa.table(
        {
            "d": pa.array([1], pa.duration("s")),
            "t": pa.array([1], pa.timestamp("ns")),
            "i": pa.array([1], pa.timestamp("us", "Asia/Tokyo")),
            "u": pa.array([1], pa.uint8()),
            "e": pa.array(["x"]).dictionary_encode(),
        }
    ).replace_schema_metadata({"a": "b"})
    orcish.write_dataset(rows, tmp_path / "t", arrow_schema=arrow_schema)
    (file,) = (tmp_path / "t").glob("*.orc")
    for options in (
        {},
        *({"timestamp_unit": unit} for unit in ("ns", "auto", "exact")),
        {"strings": "view"},
        {"arrow_schema": False},
    ):
        of_file = orcish.scan(file, **options).schema
        of_table = orcish.scan(tmp_path / "t", **options).schema
        assert of_table.equals(of_file, check_metadata=True)
    # Without an Arrow schema, durations are integers, which durations are not added to.
    rows = rows if arrow_schema else rows.drop(["d"])
    orcish.write_dataset(rows, tmp_path / "t", existing_data="append", arrow_schema=arrow_schema)
    assert orcish.read_table(tmp_path / "t").num_rows == 2


@each_case("file", ["", "x", "T1JD", "AAAA" * 100], ids=["empty", "no base64", "magic", "zeros"])
def test_a_forged_schema(tmp_path: pathlib.Path, file: str) -> None:
    table = tmp_path / "t"
    orcish.write_dataset(pa.table({"id": [1]}), table)
    path = last_entry(table)
    entry = json.loads(path.read_text())
    entry["new_schema"] = stored_schema(file)
    path.write_text(sealed(entry))
    marker = path.with_suffix(".done")
    marker.write_text(marker_of(entry))
    with pytest.raises(CorruptFileError, match=rf"{table}: the schema in the log|no entry of the log"):
        orcish.scan(table)
    with pytest.raises(CorruptFileError, match=rf"{table}: the schema in the log|no entry of the log"):
        orcish.write_dataset(pa.table({"id": [1]}), table, existing_data="append")
    assert orcish.scan(next(table.glob("*.orc"))).count() == 1


def compressed_zeros(size: int, chunks: int) -> bytes:
    """An ORC file whose footer has compressed zeros only: chunks of ``size`` bytes."""
    deflate = zlib.compressobj(9, zlib.DEFLATED, -15)
    data = deflate.compress(bytes(size)) + deflate.flush()
    footer = ((len(data) << 1).to_bytes(3, "little") + data) * chunks
    lengths = b"".join(tag + varint(value) for tag, value in ((b"\x08", len(footer)), (b"\x10", 1), (b"\x18", size)))
    postscript = lengths + b"\x22\x02\x00\x0c\x28\x00\x30\x09\x82\xf4\x03\x03ORC"
    return b"ORC" + footer + postscript + bytes([len(postscript)])


HEAVY_SCHEMA_CALLS = [
    "orcish.scan(table)",
    "orcish.write_dataset(rows, table, existing_data='append')",
    "orcish.delete(table, 'id = 1')",
    "orcish.compact(table, rewrite=True)",
    "orcish.convert(table, table + '-copy')",
]


@each_case("call", HEAVY_SCHEMA_CALLS)
def test_a_schema_that_takes_much_memory(tmp_path: pathlib.Path, call: str) -> None:
    """Small bytes of which a reader would make 252 MB."""
    table = tmp_path / "t"
    orcish.write_dataset(pa.table({"id": [1]}), table)
    path = last_entry(table)
    entry = json.loads(path.read_text())
    entry["new_schema"] = stored_schema(base64.b64encode(compressed_zeros(63 << 20, 4)).decode())
    path.write_text(sealed(entry))
    path.with_suffix(".done").write_text(marker_of(entry))
    shown = run_python(
        f"""
        import resource, sys
        import orcish, pyarrow as pa
        table, rows = sys.argv[1], pa.table({{"id": [2]}})
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        try:
            {call}
        except orcish.OrcishError as error:
            print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before, type(error).__name__, error)
        """,
        str(table),
    )
    kibibytes, kind, text = shown.strip().split(" ", 2)
    assert int(kibibytes) < 100 << 10
    assert kind == "LimitExceededError"
    assert f"{table}: the schema in the log: " in text
    assert "16777216" in text


def test_a_schema_that_is_too_large_is_not_written(tmp_path: pathlib.Path) -> None:
    """A table that is made can be read."""
    table = tmp_path / "t"
    orcish.write_dataset(pa.table({"id": [1]}), table)
    wide = pa.table({f"{'n' * 170_000}{at}": [at] for at in range(100)})
    with pytest.raises(ValueError, match=r"the table would have 101 columns, .* more room"):
        orcish.write_dataset(wide, table, existing_data="append")
    with pytest.raises(ValueError, match="the table would have 100 columns"):
        orcish.write_dataset(wide, tmp_path / "new")
    assert not (tmp_path / "new").exists()
    assert orcish.read_table(table).to_pydict() == {"id": [1]}


@each_case("names", [["id"], ["k", "k"], ["a\0b"], [""], ["n"] * 100_000, [f"{at}" for at in range(5_000)]])
def test_forged_partition_columns(tmp_path: pathlib.Path, names: list[str]) -> None:
    table = tmp_path / "t"
    orcish.write_dataset(pa.table({"id": [1], "s": ["x"]}), table)
    orcish.delete(table, "true")
    path = last_entry(table)
    entry = json.loads(path.read_text())
    entry["new_schema"] = stored_schema(entry["schema"]["file"], *names)
    path.write_text(sealed(entry))
    path.with_suffix(".done").write_text(marker_of(entry))
    if names == ["id"]:
        # A partition column hides a stored column of its name.
        assert orcish.read_table(table).to_pydict() == {"s": [], "id": []}
        return
    with pytest.raises(CorruptFileError, match=r"no entry of the log"):
        orcish.scan(table)


def test_a_damaged_marker_is_replaced_by_its_entry(tmp_path: pathlib.Path) -> None:
    """No damaged byte changes what a table has."""
    table = tmp_path / "t"
    orcish.write_dataset(pa.table({"id": [1], "s": ["x"], "k": [1]}), table, partition_by=["k"])
    marker = last_entry(table).with_suffix(".done")
    content = marker.read_bytes()
    wanted = orcish.read_table(table)
    chance = seeded("damaged markers")
    for at in range(len(content)):
        damaged = bytearray(content)
        damaged[at] ^= 1 << chance.randrange(8)
        marker.write_bytes(bytes(damaged))
        assert orcish.read_table(table).equals(wanted), at
    for end in range(0, len(content), 7):
        marker.write_bytes(content[:end])
        assert orcish.scan(table).schema == wanted.schema


def test_rows_of_a_schema_are_not_read(tmp_path: pathlib.Path) -> None:
    """A schema that has rows has no effect on the rows of the table."""
    table = tmp_path / "t"
    orcish.write_dataset(pa.table({"id": [1]}), table)
    file = io.BytesIO()
    orcish.write_table(pa.table({"id": [5, 6]}), file)
    marker = last_entry(table).with_suffix(".done")
    content = json.loads(marker.read_text())
    content["schema"] = stored_schema(base64.b64encode(file.getvalue()).decode())
    marker.write_text(sealed(content))
    assert orcish.read_table(table).to_pydict() == {"id": [1]}
    assert orcish.scan(table).count() == 1
    assert orcish.scan(table).max("id") == 1


def test_history(tmp_path: pathlib.Path) -> None:
    table = tmp_path / "t"
    with pytest.raises(FileNotFoundError):
        orcish.history(table)
    orcish.write_dataset(pa.table({"id": [1, 2]}), table)
    orcish.write_dataset(pa.table({"id": [3]}), table, existing_data="append")
    orcish.compact(table)
    orcish.delete(table, "id = 3")
    found = orcish.history(table)
    what = [
        (each.number, each.operation, each.status, each.rows_added, each.files_added, each.files_removed)
        for each in found
    ]
    assert what == [
        (3, "delete", "done", 2, 1, 1),
        (2, "compact", "done", 3, 1, 2),
        (1, "append", "done", 1, 1, 0),
        (0, "append", "done", 2, 1, 0),
    ]
    assert found == sorted(found, key=lambda each: each.time, reverse=True)
    assert {each.engine for each in found} == {f"orcish {orcish.__version__}"}
    assert orcish.history(table, limit=1) == found[:1]
    (tmp_path / "plain").mkdir()
    assert orcish.history(tmp_path / "plain") == []
    job = Job(str(table))
    decide(job, [staged(job, [8])], number=4, batch={"stream": "s", "batch": 8}, time=2**63)
    last, *rest = orcish.history(table)
    assert (last.status, last.stream, last.batch, last.engine) == ("unfinished", "s", 8, "test")
    assert rest == found


@each_case("kind", [pa.date64(), pa.list_(pa.date64()), pa.struct([("f", pa.date64())])], ids=str)
def test_dates_of_milliseconds_without_an_arrow_schema(kind: pa.DataType, tmp_path: pathlib.Path) -> None:
    """They are added again, as dates, if they are whole days."""

    def rows(number: int) -> pa.Table:
        days = pa.array([number], pa.int64()).view(pa.date64())
        if pa.types.is_list(kind):
            return pa.table({"v": pa.ListArray.from_arrays([0, 1], days)})
        return pa.table({"v": pa.StructArray.from_arrays([days], ["f"]) if pa.types.is_struct(kind) else days})

    table = tmp_path / "t"
    for existing_data in ("error", "append", "append"):
        orcish.write_dataset(rows(86_400_000), table, existing_data=existing_data, arrow_schema=False)
        with pytest.raises(ValueError, match="column v"):
            orcish.write_dataset(rows(5), table, existing_data="append", arrow_schema=False)
    assert orcish.read_table(table).to_pylist() == rows(86_400_000).to_pylist() * 3
