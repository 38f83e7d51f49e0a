"""Rows of files with very many stripes: each part of a scan is opened by itself, and decodes the tail again."""

from __future__ import annotations

from pathlib import Path

import orcish
import pytest
from support import orc_builder
from support.case_loops import each_case
from support.processes import run_python

STRIPES = 5_000
MIB = 1 << 20


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    types = [orc_builder.column_type(orc_builder.STRUCT, [1], ["id"]), orc_builder.column_type(orc_builder.LONG)]
    streams = [(1, orc_builder.DATA, orc_builder.zeros(1))]
    path = tmp_path_factory.mktemp("many") / "a.orc"
    path.write_bytes(orc_builder.orc(types, [(512, streams)], repeat=STRIPES))
    return path


@each_case("use", ["sample(3, seed=1)", "tail(3)", "where(condition).sample(3)", "where(condition).tail(3)"])
def test_memory_and_work_do_not_grow_with_the_square_of_the_stripes(use: str, path: Path) -> None:
    code = f"""
        import resource, sys, orcish
        from orcish.reading.scan_reader import ScanReader
        condition = orcish.col("id") >= 0
        opened, own = [], ScanReader.__init__
        ScanReader.__init__ = lambda self, *given: (opened.append(1), own(self, *given))[1]
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        assert orcish.scan(sys.argv[1]).{use}.num_rows == 3
        print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before, len(opened))
    """
    kilobytes, opened = map(int, run_python(code, str(path)).split())
    assert kilobytes * 1024 < 150 * MIB
    assert opened < 1_000


def test_samples_of_many_stripes_are_even(path: Path) -> None:
    """Each row is as likely in large parts as in parts of one stripe."""
    rows = orcish.scan(path, row_number="row").sample(2_000, seed=3)["row"].to_pylist()
    assert len(set(rows)) == 2_000
    assert rows == sorted(rows)
    quarters = [sum(row * 4 // (STRIPES * 512) == quarter for row in rows) for quarter in range(4)]
    assert min(quarters) > 400
