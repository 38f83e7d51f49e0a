"""Targets that commands refuse, as rows would be lost or be there twice."""

import os
import pathlib
from typing import Any

import orcish
import pyarrow as pa
import pyarrow.parquet
import pytest
from orcish.tables.apart import check_apart
from orcish.writing.replaced_file import ReplacedFile
from support.processes import Run

ROWS = pa.table({"id": [1, 2], "p": ["a", "b"]})


@pytest.fixture
def here(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> pathlib.Path:
    """A table with a log ``t``, one of several partitions without a log ``plain``, folders of files, and links."""
    monkeypatch.chdir(tmp_path)
    orcish.write_dataset(ROWS, "t", partition_by=["p"])
    for folder in ("r", "q", "plain/p=a", "else", "empty"):
        os.makedirs(folder)
    for name in ("a", "b"):
        orcish.write_table(ROWS, f"r/{name}.orc")
        pyarrow.parquet.write_table(ROWS, f"q/{name}.parquet")
    orcish.write_table(ROWS.select(["id"]), "plain/p=a/a.orc")
    orcish.write_table(ROWS, "else/a.orc")
    orcish.write_table(ROWS, "single.orc")
    os.symlink("r", "link")
    os.makedirs("linked")
    os.symlink("../else", "linked/l")
    return tmp_path


def contents(folder: pathlib.Path) -> dict[str, bytes]:
    """All files but those of logs, and files of jobs that ended."""
    paths = (path for path in folder.rglob("*") if path.is_file() and "_orcish" not in path.parts)
    return {str(path): path.read_bytes() for path in paths}


CONVERT, REWRITE, MERGE = (
    ["convert", "--existing-data", "overwrite"],
    ["rewrite", "--existing-data=overwrite"],
    ["merge", "--existing-data=overwrite"],
)
OVERLAPS = [
    *(("r/a.orc", "r", "dir"), ("r", "r", "dir"), ("r/*.orc", "r", "dir"), ("link/a.orc", "r", "dir")),
    *(("r/a.orc", "link", "dir"), ("r", "r/sub", "dir"), ("r", "link/sub", "dir"), ("linked", "else/sub", "dir")),
    *(("r/*", "r/sub", "dir"), ("r/**/*.orc", "r/sub", "dir"), ("*", "new", "dir"), ("plain/p=a", "plain", "dir")),
    *(("r", "r/all.orc", "file"), ("r/*.orc", "r/all.orc", "file"), ("r/*.orc", "link/all.orc", "file")),
    *(("r", "r/sub/all.orc", "file"), ("linked", "else/all.orc", "file"), ("r/a.orc", "link/a.orc", "file")),
]
PARQUET = [
    *(("q/a.parquet", "q", "dir"), ("q", "q", "dir"), ("q", "q/sub", "dir"), ("q/*.parquet", "q", "dir")),
    *(("q", "q/all.parquet", "file"), ("q/*.parquet", "q/all.parquet", "file"), ("q/a.parquet", "q/a.parquet", "file")),
]


@pytest.mark.parametrize("verb", [CONVERT, REWRITE, MERGE], ids=lambda verb: verb[0])
@pytest.mark.parametrize(("source", "target", "kind"), OVERLAPS)
def test_overlaps(verb: list[str], source: str, target: str, kind: str, here: pathlib.Path, run: Run) -> None:
    if source == "*":
        for name in ("t", "q", "linked", "plain"):
            os.rename(name, f"_{name}")
    if verb is MERGE and kind == "dir":
        pytest.skip("merge writes files")
    os.makedirs("else/sub", exist_ok=True)
    before = contents(here)
    out = [target] if verb is CONVERT else ["-o", target]
    code, lines, err = run(*verb, source, *out)
    assert (code, lines) == (1, [])
    assert target in err
    assert "in the source" in err or "in the target" in err or "one of the sources" in err
    assert contents(here) == before


@pytest.mark.parametrize(("source", "target", "kind"), PARQUET)
def test_overlaps_of_other_formats(source: str, target: str, kind: str, here: pathlib.Path, run: Run) -> None:
    del kind
    before = contents(here)
    code, lines, err = run(*CONVERT, source, target)
    assert (code, lines) == (1, [])
    assert target in err
    assert contents(here) == before


def test_overlaps_of_the_function(here: pathlib.Path) -> None:
    before = contents(here)
    for source, target in (("r/a.orc", "link"), ("r", "r/sub"), (["single.orc", "r"], "r"), ("linked", "else/sub")):
        with pytest.raises(ValueError, match=r"in the (source|target)"):
            orcish.convert(source, target, existing_data="overwrite")
    assert contents(here) == before


@pytest.mark.parametrize(
    ("source", "target"),
    [("r/a.orc", "r/c.orc"), ("q/*.parquet", "q/all.orc"), ("r/a*.orc", "r/c.orc"), ("r", "r2"), ("single.orc", "new")],
)
def test_what_is_beside_the_source_is_not_refused(source: str, target: str, here: pathlib.Path, run: Run) -> None:
    del here
    assert run("convert", source, target)[0] == 0


@pytest.mark.parametrize(
    "place", ["a file", "a new file", "a link", "a linked folder", "a folder that is no partition"]
)
@pytest.mark.parametrize("verb", ["rewrite", "convert", "convert to csv", "merge", "layout", "in place"])
def test_files_of_tables(verb: str, place: str, here: pathlib.Path, run: Run) -> None:
    """The log of a table records its files."""
    own = next(here.glob("t/p=a/*.orc"))
    os.symlink(own, "l.orc")
    os.symlink("t/p=a", "folder")
    target = {
        "a file": str(own),
        "a new file": "t/p=a/new.orc",
        "a link": "l.orc",
        "a linked folder": "folder/new.orc",
        "a folder that is no partition": "t/sub/new.orc",
    }[place]
    before = contents(here)
    arguments = {
        "rewrite": [*REWRITE, "single.orc", "-o", target],
        "convert": [*CONVERT, "single.orc", target],
        "convert to csv": [*CONVERT, "single.orc", "--to", "csv", target],
        "merge": [*MERGE, "single.orc", "-o", target],
        "layout": ["layout", "single.orc", "-o", target.replace("new.orc", "new.html")],
        "in place": ["rewrite", target, "--in-place"],
    }[verb]
    code, lines, err = run(*arguments)
    assert (code, lines) == (1, [])
    assert f"is a file of the table {here}/t: " in err
    assert contents(here) == before
    assert run("check", "t")[0] == 0


def test_functions_write_files_of_tables(here: pathlib.Path) -> None:
    """As by hand: the rows count at once, the log does not change, and the next commit has them."""
    before = orcish.history("t")
    orcish.write_table(ROWS.select(["id"]), "t/p=a/new.orc")
    orcish.merge(["t/p=a/new.orc"], "t/p=a/merged.orc")
    assert orcish.history("t") == before
    assert orcish.scan("t").count() == 6
    orcish.compact("t", rewrite=True)
    assert orcish.scan("t").count() == 6
    assert not (here / "t/p=a/new.orc").exists()


def test_hidden_files_in_tables_are_written(here: pathlib.Path, run: Run) -> None:
    os.makedirs("t/_reports")
    assert run("rewrite", "single.orc", "-o", "t/_reports/a.orc")[0] == 0
    assert run("layout", "single.orc", "-o", "t/_reports/a.html")[0] == 0
    assert orcish.scan(here / "t").count() == 2


def test_files_of_tables_in_a_store(store: Any, tmp_path: pathlib.Path, run: Run) -> None:
    orcish.write_table(ROWS, tmp_path / "a.orc")
    orcish.write_dataset(ROWS, "s3://shelf/t", partition_by=["p"], storage_options=store.options)
    options = [f"--storage-option={name}={value}" for name, value in store.options.items()]
    for name in ("new.orc", "new.csv"):
        code, _, err = run("convert", tmp_path / "a.orc", f"s3://shelf/t/p=a/{name}", *options)
        assert code == 1
        assert "is a file of the table s3://shelf/t: " in err
    assert run("rewrite", "s3://shelf/t", "-o", "s3a://shelf/t", "--existing-data=overwrite", *options)[0] == 1
    assert orcish.scan("s3://shelf/t/", storage_options=store.options).count() == 2


@pytest.mark.parametrize(
    "verb",
    [["rewrite", "--in-place"], ["rewrite", "-o", "f", "--existing-data=overwrite"], ["delete", "--where", "id=1"]],
)
@pytest.mark.parametrize("case", ["folder", "delta_0000001_0000001", "link"])
def test_folders_that_are_no_partitions(
    verb: list[str], case: str, tmp_path: pathlib.Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    os.makedirs("f")
    orcish.write_table(ROWS, "f/a.orc")
    os.makedirs("other" if case == "link" else f"f/{case}")
    orcish.write_table(ROWS, "other/b.orc" if case == "link" else f"f/{case}/b.orc")
    if case == "link":
        os.symlink("../other", "f/link")
    before = contents(tmp_path)
    code, lines, err = run(verb[0], "f", *verb[1:])
    assert (code, lines) == (1, [])
    if "-o" not in verb:
        is_of_hive = case.startswith("delta")
        assert (case if is_of_hive else f"f/{case}/b.orc") in err
        text = "behind a link" if case == "link" else "transactional" if is_of_hive else "no partition"
        assert text in err
    assert contents(tmp_path) == before


@pytest.mark.parametrize("where", ["disk", "store", "memory"])
@pytest.mark.parametrize("change", ["replaced", "removed"])
def test_a_file_that_is_replaced_meanwhile_stays(
    where: str, change: str, tmp_path: pathlib.Path, request: pytest.FixtureRequest
) -> None:
    storage: dict[str, Any] = {}
    location = str(tmp_path / "a.orc")
    if where == "store":
        storage, location = request.getfixturevalue("store").options, "s3://shelf/changed.orc"
    elif where == "memory":
        pytest.importorskip("fsspec")
        location = f"memory://changed/{change}.orc"
    given = {"storage_options": storage} if storage else {}
    orcish.write_table(ROWS, location, **given)
    replaced = ReplacedFile(location, storage)
    rows = orcish.scan(location, **given)
    if change == "removed" and where != "disk":
        pytest.skip("the file is on no disk")
    newer = pa.table({"id": [7, 8, 9], "p": ["x", "y", "z"]})

    class Rows(type(rows)):  # type: ignore[misc]
        """The file changes after its last row was read."""

        def _rows(self) -> Any:
            schema, batches = super()._rows()

            def changing() -> Any:
                yield from batches
                if change == "removed":
                    os.remove(location)
                else:
                    orcish.write_table(newer, location, existing_data="overwrite", **given)

            return schema, changing()

    with pytest.raises(orcish.errors.CommitError, match="the file was changed meanwhile, and stays"):
        replaced.write(Rows(rows._reader), options={"verify": True})
    if change == "removed":
        assert list(tmp_path.iterdir()) == []
    else:
        assert orcish.read_table(location, **given).equals(newer)
        if where == "disk":
            assert [path.name for path in tmp_path.iterdir()] == ["a.orc"]
        ReplacedFile(location, storage).write(orcish.scan(location, **given), options={})
        assert orcish.read_table(location, **given).equals(newer)


def test_names_of_targets(here: pathlib.Path, run: Run) -> None:
    """A name that ends in .orc is a file; one of another format is an error; another one is a folder."""
    for name in ("orders.new", "v1.2", "plain_name", "a.xlsx"):
        assert run("rewrite", "r/a.orc", "-o", name)[0] == 0
        assert (here / name).is_dir()
        code, _, err = run("rewrite", "r/a.orc", "-o", name)
        assert code == 1
        assert f"{name}: cannot be written: " in err
        assert "--existing-data append adds to it, 'overwrite' replaces it" in err
        assert run("rewrite", "r/a.orc", "-o", name, "--existing-data=overwrite")[0] == 0
    for name in ("a.parquet", "a.csv.gz", "a.jsonl"):
        code, _, err = run("rewrite", "r/a.orc", "-o", name)
        assert (code, "convert writes other formats" in err) == (1, True)
    code, _, err = run("rewrite", "t/p=a", "--in-place")
    assert (code, f"is a partition of the table {here}/t: rewrite the table" in err) == (1, True)


def test_patterns_of_the_root_have_targets_below_it() -> None:
    with pytest.raises(ValueError, match="the target is in the source"):
        check_apart("/*/a.orc", [], "/tmp/a.orc", is_folder=False, advice="")
    check_apart("/*/a.orc", [], "/tmp/b.orc", is_folder=False, advice="")
