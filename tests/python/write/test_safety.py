"""A file appears under its name only when it is complete, whatever goes wrong before."""

from __future__ import annotations

import concurrent.futures
import errno
import io
import itertools
import os
import pathlib
import stat
import subprocess
import sys
import textwrap
import threading
import time
import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy
import orcish
import pyarrow as pa
import pytest
from orcish.types import ExistingFile
from support.processes import run_python
from support.random_cases import seeded

SCHEMA = pa.schema([("t", pa.timestamp("us"))])
OLD = pa.table({"old": [1, 2, 3]})
FIRST = -1
"""A microsecond before 1970, which cannot be stored."""


def Writer(target: Any, schema: pa.Schema, **options: Any) -> orcish.ORCWriter:  # noqa: N802
    """A writer that replaces a file which is there."""
    return orcish.ORCWriter(target, schema, existing_data=existing(target), **options)


def existing(target: Any) -> ExistingFile:
    """The default, unless a file is there."""
    is_path = isinstance(target, str | os.PathLike) and "\0" not in os.fspath(target)
    return "overwrite" if is_path and os.path.lexists(target) else "error"


def stored(table: pa.Table) -> bytes:
    """The bytes of a file of these rows."""
    out = io.BytesIO()
    orcish.write_table(table, out)
    return out.getvalue()


DATA = stored(OLD)


def batch(*micros: int, rows: int = 1) -> pa.RecordBatch:
    return pa.record_batch([pa.array([*micros] * rows, pa.timestamp("us"))], schema=SCHEMA)


