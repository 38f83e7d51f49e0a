"""Sources and targets are those of ``pyarrow.orc``: paths, URIs, file systems, file objects and buffers."""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import Any

import fsspec
import pyarrow as pa
import pyarrow.orc
import pytest
from orcish.compat import pyarrow_orc
from pyarrow import fs
from support.s3_store import BUCKET

TABLE = pa.table({"a": [1, 2, None], "b": ["p", "q", "r"]})


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file in the current folder, which is also the home folder."""
    folder = tmp_path / "folder"
    folder.mkdir()
    pyarrow.orc.write_table(TABLE, folder / "a.orc")
    monkeypatch.chdir(folder)
    monkeypatch.setenv("HOME", str(folder))
    return folder / "a.orc"


class PathLike:
    def __init__(self, path: Path) -> None:
        self.path = path

    def __fspath__(self) -> str:
        return str(self.path)


FILES: list[Any] = [
    str,
    Path,
    PathLike,
    lambda path: path.name,
    lambda path: f"./{path.name}",
    lambda path: f"~/{path.name}",
    lambda path: path.open("rb"),
    lambda path: path.open("rb", buffering=0),
    lambda path: io.BytesIO(path.read_bytes()),
    lambda path: pa.BufferReader(path.read_bytes()),
    lambda path: pa.py_buffer(path.read_bytes()),
    lambda path: pa.OSFile(str(path)),
    lambda path: pa.memory_map(str(path)),
    lambda path: pa.PythonFile(path.open("rb"), mode="r"),
    lambda path: fs.LocalFileSystem().open_input_file(str(path)),
    lambda path: fsspec.open(str(path)).open(),
]


@pytest.mark.parametrize("source", FILES)
@pytest.mark.filterwarnings("ignore:unclosed file:ResourceWarning")
def test_files(source: Any, path: Path) -> None:
    for orc in (pyarrow.orc, pyarrow_orc):
        assert orc.ORCFile(source(path)).read().equals(TABLE)
        assert orc.read_table(source(path)).equals(TABLE)
        assert orc.ORCFile(source(path)).read_stripe(0).num_rows == 3


def memory(path: Path) -> Any:
    """A file system of fsspec with the file."""
    system = fsspec.filesystem("memory")
    system.pipe("/shelf/a.orc", path.read_bytes())
    return system


@pytest.mark.parametrize(
    "arguments",
    [
        lambda path: (path.as_uri(), None),
        lambda path: (str(path), fs.LocalFileSystem()),
        lambda path: (path, fs.LocalFileSystem()),
        lambda path: (f"~/{path.name}", fs.LocalFileSystem()),
        lambda path: (path.name, path.parent.as_uri()),
        lambda path: (path.name, fs.SubTreeFileSystem(str(path.parent), fs.LocalFileSystem())),
        lambda path: ("shelf/a.orc", memory(path)),
        lambda path: ("shelf/a.orc", fs.PyFileSystem(fs.FSSpecHandler(memory(path)))),
        lambda path: (str(path), fsspec.filesystem("file")),
        lambda path: (path, fsspec.filesystem("file")),
    ],
)
def test_file_systems(arguments: Any, path: Path) -> None:
    for orc in (pyarrow.orc, pyarrow_orc):
        source, filesystem = arguments(path)
        assert orc.read_table(source, filesystem=filesystem).equals(TABLE)
        assert orc.read_table(source, ["b"], filesystem).equals(TABLE.select(["b"]))


def test_paths_with_signs_of_urls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that exists is a file, whatever its name looks like."""
    monkeypatch.chdir(tmp_path)
    for name in ("day:1.orc", "a*.orc", "[x]?.orc", "100%.orc", "a#b.orc"):
        for orc in (pyarrow.orc, pyarrow_orc):
            orc.write_table(TABLE, name)
            assert orc.ORCFile(name).read().equals(TABLE)
            # pyarrow takes a name with a colon for a URI, here.
            assert (":" in name and orc is pyarrow.orc) or orc.read_table(name).equals(TABLE)


def test_objects_of_s3(store: Any, path: Path) -> None:
    """A file system of pyarrow, and its files."""
    key = f"{BUCKET}/folder/a.orc"
    store.client.put_object(Bucket=BUCKET, Key="folder/a.orc", Body=path.read_bytes())
    options = store.options
    system = fs.S3FileSystem(
        access_key=options["aws_access_key_id"],
        secret_key=options["aws_secret_access_key"],
        region=options["aws_region"],
        endpoint_override=options["aws_endpoint"],
    )
    for orc in (pyarrow.orc, pyarrow_orc):
        assert orc.read_table(key, filesystem=system).equals(TABLE)
        assert orc.ORCFile(system.open_input_file(key)).read(["b"]).equals(TABLE.select(["b"]))
        with pytest.raises(FileNotFoundError):
            orc.read_table(f"{BUCKET}/none.orc", filesystem=system)


