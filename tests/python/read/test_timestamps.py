"""Timestamps and dates: units, range, the wall clock of the writer, calendars, years 0001 to 9999."""

import datetime as dt
import io
import time

import numpy as np
import orcish
import pyarrow as pa
import pytest
from orcish import col
from support.case_loops import each_case
from support.cpp_writers import write_arrow, write_rows
from support.writer_tables import written
from support.writer_zones import ZONES, write_in_zones

UTC = dt.timezone.utc
FRACTION = dt.datetime(2020, 2, 29, 12, 34, 56, 789012)
BEFORE_1970 = dt.datetime(1965, 6, 1, 0, 0, 0, 250000)


@each_case(
    ("unit", "fraction", "before"),
    [
        ("s", 0, 0),
        ("ms", 789000, 250000),
        ("us", 789012, 250000),
        ("ns", 789012, 250000),
        ("auto", 789012, 250000),
    ],
)
@each_case("kind", ["timestamp", "timestamp with local time zone"])
def test_units(kind, unit, fraction, before):
    zone = UTC if "local" in kind else None
    rows = [(value and value.replace(tzinfo=zone),) for value in (FRACTION, None, BEFORE_1970, dt.datetime(1970, 1, 1))]
    file = write_rows(f"struct<t:{kind}>", rows)
    table = orcish.read_table(file, timestamp_unit=unit)
    assert table.schema.field("t").type == pa.timestamp("ns" if unit == "auto" else unit, "UTC" if zone else None)
    want = [
        FRACTION.replace(microsecond=fraction),
        None,
        BEFORE_1970.replace(microsecond=before),
        dt.datetime(1970, 1, 1),
    ]
    assert table["t"].cast(pa.timestamp("us", table["t"].type.tz)).to_pylist() == [
        v and v.replace(tzinfo=zone) for v in want
    ]


