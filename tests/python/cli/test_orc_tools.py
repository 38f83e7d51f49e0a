"""The commands beside those of the same names of Apache's orc-tools, over files of many writers."""

from __future__ import annotations

import json
import os
import re

import orcish
import pyarrow as pa
import pytest
from orcish_cli import main
from support.conformance.pack import PACK, valid
from support.orc_tools import needs_orc_tools, run_orc_tools

FILES = [str(PACK / "files" / name) for name in valid() if name.endswith(".orc")]
MASKED = "without keys only their masks can be read"
SCANNED = re.compile(r"File: (.*), bad batches: (\d+), rows: (\d+)/(\d+)")
pytestmark = [
    needs_orc_tools,
    pytest.mark.skipif(not FILES, reason="the conformance pack is not here: set ORCISH_CONFORMANCE"),
]


def scanned(files: list[str]) -> dict[str, int]:
    """The rows of files that orc-tools reads as a whole."""
    found = SCANNED.findall(run_orc_tools("scan", *files))
    return {file: int(rows) for file, bad, rows, total in found if bad == "0" and rows == total}


@pytest.fixture
def objects(capsys):
    """Runs a command with --json; gives the objects, and standard error."""

    def objects(*arguments):
        main([*map(str, arguments), "--json"])
        out, err = capsys.readouterr()
        return [json.loads(line) for line in out.splitlines()], err

    return objects


def test_scan_and_count(objects):
    theirs = scanned(FILES)
    assert len(theirs) > len(FILES) * 0.9
    counted, _ = objects("count", *FILES)
    assert {each["file"]: each["rows"] for each in counted} | theirs == {each["file"]: each["rows"] for each in counted}
    ours, err = objects("scan", *FILES)
    rows = {each["file"]: each["rows"] for each in ours}
    # Java shows masks of encrypted columns unasked.
    unread = [file for file in theirs if file not in rows]
    assert all(file in err for file in unread)
    assert len(unread) <= err.count(MASKED)
    assert {file: theirs[file] for file in theirs if file in rows} == {
        file: rows[file] for file in rows if file in theirs
    }


def test_count_of_a_folder(objects, tmp_path):
    for at in range(3):
        (tmp_path / f"f{at}").mkdir()
        orcish.write_table(pa.table({"id": range(at)}), tmp_path / f"f{at}" / "a.orc")
    theirs = dict(re.findall(r"file:(.*) (\d+)", run_orc_tools("count", tmp_path)))
    ours, _ = objects("count", tmp_path)
    assert {each["file"]: str(each["rows"]) for each in ours} == theirs


def test_what_is_written_is_read_by_them(objects, tmp_path, capsys):
    sources = [file for file in FILES if os.path.getsize(file) < 100_000][::3]
    written = {}
    for at, source in enumerate(sources):
        target = tmp_path / f"{at}.orc"
        if main(["rewrite", source, "-o", str(target)]) == 0:
            written[str(target)] = orcish.ORCFile(source).num_rows
    err = capsys.readouterr().err
    assert len(written) > len(sources) * 0.9, err
    assert scanned([*written]) == written


def test_merged_files_are_read_by_them(tmp_path, objects):
    for at in range(3):
        orcish.write_table(pa.table({"id": range(at * 10, at * 10 + 10)}), tmp_path / f"{at}.orc")
    files = sorted(tmp_path.glob("*.orc"))
    objects("merge", *files, "-o", tmp_path / "ours.orc")
    assert scanned([str(tmp_path / "ours.orc")]) == {str(tmp_path / "ours.orc"): 30}
    assert orcish.read_table(tmp_path / "ours.orc")["id"].to_pylist() == [*range(30)]


def test_data(tmp_path, objects):
    table = pa.table({"i": [1, None], "s": ["x", "é"], "b": [True, False], "l": [[1, 2], []], "d": [1.5, None]})
    orcish.write_table(table, tmp_path / "a.orc")
    theirs = [
        json.loads(line) for line in run_orc_tools("data", tmp_path / "a.orc").splitlines() if line.startswith("{")
    ]
    ours, _ = objects("data", tmp_path / "a.orc")
    assert ours == theirs
