"""Lists of comparisons of pyarrow: each operator takes the same values for a column."""

import datetime
import decimal
import io
from typing import Any

import orcish
import pyarrow as pa
import pytest

MOMENT = datetime.datetime(2020, 1, 1)
COLUMNS = {
    "int64": pa.array([1, 2]),
    "double": pa.array([1.0, 2.0]),
    "decimal": pa.array([decimal.Decimal(1), decimal.Decimal(2)], pa.decimal128(10, 2)),
    "string": pa.array(["a", "1"]),
    "binary": pa.array([b"a", b"1"]),
    "bool": pa.array([True, False]),
    "date": pa.array([MOMENT.date()] * 2),
    "timestamp": pa.array([MOMENT] * 2),
    "instant": pa.array([MOMENT.replace(tzinfo=datetime.timezone.utc)] * 2),
}
VALUES: list[Any] = [
    *(1, 2**63, -(2**63) - 1, 10**30, 1.0, decimal.Decimal(1), "1", b"1", True, MOMENT, MOMENT.date(), None),
    *(MOMENT.replace(tzinfo=datetime.timezone.utc), datetime.timedelta(days=1)),
]


@pytest.fixture(scope="module")
def data() -> bytes:
    sink = io.BytesIO()
    orcish.write_table(pa.table(COLUMNS), sink)
    return sink.getvalue()


def answer(data: bytes, comparison: tuple[str, str, Any]) -> int | str:
    """The number of rows, or the name of the error."""
    try:
        return orcish.scan(data, filters=[comparison]).count()
    except ValueError:
        return "ValueError"


def test_lists_take_the_values_that_are_compared(data: bytes) -> None:
    """A value is in a list of one value where it equals the value."""
    different = [
        (column, value, found)
        for column in COLUMNS
        for value in VALUES
        if len(set(found := [answer(data, (column, "=", value)), answer(data, (column, "in", [value]))])) > 1
    ]
    assert different == []


def test_values_that_pyarrow_has_not(data: bytes) -> None:
    for value in (10**400, -(10**80), decimal.Decimal("NaN"), decimal.Decimal("Infinity")):
        for given in (("int64", "=", value), ("int64", "<", value), ("int64", "in", [value])):
            with pytest.raises(ValueError, match="filters: column int64 cannot be compared with"):
                orcish.scan(data, filters=[given]).count()


def test_numbers_beyond_the_integers_of_a_column(data: bytes) -> None:
    for number in (2**63, 10**30):
        assert answer(data, ("int64", "<", number)) == answer(data, ("int64", ">", -number - 1)) == 2
        assert answer(data, ("int64", "not in", [number, 1])) == 1
