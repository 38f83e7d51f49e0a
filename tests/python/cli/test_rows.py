"""Commands that print rows, or count them, of several sources: data, head, tail, sample, count and scan."""

from __future__ import annotations

import collections
import json
import pathlib
from typing import Any

import orcish
import pyarrow as pa
import pytest
from orcish_cli import main
from support.carbon import CarbonTableWriter
from support.processes import ORCISH
from support.small_tables import in_stripes
from support.terminals import on_terminal

STRIPES, ROWS = 5, 1000


@pytest.fixture
def stripes(tmp_path):
    """A file of several stripes, whose column id counts the rows."""
    ids = range(STRIPES * ROWS)
    return in_stripes(tmp_path / "stripes.orc", pa.table({"id": ids, "text": [f"row {id}" for id in ids]}), ROWS)


@pytest.fixture
def table(tmp_path):
    data = pa.table({"id": range(100), "k": [i % 3 for i in range(100)]})
    orcish.write_dataset(data, tmp_path / "t", partition_by=["k"])
    return tmp_path / "t"


@pytest.fixture
def carbon(tmp_path):
    written = CarbonTableWriter(tmp_path / "carbon", pa.schema([("id", pa.int32())]))
    for at in range(3):
        written.load(pa.table({"id": pa.array(range(at * 10, at * 10 + 10), pa.int32())}))
    return written.path


def damage(path: pathlib.Path, *stripes: int) -> None:
    """Overwrites stripes, which cannot be read any more."""
    found = orcish.ORCFile(path).stripes
    with path.open("r+b") as file:
        for stripe in (found[at] for at in stripes):
            file.seek(stripe.offset)
            file.write(b"\xff" * (stripe.index_length + stripe.data_length + stripe.footer_length))


def ids(objects: list[dict[str, Any]]) -> list[int]:
    return [each["id"] for each in objects]


class TestTail:
    def test_other_stripes_are_not_read(self, stripes, rows):
        damage(stripes, 0, 1, 2)
        assert ids(rows("tail", stripes)) == list(range(4990, 5000))
        assert ids(rows("tail", stripes, "-n", 1500)) == list(range(3500, 5000))
        assert ids(rows("tail", stripes, "-n", 2, "--where", "id < 3500")) == [3498, 3499]
        assert rows("tail", stripes, "-n", 0) == []

    @pytest.mark.parametrize("count", [1, 999, 1000, 1001, 4999, 5000, 9000])
    def test_rows_are_those_of_the_whole(self, stripes, count):
        whole = orcish.read_table(stripes)
        for filters in (None, "text >= 'row 3'"):
            expected = orcish.read_table(stripes, filters=filters)
            found = orcish.tail(stripes, count, filters=filters)
            assert found.equals(expected.slice(max(len(expected) - count, 0)))
        assert orcish.scan(stripes).limit(1500).tail(count).equals(whole.slice(0, 1500)[-count:])
        assert orcish.scan(stripes).select([]).tail(count).num_rows == min(count, 5000)

    def test_sources(self, table, stripes, carbon, rows):
        assert rows("tail", table, f"{table}/k=1", "-n", 1) == [{"id": 97, "k": 1}]
        assert ids(rows("tail", carbon, "-n", 12)) == list(range(18, 30))
        assert len(rows("tail", f"{table}/*/*.orc", "-n", 200)) == 100


class TestSample:
    def test_stripes_without_a_chosen_row_are_not_read(self, stripes, rows):
        seed = next(at for at in range(1000) if all(i >= 2000 for i in ids_of(stripes, 3, at)))
        damage(stripes, 0, 1)
        assert ids(rows("sample", stripes, "-n", 3, "--seed", seed)) == ids_of(stripes, 3, seed)

    def test_numbers_and_seeds(self, stripes, table, carbon, rows):
        assert len(rows("sample", stripes)) == 10
        found = ids(rows("sample", stripes, "-n", 500, "--seed", 7))
        assert found == sorted(set(found))
        assert len(found) == 500
        assert found == ids(rows("sample", stripes, "-n", 500, "--seed", 7))
        assert found != ids(rows("sample", stripes, "-n", 500, "--seed", 8))
        assert len(rows("sample", stripes, "--fraction", 0.25)) == 1250
        assert rows("sample", stripes, "--fraction", 0) == []
        assert ids(rows("sample", stripes, "-n", 9000)) == list(range(5000))
        some = ids(rows("sample", table, "--fraction", 0.5, "--where", "id < 20 and k = 1"))
        assert len(some) == 4
        assert all(i < 20 and i % 3 == 1 for i in some)
        assert len(rows("sample", carbon, "-n", 12)) == 12
        assert orcish.sample(stripes, 7, columns=[]).num_rows == 7

    def test_rows_are_equally_likely(self, stripes):
        scan = orcish.scan(stripes, columns=["id"], filters="id in (5, 999, 1000, 3000, 4999)")
        seen = collections.Counter(i for at in range(500) for i in scan.sample(2, seed=at)["id"].to_pylist())
        assert set(seen) == {5, 999, 1000, 3000, 4999}
        assert all(130 < count < 270 for count in seen.values()), seen

    def test_wrong_arguments(self, stripes, run, capsys):
        for given in (["--fraction", "1.5"], ["-n", "1", "--fraction", "0.5"]):
            with pytest.raises(SystemExit):
                main(["sample", str(stripes), *given])
        with pytest.raises(ValueError, match="must be from 0 to 1"):
            orcish.scan(stripes).sample(fraction=1.5)
        with pytest.raises(ValueError, match="either rows or fraction"):
            orcish.scan(stripes).sample()


