"""Arrays of random nested types: lists of all forms, structs, maps, unions, dictionaries and runs."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pyarrow as pa

LEAVES: list[tuple[Any, Callable[[random.Random], Any]]] = [
    (pa.int64(), lambda rng: rng.randrange(5)),
    (pa.uint16(), lambda rng: rng.randrange(5)),
    (pa.float32(), lambda rng: rng.randrange(5) / 2),
    (pa.large_string(), lambda rng: rng.choice("xyz")),
    *((pa.timestamp(unit), lambda rng: rng.randrange(10**9)) for unit in ("s", "ms", "us", "ns")),
    *((pa.timestamp(unit, "Europe/Berlin"), lambda rng: rng.randrange(10**9)) for unit in ("s", "us")),
    *((pa.duration(unit), lambda rng: rng.randrange(10**9)) for unit in ("s", "ns")),
    (pa.time32("ms"), lambda rng: rng.randrange(10**6)),
    (pa.time64("ns"), lambda rng: rng.randrange(10**9)),
    (pa.month_day_nano_interval(), lambda rng: pa.MonthDayNano([rng.randrange(9), 2, 3])),
]


def leaf(rng: random.Random, rows: int) -> pa.Array:
    kind, value = rng.choice(LEAVES)
    return pa.array([None if rng.random() < 0.2 else value(rng) for _ in range(rows)], kind)


def chosen(rng: random.Random, number: int, rows: int, kind: Any) -> pa.Array:
    """Places of ``rows`` among ``number``."""
    return pa.array([rng.randrange(number) for _ in range(rows)], kind)


def drawn(rng: random.Random, rows: int, depth: int) -> pa.Array:
    """An array of a random type, with ``rows`` values."""
    shapes = [structs, lists, views, fixed_size_lists, maps, dense_unions, sparse_unions, dictionaries, runs]
    return rng.choice(shapes)(rng, rows, depth - 1) if depth else leaf(rng, rows)


def structs(rng: random.Random, rows: int, depth: int) -> pa.Array:
    return pa.StructArray.from_arrays([drawn(rng, rows, depth), leaf(rng, rows)], ["a", "b"])


def offsets(rows: int) -> list[int]:
    return [2 * row for row in range(rows + 1)]


def lists(rng: random.Random, rows: int, depth: int) -> pa.Array:
    made = rng.choice([pa.ListArray, pa.LargeListArray])
    return made.from_arrays(offsets(rows), drawn(rng, 2 * rows, depth))


def views(rng: random.Random, rows: int, depth: int) -> pa.Array:
    return pa.ListViewArray.from_arrays(offsets(rows)[:-1], [2] * rows, drawn(rng, 2 * rows, depth))


def fixed_size_lists(rng: random.Random, rows: int, depth: int) -> pa.Array:
    return pa.FixedSizeListArray.from_arrays(drawn(rng, 2 * rows, depth), 2)


def maps(rng: random.Random, rows: int, depth: int) -> pa.Array:
    return pa.MapArray.from_arrays(offsets(rows), pa.array(["k", "m"] * rows), drawn(rng, 2 * rows, depth))


def dense_unions(rng: random.Random, rows: int, depth: int) -> pa.Array:
    codes = chosen(rng, 2, rows, pa.int8())
    values = [drawn(rng, rows, depth), leaf(rng, rows)]
    return pa.UnionArray.from_dense(codes, pa.array(range(rows), pa.int32()), values)


def sparse_unions(rng: random.Random, rows: int, depth: int) -> pa.Array:
    return pa.UnionArray.from_sparse(chosen(rng, 2, rows, pa.int8()), [drawn(rng, rows, depth), leaf(rng, rows)])


def dictionaries(rng: random.Random, rows: int, depth: int) -> pa.Array:
    keys = rng.choice([pa.int8(), pa.int32(), pa.uint16()])
    return pa.DictionaryArray.from_arrays(chosen(rng, 3, rows, keys), drawn(rng, 3, depth))


def runs(rng: random.Random, rows: int, depth: int) -> pa.Array:
    ends = [*sorted(rng.sample(range(1, rows), min(2, rows - 1))), rows]
    values = drawn(rng, len(ends), depth)
    # pyarrow exchanges no runs of runs.
    while pa.types.is_run_end_encoded(values.type):
        values = drawn(rng, len(ends), depth)
    return pa.RunEndEncodedArray.from_arrays(pa.array(ends, pa.int32()), values)
