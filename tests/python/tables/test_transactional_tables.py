"""Transactional tables of Hive are read and written by Hive only."""

import os
import pathlib
from collections.abc import Callable
from typing import Any

import orcish
import pyarrow as pa
import pytest
from orcish_cli import main
from support.case_loops import each_case
from support.random_cases import pairs

ROWS = pa.table({"id": [1, 2, 3]})
LAYOUTS = {
    "deltas": ["delta_0000001_0000001_0000/bucket_00000", "delete_delta_0000002_0000002_0000/bucket_00000"],
    "base": ["base_0000005/bucket_00000"],
    "compacted": ["base_0000005_v0000012/bucket_00000"],
    "insert only": ["delta_0000001_0000001_0000/000000_0"],
    "of Hive 2": ["delta_1_1/bucket_00000"],
    "beside originals": ["000000_0", "delete_delta_0000001_0000001_0000/bucket_00000"],
    "without rows": ["delta_0000001_0000001_0000/_orc_acid_version"],
}


def made(folder: str, layout: str, options: dict[str, Any] | None = None) -> str:
    for name in LAYOUTS[layout]:
        if "://" not in folder:
            os.makedirs(os.path.dirname(f"{folder}/{name}"), exist_ok=True)
        orcish.write_table(ROWS, f"{folder}/{name}", storage_options=options)
    return folder


def shell(*arguments: str) -> None:
    """Runs a command, whose error is raised."""
    code = main(list(arguments))
    if code:
        raise SystemExit(code)


WRITERS: dict[str, Callable[[str], object]] = {
    "write_dataset": lambda folder: orcish.write_dataset(ROWS, folder),
    "write_dataset append": lambda folder: orcish.write_dataset(ROWS, folder, existing_data="append"),
    "write_dataset overwrite": lambda folder: orcish.write_dataset(ROWS, folder, existing_data="overwrite"),
    "convert append": lambda folder: orcish.convert("rows.orc", folder, existing_data="append"),
    "shell append": lambda folder: shell("convert", "rows.orc", folder, "--existing-data", "append"),
    "shell append of csv": lambda folder: shell("convert", "rows.csv", folder, "--existing-data", "append"),
    "shell overwrite": lambda folder: shell("convert", "rows.orc", folder, "--existing-data", "overwrite"),
    "rewrite": lambda folder: shell("rewrite", "rows.orc", "-o", folder, "--existing-data=overwrite"),
    "rewrite in place": lambda folder: shell("rewrite", folder, "--in-place"),
    "compact": lambda folder: orcish.compact(folder),
    "delete": lambda folder: orcish.delete(folder, "id = 1"),
}
FILES: dict[str, Callable[[str], object]] = {
    "convert": lambda file: shell("convert", "rows.orc", file),
    "convert of csv": lambda file: shell("convert", "rows.csv", file),
    "convert to csv": lambda file: shell("convert", "rows.orc", file, "--to", "csv"),
    "rewrite": lambda file: shell("rewrite", "rows.orc", "-o", file),
    "merge": lambda file: shell("merge", "rows.orc", "-o", file),
    "recover": lambda file: shell("recover", "rows.orc", "-o", file),
    "layout": lambda file: shell("layout", "rows.orc", "-o", file),
}


