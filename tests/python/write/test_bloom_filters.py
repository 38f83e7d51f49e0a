"""Bloom filters that orcish writes: values of any type are found by them, and what is not there is excluded."""

from __future__ import annotations

import datetime as dt
import pathlib
from collections.abc import Callable
from decimal import Decimal
from typing import Any, NamedTuple

import orcish
import pyarrow as pa
import pytest
from orcish import col
from support.case_loops import each_case
from support.writer_tables import TYPE_KEY

# Numbers of the values that are written; those between are absent.
NUMBERS = [*range(-60, 0, 2), *range(2, 62, 2)]
DAY = dt.date(2020, 2, 29)
TIME = dt.datetime(2020, 2, 29, 12)
SUBSECONDS = ("ms", "us", "ns")


class Kind(NamedTuple):
    """A type of columns with bloom filters, and the value of a number."""

    name: str
    arrow: pa.DataType
    value: Callable[[int], Any]
    orc: str | None = None


def _text(number: int) -> str:
    return f"é{number + 100:04}"


KINDS = [
    *[Kind(str(kind), kind, int) for kind in (pa.int8(), pa.int16(), pa.int32(), pa.int64())],
    *[Kind(str(kind), kind, lambda n: n + 100) for kind in (pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64())],
    *[Kind(str(kind), kind, lambda n: n / 8) for kind in (pa.float32(), pa.float64())],
    *[Kind(str(kind), kind, _text) for kind in (pa.string(), pa.large_string(), pa.string_view())],
    Kind("long string", pa.string(), lambda n: _text(n) * 40),
    Kind("dictionary", pa.dictionary(pa.int8(), pa.string()), _text),
    Kind("char", pa.string(), lambda n: f"é{n + 100}".ljust(9), "char(9)"),
    Kind("varchar", pa.string(), _text, "varchar(9)"),
    Kind("binary", pa.binary(), lambda n: _text(n).encode("utf-16")),
    Kind("binary(4)", pa.binary(4), lambda n: (n + 100).to_bytes(4, "little")),
    Kind("decimal(4,1)", pa.decimal128(4, 1), lambda n: Decimal(n) / 10),
    Kind("decimal(38,9)", pa.decimal128(38, 9), lambda n: n * Decimal("12345678901234567890.123456789")),
    Kind("decimal256", pa.decimal256(30, 2), lambda n: n * Decimal("1e20")),
    Kind("date32", pa.date32(), lambda n: DAY + dt.timedelta(n)),
    Kind("date64", pa.date64(), lambda n: DAY + dt.timedelta(n)),
    Kind("old date", pa.date32(), lambda n: dt.date(1, 6, 1) + dt.timedelta(n)),
    *[Kind(f"timestamp[{unit}]", pa.timestamp(unit), lambda n: TIME + dt.timedelta(seconds=n)) for unit in SUBSECONDS],
    Kind("seconds", pa.timestamp("s"), lambda n: TIME + dt.timedelta(seconds=n)),
    Kind("milliseconds", pa.timestamp("us"), lambda n: TIME + dt.timedelta(milliseconds=n)),
    Kind(
        "about 1970", pa.timestamp("ms"), lambda n: dt.datetime(1970, 1, 1) + dt.timedelta(milliseconds=(n + 60) * 100)
    ),
    Kind("instant", pa.timestamp("us", "UTC"), lambda n: TIME.replace(tzinfo=dt.UTC) + dt.timedelta(seconds=n)),
]


def written(path: pathlib.Path, kind: Kind, *, wrapped: bool) -> Any:
    """Two row groups of values, of which each has others; gives the column as filters have it."""
    plain = kind.arrow.value_type if pa.types.is_dictionary(kind.arrow) else kind.arrow
    values = [kind.value(number) for number in NUMBERS]
    present = [*values[::2], *[None] * (1000 - len(values) // 2), *values[1::2]]
    column = pa.array(present, plain).cast(kind.arrow)
    field = pa.field("v", kind.arrow, metadata={TYPE_KEY: kind.orc} if kind.orc else None)
    name = "v"
    if wrapped:
        column, field, name = pa.StructArray.from_arrays([column], fields=[field]), None, "s.v"
        field = pa.field("s", column.type)
    table = pa.Table.from_arrays([column], schema=pa.schema([field]))
    options: Any = {"row_index_stride": 1000, "bloom_filter_columns": [name]}
    orcish.write_table(table, path, bloom_filter_fpp=1e-4, **options)
    assert orcish.ORCFile(path).check() == []
    return col("s.v") if wrapped else col("v")


@each_case("wrapped", [False, True], ids=["top", "in a struct"])
@each_case("kind", KINDS, ids=lambda kind: kind.name)
def test_values_of_any_type(tmp_path: pathlib.Path, kind: Kind, wrapped: bool) -> None:
    path = tmp_path / "bloom.orc"
    column = written(path, kind, wrapped=wrapped)
    values = [kind.value(number) for number in NUMBERS]
    for value in values:
        assert orcish.scan(path).where(column == value).count() == 1, value
    assert orcish.scan(path).where(column.is_in(values)).count() == len(values)
    # Absent ones, between the bounds: the filters exclude them, but for one in ten thousand.
    absent = [kind.value(number + 1) for number in NUMBERS[:-1]]
    absent = [value for value in absent if value not in values]
    assert len(absent) > 30
    left = 0
    for value in absent:
        explained = orcish.scan(path).where(column == value).explain()
        (stripe,) = explained.files[0].stripes
        left += any(outcome != "skipped" for _, outcome, _ in stripe.row_groups)
        assert orcish.scan(path).where(column == value).count() == 0, value
    # What was cut to seconds may have been another value, so that filters say nothing of it.
    assert left <= 2 or kind.name == "seconds"


def test_booleans_have_none() -> None:
    with pytest.raises(ValueError, match="column v is of a type that has none"):
        orcish.write_table(pa.table({"v": [True]}), pa.BufferOutputStream(), bloom_filter_columns=["v"])
