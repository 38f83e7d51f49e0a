"""Verbs that write files again keep the types of timestamps: those of the log where files have others, and their units.

Each table has a file with values and one whose column has another physical type.
"""

import datetime as dt
import pathlib
from collections.abc import Callable
from typing import Any

import orcish
import pyarrow as pa
import pytest
from orcish.errors import LimitExceededError, OrcishError, UnsupportedError
from pyarrow import orc
from support.case_loops import each_case
from support.random_cases import pairs

NOON = dt.datetime(2026, 7, 4, 12)
AS_TIMESTAMP = {"orc.type": "timestamp"}
NTZ = {"spark.sql.catalyst.type": "timestamp_ntz"}
KINDS: dict[str, tuple[pa.DataType, dict[str, str] | None]] = {
    "wall": (pa.timestamp("us"), None),
    "wall ns": (pa.timestamp("ns"), None),
    "instant": (pa.timestamp("us", "UTC"), None),
    "instant as timestamp": (pa.timestamp("us", "UTC"), AS_TIMESTAMP),
    "instant of a zone": (pa.timestamp("ms", "Asia/Tokyo"), AS_TIMESTAMP),
    "wall of Spark": (pa.timestamp("us"), NTZ),
}
PLACES: dict[str, tuple[Callable[[pa.Field], pa.DataType], Callable[[Any], Any]]] = {
    "top": (lambda field: field.type, lambda value: value),
    "struct": (lambda field: pa.struct([field.with_name("a")]), lambda value: {"a": value}),
    "list": (lambda field: pa.list_(field.with_name("element")), lambda value: [value]),
    "map": (lambda field: pa.map_(pa.string(), field.with_name("value")), lambda value: [("k", value)]),
    "dictionary": (lambda field: pa.dictionary(pa.int32(), field.type), lambda value: value),
    "list of structs": (
        lambda field: pa.list_(pa.field("element", pa.struct([field.with_name("a")]))),
        lambda value: [{"a": value}],
    ),
}
OPTIONS: list[dict[str, Any]] = [
    {**way, **unit, **types}
    for way in ({}, {"timestamps": "wall"}, {"timestamps": "instant"})
    for unit in ({}, {"timestamp_unit": "exact"})
    for types in ({}, {"arrow_schema": False})
]


def rows(ids: list[int], place: str, kind: pa.DataType, value: Any, metadata: dict[str, str] | None = None) -> pa.Table:
    """Rows that have a value at a place of their column."""
    placed, wrapped = PLACES[place]
    field = pa.field("x", placed(pa.field("x", kind, metadata=metadata)))
    if place in ("top", "dictionary"):
        field = field.with_metadata(metadata)
    values = [wrapped(value)] * len(ids)
    if place != "dictionary":
        column = pa.array(values, field.type)
    elif value is None:
        column = pa.nulls(len(ids), field.type)
    else:
        column = pa.array(values, kind).dictionary_encode()
    return pa.table([pa.array(ids), column], schema=pa.schema([pa.field("id", pa.int64()), field]))


def answers(table: pathlib.Path) -> list[tuple[pa.Schema, dict[int, Any]] | None]:
    """What readers find under all options, by the ids of rows; ``None`` for an error."""
    found: list[tuple[pa.Schema, dict[int, Any]] | None] = []
    for options in OPTIONS:
        try:
            read = orcish.read_table(table, **options)
        except OrcishError:
            found.append(None)
        else:
            found.append((read.schema, {row["id"]: row["x"] for row in read.to_pylist()}))
    return found


def check_same(before: list[Any], after: list[Any], gone: list[int]) -> None:
    for options, old, new in zip(OPTIONS, before, after, strict=True):
        if old is not None:
            assert new is not None, options
            assert new[0].equals(old[0], check_metadata=True), options
            assert new[1] == {number: value for number, value in old[1].items() if number not in gone}, options


