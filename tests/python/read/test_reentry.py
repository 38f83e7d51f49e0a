"""Python code that orcish calls, such as the `read` of a file object or a handler of signals, and that calls orcish.

It calls it by libraries that let go of the interpreter on their own, such as pyarrow. What goes wrong ends the process, so
that each case has one of its own.
"""

import signal

import pytest
from support.case_loops import each_case
from support.processes import run_python
from support.random_cases import cases

SETUP = """
    import io, os, signal, sys, threading, time
    import orcish, pyarrow as pa

    # Names are loaded when they are asked for, and a signal may come meanwhile.
    orcish.read_table, orcish.scan, orcish.merge, orcish.ORCFile, orcish.col, orcish.write_table
    table = pa.table({"a": range(300_000)})
    out = io.BytesIO()
    orcish.write_table(table, out, stripe_size=200_000)
    data = out.getvalue()
    calls = []

    def inside():
        # The rows of a read that ends, and of one that does not.
        calls.append(orcish.read_table(data, columns=["a"]).equals(table))
        pa.RecordBatchReader.from_stream(orcish.ORCFile(data).reader(batch_size=10)).read_next_batch()
        next(orcish.ORCFile(data).iter_batches(batch_size=10))

    class Source(io.BytesIO):
        def read(self, size=-1):
            inside()
            return super().read(size)

    class Sink(io.BytesIO):
        def write(self, part):
            inside()
            return super().write(part)

        def flush(self):
            inside()

    class Nested(io.BytesIO):
        def read(self, size=-1):
            calls.append(orcish.read_table(Source(data)).equals(table))
            return super().read(size)
"""

CALLS = {
    "read": "orcish.read_table(Source(data), threads=1).equals(table)",
    "read by threads": "orcish.read_table(Source(data), threads=4).equals(table)",
    "batches": "pa.Table.from_batches(orcish.ORCFile(Source(data)).iter_batches()).equals(table)",
    "stream": "pa.table(orcish.ORCFile(Source(data))).equals(table)",
    "stream that is left": "pa.RecordBatchReader.from_stream(orcish.ORCFile(Source(data))).read_next_batch().num_rows",
    "count": "orcish.scan(Source(data), filters=orcish.col('a') >= 0).count() == 300_000",
    "check": "orcish.ORCFile(Source(data)).check() is not None",
    "merge": "orcish.merge([Source(data)], Sink()).rows == 300_000",
    "write": "orcish.write_table(table, Sink()).rows == 300_000",
    "write of a stream": "orcish.write_table(orcish.ORCFile(Source(data)), Sink()).rows == 300_000",
    "three levels": "orcish.read_table(Nested(data)).equals(table)",
}


@each_case("call", CALLS.values(), ids=CALLS)
def test_file_objects_that_read_with_orcish(call):
    code = f"""{SETUP}
    assert {call}
    print(len(calls) > 0, all(calls))
    """
    assert run_python(code) == "True True\n"


SIGNALLED = {
    "read": "orcish.read_table(source, threads={}).equals(table)",
    "count": "orcish.scan(source, threads={}, filters=orcish.col('a') >= 0).count() == 300_000",
    "merge": "orcish.merge([source] * {}, io.BytesIO()).rows >= 300_000",
}


@pytest.mark.skipif(not hasattr(signal, "SIGALRM"), reason="the system has no such signal")
@each_case("threads", [1, 4])
@each_case("call", SIGNALLED.values(), ids=SIGNALLED)
def test_handlers_of_signals_that_read_with_orcish(call, threads):
    """The signal arrives while orcish waits for a thread, or between two calls of the file object."""
    code = f"""{SETUP}
    class Slow(io.BytesIO):
        def read(self, size=-1):
            if threading.current_thread() is not threading.main_thread():
                os.kill(os.getpid(), signal.SIGALRM)
                time.sleep(0.2)
            return super().read(size)

    signal.signal(signal.SIGALRM, lambda *_: inside())
    signal.setitimer(signal.ITIMER_REAL, 0.01, 0.1)
    source = Slow(data)
    end = time.monotonic() + 60
    while len(calls) < 3 and time.monotonic() < end:
        assert {call.format(threads)}
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, signal.SIG_IGN)
    print(len(calls) >= 3, all(calls))
    """
    assert run_python(code) == "True True\n"


RECURSIONS = {
    "open": "orcish.ORCFile(Endless(data))",
    "read": "orcish.read_table(Endless(data))",
    "write": "orcish.write_table(table, EndlessSink())",
}


@each_case("call", RECURSIONS.values(), ids=RECURSIONS)
def test_file_objects_that_never_come_to_an_end(call):
    code = f"""{SETUP}
    class Endless(io.BytesIO):
        def read(self, size=-1):
            orcish.read_table(Endless(data))
            return super().read(size)

    class EndlessSink(io.BytesIO):
        def write(self, part):
            orcish.write_table(table, EndlessSink())
            return super().write(part)

    try:
        {call}
    except RecursionError:
        print("too deep")
    assert orcish.read_table(data).equals(table)
    """
    assert run_python(code) == "too deep\n"


