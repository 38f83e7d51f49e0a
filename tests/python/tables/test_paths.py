"""Paths in tables: folders of partitions, patterns, and paths of which there is no table."""

from __future__ import annotations

import os
import pathlib
from collections.abc import Callable
from typing import Any

import orcish
import pyarrow as pa
import pytest
from orcish_cli import main

ROWS = pa.table({"id": [1, 2, 3], "day": ["a", "a", "b"], "hour": [7, 8, 7]})


@pytest.fixture
def table(tmp_path: pathlib.Path) -> pathlib.Path:
    """A table with a log and two partition columns."""
    orcish.write_dataset(ROWS, tmp_path / "t", partition_by=["day", "hour"])
    return tmp_path / "t"


READERS: dict[str, Callable[[str], list[dict[str, Any]]]] = {
    "scan": lambda path: orcish.scan(path).to_table().to_pylist(),
    "read_table": lambda path: orcish.read_table(path).to_pylist(),
    "list": lambda path: orcish.read_table([path]).to_pylist(),
    "splits": lambda path: [
        row for split in orcish.scan(path).splits(1) for row in split.scan().to_table().to_pylist()
    ],
    "polars": lambda path: orcish.scan_polars(path).collect().to_dicts(),
}


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize(
    ("inside", "ids"),
    [
        ("", [1, 2, 3]),
        ("day=a", [1, 2]),
        ("day=a/", [1, 2]),
        ("day=a/hour=8", [2]),
        ("day=*", [1, 2, 3]),
        ("day=a/*", [1, 2]),
        ("day=a/hour=7/*.orc", [1]),
        ("**/*.orc", [1, 2, 3]),
    ],
)
def test_a_partition_has_the_columns_of_its_table(
    table: pathlib.Path, monkeypatch: pytest.MonkeyPatch, reader: str, inside: str, ids: list[int]
) -> None:
    """Whatever the spelling of the path is."""
    want = [row for row in ROWS.to_pylist() if row["id"] in ids]
    link = table.parent / "link"
    link.symlink_to(table)
    for base in (str(table), f"file://{table}", str(link)):
        assert sorted(READERS[reader](f"{base}/{inside}"), key=lambda row: row["id"]) == want
    monkeypatch.chdir(table.parent)
    assert sorted(READERS[reader](f"t/{inside}"), key=lambda row: row["id"]) == want


