"""Every verb that writes a file again keeps the types and values of random nested types, encodings included."""

from __future__ import annotations

import pathlib
from collections.abc import Callable

import orcish
import pyarrow as pa
from support.nested_arrays import drawn
from support.random_cases import random_cases


def rewritten(table: pathlib.Path, _: pathlib.Path) -> pathlib.Path:
    orcish.compact(table, rewrite=True, compression="none")
    return table


def compacted(table: pathlib.Path, _: pathlib.Path) -> pathlib.Path:
    orcish.write_dataset(orcish.read_table(table), table, existing_data="append")
    orcish.delete(table, orcish.col("id") >= 100)
    orcish.compact(table)
    return table


def converted(table: pathlib.Path, other: pathlib.Path) -> pathlib.Path:
    orcish.convert(table, other)
    return other


def copied(table: pathlib.Path, other: pathlib.Path) -> pathlib.Path:
    orcish.write_table(orcish.scan(table), other, compression="snappy")
    return other


VERBS: list[Callable[[pathlib.Path, pathlib.Path], pathlib.Path]] = [rewritten, compacted, converted, copied]


def test_nested_types_stay(tmp_path: pathlib.Path) -> None:
    for case, rng in random_cases("rewritten nesting", 400):
        rows = rng.randrange(3, 9)
        values = drawn(rng, rows, rng.randrange(1, 5))
        before = pa.table({"id": range(rows), "c": values})
        verb = VERBS[case % len(VERBS)]
        table = tmp_path / f"{case}"
        orcish.write_dataset(before, table)
        read = orcish.read_table(table)
        where = verb(table, tmp_path / f"{case}.orc")
        found = orcish.read_table(where)
        assert found.schema.types == read.schema.types, (verb.__name__, found.schema)
        expected = read["c"].to_pylist() * (found.num_rows // rows)
        assert found["c"].to_pylist() == expected, (verb.__name__, found.schema)
