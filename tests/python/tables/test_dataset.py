"""Tables as folders of files, with partitions as Hive and Spark name them."""

from __future__ import annotations

import datetime as dt
import os
import pathlib
import re
import shutil
from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import Any

import orcish
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from orcish.tables.target import DatasetTarget
from orcish.writing.dataset import TableWriter
from support.case_loops import each_case
from support.processes import run_python

HIVE_NULL = "__HIVE_DEFAULT_PARTITION__"


def files(folder: pathlib.Path) -> list[str]:
    """Paths of all files below the folder, but for those of logs."""
    found = [path.relative_to(folder) for path in folder.rglob("*") if not path.is_dir()]
    return sorted(str(path) for path in found if "log" not in path.parts or "_orcish" not in path.parts)


def folders(folder: pathlib.Path) -> list[str]:
    """Paths of all folders below the folder, but for those of logs and jobs."""
    found = [path.relative_to(folder) for path in folder.rglob("*") if path.is_dir()]
    return sorted(str(path) for path in found if "_orcish" not in path.parts)


def by_id(table: pa.Table, names: list[str] | None = None) -> list[dict[str, Any]]:
    """Rows in the order of ``id``, without regard to the order of columns."""
    rows: list[dict[str, Any]] = table.select(sorted(names or table.column_names)).sort_by("id").to_pylist()
    return rows


TEXTS = [
    *(
        "plain",
        "a b",
        "a/b",
        "a=b",
        "x:y",
        "é日",
        "100%",
        "%41",
        "[z]",
        "q?*",
        "a\nb",
        "'\"",
        "..",
        ".hidden",
        "_under",
    ),
    *("{b}", "^", "~", "\x7f", "\x01", "back\\slash", "a#b", "null", "+", "&<>|", "😀"),
]
DATE = dt.date(2026, 1, 31)

VALUES: list[tuple[str, pa.Array, list[Any] | None, list[str]]] = [
    ("texts", pa.array([*TEXTS, None]), None, []),
    ("empty_text", pa.array(["", "a", None]), [None, "a", None], [HIVE_NULL, "a"]),
    ("large", pa.array(["b", None, "a"], pa.large_string()), None, [HIVE_NULL, "a", "b"]),
    ("binary", pa.array([b"b", None, b"a"]), [b"b", None, b"a"], [HIVE_NULL, "a", "b"]),
    ("ints", pa.array([1, -5, None, 0], pa.int32()), None, ["-5", "0", "1", HIVE_NULL]),
    ("longs", pa.array([2**63 - 1, -(2**63), None]), None, [str(-(2**63)), str(2**63 - 1), HIVE_NULL]),
    ("tiny", pa.array([1, -128, 127, None], pa.int8()), None, ["-128", "1", "127", HIVE_NULL]),
    ("dates", pa.array([DATE, dt.date(1, 1, 1), None]), None, ["0001-01-01", "2026-01-31", HIVE_NULL]),
    ("bools", pa.array([True, None, False]), None, [HIVE_NULL, "false", "true"]),
    ("nulls", pa.nulls(3), None, [HIVE_NULL]),
    ("decimals", pa.array([Decimal("1.50"), None]), [Decimal("1.50"), None], ["1.50", HIVE_NULL]),
    (
        "timestamps",
        pa.array([dt.datetime(2026, 1, 2, 3, 4, 5), None]),
        [dt.datetime(2026, 1, 2, 3, 4, 5), None],
        ["2026-01-02 03%3A04%3A05", HIVE_NULL],
    ),
]


@each_case(("array", "read", "names"), [v[1:] for v in VALUES], ids=[v[0] for v in VALUES])
def test_values_of_partitions(
    tmp_path: pathlib.Path, array: pa.Array, read: list[Any] | None, names: list[str]
) -> None:
    table = pa.table({"id": range(len(array)), "p": array})
    done = orcish.write_dataset(table, tmp_path, partition_by=["p"])
    found = [file.partition for file in done]
    assert sorted(map(str, found)) == sorted({str({"p": value}) for value in array.to_pylist()})
    assert sum(file.rows for file in done) == len(array)
    assert sorted(file.path for file in done) == [str(tmp_path / name) for name in files(tmp_path)]
    assert all(pathlib.Path(file.path).stat().st_size == file.bytes for file in done)
    if names:
        assert folders(tmp_path) == sorted(f"p={name}" for name in names)
    # Files have no such column; nor do metadata speak of it.
    assert orcish.ORCFile(done[0].path).schema.names == ["id"]
    schema = pa.schema([("id", pa.int64()), ("p", table.schema.field("p").type)])
    types = pa.types
    if read is None and not types.is_null(array.type):
        kind = pa.string() if types.is_large_string(array.type) else array.type
        schema = pa.schema([("id", pa.int64()), ("p", kind)])
        assert by_id(orcish.read_table(tmp_path, schema=schema)) == by_id(table)
    else:
        want = read if read is not None else [None] * len(array)
        assert [row["p"] for row in by_id(orcish.read_table(tmp_path))] == want


