"""Judges that are other readers: pyarrow, and pyorc from anywhere and with a condition."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import pyarrow as pa
import pyorc
import pytest

from support.conformance.opened import MAX_ROWS, NULL_KEYS, Opened
from support.conformance.pack import comparison
from support.filter_cases import Subject
from support.orc_cpp import SKIP, rows_of, same_form
from support.peer_predicates import PYORC, Leaf, askable, asked, conditions, finite, for_pyorc, name_of
from support.random_cases import cases, seeded
from support.random_tables import Kind, of

SEEKS = 12
PYORC_MISLED = ("float", "timestamp")
"""Types that pyorc is not asked about: of floats, bounds are recorded before the values are rounded; a lower bound of a
timestamp with a part of a millisecond rules its own row out, and Python's datetimes do not show its nanoseconds."""


def pyarrow_reads_the_same(file: Opened) -> None:
    if file.name in NULL_KEYS:
        pytest.skip("pyarrow ends the process for null keys")
    found, ours = file.cpp_rows, file.subject.whole()
    if isinstance(found, Exception):
        raise found
    assert found.num_rows == ours.num_rows
    rows = pa.array(range(0, found.num_rows, found.num_rows // 1500 + 1), pa.int64())
    canonical, difference = comparison().canonical, comparison().difference
    for title, theirs, column in zip(ours.column_names, found.columns, ours.columns, strict=True):
        if theirs.type == column.type and theirs.equals(column):
            continue
        for row, got, want in zip(rows, canonical(theirs.take(rows)), canonical(column.take(rows)), strict=True):
            assert difference(got, want) is None, (title, row)


def _has_names_once(file: Opened) -> None:
    names = file.subject.whole().column_names
    if len({*names}) < len(names):
        pytest.skip("names of columns are there twice")


def _shape(file: Opened, row: Any) -> Any:
    """A row of pyorc: a file whose root is no struct has one column."""
    return same_form(row) if file.is_struct else {file.subject.whole().column_names[0]: same_form(row)}


def pyorc_reads_the_same(file: Opened) -> None:
    _has_names_once(file)
    reader = rows_of(file.path.read_bytes())
    assert len(reader) == file.num_rows
    if file.num_rows > MAX_ROWS:
        pytest.skip("too many rows")
    ours = file.subject.whole()
    columns = [[same_form(value) for value in column.to_pylist()] for column in ours.columns]
    whole = [_shape(file, row) for row in reader]
    assert len(whole) == file.num_rows
    for at, (got, *values) in enumerate(zip(whole, *columns, strict=True)):
        assert got == (dict(zip(ours.column_names, values, strict=True)) or []), at


def pyorc_reads_the_same_after_seeks(file: Opened) -> None:
    _has_names_once(file)
    ours, data, rng = file.subject.whole(), file.path.read_bytes(), seeded(file.name)
    sought = 0
    for _ in range(cases(min(file.num_rows, SEEKS))):
        at = rng.randrange(file.num_rows)
        # One that has been elsewhere may be wrong: see test_peers_read.PEER_FAULTS.
        reader = rows_of(data)
        try:
            reader.seek(at)
            for row in range(at, min(file.num_rows, at + 3)):
                want = {name: same_form(ours[name][row].as_py()) for name in ours.column_names} or []
                assert _shape(file, next(reader)) == want, row
                sought += 1
        except pyorc.errors.ParseError as error:
            if str(error) != SKIP:
                raise
    if not sought:
        pytest.skip("no row, or none that pyorc finds")


def leaves_of(subject: Subject) -> dict[str, Leaf]:
    """Simple columns at the top, for conditions that peers know; none of a file whose days Python does not have."""
    found = {}
    paths = subject.file.column_paths
    whole = subject.whole()
    for name in whole.column_names:
        # Spark knows names whatever their case.
        if [each.lower() for each in paths].count(name.lower()) != 1 or not re.fullmatch("[a-zA-Z]\\w*", name):
            continue
        id = paths.index(name)
        orc, kind = subject.file.column_types[id], whole[name].type
        try:
            values = whole[name].to_pylist()
        except OverflowError:
            return {}
        there = [value for value in values if value is not None and value == value]
        if there and not pa.types.is_nested(kind) and orc.partition("(")[0] in PYORC and not orc.startswith("char"):
            found[name] = Leaf(name, Kind(kind, orc, of(*there)), id, values)
    return found


def question(file: Opened, *, spark: bool) -> tuple[dict[str, Leaf], Any] | None:
    """Columns of a file that is not too large, and a condition on some of them."""
    if not 0 < file.num_rows <= MAX_ROWS or not file.is_struct:
        return None
    by_name = leaves_of(file.subject)
    if not spark:
        by_name = {
            key: leaf for key, leaf in by_name.items() if askable(leaf) and not leaf.kind.orc.startswith(PYORC_MISLED)
        }
    rng = seeded(file.name)
    tree = conditions(rng, list(by_name.values())) if by_name else None
    while spark and tree and not finite(tree):
        tree = conditions(rng, list(by_name.values()))
    return tree and (by_name, tree)


def pyorc_finds_all_rows_of_a_condition(file: Opened) -> None:
    found = question(file, spark=False)
    if found is None:
        pytest.skip("no column that both can ask, or too many rows")
    by_name, tree = found
    names = [*dict.fromkeys(name_of(each) for each in asked(tree))]
    rows = rows_of(file.path.read_bytes(), predicate=for_pyorc(tree, by_name), column_names=names)
    got = Counter(repr([same_form(row[name]) for name in names]) for row in rows)
    matching = file.subject.whole().select(names).take(file.subject.rows(tree, {}))
    want = Counter(repr([same_form(row[name]) for name in names]) for row in matching.to_pylist())
    assert not want - got, tree