VERBS: dict[str, tuple[Callable[[pathlib.Path], Any], list[int]]] = {
    "compact": (orcish.compact, []),
    "rewrite": (lambda table: orcish.compact(table, rewrite=True), []),
    "delete no rows": (lambda table: orcish.delete(table, "id = 99"), []),
    "delete some rows": (lambda table: orcish.delete(table, "id in (2, 4)"), [2, 4]),
}


@each_case(("kind", "place", "verb"), pairs(KINDS, PLACES, [*VERBS, "convert"]))
def test_columns_of_nulls_are_written_with_the_type_of_the_log(
    tmp_path: pathlib.Path, kind: str, place: str, verb: str
) -> None:
    """A file of the type ``null`` gets the ORC type of the table, in a folder of its own and beside values."""
    (data_type, metadata), table = KINDS[kind], tmp_path / "t"
    typed = rows([0], place, data_type, NOON, metadata)
    parts = typed.append_column("p", pa.array(["a"]))
    orcish.write_dataset(parts, table, partition_by=["p"], timezone="Europe/Berlin")
    for folder, first in (("p=a", 1), ("p=b", 3)):
        (table / folder).mkdir(exist_ok=True)
        orcish.write_table(rows([first, first + 1], place, pa.null(), None), table / folder / "z.orc")
    before = answers(table)
    assert before[0] is not None
    if verb == "convert":
        orcish.convert(table, tmp_path / "c")
        (schema, values), copy = before[0], orcish.read_table(tmp_path / "c")
        assert copy.schema.equals(schema, check_metadata=True)
        assert {row["id"]: row["x"] for row in copy.to_pylist()} == values
        return
    change, gone = VERBS[verb]
    change(table)
    check_same(before, answers(table), gone)
    # So do the rows that follow, and the files that they are joined with.
    more = rows([5], place, data_type, NOON, metadata).append_column("p", pa.array(["b"]))
    orcish.write_dataset(more, table, partition_by=["p"], existing_data="append")
    orcish.compact(table)
    found = {row["id"]: row["x"] for row in orcish.read_table(table).to_pylist()}
    assert found[5] == found[0] == before[0][1][0]
    kinds = {tuple(orcish.ORCFile(path).column_types) for path in table.rglob("p=*/*.orc")}
    assert len(kinds) == 1


def table_of_other_files(table: pathlib.Path, place: str, kind: pa.DataType, value: Any, metadata: Any = None) -> None:
    """A table of wall clocks, and a folder of files whose column has another type."""
    typed = rows([0], place, pa.timestamp("us"), NOON).append_column("p", pa.array(["a"]))
    orcish.write_dataset(typed, table, partition_by=["p"], timezone="Europe/Berlin")
    (table / "p=b").mkdir()
    for at in (1, 2):
        orcish.write_table(rows([at], place, kind, value, metadata), table / "p=b" / f"{at}.orc")


@each_case("verb", VERBS)
@each_case("place", ["top", "struct", "list", "map"])
def test_wall_clocks_of_spark(tmp_path: pathlib.Path, place: str, verb: str) -> None:
    """Files of the local timestamps of Spark, which are integers, have no instants."""
    table = tmp_path / "t"
    table_of_other_files(table, place, pa.timestamp("us"), NOON, NTZ)
    before = answers(table)
    assert before[0] is not None
    change, gone = VERBS[verb]
    change(table)
    check_same(before, answers(table), gone)


@each_case("place", ["top", "struct", "list", "map"])
def test_dates_are_no_wall_clocks(tmp_path: pathlib.Path, place: str) -> None:
    """What makes rows of dates and wall clocks is an error that changes nothing, whichever verb it is."""
    table = tmp_path / "t"
    table_of_other_files(table, place, pa.date32(), NOON.date())
    files = {path: path.read_bytes() for path in table.rglob("*") if path.is_file()}
    for change in (
        orcish.read_table,
        lambda _: VERBS["rewrite"][0](table),
        lambda _: orcish.convert(table, tmp_path / "c"),
    ):
        with pytest.raises(UnsupportedError, match=r"it is date .* which does not become timestamp\[us\]"):
            change(table)
        assert {path: path.read_bytes() for path in table.rglob("*") if path.is_file()} == files
    assert not (tmp_path / "c").exists()
    # Files are joined as they are stored.
    orcish.compact(table)
    (joined,) = (table / "p=b").glob("*.orc")
    assert sorted(row["id"] for row in orcish.read_table(joined).to_pylist()) == [1, 2]


