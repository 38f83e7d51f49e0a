"""Rows of every type that Spark and ORC both have, and how two data frames are compared."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orcish


def _of(*values: str) -> str:
    """SQL that takes the values by turns."""
    return f"element_at(array({', '.join(values)}), cast(id % {len(values)} + 1 as int))"


_DATES = [
    "0001-01-01",
    "1500-02-28",
    "1582-10-04",
    "1582-10-15",
    "1899-12-31",
    "1969-12-31",
    "1970-01-01",
    "9999-12-31",
]
_TIMES = [
    "0001-01-03 00:00:00",
    "1500-03-01 12:34:56.789012",
    "1582-10-04 23:59:59.999999",
    "1582-10-15 00:00:00",
    "1883-11-18 12:10:00",
    "1969-12-31 23:59:58.999999",
    "1969-12-31 23:59:59",
    "1970-01-01 00:00:00",
    "2026-03-08 02:30:00",
    "2026-11-01 01:30:00.000001",
    "2026-07-01 12:00:00",
    "9999-12-30 23:59:59.999999",
]
_DOUBLES = ["'0.5'", "'-0.0'", "'NaN'", "'Infinity'", "'-Infinity'", "'1.7976931348623157E308'", "'4.9E-324'"]

COLUMNS = {
    "flag": "id % 2 = 0",
    "i8": "cast(id % 256 - 128 as tinyint)",
    "i16": _of("-32768S", "32767S", "0S"),
    "i32": _of("-2147483648", "2147483647", "-1", "0"),
    "i64": _of("-9223372036854775807L - 1", "9223372036854775807L", "7L"),
    "f32": _of(*[f"cast({value} as float)" for value in (*_DOUBLES[:5], "'3.4028235E38'", "'1.4E-45'")]),
    "f64": _of(*[f"cast({value} as double)" for value in _DOUBLES]),
    "text": _of("''", "' x '", "'été 日本 😀'", "repeat('long ', 300)", "cast(id as string)"),
    "bytes": _of("X''", "X'00ff'", "cast(cast(id as string) as binary)"),
    "d5": _of("cast(-999.99 as decimal(5,2))", "cast(0.01 as decimal(5,2))"),
    "d18": _of("999999999999999999BD", "-1BD", "0BD"),
    "d38": "cast('12345678901234567890123456789.012345678' as decimal(38,9)) * if(id % 2 = 0, 1, -1)",
    "day": _of(*[f"date'{value}'" for value in _DATES]),
    "t": _of(*[f"timestamp'{value}'" for value in _TIMES]),
    "ntz": _of(*[f"timestamp_ntz'{value}'" for value in _TIMES]),
    "pause": _of(
        "interval '1 02:03:04.567891' day to second",
        "interval '-10 23:59:59.999999' day to second",
        "interval 0 second",
    ),
    "items": _of("array(1, null, 3)", "array()", "array(cast(id as int))"),
    "pairs": _of("map('a', id, 'b', null)", "map()", "map(cast(id as string), 1L)"),
    "nest": "named_struct('a', cast(id as int), 'b', named_struct('t', timestamp'1999-12-31 23:59:59', 'c', text), 'n', ntz)",
    "deep": "array(map('k', array(named_struct('x', f64, 't', t, 'n', ntz))), null)",
    "clocks": "array(t, null)",
    "spans": "map('p', pause)",
}
"""Columns by their names, as SQL over ``id`` and those before them."""


def every_type(spark: Any, rows: int = 100) -> Any:
    """Rows of every type, of which each column but ``id`` has nulls."""
    frame = spark.range(0, rows, 1, 2)
    for at, (name, value) in enumerate(COLUMNS.items()):
        frame = frame.selectExpr("*", f"{value} as `{name}`")
        frame = frame.selectExpr(
            *[each for each in frame.columns if each != name], f"if((id + {at}) % 7 = 3, null, `{name}`) as `{name}`"
        )
    return frame


def types_of(frame: Any) -> list[tuple[str, str, bool]]:
    """Columns: names, types, and whether they may be null."""
    return [(field.name, field.dataType.simpleString(), field.nullable) for field in frame.schema]


def rows_of(frame: Any) -> list[str]:
    """Rows as texts, in which NaN is like NaN, and the zeros differ, in an order."""
    return sorted(repr(row) for row in frame.toArrow().to_pylist())


def assert_same(found: Any, wanted: Any) -> None:
    """The same columns, and the same rows in any order."""
    types, types_wanted = types_of(found), types_of(wanted)
    assert types == types_wanted, (types, types_wanted)
    rows, rows_wanted = rows_of(found), rows_of(wanted)
    assert len(rows) == len(rows_wanted), (len(rows), len(rows_wanted))
    other = next(((a, b) for a, b in zip(rows, rows_wanted, strict=True) if a != b), None)
    assert other is None, other


def table_of(folder: Path) -> list[str]:
    """Files of a table that readers see, by their names within it."""
    names = (path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    return sorted(str(name) for name in names if not any(part.startswith(("_", ".")) for part in name.parts))


def left_over(folder: Path) -> list[str]:
    """What jobs have left in a folder beside files of the table, and beside its log, which has no unfinished entry."""
    own = folder / "_orcish"
    found = [path for path in folder.rglob("*") if not path.is_dir() or path.is_relative_to(own / "jobs")]
    hidden = [path for path in found if any(part.startswith(("_", ".")) for part in path.relative_to(folder).parts)]
    entries = {path.stem for path in (own / "log").glob("*.json")}
    assert entries == {path.stem for path in (own / "log").glob("*.done")}
    return sorted(
        str(path.relative_to(folder))
        for path in hidden
        # Checksums are Spark's own.
        if path.suffix != ".crc" and path.name != "_SUCCESS" and path != own / "jobs" and path.parent != own / "log"
    )


def ids_of(folder: Path) -> list[int]:
    """Column ``id`` of a table, in an order, without Spark."""
    return sorted(orcish.scan(str(folder)).select("id").to_table()["id"].to_pylist())


def start_spark(master: str, **settings: str) -> Any:
    """A session of a script, with settings of its own: their names have ``_`` for dots."""
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master(master)
    own = {"spark.ui.enabled": "false", "spark.driver.host": "127.0.0.1", "spark.log.level": "OFF"}
    for key, value in {**own, **{name.replace("_", "."): value for name, value in settings.items()}}.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()
