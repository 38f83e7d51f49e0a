"""No operation that rewrites files loses digits of timestamps without an error.

Values are read as seconds and nanoseconds by pyorc, which knows nothing of Arrow.
"""

from __future__ import annotations

import datetime as dt
import itertools
import pathlib
from collections.abc import Callable, Sequence
from typing import Any

import orcish
import pyarrow as pa
import pyorc
import pytest
from orcish.errors import LimitExceededError
from pyorc.converters import ORCConverter
from support.case_loops import each_case
from support.counting_file import Counting
from support.random_cases import pairs_of

Moment = tuple[int, int]
"""Seconds since 1970 and nanoseconds."""

# Dates before 1582 are in another calendar in files of other writers.
NEAR, LATE, EARLY = 1_700_000_000, 32_503_680_000, -11_670_000_000
SHAPES: dict[str, tuple[str, Callable[[Any], Any], Callable[[Any], Any]]] = {
    "column": ("timestamp", lambda value: value, lambda value: value),
    "instant": ("timestamp with local time zone", lambda value: value, lambda value: value),
    "struct": ("struct<a:timestamp>", lambda value: (value,), lambda value: value[0]),
    "list": ("array<timestamp>", lambda value: [value], lambda value: value[0]),
    "map": ("map<int,timestamp>", lambda value: [(1, value)], lambda value: value[1]),
    "union": ("uniontype<int,timestamp>", lambda value: value, lambda value: value),
}


class Raw(ORCConverter):
    """Values as they are stored."""

    @staticmethod
    def from_orc(seconds: int, nanoseconds: int, *_: Any) -> Any:
        return seconds, nanoseconds

    @staticmethod
    def to_orc(moment: Any, *_: Any) -> Moment:
        return moment


RAW = {pyorc.TypeKind.TIMESTAMP: Raw, pyorc.TypeKind.TIMESTAMP_INSTANT: Raw}


def write_foreign(path: pathlib.Path, moments: Sequence[Moment | None], first: int, shape: str = "column") -> None:
    """A file without Arrow schema, of another writer."""
    kind, wrapped, _ = SHAPES[shape]
    with path.open("wb") as file, pyorc.Writer(file, f"struct<id:int,t:{kind}>", converters=RAW) as writer:
        for at, moment in enumerate(moments, first):
            writer.write((at, None if moment is None else wrapped(moment)))


