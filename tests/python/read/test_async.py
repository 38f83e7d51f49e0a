"""Files and scans in asynchronous programs."""

import asyncio
import contextlib
import contextvars
import io
import threading
import time
from collections.abc import AsyncGenerator, Callable
from pathlib import Path
from typing import Any

import orcish
import pyarrow as pa
import pytest
from support.case_loops import each_case
from support.waiting import wait_until

ROWS = pa.table({"id": range(5000), "name": [f"n{number}" for number in range(5000)]})


@pytest.fixture
def path(tmp_path: Path) -> Path:
    orcish.write_table(ROWS, tmp_path / "a.orc", row_index_stride=1000)
    return tmp_path / "a.orc"


Make = Callable[[Any], AsyncGenerator[pa.RecordBatch, None]]
STREAMS: dict[str, Make] = {
    "file": lambda source: orcish.ORCFile(source).iter_batches_async(batch_size=500),
    "scan": lambda source: orcish.scan(source, batch_size=500).to_batches_async(),
}
every_stream = pytest.mark.parametrize("make", STREAMS.values(), ids=STREAMS)


def threads() -> list[str]:
    return [each.name for each in threading.enumerate() if each.name.startswith("orcish")]


def ended() -> bool:
    """Whether no thread of a stream is left, within some seconds."""
    wait_until(lambda: not threads(), 10)
    return not threads()


@every_stream
def test_batches(make: Make, path: Path) -> None:
    async def read() -> list[pa.RecordBatch]:
        return [batch async for batch in make(path)]

    batches = asyncio.run(read())
    assert [len(batch) for batch in batches] == [500] * 10
    assert pa.Table.from_batches(batches).equals(ROWS)
    assert ended()


def test_tables(path: Path) -> None:
    async def read() -> None:
        file = await orcish.open_async(path, limits={"memory": 1 << 30})
        assert file.num_rows == 5000
        batches = file.iter_batches_async(columns=["id"], filters="id < 10")
        assert [batch.num_rows async for batch in batches] == [10]
        scan = orcish.scan(path)
        assert (await scan.to_table_async()).equals(ROWS)
        assert (await scan.where("id < 0").to_table_async()).equals(ROWS.slice(0, 0))
        tables = await asyncio.gather(*(scan.where(f"id < {rows}").to_table_async() for rows in range(20)))
        assert [table.num_rows for table in tables] == [*range(20)]

    asyncio.run(read())
    assert ended()


@every_stream
def test_errors(make: Make, path: Path) -> None:
    """They are those of reading in the same thread."""
    data = bytearray(path.read_bytes())
    data[3:800] = b"\xff" * 797
    broken = bytes(data)
    with pytest.raises(orcish.CorruptFileError) as expected:
        orcish.read_table(broken)

    async def read() -> None:
        async for _ in make(broken):
            pass

    with pytest.raises(orcish.CorruptFileError) as raised:
        asyncio.run(read())
    assert str(raised.value).partition(": ")[2] == str(expected.value).partition(": ")[2]
    assert ended()
    with pytest.raises(FileNotFoundError):
        asyncio.run(orcish.open_async(path.with_name("none.orc")))
    with pytest.raises(TypeError, match="did you mean 'columns'"):
        orcish.ORCFile(path).iter_batches_async(column=["id"])  # type: ignore[call-arg]


def test_one_batch_ahead(path: Path) -> None:
    """No batch is read that the program does not come near."""
    read: list[int] = []

    def batches() -> Any:
        for number in range(100):
            read.append(number)
            yield pa.record_batch({"a": [number]})

    async def run() -> None:
        from orcish.asynchronous import batches_of_thread

        async with contextlib.aclosing(batches_of_thread(batches)) as rows:
            async for batch in rows:
                await asyncio.sleep(0.05)
                assert len(read) <= batch["a"][0].as_py() + 2
                if batch["a"][0].as_py() == 3:
                    break

    asyncio.run(run())
    assert len(read) == 5
    assert ended()


class Slow(io.BytesIO):
    """Reads wait until they are let on."""

    def __init__(self, data: bytes) -> None:
        super().__init__(data)
        self.go = threading.Event()
        self.go.set()
        self.waits = threading.Event()

    def read(self, size: int | None = -1, /) -> bytes:
        if not self.go.is_set():
            self.waits.set()
        self.go.wait(10)
        return super().read(size)


