"""Timestamps and dates that orcish writes: the same wall clock for everyone, in every zone, from year 1 to 9999."""

from __future__ import annotations

import ctypes
import datetime as dt
import io
import zoneinfo
from pathlib import Path
from typing import Any

import orcish
import pyarrow as pa
import pyarrow.orc
import pyorc
import pytest
from support.filter_files import clock_of
from support.writer_tables import SPARK_KEY, written

Spark = Any
UTC = dt.timezone.utc
CLOCKS = [
    dt.datetime(2026, 1, 15, 12, 0, 0, 123456),
    dt.datetime(2026, 7, 15, 12, 0, 0, 500000),
    dt.datetime(2025, 3, 9, 1, 59, 59),
    dt.datetime(2025, 3, 9, 3, 0, 0, 250000),
    dt.datetime(2025, 11, 2, 0, 59, 59),
    dt.datetime(2025, 11, 2, 2, 0, 0),
    dt.datetime(1969, 7, 20, 20, 17, 40, 750000),
    dt.datetime(1950, 1, 1),
    dt.datetime(1970, 1, 1),
    dt.datetime(1970, 1, 1, 0, 0, 0, 1),
    dt.datetime(2015, 1, 1),
    dt.datetime(2014, 12, 31, 23, 59, 59, 999999),
    dt.datetime(2040, 6, 1, 6),
    dt.datetime(1900, 1, 1, 0, 0, 0, 1),
]
# Beyond what 64 bits of nanoseconds hold.
ANCIENT = [
    dt.datetime(1, 1, 2, 3, 4, 5, 600000),
    dt.datetime(1000, 2, 28, 23, 59, 59, 1),
    dt.datetime(1500, 3, 1, 12, 30, 0, 250000),
    dt.datetime(1582, 10, 4, 1),
    dt.datetime(1582, 10, 15, 1),
    dt.datetime(9999, 12, 30, 23, 59, 59, 999999),
]
ZONES = ["UTC", "America/New_York", "Asia/Shanghai", "GMT+08:00"]
BEFORE_1970 = [
    -999_999,
    -999_001,
    -1_000_000,
    -1_000_001,
    -1_500_000,
    -1_999_999,
    -7_713_116_127,
    -(10**15) - 1,
    -(6 * 10**16) + 1,
    1,
    0,
]


def clocks(moments: list[dt.datetime]) -> pa.Table:
    """Wall clocks in all places, with nulls."""
    times = pa.array([*moments, None], pa.timestamp("us"))
    rows = len(times)
    return pa.table(
        {
            "id": pa.array(range(rows)),
            "t": times,
            "l": pa.ListArray.from_arrays(pa.array(range(rows + 1), pa.int32()), times),
            "s": pa.StructArray.from_arrays([times], ["t"]),
            "d": times.cast(pa.date32(), safe=False),
        }
    )


def shown(table: pa.Table) -> list[dict[str, Any]]:
    return list(table.select(["id", "t", "l", "s", "d"]).to_pylist())


@pytest.mark.parametrize("zone", ZONES)
def test_the_wall_clock_is_the_same_for_all(spark: Spark, tmp_path: Path, zone: str) -> None:
    data = clocks(CLOCKS)
    file = written(data, timezone=zone, compression="none")
    assert zone.encode() in file
    assert shown(orcish.read_table(file)) == shown(data)
    naive = [{"id": row["id"], "t": row["t"]} for row in shown(data)]
    if zone != "GMT+08:00":
        # C++ knows files of zones, where that has none.
        assert [{"id": row[0], "t": row[1] and row[1].replace(tzinfo=None)} for row in reader(file)] == naive
        us = pyarrow.orc.read_table(io.BytesIO(file))["t"].cast(pa.timestamp("us"))
        assert us.to_pylist() == [row["t"] for row in naive]
    path = tmp_path / "t.orc"
    path.write_bytes(file)
    rows = spark.read.orc(str(path)).selectExpr("id", "cast(t as string) t", "cast(l[0] as string) l", "d").toArrow()
    want = [moment and text(moment) for moment in data["t"].to_pylist()]
    assert rows["t"].to_pylist() == want
    assert rows["l"].to_pylist() == want
    assert rows["d"].to_pylist() == data["d"].to_pylist()


def reader(file: bytes) -> Any:
    return pyorc.Reader(io.BytesIO(file), timezone=zoneinfo.ZoneInfo("UTC"), column_names=["id", "t"])


def text(moment: dt.datetime) -> str:
    """As Spark shows it."""
    found = moment.isoformat(sep=" ")
    return found.rstrip("0") if "." in found else found


