"""Folders, pipes and names that commands refuse, with errors that say what they are."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orcish
import pyarrow as pa
import pytest

Run = Callable[..., tuple[int, list[str], str]]
ROWS = pa.table({"id": [1, 2]})


@pytest.mark.parametrize("place", ["local", "s3"])
@pytest.mark.parametrize("verb", [["history"], ["vacuum"], ["recover"], ["recover", "--undo"], ["compact"]])
def test_folders_that_are_missing(verb: list[str], place: str, store: Any, tmp_path: Path, run: Run) -> None:
    """A folder without a log is none of them."""
    base = str(tmp_path) if place == "local" else "s3://shelf"
    options = {} if place == "local" else store.options
    storage = [f"--storage-option={name}={value}" for name, value in options.items()]
    os.mkdir(tmp_path / "plain")
    orcish.write_table(ROWS, f"{base}/plain/a.orc", storage_options=options)
    orcish.write_dataset(ROWS, f"{base}/t", storage_options=options)
    code, lines, err = run(*verb, f"{base}/nix", *storage)
    assert (code, lines) == (1, [])
    assert f"{base}/nix" in err
    if verb != ["compact"]:
        assert err == f"orcish: no such folder: {base}/nix\n"
    for folder in ("plain", "t"):
        # A folder without a log has no history.
        assert run(*verb, f"{base}/{folder}", *storage)[0] == (verb == ["history"] and folder == "plain")


@pytest.mark.parametrize("ending", ["orc", "parquet", "csv", "jsonl", "json.gz", "arrow", "arrows"])
@pytest.mark.parametrize(
    "command", [["json-schema"], ["convert"], ["count"], ["recover", "--dry-run"], ["diff"]], ids=str
)
def test_files_that_are_missing(
    command: list[str], ending: str, tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    more = ["new.orc"] if command[0] in ("convert", "diff") else []
    code, lines, err = run(*command, f"nope.{ending}", *more)
    assert (code, lines) == (2 if command[0] in ("diff", "recover") else 1, [])
    assert err.startswith(f"orcish: nope.{ending}: ")
    assert err.endswith(": No such file or directory\n")
    assert os.listdir() == []


@pytest.mark.parametrize("source", ["d", "d/", "d/*", "link", "d/a.orc d", "d/**/*"])
@pytest.mark.parametrize("target", ["d/p.html", "link/p.html", "d/sub/p.html"])
def test_pages_in_their_source(
    source: str, target: str, tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    os.makedirs("d/sub")
    os.makedirs("d/_reports")
    os.symlink("d", "link")
    orcish.write_table(ROWS, "d/a.orc")
    code, lines, err = run("layout", *source.split(), "-o", target)
    if "/sub" in target and source == "d/*":
        # The pattern has the files of folders that match it.
        assert "in the source" in err
    assert (code, lines) == (1, [])
    assert f"{target}: the target is in the source " in err
    assert sorted(os.listdir("d")) == ["_reports", "a.orc", "sub"]
    for hidden in ("d/_reports/p.html", "d/.p.html", "p.html"):
        assert run("layout", *source.split(), "-o", hidden)[0] == 0
    assert orcish.scan("d").count() == 2


@pytest.mark.parametrize("name", ["m.parquet", "m.csv", "m.csv.gz", "m.jsonl", "m.arrow", "M.PARQUET"])
@pytest.mark.parametrize("verb", ["merge", "recover", "rewrite"])
def test_names_of_other_formats(verb: str, name: str, tmp_path: Path, run: Run) -> None:
    source, target = tmp_path / "a.orc", tmp_path / name
    orcish.write_table(ROWS, source)
    code, lines, err = run(verb, source, "-o", target)
    assert (code != 0, lines) == (True, [])
    assert err == f"orcish: {target}: {verb} writes ORC: convert writes other formats\n"
    assert not target.exists()


@pytest.mark.parametrize(
    "command",
    [
        ["rewrite", "a.orc", "-o", "pipe"],
        ["rewrite", "a.orc", "-o", "pipe", "--existing-data=overwrite"],
        ["convert", "a.orc", "pipe"],
        ["convert", "a.csv", "pipe", "--existing-data", "append"],
        ["compact", "pipe"],
        ["history", "pipe"],
    ],
    ids=" ".join,
)
def test_pipes_are_no_folders(command: list[str], tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    os.mkfifo("pipe")
    orcish.write_table(ROWS, "a.orc")
    Path("a.csv").write_text("id\n1\n")
    code, lines, err = run(*command)
    assert (code, lines) == (1, [])
    assert "pipe: the path is a pipe (FIFO), and no folder" in err
    assert sorted(os.listdir()) == ["a.csv", "a.orc", "pipe"]


@pytest.mark.parametrize("order", [["t", "a.orc"], ["a.orc", "t"]], ids=str)
@pytest.mark.parametrize("command", [["convert"], ["rewrite", "-o"]], ids=str)
def test_tables_of_other_partitions_are_not_written_together(
    command: list[str], order: list[str], tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No order of them helps."""
    monkeypatch.chdir(tmp_path)
    orcish.write_table(ROWS, "a.orc")
    orcish.write_dataset(ROWS.append_column("day", [["x", "y"]]), "t", partition_by=["day"])
    code, lines, err = run(command[0], *order, *command[1:], "new.orc")
    assert (code, lines) == (1, [])
    assert " them one by one" in err
    assert " first" not in err


@pytest.mark.parametrize(
    "given",
    [
        ["data", ""],
        ["count", "a.orc", ""],
        ["diff", "a.orc", ""],
        *([command, "a.orc", "-o", ""] for command in ("merge", "rewrite", "recover", "layout")),
        ["convert", "a.orc", ""],
        ["convert", "", "b.orc"],
        ["delete", "", "--where", "id = 1"],
        ["history", ""],
        ["vacuum", ""],
    ],
    ids=" ".join,
)
def test_empty_names(given: list[str], tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Shells make them of variables that are not set."""
    monkeypatch.chdir(tmp_path)
    orcish.write_table(ROWS, "a.orc")
    text = "orcish: the name of a file or table is empty: give one, such as ./a.orc\n"
    assert run(*given) == (2, [], text)
    assert os.listdir() == ["a.orc"]
