"""Time zones of writers in tables: appended instants have the zone of the rows that are there, or were there."""

import datetime as dt
import pathlib
from typing import Any

import orcish
import pyarrow as pa
from support.case_loops import each_case

BERLIN = "Europe/Berlin"
INSTANT = dt.datetime(2026, 7, 1, 10, tzinfo=dt.timezone.utc)
WALL_CLOCK = dt.datetime(2026, 7, 1, 12)
TS = pa.field("ts", pa.timestamp("us", "UTC"), metadata={"orc.type": "timestamp"})
NTZ = pa.field("local", pa.timestamp("us"), metadata={"spark.sql.catalyst.type": "timestamp_ntz"})


def add(table: pathlib.Path, day: int, fields: list[pa.Field], values: list[Any], **options: Any) -> None:
    """Appends rows of one day, as Spark stores them."""
    schema = pa.schema([pa.field("day", pa.int32()), pa.field("id", pa.int32()), *fields])
    columns = [[day] * len(values), range(len(values)), *[values] * len(fields)]
    rows = pa.table([pa.array(column, field.type) for column, field in zip(columns, schema, strict=True)], schema)
    by = {"partition_by": ["day"], "existing_data": "append", "arrow_schema": False}
    orcish.write_dataset(rows, table, **by, **options)


@each_case("arrange", ["first without", "last without", "first of ntz", "first of nulls", "emptied", "empty"])
def test_appended_instants_have_the_zone_of_the_table(tmp_path: pathlib.Path, arrange: str) -> None:
    """Files without values of the type have no zone. The zone outlives the files."""
    table = tmp_path / "t"
    if arrange == "emptied":
        add(table, 5, [TS], [INSTANT], timezone=BERLIN)
        orcish.delete(table, "id >= 0")
        assert orcish.scan(table).count() == 0
    elif arrange == "empty":
        add(table, 5, [TS], [], timezone=BERLIN)
    else:
        fields = {"first of ntz": [NTZ], "first of nulls": [TS]}.get(arrange, [])
        add(table, 9 if arrange == "last without" else 1, fields, [None], timezone=BERLIN)
        add(table, 5, [TS], [INSTANT], timezone=BERLIN)
    add(table, 5, [TS], [INSTANT])
    for reading, value in (("wall", WALL_CLOCK), ("instant", INSTANT)):
        found = orcish.read_table(table, timestamps=reading, filters="day = 5")["ts"].to_pylist()
        assert found == [value] * (1 if arrange.startswith("empt") else 2)


def test_a_new_table_has_a_new_zone(tmp_path: pathlib.Path) -> None:
    """The zone of replaced rows is none of the new ones."""
    table = tmp_path / "t"
    add(table, 5, [TS], [INSTANT], timezone=BERLIN)
    rows = pa.table([pa.array([5], pa.int32()), pa.array([INSTANT], TS.type)], pa.schema([("day", pa.int32()), TS]))
    orcish.write_dataset(rows, table, partition_by=["day"], existing_data="overwrite", arrow_schema=False)
    add(table, 6, [TS], [INSTANT])
    assert orcish.read_table(table, timestamps="wall")["ts"].to_pylist() == [INSTANT.replace(tzinfo=None)] * 2
