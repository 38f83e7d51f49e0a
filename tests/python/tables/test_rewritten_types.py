"""Compaction and deletion change no answer of readers: types, wall clocks and instants stay, under every option."""

import datetime as dt
import itertools
import pathlib
import random
import re
from decimal import Decimal
from typing import Any

import orcish
import pyarrow as pa
import pyarrow.compute as pc
from orcish.errors import OrcishError, UnsupportedError
from pyarrow import orc
from support.case_loops import each_case
from support.random_cases import cases

UTC = dt.timezone.utc
ZONES = ["UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata"]
NTZ = {"spark.sql.catalyst.type": "timestamp_ntz"}
AS_TIMESTAMP = {"orc.type": "timestamp"}

OPTIONS: list[dict[str, Any]] = [
    *({"timestamps": way} for way in (None, "wall", "instant")),
    *({"timestamps": "instant", "timezone": zone} for zone in ("Asia/Tokyo", "Europe/Berlin")),
    *(
        {"timestamp_unit": unit, "timestamps": way}
        for unit in ("s", "ns", "exact", "auto")
        for way in (None, "instant")
    ),
    *({"arrow_schema": False, "timestamps": way} for way in (None, "wall", "instant")),
    *({"strings": "view"}, {"trim_char": True}, {"unions": "struct"}),
]

# Around hours that clocks repeat, whose instants differ and whose wall clocks are the same.
MOMENTS = [
    *(dt.datetime(2026, 10, 25, hour, 30) for hour in range(4)),
    *(dt.datetime(2026, 11, 1, hour, 30) for hour in range(4, 8)),
    *(dt.datetime(year, 7, 4, 12, 0, 1) for year in (1905, 1969, 1970, 2015, 2026, 2200)),
]


def timestamps(rng: random.Random) -> dt.datetime:
    return rng.choice(MOMENTS)


SIMPLE: list[tuple[pa.DataType, Any]] = [
    (pa.bool_(), lambda rng: rng.random() < 0.5),
    *((kind, lambda rng: rng.randrange(-100, 100)) for kind in (pa.int8(), pa.int16(), pa.int32(), pa.int64())),
    *((kind, lambda rng: rng.randrange(200)) for kind in (pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64())),
    *((kind, lambda rng: rng.randrange(99) / 4) for kind in (pa.float16(), pa.float32(), pa.float64())),
    *((kind, lambda rng: rng.choice("xyz")) for kind in (pa.string(), pa.large_string(), pa.string_view())),
    *(
        (kind, lambda rng: rng.randbytes(3))
        for kind in (pa.binary(), pa.large_binary(), pa.binary_view(), pa.binary(3))
    ),
    *((kind, lambda rng: dt.date(2026, 1, rng.randrange(1, 28))) for kind in (pa.date32(), pa.date64())),
    *(
        (kind, lambda rng: dt.time(rng.randrange(24), 5))
        for kind in (pa.time32("s"), pa.time32("ms"), pa.time64("us"), pa.time64("ns"))
    ),
    *((pa.duration(unit), lambda rng: dt.timedelta(seconds=rng.randrange(10**6))) for unit in ("s", "ms", "us", "ns")),
    (pa.month_day_nano_interval(), lambda rng: pa.MonthDayNano([rng.randrange(9), 2, 3])),
    *((pa.timestamp(unit), timestamps) for unit in ("s", "ms", "us", "ns")),
    *((pa.timestamp(unit, zone), timestamps) for unit in ("s", "us", "ns") for zone in ("UTC", "Europe/Berlin")),
    *(
        (kind, lambda rng: Decimal(rng.randrange(999)) / 100)
        for kind in (pa.decimal32(5, 2), pa.decimal64(12, 2), pa.decimal128(20, 2), pa.decimal256(38, 2))
    ),
    *(
        (pa.dictionary(keys, pa.string()), lambda rng: rng.choice("xyz"))
        for keys in (pa.int8(), pa.uint16(), pa.int64())
    ),
    (pa.run_end_encoded(pa.int16(), pa.int64()), lambda rng: rng.randrange(2)),
]


