"""Strings beside columns of other types are values of the type of the column, as in SQL. DuckDB is the judge."""

import datetime as dt
import functools
import io
from decimal import Decimal

import duckdb
import orcish
import pandas as pd
import pyarrow as pa
import pytest
from orcish import col
from support.case_loops import each_case

ROWS = 200
DAY, NOON = dt.date(2026, 3, 3), dt.datetime(2026, 3, 3, 12)
TABLE = pa.table(
    {
        "row": range(ROWS),
        "i8": pa.array([row % 100 - 50 for row in range(ROWS)], pa.int8()),
        "i64": pa.array([row - 100 if row % 7 else None for row in range(ROWS)], pa.int64()),
        "f64": pa.array([row / 10 for row in range(ROWS)]),
        "d": pa.array([Decimal(row).scaleb(-2) for row in range(ROWS)], pa.decimal128(10, 2)),
        "b": pa.array([(True, False, None)[row % 3] for row in range(ROWS)]),
        "day": pa.array([DAY + dt.timedelta(days=row - 100) for row in range(ROWS)]),
        "t": pa.array([NOON + dt.timedelta(hours=row - 100) for row in range(ROWS)], pa.timestamp("us")),
        "z": pa.array([NOON + dt.timedelta(hours=row - 100) for row in range(ROWS)], pa.timestamp("us", "UTC")),
    }
)
STRINGS = {
    "i8": ["7", " -7 ", "0"],
    "i64": ["7", "-50", "0"],
    "f64": ["1.5", "15e-1", " 7 ", "-0"],
    "d": ["1.50", "1.5", "0.07", "-1"],
    "b": ["true", "FALSE"],
    "day": ["2026-03-03", " 2026-01-01 "],
    "t": ["2026-03-03 12:00:00", "2026-03-03", "2026-03-03T13:00:00"],
    "z": ["2026-03-03 12:00:00Z", "2026-03-03 13:00:00+01:00"],
}
WRONG = {
    "i64": ["seven", "", "0x7", "1_000"],
    "f64": ["one"],
    "d": ["1,5"],
    "b": ["yes", "1"],
    "day": ["Friday", "2026-02-30"],
    "t": ["noon", "2026-03-03 12:00:00Z"],
    "z": ["2026-03-03 12:00:00", "2026-03-03"],
}


@pytest.fixture(scope="module")
def data():
    sink = io.BytesIO()
    orcish.write_table(TABLE, sink, row_index_stride=1000)
    return sink.getvalue()


@pytest.fixture(scope="module")
def judge():
    with duckdb.connect() as connection:
        connection.register("rows", TABLE)
        yield connection


def rows(data, filters):
    found = orcish.read_table(data, columns=["row"], filters=filters)["row"].to_pylist()
    assert orcish.scan(data, filters=filters).count() == len(found)
    return found


@each_case(("name", "text"), [(name, text) for name, texts in STRINGS.items() for text in texts])
def test_strings_are_values_of_their_column(data, judge, name, text):
    conditions = [
        *(f"{name} {op} '{text}'" for op in ("=", "<>", "<", "<=", ">", ">=")),
        f"{name} in ('{text}', '{text}')",
        f"{name} not in ('{text}')",
        f"{name} between '{text}' and '{text}'",
        f"not ({name} > '{text}')",
    ]
    for condition in conditions:
        want = [row for (row,) in judge.sql(f"select row from rows where {condition} order by row").fetchall()]
        assert rows(data, condition) == want, condition
    equal = rows(data, f"{name} = '{text}'")
    assert equal == rows(data, col(name) == text) == rows(data, col(name).is_in([text]))


@each_case(("name", "text"), [(name, text) for name, texts in WRONG.items() for text in texts])
def test_strings_that_are_no_values_are_errors(data, name, text):
    for filters in (f"{name} = '{text}'", f"{name} in ('{text}')", col(name) > text):
        with pytest.raises(ValueError, match=f"column {name} of type .* cannot be compared with "):
            rows(data, filters)


SYMBOLS = ["=", "!=", "<", "<=", ">", ">="]


@each_case(("name", "text"), [(name, text) for name, texts in STRINGS.items() for text in texts])
def test_lists_of_pyarrow_are_as_text(data, name, text):
    for symbol in SYMBOLS:
        wanted = rows(data, f"{name} {symbol} '{text}'")
        assert rows(data, [(name, symbol, text)]) == wanted
        assert rows(data, [[name, symbol, text]]) == wanted
        assert rows(data, [[(name, symbol, text)], [("row", "<", "3")]]) == rows(
            data, f"{name} {symbol} '{text}' or row < 3"
        )
    several = ", ".join(f"'{each}'" for each in STRINGS[name])
    assert rows(data, [(name, "in", STRINGS[name])]) == rows(data, f"{name} in ({several})")
    assert rows(data, [(name, "in", set(STRINGS[name]))]) == rows(data, f"{name} in ({several})")
    # Nulls are in no list: pyarrow keeps them.
    assert rows(data, [(name, "not in", STRINGS[name])]) == rows(data, f"{name} not in ({several}) or {name} is null")


@each_case(("name", "text"), [(name, text) for name, texts in WRONG.items() for text in texts])
def test_lists_of_pyarrow_with_strings_that_are_no_values(data, name, text):
    kind = TABLE.schema.field(name).type
    for filters in ([(name, "=", text)], [[name, "in", [text]]]):
        with pytest.raises(ValueError, match="cannot be compared with the string") as caught:
            orcish.read_table(data, filters=filters)
        assert f"column {name} of type {kind} " in str(caught.value)
        assert repr(text) in str(caught.value)


def test_lists_with_times_as_strings():
    sink = io.BytesIO()
    orcish.write_table(pa.table({"at": pa.array([dt.time(10), dt.time(12), None], pa.time64("us"))}), sink)
    assert orcish.read_table(sink.getvalue(), filters=[("at", ">", "11:00")]).num_rows == 1


@each_case("unit", ["s", "ms", "us", "ns"])
@each_case("kind", ["wall", "instant", "interval"])
def test_moments_of_pandas_keep_their_digits(tmp_path, kind, unit):
    """pyarrow makes microseconds of them."""
    numbers, zone = [0, 1, 1001, 1500], "Asia/Kolkata" if kind == "instant" else None
    of_pandas = pd.Timedelta if kind == "interval" else functools.partial(pd.Timestamp, tz=zone)
    stored = pa.duration(unit) if kind == "interval" else pa.timestamp(unit, zone)
    path = tmp_path / "a.orc"
    orcish.write_table(pa.table({"id": numbers, "x": pa.array(numbers, stored)}), path)
    values = [of_pandas(number, unit=unit) for number in numbers]
    for number, value in zip(numbers, values, strict=True):
        for filters, want in (
            ([("x", "=", value)], [number]),
            ([("x", "in", [value])], [number]),
            ([("x", "in", [value, values[0], None])], sorted({0, number})),
            ([("x", "<=", value)], [each for each in numbers if each <= number]),
        ):
            assert orcish.read_table(path, filters=filters)["id"].to_pylist() == want


def test_wall_clocks_beside_instants(tmp_path):
    orcish.write_table(pa.table({"x": pa.array([0], pa.timestamp("ns"))}), tmp_path / "a.orc")
    with pytest.raises(ValueError, match="column x is compared with are wall clocks and instants"):
        orcish.read_table(tmp_path / "a.orc", filters=[("x", "in", [pd.Timestamp(0), pd.Timestamp(0, tz="UTC")])])
