"""Writers that are told things in any order, fail, are forked, interrupted and forgotten: afterwards a name holds what it
held before, or a whole file, and nothing else is left."""

from __future__ import annotations

import contextlib
import datetime as dt
import errno
import gc
import io
import os
import pathlib
import random
import resource
import signal
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import orcish
import pyarrow as pa
import pytest
from orcish.tables.folder import Folder
from support.random_cases import cases, seeded
from support.s3_store import BUCKET, Store
from support.waiting import wait_until

pytestmark = [
    pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:.*was not closed:ResourceWarning"),
]

SCHEMA = pa.schema([("id", pa.int64()), ("t", pa.timestamp("us"))])
OLD = pa.table({"old": [1, 2, 3]})
OPTIONS: dict[str, Any] = {"stripe_size": 20_000, "row_index_stride": 1000, "compression": "none", "threads": 1}
UNSTORABLE = -1
"""A microsecond before 1970."""
EPOCH = dt.datetime(1970, 1, 1)


@pytest.fixture
def rng(request: pytest.FixtureRequest) -> random.Random:
    return seeded(request.node.name)


class Sink:
    """Where a writer writes to in a test: a new file, or in place of an old one."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng

    def open(self) -> orcish.ORCWriter:
        raise NotImplementedError

    @property
    def has_failed(self) -> bool:
        """Whether it has refused something."""
        return False

    @contextlib.contextmanager
    def limited(self) -> Iterator[None]:
        """During a call."""
        yield

    def close(self) -> None:
        """Nobody writes any more."""

    def check(self, ids: list[int] | None, may_be_old: bool) -> None:
        """Whether there is a whole file of these rows, or nothing new."""
        raise NotImplementedError


class Path(Sink):
    """A path; with a limit on the length of files, as on a disk that is nearly full."""

    def __init__(self, rng: random.Random, folder: pathlib.Path) -> None:
        super().__init__(rng)
        self.folder, self.path = folder, folder / "t.orc"
        if rng.random() < 0.5:
            orcish.write_table(OLD, self.path)
        existing_data = "overwrite" if self.path.exists() else rng.choice(["error", "overwrite"])
        self.options = {**OPTIONS, "existing_data": existing_data}
        self.before = contents(folder)
        self.most = rng.randrange(200_000) if rng.random() < 0.3 else None
        self.is_full = False

    def open(self) -> orcish.ORCWriter:
        return orcish.ORCWriter(self.path, SCHEMA, **self.options)

    @property
    def has_failed(self) -> bool:
        return self.is_full

    @contextlib.contextmanager
    def limited(self) -> Iterator[None]:
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        if self.most is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (self.most, hard))
        try:
            yield
        except OSError as error:
            self.is_full |= error.errno == errno.EFBIG
            raise
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))

    def check(self, ids: list[int] | None, may_be_old: bool) -> None:
        now = contents(self.folder)
        if (ids is None or may_be_old) and now == self.before:
            return
        assert ids is not None, f"{list(now)} is there, where nothing is finished"
        assert list(now) == ["t.orc"]
        assert_whole(self.path, ids)


class Unpublished(Path):
    """A file that appears when somebody says so."""

    def __init__(self, rng: random.Random, folder: pathlib.Path) -> None:
        super().__init__(rng, folder)
        self.writer: orcish.ORCWriter | None = None
        self.staging = folder.parent / f"{folder.name} staging"

    def open(self) -> orcish.ORCWriter:
        writer = orcish.ORCWriter(self.path, SCHEMA, publish=False, staging=self.staging, **self.options)
        self.token = lambda: writer.token
        return writer

    def check(self, ids: list[int] | None, may_be_old: bool) -> None:
        assert contents(self.folder) == self.before
        token = self.token()
        del self.token
        assert token is not None or ids is None or may_be_old
        if token is not None:
            assert ids is not None
            folder = Folder(os.fspath(self.folder))
            if self.rng.random() < 0.5:
                folder.complete("t.orc", token)
                assert_whole(self.path, ids)
            else:
                folder.abort("t.orc", token)
                assert contents(self.folder) == self.before
        assert list(self.staging.iterdir()) == []


class Parts(io.RawIOBase):
    """A raw file that takes a part of what it is given, and is at fault now and then."""

    def __init__(self, rng: random.Random, fault: Any) -> None:
        self.rng, self.fault, self.at_fault = rng, fault, rng.randrange(60)
        self.taken, self.calls, self.has_failed = bytearray(), 0, False

    def writable(self) -> bool:
        return True

    def write(self, data: Any, /) -> Any:
        self.calls += 1
        assert not self.has_failed, "something is written after a failure"
        if self.fault is not False and self.calls > self.at_fault:
            self.has_failed = True
            if isinstance(self.fault, BaseException):
                raise self.fault
            return self.fault(len(data)) if callable(self.fault) else self.fault
        count = self.rng.randint(1, len(data)) if self.rng.random() < 0.5 else len(data)
        self.taken += data[:count]
        return count


FAULTS: list[Any] = [
    *(False, False, False, None, -1, 0, "all", True, 1.0, 1 << 70, -(1 << 70), lambda length: length + 1),
    *(OSError(28, "the disk is full"), KeyboardInterrupt("by hand")),
]


class Raw(Sink):
    """A raw file of Python."""

    def __init__(self, rng: random.Random) -> None:
        super().__init__(rng)
        self.file = Parts(rng, rng.choice(FAULTS))

    def open(self) -> orcish.ORCWriter:
        return orcish.ORCWriter(self.file, SCHEMA, **OPTIONS)

    @property
    def has_failed(self) -> bool:
        return self.file.has_failed

    def check(self, ids: list[int] | None, may_be_old: bool) -> None:
        if ids is not None and not may_be_old:
            assert_whole(bytes(self.file.taken), ids)


class Pipe(Sink):
    """A pipe, whose other end is read slowly, and which may not block."""

    def __init__(self, rng: random.Random) -> None:
        super().__init__(rng)
        read, write = os.pipe()
        self.blocks = rng.random() < 0.5
        os.set_blocking(write, self.blocks)
        self.file = open(write, "wb", buffering=rng.choice([0, -1]))  # noqa: SIM115
        self.read = bytearray()
        self.thread = threading.Thread(target=self._drain, args=(read,))
        self.thread.start()

    def _drain(self, read: int) -> None:
        with open(read, "rb", buffering=0) as pipe:
            while data := pipe.read(50_000):
                self.read += data
                time.sleep(0.0002)

    def open(self) -> orcish.ORCWriter:
        return orcish.ORCWriter(self.file, SCHEMA, **OPTIONS)

    @property
    def has_failed(self) -> bool:
        return not self.blocks

    def close(self) -> None:
        # What is in a buffer of a pipe that does not block is lost in the end.
        with contextlib.suppress(BlockingIOError):
            self.file.close()
        if not self.file.closed:
            os.set_blocking(self.file.fileno(), True)
            self.file.close()
        self.thread.join()

    def check(self, ids: list[int] | None, may_be_old: bool) -> None:
        if ids is not None and not may_be_old:
            assert_whole(bytes(self.read), ids)


class Bucket(Sink):
    """A store some of whose requests fail."""

    URL = f"s3://{BUCKET}/t.orc"

    def __init__(self, rng: random.Random, store: Store) -> None:
        super().__init__(rng)
        store.clear()
        self.store = store
        self.is_old = rng.random() < 0.5
        if self.is_old:
            orcish.write_table(OLD, self.URL, storage_options=store.options)
        self.has_refused = False
        chance = rng.choice([0, 0, 0.3])
        own = random.Random(rng.random())

        def fails(method: str, path: str) -> bool:
            refused = method in ("PUT", "POST") and own.random() < chance
            self.has_refused |= refused
            return refused

        store.between.fails = fails

    def open(self) -> orcish.ORCWriter:
        # Of parts of 5 MiB at least: most files are one request.
        return orcish.ORCWriter(
            self.URL,
            SCHEMA,
            storage_options=self.store.options,
            existing_data="overwrite" if self.is_old else self.rng.choice(["error", "overwrite"]),
            **OPTIONS,
        )

    @property
    def has_failed(self) -> bool:
        return self.has_refused

    def check(self, ids: list[int] | None, may_be_old: bool) -> None:
        self.store.between.fails = lambda method, path: False
        wait_until(lambda: not self.store.uploads(), 10)
        assert self.store.uploads() == []
        objects = self.store.objects()
        if ids is None or may_be_old:
            if not objects and not self.is_old:
                return
            assert objects == ["t.orc"]
            read = orcish.read_table(self.URL, storage_options=self.store.options)
            if read.equals(OLD):
                assert self.is_old
                return
        assert ids is not None
        data = self.store.client.get_object(Bucket=BUCKET, Key="t.orc")["Body"].read()
        assert_whole(data, ids)


def contents(folder: pathlib.Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def assert_whole(source: Any, ids: list[int]) -> None:
    """A file of these rows, with all that it says of them."""
    file = orcish.ORCFile(source)
    assert file.check() == []
    assert file.read(columns=["id"])["id"].to_pylist() == ids


class Play:
    """A writer, and what is known of it."""

    def __init__(self, sink: Sink) -> None:
        self.sink, self.rng = sink, sink.rng
        self.ids: list[int] = []
        self.is_broken = False
        """Nothing may go well any more."""
        self.is_poisoned = False
        """It has been given what cannot be stored, which it may not know yet."""
        self.is_closed = False
        self.may_be_closed = False
        """It was interrupted while it was closed."""
        self.writer: orcish.ORCWriter | None = None

    def batch(self, last: int | None = None) -> pa.RecordBatch:
        count = self.rng.choice([1, 10, 1000, 5000])
        if isinstance(self.sink, Bucket) and self.rng.random() < 0.3:
            count = 400_000
        start = len(self.ids)
        times = [5] * count if last is None else [*[5] * (count - 1), last]
        ids = range(start, start + count)
        return pa.record_batch([pa.array(ids, pa.int64()), pa.array(times, pa.timestamp("us"))], schema=SCHEMA)

    def run(self) -> None:
        try:
            with self.sink.limited():
                self.writer = self.sink.open()
        except (OSError, ValueError, TypeError, KeyboardInterrupt):
            # Of the file or the object: nothing has begun.
            assert self.sink.has_failed
            self.is_broken = True
        for _ in range(self.rng.randrange(1, 10)):
            if self.writer is not None:
                self.rng.choice(STEPS)(self)
        if self.writer is not None and self.rng.random() < 0.5:
            self.leave()
        self.writer = None
        if self.rng.random() < 0.1:
            gc.collect()
        self.sink.close()
        self.sink.check(self.ids if self.is_closed or self.may_be_closed else None, self.may_be_closed)

    def leave(self) -> None:
        """The end of a ``with`` block, by an exception or without one."""
        writer = self.told
        if self.rng.random() < 0.5:
            writer.__exit__(LookupError, LookupError("not ours"), None)
            self.is_broken |= not self.is_closed
        else:
            self.call(lambda: writer.__exit__(None, None, None), closes=True)

    def call(self, do: Callable[[], Any], *, closes: bool = False, fails: bool = False) -> None:
        """Does something, and knows what has to come of it."""
        was_closed = self.is_closed
        try:
            with self.sink.limited():
                do()
        except BaseException as error:
            is_expected = fails or self.is_broken or self.is_poisoned or self.sink.has_failed or was_closed
            if not is_expected:
                raise
            if not isinstance(error, OSError | ValueError | TypeError | LookupError | KeyboardInterrupt):
                raise
            if not was_closed:
                self.is_broken = True
        else:
            assert not fails, "what cannot be written was"
            if closes:
                is_good = was_closed or self.may_be_closed or not (self.is_broken or self.is_poisoned)
                assert is_good, "closed after a failure"
                self.is_closed = True
            else:
                assert not self.is_broken, "written after a failure"
                assert not was_closed, "written after the end"

    # Steps.

    def write(self) -> None:
        batch = self.batch()
        self.call(lambda: self.told.write(batch))
        if not self.is_broken and not self.is_closed:
            self.ids += batch["id"].to_pylist()

    def write_several(self) -> None:
        """The second of them is nothing that can be written."""
        bad = self.rng.choice(["no rows", 7, OLD])
        self.call(lambda: self.told.write([self.batch(), bad]), fails=True)

    def write_unstorable(self) -> None:
        """Values are encoded later, if a row group is not whole."""
        batch = self.batch(UNSTORABLE)
        self.is_poisoned |= not self.is_closed
        with contextlib.suppress(ValueError):
            self.call(lambda: self.told.write(batch))

    def write_none(self) -> None:
        self.call(lambda: self.told.write_batch("no batch"), fails=True)

    def write_broken(self) -> None:
        """The rows end with an exception, such as that of Ctrl-C."""
        error = self.rng.choice([LookupError, KeyboardInterrupt])

        def rows() -> Iterator[pa.RecordBatch]:
            yield self.batch()
            raise error("no more rows")

        data: Any = rows()
        if error is LookupError and self.rng.random() < 0.5:
            data = pa.RecordBatchReader.from_batches(SCHEMA, data)
        self.call(lambda: self.told.write(data), fails=True)

    def end_stripe(self) -> None:
        self.call(lambda: self.told.end_stripe())

    def close(self) -> None:
        self.call(lambda: self.told.close(), closes=True)

    def abort(self) -> None:
        self.told.abort()
        self.is_broken |= not self.is_closed

    def forget(self) -> None:
        self.is_broken |= not self.is_closed
        self.writer = None

    def interrupt(self) -> None:
        """A signal comes at some time or never."""
        batch, closes = self.batch(), self.rng.random() < 0.5
        was_closed = self.is_closed

        def handler(*_: Any) -> None:
            raise KeyboardInterrupt("by the clock")

        before = signal.signal(signal.SIGALRM, handler)
        may_fail = self.is_broken or self.is_poisoned or self.sink.has_failed or was_closed
        is_done = False
        try:
            try:
                signal.setitimer(signal.ITIMER_REAL, self.rng.uniform(0.0001, 0.005))
                with self.sink.limited():
                    _ = self.told.close() if closes else self.told.write(batch)
                is_done = True
            finally:
                # The signal may come until here, on the way of another error too, and only once.
                signal.setitimer(signal.ITIMER_REAL, 0)
        except (KeyboardInterrupt, OSError, ValueError, TypeError) as error:
            if not (isinstance(error, KeyboardInterrupt) or may_fail or self.sink.has_failed):
                raise
        finally:
            signal.signal(signal.SIGALRM, before)
        if was_closed:
            return
        if closes:
            assert not (is_done and (self.is_broken or self.is_poisoned))
            self.may_be_closed |= not (self.is_broken or self.is_poisoned)
            self.is_broken = self.is_broken or not is_done
            self.is_closed = is_done
        elif is_done and not self.is_broken:
            self.ids += batch["id"].to_pylist()
        else:
            # The rows may have been taken; who does not know gives the file up.
            assert not (is_done and self.is_broken)
            self.told.abort()
            self.is_broken = True

    def fork(self) -> None:
        """A child does what it likes, and changes nothing."""
        orders = [self.rng.choice(["write", "close", "end_stripe", "abort", "leave", "look"]) for _ in range(4)]
        child = os.fork()
        if child == 0:
            signal.alarm(60)
            code = 1
            try:
                code = 0 if all(self.changes_nothing(order) for order in orders) else 2
                self.writer = None
            finally:
                os._exit(code)
        _, status = os.waitpid(child, 0)
        assert os.waitstatus_to_exitcode(status) == 0

    def changes_nothing(self, order: str) -> bool:
        """In a child."""
        writer = self.told
        try:
            if order == "abort":
                writer.abort()
                return True
            if order == "look":
                return writer.rows >= 0 and writer.memory >= 0
            if order == "leave":
                writer.__exit__(LookupError, LookupError("not ours"), None)
                return True
            if order == "close":
                # That of a closed file gives what is known.
                return writer.close() is not None and (self.is_closed or self.may_be_closed)
            _ = writer.end_stripe() if order == "end_stripe" else writer.write(self.batch())
        except ValueError:
            return True
        return False

    @property
    def told(self) -> orcish.ORCWriter:
        assert self.writer is not None
        return self.writer


STEPS: list[Callable[[Play], None]] = [
    *[Play.write] * 6,
    *(Play.write_several, Play.write_unstorable, Play.write_none, Play.write_broken),
    *[Play.end_stripe] * 2,
    *[Play.close] * 2,
    *(Play.abort, Play.forget),
    *[Play.interrupt] * 2,
    *[Play.fork] * 2,
]


@pytest.mark.parametrize("kind", [Path, Unpublished])
def test_files(rng: random.Random, tmp_path: pathlib.Path, kind: type[Path]) -> None:
    for case in range(cases(20)):
        folder = tmp_path / str(case)
        folder.mkdir()
        (tmp_path / f"{case} staging").mkdir()
        Play(kind(rng, folder)).run()


@pytest.mark.parametrize("kind", [Raw, Pipe])
def test_file_objects(rng: random.Random, kind: Callable[[random.Random], Sink]) -> None:
    for _ in range(cases(25)):
        Play(kind(rng)).run()


def test_stores(rng: random.Random, store: Store) -> None:
    for _ in range(cases(8)):
        Play(Bucket(rng, store)).run()


class Child(Exception):  # noqa: N818
    """Raised in a child, that what its parent was doing is left."""


def test_tables(rng: random.Random, tmp_path: pathlib.Path) -> None:
    """A folder has the old rows, the old and the new rows, or the new rows."""
    numbers = range(4000)
    table = pa.table({"id": numbers, "p": [number * 7919 % 5 for number in numbers], "t": [EPOCH] * len(numbers)})
    for case in range(cases(15)):
        base = tmp_path / str(case)
        mode = rng.choice(["error", "append", "overwrite"])
        old = table.slice(0, 100) if mode != "error" and rng.random() < 0.7 else None
        if old is not None:
            orcish.write_dataset(old, base, partition_by=["p"])
        before = {path: path.read_bytes() for path in base.rglob("*") if path.is_file()}
        fault = rng.choice([None, LookupError, KeyboardInterrupt, "unstorable", "schema"])
        when = rng.randrange(8)
        children: list[int] = []

        def batches(fault: Any = fault, when: int = when, children: list[int] = children) -> Iterator[pa.RecordBatch]:
            for number, batch in enumerate(table.to_batches(max_chunksize=500)):
                if rng.random() < 0.2:
                    child = os.fork()
                    if child == 0:
                        raise Child
                    children.append(child)
                if number == when and fault is not None:
                    if fault == "unstorable":
                        times = pa.array([UNSTORABLE], pa.timestamp("us"))
                        yield pa.record_batch([pa.array([-1]), pa.array([1]), times], schema=table.schema)
                    elif fault == "schema":
                        yield pa.record_batch({"id": ["text"], "p": [1], "t": [EPOCH]})
                    else:
                        raise fault("no more rows")
                yield batch

        options: dict[str, Any] = {"max_open_files": rng.randint(1, 6)} | OPTIONS
        if rng.random() < 0.5:
            options["max_rows_per_file"] = rng.randint(50, 2000)
        if old is not None or rng.random() < 0.5:
            options["partition_by"] = ["p"]
        parent = os.getpid()
        is_done = False
        try:
            reader = pa.RecordBatchReader.from_batches(table.schema, batches())
            orcish.write_dataset(reader, base, existing_data=mode, **options)
            is_done = True
        except (LookupError, KeyboardInterrupt, ValueError, Child):
            assert fault is not None or os.getpid() != parent
        finally:
            if os.getpid() != parent:
                os._exit(0 if not is_done else 1)
        for child in children:
            assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert is_done == (fault is None)
        if not is_done:
            assert {path: path.read_bytes() for path in base.rglob("*") if path.is_file()} == before
            assert base.exists() == (old is not None)
            continue
        want = table if old is None or mode == "overwrite" else pa.concat_tables([old, table])
        read = orcish.read_table(base).select(table.column_names).sort_by("id")
        assert read.to_pylist() == want.sort_by("id").to_pylist()


def test_merged_files(rng: random.Random, tmp_path: pathlib.Path) -> None:
    """A source or the sink of a merge fails."""
    whole = io.BytesIO()
    orcish.write_table(pa.table({"id": range(20_000)}), whole, **OPTIONS)
    data = whole.getvalue()
    for _ in range(cases(25)):
        raw = Parts(rng, rng.choice(FAULTS))
        try:
            written = orcish.merge([data, data], raw)
        except (OSError, ValueError, TypeError, KeyboardInterrupt):
            assert raw.has_failed
        else:
            assert not raw.has_failed
            assert written.bytes == len(raw.taken)
            assert_whole(bytes(raw.taken), [*range(20_000)] * 2)
    orcish.write_table(OLD, tmp_path / "t.orc")
    before = contents(tmp_path)
    for length in (3, 100, len(data) - 1):
        with pytest.raises(orcish.OrcishError):
            orcish.merge([data, data[:length]], tmp_path / "t.orc", existing_data="overwrite")
        assert contents(tmp_path) == before