def test_names_are_those_of_spark(spark: Any, tmp_path: pathlib.Path) -> None:
    """Spark writes the same table into the same folders, and reads ours."""
    texts = [text for text in TEXTS if text != "\x01"]
    rows = [
        (number, text, DATE if number % 2 else None, number % 3 == 0, number % 4)
        for number, text in enumerate([*texts, None, ""])
    ]
    names = ["id", "text", "day", "flag", "n"]
    frame = spark.createDataFrame(rows, "id long, text string, day date, flag boolean, n int")
    table = pa.table([list(column) for column in zip(*rows, strict=True)], names=names)
    for number, by in enumerate((["text"], ["day"], ["flag"], ["n"], ["day", "flag", "text"])):
        ours, theirs = tmp_path / f"ours {number}", tmp_path / f"theirs {number}"
        orcish.write_dataset(table, ours, partition_by=by)
        frame.coalesce(1).write.partitionBy(*by).orc(str(theirs))
        assert folders(ours) == folders(theirs)
        got, want = (sorted(map(repr, spark.read.orc(str(path)).select(*names).collect())) for path in (ours, theirs))
        assert got == want
        # The log has the types of the rows, where a plain folder has none.
        assert by_id(orcish.read_table(ours)) == by_id(
            table.set_column(1, "text", pa.array([text or None for text in table["text"].to_pylist()]))
            if "text" in by
            else table
        )
        shutil.rmtree(ours / "_orcish")
        assert by_id(orcish.read_table(ours)) == by_id(orcish.read_table(theirs))


def rows(count: int = 1000) -> pa.Table:
    return pa.table(
        {
            "id": range(count),
            "a": pa.array([i * 7 % 5 for i in range(count)], pa.int32()),
            "text": [None if i % 3 == 0 else f"text {i}" for i in range(count)],
            "b": [None if i % 11 == 0 else f"b{i % 3}" for i in range(count)],
        }
    )


def test_several_partition_columns(tmp_path: pathlib.Path) -> None:
    table = rows()
    done = orcish.write_dataset(table, tmp_path / "new" / "folder", partition_by=["b", "a"], compression="zlib")
    assert len(done) == 20
    assert all(list(file.partition) == ["b", "a"] for file in done)
    for file in done:
        opened = orcish.ORCFile(file.path)
        assert opened.compression == "zlib"
        assert opened.check() == []
        assert opened.schema.names == ["id", "text"]
        is_same = pc.is_in(table["b"], pa.array([file.partition["b"]], pa.string()))
        own = table.filter(pc.and_(pc.equal(table["a"], file.partition["a"]), is_same))
        # The order of rows stays.
        assert opened.read().equals(own.select(["id", "text"]))
    read = orcish.read_table(tmp_path / "new" / "folder", schema=table.schema)
    # Columns of folders come last, in the order of the folders or of the schema.
    assert {field.name: field.type for field in read.schema} == {field.name: field.type for field in table.schema}
    assert by_id(read) == by_id(table)
    assert by_id(orcish.read_table(tmp_path, filters=orcish.col("b") == "b1", partitions=True)) == [
        row for row in by_id(table) if row["b"] == "b1"
    ]


@each_case("batch_rows", [1, 7, 1000])
@each_case("by", [[], ["a"]])
def test_rows_per_file(tmp_path: pathlib.Path, by: list[str], batch_rows: int) -> None:
    table = rows(100)
    reader = pa.RecordBatchReader.from_batches(table.schema, table.to_batches(max_chunksize=batch_rows))
    target = tmp_path / "t"
    done = orcish.write_dataset(reader, target, partition_by=by, max_rows_per_file=7)
    assert all(file.rows <= 7 for file in done)
    assert len(done) == (15 if not by else 5 * 3)
    assert by_id(orcish.read_table(target)) == by_id(table)
    if not by:
        assert orcish.read_table([file.path for file in done]).equals(table)
    exact = tmp_path / "exact"
    assert [file.rows for file in orcish.write_dataset(table, exact, max_rows_per_file=50)] == [50, 50]
    assert len(files(exact)) == 2