def test_cancelled(path: Path) -> None:
    """A cancelled task does not wait for its read, and the reader is closed when the read has ended."""
    source = Slow(path.read_bytes())
    file = orcish.ORCFile(source)

    async def read() -> None:
        async for _ in file.iter_batches_async(threads=1):
            pass

    async def run() -> None:
        source.go.clear()
        task = asyncio.create_task(read())
        # The loop goes on while the thread waits.
        while not source.waits.is_set():
            await asyncio.sleep(0.01)
        task.cancel()
        start = time.monotonic()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert time.monotonic() - start < 2
        source.go.set()

    asyncio.run(run())
    assert ended()


def test_cancelled_tables(path: Path) -> None:
    """No further batch is read."""
    seen: list[int] = []

    async def run() -> None:
        from orcish.asynchronous import table_of_thread

        begun = threading.Event()

        def read(report: Callable[[int], object]) -> pa.Table:
            for number in range(1000):
                begun.set()
                seen.append(number)
                time.sleep(0.01)
                report(1)
            return ROWS

        task = asyncio.create_task(table_of_thread(read))
        while not begun.is_set():
            await asyncio.sleep(0.001)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(run())
    assert len(seen) < 100


def test_left_early(path: Path) -> None:
    async def run() -> None:
        async for _ in orcish.scan(path, batch_size=10).to_batches_async():
            break

    asyncio.run(run())
    assert ended()


def test_variables_of_the_context(path: Path) -> None:
    """The thread sees those of the program."""
    name: contextvars.ContextVar[str] = contextvars.ContextVar("name", default="none")
    seen = set()

    class Source(io.BytesIO):
        def read(self, size: int | None = -1, /) -> bytes:
            seen.add(name.get())
            return super().read(size)

    async def run() -> None:
        file = orcish.ORCFile(Source(path.read_bytes()))
        seen.clear()
        name.set("mine")
        async for _ in file.iter_batches_async(threads=1):
            pass

    asyncio.run(run())
    assert seen <= {"mine", "none"}
    assert ended()


class Failing(io.BytesIO):
    """Reads raise an exception once it is given."""

    error: BaseException | None = None

    def read(self, size: int | None = -1, /) -> bytes:
        if self.error is not None:
            raise self.error
        return super().read(size)


async def _open(source: Failing, error: BaseException) -> None:
    source.error = error
    await orcish.open_async(source)


async def _file(source: Failing, error: BaseException) -> None:
    file = orcish.ORCFile(source)
    source.error = error
    async for _ in file.iter_batches_async():
        pass


async def _scan(source: Failing, error: BaseException) -> None:
    scan = orcish.scan(source)
    source.error = error
    async for _ in scan.to_batches_async():
        pass


async def _table(source: Failing, error: BaseException) -> None:
    scan = orcish.scan(source)
    source.error = error
    await scan.to_table_async()


async def _thread(source: Failing, error: BaseException) -> None:
    from orcish.asynchronous import batches_of_thread

    def make() -> Any:
        raise error

    async for _ in batches_of_thread(make):
        pass


ENTRIES = {"open": _open, "file": _file, "scan": _scan, "table": _table, "thread": _thread}
ERRORS: list[type[BaseException]] = [
    StopIteration,
    StopAsyncIteration,
    GeneratorExit,
    SystemExit,
    KeyboardInterrupt,
    asyncio.CancelledError,
    ValueError,
]


@each_case("error", ERRORS)
@each_case("entry", ENTRIES)
def test_every_exception_of_a_source_is_raised(entry: str, error: type[BaseException], tmp_path: Path) -> None:
    """No call waits for ever, ends as if there were no rows, or is cancelled."""
    rows = pa.table({"id": [number * 2654435761 % 2**40 for number in range(400_000)]})
    orcish.write_table(rows, tmp_path / "a.orc", compression="none", stripe_size="256KB")
    source = Failing((tmp_path / "a.orc").read_bytes())

    async def run() -> None:
        await asyncio.wait_for(ENTRIES[entry](source, error("stop")), 20)

    with pytest.raises(BaseException) as raised:  # noqa: PT011
        asyncio.run(run())
    seen: BaseException | None = raised.value
    assert not isinstance(seen, TimeoutError | asyncio.CancelledError)
    names = []
    while seen is not None:
        names.append(f"{type(seen).__name__}: {seen}")
        seen = seen.__cause__
    assert error.__name__ in " ".join(names)
    assert ended()