@pytest.mark.parametrize("zone", ["America/New_York", "Asia/Shanghai"])
@pytest.mark.parametrize("writer", ["UTC", "America/New_York"])
def test_spark_in_another_zone(spark: Spark, tmp_path: Path, zone: str, writer: str) -> None:
    """A JVM in another zone reads the local time of timestamps, and the instant of timestamps with a zone."""
    data = clocks(CLOCKS)
    instants = pa.array([*(clock.replace(tzinfo=UTC) for clock in CLOCKS), None], pa.timestamp("us", "UTC"))
    path = tmp_path / "t.orc"
    path.write_bytes(written(data.append_column("z", instants), timezone=writer))
    spark.conf.set("spark.sql.session.timeZone", zone)
    try:
        with clock_of(spark, zone):
            query = ["cast(t as string) t", "unix_micros(z) z"]
            rows = spark.read.orc(str(path)).selectExpr(*query).toArrow()
    finally:
        spark.conf.set("spark.sql.session.timeZone", "UTC")
    assert rows["t"].to_pylist() == [moment and text(moment) for moment in data["t"].to_pylist()]
    assert rows["z"].to_pylist() == instants.cast(pa.int64()).to_pylist()


@pytest.mark.parametrize("zone", ["UTC", "America/New_York"])
def test_years_1_to_9999(spark: Spark, tmp_path: Path, zone: str) -> None:
    data = clocks(ANCIENT)
    file = written(data, timezone=zone)
    assert shown(orcish.read_table(file)) == shown(data)
    assert orcish.ORCFile(file).calendar == "proleptic gregorian"
    if zone == "UTC":
        rows = list(reader(file))
        assert [row[1] and row[1].replace(tzinfo=None) for row in rows] == data["t"].to_pylist()
    path = tmp_path / "t.orc"
    path.write_bytes(file)
    rows = spark.read.orc(str(path)).selectExpr("cast(t as string) t", "cast(d as string) d").toArrow()
    assert rows["d"].to_pylist() == [day and day.isoformat() for day in data["d"].to_pylist()]
    assert rows["t"].to_pylist() == [moment and text(moment) for moment in data["t"].to_pylist()]


@pytest.mark.parametrize("zone", ["UTC", "America/New_York", "Asia/Shanghai"])
def test_before_1970_with_fractions(spark: Spark, tmp_path: Path, zone: str) -> None:
    data = pa.table(
        {
            "id": range(len(BEFORE_1970)),
            "t": pa.array(BEFORE_1970, pa.timestamp("us")),
            "z": pa.array(BEFORE_1970, pa.timestamp("us", "UTC")),
        }
    )
    file = written(data, timezone=zone)
    for name in ("t", "z"):
        assert orcish.read_table(file)[name].cast(pa.int64()).to_pylist() == BEFORE_1970
    path = tmp_path / "t.orc"
    path.write_bytes(file)
    rows = spark.read.orc(str(path)).selectExpr("unix_micros(t) t", "unix_micros(z) z").toArrow()
    assert rows["z"].to_pylist() == BEFORE_1970
    assert rows["t"].to_pylist() == BEFORE_1970
    # C++ asks whether the wall clock is before 1970, and Java whether the instant is.
    near = data.slice(0, 7 if zone == "UTC" else 0)
    found = pyarrow.orc.read_table(io.BytesIO(written(near, timezone=zone)))
    for name in ("t", "z"):
        assert found[name].cast(pa.int64()).to_pylist() == [micros * 1000 for micros in BEFORE_1970[: len(near)]]


@pytest.mark.parametrize("zone", ["America/New_York", "Asia/Shanghai", "GMT+08:00"])
@pytest.mark.parametrize("options", [{}, {"verify": True}], ids=str)
def test_what_one_zone_refuses_another_has(zone: str, options: dict[str, Any]) -> None:
    """Local times in the second before 1970 in UTC: statistics of read values refuse nothing."""
    clocks = [-1, -999_999, -500_000, 0, None, 10**15, -(10**15) - 1]
    field = pa.field("i", pa.timestamp("us", "UTC"), metadata={"orc.type": "timestamp"})
    offset = 18_000 if zone == "America/New_York" else -28_800
    data = pa.table(
        [
            pa.array(clocks, pa.timestamp("us")),
            pa.array([each if each is None else each + offset * 10**6 for each in clocks], field.type),
            pa.array([[each] for each in clocks], pa.list_(pa.timestamp("us"))),
        ],
        pa.schema([pa.field("t", pa.timestamp("us")), field, pa.field("l", pa.list_(pa.timestamp("us")))]),
    )
    file = orcish.ORCFile(written(data, timezone=zone, row_index_stride=1000, **options))
    assert file.read().equals(data)
    assert file.check() == []
    for name in ("t", "i", "l.element"):
        found = file.statistics(name)
        assert found is not None
        assert (found.values, found.has_null) == (6, True)
        assert found.min is not None
        assert found.max is not None


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_units(unit: str) -> None:
    ticks = [0, 1, -(10**9), 10**9 + 7, None]
    data = pa.table({"t": pa.array(ticks, pa.timestamp(unit)), "z": pa.array(ticks, pa.timestamp(unit, "UTC"))})
    back = orcish.read_table(written(data))
    assert back["t"].cast(pa.timestamp(unit)).cast(pa.int64()).to_pylist() == ticks
    assert back["z"].cast(pa.timestamp(unit, "UTC")).cast(pa.int64()).to_pylist() == ticks


