"""Encrypted files of other writers: rows, statistics and filters under several sets of keys, as ORC Java reads them."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

import orcish
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from support.case_loops import each_case
from support.encryption_pack import HERE, NOT_HERE, EncryptedCase, Keys, as_java, encrypted_cases, of_java
from support.random_cases import part

pytestmark = pytest.mark.skipif(not HERE, reason=NOT_HERE)
CASES = list(encrypted_cases())
READ: dict[str, Any] = {"masked": "allow", "timestamp_unit": "ns", "timestamps": "wall"}


def values(column: pa.ChunkedArray) -> list[Any]:
    """The values of a column, with timestamps as texts."""
    kind = column.type
    if pa.types.is_timestamp(kind):
        return column.cast(pa.timestamp("ns")).cast(pa.string()).to_pylist()
    return [as_java(value, kind) for value in column.to_pylist()]


def same(found: Any, expected: Any) -> bool:
    """Whether two values are equal; decimals by their values, texts without the padding of ``char``."""
    if isinstance(found, dict) and isinstance(expected, dict):
        return found.keys() == expected.keys() and all(same(found[name], expected[name]) for name in found)
    if isinstance(found, list) and isinstance(expected, list):
        return len(found) == len(expected) and all(map(same, found, expected))
    if isinstance(found, str) and isinstance(expected, str) and found != expected:
        try:
            return Decimal(found) == Decimal(expected)
        except ArithmeticError:
            return found.rstrip(" \0") == expected.rstrip(" \0")
    return found == expected


def check_rows(case: EncryptedCase, label: str, keys: Keys) -> None:
    table = orcish.ORCFile(case.path, keys=keys).read(**READ)
    rows = case.rows(label)
    assert table.num_rows == len(rows)
    for name, column in zip(table.column_names, table.columns, strict=True):
        expected = [of_java(row[name], column.type) for row in rows]
        for at, (value, other) in enumerate(zip(values(column), expected, strict=True)):
            assert same(value, other), (label, name, at, value, other)


@each_case("case", CASES)
def test_rows_are_those_of_java(case: EncryptedCase) -> None:
    for label, keys in case.labels().items():
        check_rows(case, label, keys)


def bound(value: Any) -> Any:
    """A bound as the pack writes it."""
    if isinstance(value, dt.date) and not isinstance(value, dt.datetime):
        return value.isoformat()
    return str(value) if isinstance(value, Decimal) else value


def check_statistics(found: orcish.types.ColumnStatistics | None, java: dict[str, Any]) -> None:
    assert found is not None
    assert (found.values, found.has_null) == (java["count"], java["hasNull"])
    if java.get("kind") in ("integer", "double", "date", "decimal", "string") and java["count"]:
        for of_orcish, name in ((found.min, "min"), (found.max, "max")):
            # Java has no bounds of texts that it has cut, and no sum of integers beyond 64 bits.
            if name in java and of_orcish is not None:
                assert same(bound(of_orcish), java[name]), (name, of_orcish, java[name])
    if java.get("kind") == "boolean":
        assert found.true_count == java["true"]


@each_case("case", CASES)
def test_statistics_are_those_of_java(case: EncryptedCase) -> None:
    for label, keys in (("with_keys", case.all_keys), ("no_keys", {})):
        java = case.statistics(label)
        if java is None:
            continue
        file = orcish.ORCFile(case.path, keys=keys)
        # The number of rows is that of values, where Java without a row index counts none.
        if file.row_index_stride == 0:
            continue
        for id, of_file in enumerate(java["file"]):
            check_statistics(file.statistics(id), of_file)
        for id in range(len(java["file"])):
            of_stripes = file.stripe_statistics(id)
            for stripe, columns in enumerate(java["stripes"]):
                check_statistics(of_stripes[stripe], columns[id])


@each_case("case", part(CASES))
def test_filters_find_what_they_find_in_memory(case: EncryptedCase) -> None:
    for keys in case.labels().values():
        file = orcish.ORCFile(case.path, keys=keys)
        table = file.read(**READ)
        for name, column in zip(table.column_names, table.columns, strict=True):
            nothing = pc.is_null(column) if not pa.types.is_union(column.type) else None
            if nothing is None or pa.types.is_nested(column.type):
                continue
            found = file.read(filters=orcish.col(name).is_null(), **READ)
            assert found.num_rows == sum(nothing.to_pylist()), name
            known = column.drop_null()
            if not len(known) or pa.types.is_timestamp(column.type):
                continue
            for value in {known[0].as_py(), known[len(known) // 2].as_py(), known[-1].as_py()}:
                condition = orcish.col(name) == value
                expected = table.filter(pc.equal(column, pa.scalar(value, column.type)))
                assert file.read(filters=condition, **READ)[0].equals(expected[0]), (name, value)
                if not pa.types.is_boolean(column.type):
                    expected = table.filter(pc.greater(column, pa.scalar(value, column.type)))
                    assert file.read(filters=orcish.col(name) > value, **READ)[0].equals(expected[0]), name