def write_own(path: pathlib.Path, moments: Sequence[Moment | None], first: int, unit: str) -> None:
    """A file with Arrow schema."""
    scale = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[unit]
    values = [None if each is None else each[0] * scale + each[1] * scale // 10**9 for each in moments]
    table = pa.table(
        {"id": pa.array(range(first, first + len(values)), pa.int32()), "t": pa.array(values, pa.timestamp(unit))}
    )
    orcish.write_table(table, path, timezone="UTC")


def stored(paths: Sequence[pathlib.Path], shape: str = "column") -> dict[int, Moment | None]:
    """The values by the ids of their rows."""
    found = {}
    unwrapped = SHAPES[shape][2]
    for path in paths:
        with path.open("rb") as file:
            for at, value in pyorc.Reader(file, converters=RAW):
                value = next(iter(value.items())) if isinstance(value, dict) else value
                found[at] = None if value is None else unwrapped(value)
    return found


def in_table(table: pathlib.Path) -> list[pathlib.Path]:
    return sorted(path for path in table.rglob("*.orc") if "_orcish" not in path.parts)


def of_arrow(table: pa.Table) -> dict[int, Moment | None]:
    """The values of a table by the ids of their rows."""
    unit = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[table["t"].type.unit]
    values = table["t"].cast(pa.int64()).to_pylist()
    moments = [None if value is None else (value // unit, value % unit * (10**9 // unit)) for value in values]
    return dict(zip(table["id"].to_pylist(), moments, strict=True))


def converted(table: pathlib.Path) -> list[pathlib.Path]:
    orcish.convert(table, table.parent / "converted")
    return in_table(table.parent / "converted")


def compacted(table: pathlib.Path, rewrite: bool = False) -> list[pathlib.Path]:
    orcish.compact(table, rewrite=rewrite)
    return in_table(table)


def after_deletion(table: pathlib.Path) -> list[pathlib.Path]:
    orcish.delete(table, "id in (99, 199)")
    return in_table(table)


OPERATIONS: dict[str, Callable[[pathlib.Path], list[pathlib.Path]]] = {
    "convert": converted,
    "compact": compacted,
    "rewrite": lambda table: compacted(table, rewrite=True),
    "delete": after_deletion,
}
# Files by what is special about their values, and whether a file of an Arrow unit has them.
VALUES: dict[str, list[Moment | None]] = {
    "near": [(NEAR, 0), None, (-NEAR, 5_000)],
    "near ns": [(NEAR, 123_456_789), (-NEAR, 1), None],
    "far": [(LATE, 0), (EARLY, 999_999_000)],
    "far ns": [(LATE, 0), (NEAR, 1)],
    "null": [None, None],
}
FILES = [
    *(("foreign", values) for values in VALUES),
    *(("us", values) for values in ("near", "far")),
    *(("ns", values) for values in ("near", "near ns", "null")),
    ("s", "null"),
]


def written(path: pathlib.Path, files: Sequence[tuple[str, str]]) -> dict[int, Moment | None]:
    """A table of files, whose last rows are deleted in tests of deletion."""
    path.mkdir()
    expected = {}
    for number, (writer, values) in enumerate(files):
        moments = [*VALUES[values], None]
        first = 100 * number + 100 - len(moments)
        name = path / f"part-{number}.orc"
        if writer == "foreign":
            write_foreign(name, moments, first)
        else:
            write_own(name, moments, first, writer)
        expected.update(enumerate(moments, first))
    return expected


def fits_one_unit(files: Sequence[tuple[str, str]]) -> bool:
    """Whether 64 bits of one unit have all values."""
    values = {values for _, values in files}
    return "far ns" not in values and not {"far", "near ns"} <= values


def fits_the_unit(files: Sequence[tuple[str, str]]) -> bool:
    """Whether the unit that readers of the table see has all values. Without an Arrow schema it is not in the files."""
    unit, values = files[0][0], {values for _, values in files}
    held = {"s": {"null"}, "us": {"near", "far", "null"}, "ns": {"near", "near ns", "null"}}
    return fits_one_unit(files) if unit == "foreign" else values <= held[unit]


def scanned(table: pathlib.Path, in_parts: bool) -> dict[int, Moment | None]:
    scan = orcish.scan(table, timestamp_unit="exact")
    parts = [split.scan().to_table() for split in scan.splits(1)] if in_parts else [scan.to_table()]
    return of_arrow(pa.concat_tables(parts))


def attempted(read: Callable[[], dict[int, Moment | None]]) -> tuple[dict[int, Moment | None], str]:
    """The values, or the message of an error."""
    try:
        return read(), ""
    except LimitExceededError as error:
        return {}, str(error)


def kept(expected: dict[int, Moment | None], operation: str) -> dict[int, Moment | None]:
    """The values that an operation leaves."""
    return {at: each for at, each in expected.items() if operation != "delete" or at % 100 != 99}


ONE_OR_TWO = [*((each, None) for each in FILES), *itertools.permutations(FILES, 2)]


@each_case(
    ("first", "other", "operation"),
    pairs_of((*files, operation) for files in ONE_OR_TWO for operation in [*OPERATIONS, "scan", "parts"]),
    ids=str,
)
def test_digits_are_kept_or_an_error(
    tmp_path: pathlib.Path, first: tuple[str, str], other: tuple[str, str] | None, operation: str
) -> None:
    table, files = tmp_path / "t", (first,) if other is None else (first, other)
    expected = written(table, files)
    before = {path: path.read_bytes() for path in in_table(table)}

    def read() -> dict[int, Moment | None]:
        if operation in OPERATIONS:
            return stored(OPERATIONS[operation](table))
        return scanned(table, operation == "parts")

    found, error = attempted(read)
    if not error:
        assert found == kept(expected, operation)
        return
    assert "column t" in error
    assert "timestamp_unit" in error
    assert any(str(path) in error for path in before)
    assert {path: path.read_bytes() for path in in_table(table)} == before
    # A deletion writes each file by itself.
    groups = [(each,) for each in files] if operation == "delete" else [files]
    fits = fits_one_unit if operation in ("scan", "parts") else fits_the_unit
    assert not all(map(fits, groups))


def far(values: str) -> list[Moment]:
    return [moment for moment in VALUES[values] if moment is not None]


@each_case("operation", OPERATIONS)
@each_case("values", [("near", "near ns"), ("near ns", "near"), ("far", "near"), ("near ns", "far")])
@each_case("shape", SHAPES)
def test_digits_of_nested_timestamps(
    tmp_path: pathlib.Path, shape: str, values: tuple[str, str], operation: str
) -> None:
    table = tmp_path / "t"
    table.mkdir()
    for number, name in enumerate(values):
        moments = [*far(name), (NEAR, 0)]
        write_foreign(table / f"part-{number}.orc", moments, 100 * number + 100 - len(moments), shape)
    expected = stored(in_table(table), shape)
    found, error = attempted(lambda: stored(OPERATIONS[operation](table), shape))
    if not error:
        assert found == kept(expected, operation)
        return
    assert "column t" in error
    assert stored(in_table(table), shape) == expected
    assert values == ("near ns", "far")
    assert operation != "delete"


def test_the_value_is_named(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "a.orc"
    write_foreign(path, [(LATE, 0), None, (NEAR, 1_000), (NEAR, 1)], 0)
    file = orcish.ORCFile(path)
    assert file.arrow_schema(timestamp_unit="exact").field("t").type == pa.timestamp("us")
    with pytest.raises(LimitExceededError, match=r"a.orc.*column t.*row 3.*digits beyond Microseconds"):
        file.read(timestamp_unit="exact")
    with pytest.raises(LimitExceededError, match="digits beyond Microseconds"):
        file.read(timestamp_unit="exact", timestamp_out_of_range="null")
    assert file.read(timestamp_unit="exact", filters="id < 3", limit=3).num_rows == 3
    assert of_arrow(file.read(timestamp_unit="auto")) == {0: (LATE, 0), 1: None, 2: (NEAR, 1_000), 3: (NEAR, 0)}


@each_case("unit", ["s", "ms", "us"])
def test_digits_beyond_the_unit_of_a_schema(tmp_path: pathlib.Path, unit: str) -> None:
    path = tmp_path / "a.orc"
    schema = pa.schema([("id", pa.int32()), ("t", pa.timestamp(unit))])
    digits = {"s": 10**9, "ms": 10**6, "us": 10**3}[unit]
    for nanos in (0, digits % 10**9, digits // 10):
        write_foreign(path, [(NEAR, nanos)], 0)
        scan = orcish.scan(path, schema=schema, timestamp_unit="exact")
        if nanos % digits:
            with pytest.raises(LimitExceededError, match="digits beyond"):
                scan.to_table()
            cut = orcish.scan(path, schema=schema, timestamp_unit=unit).to_table()
            assert of_arrow(cut) == {0: (NEAR, nanos // digits * digits)}
            if unit != "us":
                # Files without an Arrow schema are read with microseconds, unless more is asked for.
                with pytest.raises(LimitExceededError, match="digits beyond"):
                    orcish.scan(path, schema=schema).to_table()
        else:
            assert of_arrow(scan.to_table()) == {0: (NEAR, nanos)}


@each_case("nanos", [0, 1_000, 1])
def test_statistics_have_all_digits(tmp_path: pathlib.Path, nanos: int) -> None:
    """The least and the greatest value are those of the statistics, if the unit has their digits."""
    path = tmp_path / "a.orc"
    rows = pa.table({"t": pa.array([LATE * 10**6, NEAR * 10**6], pa.timestamp("us"))})
    orcish.write_table(rows, path, arrow_schema=False)
    foreign = tmp_path / "b.orc"
    write_foreign(foreign, [(LATE, 0), (NEAR, nanos)], 0)
    expected = [dt.datetime(1970, 1, 1) + dt.timedelta(seconds=each) for each in (NEAR, LATE)]
    scan = orcish.scan(path, timestamp_unit="exact")
    assert [scan.min("t"), scan.max("t")] == expected
    scan = orcish.scan(foreign, timestamp_unit="exact")
    if nanos == 1:
        for function in (scan.min, scan.max):
            with pytest.raises(LimitExceededError):
                function("t")
    else:
        assert [scan.min("t"), scan.max("t")] == [expected[0] + dt.timedelta(microseconds=nanos // 1_000), expected[1]]


def test_schemas_that_are_given_need_no_tails(tmp_path: pathlib.Path) -> None:
    """The tails of all files decide on types, once."""
    files = []
    for number in range(3):
        path = tmp_path / f"{number}.orc"
        write_foreign(path, [(NEAR, number)], number, "instant")
        files.append(Counting(path.read_bytes()))
    schema = orcish.scan(files, timestamp_unit="ns").schema
    for file in files:
        file.ranges.clear()
    orcish.scan(files, schema=schema)
    assert not any(file.ranges for file in files)
    for unit in (None, "auto", "exact"):
        scan = orcish.scan(files, timestamp_unit=unit)
        assert scan.schema.field("t").type == pa.timestamp("us" if unit is None else "ns", "UTC")
        opened = [len(file.ranges) for file in files]
        assert all(opened)
        assert scan.count() == 3
        assert [len(file.ranges) for file in files] == opened


def test_files_are_written_again_as_they_were(tmp_path: pathlib.Path) -> None:
    """Stride of the row index, and version of the format."""
    rows = pa.table({"id": range(3)})
    for name, stride, version, given in (
        ("a", 5_000, "0.11", {}),
        ("b", 0, "0.12", {}),
        ("c", 0, "0.11", {"bloom_filter_columns": ["id"]}),
        ("d", 2_000, "0.12", {"row_index_stride": 3_000, "version": "0.11"}),
    ):
        for operation in ("delete", "compact"):
            table = tmp_path / name / operation
            table.mkdir(parents=True)
            orcish.write_table(rows, table / "a.orc", row_index_stride=stride, version=version)
            if operation == "delete":
                orcish.delete(table, "id = 1", **given)
            else:
                orcish.compact(table, rewrite=True, **given)
            (path,) = in_table(table)
            file = orcish.ORCFile(path)
            expected = (10_000, "0.12") if name == "c" else (stride, version)
            if name == "d":
                expected = (3_000, "0.11")
            assert (file.row_index_stride, file.version) == expected
            assert file.check() == []


def test_small_strides_become_the_least_one(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "a.orc"
    with path.open("wb") as file, pyorc.Writer(file, "struct<id:int>", row_index_stride=100) as writer:
        writer.writerows((number,) for number in range(1_000))
    assert orcish.ORCFile(path).row_index_stride == 100
    orcish.delete(tmp_path, "id = 1")
    (path,) = in_table(tmp_path)
    assert orcish.ORCFile(path).row_index_stride == 1_000


@each_case("zones", [("UTC", "Asia/Tokyo"), ("Asia/Tokyo", "Europe/Paris"), ("Asia/Tokyo", "Asia/Tokyo")])
def test_compaction_of_instants_of_several_zones(tmp_path: pathlib.Path, zones: tuple[str, str]) -> None:
    for name, zone in zip("ab", zones, strict=True):
        rows = pa.table({"id": pa.array([1], pa.int32()), "t": pa.array([NEAR], pa.timestamp("s", zone))})
        orcish.write_table(rows, tmp_path / f"{name}.orc")
    before = orcish.read_table(tmp_path)["t"]
    (done,) = orcish.compact(tmp_path, rewrite=True)
    assert done.action == "rewrite"
    found = orcish.read_table(tmp_path)["t"]
    assert found.type == before.type
    assert found == before
