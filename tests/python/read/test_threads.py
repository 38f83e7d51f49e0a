"""Threads: the same table with any number of them, errors in their place, no hang, Ctrl-C, fork."""

import asyncio
import contextlib
import io
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time

import orcish
import polars
import pyarrow as pa
import pytest
from support.case_loops import each_case
from support.cpp_writers import write_arrow
from support.orc_layout import layout
from support.processes import run_python
from support.random_cases import cases
from support.small_tables import native_threads, threads_end

ROWS = 200_000
TABLE = pa.table(
    {
        **{f"i{c}": pa.array([(i * 2654435761 + c) % 2**31 for i in range(ROWS)]) for c in range(4)},
        "s": [f"text {i % 1000}" for i in range(ROWS)],
        "l": [[i, i + 1] if i % 3 else None for i in range(ROWS)],
        "n": [None if i % 10 else i for i in range(ROWS)],
    }
)
DATA = write_arrow(TABLE, stripe_size=1 << 20, batch_size=10_000)


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("threads") / "t.orc"
    path.write_bytes(DATA)
    return path


def test_there_are_stripes():
    assert orcish.ORCFile(DATA).num_stripes > 3


@each_case("batch_size", [65_536, 500])
def test_any_number_of_threads_gives_the_same(path, batch_size):
    for threads in (1, 2, 4, 8):
        table = orcish.read_table(path, threads=threads, batch_size=batch_size)
        assert table.equals(TABLE), threads
    chunks = [
        [len(chunk) for chunk in orcish.read_table(path, threads=t, batch_size=batch_size)["l"].chunks] for t in (1, 4)
    ]
    assert chunks[0] == chunks[1]


@each_case("threads", [1, 2, 8])
def test_file_objects_are_read_by_one_thread_at_a_time(threads):
    class Guarded(io.BytesIO):
        inside = 0

        def read(self, size=-1, /):
            Guarded.inside += 1
            time.sleep(0.0005)
            assert Guarded.inside == 1
            data = super().read(size)
            Guarded.inside -= 1
            return data

    assert orcish.read_table(Guarded(DATA), threads=threads).equals(TABLE)


def test_many_readers_of_one_file(path):
    file = orcish.ORCFile(path)
    results = []

    def read(column):
        results.append(file.read(columns=[column], threads=2).equals(TABLE.select([column])))

    workers = [threading.Thread(target=read, args=(name,)) for name in TABLE.column_names]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)
    assert results == [True] * len(TABLE.column_names)


@each_case("threads", [1, 2, 8])
def test_readers_that_are_dropped_early(path, threads):
    """The threads of a dropped reader end."""
    before = native_threads()
    for taken in (0, 1, 3):
        batches = orcish.ORCFile(path).iter_batches(threads=threads, batch_size=100)
        for _ in range(taken):
            next(batches)
        del batches
    reader = orcish.ORCFile(path).reader(threads=threads)
    del reader
    assert threads_end(before)


@each_case("threads", [1, 2, 8])
def test_errors_of_late_stripes_come_after_the_batches_before(threads):
    found = layout(DATA)
    late = found.stripe_footers[3]
    broken = bytearray(DATA)
    broken[late.start : late.stop] = b"\xff" * len(late)
    file = orcish.ORCFile(bytes(broken))
    before = sum(stripe.num_rows for stripe in file.stripes[:3])
    seen = []
    batches = file.iter_batches(threads=threads, batch_size=1000)
    with pytest.raises(orcish.CorruptFileError, match="stripe 3"):
        seen.extend(batch.num_rows for batch in batches)
    assert sum(seen) == before
    with pytest.raises(orcish.CorruptFileError, match="stripe 3"):
        file.read(threads=threads)
    # The others can still be read.
    assert file.read(stripes=[0, 1, 2, 4], threads=threads).num_rows == before + file.stripes[4].num_rows


