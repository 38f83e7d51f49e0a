"""Random tables that orcish writes under random options are what pyarrow and pyorc read, by seeks and predicates too."""

from __future__ import annotations

import io
import random
from typing import Any

import orcish
import pyarrow.orc
import pyorc
from support.orc_cpp import SKIP, check_column, rows_of, same_form
from support.peer_cases import ZONES, random_table, right_rows, told, writing
from support.peer_predicates import Leaf, askable, asked, conditions, for_pyorc, leaves, name_of
from support.random_cases import random_cases
from support.random_tables import ROW, Table, far_moments, moments
from support.writer_tables import written

PEER_FAULTS = [
    # (peer, what, where it comes from)
    ("pyorc", "direct strings without bytes before the row", "see peer_cpp.SKIP"),
    (
        "pyorc",
        "a reader that has been elsewhere fails after a seek, has other values, or ends the process",
        "a reader that is new has the right ones at the very same rows; files of pyorc with strings have it, too",
    ),
    (
        "pyorc",
        "predicates on timestamps before 1970 with a fraction lose rows, in files of its own too",
        "bounds in milliseconds are divided by 1,000 towards zero, so that seconds and nanoseconds do not belong together",
    ),
    (
        "pyarrow, pyorc",
        "fractions near 1970 in files of other zones are a second off",
        "whether a second was rounded is asked of the reader's clock and not of the instant; mended in ORC after 2.3",
    ),
    ("pyarrow, pyorc", "clocks of zones before 1900", "the rules of zones are those of another data base of zones"),
]
"""What peers are known to do wrong, and the tests keep clear of."""


class Case:
    """A table, and the file that orcish writes of it."""

    def __init__(self, rng: random.Random) -> None:
        zone = rng.choice(ZONES)
        self.table: Table = random_table(rng, moment=moments if zone == "UTC" else far_moments)
        self.arrow = self.table.arrow()
        self.leaves = {leaf.name: leaf for leaf in leaves(self.table)}
        self.options = writing(rng, list(self.leaves.values()), zone=zone)
        self.file = written(self.arrow, **self.options)
        self.columns = {name: [same_form(value) for value in self.table.column(name)] for name in self.table.kinds}

    def askable(self) -> list[Leaf]:
        return [leaf for leaf in self.leaves.values() if askable(leaf)]

    def says(self, **more: Any) -> str:
        return told(schema=self.table.orc, rows=self.table.rows, options=self.options, **more)


def test_pyarrow_reads_what_orcish_writes() -> None:
    for _, rng in random_cases("pyarrow reads", 60):
        case = Case(rng)
        try:
            file = pyarrow.orc.ORCFile(io.BytesIO(case.file))
            whole = file.read()
            for name, want in case.columns.items():
                check_column(name, whole[name].to_pylist(), want)
            first = 0
            for at in range(file.nstripes) if file.nstripes <= 20 else rng.sample(range(file.nstripes), 5):
                part = file.read_stripe(at)
                first = orcish.ORCFile(case.file).stripes[at].first_row
                assert part.num_rows == orcish.ORCFile(case.file).stripes[at].num_rows
                assert part["row"].to_pylist() == list(range(first, first + part.num_rows))
        except Exception as error:
            raise AssertionError(case.says()) from error


def test_pyorc_reads_what_orcish_writes() -> None:
    """pyorc reads all rows, then rows after seeks."""
    for _, rng in random_cases("pyorc reads", 60):
        case = Case(rng)
        try:
            rows = list(rows_of(case.file, batch_size=rng.choice([1, 7, 1000, 1024, 5000])))
            assert len(rows) == case.table.rows
            for name, want in case.columns.items():
                check_column(name, (row[name] for row in rows), want)
            if case.table.rows:
                check_seeks(rng, case)
        except Exception as error:
            raise AssertionError(case.says()) from error


def check_seeks(rng: random.Random, case: Case) -> None:
    rows, stride = case.table.rows, case.options["row_index_stride"] or 1000
    edges = [at + by for at in range(0, rows, stride) for by in (-1, 0, 1, 9) if 0 <= at + by < rows]
    picked = [*rng.sample(edges, min(len(edges), 12)), *(rng.randrange(rows) for _ in range(8)), rows - 1, 0]
    for name, want in case.columns.items():
        batch = rng.choice([1, 10, 1024])
        for row in picked:
            # See PEER_FAULTS.
            reader = rows_of(case.file, column_names=[name], batch_size=batch)
            try:
                whence = rng.choice([0, 1, 2])
                reader.seek({0: row, 1: row - reader.current_row, 2: row - rows}[whence], whence)
                for at in range(row, min(rows, row + rng.choice([1, 2, 30]))):
                    assert same_form(next(reader)[name]) == want[at], (name, row, at)
            except pyorc.errors.ParseError as error:
                if str(error) != SKIP:
                    raise


def test_pyorc_asks_what_orcish_writes() -> None:
    """pyorc with a predicate returns row groups that include all matching rows."""
    fewer = 0
    for _, rng in random_cases("pyorc asks", 60):
        case = Case(rng)
        for _ in range(10):
            tree = conditions(rng, case.askable())
            want = {*right_rows(tree, case.arrow)}
            beside = rng.sample(list(case.columns), min(len(case.columns), 2))
            names = [*dict.fromkeys([ROW, *(name_of(each).partition(".")[0] for each in asked(tree)), *beside])]
            try:
                rows = list(rows_of(case.file, predicate=for_pyorc(tree, case.leaves), column_names=names))
                found = [row[ROW] for row in rows]
                assert found == sorted({*found})
                assert want <= {*found}, f"missing {sorted(want - {*found})[:5]}"
                for row in rng.sample(rows, min(len(rows), 200)):
                    for name in names:
                        assert same_form(row[name]) == case.columns[name][row[ROW]], (name, row[ROW])
                fewer += len(rows) < case.table.rows
            except Exception as error:
                if isinstance(error, pyorc.errors.ParseError) and str(error) == SKIP:
                    continue
                raise AssertionError(case.says(tree=tree)) from error
    assert fewer
