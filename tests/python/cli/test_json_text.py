"""Rows as lines of JSON, of whole columns: the same text as that of value by value."""

import datetime as dt

import pyarrow as pa
from orcish.comparing.values import arrow_text
from orcish_cli.json_text import json_text
from orcish_cli.json_values import to_json
from orcish_cli.rows import table_lines
from orcish_cli.terminal import json_line
from support.case_loops import each_case
from support.columns_of_types import COLUMNS
from support.random_cases import random_cases
from support.random_tables import array_of, moments, nested, sequence, with_nulls

UNITS = ("s", "ms", "us", "ns")
TIMES = {"s": pa.time32("s"), "ms": pa.time32("ms"), "us": pa.time64("us"), "ns": pa.time64("ns")}
FAR = {
    # pyarrow raises an error for texts of some years.
    "years without text": pa.array([971913720802531, None, -(10**15), 0, 1, 2]).cast(pa.timestamp("ms", "UTC")),
    "far date": pa.array([2**31 - 1, None, -(2**31), 36_500_000, 11_248_737, 11_248_738], pa.int32()).cast(pa.date32()),
    "far date64": pa.array([2**46, None, -(2**46), 0, 1, 2], pa.int64()).cast(pa.date64()),
    **{
        f"far {unit} {zone}": pa.array([2**62, None, -(2**62), 2**40 + 1, -(2**40), 2**50]).cast(
            pa.timestamp(unit, zone)
        )
        for unit in ("s", "ms", "us", "ns")
        for zone in (None, "UTC", "Asia/Kathmandu")
    },
}


def by_value(batch: pa.RecordBatch) -> list[str]:
    columns = [to_json(column) for column in batch.columns]
    return [json_line(dict(zip(batch.schema.names, row, strict=True))) for row in zip(*columns, strict=True)]


def by_column(batch: pa.RecordBatch) -> list[str]:
    text = "".join(json_text([batch]))
    assert text.endswith("\n") or not batch.num_rows
    return text.split("\n")[:-1]


@each_case("array", [*COLUMNS.values(), *FAR.values()], ids=[*COLUMNS, *FAR])
def test_types(array):
    inside = pa.StructArray.from_arrays([array], ["inner"], mask=pa.array([False, True, False, False, True, False]))
    lists = pa.ListArray.from_arrays(pa.array([0, 2, 2, 3, 6, 6, 6], pa.int32()), array)
    batch = pa.record_batch({"a": array, "struct": inside, "list": lists})
    for start in range(7):
        for length in (1, 3, 6):
            part = batch.slice(start, length)
            assert by_column(part) == by_value(part)


def test_texts_of_far_moments():
    batch = pa.record_batch(
        {
            "day": pa.array([36_500_000, -(2**31)], pa.int32()).cast(pa.date32()),
            "at": pa.array([2**60, -(2**60)], pa.timestamp("us", "Asia/Kathmandu")),
        }
    )
    assert by_column(batch) == [
        '{"day": "101903-08-11", "at": "38504-08-17T21:30:06.846976Z"}',
        '{"day": "-5877641-06-23", "at": "-34565-05-17T02:29:53.153024Z"}',
    ]


def expected(number: int, unit: str) -> str:
    """The text of a timestamp of a year that Python has, made by Python."""
    seconds, fraction = divmod(number, 1000 ** UNITS.index(unit))
    whole = dt.datetime(1970, 1, 1) + dt.timedelta(seconds=seconds)
    digits = f"{fraction:0{3 * UNITS.index(unit)}}".rstrip("0") if fraction else ""
    return f"{whole:%Y-%m-%dT%H:%M:%S}{'.' if digits else ''}{digits}"


@each_case("zone", [None, "UTC", "Asia/Kathmandu"])
@each_case("unit", UNITS)
def test_texts_of_moments(unit, zone):
    second, end = 1000 ** UNITS.index(unit), "" if zone is None else "Z"
    whole = [-second, 0, 86_399 * second, -(10**9) * second]
    for numbers in (whole, [*whole, 1, -1, second // 10, 7 * second // 2]):
        array = pa.array(numbers, pa.timestamp(unit, zone))
        texts = [f"{expected(number, unit)}{end}" for number in numbers]
        assert to_json(array) == texts
        assert [arrow_text(array.slice(at, 1)) for at in range(len(array))] == texts
        of_day = [number % (86_400 * second) for number in numbers]
        times = pa.array(of_day, TIMES[unit])
        assert to_json(times) == [expected(number, unit)[11:] for number in of_day]
        batch = pa.record_batch({"at": array, "time": times})
        assert by_column(batch) == by_value(batch)


def test_random_columns():
    for _, rng in random_cases("text of JSON", 200):
        columns = {}
        for at in range(3):
            kind = nested(rng, rng.choice([0, 1, 2, 3]), unions=True, moment=moments)
            values = sequence(rng, kind, 60)
            columns[f"c{at}"] = array_of(kind, values if pa.types.is_union(kind.arrow) else with_nulls(rng, values))
        batch = pa.record_batch(columns)
        for part in (batch, batch.slice(rng.randrange(60), rng.randrange(60))):
            assert by_column(part) == by_value(part)


def test_columns_of_the_same_name_are_all_there():
    batch = pa.record_batch([pa.array([1]), pa.array(["a"])], names=["a", "a"])
    assert by_column(batch) == ['{"a": 1, "a_1": "a"}']


INNER = pa.StructArray.from_arrays([pa.array([1]), pa.array(["a"])], names=["q", "q"])
PLACES = {
    "struct": INNER,
    "struct in a struct": pa.StructArray.from_arrays([INNER], ["s"]),
    "list": pa.ListArray.from_arrays(pa.array([0, 1], pa.int32()), INNER),
    "list of a size": pa.FixedSizeListArray.from_arrays(INNER, 1),
    "map": pa.MapArray.from_arrays(pa.array([0, 1], pa.int32()), pa.array(["k"]), INNER),
    "union": pa.UnionArray.from_sparse(pa.array([0], pa.int8()), [INNER]),
}


@each_case("array", PLACES.values(), ids=PLACES)
def test_fields_of_the_same_name_are_all_there(array):
    batch = pa.record_batch([array], names=["x"])
    (line,) = by_column(batch)
    assert '{"q": 1, "q_1": "a"}' in line
    cell = list(table_lines(batch.schema, [batch], None))[-1]
    assert '{"q": 1, "q_1": "a"}' in cell


def test_rows_without_columns():
    batch = pa.RecordBatch.from_struct_array(pa.array([{}, {}], pa.struct([])))
    assert by_column(batch) == ["{}", "{}"]