def test_the_working_directory_is_a_partition(table: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The table is found above it."""
    monkeypatch.chdir(table / "day=a")
    for path in (".", "hour=7", "*/*.orc"):
        found = orcish.read_table(path)
        assert (found.schema.names, set(found["day"].to_pylist())) == (["id", "day", "hour"], {"a"})


def test_columns_of_a_partition_can_be_chosen(table: pathlib.Path) -> None:
    """They are filtered by, counted, and left out, as those of the table."""
    path = table / "day=a"
    assert orcish.scan(path, filters="day = 'b'").count() == 0
    assert orcish.scan(path, filters="day = 'a' and hour = 8").count() == 1
    assert orcish.scan(path).max("day") == "a"
    assert orcish.read_table(path, partitions=False).schema.names == ["id"]
    assert orcish.read_table(path, partitions=True).schema.names == ["id", "day", "hour"]
    # A file is that file.
    file = next(path.rglob("*.orc"))
    assert orcish.read_table(file).schema.names == ["id"]
    assert orcish.read_table(file, partitions=True).schema.names == ["id", "day", "hour"]


def test_a_partition_in_the_shell(table: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It prints the column of the path."""
    assert main(["data", "--json", str(table / "day=b")]) == 0
    assert capsys.readouterr().out == '{"id": 3, "day": "b", "hour": 7}\n'


def test_a_converted_partition_keeps_its_column(table: pathlib.Path) -> None:
    """It is a partition of the copy, too."""
    orcish.convert(table / "day=b", table.parent / "copy")
    assert orcish.read_table(table.parent / "copy").to_pylist() == ROWS.slice(2).to_pylist()


def test_plain_folders_have_the_columns_below_the_path(tmp_path: pathlib.Path) -> None:
    """Without a log, nothing says where the table begins."""
    folder = tmp_path / "t" / "day=a" / "hour=7"
    folder.mkdir(parents=True)
    orcish.write_table(ROWS.select(["id"]), folder / "f.orc")
    assert orcish.read_table(tmp_path / "t" / "day=a").schema.names == ["id", "hour"]
    assert orcish.read_table(tmp_path / "t" / "day=a", partitions=True).schema.names == ["id", "day", "hour"]


@pytest.mark.parametrize("pattern", ["tabel/*.orc", "t/*.orc", "t/day=x*", "t/day=a/h*/*.orcc", "t/**/none"])
@pytest.mark.parametrize(
    "call",
    [
        orcish.read_table,
        orcish.scan,
        lambda path: orcish.scan_polars(path).collect(),
        lambda path: orcish.convert(path, "copy"),
        lambda path: orcish.read_table(["t", path]),
        lambda path: orcish.read_table([path, "t"]),
    ],
)
def test_patterns_match_files(
    table: pathlib.Path, monkeypatch: pytest.MonkeyPatch, pattern: str, call: Callable[[str], Any]
) -> None:
    """A misspelt pattern is no table without rows."""
    monkeypatch.chdir(table.parent)
    with pytest.raises(FileNotFoundError, match="nothing matches the pattern") as caught:
        call(pattern)
    assert repr(pattern) in str(caught.value)
    assert not os.path.exists("copy")


@pytest.mark.parametrize("command", [["data"], ["meta"], ["convert"]])
def test_patterns_match_files_in_the_shell(
    table: pathlib.Path, capsys: pytest.CaptureFixture[str], command: list[str]
) -> None:
    """The pattern is named."""
    pattern = str(table / "*.orcc")
    target = [str(table.parent / "copy")] if command == ["convert"] else []
    assert main([*command, pattern, *target]) == 1
    assert f"no files: {pattern!r}: nothing matches" in capsys.readouterr().err


VERBS: dict[str, Callable[[Any], Any]] = {
    "history": orcish.history,
    "vacuum": orcish.vacuum,
    "recover": orcish.recover,
    "compact": orcish.compact,
    "delete": lambda path: orcish.delete(path, "id = 1"),
}


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("scheme", ["", "file://"])
def test_verbs_of_tables_take_folders(table: pathlib.Path, verb: str, scheme: str) -> None:
    """A file is no table, even if it is in one, and neither is a folder that is not there."""
    files = [next(table.rglob("*.orc")), table.parent / "other.orc"]
    orcish.write_table(ROWS, files[1])
    for file in files:
        with pytest.raises(NotADirectoryError, match="is a file, and no folder: a table is given by its folder"):
            VERBS[verb](f"{scheme}{file}")
    for missing in (table.parent / "tabel", table.parent / "tabel" / "day=a", table / "day=z"):
        with pytest.raises(FileNotFoundError, match=r"no such folder: .*(tabel|day=z)"):
            VERBS[verb](f"{scheme}{missing}")
    assert orcish.read_table(table).num_rows == 3
    assert not (table.parent / "tabel").exists()


@pytest.mark.parametrize("verb", VERBS)
def test_verbs_of_tables_in_the_shell(table: pathlib.Path, capsys: pytest.CaptureFixture[str], verb: str) -> None:
    """The error is one line."""
    options = ["--filters", "id = 1"] if verb == "delete" else []
    for path, text in ((next(table.rglob("*.orc")), "is a file, and no folder"), (table / "x", "no such folder")):
        # Files have an option of recover.
        assert main([verb, str(path), *options]) == (2 if verb == "recover" and path.is_file() else 1)
        assert text in capsys.readouterr().err.splitlines()[-1]


@pytest.mark.parametrize("limit", [0, 1, 2, 10**12, 2**63, 2**64 - 1])
def test_any_number_of_commits_can_be_asked_for(table: pathlib.Path, limit: int) -> None:
    """There are as many as there are."""
    orcish.write_dataset(ROWS, table, partition_by=["day", "hour"], existing_data="append")
    assert len(orcish.history(table, limit=limit)) == min(limit, 2)


@pytest.mark.parametrize("limit", [-1, 2**64, 2**99])
def test_numbers_out_of_range(table: pathlib.Path, limit: int) -> None:
    """They are errors that name the argument, whichever it is."""
    with pytest.raises(ValueError, match=f"limit={limit}: "):
        orcish.history(table, limit=limit)
    with pytest.raises(ValueError, match=f"limit={limit}: "):
        orcish.read_table(table, limit=limit)
    for option in ("max_rows_per_file", "max_open_files", "max_memory"):
        given: Any = {option: limit}
        with pytest.raises(ValueError, match=f"{option}={limit}: "):
            orcish.write_dataset(ROWS, table, existing_data="overwrite", **given)


@pytest.mark.parametrize(
    "call",
    [
        *VERBS.values(),
        lambda path: orcish.write_dataset(ROWS, path),
        lambda path: orcish.convert("t", path),
    ],
)
@pytest.mark.parametrize("path", [b"t", 7, None, ["t"]])
def test_paths_are_text(
    table: pathlib.Path, monkeypatch: pytest.MonkeyPatch, call: Callable[[Any], Any], path: Any
) -> None:
    """Others are errors that say so, and how bytes become text."""
    monkeypatch.chdir(table.parent)
    with pytest.raises(TypeError, match=r"a path or URL is text or a pathlib\.Path, not") as caught:
        call(path)
    assert ("os.fsdecode" in str(caught.value)) == isinstance(path, bytes)


def test_a_colon_in_a_name(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """``file:`` with a slash is a URL; without one, it is a part of a name, to all functions."""
    monkeypatch.chdir(tmp_path)
    for name, value in (("file:a.orc", 1), ("a.orc", 2)):
        orcish.write_table(pa.table({"id": [value]}), name)
    orcish.write_dataset(pa.table({"id": [3]}), "file:t")
    assert sorted(os.listdir()) == ["a.orc", "file:a.orc", "file:t"]
    for read in READERS.values():
        assert read("file:a.orc") == [{"id": 1}]
        assert read("file:t") == [{"id": 3}]
        assert read(f"file:{tmp_path}/a.orc") == [{"id": 2}]
