"""The commands check and merge."""

from __future__ import annotations

import json
import pathlib

import orcish
import pyarrow as pa
import pytest
from orcish.tables.apart import check_apart
from orcish_cli import main
from support.carbon import CarbonTableWriter
from support.processes import ORCISH
from support.protobuf import varint, zigzag
from support.terminals import on_terminal

CORRUPT = pathlib.Path(__file__).parents[2] / "data" / "corrupt"


@pytest.fixture
def good(tmp_path):
    path = tmp_path / "good.orc"
    orcish.write_table(pa.table({"id": range(20_000), "s": [str(i) for i in range(20_000)]}), path)
    return path


@pytest.fixture
def wrong(tmp_path):
    """A file whose statistics of the column id contradict its rows."""
    path = tmp_path / "wrong.orc"
    orcish.write_table(pa.table({"id": [5_000_001, 5_000_002]}), path, compression="none")
    data = path.read_bytes()
    # The minimum of the statistics, a zigzag varint, in the row index, the stripe and the file.
    number = varint(zigzag(5_000_001))
    assert data.count(number) >= 3
    path.write_bytes(data.replace(b"\x08" + number, b"\x08" + varint(zigzag(5_000_000))))
    return path


class TestCheck:
    def test_exit_codes(self, good, wrong, tmp_path, run):
        assert run("check", good) == (0, ["1 files, 20,000 rows, 0 findings"], "")
        code, lines, err = run("check", wrong)
        assert (code, err) == (1, "")
        assert lines[-1].startswith("1 files, 2 rows, ")
        assert all(line.startswith(f"{wrong}: ") and "column id: " in line for line in lines[:-1])
        assert any("stripe 0, row group 0" in line for line in lines[:-1])
        code, lines, err = run("check", tmp_path / "missing.orc", good, wrong)
        assert code == 2
        assert lines[-1].startswith("2 files, 20,002 rows, ")
        assert "missing.orc" in err

    def test_json(self, good, wrong, run):
        code, lines, _ = run("check", good, wrong, "--json")
        first, second = map(json.loads, lines)
        assert code == 1
        assert first == {"file": str(good), "rows": 20_000, "findings": []}
        assert set(second["findings"][0]) == {"stripe", "group", "column", "message", "contradicts_rows"}

    def test_folders_and_files_that_cannot_be_read(self, good, tmp_path, run):
        (tmp_path / "bad.orc").write_bytes(b"ORC, or so it seems" * 20)
        code, lines, err = run("check", tmp_path)
        assert (code, lines) == (2, ["1 files, 20,000 rows, 0 findings"])
        assert "bad.orc" in err

    @pytest.mark.parametrize("path", sorted(CORRUPT.glob("*.orc"))[:12], ids=lambda path: path.name)
    def test_corrupt_files(self, path, run):
        code, _, err = run("check", path)
        assert code in (1, 2) or not err

    def test_carbon(self, tmp_path, run):
        written = CarbonTableWriter(tmp_path / "c", pa.schema([("id", pa.int32())]))
        written.load(pa.table({"id": pa.array(range(10), pa.int32())}))
        assert run("check", written.path) == (0, ["1 files, 10 rows, 0 findings"], "")
        for file in written.path.rglob("*.carbondata"):
            file.write_bytes(file.read_bytes()[:100])
        assert run("check", written.path)[0] == 2

    def test_a_store_and_a_terminal(self, store, good, run):
        target = "s3://shelf/t/a.orc"
        orcish.write_table(pa.table({"id": [1]}), target, storage_options=store.options)
        options = [f"--storage-option={name}={value}" for name, value in store.options.items()]
        assert run("check", "s3://shelf/t/", *options)[:2] == (0, ["1 files, 1 rows, 0 findings"])
        code, shown = on_terminal(ORCISH, "check", good)
        assert code == 0
        assert "20,000 rows, 0 findings" in shown

    def test_names_are_escaped(self, tmp_path, run):
        path = tmp_path / "x\x1b[31m.orc"
        path.write_bytes(b"ORC" * 20)
        code, _, err = run("check", path)
        assert code == 2
        assert err.rstrip("\n").isprintable()


class TestMerge:
    def test_files_and_folders(self, good, tmp_path, run):
        folder = tmp_path / "more"
        folder.mkdir()
        for at in range(3):
            orcish.write_table(pa.table({"id": [at], "s": ["x"]}), folder / f"{at}.orc")
        target = tmp_path / "out.orc"
        code, lines, err = run("merge", good, folder, "-o", target)
        assert (code, err) == (0, "")
        assert lines == [f"20,003 rows in 4 stripes, {target.stat().st_size:,} bytes"]
        assert orcish.read_table(target)["id"].to_pylist()[-4:] == [19_999, 0, 1, 2]
        code, lines, err = run("merge", f"{folder}/*.orc", "-o", target)
        assert (code, lines) == (1, [])
        assert "--existing-data overwrite replaces it" in err
        code, lines, _ = run("merge", f"{folder}/*.orc", "-o", target, "--existing-data=overwrite", "--json")
        assert (code, json.loads(lines[0])["rows"]) == (0, 3)

    def test_what_is_refused(self, good, tmp_path, run):
        other = tmp_path / "other.orc"
        orcish.write_table(pa.table({"b": [1]}), other)
        table = tmp_path / "t"
        orcish.write_dataset(pa.table({"id": [1, 2], "k": [1, 2]}), table, partition_by=["k"])
        target = tmp_path / "out.orc"
        for sources, text in (
            ([good, other], "other.orc"),
            ([table], "different partitions"),
            ([tmp_path / "none.orc"], "none.orc"),
            ([f"{tmp_path}/*.none"], "nothing matches"),
        ):
            code, lines, err = run("merge", *sources, "-o", target)
            assert (code, lines) == (1, [])
            assert text in err
            assert not target.exists()
        assert run("merge", good, good, "-o", good, "--existing-data=overwrite")[0] == 1
        assert run("merge", good, "-o", table)[0] == 1
        assert orcish.ORCFile(good).num_rows == 20_000
        with pytest.raises(SystemExit):
            main(["merge", str(good)])

    def test_a_store(self, store, good, run):
        options = [f"--storage-option={name}={value}" for name, value in store.options.items()]
        assert run("merge", good, good, "-o", "s3://shelf/m.orc", *options)[0] == 0
        assert orcish.scan("s3://shelf/m.orc", storage_options=store.options).count() == 40_000
        assert run("merge", good, "-o", "s3://shelf/m.orc", *options)[0] == 1
        assert run("merge", "s3://shelf/m.orc", "-o", "s3://shelf/m.orc", "--existing-data=overwrite", *options)[0] == 1


@pytest.mark.parametrize("names", [("s3", "s3a"), ("gs", "gcs"), ("abfs", "abfss"), ("S3", "s3a")])
def test_a_target_is_no_source_whatever_its_scheme(names):
    """Some stores have two schemes."""
    one, other = (f"{name}://bucket/a.orc" for name in names)
    for target, source in ((one, other), (other, one)):
        with pytest.raises(ValueError, match="the target is one of the sources"):
            check_apart(source, [], target, is_folder=False, advice="")
    check_apart([f"{other}c", "/bucket/a.orc"], [], one, is_folder=False, advice="")
