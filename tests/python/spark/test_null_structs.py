"""Filters on fields of structs that are null, which Spark's reader pushes down to statistics of our files."""

from __future__ import annotations

import pathlib
from typing import Any

import orcish
import pyarrow as pa
from support.case_loops import each_case

PAIR = pa.struct([("x", pa.int64()), ("y", pa.string())])
DEEP = pa.struct([("s", PAIR), ("n", pa.int32()), ("l", pa.list_(PAIR)), ("m", pa.map_(pa.string(), PAIR))])
FILTERS = (
    *(
        "s.x is null",
        "s.x <=> null",
        "s.y is null",
        "s.x is not null",
        "s.x > 1",
        "not (s.x = 1)",
        "s.x is null or s.x = 3",
    ),
    *("d.s.x is null", "d.s.y <=> null", "d.n is null", "d.s is null", "d.l is null", "d.m is null", "d.s.x = 5"),
)


def rows() -> pa.Table:
    pairs = [{"x": 1, "y": "a"}, None, {"x": 2, "y": "b"}, None, {"x": 3, "y": "c"}, {"x": 4, "y": "d"}]
    full = {"s": {"x": 5, "y": "e"}, "n": 1, "l": [None, {"x": 1, "y": "f"}], "m": {"k": {"x": 2, "y": "g"}}}
    deep = [full, None, {**full, "s": None}, full, None, full]
    return pa.table({"id": range(6), "s": pa.array(pairs, PAIR), "d": pa.array(deep, DEEP)})


def merged(folder: pathlib.Path, table: pa.Table) -> None:
    parts = [folder / name for name in ("a.orc", "b.orc")]
    orcish.write_table(table.slice(0, 1), parts[0])
    orcish.write_table(table.slice(1), parts[1])
    orcish.merge(parts, folder / "rows.orc")


@each_case(("is_merged", "row_index_stride"), [(False, 0), (False, 1000), (True, 1000)])
def test_no_row_is_lost(spark: Any, tmp_path: pathlib.Path, is_merged: bool, row_index_stride: int) -> None:
    table, path = rows(), tmp_path / "rows.orc"
    if is_merged:
        merged(tmp_path, table)
    else:
        orcish.write_table(table, path, row_index_stride=row_index_stride)
    assert orcish.ORCFile(path).check() == []
    frame = spark.read.orc(str(path))
    # Nothing is pushed down where conditions are columns.
    answers = frame.selectExpr("id", *(f"{condition} as c{at}" for at, condition in enumerate(FILTERS))).collect()
    for at, condition in enumerate(FILTERS):
        kept = frame.where(condition).select("id").collect()
        assert sorted(row.id for row in kept) == sorted(row.id for row in answers if row[f"c{at}"]), condition


def test_own_reader_prunes_rightly(tmp_path: pathlib.Path) -> None:
    table, path = rows(), tmp_path / "rows.orc"
    orcish.write_table(table, path)
    for name in ("s.x", "s.y", "d.s.x", "d.n"):
        values = table.column(name.partition(".")[0])
        for field in name.split(".")[1:]:
            values = _field(values, field)
        nulls = [at for at, value in enumerate(values.to_pylist()) if value is None]
        assert orcish.read_table(path, filters=f"{name} is null")["id"].to_pylist() == nulls
        assert orcish.read_table(path, filters=f"{name} is not null").num_rows == 6 - len(nulls)


def _field(values: pa.ChunkedArray, name: str) -> pa.ChunkedArray:
    """The field of structs, null where these are null."""
    rows = [None if value is None else value[name] for value in values.to_pylist()]
    return pa.chunked_array([pa.array(rows, values.type.field(name).type)])
