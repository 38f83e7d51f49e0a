"""What people expect of files, scans and functions of a library: pickles, ``with``, notebooks, sizes, short ways."""

import contextlib
import gc
import io
import os
import pathlib
import pickle
import pydoc
import subprocess
import sys
import warnings
from collections.abc import Callable
from typing import Any

import duckdb
import numpy as np
import orcish
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pytest
from orcish import col
from support.case_loops import each_case
from support.orc_builder import DATA, LONG, STRUCT, column_type, integers, orc

ROWS = pa.table({"id": range(2500), "name": [f"<n{number}>" for number in range(2500)]})


@pytest.fixture
def path(tmp_path: pathlib.Path) -> pathlib.Path:
    orcish.write_table(ROWS, tmp_path / "a.orc", row_index_stride=1000)
    return tmp_path / "a.orc"


COUNT = """
import pickle, sys, orcish
for found in pickle.load(sys.stdin.buffer):
    print(len(found.read()) if isinstance(found, orcish.ORCFile) else found.count())
"""


def test_pickles(path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files and scans are read in any process, with their selection."""
    monkeypatch.chdir(path.parent)
    table = path.parent / "t"
    orcish.write_dataset(ROWS.append_column("k", [[1] * 2500]), table, partition_by="k")
    cases: list[tuple[Any, int]] = [
        (orcish.ORCFile(path), 2500),
        (orcish.ORCFile("a.orc"), 2500),
        (orcish.ORCFile(path.read_bytes()), 2500),
        (orcish.scan(path, filters="id < 10"), 10),
        (orcish.scan(table, columns=["k", "id"]).where((col("id") >= 5) & (col("k") == 1)).limit(7), 7),
        (orcish.scan(table).where(pl.col("id") < 3), 3),
    ]
    given = pickle.dumps([found for found, _ in cases])
    monkeypatch.chdir("/")
    said = subprocess.run([sys.executable, "-c", COUNT], input=given, capture_output=True, check=True).stdout
    assert [int(line) for line in said.split()] == [rows for _, rows in cases]
    for found, _ in cases[3:]:
        assert pickle.loads(pickle.dumps(found)).to_table().equals(found.to_table())
    for source in (io.BytesIO(path.read_bytes()),):
        with pytest.raises(TypeError, match="cannot be pickled: only files of paths, URLs and bytes can"):
            pickle.dumps(orcish.ORCFile(source))


def test_pickled_files_are_not_read_again(path: pathlib.Path) -> None:
    """The tail is in the pickle."""
    pickled = pickle.dumps(orcish.ORCFile(path))
    found = path.stat()
    path.write_bytes(bytes(found.st_size))
    os.utime(path, ns=(found.st_atime_ns, found.st_mtime_ns))
    file = pickle.loads(pickled)
    assert (file.num_rows, file.schema) == (2500, ROWS.schema)
    path.write_bytes(b"")
    with pytest.raises(OSError, match=rf"{path}: .*the file was replaced"):
        pickle.loads(pickled)
    path.unlink()
    with pytest.raises(FileNotFoundError):
        pickle.loads(pickled)


def test_files_are_closed_by_with(path: pathlib.Path) -> None:
    with orcish.ORCFile(path) as file:
        batches = file.iter_batches(batch_size=1000)
        assert next(batches).num_rows == 1000
    assert sum(len(batch) for batch in batches) == 1500
    for use in (lambda: file.num_rows, file.read, lambda: file.schema, lambda: pa.table(file)):
        with pytest.raises(ValueError, match=r"a\.orc: the file is closed"):
            use()
    assert repr(file) == f"<orcish.ORCFile {path}: closed>"
    file.close()
    given = io.BytesIO(path.read_bytes())
    with orcish.ORCFile(given) as other:
        assert other.num_rows == 2500
    assert not given.closed


def test_frames(path: pathlib.Path) -> None:
    """A scan is not taken for a list of its batches."""
    for found in (orcish.ORCFile(path), orcish.scan(path)):
        assert found.to_pandas().equals(ROWS.to_pandas())
        assert found.to_polars().equals(pl.DataFrame(ROWS))
        assert found.head(3).equals(ROWS.slice(0, 3))
        assert found.head().num_rows == 10
    for make in (pd.DataFrame, np.asarray):
        with pytest.raises(TypeError, match=r"to_pandas\(\) reads it into a data frame"):
            make(orcish.scan(path))


def test_notebooks(path: pathlib.Path) -> None:
    """Names and values are text, and no HTML."""
    odd = path.with_name("<b>.orc")
    orcish.write_table(pa.table({"<i>": [1], **{f"c{number}": [1] for number in range(150)}}), odd)
    file, scan = orcish.ORCFile(odd), orcish.scan(odd)
    for found in (file, scan):
        shown = found._repr_html_()
        assert "&lt;i&gt;" in shown
        assert "&lt;b&gt;.orc" in shown
        assert "int64" in shown
        assert "… 51 more" in shown
        assert "<b>.orc" not in shown
    assert scan.where("c1 < 0").explain()._repr_html_().startswith("<pre>")


def test_short_ways(path: pathlib.Path) -> None:
    assert orcish.read_schema(path) == ROWS.schema
    assert orcish.read_metadata(path).num_rows == 2500
    assert orcish.count_rows(path) == 2500
    assert orcish.count_rows(path, filters=col("id") < 5) == 5
    assert orcish.head(path, 2, columns="id", filters="id > 7").to_pydict() == {"id": [8, 9]}


SIZED: list[tuple[str, Callable[[pathlib.Path, Any], object]]] = [
    ("stripe_size", lambda path, size: orcish.write_table(ROWS, path, existing_data="overwrite", stripe_size=size)),
    (
        "compression_block_size",
        lambda path, size: orcish.write_table(ROWS, path, existing_data="overwrite", compression_block_size=size),
    ),
    ("max_memory", lambda path, size: orcish.write_dataset(ROWS, path.with_name("t"), max_memory=size)),
    ("split_size", lambda path, size: orcish.scan(path).splits(size)),
]


@each_case(("name", "use"), SIZED, ids=[name for name, _ in SIZED])
def test_sizes(path: pathlib.Path, name: str, use: Callable[[pathlib.Path, Any], object]) -> None:
    """Texts with a unit are sizes."""
    use(path, "64 KiB")
    for wrong in ("many", "-1", "0", "1.5MB", ""):
        with pytest.raises(ValueError, match=f"^{name}='{wrong}' is no size: write bytes, or for example 512MB"):
            use(path, wrong)


def test_a_size_is_that_of_its_text(tmp_path: pathlib.Path) -> None:
    files = []
    for size in ("64KB", 64 << 10):
        orcish.write_table(ROWS, tmp_path / "a.orc", compression_block_size=size, existing_data="overwrite")
        files.append((tmp_path / "a.orc").read_bytes())
    assert files[0] == files[1]


def test_truncated_files_are_told_from_other_files(path: pathlib.Path) -> None:
    data = path.read_bytes()
    for length in range(8, len(data) - 300, 211):
        with pytest.raises(orcish.CorruptFileError, match="begins like one, and may be truncated"):
            orcish.ORCFile(data[:length])
    with pytest.raises(orcish.CorruptFileError, match="not an ORC file") as raised:
        orcish.ORCFile(b"id,name\n1,a\n2,b\n")
    assert "truncated" not in str(raised.value)


READERS: dict[str, Callable[[pathlib.Path], pa.RecordBatchReader]] = {
    "file": lambda path: orcish.ORCFile(path).reader(),
    "residual": lambda path: orcish.ORCFile(path).reader(filters=pl.col("id").sqrt() >= 0),
    "scan": lambda path: orcish.scan(path).reader(),
}


@each_case("make", READERS.values(), ids=READERS)
def test_readers_are_readers_of_pyarrow(path: pathlib.Path, make: Callable[[pathlib.Path], Any]) -> None:
    """All that takes such a reader takes those of files and scans."""
    assert isinstance(make(path), pa.RecordBatchReader)
    with make(path) as reader:
        assert reader.schema == ROWS.schema
        assert reader.read_next_batch().num_rows > 0
    assert make(path).read_all().equals(ROWS)
    assert make(path).read_pandas().equals(ROWS.to_pandas())
    assert pl.DataFrame(make(path)).equals(pl.DataFrame(ROWS))
    assert pd.DataFrame.from_arrow(make(path)).equals(ROWS.to_pandas())
    assert ds.Scanner.from_batches(make(path)).to_table().equals(ROWS)
    assert make(path).cast(pa.schema([("id", pa.int32()), ("name", pa.large_string())])).read_all().num_rows == 2500
    rows = make(path)
    with duckdb.connect() as connection:
        connection.register("rows", rows)
        assert connection.sql("select count(*), max(id) from rows").fetchall() == [(2500, 2499)]


def test_readers_of_deep_types(tmp_path: pathlib.Path) -> None:
    """Types that pyarrow does not import are passed to it level by level."""
    levels = [column_type(STRUCT, [number + 1], ["f"]) for number in range(80)]
    (tmp_path / "a.orc").write_bytes(orc([*levels, column_type(LONG)], [(2, [(80, DATA, integers([1, 2]))])]))
    expected = orcish.read_table(tmp_path / "a.orc")
    for reader in (orcish.ORCFile(tmp_path / "a.orc").reader(), orcish.scan(tmp_path / "a.orc").reader()):
        assert isinstance(reader, pa.RecordBatchReader)
        assert reader.read_all().equals(expected)


def test_readers_say_what_is_wrong(path: pathlib.Path) -> None:
    data = bytearray(path.read_bytes())
    data[3:400] = b"\xff" * 397
    file = orcish.ORCFile(bytes(data))
    with pytest.raises(orcish.CorruptFileError) as raised:
        file.read()
    with pytest.raises(pa.ArrowInvalid) as other:
        file.reader().read_all()
    assert str(raised.value) in str(other.value)


def test_writers_that_are_not_closed(tmp_path: pathlib.Path) -> None:
    """They warn, unless they were aborted or have failed, and leave no file under the name."""
    path = tmp_path / "a.orc"
    writer = orcish.ORCWriter(path, ROWS.schema)
    writer.write(ROWS)
    assert repr(writer) == f"<orcish.ORCWriter {path}: 2500 rows, open>"
    kept = [writer]
    del writer
    with pytest.warns(ResourceWarning, match=r"a\.orc: 2500 rows, open> was not closed: its file does not appear"):
        kept.clear()
    assert list(tmp_path.iterdir()) == []


ENDS: dict[str, Callable[[orcish.ORCWriter], object]] = {
    "closed": lambda writer: writer.close(),
    "aborted": lambda writer: writer.abort(),
    "failed": lambda writer: writer.write(pa.table({"other": [1]})),
}


@each_case("state", ENDS)
@each_case("to_file", [False, True])
def test_writers_say_what_became_of_them(state: str, to_file: bool, tmp_path: pathlib.Path) -> None:
    """None of them warns."""
    target = io.BytesIO() if to_file else tmp_path / "a.orc"
    writer = orcish.ORCWriter(target, ROWS.schema)
    with contextlib.suppress(ValueError):
        ENDS[state](writer)
    assert repr(writer) == f"<orcish.ORCWriter {'<BytesIO>' if to_file else target}: 0 rows, {state}>"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        del writer
        gc.collect()


def test_scans_say_what_they_read(path: pathlib.Path) -> None:
    scan = orcish.scan(path)
    assert repr(scan) == f"<orcish.Scan of {path}>"
    chosen = scan.select("id").where(col("id") > 5).limit(3)
    assert repr(chosen) == f"<orcish.Scan of {path}: columns id; filters id > 5; limit 3>"


CODECS: dict[str, Callable[[pathlib.Path, Any], object]] = {
    "write_table": lambda path, codec: orcish.write_table(ROWS, path / "a.orc", compression=codec),
    "ORCWriter": lambda path, codec: orcish.ORCWriter(path / "a.orc", ROWS.schema, compression=codec).close(),
    "write_dataset": lambda path, codec: orcish.write_dataset(ROWS, path, compression=codec),
    "convert": lambda path, codec: orcish.convert(path.parent / "a.orc", path, compression=codec),
    "compact": lambda path, codec: (
        orcish.write_dataset(ROWS, path, compression="zlib"),
        orcish.compact(path, rewrite=True, compression=codec),
    ),
    "delete": lambda path, codec: (
        orcish.write_dataset(ROWS, path, compression="zlib"),
        orcish.delete(path, "id < 5", compression=codec),
    ),
}


@pytest.mark.parametrize("use", CODECS.values(), ids=CODECS)
def test_codecs(use: Callable[[pathlib.Path, Any], object], path: pathlib.Path) -> None:
    """``None`` is no compression, as in pyarrow; names of other formats are errors that name those of ORC."""
    for codec, stored in ((None, "none"), ("UNCOMPRESSED", "none"), ("Zstd", "zstd")):
        folder = path.parent / f"{codec}"
        folder.mkdir()
        use(folder, codec)
        (written,) = orcish.scan(folder).files
        assert orcish.ORCFile(written).compression == stored
    for codec, meant in (("gzip", "zlib"), ("GZIP", "zlib"), ("zstandard", "zstd"), ("snapy", "snappy")):
        with pytest.raises(
            ValueError, match=f"^compression='{codec}': must be one of none, .*; did you mean '{meant}'"
        ):
            use(path.parent / f"other {codec}", codec)


def test_lengths(path: pathlib.Path) -> None:
    file, scan = orcish.ORCFile(path), orcish.scan(path)
    with pytest.raises(TypeError, match="a file has no length: num_rows is"):
        len(file)
    with pytest.raises(TypeError, match=r"a scan has no length: count\(\) counts"):
        len(scan)
    assert file
    assert scan
    assert sum(len(batch) for batch in list(scan)) == 2500


def replaced(rows: Any, path: pathlib.Path, progress: Any) -> object:
    return orcish.write_table(rows, path, existing_data="overwrite", progress=progress)


LONG_WORK: dict[str, tuple[Callable[[pathlib.Path, Any], object], int | None]] = {
    "read": (lambda path, progress: orcish.ORCFile(path).read(batch_size=100, progress=progress), 2500),
    "stripes": (lambda path, progress: orcish.ORCFile(path).read(stripes=[0], limit=9, progress=progress), 9),
    "read_table": (lambda path, progress: orcish.read_table(path, limit=50, progress=progress), 50),
    "scan": (lambda path, progress: orcish.scan([path, path]).select("id").to_table(progress=progress), 5000),
    "filter": (lambda path, progress: orcish.read_table(path, filters="id < 9", progress=progress), None),
    "residual": (
        lambda path, progress: orcish.read_table(path, filters=pl.col("id").sqrt() < 9, progress=progress),
        None,
    ),
    "write_table": (lambda path, progress: replaced(ROWS, path, progress), 2500),
    "polars": (lambda path, progress: replaced(pl.DataFrame(ROWS), path, progress), 2500),
    "pandas": (lambda path, progress: replaced(ROWS.to_pandas(), path, progress), 2500),
    "generator": (lambda path, progress: replaced((r for r in [ROWS, ROWS]), path, progress), None),
    "write_dataset": (lambda path, progress: orcish.write_dataset(ROWS, path.parent / "t", progress=progress), 2500),
    "write_dataset, scan": (
        lambda path, progress: orcish.write_dataset(orcish.scan(path).limit(7), path.parent / "t", progress=progress),
        7,
    ),
    "check": (lambda path, progress: orcish.ORCFile(path).check(progress=progress), 2500),
    "merge": (lambda path, progress: orcish.merge([path, path], path.parent / "m.orc", progress=progress), None),
    "count": (lambda path, progress: orcish.scan([path, path]).where("id < 9").count(progress=progress), 5000),
    "count, limit": (lambda path, progress: orcish.scan(path).limit(7).count(progress=progress), None),
    "count, residual": (
        lambda path, progress: orcish.scan(path).where(pl.col("id").sqrt() < 9).count(progress=progress),
        2500,
    ),
    "count_rows": (lambda path, progress: orcish.count_rows(path, progress=progress), 2500),
    "convert": (lambda path, progress: orcish.convert(path, path.parent / "t", progress=progress), 2500),
}


@pytest.mark.parametrize("name", LONG_WORK)
def test_progress(name: str, path: pathlib.Path) -> None:
    """Rows are counted up to their number, if that is known."""
    run, total = LONG_WORK[name]
    seen: list[orcish.types.Progress] = []
    run(path, seen.append)
    assert seen[0] == (0, total)
    assert {each.total for each in seen} == {total}
    assert [each.done for each in seen] == sorted(each.done for each in seen)
    assert seen[-1].done == total or (total is None and seen[-1].done > 0)
    if name == "read":
        assert len(seen) == 26


def test_what_is_read_with_progress(path: pathlib.Path) -> None:
    """It is the same."""
    table = orcish.read_table(path)
    other = orcish.read_table(path, progress=lambda _: None)
    assert other.equals(table)
    assert other["id"].num_chunks == table["id"].num_chunks
    for columns in ([], ["id"]):
        found = orcish.scan(path).select(columns)
        assert found.to_table(progress=lambda _: None).num_rows == found.to_table().num_rows == 2500
    data = [
        orcish.write_table(ROWS, target := io.BytesIO(), progress=bar) and target for bar in (False, lambda _: None)
    ]
    assert data[0].getvalue() == data[1].getvalue()


def test_a_callback_that_fails_ends_the_work(path: pathlib.Path) -> None:
    def stop(progress: orcish.types.Progress) -> None:
        if progress.done:
            raise KeyError("enough")

    before = path.read_bytes()
    for run, _ in LONG_WORK.values():
        with pytest.raises(KeyError, match="enough"):
            run(path, stop)
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]


def test_files_are_batches(path: pathlib.Path) -> None:
    """A file is iterated batch by batch, as a scan is, and is no array."""
    file = orcish.ORCFile(path)
    assert pa.Table.from_batches(file).num_rows == sum(len(batch) for batch in file) == file.num_rows
    for rows in (file, orcish.scan(path)):
        with pytest.raises(TypeError, match=r"is no array: to_pandas\(\)"):
            pd.DataFrame(rows)
    with pytest.raises(IsADirectoryError, match=r"orcish\.scan reads the files of a folder"):
        orcish.ORCFile(path.parent)


READS: dict[str, Callable[..., Any]] = {
    "read_table": orcish.read_table,
    "scan": lambda path, **options: orcish.scan(path, **options).to_table(),
    "dataset": lambda path, **options: orcish.dataset(path, **options).to_table(),
    "scan_polars": lambda path, **options: orcish.scan_polars(path, **options).collect().to_arrow(),
    "ORCFile": lambda path, **options: orcish.ORCFile(path).read(**options),
}


@each_case("read", READS)
def test_every_front_door_reads_the_same(path: pathlib.Path, read: str) -> None:
    """Numbers are no booleans, a column is read once, and a limit is of the rows that pass the filter."""
    use = READS[read]
    for name in ("limit", "threads"):
        with pytest.raises(TypeError, match=f"{name}=True: must be an integer"):
            use(path, **{name: True})
    with pytest.raises(ValueError, match="'id' is given twice"):
        use(path, columns=["id", "id"])
    assert use(path, columns=["id"], filters="id > 40", limit=3)["id"].to_pylist() == [41, 42, 43]


def test_helps_fit_a_screen() -> None:
    text = pydoc.render_doc(orcish.read_table, renderer=pydoc.plaintext)
    assert len(text.splitlines()) <= 50