def names(folder: pathlib.Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.fixture(params=["new", "old"])
def place(request: pytest.FixtureRequest, tmp_path: pathlib.Path) -> pathlib.Path:
    """A folder, without a file of the name and with an old one."""
    if request.param == "old":
        orcish.write_table(OLD, tmp_path / "t.orc")
    return tmp_path


def assert_untouched(place: pathlib.Path, before: dict[str, bytes]) -> None:
    """Nothing is there but what was there."""
    assert {path.name: path.read_bytes() for path in place.iterdir()} == before


def contents(place: pathlib.Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in place.iterdir()}


# What fails.


def leave(path: pathlib.Path) -> None:
    with Writer(path, SCHEMA, stripe_size=1, row_index_stride=1000) as writer:
        writer.write(batch(5, rows=20_000))
        raise LookupError("not ours")


def interrupt(path: pathlib.Path) -> None:
    with Writer(path, SCHEMA) as writer:
        writer.write(batch(5))
        raise KeyboardInterrupt("by hand")


def give_up(path: pathlib.Path) -> None:
    writer = Writer(path, SCHEMA)
    writer.write(batch(5, rows=20_000))
    writer.end_stripe()
    writer.abort()
    writer.abort()
    assert names(path.parent) in ([], ["t.orc"])
    writer.close()


def give_up_inside(path: pathlib.Path) -> None:
    with Writer(path, SCHEMA) as writer:
        writer.write(batch(5))
        writer.abort()


def write_after_abort(path: pathlib.Path) -> None:
    writer = Writer(path, SCHEMA)
    writer.abort()
    writer.write(batch(5))


def end_stripe_after_abort(path: pathlib.Path) -> None:
    writer = Writer(path, SCHEMA)
    writer.abort()
    writer.end_stripe()


def late_value(path: pathlib.Path) -> None:
    parts = [batch(5, rows=10_000)] * 9 + [batch(FIRST, rows=50_000)]
    orcish.write_table(
        pa.Table.from_batches(parts), path, existing_data=existing(path), stripe_size=1, row_index_stride=1000
    )


def last_value(path: pathlib.Path) -> None:
    """It is encoded when the file is closed."""
    orcish.write_table(pa.Table.from_batches([batch(5), batch(FIRST)]), path, existing_data=existing(path))


def other_schema(path: pathlib.Path) -> None:
    with Writer(path, SCHEMA) as writer:
        writer.write(batch(5))
        writer.write(OLD)


def no_rows(path: pathlib.Path) -> None:
    with Writer(path, SCHEMA) as writer:
        writer.write([batch(5), "no rows"])


def broken() -> Iterator[pa.RecordBatch]:
    for _ in range(5):
        yield batch(5, rows=10_000)
    raise LookupError("no more rows")


def generator(path: pathlib.Path) -> None:
    with Writer(path, SCHEMA, stripe_size=1) as writer:
        writer.write(broken())


def reader(path: pathlib.Path) -> None:
    orcish.write_table(
        pa.RecordBatchReader.from_batches(SCHEMA, broken()), path, existing_data=existing(path), stripe_size=1
    )


def broken_file(path: pathlib.Path) -> None:
    """A scan that fails midway."""
    out = io.BytesIO()
    rows = pa.table({"a": list(range(50_000))})
    orcish.write_table(rows, out, row_index_stride=1000, stripe_size=1, compression="zlib")
    damaged = bytearray(out.getvalue())
    middle = orcish.ORCFile(bytes(damaged)).stripes[-2]
    start = middle.offset + middle.index_length
    damaged[start : start + middle.data_length] = b"\xff" * middle.data_length
    orcish.write_table(orcish.ORCFile(bytes(damaged)), path, existing_data=existing(path))


def bad_option(path: pathlib.Path) -> None:
    orcish.write_table(OLD, path, existing_data=existing(path), compression_level=3, compression="snappy")


def unknown_column(path: pathlib.Path) -> None:
    orcish.write_table(OLD, path, existing_data=existing(path), bloom_filter_columns=["absent"])


def no_type(path: pathlib.Path) -> None:
    orcish.write_table(pa.table({"d": pa.nulls(2, pa.decimal256(76, 40))}), path, existing_data=existing(path))


class NoError(BaseException):
    """As `KeyboardInterrupt` and `SystemExit`: none of the errors that others catch."""


def ended(kind: BaseException) -> Callable[[pathlib.Path], None]:
    def rows() -> Iterator[pa.RecordBatch]:
        yield batch(5)
        raise kind

    def fail(path: pathlib.Path) -> None:
        orcish.write_table(pa.RecordBatchReader.from_batches(SCHEMA, rows()), path, existing_data=existing(path))

    fail.__name__ = f"ended by {type(kind).__name__}"
    return fail


def ended_writer(path: pathlib.Path) -> None:
    def rows() -> Iterator[pa.RecordBatch]:
        yield batch(5)
        raise KeyboardInterrupt("by hand")

    with Writer(path, SCHEMA) as writer:
        writer.write(pa.RecordBatchReader.from_batches(SCHEMA, rows()))


FAILURES: list[tuple[Callable[[pathlib.Path], None], type[BaseException], str]] = [
    (leave, LookupError, "not ours"),
    (interrupt, KeyboardInterrupt, "by hand"),
    (ended(KeyboardInterrupt("by hand")), KeyboardInterrupt, "by hand"),
    (ended(SystemExit("enough")), SystemExit, "enough"),
    (ended(NoError("nothing wrong")), NoError, "nothing wrong"),
    (ended_writer, KeyboardInterrupt, "by hand"),
    (give_up, ValueError, "closed"),
    (give_up_inside, ValueError, "closed"),
    (write_after_abort, ValueError, "closed"),
    (end_stripe_after_abort, ValueError, "closed"),
    (late_value, ValueError, r"t\.orc: column t: row 90000: .*1970"),
    (last_value, ValueError, r"t\.orc: column t: row 1: .*1970"),
    (other_schema, ValueError, r"t\.orc: column t: a batch with"),
    (no_rows, TypeError, "str"),
    (generator, LookupError, "no more rows"),
    (reader, LookupError, "no more rows"),
    (broken_file, orcish.CorruptFileError, "column a, DATA stream"),
    (bad_option, ValueError, "snappy"),
    (unknown_column, orcish.UnknownColumnError, "absent"),
    (no_type, ValueError, "column d"),
]


@pytest.mark.parametrize(("fail", "kind", "text"), FAILURES, ids=[case[0].__name__ for case in FAILURES])
def test_failures_leave_nothing(
    place: pathlib.Path, fail: Callable[[pathlib.Path], None], kind: type[BaseException], text: str
) -> None:
    before = contents(place)
    with pytest.raises(kind, match=text) as raised:
        fail(place / "t.orc")
    assert raised.value is not None
    # Frames of the traceback hold the writer.
    raised.value.__traceback__ = None
    del raised
    assert_untouched(place, before)


@pytest.mark.parametrize(
    ("fail", "kind"),
    [
        pytest.param(
            fail,
            kind,
            id=fail.__name__,
        )
        for fail, kind, _ in FAILURES
    ],
)
def test_failures_leave_nothing_at_once(
    place: pathlib.Path, fail: Callable[[pathlib.Path], None], kind: type[BaseException]
) -> None:
    """Temporary files are removed before handlers of the exception run."""
    before = contents(place)
    try:
        fail(place / "t.orc")
    except kind:
        if fail not in (bad_option, unknown_column, no_type):
            assert_untouched(place, before)
    assert_untouched(place, before)


@pytest.mark.filterwarnings("ignore:.*was not closed:ResourceWarning")
def test_what_is_forgotten_leaves_nothing(place: pathlib.Path) -> None:
    before = contents(place)
    writer = Writer(place / "t.orc", SCHEMA, stripe_size=1)
    writer.write(batch(5, rows=50_000))
    assert set(names(place)) > set(before)
    del writer
    assert_untouched(place, before)


def test_nothing_follows_a_failure(place: pathlib.Path) -> None:
    before = contents(place)
    writer = Writer(place / "t.orc", SCHEMA)
    with pytest.raises(ValueError, match="row 0"):
        writer.write(batch(FIRST, rows=200_000))
    for call in (lambda: writer.write(batch(5)), writer.end_stripe, writer.close, writer.close):
        with pytest.raises(ValueError, match=r"t\.orc: writing the file has failed before"):
            call()
    writer.abort()
    with pytest.raises(ValueError, match="closed"):
        writer.close()
    assert_untouched(place, before)


def test_close_after_a_producer_failed(place: pathlib.Path) -> None:
    """“If anything fails before, nothing appears.”"""
    before = contents(place)
    writer = Writer(place / "t.orc", SCHEMA)
    with pytest.raises(LookupError, match="no more rows"):
        writer.write(pa.RecordBatchReader.from_batches(SCHEMA, broken()))
    with pytest.raises(ValueError, match="failed"):
        writer.close()
    writer.abort()
    assert_untouched(place, before)


WRITES: list[tuple[str, Callable[[orcish.ORCWriter], Any], type[Exception]]] = [
    ("no_rows", lambda writer: writer.write([batch(5), "no rows"]), TypeError),
    ("none", lambda writer: writer.write(None), TypeError),
    ("no_batch", lambda writer: writer.write_batch("no batch"), TypeError),
    ("no_table", lambda writer: writer.write_table(7), TypeError),
    ("other_schema", lambda writer: writer.write([batch(5), OLD]), ValueError),
    ("generator", lambda writer: writer.write(broken()), LookupError),
    ("unstorable", lambda writer: writer.write(batch(FIRST, rows=200_000)), ValueError),
    ("recursion", lambda writer: writer.write([batch(5), [batch(5), [None]]]), TypeError),
]


@pytest.mark.parametrize(("write", "kind"), [case[1:] for case in WRITES], ids=[case[0] for case in WRITES])
def test_nothing_is_closed_after_a_write_that_failed(
    place: pathlib.Path, write: Callable[[orcish.ORCWriter], Any], kind: type[Exception]
) -> None:
    before = contents(place)
    writer = Writer(place / "t.orc", SCHEMA)
    writer.write(batch(5))
    with pytest.raises(kind):
        write(writer)
    assert_untouched(place, before)
    calls: list[Callable[[], Any]] = [writer.close, lambda: writer.write(batch(5)), writer.end_stripe, writer.close]
    for call in calls:
        with pytest.raises(ValueError, match="failed before"):
            call()
    with pytest.raises(ValueError, match="failed before"), writer:
        pass
    assert_untouched(place, before)


def test_a_write_that_failed_does_not_open_a_closed_file(place: pathlib.Path) -> None:
    writer = Writer(place / "t.orc", SCHEMA)
    writer.write(batch(5))
    written = writer.close()
    with pytest.raises(TypeError):
        writer.write("no rows")
    assert writer.close() is written
    assert orcish.read_table(place / "t.orc").num_rows == 1


@pytest.mark.parametrize("call", ["write", "close", "end_stripe"])
@pytest.mark.parametrize("is_stream", [False, True])
def test_producers_whose_writes_fail(place: pathlib.Path, call: str, is_stream: bool) -> None:
    """A nested call is refused, and the file does not appear without its rows."""
    before = contents(place)
    writer = Writer(place / "t.orc", SCHEMA)
    nested = {"write": lambda: writer.write(batch(6)), "close": writer.close, "end_stripe": writer.end_stripe}[call]

    def batches() -> Iterator[pa.RecordBatch]:
        yield batch(5)
        with pytest.raises(ValueError, match="by another call"):
            nested()
        yield batch(7)

    with pytest.raises(ValueError, match="failed before"):
        writer.write(pa.RecordBatchReader.from_batches(SCHEMA, batches()) if is_stream else batches())
    with pytest.raises(ValueError, match="failed before"):
        writer.close()
    assert_untouched(place, before)


def test_threads_share_a_writer(tmp_path: pathlib.Path) -> None:
    """A call waits for those of other threads, and the rows of each call stay together."""
    path, calls, waiting = tmp_path / "a.orc", 8, threading.Event()
    schema = pa.schema([("of", pa.int64())])

    def batches(of: int) -> Iterator[pa.RecordBatch]:
        for at in range(5):
            yield pa.record_batch([pa.array([of] * 100)], schema=schema)
            if of == 0 and at == 0:
                # Others come while the call is not at its end.
                assert waiting.wait(30)
            time.sleep(0.001)

    def write(of: int) -> None:
        writer.write(pa.RecordBatchReader.from_batches(schema, batches(of)))

    with Writer(path, schema, stripe_size=1, row_index_stride=1000) as writer:
        first = threading.Thread(target=write, args=(0,))
        first.start()
        while not writer.rows:
            time.sleep(0.001)
        others: list[Callable[[], Any]] = [lambda of=of: write(of) for of in range(1, calls)]
        others += [writer.end_stripe, lambda: writer.write_batch(pa.record_batch([pa.array([calls])], schema=schema))]
        with concurrent.futures.ThreadPoolExecutor(len(others)) as pool:
            results = [pool.submit(call) for call in others]
            time.sleep(0.1)
            assert not any(result.done() for result in results)
            waiting.set()
            for result in results:
                result.result()
        first.join()
    found = orcish.read_table(path)["of"].to_pylist()
    assert sorted(found) == [of for of in range(calls) for _ in range(500)] + [calls]
    assert len(list(itertools.groupby(found))) == calls + 1


def test_a_thread_that_closes_a_writer_waits(tmp_path: pathlib.Path) -> None:
    path, closing = tmp_path / "a.orc", threading.Event()

    def batches() -> Iterator[pa.RecordBatch]:
        yield batch(5)
        assert closing.wait(30)
        time.sleep(0.1)
        yield batch(6)

    writer = Writer(path, SCHEMA)
    write = threading.Thread(target=lambda: writer.write(pa.RecordBatchReader.from_batches(SCHEMA, batches())))
    write.start()
    while not writer.rows:
        time.sleep(0.001)
    close = threading.Thread(target=writer.close)
    close.start()
    closing.set()
    for thread in (write, close):
        thread.join()
    assert writer.close() == (2, path.stat().st_size, 1)
    assert orcish.read_table(path).num_rows == 2


def test_closing_and_what_follows(place: pathlib.Path) -> None:
    path = place / "t.orc"
    with Writer(path, SCHEMA) as writer:
        writer.write(batch(5, 6))
        assert writer.rows == 2
        written = writer.close()
        assert writer.close() is written
    assert written == (2, path.stat().st_size, 1)
    assert writer.rows == 2
    assert writer.memory == 0
    before = contents(place)
    calls: list[Callable[[], None]] = [lambda: writer.write(batch(5)), writer.end_stripe]
    for call in calls:
        with pytest.raises(ValueError, match="closed"):
            call()
    writer.abort()
    assert writer.close() is written
    assert_untouched(place, before)
    assert names(place) == ["t.orc"]
    assert orcish.read_table(path)["t"].cast(pa.int64()).to_pylist() == [5, 6]


def test_nothing_appears_before_the_end(place: pathlib.Path) -> None:
    """Names of temporary files begin with a dot, so that scans ignore them."""
    path = place / "t.orc"
    before = contents(place)
    writer = Writer(path, SCHEMA, stripe_size=1, compression="none", row_index_stride=1000)
    writer.write(batch(5, rows=100_000))
    writer.end_stripe()
    (temporary,) = set(names(place)) - set(before)
    assert temporary.startswith(".")
    assert (place / temporary).stat().st_size > 0
    if before:
        assert orcish.read_table(place).equals(OLD)
        assert orcish.scan(place).count() == 3
        assert path.read_bytes() == before["t.orc"]
    else:
        with pytest.raises(FileNotFoundError):
            orcish.read_table(place)
    writer.close()
    assert names(place) == ["t.orc"]
    assert orcish.read_table(place).num_rows == 100_000


def test_open_readers_keep_the_old_file(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "t.orc"
    old = pa.table({"a": list(range(100_000))})
    orcish.write_table(old, path, stripe_size=1, row_index_stride=1000)
    file, batches = orcish.ORCFile(path), orcish.ORCFile(path).iter_batches(batch_size=1000, threads=1)
    first = next(batches)
    orcish.write_table(OLD, path, existing_data="overwrite")
    assert orcish.read_table(path).equals(OLD)
    assert file.read().equals(old)
    assert pa.Table.from_batches([first, *batches]).equals(old)


def test_a_file_is_rewritten_from_itself(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "t.orc"
    rows = pa.table({"a": list(range(200_000))})
    orcish.write_table(rows, path)
    written = orcish.write_table(
        orcish.scan(path).where(orcish.col("a") >= 100_000), path, stripe_size=1, existing_data="overwrite"
    )
    assert written.rows == 100_000
    assert orcish.read_table(path).equals(rows.slice(100_000))
    orcish.merge([path, path], path, existing_data="overwrite")
    assert orcish.read_table(path).num_rows == 200_000
    assert orcish.ORCFile(path).check() == []
    assert names(tmp_path) == ["t.orc"]


def test_writers_of_one_name(tmp_path: pathlib.Path) -> None:
    """The last writer that closes wins. Each file is complete."""
    path = tmp_path / "t.orc"
    schema = pa.schema([("a", pa.int64())])
    writers = [orcish.ORCWriter(path, schema, existing_data="overwrite") for _ in range(5)]
    assert len(names(tmp_path)) == 5
    for number, writer in enumerate(writers):
        writer.write(pa.record_batch({"a": [number]}))
    for number in (3, 1, 4, 0, 2):
        writers[number].close()
        assert orcish.read_table(path)["a"].to_pylist() == [number]
    assert names(tmp_path) == ["t.orc"]


# Where files cannot be, and what they replace.


def test_targets_that_cannot_be(tmp_path: pathlib.Path) -> None:
    cases: list[tuple[Any, Any, str]] = [
        (tmp_path, IsADirectoryError, "is a folder"),
        (f"{tmp_path}/", IsADirectoryError, "is a folder"),
        ("/", IsADirectoryError, "is a folder"),
        ("", OSError, "names no file"),
        (tmp_path / "missing" / "t.orc", FileNotFoundError, "missing/t"),
        (tmp_path / "missing" / ".." / "t.orc", FileNotFoundError, "missing"),
        # The native core asks the system.
        (f"{tmp_path}/a\0b", (ValueError, OSError), "NUL"),
        ("http://127.0.0.1:1/t.orc", orcish.UnsupportedError, "HTTP"),
        ("https://127.0.0.1:1/t.orc", orcish.UnsupportedError, "HTTP"),
        ("nosuch://x/t.orc", orcish.UnsupportedError, "nosuch"),
        ("ftp://127.0.0.1:1/t.orc", ConnectionRefusedError, "ftp://127.0.0.1:1/t.orc"),
        (None, TypeError, "NoneType"),
        (b"t.orc", TypeError, "bytes"),
        (7, TypeError, "int"),
    ]
    for target, kind, text in cases:
        with pytest.raises(kind, match=text):
            orcish.write_table(OLD, target)
        with pytest.raises(kind, match=text):
            Writer(target, OLD.schema)
        with pytest.raises(kind, match=text):
            orcish.merge([DATA], target)
    # The system says so at the end only.
    with pytest.raises(OSError, match="xxx"):
        orcish.write_table(OLD, tmp_path / ("x" * 300))
    assert names(tmp_path) == []


def test_names(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    long = "é" * 125 + ".orc"
    for name in ("plain.orc", "a b%20.orc", "ü日.orc", "no ending", "-", long, "x" * 255, ".hidden.orc"):
        orcish.write_table(OLD, name)
        assert orcish.read_table(tmp_path / name).equals(OLD)
        os.remove(name)
    raw = os.fsdecode(b"not utf-8 \xff.orc")
    orcish.write_table(OLD, raw)
    assert orcish.ORCFile(raw).num_rows == 3
    os.remove(raw)
    orcish.write_table(OLD, (tmp_path / "a b.orc").as_uri())
    assert names(tmp_path) == ["a b.orc"]


def test_permissions_are_kept(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "t.orc"
    umask = os.umask(0o027)
    try:
        orcish.write_table(OLD, path)
    finally:
        os.umask(umask)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    for mode in (0o600, 0o664, 0o444):
        path.chmod(mode)
        orcish.write_table(OLD, path, existing_data="overwrite")
        assert stat.S_IMODE(path.stat().st_mode) == mode


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_folders_that_are_read_only(tmp_path: pathlib.Path) -> None:
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(PermissionError, match=r"t\.orc"):
            orcish.write_table(OLD, tmp_path / "t.orc")
    finally:
        tmp_path.chmod(0o700)


def test_links_stay(tmp_path: pathlib.Path) -> None:
    real, link, second = tmp_path / "elsewhere" / "real.orc", tmp_path / "link.orc", tmp_path / "second.orc"
    real.parent.mkdir()
    orcish.write_table(OLD, real)
    link.symlink_to("elsewhere/real.orc")
    second.symlink_to(link)
    new = pa.table({"new": [1]})
    orcish.write_table(new, second, existing_data="overwrite")
    assert link.is_symlink()
    assert second.is_symlink()
    assert orcish.read_table(real).equals(new)
    assert names(real.parent) == ["real.orc"]
    folder = tmp_path / "folder.orc"
    folder.symlink_to("elsewhere")
    with pytest.raises(IsADirectoryError):
        orcish.write_table(new, folder)


def test_links_that_lead_nowhere_stay(tmp_path: pathlib.Path) -> None:
    """A symbolic link stays, and its missing target is created, as with ``open``."""
    link = tmp_path / "link.orc"
    link.symlink_to("real.orc")
    orcish.write_table(OLD, link, existing_data="overwrite")
    assert link.is_symlink()
    assert orcish.read_table(tmp_path / "real.orc").equals(OLD)


def test_pipes_and_devices_are_not_replaced(tmp_path: pathlib.Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises((OSError, ValueError, orcish.OrcishError)):
        orcish.write_table(OLD, pipe)
    assert stat.S_ISFIFO(pipe.stat().st_mode)


# File objects.


class Faulty(io.RawIOBase):
    """A file object that takes a part at a time, and fails after some bytes."""

    def __init__(self, most: int, limit: int = 1 << 60) -> None:
        self.taken, self.most, self.limit = bytearray(), most, limit

    def writable(self) -> bool:
        return True

    def write(self, data: Any, /) -> int:
        if len(self.taken) >= self.limit:
            raise OSError(28, "the disk is full")
        self.taken += data[: self.most]
        return min(self.most, len(data))


def test_file_objects(tmp_path: pathlib.Path) -> None:
    rows = pa.table({"a": list(range(30_000))})
    out = io.BytesIO()
    written = orcish.write_table(rows, out, stripe_size=1, row_index_stride=1000)
    assert not out.closed
    assert written.bytes == len(out.getvalue())
    assert orcish.read_table(out.getvalue()).equals(rows)
    for buffering in (0, -1):
        with (tmp_path / "t.orc").open("wb", buffering=buffering) as file:
            assert orcish.write_table(rows, file, stripe_size=1, row_index_stride=1000) == written
            # It has been flushed.
            assert orcish.read_table(tmp_path / "t.orc").equals(rows)
    raw = Faulty(1000)
    orcish.write_table(rows, raw, stripe_size=1, row_index_stride=1000)
    assert bytes(raw.taken) == out.getvalue()
    pieces: list[bytes] = []
    only_write = type("OnlyWrite", (), {"write": lambda self, data: pieces.append(data)})()
    orcish.write_table(rows, only_write, stripe_size=1, row_index_stride=1000)
    assert b"".join(pieces) == out.getvalue()
    with pa.OSFile(str(tmp_path / "u.orc"), "wb") as file:
        orcish.write_table(rows, file)
    assert orcish.read_table(tmp_path / "u.orc").equals(rows)


@pytest.mark.parametrize("limit", [0, 3, 20_000])
def test_file_objects_that_fail(limit: int) -> None:
    rows = pa.table({"a": [number * 7919 % 10_007 for number in range(200_000)]})
    out = Faulty(1000, limit)
    with pytest.raises(OSError, match="the disk is full") as raised:
        orcish.write_table(rows, out, stripe_size=1, row_index_stride=1000, compression="none")
    assert raised.value.errno in (28, None)
    assert limit <= len(out.taken) < limit + 1000
    writer = Writer(Faulty(1000, 3), rows.schema, stripe_size=1, compression="none")
    with pytest.raises(OSError, match="the disk is full"):
        writer.write(rows)
    for call in (lambda: writer.write(rows), writer.close):
        with pytest.raises(ValueError, match="failed before"):
            call()


def odd(**calls: Callable[..., Any]) -> Any:
    """A file object of which some call does something odd."""
    return types.SimpleNamespace(**calls)


def test_file_objects_that_are_odd() -> None:
    def boom(*_: Any) -> int:
        raise LookupError("boom")

    with pytest.raises(LookupError, match="boom"):
        orcish.write_table(OLD, odd(write=boom))
    with pytest.raises(LookupError, match="boom"):
        orcish.write_table(OLD, odd(write=len, flush=boom))
    for count in (0, 10**6, -1, -3, 1 << 80):
        with pytest.raises(ValueError, match=f"write took {count} of"):
            orcish.write_table(OLD, odd(write=lambda data, count=count: count))
    for gave in (True, 3.0, "3", b"3", [3]):
        with pytest.raises(TypeError, match=r"write gave .*, where it gives the number of bytes"):
            orcish.write_table(OLD, odd(write=lambda data, gave=gave: gave))
    out = io.BytesIO()
    orcish.write_table(OLD, odd(write=lambda data: numpy.int64(out.write(data[:7]))))
    assert out.getvalue() == DATA
    closed = io.BytesIO()
    closed.close()
    with pytest.raises(ValueError, match="closed"):
        orcish.write_table(OLD, closed)
    text: Any = io.StringIO()
    with pytest.raises(TypeError, match="open for text"):
        orcish.write_table(OLD, text)
    with pytest.raises(TypeError, match="open for text"), open(os.devnull, "w") as file:
        Writer(file, SCHEMA)  # type: ignore[arg-type]
    with pytest.raises(io.UnsupportedOperation), open(__file__, "rb") as file:
        orcish.write_table(OLD, file)


@pytest.mark.parametrize("is_raw", [True, False])
def test_pipes_that_do_not_block(is_raw: bool) -> None:
    """Raw files return `None` if nothing was written. For other files the number of written bytes is unknown."""
    read, write = os.pipe()
    os.set_blocking(write, False)
    rows = pa.table({"a": [number * 7919 % 10_007 for number in range(200_000)]})
    with open(read, "rb", buffering=0) as reader, open(write, "wb", buffering=0) as file:
        target = file if is_raw else odd(write=file.write, fileno=file.fileno)
        with pytest.raises(BlockingIOError, match="does not block") as raised:
            orcish.write_table(rows, target, stripe_size=1, row_index_stride=1000, compression="none")
        assert raised.value.errno == errno.EAGAIN
        assert len(reader.read(1 << 20)) >= raised.value.characters_written


def test_small_parts_are_not_copied_each_time() -> None:
    """The rest of a partial write is not copied for each call."""
    offered: list[int] = []
    rows = pa.table({"a": [number * 2654435761 % 2**32 for number in range(200_000)]})

    def write(data: bytes) -> int:
        offered.append(len(data))
        return min(len(data), 1000)

    orcish.write_table(rows, odd(write=write), compression="none", stripe_size=1 << 26)
    assert sum(offered) > 200_000
    assert sum(offered) < 100 * sum(min(1000, length) for length in offered)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full")
def test_a_full_disk() -> None:
    with pytest.raises(OSError, match="No space left"), open("/dev/full", "wb", buffering=0) as file:
        orcish.write_table(OLD, file)


def test_what_a_limit_of_the_system_refuses(place: pathlib.Path) -> None:
    """The file size limit of the process has the effect of a full disk."""
    before = contents(place)
    out = run_python(
        """
        import resource, signal, sys, orcish, os, pyarrow as pa
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
        table = pa.table({"a": [i * 7919 % 10_007 for i in range(200_000)]})
        try:
            orcish.write_table(table, sys.argv[1], existing_data="overwrite", stripe_size=1, compression="none")
        except OSError as error:
            print(error.errno, sorted(os.listdir(os.path.dirname(sys.argv[1]))))
        """,
        str(place / "t.orc"),
    )
    assert out.strip() == f"27 {sorted(before)}"
    assert_untouched(place, before)


# Other processes and threads.


def test_a_forked_process_leaves_the_file_alone(tmp_path: pathlib.Path) -> None:
    out = run_python(
        """
        import os, sys, warnings, orcish, pyarrow as pa
        warnings.simplefilter("ignore")
        writer = orcish.ORCWriter(sys.argv[1], pa.schema([("a", pa.int64())]))
        writer.write(pa.record_batch({"a": [1, 2]}))
        child = os.fork()
        if child == 0:
            del writer
            os._exit(0)
        os.waitpid(child, 0)
        print(writer.close().rows)
        """,
        str(tmp_path / "t.orc"),
    )
    assert out.strip() == "2"


@pytest.mark.parametrize("target", ["path", "file", "raw", "unpublished"])
def test_a_forked_process_publishes_nothing(tmp_path: pathlib.Path, target: str) -> None:
    """Parent and child write to the same file after a fork. The child publishes nothing."""
    out = run_python(
        f"""
        import os, sys, warnings, orcish, orcish.tables.folder, pyarrow as pa
        warnings.simplefilter("ignore")
        batch = pa.record_batch({{"a": range(20_000)}})
        calls = [
            lambda writer: writer.close(),
            lambda writer: writer.write(batch),
            lambda writer: writer.end_stripe(),
            lambda writer: writer.__exit__(None, None, None),
        ]
        for call in calls:
            where = path = sys.argv[1]
            options = {{"stripe_size": 1, "row_index_stride": 1000, "compression": "none"}}
            options["existing_data"] = "overwrite"
            if "{target}" in ("file", "raw"):
                where = open(path, "wb", buffering=-1 if "{target}" == "file" else 0)
            elif "{target}" == "unpublished":
                options["publish"] = False
            writer = orcish.ORCWriter(where, batch.schema, **options)
            writer.write(batch)
            child = os.fork()
            if child == 0:
                try:
                    call(writer)
                except ValueError as error:
                    if f"is being written by process {{os.getppid()}}" in str(error):
                        os._exit(7)
                os._exit(0)
            print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
            writer.write(batch)
            writer.close()
            if writer.token is not None:
                orcish.tables.folder.Folder(os.path.dirname(path)).complete(os.path.basename(path), writer.token)
            if "{target}" in ("file", "raw"):
                where.close()
            print(orcish.read_table(path).num_rows, orcish.ORCFile(path).check(), os.listdir(os.path.dirname(path)))
        """,
        str(tmp_path / "t.orc"),
    )
    assert out.splitlines() == ["7", "40000 [] ['t.orc']"] * 4


def test_a_forked_process_leaves_a_table_alone(tmp_path: pathlib.Path) -> None:
    """A child that leaves the loop of its parent by an exception removes nothing."""
    out = run_python(
        """
        import os, sys, warnings, orcish, pyarrow as pa
        warnings.simplefilter("ignore")
        children = []
        def batches():
            for number in range(4):
                yield pa.record_batch({"a": [number] * 10, "p": [number % 2] * 10})
                child = os.fork()
                if child == 0:
                    raise SystemExit(7)
                children.append(child)
        schema = pa.schema([("a", pa.int64()), ("p", pa.int64())])
        reader = pa.RecordBatchReader.from_batches(schema, batches())
        orcish.write_dataset(reader, sys.argv[1], partition_by=["p"], max_open_files=1, max_rows_per_file=15)
        print([os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children])
        print(orcish.read_table(sys.argv[1]).num_rows)
        """,
        str(tmp_path / "t"),
    )
    assert out.splitlines() == ["[7, 7, 7, 7]", "40"]


@pytest.mark.parametrize("call", ["writer.rows", "writer.abort()"])
def test_producers_may_ask_the_writer(tmp_path: pathlib.Path, call: str) -> None:
    out = run_python(
        f"""
        import faulthandler, sys, orcish, pyarrow as pa
        faulthandler.dump_traceback_later(30, exit=True)
        schema = pa.schema([("a", pa.int64())])
        def batches():
            for _ in range(3):
                try:
                    {call}
                except ValueError:
                    pass
                yield pa.record_batch({{"a": [1, 2]}})
        writer = orcish.ORCWriter(sys.argv[1], schema)
        try:
            writer.write(pa.RecordBatchReader.from_batches(schema, batches()))
            print("done")
        except ValueError:
            print("done")
        """,
        str(tmp_path / "t.orc"),
    )
    assert out.strip() == "done"


WRITES = {
    "write": "orcish.write_table(table, target, **replacing)",
    "verified write": "orcish.write_table(table, target, verify=True, **replacing)",
    "close": "writer = orcish.ORCWriter(target, table.schema, **replacing); writer.write(table); writer.close()",
    "merge": "orcish.merge([source], target, existing_data='overwrite')",
    "dataset": "orcish.write_dataset(table, folder + '/table', **options)",
    "convert": "orcish.convert(source, folder + '/table', **options)",
}


@pytest.mark.skipif(sys.platform == "win32", reason="a process cannot send itself SIGINT there")
@pytest.mark.parametrize("call", WRITES.values(), ids=WRITES)
def test_ctrl_c_before_the_file_appears(tmp_path: pathlib.Path, call: str) -> None:
    """The signal arrives while the only stripe is written, after all rows have been taken."""
    code = f"""
        import os, signal, sys, threading, time, numpy, orcish, pyarrow as pa
        folder = sys.argv[1]
        source, target = folder + "/source.orc", folder + "/kept/target.orc"
        table = pa.table({{"a": numpy.random.default_rng(5).integers(-(2**62), 2**62, 8_000_000)}})
        options = {{"compression": "none", "stripe_size": 1 << 30}}
        replacing = {{"existing_data": "overwrite", **options}}
        orcish.write_table(table, source, **options)
        os.makedirs(folder + "/kept")
        with open(target, "wb") as file:
            file.write(b"before")

        def has_begun():
            found = [os.path.join(at, name) for at, _, names in os.walk(folder) for name in names]
            return any(path.endswith(".tmp") and os.path.getsize(path) > 3 for path in found)

        def interrupt():
            while not has_begun():
                time.sleep(0.001)
            os.kill(os.getpid(), signal.SIGINT)

        watch = threading.Thread(target=interrupt, daemon=True)
        watch.start()
        try:
            {call}
            print("nothing came")
        except KeyboardInterrupt:
            watch.join()
            print("interrupted")
    """
    assert run_python(code, str(tmp_path)).split("\n") == ["interrupted", ""]
    assert (tmp_path / "kept/target.orc").read_bytes() == b"before"
    files = [path.name for path in tmp_path.rglob("*") if path.is_file()]
    assert sorted(files) == ["source.orc", "target.orc"]


KILLS, ROWS = 100, 60_000
NURSERY = """
    import os, sys, warnings, numpy, orcish, pyarrow as pa
    warnings.simplefilter("ignore")
    path, rows = sys.argv[1], int(sys.argv[2])
    noise = pa.array(numpy.arange(rows) * 2654435761 % 2**32)

    def write(version):
        table = pa.table({"version": numpy.full(rows, version), "noise": noise})
        orcish.write_table(
            table, path, existing_data="overwrite", compression="none", stripe_size=60_000, threads=1
        )

    write(0)
    os.remove(path)
    print("ready", flush=True)
    for line in sys.stdin:
        version = int(line)
        read, reports = os.pipe()
        child = os.fork()
        if child == 0:
            while True:
                write(version)
                os.write(reports, b"%d\\n" % version)
                version += 1
        os.close(reports)
        print(child, flush=True)
        os.waitpid(child, 0)
        with os.fdopen(read, "rb") as pipe:
            print((pipe.read().split() or [b"%d" % (version - 1)])[-1].decode(), flush=True)
"""


def test_killed_processes_leave_whole_files(tmp_path: pathlib.Path) -> None:
    """A process that writes a file repeatedly is killed a hundred times."""
    rng = seeded("killed processes")
    path = tmp_path / "t.orc"
    command = [sys.executable, "-c", textwrap.dedent(NURSERY), str(path), str(ROWS)]
    absent = leftovers = finished = 0
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as nursery:
        assert nursery.stdin is not None
        assert nursery.stdout is not None
        assert nursery.stdout.readline() == "ready\n"
        for kill in range(KILLS):
            is_fresh = kill % 4 == 0
            if is_fresh:
                path.unlink(missing_ok=True)
            before = None if is_fresh or not path.exists() else version_of(path)
            first = 1000 * (kill + 1)
            print(first, file=nursery.stdin, flush=True)
            child = int(nursery.stdout.readline())
            time.sleep(rng.uniform(0, 0.03 if is_fresh else 0.15))
            os.kill(child, 9)
            reported = int(nursery.stdout.readline())
            finished += reported - first + 1
            if path.exists():
                # What was reported is there, or what came next.
                allowed = {reported, reported + 1} if reported >= first else {before, first}
                assert version_of(path) in allowed, f"kill {kill}"
            else:
                assert before is None, f"kill {kill}"
                assert reported < first, f"kill {kill}"
                absent += 1
            others = [name for name in names(tmp_path) if name != "t.orc"]
            assert all(name.startswith(".") for name in others), others
            leftovers += len(others)
            if kill < KILLS - 1:
                for name in others:
                    (tmp_path / name).unlink()
        nursery.stdin.close()
        assert nursery.wait(30) == 0
    print(f"{finished} files, {leftovers} left on their way, {absent} times nothing yet")
    # Kills have hit files on their way. How many depends on what else the machine does.
    assert leftovers
    assert finished > KILLS // 4
    (tmp_path / ".t.orc.1-1-0.tmp").write_bytes(b"ORC and no more")
    orcish.write_table(pa.table({"version": [0]}), path, existing_data="overwrite")
    assert orcish.read_table(tmp_path).num_rows == 1


def version_of(path: pathlib.Path) -> int:
    """The version that all rows of a valid file have."""
    file = orcish.ORCFile(path)
    assert file.num_rows == ROWS
    assert file.check() == []
    versions = file.read(columns=["version"])["version"].unique()
    assert len(versions) == 1
    return int(versions[0].as_py())


# Memory.

MIB = 1 << 20
STREAM = """
    import sys, orcish, pyarrow as pa, numpy
    def peak():
        with open("/proc/self/status") as status:
            return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM"))
    rng = numpy.random.default_rng(1)
    def batches(count):
        for number in range(count):
            yield pa.record_batch({
                "a": rng.integers(0, 1 << 40, 50_000),
                "s": [f"{number}-{at % 100:060d}" for at in range(50_000)],
                "g": [number % 3] * 50_000,
            })
    schema = next(batches(1)).schema
"""


def peak_of(code: str, folder: pathlib.Path, count: int) -> tuple[int, int]:
    """Bytes of memory more than after a short stream, and bytes of the Arrow data."""
    out = run_python(
        STREAM
        + f"""
    def stream(count):
        global total
        total = 0
        for batch in batches(count):
            total += batch.nbytes
            yield batch
    def run(count, name):
        reader = pa.RecordBatchReader.from_batches(schema, stream(count))
        where = sys.argv[1] + "/" + name
        {code}
    run(4, "short")
    with open("/proc/self/clear_refs", "w") as clear:
        clear.write("5")
    before = peak()
    run({count}, "long")
    print(peak() - before, total)
        """,
        str(folder),
    )
    used, total = out.split()
    return int(used), int(total)


@pytest.mark.skipif(not os.path.exists("/proc/self/clear_refs"), reason="needs /proc")
@pytest.mark.parametrize(
    ("code", "most"),
    [
        ("orcish.write_table(reader, where, stripe_size=4 << 20)", 80),
        ("orcish.write_table(reader, where, stripe_size=4 << 20, verify=True)", 160),
        ("orcish.write_table(reader, where, stripe_size=4 << 20, bloom_filter_columns=['a', 's'], threads=1)", 80),
        ("orcish.write_dataset(reader, where, partition_by=['g'], max_memory=16 << 20)", 80),
        ("orcish.write_table(reader, open(where, 'wb'), stripe_size=4 << 20)", 80),
    ],
    ids=["table", "verify", "bloom", "dataset", "file_object"],
)
def test_memory_is_bounded(tmp_path: pathlib.Path, code: str, most: int) -> None:
    used, total = peak_of(code, tmp_path, 100)
    assert total > 350 * MIB
    assert used < most * MIB


@pytest.mark.skipif(not os.path.exists("/proc/self/clear_refs"), reason="needs /proc")
def test_memory_of_idle_threads_is_bounded(tmp_path: pathlib.Path) -> None:
    """Threads with fewer bytes of a stripe than others do not keep the memory of the next stripes."""
    code = """
    def run(count):
        schema = pa.schema({"a": pa.int64()})
        made = (pa.record_batch([rng.integers(0, 1 << 60, 500_000)], schema=schema) for _ in range(count))
        reader = pa.RecordBatchReader.from_batches(schema, made)
        orcish.write_table(reader, sys.argv[1], stripe_size=4 << 20, threads=8, existing_data="overwrite")
    run(4)
    with open("/proc/self/clear_refs", "w") as clear:
        clear.write("5")
    before = peak()
    run(40)
    print(peak() - before)
    """
    assert int(run_python(STREAM + code, str(tmp_path / "long.orc"))) < 60 * MIB


@pytest.mark.skipif(not os.path.exists("/proc/self/clear_refs"), reason="needs /proc")
@pytest.mark.parametrize("values", ["words.take(keys)", "pa.DictionaryArray.from_arrays(keys, words)"])
def test_memory_of_long_lists_is_bounded(tmp_path: pathlib.Path, values: str) -> None:
    """The entries of a dictionary are encoded part by part where a row group has millions of them."""
    code = f"""
    words = pa.array([f"word {{at:06d}}" for at in range(1000)])
    def lists():
        keys = pa.array(rng.integers(0, 1000, 200_000, dtype=numpy.int32))
        return pa.record_batch({{"c": pa.ListArray.from_arrays(pa.array([0, 200_000], pa.int32()), {values})}})
    schema = lists().schema
    def run(count):
        reader = pa.RecordBatchReader.from_batches(schema, (lists() for _ in range(count)))
        orcish.write_table(reader, sys.argv[1], threads=1, existing_data="overwrite")
    run(4)
    with open("/proc/self/clear_refs", "w") as clear:
        clear.write("5")
    before = peak()
    run(150)
    print(peak() - before)
    """
    assert int(run_python(STREAM + code, str(tmp_path / "long.orc"))) < 200 * MIB


WIDE_VALUES = {
    "integers": "pa.array(rng.integers(0, 1 << 40, rows))",
    "decimals": "pa.array(rng.integers(0, 1 << 40, rows)).cast(pa.decimal128(38, 2))",
    "timestamps": "pa.array(rng.integers(0, 1 << 40, rows)).cast(pa.timestamp('us'))",
    "doubles": "pa.array(rng.random(rows))",
    "lists": "pa.array([[value] for value in rng.integers(0, 1 << 40, rows)])",
    "distinct_strings": "pa.array([f'{value:016d}' for value in rng.integers(0, 1 << 50, rows)])",
    "repeated_strings": "pa.array([f'value {value}' for value in rng.integers(0, 50, rows)])",
    "binary": "pa.array([value.tobytes() for value in rng.integers(0, 1 << 40, rows)])",
}


@pytest.mark.skipif(not os.path.exists("/proc/self/clear_refs"), reason="needs /proc")
@pytest.mark.parametrize("values", WIDE_VALUES.values(), ids=WIDE_VALUES)
def test_memory_of_wide_tables_is_bounded(tmp_path: pathlib.Path, values: str) -> None:
    """Columns of all types buffer few values, however many the row group has."""
    code = f"""
    rows = 10_000
    values = {values}
    table = pa.table({{f"c{{at}}": values for at in range(1000)}})
    orcish.write_table(table.slice(0, 10), sys.argv[1], threads=1)
    with open("/proc/self/clear_refs", "w") as clear:
        clear.write("5")
    before = peak()
    orcish.write_table(table, sys.argv[1], stripe_size=8 << 20, threads=1, existing_data="overwrite")
    print(peak() - before)
    """
    assert int(run_python(STREAM + code, str(tmp_path / "wide.orc"))) < 200 * MIB


@pytest.mark.parametrize("kind", ["pa.struct([('a', kind)])", "pa.list_(kind)", "pa.map_(pa.string(), kind)"])
@pytest.mark.parametrize("levels", [200, 2000])
def test_types_of_many_levels(kind: str, levels: int) -> None:
    """The conversion of a type is recursive, and the end of the stack would end the process."""
    code = f"""
        import io, threading
        import orcish, pyarrow as pa

        kind = pa.int64()
        for _ in range({levels}):
            kind = {kind}
        schema = pa.schema([("z", kind)])
        out = io.BytesIO()
        orcish.write_table(pa.table({{"z": [1]}}), out)
        calls = [
            lambda: orcish.write_table(pa.RecordBatchReader.from_batches(schema, []), io.BytesIO()),
            lambda: orcish.ORCWriter(io.BytesIO(), schema),
            lambda: orcish.scan(out.getvalue(), schema=schema).to_table(),
        ]

        def run():
            for call in calls:
                try:
                    call()
                except (orcish.OrcishError, ValueError) as error:
                    print("nested deeper" in str(error) or "does not become" in str(error))

        run()
        thread = threading.Thread(target=run)
        thread.start()
        thread.join()
    """
    assert run_python(code) == "True\n" * 6