STREAMS = {
    "table": "orcish.read_table(source)",
    "filtered": "orcish.scan(source, filters='a > 5').to_table()",
    "pyarrow": "pa.table(orcish.ORCFile(source))",
    "batches": "list(orcish.ORCFile(source).iter_batches())",
    "write": "orcish.write_table(orcish.ORCFile(source), io.BytesIO())",
    "merge": "orcish.merge([source], io.BytesIO())",
}


@each_case("call", STREAMS.values(), ids=STREAMS)
def test_messages_with_a_nul(call):
    """The Arrow stream interface transfers messages as C strings."""
    code = f"""{SETUP}
    # The first stripe is not read together with the tail.
    out = io.BytesIO()
    orcish.write_table(pa.table({{"a": [i * i * 7919 % 1_000_003 for i in range(100_000)]}}), out)
    large = out.getvalue()

    class Broken(io.BytesIO):
        fails = False

        def read(self, size=-1):
            if self.fails and self.tell() < len(large) // 2:
                raise ValueError("a \\0 byte")
            return super().read(size)

    source = Broken(large)
    {call}
    source.fails = True
    try:
        {call}
    except Exception as error:
        print("byte" in str(error))
    """
    assert run_python(code) == "True\n"


def test_a_file_object_that_reads_itself():
    code = f"""{SETUP}
    class Again(io.BytesIO):
        file = None

        def read(self, size=-1):
            file, self.file = self.file, None
            if file is not None:
                file.read(threads=1)
            return super().read(size)

    source = Again(data)
    file = orcish.ORCFile(source)
    source.file = file
    try:
        file.read(threads=1)
    except RuntimeError as error:
        print(error)
    assert file.read().equals(table)
    """
    assert run_python(code) == "<file object>: a method of the file object reads the file that it is read for\n"


AGAIN = """
    # Bytes that are worth several threads.
    out = io.BytesIO()
    numbers = [at * 7919 ** 3 % (1 << 40) for at in range(200_000)]
    orcish.write_table(pa.table({"a": numbers}), out, stripe_size=200_000)
    data = out.getvalue()

    class Again(io.BytesIO):
        call = None

        def read(self, size=-1):
            call, self.call = self.call, None
            if call is not None:
                call()
            return super().read(size)

    def outcome(source, call):
        source.call = call
        try:
            call()
        except Exception as error:
            return f"{type(error).__name__}: {error}"
        finally:
            source.call = None
"""


@each_case("rounds", range(cases(3)))
@each_case(
    "call",
    [
        "file.read(threads=4)",
        "list(file.iter_batches(threads=4, batch_size=1000))",
        "file.read(threads=4, filters='a > 7')",
        "pa.table(file)",
    ],
)
def test_threads_of_a_file_object_that_reads_itself(call, rounds):
    """The file object waits for what it calls, on whichever thread that is read."""
    code = f"""{SETUP}{AGAIN}
    for _ in range(20):
        source = Again(data)
        file = orcish.ORCFile(source)
        print(outcome(source, lambda: {call}))
    """
    lines = run_python(code).splitlines()
    assert len(lines) == 20
    # The C interface has the text of an error, and not its type.
    name = "ArrowInvalid" if call == "pa.table(file)" else "RuntimeError"
    text = "a method of the file object reads the file that it is read for"
    assert all(line.startswith(f"{name}: ") and text in line for line in lines), lines


def test_a_file_object_that_reads_the_table_that_it_is_opened_for():
    code = f"""{SETUP}{AGAIN}
    for threads in (1, 4):
        for _ in range(20):
            source = Again(data)
            table = orcish.scan([data, source, data], threads=threads)
            print(outcome(source, table.to_table))
    """
    lines = run_python(code).splitlines()
    assert len(lines) == 40
    assert all("reads the" in line and "that it is" in line for line in lines), lines


def test_file_objects_that_read_each_other():
    code = f"""{SETUP}{AGAIN}
    for _ in range(20):
        one, other = Again(data), Again(data)
        files = [orcish.ORCFile(one), orcish.ORCFile(other)]
        other.call = lambda: files[0].read(threads=4)
        print(outcome(one, lambda: files[1].read(threads=4)))
    """
    lines = run_python(code).splitlines()
    assert len(lines) == 20
    assert all(line.startswith("RuntimeError: ") for line in lines), lines


def test_the_end_of_the_process():
    """The process ends with unfinished readers, and with a reader in the destructor of an object."""
    code = f"""{SETUP}
    class Last:
        def __del__(self, inside=inside):
            inside()

    batches = orcish.ORCFile(Source(data)).iter_batches(threads=4, batch_size=100)
    reader = pa.RecordBatchReader.from_stream(orcish.ORCFile(Source(data)).reader(threads=4, batch_size=100))
    sys.kept = [batches, reader, next(batches), reader.read_next_batch(), Last()]
    sys.kept.append(orcish.ORCFile(Source(data)).reader(threads=4).__arrow_c_stream__())
    print("end")
    """
    assert run_python(code) == "end\n"
