"""Tables with more partitions than files are open: one file each, with its rows in order, in bounded memory."""

from __future__ import annotations

import datetime as dt
import os
import random
import signal
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import orcish
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from orcish.spark.options import WriterOptions
from orcish.writing.dataset import MAX_OPEN_FILES, MAX_PARTITIONS
from orcish_cli import main
from support.case_loops import each_case
from support.processes import run_python

LITTLE: dict[str, Any] = {"max_open_files": 3, "max_memory": 0}
"""Options with which most rows wait on disk."""


def shuffled(count: int, values: int) -> pa.Table:
    """Rows whose ``p`` has so many values, in random order."""
    keys = [at % values for at in range(count)]
    random.Random(values).shuffle(keys)
    return pa.table({"id": range(count), "p": keys, "text": [f"text {at}" for at in range(count)]})


def stream(table: pa.Table, rows: int) -> pa.RecordBatchReader:
    return pa.RecordBatchReader.from_batches(table.schema, table.to_batches(max_chunksize=rows))


def files_of(folder: Path) -> list[Path]:
    """All files below a folder."""
    return sorted(path for path in folder.rglob("*") if path.is_file())


def check(folder: Path, table: pa.Table, values: int, files: int = 1) -> None:
    """Each partition has so many files, and its rows in their order."""
    found = sorted(path for path in folder.rglob("*.orc") if "_orcish" not in path.parts)
    assert len(found) == values * files
    ids: dict[int, list[int]] = {}
    for path in found:
        ids.setdefault(int(path.parent.name.removeprefix("p=")), []).extend(orcish.read_table(path)["id"].to_pylist())
    want: dict[int, list[int]] = {}
    for number, key in zip(table["id"].to_pylist(), table["p"].to_pylist(), strict=True):
        want.setdefault(key, []).append(number)
    assert ids == want


@each_case(
    ("values", "rows"), [(MAX_OPEN_FILES, 100), (MAX_OPEN_FILES + 1, 100), (MAX_OPEN_FILES + 1, 3000), (400, 500)]
)
def test_one_file_for_each_partition(tmp_path: Path, values: int, rows: int) -> None:
    table = shuffled(3000, values)
    done = orcish.write_dataset(stream(table, rows), tmp_path / "t", partition_by=["p"])
    assert [file.partition["p"] for file in done] == pc.unique(table["p"]).to_pylist()
    check(tmp_path / "t", table, values)
    orcish.write_dataset(table, tmp_path / "flat")
    orcish.convert(tmp_path / "flat", tmp_path / "converted", partition_by=["p"])
    check(tmp_path / "converted", table, values)


