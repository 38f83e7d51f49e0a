"""``timestamp`` as instants: in every zone and calendar, under filters, in tables of both types, written and read again."""

from __future__ import annotations

import datetime as dt
import io
import pickle
import random
import zoneinfo
from pathlib import Path
from typing import Any

import orcish
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from orcish import _native, col
from orcish_cli import main
from support.case_loops import each_case
from support.cpp_writers import write_rows
from support.random_cases import cases, random_cases, seeded
from support.writer_tables import SPARK_KEY, written

UTC = dt.timezone.utc
US = pa.timestamp("us", "UTC")
ZONES = ["America/New_York", "Europe/Berlin", "Asia/Kolkata", "Australia/Lord_Howe", "UTC", "Pacific/Apia"]
FROM_1900 = -2_208_988_800
# Both times of an hour, gaps, the first and the last of a zone's rules, and what 64 bits of nanoseconds cannot hold.
MOMENTS = [
    dt.datetime(2025, 11, 2, 5, 30, tzinfo=UTC),
    dt.datetime(2025, 11, 2, 6, 30, tzinfo=UTC),
    dt.datetime(2025, 10, 26, 0, 30, tzinfo=UTC),
    dt.datetime(2025, 10, 26, 1, 30, tzinfo=UTC),
    dt.datetime(2025, 4, 5, 15, 15, tzinfo=UTC),
    dt.datetime(2025, 4, 5, 14, 45, tzinfo=UTC),
    dt.datetime(2025, 3, 9, 6, 59, 59, 999999, tzinfo=UTC),
    dt.datetime(2025, 3, 9, 7, tzinfo=UTC),
    dt.datetime(1969, 12, 31, 23, 59, 58, 500000, tzinfo=UTC),
    dt.datetime(1883, 11, 18, 16, tzinfo=UTC),
    dt.datetime(1883, 11, 19, 17, tzinfo=UTC),
    dt.datetime(1899, 12, 25, tzinfo=UTC),
    dt.datetime(1600, 1, 2, 3, 4, 5, 6, tzinfo=UTC),
    dt.datetime(2, 1, 1, tzinfo=UTC),
    dt.datetime(2037, 11, 1, 6, 30, tzinfo=UTC),
    dt.datetime(2400, 7, 1, tzinfo=UTC),
]


def instants(moments: Any) -> pa.Array:
    return pa.array(moments, US)


def as_timestamp(values: pa.Array, name: str = "t") -> pa.Table:
    """Instants that are written as ORC's ``timestamp``."""
    field = pa.field(name, values.type, metadata={"orc.type": "timestamp"})
    return pa.table([pa.array(range(len(values)), pa.int64()), values], pa.schema([("id", pa.int64()), field]))


def micros(column: Any) -> list[int | None]:
    return column.cast(pa.int64()).to_pylist()


def micros_of(column: Any) -> Any:
    return column.cast(pa.int64())


def before_1900(column: Any) -> Any:
    return pc.less(micros_of(column), FROM_1900 * 10**6)


def seconds_of(rng: random.Random) -> int:
    near = rng.choice([0, 1_762_061_400, 1_761_438_600, 1_743_864_300, 1_425_168_000, -2_717_000_000, 1_325_300_000])
    return rng.choice([near + rng.randint(-90_000, 90_000), rng.randint(-60 * 10**9, 250 * 10**9)])


@each_case("zone", ZONES)
def test_instants_are_kept(zone: str) -> None:
    values = instants([*MOMENTS, None])
    file = written(as_timestamp(values), timezone=zone, verify=True)
    read = orcish.ORCFile(file)
    assert read.type_string == "struct<id:bigint,t:timestamp>"
    assert read.writer_timezones() == [zone]
    assert read.check() == []
    # As which they were written is known.
    for options in ({}, {"timestamps": "instant"}, {"timestamps": "instant", "arrow_schema": False}):
        table = read.read(**options)
        assert table.schema.field("t").type == US
        assert micros(table["t"]) == micros(values)
    same = read.read(timestamps="instant", timezone=zone)
    assert micros(same["t"]) == micros(values)
    wall = read.read(timestamps="wall")
    assert wall.schema.field("t").type == pa.timestamp("us")
    assert wall["t"].to_pylist() == clocks(values, zone)