def drawn(rng: random.Random, depth: int = 2) -> tuple[pa.Field, Any]:
    """A field, and how a value of it is drawn."""
    shape = rng.choice(["simple", "simple", "simple", "char", "ntz", "list", "struct", "map"]) if depth else "simple"
    if shape == "simple":
        kind, value = rng.choice(SIMPLE)
        is_stored_as_timestamp = pa.types.is_timestamp(kind) and kind.tz is not None and rng.random() < 0.5
        return pa.field("item", kind, metadata=AS_TIMESTAMP if is_stored_as_timestamp else None), value
    if shape == "char":
        return pa.field("item", pa.string(), metadata={"orc.type": "char(3)"}), lambda rng: rng.choice(["a  ", "abc"])
    if shape == "ntz":
        return pa.field("item", pa.timestamp("us"), metadata=NTZ), timestamps
    inner, value = drawn(rng, depth - 1)
    if pa.types.is_run_end_encoded(inner.type):
        # pyarrow makes no arrays of them within others.
        inner = inner.with_type(inner.type.value_type)
    if shape == "list":
        kind = rng.choice([pa.list_(inner), pa.large_list(inner), pa.list_(inner, 2)])
        return pa.field("item", kind), lambda rng: [value(rng), value(rng)]
    if shape == "struct":
        return pa.field("item", pa.struct([inner.with_name("a")])), lambda rng: {"a": value(rng)}
    return pa.field("item", pa.map_(pa.string(), inner.with_name("value"))), lambda rng: [("k", value(rng))]


