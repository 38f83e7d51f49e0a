"""Filters that compare instants with wall clocks: the errors say how the value is written."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orcish
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from orcish import col
from support.case_loops import each_case

NOON = datetime.datetime(2024, 1, 2, 12, 30)
INSTANT = NOON.replace(tzinfo=datetime.timezone(datetime.timedelta(hours=1)))
ROWS = pa.table(
    {
        "day": [1, 2],
        "ts": pa.array([NOON, None], pa.timestamp("us", "Europe/Paris")),
        "wall": pa.array([NOON, None], pa.timestamp("us")),
        "nest": pa.array([{"ts": NOON}, None], pa.struct([("ts", pa.timestamp("ms", "UTC"))])),
        "keys": pa.array([NOON, None], pa.timestamp("us", "UTC")).dictionary_encode(),
    }
)
FILTERS: dict[str, tuple[Any, str]] = {
    "text": ("ts > '2024-01-02 12:30:00'", "ts has instants: timestamp '2024-01-02 12:30:00Z', or with an offset"),
    "text of a day": ("day = 1 and not ts > '2024-01-02'", "ts has instants: timestamp '2024-01-02 00:00:00Z'"),
    "literal": ("ts in (timestamp '2024-01-02 12:30:00.5')", "ts has instants: timestamp '2024-01-02 12:30:00.5Z'"),
    "date": ("ts > date '2024-01-02'", "ts has instants: timestamp '2024-01-02 00:00:00Z'"),
    "nested": (col("nest.ts") > NOON, "nest.ts has instants: timestamp '2024-01-02 12:30:00Z'"),
    "dictionary": (col("keys") > NOON, "keys has instants: timestamp '2024-01-02 12:30:00Z'"),
    "datetime": ((col("day") == 1) | (col("ts") > NOON), "ts has instants: timestamp '2024-01-02 12:30:00Z'"),
    "pandas": (col("ts") > pd.Timestamp(NOON), "ts has instants: timestamp '2024-01-02 12:30:00Z'"),
    "instant": (
        col("wall") > INSTANT,
        "wall has wall clocks: timestamp '2024-01-02 11:30:00'; a datetime of Python has no",
    ),
    "literal instant": (
        "wall > timestamp '2024-01-02 12:30:00Z'",
        "wall has wall clocks: timestamp '2024-01-02 12:30:00'",
    ),
    "text of an instant": ("wall > '2024-01-02 12:30:00Z'", "wall has wall clocks: timestamp '2024-01-02 12:30:00'"),
    "lists": ([("ts", ">", NOON)], "instants are compared with a datetime that has a tzinfo"),
    "lists of instants": ([("wall", "in", [INSTANT])], "wall"),
    "pyarrow": (pc.field("wall") > INSTANT, "wall clocks with one without"),
}
VERBS: dict[str, Callable[[Path, Any], Any]] = {
    "read_table": lambda path, filters: orcish.read_table(path, filters=filters),
    "scan": lambda path, filters: orcish.scan(path, filters=filters),
    "where": lambda path, filters: orcish.scan(path).where(filters).count(),
    "scan_polars": lambda path, filters: orcish.scan_polars(path, filters=filters).collect(),
    "explain": lambda path, filters: orcish.scan(path).where(filters).explain(),
    "file": lambda path, filters: orcish.ORCFile(next(path.rglob("*.orc"))).read(filters=filters),
    "explain a file": lambda path, filters: orcish.ORCFile(next(path.rglob("*.orc"))).explain(filters=filters),
    "delete": lambda path, filters: orcish.delete(path, filters),
    "convert": lambda path, filters: orcish.convert(path, f"{path}_copy", filters=filters),
}


@each_case("verb", VERBS)
@each_case("title", FILTERS)
def test_errors_say_how_the_value_is_written(title: str, verb: str, tmp_path: Path) -> None:
    filters, message = FILTERS[title]
    orcish.write_dataset(ROWS, tmp_path / "t")
    with pytest.raises(ValueError) as caught:  # noqa: PT011 - the message is that of the case
        VERBS[verb](tmp_path / "t", filters)
    assert message in str(caught.value)
    if message.count("'") == 2:
        # What the message has is a filter.
        name, _, rest = message.partition(" has ")
        literal = rest.partition(": ")[2].rpartition("'")[0] + "'"
        assert orcish.scan(tmp_path / "t", filters=f"{name} <= {literal} or {name} > {literal}").count() == 1


@each_case("filters", ["ts > 5", "wall > 5", "ts > 'noon'", "day > '2024-01-02 12:30:00'"])
def test_other_values_need_no_advice(filters: str, tmp_path: Path) -> None:
    orcish.write_table(ROWS, tmp_path / "a.orc")
    with pytest.raises(ValueError, match="cannot be compared with") as caught:
        orcish.scan(tmp_path / "a.orc", filters=filters)
    assert " has instants" not in str(caught.value)
    assert " has wall clocks" not in str(caught.value)