@each_case("most", [1, 3])
def test_few_open_files(tmp_path: pathlib.Path, most: int) -> None:
    table = rows(300)
    batches = table.to_batches(max_chunksize=30)
    seen: list[int] = []

    def watched() -> Iterator[pa.RecordBatch]:
        for batch in batches:
            yield batch
            descriptors = [os.readlink(path) for path in pathlib.Path("/proc/self/fd").iterdir() if path.is_symlink()]
        seen.append(sum(name.startswith(str(tmp_path)) for name in descriptors))

    reader = pa.RecordBatchReader.from_batches(table.schema, watched())
    done = orcish.write_dataset(reader, tmp_path, partition_by=["a"], max_open_files=most)
    assert max(seen) == max(most, 1)
    assert len(done) == 5
    assert len({file.path for file in done}) == len(done) == len(files(tmp_path))
    assert by_id(orcish.read_table(tmp_path)) == by_id(table)


def test_little_memory(tmp_path: pathlib.Path) -> None:
    table = rows(20_000)
    reader = pa.RecordBatchReader.from_batches(table.schema, table.to_batches(max_chunksize=2000))
    done = orcish.write_dataset(reader, tmp_path / "little", partition_by=["a"], max_memory=100_000)
    assert len(done) == 5
    assert all(orcish.ORCFile(file.path).num_stripes > 2 for file in done)
    assert by_id(orcish.read_table(tmp_path / "little")) == by_id(table)
    assert len(orcish.write_dataset(rows(10), tmp_path / "none", partition_by=["a"], max_memory=0)) == 5


def test_negative_memory(tmp_path: pathlib.Path) -> None:
    run_python(
        """
        import faulthandler, sys, orcish, pyarrow as pa
        faulthandler.dump_traceback_later(3, exit=True)
        try:
            orcish.write_dataset(pa.table({"a": [1]}), sys.argv[1], max_memory=-1)
        except ValueError:
            pass
        """,
        str(tmp_path),
    )


def test_existing_data(tmp_path: pathlib.Path) -> None:
    table, more = rows(10), rows(3)
    (tmp_path / "other").mkdir()
    orcish.write_dataset(table, tmp_path / "t", partition_by=["a"])
    before = files(tmp_path)
    with pytest.raises(FileExistsError, match="has data already"):
        orcish.write_dataset(more, tmp_path / "t", partition_by=["a"])
    with pytest.raises(FileExistsError, match="has data already"):
        orcish.write_dataset(more, tmp_path / "other" / ".." / "t", existing_data="error")
    assert files(tmp_path) == before
    orcish.write_dataset(more, tmp_path / "t", partition_by=["a"], existing_data="append")
    assert set(files(tmp_path)) > set(before)
    assert by_id(orcish.read_table(tmp_path)) == by_id(pa.concat_tables([table, more]))
    with pytest.raises(ValueError, match="existing_data='delete'"):
        orcish.write_dataset(more, tmp_path / "t", existing_data="delete")  # type: ignore[arg-type]
    # What is hidden is no data.
    hidden = tmp_path / "hidden"
    hidden.mkdir()
    for name in ("_SUCCESS", ".part-0.orc.crc"):
        (hidden / name).write_bytes(b"")
    orcish.write_dataset(table, hidden)
    assert orcish.read_table(hidden).equals(table)


def test_appending_replaces_nothing(tmp_path: pathlib.Path) -> None:
    """With “append”, either the rows of both calls are there, or the second is refused."""
    orcish.write_dataset(rows(10), tmp_path, basename_template="part-{i}.orc")
    try:
        orcish.write_dataset(rows(3), tmp_path, basename_template="part-{i}.orc", existing_data="append")
    except FileExistsError:
        assert orcish.read_table(tmp_path).num_rows == 10
        return
    assert orcish.read_table(tmp_path).num_rows == 13


def broken(table: pa.Table) -> pa.RecordBatchReader:
    def batches() -> Iterator[pa.RecordBatch]:
        yield from table.to_batches(max_chunksize=10)
        raise LookupError("no more rows")

    return pa.RecordBatchReader.from_batches(table.schema, batches())


