"""Transactional tables of Hive are no plain folders: which rows are there is not told by the files alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orcish
import pyarrow as pa
import pytest
from orcish.cli import main
from support.conformance_pack import PACK

ROWS = pa.table({"id": [1, 2, 3]})
ACID = PACK.parent / "acid" / "tables"
NAMES = ["base_0000005", "base_0000005_v0000012", "delta_0000001_0000001", "delete_delta_0000002_0000002_0000"]
VERBS = {
    "scan": lambda path: orcish.scan(path).to_table(),
    "read_table": orcish.read_table,
    "count": lambda path: orcish.scan(path).count(),
    "dataset": lambda path: orcish.dataset(path).to_table(),
    "splits": lambda path: orcish.scan(path).splits(),
    "convert": lambda path: orcish.convert(path, path.parent / "other"),
    "check": lambda path: _shell("check", path),
    "data": lambda path: _shell("data", path),
    "merge": lambda path: _shell("merge", path, "-o", path.parent / "merged.orc"),
    "rewrite": lambda path: _shell("rewrite", path, "--in-place"),
    "sql": lambda path: _shell("sql", f"select count(*) from '{path}'"),
}


class ShellError(Exception):
    """The exit code and the errors of a command."""


def _shell(*arguments: Any) -> None:
    code = main([str(argument) for argument in arguments])
    if code:
        raise ShellError(code)


@pytest.fixture(params=NAMES)
def table(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    (tmp_path / "t" / "day=1" / request.param).mkdir(parents=True)
    orcish.write_table(ROWS, tmp_path / "t" / "day=1" / request.param / "bucket_00000")
    return tmp_path / "t"


@pytest.mark.parametrize("verb", VERBS)
def test_they_are_refused(verb: str, table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = sorted((path, path.stat().st_mtime_ns) for path in table.parent.rglob("*"))
    with pytest.raises((orcish.UnsupportedError, ShellError)) as raised:
        VERBS[verb](table)
    text = str(raised.value) + capsys.readouterr().err
    assert "transactional table of Hive" in text
    assert str(table) in text
    assert sorted((path, path.stat().st_mtime_ns) for path in table.parent.rglob("*")) == before


def test_patterns_and_single_folders_read_the_files_as_they_are(table: Path) -> None:
    assert orcish.scan(f"{table}/*/*/*").count() == 3
    (folder,) = (table / "day=1").iterdir()
    assert orcish.scan(folder).count() == 3
    assert orcish.scan(folder / "bucket_00000").count() == 3


@pytest.mark.skipif(not ACID.is_dir(), reason="the pack of transactional tables is not there")
def test_tables_of_hive() -> None:
    tables = [path for path in ACID.glob("*/table") if any(path.rglob("*delta_*")) or any(path.rglob("base_*"))]
    assert len(tables) > 20
    for path in tables:
        with pytest.raises(orcish.UnsupportedError, match="transactional table of Hive"):
            orcish.scan(path).count()
