"""Tables without rows, and folders of which there is no table yet."""

from __future__ import annotations

import pathlib
from typing import Any

import orcish
import pyarrow as pa
import pytest
from orcish.errors import CommitError
from orcish.tables.target import DatasetTarget
from orcish_cli import main
from support.case_loops import each_case

ROWS = pa.table({"id": [1, 2], "k": ["x", "y"]})
NOTHING = ROWS.slice(0, 0)


@each_case("by", [[], ["k"]])
@each_case("existing_data", ["error", "append", "overwrite", "overwrite_partitions"])
def test_a_new_table_without_rows(tmp_path: pathlib.Path, by: list[str], existing_data: Any) -> None:
    """Each verb makes a table with the columns of the rows."""
    table = tmp_path / "t"
    if existing_data == "overwrite_partitions" and not by:
        pytest.skip("there are no partitions")
    orcish.write_dataset(NOTHING, table, partition_by=by, existing_data=existing_data)
    assert (orcish.read_table(table).num_rows, orcish.scan(table).schema) == (0, NOTHING.schema)
    assert orcish.scan_polars(table).collect().shape == (0, 2)
    assert [commit.rows_added for commit in orcish.history(table)] == [0]
    with pytest.raises(FileExistsError):
        orcish.write_dataset(ROWS, table, partition_by=by)
    with pytest.raises(ValueError, match="column id"):
        orcish.write_dataset(pa.table({"id": ["a"], "k": ["b"]}), table, partition_by=by, existing_data="append")
    orcish.write_dataset(ROWS, table, partition_by=by, existing_data="append")
    assert orcish.read_table(table).sort_by("id").equals(ROWS)


@each_case("by", [[], ["k"]])
@each_case("existing_data", ["append", "overwrite_partitions"])
def test_rows_that_are_none_change_no_table(tmp_path: pathlib.Path, by: list[str], existing_data: Any) -> None:
    """There is no file, no commit and no column more, whether the table has rows or not."""
    table = tmp_path / "t"
    if existing_data == "overwrite_partitions" and not by:
        pytest.skip("there are no partitions")
    orcish.write_dataset(ROWS, table, partition_by=by)
    more = NOTHING.append_column("more", pa.array([], pa.int8()))
    for rows in (ROWS, NOTHING):
        before = (orcish.history(table), sorted(table.rglob("*.orc")))
        assert orcish.write_dataset(more, table, partition_by=by, existing_data=existing_data) == []
        assert (orcish.history(table), sorted(table.rglob("*.orc"))) == before
        assert orcish.read_table(table).sort_by("id").equals(rows)
        orcish.delete(table, "true")


@each_case("by", [[], ["k"]])
def test_an_overwrite_without_rows(tmp_path: pathlib.Path, by: list[str]) -> None:
    """All rows are replaced by none, of the new columns."""
    table = tmp_path / "t"
    orcish.write_dataset(ROWS, table, partition_by=by)
    other = pa.table({"other": pa.array([], pa.float32()), "k": pa.array([], pa.string())})
    orcish.write_dataset(other, table, partition_by=by, existing_data="overwrite")
    assert (orcish.read_table(table).num_rows, orcish.scan(table).schema) == (0, other.schema)


@each_case("by", [[], ["k"]])
def test_a_table_without_rows_is_no_free_folder(tmp_path: pathlib.Path, by: list[str]) -> None:
    """Its columns are replaced on request only."""
    table = tmp_path / "t"
    orcish.write_dataset(ROWS, table, partition_by=by)
    orcish.delete(table, "true")
    other = tmp_path / "other.orc"
    orcish.write_table(ROWS, other)
    for write in (lambda: orcish.write_dataset(pa.table({"z": ["q"]}), table), lambda: orcish.convert(other, table)):
        with pytest.raises(FileExistsError, match=r"is a table already, without rows; .*'overwrite_partitions'"):
            write()
    assert orcish.scan(table).schema == ROWS.schema
    # A partition without files is free.
    if by:
        orcish.write_dataset(ROWS.select(["id"]), table / "k=x")
        assert orcish.read_table(table)["k"].to_pylist() == ["x", "x"]


