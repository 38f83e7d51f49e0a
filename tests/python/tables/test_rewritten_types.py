"""Compaction and deletion change no answer of readers: types, wall clocks and instants stay, under every option."""

import datetime as dt
import itertools
import os
import pathlib
import random
from decimal import Decimal
from typing import Any

import orcish
import pyarrow as pa
import pytest
from orcish.errors import OrcishError
from pyarrow import orc

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
    # ORC C++ of pyarrow writes no char, and a column of both types would become string.
    way = rng.choice(ways if "char" in rows.schema.to_string() else [*ways, "pyarrow"])
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
    """A value as Python has it in all units."""
    if isinstance(value, dict):
        return {name: plain(each) for name, each in value.items()}
    if isinstance(value, list | tuple) and not isinstance(value, pa.MonthDayNano):
        return [plain(each) for each in value]
    return value.isoformat() if isinstance(value, dt.datetime) else value


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


def check_same(before: list[Answer], after: list[Answer]) -> None:
    for options, old, new in zip(OPTIONS, before, after, strict=True):
        if old is None:
            continue
        assert new is not None, options
        # Files decide on these units.
        if options.get("timestamp_unit") not in ("auto", "exact"):
            assert new[0].equals(old[0], check_metadata=True), options
        assert new[1] == old[1], options


@pytest.mark.parametrize("seed", range(int(os.environ.get("SEEDS", 60))))
def test_rewriting_changes_no_answer(tmp_path: pathlib.Path, seed: int) -> None:
    """Tables of any types, of files of several writers and time zones, with an Arrow schema and without."""
    rng = random.Random(seed)
    table = tmp_path / "t"
    columns = Columns(rng)
    orcish.write_dataset(columns.rows(), table, arrow_schema=rng.random() < 0.6, timezone="UTC")
    for at in range(rng.randrange(1, 5)):
        add_file(rng, table, columns.rows(), at)
    before = answers(table)
    if before[0] is None:
        # A file of another writer does not have the types of the table.
        with pytest.raises((OrcishError, ValueError)):
            orcish.compact(table, rewrite=True)
        check_same(before, answers(table))
        return
    for _ in range(2):
        if rng.random() < 0.4:
            ids = sorted(before[0][1])
            gone = rng.sample(ids, len(ids) // 3)
            orcish.delete(table, orcish.col("id").is_in(gone) if gone else "id < 0")
            for answer in before:
                for number in gone if answer is not None else ():
                    del answer[1][number]
        else:
            size = rng.choice(["512MB", 2000])
            orcish.compact(table, rewrite=rng.random() < 0.5, target_file_size=size)
        check_same(before, answers(table))