class Columns:
    """Random columns, and rows of them with ascending ids."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        made = [drawn(rng) for _ in range(rng.randrange(1, 4))]
        self.fields = [pa.field("id", pa.int64()), *(field.with_name(f"c{at}") for at, (field, _) in enumerate(made))]
        self.values = [value for _, value in made]
        self.ids = itertools.count()

    def rows(self) -> pa.Table:
        ids = [next(self.ids) for _ in range(self.rng.randrange(1, 5))]
        arrays = [pa.array(ids, pa.int64())]
        for field, value in zip(self.fields[1:], self.values, strict=True):
            values = [None if self.rng.random() < 0.2 else value(self.rng) for _ in ids]
            if pa.types.is_run_end_encoded(field.type):
                array = pa.array(values, pa.int64())
                ends = pa.array(range(1, len(ids) + 1), pa.int16())
                arrays.append(pa.RunEndEncodedArray.from_arrays(ends, array))
            else:
                arrays.append(pa.array(values, field.type))
        return pa.table(arrays, schema=pa.schema(self.fields))


def add_file(rng: random.Random, table: pathlib.Path, rows: pa.Table, at: int) -> None:
    """Adds rows to a table, as one of many writers."""
    zone, has_schema = rng.choice(ZONES), rng.random() < 0.5
    path = table / f"{rng.choice('amz')}{at}.orc"
    ways = ["append", "append", "orcish", "orcish"]
    # pyarrow writes neither char nor integers as timestamps, and no column keeps two types.
    has_own_types = any(name in rows.schema.to_string() for name in ("char", "timestamp_ntz"))
    way = rng.choice(ways if has_own_types else [*ways, "pyarrow"])
    try:
        if way == "append":
            options = {} if rng.random() < 0.5 else {"timezone": zone}
            orcish.write_dataset(rows, table, existing_data="append", arrow_schema=has_schema, **options)
        elif way == "orcish":
            orcish.write_table(rows, path, arrow_schema=has_schema, timezone=zone)
        else:
            orcish.write_table(rows, path, arrow_schema=False)
            orc.write_table(orcish.read_table(path), path)
    except (ValueError, pa.ArrowException):
        # The rows do not fit the table, a clock skips a time, or pyarrow does not write a type.
        path.unlink(missing_ok=True)


def plain(value: Any) -> Any:
    """A value as Python has it in all units and time zones."""
    if isinstance(value, dict):
        return {name: plain(each) for name, each in value.items()}
    if isinstance(value, list | tuple) and not isinstance(value, pa.MonthDayNano):
        return [plain(each) for each in value]
    if isinstance(value, dt.datetime):
        return (value if value.tzinfo is None else value.astimezone(dt.timezone.utc)).isoformat()
    return value


Answer = tuple[pa.Schema, dict[int, Any]] | None


def answers(table: pathlib.Path) -> list[Answer]:
    """What readers find under all options, by the ids of rows; ``None`` for an error."""
    found: list[Answer] = []
    for options in OPTIONS:
        try:
            read = orcish.read_table(table, **options)
            found.append((read.schema, {row["id"]: plain(row) for row in read.to_pylist()}))
        except (OrcishError, pa.ArrowException):
            found.append(None)
    return found


def without_units(kind: Any) -> str:
    """A type without units and time zones of timestamps, by its text."""
    return re.sub(r"timestamp\[\w+(, tz)?[^\]]*", r"timestamp[\1", str(kind))


def check_same(before: list[Answer], after: list[Answer], *, had_log: bool) -> None:
    for options, old, new in zip(OPTIONS, before, after, strict=True):
        if old is None:
            continue
        assert new is not None, options
        # Files decide on these units. The first log says how instants are stored, and has one time zone for them.
        if options.get("timestamp_unit") not in ("auto", "exact") and (had_log or options.get("timestamps") is None):
            assert new[0].equals(old[0], check_metadata=had_log), options
        assert new[0].names == old[0].names
        assert [without_units(kind) for kind in new[0].types] == [without_units(kind) for kind in old[0].types], options
        assert new[1] == old[1], options


REWRITING: list[dict[str, Any]] = [
    {},
    {"arrow_schema": False},
    {"arrow_schema": True},
    {"verify": True, "compression": "none"},
    {"version": "0.11", "row_index_stride": 0},
]


@each_case("has_log", [True, False])
@each_case("seed", range(cases(40)))
def test_rewriting_changes_no_answer(tmp_path: pathlib.Path, seed: int, has_log: bool) -> None:
    """Tables of any types, of files of several writers and time zones, with an Arrow schema and without."""
    rng = random.Random(seed)
    table = tmp_path / "t"
    columns = Columns(rng)
    if has_log:
        orcish.write_dataset(columns.rows(), table, arrow_schema=rng.random() < 0.6)
    else:
        table.mkdir()
        orcish.write_table(columns.rows(), table / "0.orc", arrow_schema=rng.random() < 0.6)
    for at in range(rng.randrange(1, 5)):
        add_file(rng, table, columns.rows(), at)
    before = answers(table)
    had_log = bool(orcish.history(table))
    for _ in range(2):
        options = rng.choice(REWRITING)
        if before[0] is not None and rng.random() < 0.4:
            ids = sorted(before[0][1])
            gone = rng.sample(ids, len(ids) // 3)
            orcish.delete(table, orcish.col("id").is_in(gone) if gone else "id < 0", **options)
            for answer in before:
                for number in gone if answer is not None else ():
                    del answer[1][number]
        else:
            is_rewritten = bool(options) or rng.random() < 0.5
            size = rng.choice(["512MB", 2000])
            try:
                orcish.compact(table, rewrite=is_rewritten, target_file_size=size, **options)
            except UnsupportedError:
                # The numbers of a file without an Arrow schema are no times: readers refuse these folders, too.
                assert before[0] is None
        check_same(before, answers(table), had_log=had_log)


INTERVAL = pa.month_day_nano_interval()


@each_case(
    ("kind", "value"),
    [
        (pa.time32("s"), dt.time(1)),
        (pa.time64("us"), dt.time(1)),
        (pa.duration("s"), dt.timedelta(1)),
        (INTERVAL, pa.MonthDayNano([1, 2, 3])),
        (pa.list_(pa.time32("ms")), [dt.time(1)]),
        (pa.list_(INTERVAL), [pa.MonthDayNano([1, 2, 3])]),
        (pa.struct({"a": pa.time64("ns")}), {"a": dt.time(1)}),
        (pa.uint64(), 2**64 - 1),
    ],
    ids=str,
)
@each_case("way", ["appended", "copied"])
@each_case("rewrite", [True, False])
def test_types_that_only_the_log_has(
    tmp_path: pathlib.Path, kind: pa.DataType, value: Any, way: str, rewrite: bool
) -> None:
    """Files without an Arrow schema get the types of the table."""
    table = tmp_path / "t"
    rows = pa.table({"x": pa.array([value], kind)})
    orcish.write_dataset(rows, table)
    if way == "appended":
        orcish.write_dataset(rows, table, existing_data="append", arrow_schema=False)
    else:
        orcish.write_table(rows, table / "a.orc", arrow_schema=False)
    before = orcish.read_table(table)
    assert before.schema.types == [kind]
    (done,) = orcish.compact(table, rewrite=rewrite)
    assert orcish.read_table(table).equals(before)
    if done.action == "rewrite":
        (path,) = table.glob("*.orc")
        assert orcish.read_table(path).equals(before)


@each_case("arrow_schema", [True, False])
@each_case("kind", [pa.timestamp("us"), pa.timestamp("us", "UTC")], ids=str)
def test_stripes_keep_their_time_zones(tmp_path: pathlib.Path, kind: pa.DataType, arrow_schema: bool) -> None:
    """Rewriting moves neither a clock nor an instant, whatever reader looks."""
    table = tmp_path / "t"
    table.mkdir()
    schema = pa.schema([pa.field("id", pa.int64()), pa.field("t", kind, metadata=AS_TIMESTAMP if kind.tz else None)])
    for at, zone in enumerate(["Europe/Berlin", "America/New_York", "America/New_York", "UTC"]):
        rows = pa.table([[at] * len(MOMENTS), pa.array(MOMENTS, kind)], schema=schema)
        # Other codecs, so that stripes are not copied.
        codec = "zlib" if at else "zstd"
        orcish.write_table(rows, table / f"{at}.orc", timezone=zone, arrow_schema=arrow_schema, compression=codec)
    clocks = pa.concat_tables([orc.read_table(path) for path in sorted(table.glob("*.orc"))])
    before = answers(table)
    (done,) = orcish.compact(table)
    assert done.action == "rewrite"
    (path,) = table.glob("*.orc")
    assert orcish.ORCFile(path).writer_timezones() == ["Europe/Berlin", "America/New_York", "UTC"]
    assert answers(table) == before
    # ORC C++ shows wall clocks.
    assert orc.read_table(path)["t"].equals(clocks["t"])
    orcish.delete(table, "id = 1")
    (path,) = table.glob("*.orc")
    wanted = clocks.filter(pc.field("id") != 1)
    assert orc.read_table(path)["t"].to_pylist() == wanted["t"].to_pylist()


def test_wall_clocks_are_appended_in_the_zone_of_the_table(tmp_path: pathlib.Path) -> None:
    rows = pa.table({"t": pa.array([dt.datetime(2026, 7, 4, 12)], pa.timestamp("us"))})
    orcish.write_dataset(rows, tmp_path / "t", timezone="America/New_York")
    orcish.write_dataset(rows, tmp_path / "t", existing_data="append")
    noon = dt.datetime(2026, 7, 4, 12)
    assert orcish.read_table(tmp_path / "t")["t"].to_pylist() == [noon] * 2
    instants = orcish.read_table(tmp_path / "t", timestamps="instant")["t"].to_pylist()
    assert instants == [dt.datetime(2026, 7, 4, 16, tzinfo=UTC)] * 2
    orcish.write_dataset(rows, tmp_path / "t", existing_data="append", timezone="Asia/Tokyo")
    zones = {orcish.ORCFile(path).writer_timezones()[0] for path in (tmp_path / "t").glob("*.orc")}
    assert zones == {"America/New_York", "Asia/Tokyo"}


def test_a_given_time_zone_keeps_wall_clocks(tmp_path: pathlib.Path) -> None:
    rows = pa.table({"t": pa.array([dt.datetime(2026, 7, 4, 12)], pa.timestamp("us"))})
    orcish.write_dataset(rows, tmp_path / "t", timezone="America/New_York")
    before = orcish.read_table(tmp_path / "t")
    orcish.compact(tmp_path / "t", rewrite=True, timezone="UTC")
    assert orcish.read_table(tmp_path / "t").equals(before)
    found = orcish.read_table(tmp_path / "t", timestamps="instant")["t"].to_pylist()
    assert found == [dt.datetime(2026, 7, 4, 12, tzinfo=UTC)]


def test_columns_that_the_table_does_not_have_stay(tmp_path: pathlib.Path) -> None:
    """A file of another writer may have more columns than the log."""
    table = tmp_path / "t"
    orcish.write_dataset(pa.table({"id": [1], "day": ["a"]}), table, partition_by=["day"])
    orcish.write_table(pa.table({"id": [2], "more": ["x"], "day": ["b"]}), table / "day=a" / "z.orc")
    before = orcish.read_table(table)
    assert before.schema.names == ["id", "day"]
    orcish.compact(table)
    (path,) = table.rglob("*.orc")
    assert orcish.read_table(path).to_pylist() == [
        {"id": 1, "more": None, "day": None},
        {"id": 2, "more": "x", "day": "b"},
    ]
    assert orcish.read_table(table).equals(before)