def working_folder(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> pathlib.Path:
    """A folder to work in, with the rows as files."""
    monkeypatch.chdir(tmp_path)
    orcish.write_table(ROWS, "rows.orc")
    pathlib.Path("rows.csv").write_text("id\n7\n")
    return tmp_path


@pytest.fixture
def here(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> pathlib.Path:
    return working_folder(tmp_path, monkeypatch)


def contents(folder: pathlib.Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def assert_refused(call: Callable[[], object], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises((orcish.UnsupportedError, SystemExit)) as caught:
        call()
    text = str(caught.value) if isinstance(caught.value, orcish.UnsupportedError) else capsys.readouterr().err
    assert "transactional table of Hive" in text


@each_case(
    ("writer", "layout", "place"),
    pairs(WRITERS, [layout for layout in LAYOUTS if layout != "without rows"], ["", "/p=1", "/p=1/q=2"]),
)
def test_tables(
    writer: str,
    layout: str,
    place: str,
    tmp_path: pathlib.Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    here = working_folder(tmp_path, monkeypatch)
    made(f"t{place}", layout)
    before = contents(here)
    assert_refused(lambda: WRITERS[writer]("t"), capsys)
    assert contents(here) == before


@each_case(("verb", "layout", "place"), pairs(FILES, LAYOUTS, ["z.orc", "sub/z.orc", "delta", "link"]))
def test_files(
    verb: str,
    layout: str,
    place: str,
    tmp_path: pathlib.Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    here = working_folder(tmp_path, monkeypatch)
    made("t", layout)
    os.mkdir("t/sub")
    os.symlink("t", "link")
    own = os.path.dirname(LAYOUTS[layout][-1])
    target = {"delta": f"t/{own}/z.orc", "link": "link/z.orc"}.get(place, f"t/{place}")
    before = contents(here)
    assert_refused(lambda: FILES[verb](target), capsys)
    assert contents(here) == before


@each_case("verb", ["write_dataset", "shell append", "convert append"])
@each_case("place", ["sub", "delta_0000001_0000001_0000", "delta_0000001_0000001_0000/sub"])
def test_tables_below(
    verb: str, place: str, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    here = working_folder(tmp_path, monkeypatch)
    made("t", "deltas")
    before = contents(here)
    assert_refused(lambda: WRITERS[verb](f"t/{place}"), capsys)
    assert contents(here) == before


def test_a_log_does_not_hide_them(here: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    orcish.write_dataset(ROWS, "t")
    made("t", "deltas")
    for call in (
        lambda: orcish.scan("t").count(),
        lambda: orcish.read_table("t"),
        lambda: orcish.dataset("t").to_table(),
        lambda: shell("data", "t"),
        lambda: shell("convert", "t", "out.csv"),
        *(lambda writer=writer: WRITERS[writer]("t") for writer in ("shell append", "compact", "delete")),
    ):
        assert_refused(call, capsys)
    assert not (here / "out.csv").exists()


def test_what_only_has_such_a_name_is_written(here: pathlib.Path) -> None:
    """Rows in folders of these names, above a table or hidden, are of no transaction."""
    for folder in ("base_1/t", "delta_1_1", "x/_tmp/base_2"):
        orcish.write_dataset(ROWS, folder, existing_data="append")
        assert orcish.write_dataset(ROWS, folder, existing_data="append")
        assert orcish.scan(folder).count() == 6
    made("t", "deltas")
    os.makedirs("t/_reports")
    for verb in ("merge", "convert to csv"):
        FILES[verb](f"t/_reports/{verb}")
        FILES[verb](f"base_1/{verb}")
    assert sorted(os.listdir(here / "t/_reports")) == ["convert to csv", "merge"]


@pytest.mark.parametrize("layout", [layout for layout in LAYOUTS if layout != "without rows"])
def test_stores(layout: str, store: Any, here: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    del here
    made("s3://shelf/t", layout, store.options)
    storage = [f"--storage-option={name}={value}" for name, value in store.options.items()]
    before = store.objects()
    own = os.path.dirname(LAYOUTS[layout][-1])
    for call in (
        lambda: orcish.write_dataset(ROWS, "s3://shelf/t", existing_data="append", storage_options=store.options),
        lambda: orcish.write_dataset(ROWS, f"s3://shelf/t/{own}", storage_options=store.options),
        lambda: shell("convert", "rows.csv", "s3://shelf/t", "--existing-data", "append", *storage),
        *(
            lambda target=target, verb=verb: shell(verb, "rows.orc", "-o", f"s3://shelf/t/{target}", *storage)
            for verb in ("rewrite", "merge", "recover")
            for target in ("z.orc", f"{own}/z.orc")
        ),
        lambda: shell("rewrite", f"s3://shelf/t/{LAYOUTS[layout][-1]}", "--in-place", *storage),
    ):
        assert_refused(call, capsys)
    assert store.objects() == before
    orcish.write_dataset(ROWS, "s3://shelf/plain/base_7", storage_options=store.options)
    shell("merge", "rows.orc", "-o", "s3://shelf/plain/base_7.orc", *storage)