def test_a_table_that_is_emptied_meanwhile(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It was made while the rows were written, and is not replaced."""
    table = tmp_path / "t"
    commit = DatasetTarget.commit

    def later(target: DatasetTarget, *args: Any) -> None:
        monkeypatch.setattr(DatasetTarget, "commit", commit)
        orcish.write_dataset(pa.table({"other": [1]}), table)
        orcish.delete(table, "true")
        commit(target, *args)

    monkeypatch.setattr(DatasetTarget, "commit", later)
    with pytest.raises((FileExistsError, CommitError)):
        orcish.write_dataset(ROWS, table)
    assert orcish.scan(table).schema.names == ["other"]


def test_metadata_of_a_table_without_rows(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The shell says the columns."""
    orcish.write_dataset(ROWS, tmp_path / "t", partition_by=["k"])
    orcish.delete(tmp_path / "t", "true")
    assert main(["meta", str(tmp_path / "t")]) == 0
    text = capsys.readouterr().out
    assert [line.split() for line in text.splitlines()[:3]] == [
        ["Table", str(tmp_path / "t")],
        ["Rows", "0,", "in", "0", "files"],
        ["Partition", "columns", "k"],
    ]
    assert "id: bigint" in text
    assert main(["meta", "--json", str(tmp_path / "t")]) == 0
    assert '"rows": 0' in capsys.readouterr().out


@each_case("existing_data", ["error", "append", "overwrite", "overwrite_partitions"])
@each_case("name", ["run=5", "run=5/", "a=1/run=5"])
def test_partitions_of_no_table(tmp_path: pathlib.Path, name: str, existing_data: Any) -> None:
    """A folder whose name has a sign of equality is no new table, and makes none of the folder above."""
    target = f"{tmp_path}/t/{name}"
    with pytest.raises(
        ValueError, match=r"there is no table in .*/t: write the rows there, with partition_by=.*\"run\""
    ):
        orcish.write_dataset(ROWS, target, existing_data=existing_data, partition_by=["k"])
    orcish.write_table(ROWS, tmp_path / "f.orc")
    with pytest.raises(ValueError, match="there is no table in"):
        orcish.convert(tmp_path / "f.orc", target)
    assert not (tmp_path / "t").exists()


def test_partitions_of_a_table(tmp_path: pathlib.Path) -> None:
    """They are written to where the table is a plain folder, or has a log, with rows or without."""
    plain = tmp_path / "plain"
    (plain / "k=x").mkdir(parents=True)
    orcish.write_table(ROWS.select(["id"]), plain / "k=x" / "f.orc")
    orcish.write_dataset(ROWS.select(["id"]), plain / "k=y")
    assert orcish.scan(plain, filters="k = 'y'").count() == 2
    orcish.delete(plain, "true")
    orcish.write_dataset(ROWS.select(["id"]), plain / "k=z")
    assert set(orcish.read_table(plain)["k"].to_pylist()) == {"z"}


def test_messages_of_the_shell(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    """They speak of options, and not of keywords."""
    orcish.write_table(ROWS, tmp_path / "f.orc")
    assert main(["convert", str(tmp_path / "f.orc"), str(tmp_path / "t")]) == 0
    capsys.readouterr()
    for arguments, text in (
        (["convert", str(tmp_path / "f.orc"), str(tmp_path / "t")], "; --existing-data append adds to it, 'overwrite'"),
        (["convert", str(tmp_path / "f.orc"), str(tmp_path / "u" / "a=1")], "there, with --partition-by a, or choose"),
        (["compact", str(tmp_path / "t"), "--compression", "zlib"], "options of files need --rewrite, as"),
    ):
        assert main(arguments) == (2 if "compact" in arguments else 1)
        assert text in capsys.readouterr().err


@each_case("existing_data", ["append", "overwrite_partitions"])
def test_partition_columns_of_a_table_without_files(tmp_path: pathlib.Path, existing_data: Any) -> None:
    """They are those of the log: in reads, filters and checks of rows."""
    rows = pa.table({"day": [1, 2], "x": [5, 6]})
    table = tmp_path / "t"
    orcish.write_dataset(rows, table, partition_by="day")
    orcish.delete(table, "day > 0")
    assert orcish.read_table(table, columns="day", filters="day = 1").schema == pa.schema([("day", pa.int64())])
    assert orcish.scan(table).max("day") is None
    for by, text in ((None, "none"), ("x", "x")):
        if existing_data == "append" or by:
            with pytest.raises(
                ValueError,
                match=f"is a table whose partition columns are: day; partition_by is: {text}: partition the rows",
            ):
                orcish.write_dataset(rows, table, partition_by=by, existing_data=existing_data)
    with pytest.raises(ValueError, match="column day is int64 in the table: the partition value"):
        orcish.write_dataset(pa.table({"day": ["a"], "x": [1]}), table, partition_by="day", existing_data=existing_data)
    orcish.write_dataset(rows, table, partition_by="day", existing_data=existing_data)
    assert orcish.scan(table).count() == 2