def test_attributes_of_the_log_stay_where_a_file_has_nulls(tmp_path: pathlib.Path) -> None:
    table = tmp_path / "t"
    field = pa.field("x", pa.string(), metadata={"orc.type": "char(3)", "team": "a"})
    orcish.write_dataset(pa.table([["ab", "c"]], schema=pa.schema([field])).slice(0, 1), table)
    for path in table.glob("*.orc"):
        path.unlink()
    orcish.write_table(pa.table([pa.nulls(2)], schema=pa.schema([pa.field("x", pa.null())])), table / "a.orc")
    orcish.compact(table, rewrite=True)
    (path,) = table.glob("*.orc")
    assert orcish.ORCFile(path).column_types[1] == "char(3)"
    assert orcish.ORCFile(path).attributes("x")["team"] == "a"


# Units.

UNITS = ["s", "ms", "us", "ns"]


def put(path: pathlib.Path, first: int, unit: str, place: str) -> None:
    """A file of two rows of whole seconds; of pyarrow, without an Arrow schema, where the unit is ``foreign``."""
    is_foreign = unit == "foreign"
    table = rows([first, first + 1], place, pa.timestamp("us" if is_foreign else unit), NOON)
    if is_foreign:
        orc.write_table(table, path)
    else:
        orcish.write_table(table, path)


FIRST_AND_OTHER = [
    *((unit, "foreign") for unit in UNITS),
    *(("foreign", unit) for unit in UNITS),
    ("s", "ns"),
    ("ns", "ms"),
]


@each_case(
    ("has_log", "units", "place", "verb"),
    pairs([True, False], FIRST_AND_OTHER, ["top", "struct", "list", "map"], [*VERBS, "convert"]),
)
def test_readers_see_the_unit_that_they_saw(
    tmp_path: pathlib.Path, has_log: bool, units: tuple[str, str], place: str, verb: str
) -> None:
    """The unit of the log, or of the first file, whatever units other files have; also under given units."""
    first, other = units
    table = tmp_path / "t"
    table.mkdir()
    put(table / "a.orc", 0, first, place)
    if has_log:
        more = rows([9], place, pa.timestamp("us"), NOON)
        orcish.write_dataset(more, table, existing_data="append")
    put(table / "b.orc", 2, other, place)
    options: list[dict[str, Any]] = [{}, {"arrow_schema": False}, {"timestamp_unit": "ms"}]
    if verb != "convert":
        # A conversion keeps wall clocks, in the time zone of its own writer.
        options.append({"timestamps": "instant"})
    before = [(orcish.scan(table, **each).schema, orcish.read_table(table, **each).sort_by("id")) for each in options]
    gone: list[int] = []
    found = table
    if verb == "convert":
        orcish.convert(table, tmp_path / "c")
        found = tmp_path / "c"
    else:
        change, gone = VERBS[verb]
        change(table)
    for each, (schema, values) in zip(options, before, strict=True):
        assert orcish.scan(found, **each).schema.equals(schema, check_metadata=True), each
        left = [row for row in values.to_pylist() if row["id"] not in gone]
        assert orcish.read_table(found, **each).sort_by("id").to_pylist() == left, each


