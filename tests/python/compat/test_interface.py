"""The replacement of ``pyarrow.orc`` has its names, arguments and exceptions."""

from __future__ import annotations

import inspect
import io
from pathlib import Path
from typing import Any

import numpy as np
import orcish
import pyarrow as pa
import pyarrow.orc
import pytest
from orcish.compat import pyarrow_orc

NAMES = ["ORCFile", "ORCWriter", "read_table", "write_table"]
TABLE = pa.table({"a": [1, 2, None], "s": [{"x": 1, "y": {"z": "q"}}, None, {"x": 2, "y": None}], "b": ["p", "q", "r"]})


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A file of pyarrow."""
    pyarrow.orc.write_table(TABLE, tmp_path / "a.orc")
    return tmp_path / "a.orc"


def own_names(module: Any) -> set[str]:
    """Public names that a module defines."""
    return {
        name
        for name, value in vars(module).items()
        if not name.startswith("_") and getattr(value, "__module__", None) == module.__name__
    }


def test_names() -> None:
    assert own_names(pyarrow.orc) == set(NAMES)
    assert set(pyarrow_orc.__all__) == {*NAMES, "IgnoredOptionWarning"}


@pytest.mark.parametrize("name", ["ORCFile", "ORCWriter"])
def test_members(name: str, path: Path) -> None:
    theirs, ours = getattr(pyarrow.orc, name), getattr(pyarrow_orc, name)
    wanted = {each for each in dir(theirs) if not each.startswith("_")} | {"__enter__", "__exit__", "__del__"}
    assert {each for each in wanted if hasattr(theirs, each)} <= set(dir(ours))
    made = [(kind(path) if name == "ORCFile" else kind(io.BytesIO())) for kind in (theirs, ours)]
    assert {each for each in vars(made[0]) if not each.startswith("_")} <= set(dir(made[1]))


def parameters(function: Any) -> list[tuple[str, Any, Any]]:
    return [(each.name, each.kind, each.default) for each in inspect.signature(function).parameters.values()]


@pytest.mark.parametrize(
    "name",
    [
        "read_table",
        "write_table",
        "ORCFile",
        "ORCFile.read",
        "ORCFile.read_stripe",
        "ORCWriter",
        "ORCWriter.write",
        "ORCWriter.close",
    ],
)
def test_signatures(name: str) -> None:
    def found(module: Any) -> Any:
        for part in name.split("."):
            module = getattr(module, part)
        return module

    assert parameters(found(pyarrow_orc)) == parameters(found(pyarrow.orc))


def test_arguments_by_position(path: Path) -> None:
    for orc in (pyarrow.orc, pyarrow_orc):
        assert orc.read_table(path, ["b"], pa.fs.LocalFileSystem()).equals(TABLE.select(["b"]))
        assert orc.ORCFile(path).read(["b"]).equals(TABLE.select(["b"]))
        assert orc.ORCFile(path).read_stripe(0, ["b"]).equals(TABLE.select(["b"]).to_batches()[0])


def test_results(path: Path) -> None:
    theirs, ours = pyarrow.orc.ORCFile(path), pyarrow_orc.ORCFile(path)
    assert isinstance(ours.read(), pa.Table)
    assert isinstance(ours.read_stripe(0), pa.RecordBatch)
    assert isinstance(ours.metadata, pa.KeyValueMetadata)
    assert isinstance(ours.schema, pa.Schema)
    assert ours.read().equals(theirs.read(), check_metadata=True)
    assert ours.read_stripe(0).equals(theirs.read_stripe(0), check_metadata=True)


def test_metadata(tmp_path: Path) -> None:
    orcish.write_table(TABLE, tmp_path / "a.orc", metadata={"k": b"\xff", "owner": "me"})
    theirs, ours = pyarrow.orc.ORCFile(tmp_path / "a.orc"), pyarrow_orc.ORCFile(tmp_path / "a.orc")
    assert ours.metadata.equals(theirs.metadata)
    assert ours.metadata[b"k"] == b"\xff"
    assert ours.schema.equals(theirs.schema, check_metadata=True)
    assert ours.read([]).schema.metadata == theirs.schema.metadata


def test_files_of_orcish(tmp_path: Path) -> None:
    """The types are those of ORC, also where the file has an Arrow schema. pyarrow does not know the writer."""
    table = pa.table({"u": pa.array([1], pa.uint16()), "d": pa.array(["a"]).dictionary_encode()})
    orcish.write_table(table, tmp_path / "a.orc", compression="brotli")
    file = pyarrow_orc.ORCFile(tmp_path / "a.orc")
    assert file.schema.types == [pa.int32(), pa.string()]
    assert file.writer == int.from_bytes(b"orcs", "big")
    assert file.software_version == f"orcish {orcish.__version__}"
    assert (file.compression, file.file_version, file.writer_version) == ("BROTLI", "0.12", "ORC_14")
    assert isinstance(file.reader, orcish.ORCFile)


SPARK = "spark.sql.catalyst.type"


def test_types_of_spark(tmp_path: Path) -> None:
    """Intervals are integers, as in pyarrow. Timestamps without zone are timestamps, where pyarrow has microseconds."""
    kinds = [
        ("i", pa.int64(), "interval day to second"),
        ("m", pa.int32(), "interval year to month"),
        ("t", pa.int64(), "timestamp_ntz"),
    ]
    schema = pa.schema([pa.field(name, kind, metadata={SPARK: spark}) for name, kind, spark in kinds])
    pyarrow.orc.write_table(pa.table([[1, None], [2, 3], [4, 5]], schema), tmp_path / "a.orc")
    theirs, ours = pyarrow.orc.read_table(tmp_path / "a.orc"), pyarrow_orc.read_table(tmp_path / "a.orc")
    assert ours.select(["i", "m"]).equals(theirs.select(["i", "m"]), check_metadata=True)
    assert theirs["t"].to_pylist() == [4, 5]
    assert ours["t"].equals(theirs["t"].cast(pa.timestamp("us")).cast(pa.timestamp("ns")))


def test_dates_of_pyarrow(tmp_path: Path) -> None:
    """Files of the C++ library have Gregorian dates, and do not say so."""
    table = pa.table({"d": pa.array([-800_000, -141_428, -141_427, 0], pa.date32())})
    for writer in (pyarrow.orc, pyarrow_orc):
        writer.write_table(table, tmp_path / "a.orc")
        assert pyarrow.orc.read_table(tmp_path / "a.orc").equals(table)
        assert pyarrow_orc.read_table(tmp_path / "a.orc").equals(table)


class Unseekable:
    closed = False

    def read(self, size: int = -1) -> bytes:
        return b""


def closed() -> io.BytesIO:
    file = io.BytesIO(b"x")
    file.close()
    return file


@pytest.mark.parametrize(
    ("call", "kind"),
    [
        (lambda orc, path: orc.ORCFile(path.with_name("none.orc")), FileNotFoundError),
        (lambda orc, path: orc.read_table(path.with_name("none.orc")), FileNotFoundError),
        (lambda orc, path: orc.read_table("no/such/none.orc"), FileNotFoundError),
        (lambda orc, path: orc.ORCFile(path.parent), OSError),
        (lambda orc, path: orc.read_table(path.parent), OSError),
        (lambda orc, path: orc.ORCFile(path.read_bytes()), TypeError),
        (lambda orc, path: orc.read_table(path.read_bytes()), TypeError),
        (lambda orc, path: orc.ORCFile(memoryview(path.read_bytes())), TypeError),
        (lambda orc, path: orc.ORCFile(3), TypeError),
        (lambda orc, path: orc.ORCFile(io.StringIO("text")).read(), TypeError),
        (lambda orc, path: orc.ORCFile(closed()), ValueError),
        (lambda orc, path: orc.ORCFile(pa.BufferReader(b"")), OSError),
        (lambda orc, path: orc.ORCFile(pa.BufferReader(b"no file of ORC" * 50)), OSError),
        (lambda orc, path: orc.read_table(path, filesystem=3), TypeError),
        (lambda orc, path: orc.read_table(path, filesystem="file:///no/such/folder"), ValueError),
        (lambda orc, path: orc.read_table(io.BytesIO(), filesystem=pa.fs.LocalFileSystem()), ValueError),
        (
            lambda orc, path: orc.read_table(path, filesystem=pa.fs.SubTreeFileSystem("/", pa.fs.LocalFileSystem())),
            TypeError,
        ),
        (lambda orc, path: orc.read_table("unknown://host/a.orc"), pa.ArrowInvalid),
        (lambda orc, path: orc.ORCFile(path).read(["none"]), OSError),
        (lambda orc, path: orc.ORCFile(path).read(["A"]), OSError),
        (lambda orc, path: orc.ORCFile(path).read(["s."]), OSError),
        (lambda orc, path: orc.ORCFile(path).read([""]), OSError),
        (lambda orc, path: orc.read_table(path, ["none"]), OSError),
        (lambda orc, path: orc.ORCFile(path).read([3]), ValueError),
        (lambda orc, path: orc.ORCFile(path).read([-1]), ValueError),
        (lambda orc, path: orc.ORCFile(path).read([0, "a"]), TypeError),
        (lambda orc, path: orc.ORCFile(path).read(["a", 0]), TypeError),
        (lambda orc, path: orc.ORCFile(path).read([None]), TypeError),
        (lambda orc, path: orc.ORCFile(path).read([1.5]), TypeError),
        (lambda orc, path: orc.ORCFile(path).read(3), TypeError),
        (lambda orc, path: orc.ORCFile(path).read_stripe(1), pa.ArrowInvalid),
        (lambda orc, path: orc.ORCFile(path).read_stripe(-1), pa.ArrowInvalid),
        (lambda orc, path: orc.ORCFile(path).read_stripe("0"), TypeError),
        (lambda orc, path: orc.ORCFile(path).read_stripe(0, ["none"]), OSError),
        (lambda orc, path: orc.ORCFile(path).nrows(), TypeError),
        (lambda orc, path: orc.read_table(path, rows=3), TypeError),
        (lambda orc, path: orc.ORCFile(path, path), TypeError),
    ],
)
def test_exceptions(call: Any, kind: type[Exception], path: Path) -> None:
    for orc in (pyarrow.orc, pyarrow_orc):
        with pytest.raises(kind):
            call(orc, path)


@pytest.mark.parametrize("source", [None, Unseekable()])
def test_sources_that_pyarrow_does_not_check(source: Any) -> None:
    with pytest.raises(TypeError):
        pyarrow_orc.ORCFile(source)


@pytest.mark.parametrize("index", [False, np.int64(0), np.uint8(0)])
def test_kinds_of_indexes(index: Any, path: Path) -> None:
    for orc in (pyarrow.orc, pyarrow_orc):
        assert orc.ORCFile(path).read_stripe(index).num_rows == 3
        assert orc.ORCFile(path).read([index]).column_names == ["a"]


def test_timestamps_out_of_range(tmp_path: Path) -> None:
    orcish.write_table(pa.table({"t": pa.array([10**17], pa.timestamp("us"))}), tmp_path / "a.orc")
    for orc in (pyarrow.orc, pyarrow_orc):
        with pytest.raises(pa.ArrowInvalid):
            orc.read_table(tmp_path / "a.orc")


def test_text_that_is_not_utf8(tmp_path: Path) -> None:
    """pyarrow writes such text, and reads it as an array that is not valid."""
    buffers = [None, pa.py_buffer(bytes([0, 0, 0, 0, 1, 0, 0, 0])), pa.py_buffer(b"\xff")]
    pyarrow.orc.write_table(pa.table({"t": pa.Array.from_buffers(pa.string(), 1, buffers)}), tmp_path / "a.orc")
    with pytest.raises(pa.ArrowInvalid):
        pyarrow.orc.read_table(tmp_path / "a.orc").validate(full=True)
    with pytest.raises(OSError, match="not valid UTF-8"):
        pyarrow_orc.read_table(tmp_path / "a.orc")
    file = pyarrow_orc.ORCFile(tmp_path / "a.orc").reader
    assert file.read(invalid_utf8="replace")["t"].to_pylist() == ["\ufffd"]


def test_errors_have_a_cause(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(OSError, match=r"a\.orc") as info:
        pyarrow_orc.read_table(path)
    assert isinstance(info.value.__cause__, orcish.CorruptFileError)