@each_case("threads", [1, 2])
@each_case("call", ["file.read(threads={})", "list(file.iter_batches(threads={}))"])
def test_ctrl_c(path, threads, call):
    """SIGINT arrives while a read of the file object blocks for a minute."""
    code = f"""
        import sys, time, io, os, orcish
        class Slow(io.FileIO):
            slow = False
            def read(self, size=-1):
                if self.slow:
                    os.write(1, b"reading\\n")
                    # A signal that comes just before it does not end a sleep.
                    for _ in range(600):
                        time.sleep(0.1)
                return super().read(size)
        source = Slow(sys.argv[1])
        file = orcish.ORCFile(source)
        source.slow = True
        try:
            {call.format(threads)}
        except KeyboardInterrupt:
            os.write(1, b"interrupted\\n")
            os._exit(0)
    """
    command = [sys.executable, "-c", textwrap.dedent(code), str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout.readline() == "reading\n"
            start = time.monotonic()
            process.send_signal(signal.SIGINT)
            line = "reading\n"
            while line == "reading\n":
                line = process.stdout.readline()
            assert line == "interrupted\n"
            assert time.monotonic() - start < 20
        finally:
            process.kill()


STREAMS = {
    "pyarrow": "import pyarrow; pyarrow.table(source)",
    "pyarrow, by batches": "import pyarrow; list(pyarrow.RecordBatchReader.from_stream(source))",
    "polars": "import polars; polars.DataFrame(source)",
    "duckdb": """
import duckdb
# Of several threads, those that do not see the signal read streams to their end, also streams of pyarrow.
connection = duckdb.connect(config={"threads": 1})
try:
    connection.from_arrow(source).fetchall()
except RuntimeError as error:
    # DuckDB has seen the signal itself, and raises an error of its own in place of the exception.
    raise KeyboardInterrupt if str(error) == "Query interrupted" else error
""",
    "orcish": "source.to_table()",
}


@each_case("call", STREAMS.values(), ids=STREAMS)
def test_ctrl_c_in_streams(tmp_path, call):
    """Consumers of a stream get an error with its cause, and `KeyboardInterrupt` is raised once."""
    path = tmp_path / "many.orc"
    orcish.write_table(pa.table({"a": pa.array(range(100_000))}), path)
    code = """
        import sys, time, os, orcish
        source = orcish.scan([sys.argv[1]] * 20_000, batch_size=1000)
        os.write(1, b"reading\\n")
        try:
            try:
                exec(compile(sys.argv[2], "call", "exec"))
            except Exception as error:
                # As of a loop that leaves a file out which cannot be read.
                assert "interrupted" in str(error), repr(error)
            # The interpreter looks for it now and then.
            time.sleep(1)
            os.write(1, b"nothing came\\n")
        except KeyboardInterrupt:
            time.sleep(0.1)
            os.write(1, b"interrupted\\n")
    """
    command = [sys.executable, "-c", textwrap.dedent(code), str(path), call]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout.readline() == "reading\n"
            time.sleep(1)
            process.send_signal(signal.SIGINT)
            out, errors = process.communicate(timeout=60)
            assert (out, process.returncode) == ("interrupted\n", 0), errors
        finally:
            process.kill()


@each_case("kind", [OSError, ValueError, KeyboardInterrupt])
def test_streams_end_with_their_error(kind):
    """Threads of a consumer that have not seen the error ask for more."""

    class Source(io.BytesIO):
        fails = False

        def read(self, size=-1):
            if self.fails:
                self.fails = False
                raise kind("the disk is wet")
            return super().read(size)

    source = Source(DATA)
    stream = pa.RecordBatchReader.from_stream(orcish.ORCFile(source))
    source.fails = True
    errors = []
    while len(errors) < 3:
        # Later the interpreter raises the exception itself, if it is no `Exception`.
        with contextlib.suppress(KeyboardInterrupt):
            try:
                stream.read_next_batch()
                assert not errors, "a batch after an error"
            except (OSError, ValueError) as error:
                errors.append(str(error))
    assert "the disk is wet" in errors[0]
    assert len(set(errors)) == 1


@each_case("kind", [KeyboardInterrupt, SystemExit, asyncio.CancelledError])
@each_case("consumer", ["orcish", "pyarrow", "polars"])
def test_exceptions_stay_on_their_thread(consumer, kind):
    """The thread that reads gets the exception of a source, and the main thread runs on."""

    class Source(io.BytesIO):
        fails = False

        def read(self, size=-1):
            if self.fails:
                raise kind("of the source")
            return super().read(size)

    def read(source, scan):
        source.fails = True
        try:
            if consumer == "orcish":
                scan.to_table()
            elif consumer == "pyarrow":
                scan.reader().read_all()
            else:
                polars.DataFrame(scan)
        except BaseException as error:
            seen.append(error)

    seen = []
    for _ in range(20):
        source = Source(DATA)
        thread = threading.Thread(target=read, args=(source, orcish.scan(source)))
        thread.start()
        while thread.is_alive():
            pass
        thread.join()
    assert len(seen) == 20
    if consumer == "orcish":
        assert {type(error) for error in seen} == {kind}
    else:
        assert all("of the source" in str(error) for error in seen)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
def test_fork_after_use(path):
    out = run_python(
        """
        import os, sys, warnings, orcish
        warnings.simplefilter("ignore")
        file = orcish.ORCFile(sys.argv[1])
        want = file.read(threads=4)
        batches = file.iter_batches(threads=4, batch_size=1000)
        next(batches)
        child = os.fork()
        if child == 0:
            os._exit(0 if file.read(threads=4).equals(want) else 1)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        """,
        str(path),
    )
    assert out.strip() == "0"


FORKS = cases(40)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
@each_case(
    "work",
    [
        pytest.param("file.read(threads=4)", id="file"),
        pytest.param("file.read(threads=4, filters=literals)", id="filter"),
        pytest.param("scan.to_table()", id="scan"),
        pytest.param("orcish.scan([sys.argv[1]] * 3).select('n').to_table()", id="new scan"),
        pytest.param("of_object.read(threads=4, columns=['i1'])", id="file object"),
        pytest.param("scan.where(col('n') > 500).count()", id="count"),
        pytest.param("written()", id="write"),
    ],
)
def test_children_wait_for_no_lock_of_their_parent(path, work):
    """At the time of a fork other threads hold locks of buffers, caches, open files and allocators. In CPython itself the
    child may wait for a lock of another thread before ``os.fork`` returns: such a child is not counted.
    """
    out = run_python(
        """
        import io, os, select, sys, threading, time, warnings, orcish
        from orcish import col

        warnings.simplefilter("ignore")

        class FileObject(io.BytesIO):
            # The object of a child has a position of its own.
            pass

        file, scan = orcish.ORCFile(sys.argv[1]), orcish.scan([sys.argv[1]] * 2)
        of_object = orcish.ORCFile(FileObject(open(sys.argv[1], "rb").read()))
        literals = col("i0").is_in(range(0, 2**31, 2**16 + 1))
        table = file.read(stripes=[0])

        def written():
            sink = io.BytesIO()
            orcish.write_table(table, sink, threads=2)
            return sink.getvalue()

        def work():
            return eval(sys.argv[2])

        want, is_done = work(), threading.Event()

        def repeat():
            while not is_done.is_set():
                work()

        others = [threading.Thread(target=repeat, daemon=True) for _ in range(2)]
        for thread in others:
            thread.start()
        deadline, forks = time.monotonic() + 100, 0
        while forks < int(sys.argv[3]):
            began, begins = os.pipe()
            child = os.fork()
            if child == 0:
                os.write(begins, b"x")
                os._exit(0 if work() == want else 1)
            has_begun = select.select([began], [], [], 15)[0]
            os.close(began)
            os.close(begins)
            if not has_begun:
                os.kill(child, 9)
                os.waitpid(child, 0)
                continue
            forks += 1
            while not (ended := os.waitpid(child, os.WNOHANG))[0]:
                if time.monotonic() > deadline:
                    os.kill(child, 9)
                    sys.exit(f"child {forks} waits")
                time.sleep(0.001)
            if ended[1]:
                sys.exit(f"child {forks} ended with {os.waitstatus_to_exitcode(ended[1])}")
        is_done.set()
        for thread in others:
            thread.join()
        print(forks)
        """,
        str(path),
        work,
        str(FORKS),
    )
    assert out.strip() == str(FORKS)


def test_the_interpreter_runs_meanwhile(path):
    """Decoding releases the interpreter lock."""
    ticks = []
    done = threading.Event()

    def tick():
        while not done.is_set():
            ticks.append(time.monotonic())
            time.sleep(0.0005)

    ticker = threading.Thread(target=tick)
    ticker.start()
    try:
        for _ in range(10):
            orcish.ORCFile(path).read(threads=1)
    finally:
        done.set()
        ticker.join()
    assert len(ticks) > 10


@each_case("how", ["tables", "files", "batches of asyncio"])
@each_case("buffering", [0, -1])
def test_readers_of_one_file_object_take_turns(tmp_path, how, buffering):
    """A file object has one position, whoever reads it."""
    path, table = tmp_path / "a.orc", pa.table({"v": [at + 0.5 for at in range(400_000)]})
    with orcish.ORCWriter(path, table.schema, compression="none", row_index_stride=0) as writer:
        for start in range(0, len(table), 20_000):
            writer.write(table.slice(start, 20_000))
            writer.end_stripe()
    found, ways = (
        [],
        {
            "tables": orcish.read_table,
            "files": lambda file: pa.Table.from_batches(orcish.ORCFile(file).iter_batches()),
        },
    )

    async def batches(file):
        opened = await orcish.open_async(file)
        return pa.Table.from_batches([batch async for batch in opened.iter_batches_async()])

    async def both(file):
        return await asyncio.gather(batches(file), batches(file))

    with open(path, "rb", buffering=buffering) as file:
        if how in ways:
            threads = [
                threading.Thread(target=lambda: found.extend(ways[how](file) for _ in range(5))) for _ in range(4)
            ]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        else:
            for _ in range(5):
                found += asyncio.run(both(file))
    assert len(found) == (20 if how in ways else 10)
    assert all(each["v"].equals(table["v"]) for each in found)


@each_case("buffering", [0, -1])
def test_file_objects_after_a_fork(path, buffering):
    """Processes share the position of an open file; bytes in memory are those of each."""
    out = run_python(
        """
        import io, os, sys
        import orcish

        with open(sys.argv[1], "rb", buffering=int(sys.argv[2])) as opened:
            in_memory = io.BytesIO(opened.read())
            files = [orcish.ORCFile(opened), orcish.ORCFile(in_memory), orcish.ORCFile(sys.argv[1])]
            child = os.fork()
            found = []
            for file in files:
                try:
                    found.append(file.read(columns=["i0"]).num_rows)
                except ValueError as error:
                    found.append("opened before a fork" in str(error))
            print(found, flush=True)
            if not child:
                os._exit(0)
            os.waitpid(child, 0)
        """,
        str(path),
        str(buffering),
    )
    assert sorted(out.splitlines()) == [f"[{ROWS}, {ROWS}, {ROWS}]", f"[True, {ROWS}, {ROWS}]"]
