"""URLs of schemes that fsspec opens."""

from __future__ import annotations

import pickle
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import fsspec
import orcish
import pyarrow as pa
import pytest
from fsspec.implementations.memory import MemoryFileSystem
from orcish_cli import main
from orcish_cli.formats.places import open_output
from support.http_server import serve

TABLE = pa.table({"a": list(range(3000)), "s": [f"text {i}" for i in range(3000)]})


class Shelf(MemoryFileSystem):  # type: ignore[misc]
    """A file system with a password."""

    protocol = "shelf"
    store: ClassVar[dict[str, Any]] = {}
    pseudo_dirs: ClassVar[list[str]] = [""]

    def __init__(self, password: str | None = None, **options: Any) -> None:
        super().__init__(**options)
        if password != "hush":
            raise PermissionError("the password is wrong")


@pytest.fixture(params=["memory://", "shelf://"])
def place(request: Any) -> tuple[str, dict[str, Any]]:
    """An empty folder, and the options by which it is reached."""
    fsspec.register_implementation("shelf", Shelf, clobber=True)
    fsspec.filesystem("memory").store.clear()
    Shelf.store.clear()
    base = f"{request.param}/room"
    return base, {"storage_options": {"password": "hush"}} if request.param == "shelf://" else {}


def test_files_and_folders(place: tuple[str, dict[str, Any]]) -> None:
    base, options = place
    first, second = (f"{base}/t/day={day}/a.orc" for day in (1, 2))
    assert orcish.write_table(TABLE, first, **options).rows == 3000
    with orcish.ORCWriter(second, TABLE.schema, **options) as writer:
        writer.write(TABLE)
    for source in (first, [first]):
        assert orcish.read_table(source, **options).equals(TABLE)
    file = orcish.ORCFile(first, **options)
    assert pickle.loads(pickle.dumps(file)).read().equals(TABLE)
    assert first in repr(file)
    for source in (f"{base}/t", f"{base}/t/", f"{base}/t/day=*", f"{base}/t/*/*.orc"):
        scan = orcish.scan(source, **options)
        assert scan.files == [first, second]
        assert scan.where("day = 2 and a < 3").count() == 3
        assert orcish.count_rows(source, **options) == orcish.read_table(source, **options).num_rows == 6000
    assert orcish.scan([first, f"{base}/t/day=2"], partitions=True, **options).schema.names == ["a", "s", "day"]
    assert [part.scan().count() for part in pickle.loads(pickle.dumps(scan.splits()))] == [3000, 3000]
    assert orcish.merge([first, second], f"{base}/t/b.orc", **options).rows == 6000
    for call in (orcish.read_table, orcish.scan, orcish.ORCFile):
        with pytest.raises(FileNotFoundError, match="none"):
            call(f"{base}/none.orc", **options)


def test_files_that_replace_none(place: tuple[str, dict[str, Any]], tmp_path: Path) -> None:
    """By default, a file that is there stays, and so does one that appears meanwhile."""
    base, options = place
    for name in ("a.orc", "a.csv"):
        url = f"{base}/{name}"
        if name == "a.orc":
            writer = orcish.ORCWriter(url, TABLE.schema, **options)
            writer.write(TABLE)
            close, abort = writer.close, writer.abort
        else:
            sink = open_output(url, options.get("storage_options", {}), "error")
            sink.write(b"a,s\n")
            close, abort = sink.publish, sink.abort
        orcish.write_table(TABLE.slice(0, 7), url, **options)
        with pytest.raises(FileExistsError, match=f"{name}: another process has written the target meanwhile"):
            close()
        abort()
        assert orcish.count_rows(url, **options) == 7
        with pytest.raises(FileExistsError, match=f"{name}: the target is there already"):
            orcish.merge([url], url, **options)
    assert len(orcish.scan(f"{base}/*", **options).files) == 2


def test_tables_are_not_written(place: tuple[str, dict[str, Any]]) -> None:
    base, options = place
    calls: list[Callable[..., object]] = [
        lambda url, **more: orcish.write_dataset(TABLE, url, **more),
        orcish.compact,
        lambda url, **more: orcish.delete(url, "a = 1", **more),
        orcish.history,
        orcish.recover,
        orcish.vacuum,
    ]
    for call in calls:
        with pytest.raises(orcish.UnsupportedError, match=f"{base}.*a table there is not written"):
            call(f"{base}/t", **options)


def test_tables_are_converted(place: tuple[str, dict[str, Any]], tmp_path: Path) -> None:
    base, options = place
    orcish.write_table(TABLE, f"{base}/t/day=1/a.orc", **options)
    orcish.convert(f"{base}/t", tmp_path / "copy", **options)
    assert orcish.read_table(tmp_path / "copy").drop(["day"]).equals(TABLE)


def test_chains(tmp_path: Path) -> None:
    orcish.write_table(TABLE, tmp_path / "a.orc")
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as file:
        file.write(tmp_path / "a.orc", "t/day=1/a.orc")
    chain = f"::file://{tmp_path}/all.zip"
    assert orcish.read_table(f"zip://t/day=1/a.orc{chain}").equals(TABLE)
    with serve({"/a.orc": (tmp_path / "a.orc").read_bytes()}) as server:
        assert orcish.read_table(f"simplecache::{server.url}/a.orc").equals(TABLE)


def test_the_command_line(place: tuple[str, dict[str, Any]], capsys: Any) -> None:
    base, options = place
    if options:
        return
    orcish.write_table(TABLE, f"{base}/t/day=1/a.orc")
    for source in (f"{base}/t", f"{base}/t/day=1/a.orc"):
        assert main(["data", "--limit", "2", source]) == 0
        assert "text 1" in capsys.readouterr().out
        assert main(["meta", source]) == 0
        assert "3000" in capsys.readouterr().out.replace(",", "")


CALLS: list[Callable[[str], object]] = [
    orcish.ORCFile,
    orcish.read_table,
    orcish.scan,
    orcish.read_schema,
    lambda url: orcish.scan([url]),
    lambda url: orcish.write_table(TABLE, url),
    lambda url: orcish.merge([url], "a.orc"),
]


def test_what_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error names what to install, and has no password."""
    url = "sftp://user:hush@host/t/a.orc"
    unsupported = orcish.UnsupportedError
    for call in CALLS:
        with monkeypatch.context() as patch:
            patch.setitem(sys.modules, "paramiko", None)
            patch.delitem(sys.modules, "fsspec.implementations.sftp", raising=False)
            with pytest.raises(unsupported, match=r"fsspec needs another package for sftp://: .*paramiko") as error:
                call(url)
            assert "hush" not in str(error.value)
            with pytest.raises(unsupported, match="nosuch is known to neither orcish nor fsspec"):
                call("nosuch://host/t/a.orc")
            patch.setitem(sys.modules, "fsspec", None)
            with pytest.raises(unsupported, match=r"no client for sftp://, and fsspec, .*: `pip install fsspec`$"):
                call(url)