def clocks(values: pa.Array, zone: str) -> list[dt.datetime | None]:
    own = zoneinfo.ZoneInfo(zone)
    return [value and value.astimezone(own).replace(tzinfo=None) for value in values.to_pylist()]


def test_random_instants_in_random_zones() -> None:
    for _, rng in random_cases("instants", 40):
        zone = rng.choice(ZONES)
        # Of a fraction in the second before 1970 the format has none.
        values = [s * 10**6 + rng.choice([0, 123456, 999999]) for s in (seconds_of(rng) for _ in range(50)) if s != -1]
        data = instants(values)
        if zone != "UTC":
            # Where clocks were put back before 1900, files do not say which time it was.
            data = data.filter(pc.invert(pc.and_(pc.greater_equal(micros_of(data), -6 * 10**15), before_1900(data))))
        file = written(as_timestamp(data), timezone=zone, row_index_stride=rng.choice([1000, 10_000]))
        unit = rng.choice(["s", "ms", "us"])
        table = orcish.read_table(file, timestamps="instant", timestamp_unit=unit)
        assert table["t"].type == pa.timestamp(unit, "UTC")
        tick = {"s": 10**6, "ms": 10**3, "us": 1}[unit]
        assert micros(table["t"]) == [value // tick for value in micros(data)]
        shown = pc.local_timestamp(data.cast(pa.timestamp("us", zone))).to_pylist()
        found = orcish.read_table(file, timestamps="wall")["t"].to_pylist()
        # pyarrow's rules end in 2037.
        assert all(a == b for a, b in zip(found, shown, strict=True) if b.year < 2037), zone


def test_files_of_cpp() -> None:
    """orcish agrees with ORC C++ on zones that C++ knows."""
    own = [(value,) for value in MOMENTS if value.year > 1900]
    for zone in ("America/New_York", "Australia/Lord_Howe", "UTC"):
        file = write_rows("struct<t:timestamp>", own, timezone=zoneinfo.ZoneInfo(zone))
        found = orcish.read_table(file, timestamps="instant")["t"]
        assert found.to_pylist() == [value for (value,) in own], zone


def test_readers_elsewhere_show_the_clock() -> None:
    """As in ORC Java, readers in any zone show the local time of the writer."""
    data = instants([value for value in MOMENTS if 1900 < value.year < 2100])
    for writer in ZONES:
        file = written(as_timestamp(data), timezone=writer)
        wall = orcish.read_table(file, timestamps="wall")["t"]
        for reader in ZONES:
            found = orcish.read_table(file, timestamps="instant", timezone=reader)["t"].combine_chunks()
            shown = pc.local_timestamp(found.cast(pa.timestamp("us", reader))).to_pylist()
            differ = [(a, b) for a, b in zip(shown, wall.to_pylist(), strict=True) if a != b]
            # What a clock skips it cannot show.
            assert all(abs(a - b) <= dt.timedelta(days=1) for a, b in differ), (writer, reader)
            assert len(differ) < 4
            assert writer != reader or not differ


def test_null_and_nested() -> None:
    values = instants([None, *MOMENTS[:4], None])
    item = pa.field("item", US, metadata={"orc.type": "timestamp"})
    lists = pa.array([[value] for value in values.to_pylist()], pa.list_(US))
    struct = pa.struct([pa.field("a", US, metadata={"orc.type": "timestamp"})])
    table = pa.table(
        [
            pa.array(lists).cast(pa.list_(item)),
            pa.StructArray.from_arrays([values], fields=list(struct)),
        ],
        names=["l", "s"],
    )
    file = written(table, timezone="America/New_York", verify=True)
    assert orcish.ORCFile(file).type_string == "struct<l:array<timestamp>,s:struct<a:timestamp>>"
    for options in ({}, {"timestamps": "instant", "arrow_schema": False}):
        read = orcish.read_table(file, **options)
        assert read.to_pylist() == table.to_pylist()


@each_case("reader", [None, "America/New_York", "Asia/Kolkata"])
@each_case("zone", ["UTC", "America/New_York", "Australia/Lord_Howe"])
def test_filters_lose_no_row(zone: str, reader: str | None, tmp_path: Path) -> None:
    """Statistics and bloom filters have local times."""
    rng = seeded(f"filters {zone} {reader}")
    options: dict[str, Any] = {"timestamps": "instant", **({} if reader is None else {"timezone": reader})}
    for step in (60, 1800, 86_400):
        begin = rng.choice([1_762_050_000, 1_743_850_000, FROM_1900 + 100_000, 0, 1_741_500_000, -60_000_000_000])
        values = instants([(begin + step * at) * 10**6 for at in range(3000)])
        path = tmp_path / f"{step}.orc"
        kept = {"row_index_stride": 1000, "bloom_filter_columns": ["t"], "timezone": zone}
        orcish.write_table(as_timestamp(values), path, **kept)
        rows = orcish.read_table(path, **options)
        for _ in range(cases(12)):
            at = rng.choice(rows["t"].to_pylist()) + dt.timedelta(seconds=rng.choice([0, 0, 0, 1, -1, 3600]))
            for expression, mask in [
                (col("t") == at, pc.equal(rows["t"], pa.scalar(at, US))),
                (col("t") < at, pc.less(rows["t"], pa.scalar(at, US))),
                (col("t") >= at, pc.greater_equal(rows["t"], pa.scalar(at, US))),
                (col("t") != at, pc.not_equal(rows["t"], pa.scalar(at, US))),
            ]:
                wanted = rows.filter(mask)["id"].to_pylist()
                assert orcish.read_table(path, filters=expression, **options)["id"].to_pylist() == wanted
                scan = orcish.scan([path], filters=expression, **options)
                assert scan.count() == len(wanted)


LEAPS = {
    "Pacific/Apia": (2011, 12, 30),
    "Pacific/Fakaofo": (2011, 12, 30),
    "Pacific/Kwajalein": (1993, 8, 21),
    "Pacific/Kiritimati": (1994, 12, 31),
    "Pacific/Enderbury": (1994, 12, 31),
    "Asia/Manila": (1844, 12, 31),
    "Pacific/Guam": (1844, 12, 31),
    "America/Juneau": (1867, 10, 19),
    "America/Metlakatla": (1867, 10, 19),
}
"""Zones whose clocks leapt by a day, and when."""


@each_case("zone", LEAPS)
def test_filters_lose_no_row_where_a_day_was_skipped(zone: str) -> None:
    """A local time in a skipped day is a later instant than local times of the next morning."""
    rng = random.Random(zone)
    day = dt.datetime(*LEAPS[zone])
    for _ in range(cases(20)):
        skipped = rng.randint(0, 1440)
        minutes = [
            skipped,
            skipped + rng.randint(0, 1440),
            *(rng.randint(-3000, skipped) for _ in range(rng.choice([0, 2]))),
        ]
        walls = [day + dt.timedelta(minutes=minute) for minute in minutes]
        out = io.BytesIO()
        # Each in a row group of its own, in one stripe or in several, or all in one row group.
        each, is_split = rng.choice([(1000, False), (1, True), (1, False)])
        parts = [pa.table({"t": pa.array([wall] * each, pa.timestamp("us"))}) for wall in walls]
        with orcish.ORCWriter(out, parts[0].schema, bloom_filter_columns=["t"], row_index_stride=1000) as writer:
            for part in parts:
                writer.write(part)
                if is_split:
                    writer.end_stripe()
        options: dict[str, Any] = {"timestamps": "instant", "timezone": zone}
        rows = orcish.read_table(out.getvalue(), **options)["t"]
        for at in {*rows.to_pylist(), *(at + dt.timedelta(microseconds=1) for at in rows.to_pylist())}:
            value = pa.scalar(at, US)
            for expression, mask in [
                (col("t") == at, pc.equal(rows, value)),
                (col("t") <= at, pc.less_equal(rows, value)),
                (col("t") < at, pc.less(rows, value)),
                (col("t") >= at, pc.greater_equal(rows, value)),
                (col("t") > at, pc.greater(rows, value)),
                (col("t") != at, pc.not_equal(rows, value)),
            ]:
                wanted = rows.filter(mask)
                assert orcish.read_table(out.getvalue(), filters=expression, **options)["t"].equals(wanted), expression
                assert orcish.scan(out.getvalue(), filters=expression, **options).count() == len(wanted), expression


def test_filters_skip_what_they_can() -> None:
    """With the zone of the stripe, statistics are exact to an hour; with the zone of the reader, whole stripes are
    skipped too.
    """
    values = instants([(1_750_000_000 + 60 * at) * 10**6 for at in range(20_000)])
    file = written(as_timestamp(values), timezone="America/New_York", row_index_stride=1000)
    one = col("t") == values[10_500].as_py()
    (stripe,) = orcish.scan(file, filters=one, timestamps="instant").explain().files[0].stripes
    assert stripe.rows_read == 1000
    later = col("t") > values[-1].as_py() + dt.timedelta(hours=2)
    (stripe,) = (
        orcish.scan(file, filters=later, timestamps="instant", timezone="America/New_York").explain().files[0].stripes
    )
    assert (stripe.outcome, stripe.row_groups) == ("skipped", ())
    (stripe,) = orcish.scan(file, filters=later, timestamps="instant").explain().files[0].stripes
    # Of which zone the stripe is, is not known before its footer is read.
    assert (stripe.rows_read, len(stripe.row_groups)) == (0, 20)


def test_literals_without_zone_are_refused() -> None:
    file = written(as_timestamp(instants(MOMENTS[:3])), timezone="America/New_York")
    with pytest.raises(ValueError, match="cannot be compared"):
        orcish.read_table(file, timestamps="instant", filters=col("t") == dt.datetime(2025, 11, 2))
    with pytest.raises(ValueError, match="cannot be compared"):
        orcish.read_table(file, timestamps="wall", filters=col("t") == MOMENTS[0])


def test_wrong_options() -> None:
    file = written(as_timestamp(instants(MOMENTS[:3])))
    with pytest.raises(ValueError, match="one of wall, instant"):
        orcish.read_table(file, timestamps="never")  # type: ignore[arg-type]
    for zone in ("Mars/Olympus", ""):
        with pytest.raises(ValueError, match="no time zone"):
            orcish.read_table(file, timestamps="instant", timezone=zone)


def test_spark_wall_clocks_stay() -> None:
    """Spark stores ``timestamp_ntz`` as an integer, and ``timestamp with local time zone`` as an instant."""
    ntz = pa.field("n", pa.timestamp("us"), metadata={SPARK_KEY: "timestamp_ntz"})
    schema = pa.schema([ntz, pa.field("z", US), pa.field("w", pa.timestamp("us"))])
    own = [value.replace(tzinfo=None) for value in MOMENTS[:4]]
    table = pa.table(
        [pa.array(own, pa.timestamp("us")), instants(MOMENTS[:4]), pa.array(own, pa.timestamp("us"))], schema
    )
    file = written(table)
    read = orcish.read_table(file, timestamps="instant")
    assert read.schema.types == [pa.timestamp("us"), US, US]
    assert read["n"].to_pylist() == own
    assert read["z"].to_pylist() == read["w"].to_pylist() == MOMENTS[:4]


@pytest.fixture
def both(tmp_path: Path) -> Path:
    """A table of Spark's ``timestamp`` to which Python has added instants."""
    orcish.write_table(
        as_timestamp(instants(MOMENTS)), tmp_path / "a.orc", timezone="America/New_York", arrow_schema=False
    )
    rest = pa.table({"id": pa.array([98, 99]), "t": instants([MOMENTS[0], None])})
    orcish.write_table(rest, tmp_path / "b.orc")
    return tmp_path


WANTED = [*MOMENTS, MOMENTS[0], None]


def test_both_types_are_instants(both: Path) -> None:
    table = orcish.read_table(both)
    assert table.schema.field("t").type == US
    assert table["t"].to_pylist() == WANTED
    scan = orcish.scan(both)
    assert [row["t"] for batch in scan for row in batch.to_pylist()] == WANTED
    assert scan.where(col("t") == MOMENTS[1]).to_table()["id"].to_pylist() == [1]
    assert scan.where(col("t") == MOMENTS[0]).count() == 2
    assert scan.max("t") == MOMENTS[-1]
    split = [pickle.loads(pickle.dumps(split)).scan().to_table() for split in scan.splits(1)]
    assert pa.concat_tables(split)["t"].to_pylist() == WANTED
    assert orcish.scan_polars(both).collect()["t"].to_list() == WANTED
    # Whichever comes first.
    again = orcish.scan([both / "b.orc", both / "a.orc"]).to_table()
    assert again["t"].to_pylist() == [*WANTED[-2:], *WANTED[:-2]]
    # Other columns are what they are, and what is asked for is given.
    assert orcish.read_table(both, columns=["id"]).num_rows == len(WANTED)
    assert orcish.scan(both / "a.orc").schema.field("t").type == pa.timestamp("us")
    with pytest.raises(orcish.UnsupportedError, match=r"b\.orc.*both have instants"):
        orcish.scan(both, timestamps="wall").to_table()


def test_both_types_in_many_files(both: Path) -> None:
    """The table has more files than stay open."""
    for at in range(100):
        orcish.write_table(as_timestamp(instants(MOMENTS[:1])), both / f"a{at:03}.orc", arrow_schema=False)
    assert orcish.read_table(both)["t"].to_pylist() == [*MOMENTS, *MOMENTS[:1] * 100, *WANTED[-2:]]


def test_both_types_are_converted(both: Path, tmp_path_factory: Any) -> None:
    target = tmp_path_factory.mktemp("converted") / "t"
    orcish.convert(both, target)
    assert orcish.read_table(target)["t"].to_pylist() == WANTED


def test_both_types_within_others(tmp_path: Path) -> None:
    own = pa.struct([pa.field("a", pa.timestamp("us")), pa.field("l", pa.list_(pa.timestamp("us")))])
    moment = MOMENTS[0].replace(tzinfo=None)
    zoned = pa.struct([pa.field("a", US), pa.field("l", pa.list_(US))])
    orcish.write_table(pa.table({"s": pa.array([{"a": moment, "l": [moment]}], own)}), tmp_path / "a.orc")
    value = {"a": MOMENTS[0], "l": [MOMENTS[0]]}
    orcish.write_table(pa.table({"s": pa.array([value], zoned)}), tmp_path / "b.orc")
    table = orcish.read_table(tmp_path)
    assert table.schema.field("s").type == zoned
    assert table["s"].to_pylist() == [value, value]


def test_wall_clocks_of_spark_are_no_instants(tmp_path: Path) -> None:
    ntz = pa.field("t", pa.timestamp("us"), metadata={SPARK_KEY: "timestamp_ntz"})
    orcish.write_table(pa.table([pa.array([0], pa.timestamp("us"))], pa.schema([ntz])), tmp_path / "a.orc")
    orcish.write_table(pa.table({"t": instants(MOMENTS[:1])}), tmp_path / "b.orc")
    with pytest.raises(orcish.UnsupportedError, match="does not become"):
        orcish.read_table(tmp_path)


@each_case("by", [[], ["p"]])
def test_appended_instants_are_stored_as_the_table_has_them(tmp_path: Path, by: list[str]) -> None:
    def rows(ids: list[int], plain: bool) -> pa.Table:
        table = as_timestamp(instants([MOMENTS[at] for at in ids]))
        table = table.append_column("p", pa.array(["x"] * len(ids)))
        if not plain:
            return table
        return table.cast(pa.schema([field.remove_metadata() for field in table.schema]))

    table = tmp_path / "t"
    orcish.write_dataset(rows([0, 1], False), table, partition_by=by, timezone="America/New_York")
    orcish.write_dataset(rows([2, 3, 4], True), table, partition_by=by, existing_data="append")
    files = [orcish.ORCFile(path) for path in sorted(table.rglob("*.orc"))]
    assert len(files) == 2
    assert {file.column_types[file.column_paths.index("t")] for file in files} == {"timestamp"}
    assert [file.writer_timezones() for file in files] == [["America/New_York"]] * 2
    assert sorted(orcish.read_table(table, timestamps="instant")["t"].to_pylist()) == sorted(MOMENTS[:5])
    # A table of instants gets instants.
    other = tmp_path / "other"
    orcish.write_dataset(rows([0, 1], True), other, partition_by=by)
    orcish.write_dataset(rows([2], False), other, partition_by=by, existing_data="append")
    types = [orcish.ORCFile(path) for path in other.rglob("*.orc")]
    assert {each.column_types[each.column_paths.index("t")] for each in types} == {"timestamp with local time zone"}


MARK = {"orc.type": "timestamp"}


def containers(of: pa.Field) -> dict[str, pa.DataType]:
    """Types that have instants within them."""
    fields = [of.with_name("x"), pa.field("y", pa.int32())]
    return {
        "struct": pa.struct(fields),
        "list": pa.list_(of),
        "large_list": pa.large_list(of),
        "list_view": pa.list_view(of),
        "fixed": pa.list_(of, 1),
        "map": pa.map_(pa.string(), of),
        "sparse": pa.sparse_union(fields),
        "dense": pa.dense_union(fields),
        "deep": pa.list_(pa.struct([pa.field("m", pa.map_(pa.int32(), pa.list_(of)))])),
    }


def within(kind: Any, moment: dt.datetime) -> pa.Array:
    """A row of a type with a moment in it."""
    if pa.types.is_timestamp(kind):
        return pa.array([moment], kind)
    if pa.types.is_union(kind):
        inner = [within(kind.field(0).type, moment), pa.array([5], pa.int32())]
        types = pa.array([0], pa.int8())
        fields = [kind.field(at) for at in range(2)]
        if kind.mode == "sparse":
            return pa.UnionArray.from_sparse(types, inner, [field.name for field in fields])
        return pa.UnionArray.from_dense(types, pa.array([0], pa.int32()), inner, [field.name for field in fields])
    if pa.types.is_struct(kind):
        return pa.StructArray.from_arrays(
            [within(field.type, moment) if field.name != "y" else pa.array([5], pa.int32()) for field in kind],
            fields=list(kind),
        )
    if pa.types.is_map(kind):
        return pa.array([[("k" if pa.types.is_string(kind.key_type) else 1, of(kind.item_type, moment))]], kind)
    return pa.array([[of(kind.value_type, moment)]], kind)


def of(kind: Any, moment: dt.datetime) -> Any:
    return within(kind, moment).to_pylist()[0]


def types_of(folder: Path) -> set[str]:
    return {orcish.ORCFile(path).column_types[0] for path in folder.glob("*.orc")}


@each_case("name", [*containers(pa.field("item", US)), "dictionary", "runs"])
@each_case("mark", [{}, MARK])
def test_instants_within_others_are_added_as_the_table_has_them(tmp_path: Path, name: str, mark: Any) -> None:
    """Nested instants are appended as ``timestamp`` in the zone of the table, or as instants."""

    def table(moment: dt.datetime, metadata: Any) -> pa.Table:
        if name in ("dictionary", "runs"):
            array = instants([moment])
            array = array.dictionary_encode() if name == "dictionary" else pc.run_end_encode(array)
            return pa.table([array], pa.schema([pa.field("c", array.type, metadata=metadata or None)]))
        kind = containers(pa.field("item", US, metadata=metadata or None))[name]
        return pa.Table.from_arrays([within(kind, moment)], schema=pa.schema([pa.field("c", kind)]))

    # The first file has no stripe, so that it names no zone.
    orcish.write_dataset(table(MOMENTS[0], mark).slice(0, 0), tmp_path, basename_template="0{i}.orc")
    orcish.write_dataset(
        table(MOMENTS[0], mark),
        tmp_path,
        basename_template="1{i}.orc",
        existing_data="append",
        timezone="America/New_York",
    )
    (there,) = types_of(tmp_path)
    assert ("timestamp with local" in there) != bool(mark)
    for other in ({}, MARK):
        orcish.write_dataset(table(MOMENTS[1], other), tmp_path, existing_data="append")
        assert types_of(tmp_path) == {there}
    zones = {zone for path in tmp_path.glob("part*.orc") for zone in orcish.ORCFile(path).writer_timezones()}
    assert zones == {"America/New_York"} if mark else zones <= {"", "UTC"}
    texts = sorted(str(value) for value in orcish.read_table(tmp_path)["c"].to_pylist())
    want = [str(table(moment, None)["c"].to_pylist()[0]) for moment in (MOMENTS[0], MOMENTS[1], MOMENTS[1])]
    assert texts == sorted(want)


def test_files_that_vanish_say_no_types(tmp_path: Path) -> None:
    """A table may be compacted while rows are appended."""
    rows = instants(MOMENTS[:1])
    orcish.write_table(as_timestamp(rows), tmp_path / "b.orc", timezone="Europe/Berlin")
    names = ["a.orc", "b.orc"]
    columns = _native.TableColumns.of(str(tmp_path), names, names)
    assert columns is not None
    assert columns.timestamp_types == {"t": "timestamp"}
    schema = pa.schema([("t", rows.type)]).__arrow_c_schema__()
    assert columns.timezone_beside(schema) == "Europe/Berlin"


@each_case("schema", [True, False])
@each_case("unit", [None, "us"])
def test_conversion_keeps_all_digits(tmp_path: Path, schema: bool, unit: Any) -> None:
    ns = pa.timestamp("ns")
    table = pa.table(
        {
            "t": pa.array([1_000_000_000_123_456_789, -999_999_999_999_999_999, None], ns),
            "l": pa.array([[1], [2], None], pa.list_(ns)),
        }
    )
    source = [tmp_path / "a.orc", tmp_path / "b.orc"]
    for path in source:
        orcish.write_table(table, path, arrow_schema=schema)
    before = orcish.read_table(source)
    orcish.convert(source, tmp_path / "t", timestamp_unit=unit)
    found = orcish.read_table(tmp_path / "t", timestamp_unit="ns")
    assert found.equals(pa.concat_tables([table, table])) == (unit is None)
    assert found["t"].to_pylist()[2] is None
    if unit is None:
        assert orcish.read_table(tmp_path / "t").equals(before)


def test_conversion_of_times_that_nanoseconds_do_not_reach(tmp_path: Path) -> None:
    table = pa.table({"t": pa.array([dt.datetime(9999, 12, 31), dt.datetime(1, 1, 1)], pa.timestamp("us"))})
    orcish.write_table(table, tmp_path / "a.orc", arrow_schema=False)
    orcish.convert(tmp_path / "a.orc", tmp_path / "t")
    assert orcish.read_table(tmp_path / "t").equals(table)


def test_the_shell_shows_either(both: Path, capsys: Any) -> None:
    for given, shown in ([], "2025-11-02T01:30:00"), (["--timestamps", "instant"], "2025-11-02T05:30:00Z"):
        assert main(["data", str(both / "a.orc"), "--json", "-n", "1", *given]) == 0
        assert shown in capsys.readouterr().out