def test_urls_of_orcish(store: Any, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """orcish opens URLs itself where pyarrow takes paths only."""
    for key, value in store.options.items():
        monkeypatch.setenv(key.upper(), str(value).lower())
    pyarrow_orc.write_table(TABLE, f"s3://{BUCKET}/c.orc")
    assert pyarrow_orc.ORCFile(f"s3://{BUCKET}/c.orc").read().equals(TABLE)
    assert pyarrow_orc.ORCFile(path.as_uri()).read().equals(TABLE)


@pytest.mark.parametrize(
    "target",
    [
        str,
        Path,
        PathLike,
        lambda path: path.name,
        lambda path: f"~/{path.name}",
    ],
)
def test_targets_by_path(target: Any, path: Path) -> None:
    for orc in (pyarrow.orc, pyarrow_orc):
        path.unlink()
        orc.write_table(TABLE, target(path))
        assert pyarrow.orc.read_table(path).equals(TABLE)


def test_targets_that_are_file_objects(path: Path) -> None:
    for orc in (pyarrow.orc, pyarrow_orc):
        stream = pa.BufferOutputStream()
        orc.write_table(TABLE, stream)
        assert pyarrow.orc.read_table(pa.BufferReader(stream.getvalue())).equals(TABLE)
        buffer = io.BytesIO()
        orc.write_table(TABLE, buffer)
        assert not buffer.closed
        assert pyarrow.orc.read_table(buffer).equals(TABLE)
        with path.open("wb") as file:
            orc.write_table(TABLE, file)
        assert pyarrow.orc.read_table(path).equals(TABLE)
        with pa.OSFile(str(path), "wb") as file:
            orc.write_table(TABLE, file)
        assert pyarrow.orc.read_table(path).equals(TABLE)


@pytest.mark.parametrize(
    ("target", "kind"),
    [
        (lambda path: path.parent, IsADirectoryError),
        (lambda path: path.parent / "none" / "a.orc", FileNotFoundError),
        (lambda path: None, TypeError),
        (lambda path: 3, TypeError),
        (lambda path: io.StringIO(), TypeError),
        (lambda path: path.open("rb"), TypeError),
        (lambda path: pa.BufferReader(b""), OSError),
    ],
)
@pytest.mark.filterwarnings("ignore:unclosed file:ResourceWarning")
def test_exceptions_of_targets(target: Any, kind: type[Exception], path: Path) -> None:
    for orc in (pyarrow.orc, pyarrow_orc):
        with pytest.raises(kind):
            orc.ORCWriter(target(path))


def test_closed_targets() -> None:
    buffer = io.BytesIO()
    buffer.close()
    for orc in (pyarrow.orc, pyarrow_orc):
        with pytest.raises(ValueError, match="closed file"):
            orc.ORCWriter(buffer)


def test_files_that_change(path: Path) -> None:
    """A reader of a local file reads the file that it has opened."""
    ours = pyarrow_orc.ORCFile(path)
    os.replace(path, path.with_name("b.orc"))
    assert ours.read().equals(TABLE)


@pytest.mark.parametrize("uri", ["https://user:SECRET@host/x.orc?sig=SECRET", "nosuch://user:SECRET@host/x?k=SECRET"])
def test_errors_of_uris_have_no_credentials(uri: str) -> None:
    calls: list[Any] = [
        lambda: pyarrow_orc.read_table(uri),
        lambda: pyarrow_orc.ORCFile(uri),
        lambda: pyarrow_orc.read_table("x.orc", filesystem=uri),
        lambda: pyarrow_orc.write_table(TABLE, uri),
    ]
    for call in calls:
        with pytest.raises(Exception, match=r"host|x") as error:
            call()
        assert "SECRET" not in f"{error.value!r} {error.value} {error.value.__cause__!r} {error.value.__context__!r}"


def test_errors_of_uris_are_those_of_pyarrow() -> None:
    for arguments in ({"source": "https://host/x.orc"}, {"source": "x.orc", "filesystem": "https://host/"}):
        with pytest.raises(pa.ArrowInvalid, match=r"Unrecognized filesystem type in URI: https://host"):
            pyarrow_orc.read_table(**arguments)