@each_case("verb", ["compact", "rewrite", "convert"])
@each_case("place", ["top", "struct", "list", "map"])
def test_digits_beyond_the_unit_are_an_error(tmp_path: pathlib.Path, place: str, verb: str) -> None:
    table = tmp_path / "t"
    table.mkdir()
    put(table / "a.orc", 0, "us", place)
    orc.write_table(rows([2], place, pa.timestamp("ns"), pa.scalar(1, pa.timestamp("ns"))), table / "b.orc")
    before = {path: path.read_bytes() for path in table.glob("*.orc")}
    with pytest.raises(LimitExceededError, match="digits beyond Microseconds"):
        orcish.convert(table, tmp_path / "c") if verb == "convert" else VERBS[verb][0](table)
    assert {path: path.read_bytes() for path in table.glob("*.orc")} == before
    assert not (tmp_path / "c").exists()
    orcish.convert(table, tmp_path / "c", timestamp_unit="exact")
    assert "timestamp[ns]" in str(orcish.scan(tmp_path / "c").schema.field("x").type)


FOLDER_VERBS: dict[str, Callable[[pathlib.Path], Any]] = {
    "compact": orcish.compact,
    "rewrite": lambda table: orcish.compact(table, rewrite=True),
    "delete": lambda table: orcish.delete(table, "id = 9"),
    "append": lambda table: orcish.write_dataset(pa.table({"id": [3]}), table, existing_data="append"),
}


@each_case("verb", FOLDER_VERBS)
@each_case("names", ["ab", "ba"])
def test_folders_keep_instants_that_one_file_states(tmp_path: pathlib.Path, names: str, verb: str) -> None:
    """A file without an Arrow schema has wall clocks, also where it is first; the other one has instants."""
    table = tmp_path / "t"
    table.mkdir()
    plain = rows([1], "top", pa.timestamp("us"), NOON)
    stated = rows([2, 9], "top", pa.timestamp("us", "UTC"), NOON.replace(tzinfo=dt.timezone.utc), AS_TIMESTAMP)
    orcish.write_table(plain, table / f"{names[0]}.orc", arrow_schema=False)
    orcish.write_table(stated, table / f"{names[1]}.orc", timezone="America/New_York")
    before = orcish.read_table(table)
    assert before.schema.field("x").type.tz == "UTC"
    FOLDER_VERBS[verb](table)
    after = orcish.read_table(table)
    assert after.schema.field("x").type == before.schema.field("x").type
    kept = {row["id"]: row["x"] for row in before.to_pylist() if verb != "delete" or row["id"] != 9}
    assert {row["id"]: row["x"] for row in after.to_pylist() if row["id"] != 3} == kept


@each_case("verb", FOLDER_VERBS)
@each_case("names", ["ab", "ba"])
@each_case(
    ("plain", "stated"),
    [
        (pa.array([5]), pa.array([7], pa.uint64())),
        (pa.array([5.5], pa.float32()), pa.array([1.5], pa.float16())),
        (pa.array(["a"]), pa.array(["b"]).dictionary_encode()),
        (pa.array(["a"]), pa.array(["b"], pa.large_string())),
        (pa.array([b"a"]), pa.array([b"bc"], pa.binary(2))),
    ],
    ids=["uint64", "float16", "dictionary", "large string", "fixed"],
)
def test_folders_keep_types_in_any_order(
    tmp_path: pathlib.Path, plain: pa.Array, stated: pa.Array, names: str, verb: str
) -> None:
    """Readers see the types that hold the values of all files, before and after a change."""
    table = tmp_path / "t"
    table.mkdir()
    orcish.write_table(pa.table({"id": [1], "x": plain}), table / f"{names[0]}.orc", arrow_schema=False)
    orcish.write_table(pa.table({"id": [2], "x": stated}), table / f"{names[1]}.orc")
    before = orcish.read_table(table)
    FOLDER_VERBS[verb](table)
    after = orcish.read_table(table)
    assert after.schema.field("x").type == before.schema.field("x").type
    found = {row["id"]: row["x"] for row in after.to_pylist() if row["id"] != 3}
    assert found == {row["id"]: row["x"] for row in before.to_pylist()}
