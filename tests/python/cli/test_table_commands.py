"""The commands that change tables."""

from __future__ import annotations

import json
import pathlib
import sys

import orcish
import pyarrow as pa
import pytest
from orcish.tables.commit import Job
from support.processes import Run
from support.staged_commits import decide, staged, staged_path
from support.terminals import on_terminal


def in_parts(table: pathlib.Path, parts: int = 4) -> pathlib.Path:
    for at in range(parts):
        rows = pa.table({"id": range(at * 10, at * 10 + 10), "k": [i % 2 for i in range(10)]})
        orcish.write_dataset(rows, table, partition_by=["k"], existing_data="append")
    return table


def test_compact(tmp_path: pathlib.Path, run: Run) -> None:
    table = in_parts(tmp_path / "t")
    code, out, err = run("compact", table / "k=0", "--json")
    assert (code, err) == (0, "")
    (line,) = map(json.loads, out)
    assert (line["folder"], line["action"], line["files"], line["rows"]) == ("k=0", "merge", 4, 20)
    code, out, err = run("compact", table, "--rewrite", "--target-file-size", "1MB")
    assert (code, err) == (0, "")
    assert out[0].startswith("5 files (")
    assert " bytes) became 2 (" in out[0]
    assert orcish.scan(table).count() == 40


def test_delete(tmp_path: pathlib.Path, run: Run) -> None:
    table = in_parts(tmp_path / "t")
    assert run("delete", table, "--where", "id < 5")[:2] == (0, ["5 rows; 0 files removed, 2 files rewritten"])
    code, out, _ = run("delete", table, "--filters", "k = 0", "--json")
    assert (code, json.loads(out[0])) == (0, {"rows": 17, "files_removed": 4, "files_rewritten": 0})
    assert orcish.scan(table).count() == 18
    # Which rows has to be said.
    with pytest.raises(SystemExit, match="2"):
        run("delete", table)


def test_recover_and_vacuum(tmp_path: pathlib.Path, run: Run) -> None:
    table = in_parts(tmp_path / "t")
    assert run("recover", table) == (0, ["there is no unfinished commit"], "")
    previous = json.loads(max((table / "_orcish" / "log").glob("*.json")).read_text())["job"]
    job = Job(str(table))
    decide(job, [staged(job, [100], folder="k=1")], number=4, previous=previous)
    assert run("recover", table / "k=0") == (0, ["the last commit is finished"], "")
    assert orcish.scan(table).count() == 41
    lost = Job(str(table))
    file = staged(lost, [101], folder="k=1")
    decide(lost, [file], number=5, previous=job.id)
    staged_path(lost, file).unlink()
    code, out, err = run("recover", table)
    assert (code, out) == (1, [])
    assert "commit 5 of the table is decided and not finished" in err
    code, out, _ = run("recover", table, "--undo", "--json")
    assert (code, json.loads(out[0])) == (0, {"recovered": "undone"})
    staged(Job(str(table)), [102])
    assert run("vacuum", table) == (0, ["0 files removed"], "")
    assert run("vacuum", table, "--older-than", "0.5") == (0, ["0 files removed"], "")
    assert run("vacuum", table, "--older-than", "0") == (0, ["1 files removed"], "")
    assert orcish.scan(table).count() == 41


def test_wrong_paths(tmp_path: pathlib.Path, run: Run) -> None:
    for command in (["compact"], ["delete", "--where", "id = 1"]):
        code, out, err = run(*command, tmp_path / "typo")
        assert (code, out) == (1, [])
        assert err == f"orcish: no such folder: {tmp_path / 'typo'}\n"
    table = in_parts(tmp_path / "t")
    assert run("delete", table, "--where", "absent = 1")[0] == 1
    for command in (
        ["compact", "--target-file-size", "huge"],
        *(["vacuum", "--older-than", age] for age in ("-1", "nan", "inf", "1e300", "week")),
        ["delete", "--where", "id = 1", "--compression", "zip"],
    ):
        with pytest.raises(SystemExit, match="2"):
            run(*command, table)


def test_options_of_files_that_are_written(tmp_path: pathlib.Path, run: Run) -> None:
    table = in_parts(tmp_path / "t")
    options = ["--compression", "zlib", "--compression-level", 9, "--bloom-filter-columns", "id", "--verify"]
    code, _, err = run("compact", table, *options)
    assert code == 2
    assert "--rewrite" in err
    assert run("compact", table, "--rewrite", *options)[0] == 0
    assert run("delete", table, "--where", "id in (6, 7)", "--bloom-filter-columns", "id")[0] == 0
    assert run("convert", table, tmp_path / "u", "--partition-by", "", *options)[0] == 0
    for path in (table, tmp_path / "u"):
        assert {orcish.ORCFile(file).compression for file in path.rglob("*.orc")} == {"zlib"}
        assert "bloom" in str(orcish.scan(path, filters="id = 7").explain())
    assert not list((tmp_path / "u").rglob("k=*"))


def test_history(tmp_path: pathlib.Path, run: Run) -> None:
    table = in_parts(tmp_path / "t", 2)
    assert run("delete", table, "--where", "id < 2")[0] == 0
    code, (header, _, *lines), err = run("history", table)
    assert (code, err) == (0, "")
    assert header.split("  ")[:2] == ["number", "time (UTC)"]
    assert [line.split()[0] for line in lines] == ["2", "1", "0"]
    assert lines[0].split()[3:8] == ["delete", "done", "8", "2", "2"]
    assert run("history", table, "--limit", "1")[1][2:] == lines[:1]
    assert [json.loads(line)["number"] for line in run("history", table, "--json", "--limit", "2")[1]] == [2, 1]


def test_a_history_without_lines(tmp_path: pathlib.Path, run: Run) -> None:
    table = in_parts(tmp_path / "t", 1)
    code, (header, *lines), err = run("history", table, "--limit", "0")
    assert (code, len(lines), err) == (0, 1, "")
    assert header.startswith("number")
    assert run("history", table, "--limit", "0", "--json") == (0, [], "")


@pytest.mark.parametrize("limit", ["0", "20"])
def test_a_folder_without_a_history(limit: str, tmp_path: pathlib.Path, run: Run) -> None:
    orcish.write_table(pa.table({"id": [1]}), tmp_path / "a.orc")
    error = f"orcish: {tmp_path}: the folder has no log, and so no history: convert begins one\n"
    assert run("history", tmp_path, "--limit", limit) == (1, [], error)


WITHOUT_RICH = "import sys; sys.modules['rich'] = None; from orcish_cli import main; sys.exit(main())"
SCRIPT = pathlib.Path(sys.executable).with_name("orcish")
COMMANDS = {"with rich": [str(SCRIPT)], "without rich": [sys.executable, "-c", WITHOUT_RICH]}


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("arguments", [["compact"], ["delete", "--where", "id < 15"]])
def test_a_terminal_shows_a_bar(tmp_path: pathlib.Path, arguments: list[str], command: str) -> None:
    table = in_parts(tmp_path / "t")
    code, shown = on_terminal(COMMANDS[command], *arguments, table)
    assert code == 0
    assert ("━" in shown) == (command == "with rich")
    assert (f"{table} [" in shown) == (command == "without rich")
    # The bar is removed at the end.
    before, _, after = shown.rpartition("%")
    assert before
    assert "\x1b[K" in after or "\x1b[2K" in after