def ids_of(path: pathlib.Path, count: int, seed: int) -> list[int]:
    """The ids that a sample has, of the numbers of rows alone."""
    import random

    return sorted(random.Random(seed).sample(range(STRIPES * ROWS), count))


class TestCount:
    def test_rows_of_files_and_of_all(self, stripes, table, run, rows):
        assert rows("count", stripes) == [{"file": str(stripes), "rows": 5000}]
        found = rows("count", table, stripes)
        assert [each["rows"] for each in found] == [34, 33, 33, 5000]
        lines = run("count", table, stripes)[1]
        assert lines[-1].split() == ["all", "5,100"]
        assert [each["rows"] for each in rows("count", table, "--where", "id < 5")] == [2, 2, 1]
        assert [each["rows"] for each in rows("count", table, "--where", "k = 1 and id < 50")] == [0, 17, 0]

    def test_no_row_is_read(self, stripes, rows):
        damage(stripes, *range(STRIPES))
        assert rows("count", stripes)[0]["rows"] == 5000
        assert rows("count", stripes, "--where", "id >= 1000")[0]["rows"] == 4000

    def test_carbon(self, carbon, rows):
        assert rows("count", carbon) == [{"file": str(carbon), "rows": 30}]
        assert rows("count", carbon, "--where", "id < 15")[0]["rows"] == 15

    @pytest.mark.parametrize("command", ["count", "scan"])
    def test_limits(self, command, stripes, table, carbon, rows):
        """They are of each file, and after the filter."""
        assert [each["rows"] for each in rows(command, stripes, table, carbon, "-n", 20)] == [20] * 5
        assert [each["rows"] for each in rows(command, table, "--where", "id < 50", "--limit", 17)] == [17, 17, 16]
        damage(stripes, 1, 2, 3, 4)
        assert rows(command, stripes, "-n", 1000)[0]["rows"] == 1000
        assert rows(command, stripes, "-n", 0)[0]["rows"] == 0

    @pytest.mark.parametrize("command", ["count", "scan"])
    @pytest.mark.parametrize("at", [0, 1, 2])
    def test_a_file_that_fails_does_not_end_the_others(self, command, at, table, stripes, tmp_path, run):
        bad = sorted(table.rglob("*.orc"))[at]
        bad.write_bytes(b"ORC, or so it seems" * 20)
        code, lines, err = run(command, table, tmp_path / "missing.orc", stripes, "--json")
        assert code == 1
        assert [json.loads(line)["rows"] for line in lines[-1:]] == [5000]
        assert len(lines) == 3
        assert bad.name in err
        assert "missing.orc" in err


class TestScan:
    def test_what_is_read(self, stripes, table, carbon, run, rows):
        (found,) = rows("scan", stripes, "-c", "id")
        assert found.pop("seconds") >= 0
        assert found == {"file": str(stripes), "rows": 5000, "batches": 5, "bytes": 40_000}
        assert [each["rows"] for each in rows("scan", table, carbon)] == [34, 33, 33, 30]
        assert [each["rows"] for each in rows("scan", stripes, "--where", "id < 10")] == [10]
        code, lines, err = run("scan", stripes, table)
        assert (code, err) == (0, "")
        assert lines[0].split() == ["file", "rows", "batches", "bytes", "seconds"]
        assert lines[-1].split()[:2] == ["all", "5,100"]

    def test_damage_is_found(self, stripes, run):
        damage(stripes, 3)
        code, lines, err = run("scan", stripes)
        assert (code, lines) == (1, [])
        assert "stripe 3" in err

    def test_on_a_terminal(self, stripes, table):
        code, shown = on_terminal(ORCISH, "scan", stripes, table)
        assert code == 0
        assert "5,100" in shown
        assert "\x1b[K" in shown or "\x1b[2K" in shown


@pytest.mark.parametrize("command", ["data", "head", "tail", "sample"])
class TestSeveralSources:
    def test_they_are_one_table(self, command, stripes, table, tmp_path, rows, run):
        orcish.write_table(pa.table({"id": [7], "other": [1]}), tmp_path / "more.orc")
        found = rows(command, stripes, tmp_path / "more.orc", "-n", 6000)
        assert len(found) == 5001
        assert found[-1] == {"id": 7, "text": None}
        found = rows(command, f"{table}/k=1", f"{table}/k=*/*.orc", "--where", "id in (1, 3)", "-c", "k,id")
        assert found == [{"k": 1, "id": 1}, {"k": 0, "id": 3}, {"k": 1, "id": 1}]

    def test_a_table_of_carbon_is_read_alone(self, command, stripes, carbon, run, rows):
        assert len(rows(command, carbon, "-n", 100)) == 30
        code, lines, err = run(command, carbon, stripes)
        assert (code, lines) == (1, [])
        assert "is read alone" in err

    def test_a_store(self, command, store, rows):
        target = "s3://shelf/a.orc"
        orcish.write_table(pa.table({"id": range(20)}), target, storage_options=store.options)
        options = [f"--storage-option={name}={value}" for name, value in store.options.items()]
        assert len(rows(command, target, target, "-n", 50, *options)) == 40

    def test_hostile_names_and_files(self, command, tmp_path, run):
        path = tmp_path / "a\x1b[31m.orc"
        orcish.write_table(pa.table({"n\x1b[0m": ["\x1b[2J"]}), path)
        code, lines, err = run(command, path, path)
        assert (code, err) == (0, "")
        assert all(line.isprintable() for line in lines)
        path.write_bytes(path.read_bytes()[:-10])
        code, lines, err = run(command, path, path)
        assert (code, lines) == (1, [])
        assert err.rstrip("\n").isprintable()