@each_case("memory", [0, 100_000, 1 << 30])
@each_case("order", ["random", "sorted", "sorted twice"])
def test_order_of_rows(tmp_path: Path, memory: int, order: str) -> None:
    table = shuffled(4000, 40)
    if order != "random":
        table = table.sort_by("p")
    if order == "sorted twice":
        table = pa.concat_tables([table, table])
    orcish.write_dataset(stream(table, 150), tmp_path / "t", partition_by=["p"], max_open_files=4, max_memory=memory)
    check(tmp_path / "t", table, 40)
    orcish.write_dataset(
        stream(table, 150), tmp_path / "u", partition_by=["p"], max_open_files=4, max_memory=memory, max_rows_per_file=7
    )
    # Names of files are numbered in the order of the rows.
    most = len(table) // 40
    check(tmp_path / "u", table, 40, -(-most // 7))


def every_type(count: int) -> pa.Table:
    """Columns of types that are not what ORC has, with nulls."""
    rng = random.Random(count)

    def some(kind: Any, value: Callable[[int], Any]) -> pa.Array:
        return pa.array([None if rng.random() < 0.2 else value(at) for at in range(count)], kind)

    nested = pa.struct([("a", pa.uint16()), ("b", pa.list_(pa.dictionary(pa.int8(), pa.string())))])
    columns = {
        "uint64": some(pa.uint64(), lambda at: 2**63 + at),
        "half": some(pa.float16(), float),
        "null": pa.nulls(count),
        "large": some(pa.large_string(), str),
        "view": some(pa.string_view(), lambda at: f"a text that is longer than a view {at}"),
        "fixed": some(pa.binary(3), lambda at: b"abc"),
        "narrow": some(pa.string(), lambda at: f"v{at % 100}")
        .dictionary_encode()
        .cast(pa.dictionary(pa.int8(), pa.string())),
        "wide": some(pa.int64(), lambda at: at % 20).dictionary_encode(),
        "runs": pc.run_end_encode(pa.array([at // 7 for at in range(count)]), run_end_type=pa.int16()),
        "seconds": some(pa.timestamp("s"), lambda at: at * 10**6),
        "zone": some(pa.timestamp("ns", "Europe/Berlin"), lambda at: at * 10**12 + 7),
        "time": some(pa.time64("ns"), int),
        "duration": some(pa.duration("ms"), int),
        "date64": some(pa.date64(), lambda at: dt.date(1970, 1, 1) + dt.timedelta(at)),
        "decimal": some(pa.decimal256(38, 2), lambda at: Decimal(at) / 100),
        "months": some(pa.month_day_nano_interval(), lambda at: (at, at, at)),
        "list view": some(pa.list_view(pa.int64()), lambda at: list(range(at % 5))),
        "fixed list": some(pa.list_(pa.int32(), 2), lambda at: [at, None]),
        "map": some(pa.map_(pa.string(), pa.duration("us")), lambda at: [(f"k{at}", at)]),
        "struct": some(nested, lambda at: {"a": at, "b": [f"{at % 90}", None]}),
        "union": pa.UnionArray.from_sparse(
            pa.array([at % 2 for at in range(count)], pa.int8()),
            [pa.array(range(count)), pa.array(map(str, range(count)))],
        ),
    }
    return pa.table({"p": [rng.randrange(12) for _ in range(count)], **columns})


@each_case("options", [{}, {"arrow_schema": False}, {"timezone": "America/New_York"}])
def test_values_of_rows_on_disk(tmp_path: Path, options: dict[str, Any]) -> None:
    """Rows that were in temporary files have the types and values of others. Dictionaries differ from batch to batch."""
    table = every_type(300)
    found: list[dict[int, pa.Table]] = []
    for number, more in enumerate(({}, LITTLE, {"max_open_files": 3})):
        rows = stream(table, 37)
        done = orcish.write_dataset(rows, tmp_path / str(number), partition_by=["p"], **options, **more)
        assert len(done) == 12
        found.append({file.partition["p"]: orcish.read_table(file.path) for file in done})
    for key, want in found[0].items():
        for other in found[1:]:
            assert other[key].schema.equals(want.schema, check_metadata=True)
            assert str(other[key].to_pylist()) == str(want.to_pylist())


def test_dictionaries_of_few_keys(tmp_path: Path) -> None:
    """A partition may have more distinct values than the keys of a batch tell apart."""
    kind = pa.dictionary(pa.int8(), pa.string())
    batches = [
        pa.record_batch(
            {
                "p": [at % 4 for at in range(100)],
                "d": pa.array([f"{number} {at}" for at in range(100)]).dictionary_encode().cast(kind),
                "l": pa.array([[f"{number} {at}"] for at in range(100)]).cast(pa.list_(kind)),
            }
        )
        for number in range(20)
    ]
    reader = pa.RecordBatchReader.from_batches(batches[0].schema, batches)
    done = orcish.write_dataset(reader, tmp_path, partition_by=["p"], max_open_files=1, max_memory=100_000)
    assert len(done) == 4
    for file in done:
        key = file.partition["p"]
        want = [f"{number} {at}" for number in range(20) for at in range(100) if at % 4 == key]
        table = orcish.read_table(file.path)
        assert table["d"].to_pylist() == want
        assert table["l"].to_pylist() == [[text] for text in want]


def test_memory_of_many_partitions() -> None:
    """Rows that wait are in bounded memory, and partitions take little."""
    out = run_python(
        """
        import random, resource, tempfile, orcish, pyarrow as pa
        def batches():
            rng = random.Random(7)
            for _ in range(300):
                keys = [rng.randrange(600) for _ in range(2000)]
                yield pa.record_batch({"p": keys, "text": [rng.randbytes(100).hex() for _ in keys]})
        schema = pa.schema([("p", pa.int64()), ("text", pa.string())])
        with tempfile.TemporaryDirectory() as folder:
            orcish.write_dataset(pa.table({"a": [1]}), f"{folder}/warm")
            before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            reader = pa.RecordBatchReader.from_batches(schema, batches())
            done = orcish.write_dataset(
                reader, f"{folder}/t", partition_by=["p"], max_open_files=10, max_memory=20 << 20
            )
            print(len(done), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
        """
    )
    files, kilobytes = map(int, out.split())
    # The rows have 125 MB.
    assert files == 600
    assert kilobytes < 80_000


# The bound on partitions.


def test_absurd_numbers_of_partitions(tmp_path: Path) -> None:
    table = shuffled(MAX_PARTITIONS + 1, MAX_PARTITIONS + 1)
    with pytest.raises(
        ValueError, match=rf'partition_by=\["id"\].*more partitions than max_partitions={MAX_PARTITIONS}'
    ):
        orcish.write_dataset(table, tmp_path / "t", partition_by=["id"])
    few = table.slice(0, 30)
    orcish.write_dataset(few, tmp_path / "flat")
    for write in (orcish.write_dataset, lambda _, *args, **more: orcish.convert(tmp_path / "flat", *args, **more)):
        with pytest.raises(ValueError, match="more partitions than max_partitions=29 allows"):
            write(few, tmp_path / "t", partition_by=["id"], max_partitions=29)
        assert not (tmp_path / "t").exists()
    # Partitions of several batches count together, and one of several times once.
    reader = stream(pa.concat_tables([few.slice(0, 20), few]), 10)
    with pytest.raises(ValueError, match="max_partitions=29"):
        orcish.write_dataset(reader, tmp_path / "t", partition_by=["id"], max_partitions=29)
    assert len(orcish.write_dataset(few, tmp_path / "t", partition_by=["id"], max_partitions=30)) == 30
    with pytest.raises(ValueError, match="max_partitions=0: must be at least 1"):
        orcish.write_dataset(few, tmp_path / "t", max_partitions=0)


@each_case("command", ["convert", "rewrite", "rewrite in place"])
def test_the_bound_in_the_shell(tmp_path: Path, capsys: pytest.CaptureFixture[str], command: str) -> None:
    table, target = tmp_path / "flat", tmp_path / "t"
    orcish.write_dataset(shuffled(30, 5), table)
    to: list[Any] = {"convert": [target], "rewrite": ["-o", target], "rewrite in place": ["--in-place"]}[command]
    start = [command.split()[0], table, *to, "--partition-by", "id"]
    assert main([*map(str, start), "--max-partitions", "29"]) != 0
    assert "--max-partitions 29" in capsys.readouterr().err
    assert not target.exists()
    assert main([*map(str, start), "--max-partitions", "30"]) == 0
    written = table if command == "rewrite in place" else target
    assert orcish.read_table(written).num_rows == 30
    assert len([path for path in written.rglob("*.orc") if "_orcish" not in path.parts]) == 30


def test_the_option_of_spark() -> None:
    assert WriterOptions.of({"path": "t"}).max_partitions == MAX_PARTITIONS
    assert WriterOptions.of({"path": "t", "maxPartitions": "7"}).max_partitions == 7
    with pytest.raises(ValueError, match="maxPartitions"):
        WriterOptions.of({"path": "t", "maxPartitions": "0"})


# Failures.


def broken(table: pa.Table, error: BaseException) -> pa.RecordBatchReader:
    def batches() -> Iterator[pa.RecordBatch]:
        yield from table.to_batches(max_chunksize=50)
        raise error

    return pa.RecordBatchReader.from_batches(table.schema, batches())


@each_case("error", [LookupError("no more rows"), KeyboardInterrupt()])
def test_failures_leave_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    table = shuffled(500, 20)
    orcish.write_dataset(table, tmp_path / "t", partition_by=["p"])
    before = files_of(tmp_path / "t")
    with pytest.raises(type(error)):
        orcish.write_dataset(broken(table, error), tmp_path / "t", partition_by=["p"], existing_data="append", **LITTLE)
    with pytest.raises(type(error)):
        orcish.write_dataset(broken(table, error), tmp_path / "new", partition_by=["p"], **LITTLE)
    # A value that cannot be stored, among rows that wait.
    times = pa.array([5] * 499 + [-1], pa.timestamp("us"))
    with pytest.raises(ValueError, match="column t: row"):
        orcish.write_dataset(
            stream(table.append_column("t", times), 50), tmp_path / "new", partition_by=["p"], **LITTLE
        )
    assert files_of(tmp_path / "t") == before
    assert not (tmp_path / "new").exists()
    assert list(temporary.iterdir()) == []


@each_case("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_signals_leave_no_temporary_files(tmp_path: Path, number: signal.Signals) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    code = """
        import sys, orcish, pyarrow as pa
        def batches():
            at = 0
            while True:
                yield pa.record_batch({"p": range(100), "text": ["x" * 1000] * 100})
                at += 1
                if at == 20:
                    print("waiting", flush=True)
        schema = pa.schema([("p", pa.int64()), ("text", pa.string())])
        reader = pa.RecordBatchReader.from_batches(schema, batches())
        orcish.write_dataset(reader, sys.argv[1], partition_by=["p"], max_open_files=2, max_memory=0)
    """
    command = [sys.executable, "-c", textwrap.dedent(code), str(tmp_path / "t")]
    child = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env={**os.environ, "TMPDIR": str(temporary)}
    )
    assert child.stdout is not None
    with child:
        assert child.stdout.readline() == b"waiting\n"
        child.send_signal(number)
        child.wait(60)
    assert list(temporary.iterdir()) == []


def test_no_room_for_temporary_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path / "missing"))
    with pytest.raises(OSError, match=r"missing: .*TMPDIR names another folder"):
        orcish.write_dataset(shuffled(500, 20), tmp_path / "t", partition_by=["p"], **LITTLE)
    assert not (tmp_path / "t").exists()
    # Rows that fit into memory need none.
    orcish.write_dataset(shuffled(500, 20), tmp_path / "t", partition_by=["p"], max_open_files=3)