def test_nanoseconds():
    nanos = [1, 999_999_999, 1_234_567_890_123_456_789, 10**9 + 1, 1000, 10_000, 120_000_000, -(10**18) + 7 * 10**8]
    file = write_arrow({"t": pa.array(nanos, pa.timestamp("ns"))})
    ns = orcish.read_table(file, timestamp_unit="ns")["t"].cast(pa.int64()).to_pylist()
    assert ns == nanos
    us = orcish.read_table(file)["t"].cast(pa.int64()).to_pylist()
    assert us == [n // 1000 for n in nanos]


def test_years_1_to_9999_by_spark(spark_orc):
    """Spark stores days before 1582-10-15 in the Julian calendar. They are read as the same dates."""
    days = [
        "0001-01-01",
        "0500-02-28",
        "1000-03-01",
        "1500-01-01",
        "1582-10-04",
        "1582-10-15",
        "1677-09-21",
        "9999-12-31",
    ]
    clock = "23:59:59.123456"
    union = " union all ".join(
        f"select {i} id, date'{day}' d, timestamp'{day} {clock}' t, timestamp_ntz'{day} {clock}' n, "
        f"struct(date'{day}' as d, array(timestamp'{day} {clock}') as t) s"
        for i, day in enumerate(days)
    )
    path = spark_orc(union)
    file = orcish.ORCFile(path)
    assert file.calendar == "julian/gregorian"
    rows = file.read().to_pylist()
    assert len(rows) == len(days)
    for row in rows:
        day = dt.date.fromisoformat(days[row["id"]])
        moment = dt.datetime.combine(day, dt.time(23, 59, 59, 123456))
        assert (row["d"], row["t"], row["n"]) == (day, moment, moment)
        assert row["s"] == {"d": day, "t": [moment]}


def test_calendars_of_cpp_writers():
    """ORC C++ records no calendar, which means Julian before 1582-10-15, as in Java."""
    file = write_arrow({"d": pa.array([dt.date(1500, 1, 10), dt.date(1582, 10, 15)])})
    assert orcish.ORCFile(file).calendar == "julian/gregorian"
    assert orcish.read_table(file)["d"].to_pylist() == [dt.date(1500, 1, 1), dt.date(1582, 10, 15)]


@each_case("timestamps", [None, "wall", "instant"])
@each_case("calendar", ["julian/gregorian", "proleptic gregorian"])
@each_case("bloom", [False, True])
def test_calendars_of_all_types(calendar, timestamps, bloom):
    """Dates are the same for instants and local times, and filters find them."""
    days = [dt.date(1000, 1, 5), dt.date(1, 3, 1), dt.date(1582, 10, 15), dt.date(2000, 1, 1)]
    # What C++ takes for Gregorian days are those of the Julian calendar for all others.
    shifts = [5, -2, 0, 0] if calendar == "julian/gregorian" else [0] * 4
    moments = [
        dt.datetime.combine(day + dt.timedelta(n), dt.time(1, 2, 3)) for day, n in zip(days, shifts, strict=True)
    ]
    instants = [moment.replace(tzinfo=dt.timezone.utc) for moment in moments]
    rows = list(zip([moment.date() for moment in moments], moments, instants, strict=True))
    if calendar == "julian/gregorian":
        schema = "struct<d:date,t:timestamp,z:timestamp with local time zone>"
        file = write_rows(schema, rows, bloom_filter_columns=[1, 2, 3] if bloom else [], row_index_stride=1000)
    else:
        kinds = [pa.date32(), pa.timestamp("us"), pa.timestamp("us", "UTC")]
        columns = [pa.array(values, kind) for values, kind in zip(zip(*rows, strict=True), kinds, strict=True)]
        file = written(pa.table(columns, list("dtz")), bloom_filter_columns=["d", "t", "z"] if bloom else [])
    opened = orcish.ORCFile(file)
    assert opened.calendar == calendar
    table = opened.read(timestamps=timestamps)
    assert table["d"].to_pylist() == days
    for name, column in zip("tz", table.columns[1:], strict=True):
        assert (column.type.tz is not None) == (name == "z" or timestamps == "instant")
        assert [value.replace(tzinfo=None) for value in column.to_pylist()] == [
            dt.datetime.combine(day, dt.time(1, 2, 3)) for day in days
        ]
    for name, column in zip("dtz", table.columns, strict=True):
        for row, value in enumerate(column.to_pylist()):
            found = opened.read(filters=col(name) == value, timestamps=timestamps)
            assert found.equals(table.slice(row, 1)), (name, value)


@each_case(("nested", "name"), [(False, "t"), (True, "s.t")])
def test_out_of_range_is_an_error_that_names_column_and_row(spark_orc, nested, name):
    column = "struct(t) s" if nested else "t"
    path = spark_orc(f"""
        select id, {column} from (select id, if(id = 1234, timestamp'9999-12-31 00:00:00',
               if(id % 3 = 1, null, timestamp'2020-01-01 00:00:00')) t from range(2000))
    """)
    file = orcish.ORCFile(path)
    assert file.read().num_rows == 2000
    assert file.arrow_schema(timestamp_unit="auto") == file.schema
    for options in ({}, {"batch_size": 100}, {"threads": 1}):
        with pytest.raises(orcish.LimitExceededError, match=f"column {name}, row 1234 of the stripe"):
            file.read(timestamp_unit="ns", **options)
        table = file.read(timestamp_unit="ns", timestamp_out_of_range="null", **options)
        values = table["s"].combine_chunks().field("t") if nested else table["t"]
        got = values.to_pylist()
        assert [i for i, value in enumerate(got) if value is None] == sorted({*range(1, 2000, 3), 1234})
        assert all(value == dt.datetime(2020, 1, 1) for value in got if value is not None)


@each_case("row", [0, 999, 1000, 2500, 4999])
def test_rows_of_errors_are_those_of_the_stripe_wherever_reading_begins(row):
    times = [dt.datetime(9999, 1, 1) if at == row else dt.datetime(2020, 1, 1) for at in range(5000)]
    out = io.BytesIO()
    table = pa.table({"id": range(5000), "t": pa.array(times, pa.timestamp("us"))})
    orcish.write_table(table, out, row_index_stride=1000, arrow_schema=False)
    for filters in (None, col("id") == row, col("id") >= row, col("id") <= row):
        with pytest.raises(orcish.LimitExceededError, match=f"column t, row {row} of the stripe"):
            orcish.read_table(out.getvalue(), filters=filters, timestamp_unit="ns")


def test_before_1970_with_fractions_by_spark(spark_orc):
    """All values are read, except in the second before 1970, which the format cannot store (ORC-763)."""
    micros = [-1_000_000, -1_000_001, -1_500_000, -1_999_999, -7_713_116_127, -(10**15) - 1, 1, 0]
    union = " union all ".join(f"select {i} id, timestamp_micros({value}) t" for i, value in enumerate(micros))
    table = orcish.read_table(spark_orc(union)).sort_by("id")
    assert table["t"].cast(pa.int64()).to_pylist() == micros


def test_before_1970_with_fractions_by_cpp():
    """pyarrow writes negative nanoseconds, pyorc positive ones. Both mean the same instant."""
    micros = [-1_000_000, -1_000_001, -1_500_000, -1_999_999, -7_713_116_127, -(10**14) - 1, 1, 0]
    moments = [dt.datetime(1970, 1, 1) + dt.timedelta(microseconds=value) for value in micros]
    by_pyorc = write_rows("struct<t:timestamp>", [(moment,) for moment in moments])
    by_pyarrow = write_arrow({"t": pa.array([value * 1000 for value in micros], pa.timestamp("ns"))})
    for file in (by_pyorc, by_pyarrow):
        assert orcish.read_table(file)["t"].cast(pa.int64()).to_pylist() == micros


@pytest.fixture(scope="module")
def written_in_zones(spark, tmp_path_factory):
    """Folders of files that one JVM wrote, each in another time zone."""
    folder = tmp_path_factory.mktemp("zones")
    write_in_zones(spark, folder)
    return {zone: folder / str(at) for at, zone in enumerate(ZONES)}


@each_case("zone", ZONES)
def test_the_wall_clock_of_the_writer(zone, written_in_zones):
    """Readers show the local time of a writer in another zone."""
    (path,) = written_in_zones[zone].glob("*.orc")
    # The stripe's footer names it.
    assert zone.encode() in path.read_bytes()
    table = orcish.read_table(path)
    assert table.num_rows == 12
    for row in table.to_pylist():
        clock = dt.datetime.fromisoformat(row["clock"].ljust(26, "0") if "." in row["clock"] else row["clock"])
        assert row["t"] == clock
        assert row["n"] == clock
        assert row["deep"] == [("k", [clock])]


@each_case("lost", [1, 2, 3])
def test_values_out_of_range_between_nulls_take_linear_time(lost):
    """Each value beyond the unit is a null of its own slot. A search for the slot of each would take minutes."""
    count = 1_000_000
    times = np.tile(np.array([0, -(10**16), 2**60], "datetime64[us]"), count // 3 + 1)[:count]
    valid = np.arange(count) % 7 != 0
    in_range = np.arange(count) % 3 < lost
    times[~in_range] = np.datetime64("9999-12-31", "us")
    column = pa.array(times, mask=~valid)
    out = io.BytesIO()
    orcish.write_table(pa.table({"t": column}), out, row_index_stride=0, compression="none", arrow_schema=False)
    options = {"timestamp_unit": "ns", "timestamp_out_of_range": "null", "batch_size": count}
    start = time.perf_counter()
    (batch,) = orcish.ORCFile(out.getvalue()).iter_batches(**options)
    assert time.perf_counter() - start < 10
    fits = np.abs(times.astype("int64")) < 2**63 // 1000
    assert np.array_equal(batch["t"].is_valid().to_numpy(zero_copy_only=False), valid & fits)
    kept = np.asarray(batch["t"].drop_null().cast(pa.int64()))
    assert np.array_equal(kept, times[valid & fits].astype("int64") * 1000)
