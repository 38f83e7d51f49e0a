"""Judges of reads: filters, projections, limits, stripes and splits return parts of the whole."""

from __future__ import annotations

import random
from typing import Any

import pyarrow as pa
import pytest
from orcish import Expression

from support.conformance.opened import MAX_ROWS, Opened
from support.filter_cases import ROW, Subject, check, check_scan, leaf, predicate, same
from support.random_cases import cases, seeded

FILTERS = 4
MAX_COLUMNS = 100
MANY_ROWS = 300_000
DEEP = [
    f"apache+impala/max_nesting_depth.{kind}.file.orc" for kind in ("int_array", "struct", "struct_array", "struct_map")
]
"""Files of more levels than pyarrow takes."""


def _is_askable(file: Opened) -> None:
    if file.has_names_twice or file.num_rows > MANY_ROWS:
        pytest.skip("names of columns are there twice, or too many rows")


def parts_are_those_of_the_whole(file: Opened) -> None:
    """Plans include all rows that are found."""
    _is_askable(file)
    if file.name in DEEP:
        pytest.skip("more levels than pyarrow takes")
    subject = file.subject
    titles = list(subject.kinds)
    if not titles:
        pytest.skip("no column that a filter can ask")
    rng = seeded(file.name)
    for _ in range(cases(FILTERS if file.num_rows <= MAX_ROWS else 1)):
        picked = rng.choices(titles, k=rng.choice([1, 2, 4]))
        tree = predicate(rng, [leaf(rng, subject, title) for title in picked])
        if file.is_struct:
            check(rng, subject, tree, with_values=file.num_rows <= MAX_ROWS)
        check_scan(rng, subject, tree, file.path)


def filters_on_each_column(file: Opened) -> None:
    """Filters read what they keep in memory."""
    file.subject.whole()
    _is_askable(file)
    rng = seeded(f"filters of {file.path.name}")
    titles = list(file.subject.kinds)
    for title in rng.sample(titles, min(len(titles), MAX_COLUMNS)):
        drawn = [leaf(rng, file.subject, title) for _ in range(cases(8))]
        for tree in [("is_null", title), ("not", ("is_null", title)), *drawn]:
            _check_column(rng, file.subject, title, tree, is_struct=file.is_struct)


def _check_column(rng: random.Random, subject: Subject, title: str, tree: Any, *, is_struct: bool) -> None:
    want = subject.rows(tree, {})
    columns = rng.choice([[title], [], [subject.ways[rng.choice(list(subject.ways))][0]]]) if is_struct else None
    options = {"columns": columns, "threads": rng.choice([1, 2]), "batch_size": rng.choice([64, 1000, 65_536])}
    if subject.file.num_rows > 20_000:
        options["batch_size"] = 65_536
    table = subject.file.read(filters=Expression(tree), row_number=ROW, **subject.options, **options)
    assert table[ROW].to_pylist() == want.to_pylist(), (tree, options)
    if columns == [title] and not pa.types.is_nested(subject.kinds[title]):
        assert same(table.drop_columns([ROW]), subject.whole(columns=columns), want), (tree, options)