def test_failures_leave_no_files(tmp_path: pathlib.Path) -> None:
    table = rows(100)
    late = pa.table(
        {"id": range(100), "a": [i // 10 for i in range(100)], "t": pa.array([5] * 95 + [-1] * 5, pa.timestamp("us"))}
    )
    options: dict[str, Any] = {"partition_by": ["a"], "max_open_files": 2}
    with pytest.raises(LookupError, match="no more rows"):
        orcish.write_dataset(broken(table), tmp_path / "t", **options)
    assert files(tmp_path) == []
    for most in (None, 3):
        with pytest.raises(ValueError, match=r"a=9/.*column t: row"):
            orcish.write_dataset(late, tmp_path / "t", **options, max_rows_per_file=most)
        assert files(tmp_path) == []
    orcish.write_dataset(table, tmp_path / "t", **options)
    before = files(tmp_path)
    with pytest.raises(LookupError, match="no more rows"):
        orcish.write_dataset(
            broken(table), tmp_path / "t", partition_by=["a"], existing_data="append", max_rows_per_file=3
        )
    assert files(tmp_path) == before
    assert by_id(orcish.read_table(tmp_path / "t")) == by_id(table)


def test_failures_leave_no_folders(tmp_path: pathlib.Path) -> None:
    with pytest.raises(LookupError, match="no more rows"):
        orcish.write_dataset(broken(rows(100)), tmp_path / "t", partition_by=["a"])
    assert list(tmp_path.iterdir()) == []


def test_names_of_files(tmp_path: pathlib.Path) -> None:
    done = orcish.write_dataset(rows(10), tmp_path, basename_template="x{i}y.orc", max_rows_per_file=4)
    # The number is followed by an ID of the call.
    assert [re.sub(r"-[0-9a-f]{12}y", "y", name) for name in files(tmp_path)] == [f"x0000{at}y.orc" for at in range(3)]
    assert len({name[6:] for name in files(tmp_path)}) == 1
    assert [file.rows for file in done] == [4, 4, 2]
    others = [orcish.write_dataset(rows(1), tmp_path, existing_data="append")[0].path for _ in range(3)]
    assert len(set(others)) == 3
    with pytest.raises(ValueError, match="basename_template"):
        orcish.write_dataset(rows(1), tmp_path / "none", basename_template="x.orc")
    assert not (tmp_path / "none").exists()


def test_tables_without_rows(tmp_path: pathlib.Path) -> None:
    table = rows(0)
    (only,) = orcish.write_dataset(table, tmp_path / "plain")
    assert only.rows == 0
    assert orcish.read_table(tmp_path / "plain").equals(table)
    no_batches = pa.RecordBatchReader.from_batches(table.schema, [])
    assert len(orcish.write_dataset(no_batches, tmp_path / "stream")) == 1
    assert orcish.write_dataset(table, tmp_path / "partitions", partition_by=["a"]) == []
    assert files(tmp_path / "partitions") == []


EMPTY = [pa.RecordBatch.from_pylist([], schema=rows(10).schema)]


@each_case("at", [0, 1])
def test_batches_without_rows(tmp_path: pathlib.Path, at: int) -> None:
    batches = rows(10).to_batches()
    reader = pa.RecordBatchReader.from_batches(rows(10).schema, [*batches[:at], *EMPTY, *batches[at:]])
    orcish.write_dataset(reader, tmp_path, partition_by=["a"], max_rows_per_file=1)
    assert by_id(orcish.read_table(tmp_path)) == by_id(rows(10))


def test_batches_without_rows_make_no_files(tmp_path: pathlib.Path) -> None:
    reader = pa.RecordBatchReader.from_batches(rows(10).schema, [*rows(10).to_batches(), *EMPTY])
    assert [file.rows for file in orcish.write_dataset(reader, tmp_path, max_rows_per_file=10)] == [10]


def test_options_that_are_wrong(tmp_path: pathlib.Path) -> None:
    table = rows(10)
    cases: list[tuple[dict[str, Any], type[Exception], str]] = [
        ({"partition_by": ["absent"]}, KeyError, "absent"),
        ({"partition_by": "absent"}, KeyError, "absent"),
        ({"partition_by": ["id", "a", "text", "b"]}, ValueError, "one at least"),
        ({"partition_by": ["a", "a"]}, ValueError, "once"),
        ({"max_rows_per_file": 0}, ValueError, "max_rows_per_file=0"),
        ({"compression": "bogus"}, ValueError, "bogus"),
        ({"partition_by": ["a"], "bloom_filter_columns": ["a"]}, orcish.UnknownColumnError, "a"),
    ]
    for options, kind, text in cases:
        with pytest.raises(kind, match=text):
            orcish.write_dataset(table, tmp_path, **options)
        assert files(tmp_path) == []
    with pytest.raises(TypeError, match="int is no table that can be written"):
        orcish.write_dataset([1, 2], tmp_path)
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises((FileExistsError, NotADirectoryError)):
        orcish.write_dataset(table, tmp_path / "file")


KINDS: list[tuple[str, Callable[[], Any]]] = [
    ("polars", lambda: pl.DataFrame({"p": ["x", "y", "x"], "id": [0, 1, 2]})),
    (
        "views",
        lambda: pa.table({"p": ["x", "y", "x"], "id": [0, 1, 2], "v": pa.array(["0", "1", "2"], pa.string_view())}),
    ),
    ("dictionary", lambda: pa.table({"p": pa.array(["x", "y", "x"]).dictionary_encode(), "id": [0, 1, 2]})),
    ("runs", lambda: pa.table({"p": pc.run_end_encode(pa.array(["x", "y", "x"])), "id": [0, 1, 2]})),
]


@each_case("make", [pytest.param(make, id=name) for name, make in KINDS])
def test_kinds_of_columns(tmp_path: pathlib.Path, make: Callable[[], Any]) -> None:
    """The kinds of columns of :func:`orcish.write_table` are accepted."""
    orcish.write_table(make(), tmp_path / "t.orc")
    assert len(orcish.write_dataset(make(), tmp_path / "t", partition_by=["p"])) == 2
    # pyarrow cannot sort views.
    found = sorted(orcish.read_table(tmp_path / "t").to_pylist(), key=lambda row: row["id"])
    assert [row["p"] for row in found] == ["x", "y", "x"]


def test_sources(tmp_path: pathlib.Path) -> None:
    """Scans, files, batches, streams and data frames."""
    table = rows(20)
    orcish.write_dataset(table, tmp_path / "0", partition_by=["a"])
    sources: list[Any] = [
        orcish.scan(tmp_path / "0"),
        orcish.scan(tmp_path / "0").where(orcish.col("id") < 100),
        table.to_batches()[0],
        table.to_reader(),
    ]
    for number, source in enumerate(sources, 1):
        orcish.write_dataset(source, tmp_path / str(number), partition_by=["a"])
        assert by_id(orcish.read_table(tmp_path / str(number))) == by_id(table)
    frame = pl.DataFrame({"id": [0, 1], "s": ["x", None]})
    orcish.write_dataset(frame, tmp_path / "frame")
    assert orcish.read_table(tmp_path / "frame").to_pylist() == frame.to_dicts()


def test_urls_of_files(tmp_path: pathlib.Path) -> None:
    done = orcish.write_dataset(rows(10), (tmp_path / "t").as_uri(), partition_by=["a"])
    assert len(done) == 5
    assert by_id(orcish.read_table(tmp_path / "t")) == by_id(rows(10))
    with pytest.raises(LookupError):
        orcish.write_dataset(broken(rows(100)), (tmp_path / "u").as_uri(), partition_by=["a"], max_rows_per_file=2)
    assert files(tmp_path / "u") == []


@each_case("name", ["a b", "plain"])
def test_urls_of_files_are_decoded(tmp_path: pathlib.Path, name: str) -> None:
    table = pa.table({"id": [0, 1], "p": ["x:y", "z"]})
    orcish.write_dataset(table, (tmp_path / name).as_uri(), partition_by=["p"])
    assert folders(tmp_path / name) == ["p=x%3Ay", "p=z"]
    assert by_id(orcish.read_table(tmp_path / name)) == by_id(table)


# Targets are paths, and no patterns.


@each_case("name", ["v[12]", "v?", "v*", "v[", "**", "v[!3]"])
@each_case("mode", ["error", "append", "overwrite"])
def test_targets_are_no_patterns(tmp_path: pathlib.Path, name: str, mode: Any) -> None:
    """A folder whose name looks like a pattern is written, and folders that the pattern matches are not."""
    for other in ("v1", "v2"):
        orcish.write_dataset(rows(10), tmp_path / other)
    before = files(tmp_path)
    options: dict[str, Any] = {"partition_by": ["a"], "basename_template": "x{i}.orc"}
    for count in (5, 7):
        target = tmp_path / name
        written = orcish.write_dataset(rows(count), target, existing_data=mode if count == 7 else "error", **options)
        assert all(pathlib.Path(file.path).is_relative_to(target) for file in written)
        want = rows(count) if mode != "append" or count == 5 else pa.concat_tables([rows(5), rows(7)])
        assert by_id(orcish.read_table(target)) == by_id(want)
        if mode == "error":
            with pytest.raises(FileExistsError):
                orcish.write_dataset(rows(count), target)
            break
    assert [file for file in files(tmp_path) if file in before] == before
    for other in ("v1", "v2"):
        assert orcish.read_table(tmp_path / other).equals(rows(10))


@each_case("name", ["v[12]", "v?", "v[", "a**b"])
def test_a_table_of_which_no_file_is_there_says_no_types(tmp_path: pathlib.Path, name: str) -> None:
    """Appending to a folder whose name looks like a pattern takes no types from folders that the pattern matches."""
    instants = pa.table({"t": pa.array([0, 1], pa.timestamp("us", "UTC"))})
    wall = pa.schema([instants.schema.field("t").with_metadata({"orc.type": "timestamp"})])
    for other in ("v1", "v2", "aab"):
        orcish.write_dataset(instants.cast(wall), tmp_path / other, timezone="Europe/Berlin")
    (written,) = orcish.write_dataset(instants, tmp_path / name, existing_data="append")
    assert orcish.ORCFile(written.path).column_types[1] == "timestamp with local time zone"


@each_case("columns", [None, ["a"], []])
def test_rows_are_there_without_columns(tmp_path: pathlib.Path, columns: list[str] | None) -> None:
    table = rows(1000)
    orcish.write_table(table, tmp_path / "source.orc")
    orcish.write_dataset(table if columns is None else table.select(columns), tmp_path / "written")
    orcish.convert(tmp_path / "source.orc", tmp_path / "converted", columns=columns)
    for target in ("written", "converted"):
        (path,) = (tmp_path / target).glob("*.orc")
        assert orcish.ORCFile(path).num_rows == orcish.scan(tmp_path / target).count() == len(table)


@each_case("name", ["v[12]", "v?"])
def test_targets_of_conversions_are_no_patterns(tmp_path: pathlib.Path, name: str) -> None:
    for other in ("v1", "v2"):
        orcish.write_dataset(rows(10), tmp_path / other)
    orcish.write_dataset(rows(20), tmp_path / "source")
    for _ in range(2):
        orcish.convert(tmp_path / "source", tmp_path / name, existing_data="overwrite")
        assert orcish.read_table(tmp_path / name).equals(rows(20))
    for other in ("v1", "v2"):
        assert orcish.read_table(tmp_path / other).equals(rows(10))
    # The other way: a source that is a pattern.
    orcish.convert(f"{tmp_path}/v[12]" if name == "v?" else f"{tmp_path}/v?", tmp_path / "both")
    assert orcish.read_table(tmp_path / "both").num_rows in (20, 40)


def test_a_target_has_a_name(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match="has a name"):
        orcish.write_dataset(rows(1), "")
    orcish.write_dataset(rows(1), ".")
    assert orcish.read_table(tmp_path).num_rows == 1


@each_case("end", ["", "/", "//"])
def test_new_files_are_not_taken_for_old_ones(tmp_path: pathlib.Path, end: str) -> None:
    for count in (5, 7):
        orcish.write_dataset(
            rows(count), f"{tmp_path}/t{end}", basename_template="part-{i}.orc", existing_data="overwrite"
        )
        assert orcish.read_table(tmp_path / "t").equals(rows(count))


@each_case(
    "template",
    ["_x{i}.orc", ".x{i}.orc", "a/{i}.orc", "../{i}.orc", "/x{i}", "{i}/", "_{i}", "x{i}_$folder$", "{i}.carbondata"],
)
def test_names_that_readers_pass_over(tmp_path: pathlib.Path, template: str) -> None:
    with pytest.raises(ValueError, match="basename_template"):
        orcish.write_dataset(rows(1), tmp_path / "t", basename_template=template)
    assert list(tmp_path.iterdir()) == []


@each_case("name", ["", ".hidden"])
def test_partition_columns_that_readers_pass_over(tmp_path: pathlib.Path, name: str) -> None:
    table = pa.table({"id": [1, 2], name: ["x", "y"]})
    with pytest.raises(ValueError, match="partition_by"):
        orcish.write_dataset(table, tmp_path / "t", partition_by=[name])
    assert list(tmp_path.iterdir()) == []
    orcish.write_dataset(pa.table({"id": [1, 2], "_day": ["x", "y"]}), tmp_path / "t", partition_by=["_day"])
    assert orcish.read_table(tmp_path / "t").num_rows == 2


# Links.


def test_what_is_behind_links_stays(tmp_path: pathlib.Path) -> None:
    """Overwriting removes nothing behind symbolic links, which readers follow."""
    elsewhere = tmp_path / "elsewhere"
    orcish.write_dataset(rows(10), elsewhere, basename_template="e{i}.orc")
    table = tmp_path / "t"
    orcish.write_dataset(rows(5), table, partition_by=["a"])
    (table / "a=77").symlink_to(elsewhere)
    before = files(tmp_path)
    assert orcish.read_table(table).num_rows == 15
    for by in (["a"], ["b"], []):
        with pytest.raises(ValueError, match=r"a=77/.*is behind a link to a folder"):
            orcish.write_dataset(rows(3), table, partition_by=by, existing_data="overwrite")
        assert files(tmp_path) == before
    # Rows can be added.
    orcish.write_dataset(rows(3), table, partition_by=["a"], existing_data="append")
    assert orcish.read_table(table).num_rows == 18
    (table / "a=77").unlink()
    orcish.write_dataset(rows(3), table, partition_by=["a"], existing_data="overwrite")
    assert by_id(orcish.read_table(table)) == by_id(rows(3))
    assert orcish.read_table(elsewhere).equals(rows(10))


def test_links_to_files_are_removed(tmp_path: pathlib.Path) -> None:
    elsewhere = tmp_path / "elsewhere.orc"
    orcish.write_table(rows(10), elsewhere)
    table = tmp_path / "t"
    orcish.write_dataset(rows(5), table)
    (table / "linked.orc").symlink_to(elsewhere)
    assert orcish.read_table(table).num_rows == 15
    orcish.write_dataset(rows(3), table, existing_data="overwrite")
    assert orcish.read_table(table).equals(rows(3))
    assert orcish.read_table(elsewhere).equals(rows(10))


def interrupt(*_: Any) -> Any:
    raise KeyboardInterrupt("by hand")


@each_case("by", [[], ["a"]])
@each_case("existing_data", ["append", "overwrite"])
@each_case("is_late", [False, True])
def test_an_interrupt_leaves_the_old_rows_or_the_new_ones(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, is_late: bool, existing_data: Any, by: list[str]
) -> None:
    """The interrupt comes when all files are written, or when all of them have appeared."""
    table = tmp_path / "t"
    orcish.write_dataset(rows(10), table, partition_by=by, max_rows_per_file=2)
    before = files(tmp_path)
    commit = DatasetTarget.commit

    def interrupted(self: DatasetTarget, *args: Any) -> None:
        if is_late:
            commit(self, *args)
        interrupt()

    monkeypatch.setattr(DatasetTarget, "commit", interrupted)
    with pytest.raises(KeyboardInterrupt, match="by hand"):
        orcish.write_dataset(rows(3), table, partition_by=by, existing_data=existing_data)
    expected = [*([rows(10)] if not is_late or existing_data == "append" else []), *([rows(3)] if is_late else [])]
    assert by_id(orcish.read_table(table)) == by_id(pa.concat_tables(expected))
    assert is_late or files(tmp_path) == before


def test_a_table_behind_a_link(tmp_path: pathlib.Path) -> None:
    """The folder of a table may be a symbolic link, which stays."""
    orcish.write_dataset(rows(10), tmp_path / "real", partition_by=["a"])
    (tmp_path / "link").symlink_to("real")
    orcish.write_dataset(rows(3), tmp_path / "link", partition_by=["a"], existing_data="overwrite")
    assert (tmp_path / "link").is_symlink()
    for path in ("link", "real"):
        assert by_id(orcish.read_table(tmp_path / path)) == by_id(rows(3))


# Numbers that are none.


@each_case("kind", [pa.float64(), pa.float32()])
def test_numbers_that_are_none(tmp_path: pathlib.Path, kind: pa.DataType) -> None:
    """All NaN are one partition, with the folder name of Hive and Spark, in any number of batches."""
    nan, infinity = float("nan"), float("inf")
    values = [nan, 1.5, infinity, -infinity, None, 0.0, -0.0]
    table = pa.table({"id": range(70), "p": pa.array(values * 10, kind)})
    reader = pa.RecordBatchReader.from_batches(table.schema, table.to_batches(max_chunksize=9))
    done = orcish.write_dataset(reader, tmp_path, partition_by=["p"])
    names = ["-0.0", "-Infinity", "0.0", "1.5", "Infinity", "NaN", HIVE_NULL]
    assert folders(tmp_path) == [f"p={name}" for name in names]
    assert sorted(file.rows for file in done) == [10] * 7
    assert sum(file.partition["p"] != file.partition["p"] for file in done) == 1
    read = orcish.read_table(tmp_path).sort_by("id")
    assert read["id"].to_pylist() == list(range(70))
    back = read["p"].cast(kind).to_pylist()
    assert all(str(a) == str(b) for a, b in zip(back, table["p"].to_pylist(), strict=True))


def test_spark_reads_numbers_that_are_none(spark: Any, tmp_path: pathlib.Path) -> None:
    table = pa.table({"id": range(4), "p": [float("nan"), float("inf"), float("-inf"), 1.5]})
    orcish.write_dataset(table, tmp_path / "ours", partition_by=["p"])
    spark.createDataFrame([tuple(row.values()) for row in table.to_pylist()], "id long, p double").coalesce(
        1
    ).write.partitionBy("p").orc(str(tmp_path / "theirs"))
    assert folders(tmp_path / "ours") == folders(tmp_path / "theirs")
    found = spark.read.orc(str(tmp_path / "ours")).orderBy("id").collect()
    assert [str(row.p) for row in found] == ["nan", "inf", "-inf", "1.5"]


# What has failed.


def test_nothing_follows_a_failure(tmp_path: pathlib.Path) -> None:
    """After a batch that cannot be written, further writes fail and no table appears."""
    table = rows(100)
    writer = TableWriter(str(tmp_path / "t"), table.schema, ["a"], template="x{i}.orc", max_rows_per_file=7)
    writer.write(table.to_batches()[0])
    assert len(files(tmp_path)) > 5
    with pytest.raises((KeyError, ValueError)):
        writer.write(pa.record_batch({"a": [1], "other": [2]}))
    with pytest.raises(ValueError, match="failed before"):
        writer.write(table.to_batches()[0])
    with pytest.raises(ValueError, match="failed before"), writer:
        pass
    assert list(tmp_path.iterdir()) == []


@each_case("kind", [pa.string(), pa.binary(), pa.large_string(), pa.string_view()])
def test_partitions_of_what_is_not_utf8(tmp_path: pathlib.Path, kind: pa.DataType) -> None:
    is_binary = kind == pa.binary()
    wide = {pa.string(): pa.binary(), pa.large_string(): pa.large_binary(), pa.string_view(): pa.binary_view()}
    values = pa.array([b"a", b"caf\xe9"], pa.binary()).cast(kind if is_binary else wide[kind])
    keys = pa.Array.from_buffers(kind, 2, values.buffers())
    table = pa.table({"id": [1, 2], "day": keys})
    with pytest.raises(ValueError, match=r"column day: b'caf\\xe9' is not UTF-8"):
        orcish.write_dataset(table, tmp_path / "table", partition_by=["day"])
    assert not (tmp_path / "table").exists()


def test_partitions_of_categories_of_all_texts(tmp_path: pathlib.Path) -> None:
    frame = pl.DataFrame({"id": range(6), "c": ["a", "b", None] * 2}, schema_overrides={"c": pl.Categorical})
    enum = frame.with_columns(pl.col("c").cast(pl.Enum(["b", "a"])))
    texts = [pa.string(), pa.large_string(), pa.string_view(), pa.binary(), pa.binary_view()]
    coded = [
        pa.table({"id": range(6), "c": pa.array(frame["c"].to_list(), kind).dictionary_encode()}) for kind in texts[:2]
    ]
    views = [
        pa.table({"id": range(6), "c": pa.DictionaryArray.from_arrays([0, 1, None] * 2, pa.array(["a", "b"], kind))})
        for kind in texts[2:]
    ]
    for number, data in enumerate([frame, enum, *coded, *views]):
        orcish.write_dataset(data, tmp_path / str(number), partition_by=["c"])
        assert folders(tmp_path / str(number)) == [f"c={HIVE_NULL}", "c=a", "c=b"]
        found = {row["id"]: row["c"] for row in orcish.read_table(tmp_path / str(number)).to_pylist()}
        keys: list[Any] = ["a", "b", None] if number < 5 else [b"a", b"b", None]
        assert found == {at: keys[at % 3] for at in range(6)}


def test_what_names_of_folders_cannot_hold(tmp_path: pathlib.Path) -> None:
    table = rows(2)
    for kind in (pa.list_(pa.int8()), pa.struct([("x", pa.int8())]), pa.map_(pa.int8(), pa.int8()), pa.uuid()):
        with pytest.raises(ValueError, match="cannot be names of folders"):
            orcish.write_dataset(table.append_column("p", pa.nulls(2, kind)), tmp_path / "t", partition_by=["p"])
    with pytest.raises(ValueError, match=r"column p: .* stands for null"):
        orcish.write_dataset(table.append_column("p", pa.array(["x", HIVE_NULL])), tmp_path / "t", partition_by=["p"])
    with pytest.raises(orcish.UnknownColumnError, match='partition_by: no column is named "Id"; nearest: id'):
        orcish.write_dataset(table, tmp_path / "t", partition_by=["Id"])
    assert files(tmp_path) == []
    # As in tables of Hive and Spark.
    orcish.write_dataset(table.append_column("p", pa.array(["", "x"])), tmp_path / "t", partition_by=["p"])
    assert [row["p"] for row in by_id(orcish.read_table(tmp_path / "t"))] == [None, "x"]


@each_case("existing", ["error", "append", "overwrite"])
def test_a_file_in_the_place_of_the_folder(tmp_path: pathlib.Path, existing: Any) -> None:
    (tmp_path / "t").write_bytes(b"mine")
    with pytest.raises(NotADirectoryError, match="t: the path is a file, and no folder"):
        orcish.write_dataset(rows(2), tmp_path / "t", existing_data=existing)
    assert (tmp_path / "t").read_bytes() == b"mine"


def test_errors_name_the_path_as_it_was_given(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    orcish.write_dataset(rows(2), "t", partition_by=["a"])
    (tmp_path / "link").symlink_to("t")
    for path in ("t", "t/", "link", f"{tmp_path}/t"):
        text = f"^{re.escape(path.rstrip('/'))}: cannot be written: the folder has data already; existing_data='append'"
        with pytest.raises(FileExistsError, match=text):
            orcish.write_dataset(rows(2), path, partition_by=["a"])
