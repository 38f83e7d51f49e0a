"""Relative paths after a change of the working directory."""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orcish
import pyarrow as pa
import pytest
from orcish import col
from orcish.types import ExistingFile


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory, with a table."""
    for day in range(3):
        path = tmp_path / "t" / f"day={day}" / "a.orc"
        path.parent.mkdir(parents=True)
        orcish.write_table(pa.table({"id": [day] * 3}), path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


USES: dict[str, Callable[[Any], Any]] = {
    "rows": lambda scan: scan.to_table()["id"].to_pylist(),
    "a filter": lambda scan: scan.where(col("id") >= 0).select("id").to_table()["id"].to_pylist(),
    "a count": lambda scan: [0] * scan.count(),
    "an aggregate": lambda scan: [0] * (scan.max("id") + 7),
    "a plan": lambda scan: [0] * (3 * len(scan.explain().files)),
    "splits": lambda scan: [at for split in scan.splits() for at in split.scan().to_table()["id"].to_pylist()],
    "a pickle": lambda scan: pickle.loads(pickle.dumps(scan)).to_table()["id"].to_pylist(),
    "pickled splits": lambda scan: [
        at for split in pickle.loads(pickle.dumps(scan.splits())) for at in split.scan().to_table()["id"].to_pylist()
    ],
}


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("source", ["t", "t/", "./t", "t/*/*.orc", "t/../t"])
def test_scans(folder: Path, source: str, use: str) -> None:
    scan = orcish.scan(source)
    used = orcish.scan(source)
    assert USES[use](used) is not None
    os.chdir("/")
    for each in (scan, used):
        assert len(USES[use](each)) == 9
        assert len(each.files) == 3


def test_what_was_made_before(folder: Path) -> None:
    """Splits, pickles, datasets and files that were made in the other working directory."""
    scan = orcish.scan("t")
    splits, pickled = scan.splits(), pickle.dumps(scan)
    dataset = orcish.dataset("t")
    file = orcish.ORCFile("t/day=1/a.orc")
    lazy = orcish.scan_polars("t") if hasattr(orcish, "scan_polars") else None
    os.chdir("/")
    assert [split.scan().count() for split in splits] == [3, 3, 3]
    assert sum(split.scan().to_table().num_rows for split in pickle.loads(pickle.dumps(splits))) == 9
    assert pickle.loads(pickled).count() == 9
    assert dataset.count_rows() == 9
    assert sum(part.to_table().num_rows for part in dataset.get_fragments()) == 9
    assert pickle.loads(pickle.dumps(file)).read()["id"].to_pylist() == [1, 1, 1]
    if lazy is not None:
        assert lazy.collect().height == 9


def test_another_process(folder: Path, another_process: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """It has another working directory."""
    scan = orcish.scan("t")
    another_process.submit(os.chdir, "/").result()
    assert another_process.submit(orcish.Scan.count, scan).result() == 9
    monkeypatch.chdir("/")
    assert another_process.submit(orcish.Scan.count, scan).result() == 9


def test_names_of_missing_files(folder: Path) -> None:
    # With a schema, a file is first opened when it is read.
    scan = orcish.scan("t", schema=orcish.scan("t").schema)
    os.chdir("/")
    (folder / "t/day=1/a.orc").unlink()
    with pytest.raises(FileNotFoundError, match=rf"{folder}/t/day=1/a\.orc"):
        scan.to_table()


def test_a_removed_working_directory(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Absolute paths do not need one."""
    gone = tmp_path_factory.mktemp("gone")
    os.chdir(gone)
    gone.rmdir()
    try:
        scan = orcish.scan(folder / "t")
        assert pickle.loads(pickle.dumps(scan)).count() == 9
        assert orcish.ORCFile(folder / "t/day=1/a.orc").num_rows == 3
    finally:
        os.chdir(folder)


@pytest.mark.parametrize("name", ["a.orc", "sub/../a.orc", "sub/a.orc", "link.orc"])
@pytest.mark.parametrize("existing_data", ["overwrite", "error"])
def test_files_that_are_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, existing_data: ExistingFile
) -> None:
    """They appear in the folder in which they were begun."""
    (tmp_path / "sub").mkdir()
    if existing_data == "overwrite":
        (tmp_path / "link.orc").symlink_to("sub/linked.orc")
    monkeypatch.chdir(tmp_path)
    rows = pa.table({"id": [1]})
    with orcish.ORCWriter(name, rows.schema, existing_data=existing_data) as writer:
        writer.write(rows)
        os.chdir(tmp_path / "sub")
    assert orcish.read_table(tmp_path / name).equals(rows)
    assert list(tmp_path.rglob(".*")) == []