def test_no_wall_clock_is_lost_in_a_gap() -> None:
    """02:30 does not exist in New York on that day: it is read back, or refused."""
    data = pa.table({"t": pa.array([dt.datetime(2025, 3, 9, 2, 30)], pa.timestamp("us"))})
    try:
        file = written(data, timezone="America/New_York")
    except ValueError as error:
        assert "row 0" in str(error)  # noqa: PT017
        return
    assert orcish.read_table(file).to_pylist() == data.to_pylist()


def test_types_of_spark(spark: Spark, tmp_path: Path) -> None:
    micros = [0, 1, -5_000_000, 10**15, None]
    ntz = pa.field("n", pa.timestamp("us"), metadata={SPARK_KEY: "timestamp_ntz"})
    schema = pa.schema(
        [
            ntz,
            pa.field("d", pa.duration("us")),
            pa.field("z", pa.timestamp("us", "Asia/Shanghai")),
            pa.field("ms", pa.duration("ms")),
            pa.field("l", pa.list_(pa.field("element", pa.timestamp("us"), metadata={SPARK_KEY: "timestamp_ntz"}))),
        ]
    )
    arrays = [pa.array(micros, field.type) for field in list(schema)[:4]]
    arrays.append(pa.array([micros], schema.field("l").type).take(pa.array([0] * 5)))
    data = pa.table(arrays, schema=schema)
    file = written(data)
    for name in schema.names:
        assert orcish.read_table(file)[name].to_pylist() == data[name].to_pylist()
    assert orcish.ORCFile(file).column_types[1] == "bigint"
    path = tmp_path / "t.orc"
    path.write_bytes(file)
    frame = spark.read.orc(str(path))
    assert [field.dataType.simpleString() for field in frame.schema] == [
        "timestamp_ntz",
        "interval day to second",
        "timestamp",
        "bigint",
        "array<timestamp_ntz>",
    ]
    rows = frame.toArrow()
    assert rows["n"].cast(pa.int64()).to_pylist() == micros
    assert rows["d"].cast(pa.int64()).to_pylist() == micros
    assert rows["z"].cast(pa.int64()).to_pylist() == micros
    assert rows["ms"].to_pylist() == micros
    assert rows["l"].to_pylist() == data["l"].to_pylist()


MONTHS = b"tiM"


class Months:
    """A schema of one column of month intervals, which pyarrow has not: that of an int32 with another format."""

    def __arrow_c_schema__(self) -> object:
        capsule = pa.schema([pa.field("y", pa.int32())]).__arrow_c_schema__()
        get = ctypes.pythonapi.PyCapsule_GetPointer
        get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
        pointers = ctypes.POINTER(ctypes.c_void_p)
        # format, name, metadata, flags, number of children, children.
        children = ctypes.cast(get(capsule, b"arrow_schema"), pointers)[5]
        child = ctypes.cast(ctypes.cast(children, pointers)[0], pointers)
        child[0] = ctypes.cast(ctypes.c_char_p(MONTHS), ctypes.c_void_p)
        return capsule


def test_month_intervals_of_spark(spark: Spark, tmp_path: Path) -> None:
    """Month intervals go from Spark through orcish to Spark."""
    source = tmp_path / "source"
    query = "select make_ym_interval(0, int(id) - 5) y from range(10) union all select null"
    spark.sql(query).coalesce(1).write.orc(str(source))
    (part,) = source.glob("*.orc")
    path = tmp_path / "t.orc"
    with orcish.ORCWriter(path, Months()) as writer:
        writer.write(orcish.ORCFile(part))
    assert orcish.ORCFile(path).attributes("y")[SPARK_KEY] == "interval year to month"
    frame = spark.read.orc(str(path))
    assert frame.schema["y"].dataType.simpleString() == "interval year to month"
    rows = frame.selectExpr("extract(year from y) * 12 + extract(month from y) m").toArrow()
    assert sorted(rows["m"].drop_null().to_pylist()) == list(range(-5, 5))
    assert rows["m"].null_count == 1
