"""Small files that are large tables: limits of results, batches bounded by bytes, and processes with little memory."""

import io

import orcish
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from orcish import col
from support.case_loops import each_case
from support.processes import run_python

MIB = 1 << 20
ROWS = 65_536


def repeated(rows, batches, **options):
    """A file of the same rows again and again."""
    out = io.BytesIO()
    stream = pa.RecordBatchReader.from_batches(rows.schema, (rows for _ in range(batches)))
    orcish.write_table(stream, out, row_index_stride=0, **options)
    return out.getvalue()


@pytest.fixture(scope="module")
def zeros():
    """64 MiB of integers in some kilobytes."""
    data = repeated(pa.record_batch({"a": pa.array([0] * MIB, pa.int64())}), 8)
    assert len(data) < 100_000
    return data


RESULTS = {
    "read_table": lambda data, limits: orcish.read_table(data, limits=limits),
    "read_table with progress": lambda data, limits: orcish.read_table(data, limits=limits, progress=lambda *_: None),
    "read": lambda data, limits: orcish.ORCFile(data, limits=limits).read(),
    "to_table": lambda data, limits: orcish.scan(data, limits=limits).to_table(),
    "several files": lambda data, limits: orcish.read_table([data, data], limits=limits),
    "filtered": lambda data, limits: orcish.read_table(data, limits=limits, filters=col("a") == 0),
    "filtered afterwards": lambda data, limits: orcish.read_table(
        data, limits=limits, filters=pc.add(pc.field("a"), 1) > 0
    ),
    "dataset": lambda data, limits: orcish.dataset(data, limits=limits).to_table(),
    "computed": lambda data, limits: orcish.dataset(data, limits=limits).to_table(
        columns={"b": pc.add(pc.field("a"), 1)}
    ),
}


@each_case("how", RESULTS)
def test_a_result_has_the_limit_of_the_memory_that_is_given(zeros, how):
    read = RESULTS[how]
    for limits in ({"memory": 48 * MIB}, {"result": 48 * MIB}, {"memory": 1 << 40, "result": 48 * MIB}):
        with pytest.raises(orcish.LimitExceededError, match=r"50331648 bytes allowed.*\(limits: result,"):
            read(zeros, limits)
    rows = read(zeros, {}).num_rows
    assert rows >= 8 * MIB
    for limits in ({"memory": 48 * MIB, "result": 1 << 30}, {"memory": 1 << 30}, {"result": 160 * MIB}):
        assert read(zeros, limits).num_rows == rows


def test_rows_that_are_left_out_do_not_count(zeros):
    limits = {"memory": 48 * MIB}
    assert orcish.read_table(zeros, limits=limits, limit=MIB).num_rows == MIB
    for filters in (col("a") > 0, pc.add(pc.field("a"), 1) > 1):
        assert orcish.read_table(zeros, limits=limits, filters=filters).num_rows == 0


def test_batches_one_after_the_other_have_no_limit(zeros):
    file = orcish.ORCFile(zeros, limits={"memory": 48 * MIB})
    assert sum(map(len, file.iter_batches())) == 8 * MIB
    assert sum(map(len, pa.RecordBatchReader.from_stream(file))) == 8 * MIB


def test_shared_buffers_count_once():
    """The dictionary of a stripe is one of all of its batches."""
    texts = pa.DictionaryArray.from_arrays(pa.array([0] * 10_000, pa.int32()), pa.array(["x" * MIB]))
    data = repeated(pa.record_batch({"s": texts}), 1)
    table = orcish.read_table(data, batch_size=100, limits={"result": 4 * MIB})
    assert (table.num_rows, table["s"].num_chunks) == (10_000, 100)


COMMON = """
    import resource, sys
    import orcish, pyarrow as pa
    def peak():
        with open("/proc/self/status") as status:
            return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM"))
"""

LARGE_ROWS = {
    "an entry of a dictionary": lambda: pa.record_batch(
        {"s": pa.DictionaryArray.from_arrays(pa.array([0] * ROWS, pa.int32()), pa.array(["x" * MIB]))}
    ),
    "columns of nulls": lambda: pa.record_batch({f"c{at}": pa.nulls(ROWS, pa.int64()) for at in range(2000)}),
    "text beside columns of nulls": lambda: pa.record_batch(
        {
            **{f"c{at}": pa.nulls(ROWS, pa.int64()) for at in range(200)},
            "s": pa.DictionaryArray.from_arrays(pa.array([0] * ROWS, pa.int32()), pa.array(["x" * 10_000])),
        }
    ),
    "lists of nulls": lambda: pa.record_batch(
        {
            f"c{at}": pa.ListArray.from_arrays(
                pa.array(range(0, 1000 * ROWS + 1, 1000), pa.int32()), pa.nulls(1000 * ROWS, pa.int8())
            )
            for at in range(4)
        }
    ),
}


@each_case("threads", [1, 4])
@each_case("rows", LARGE_ROWS)
def test_batches_are_bounded_by_bytes(tmp_path, rows, threads):
    path = tmp_path / "large.orc"
    path.write_bytes(repeated(LARGE_ROWS[rows](), 1, arrow_schema=False, dictionary=True))
    assert path.stat().st_size < 200_000
    code = f"""{COMMON}
    file = orcish.ORCFile(sys.argv[1])
    next(file.iter_batches(threads=1, batch_size=1))
    before = peak()
    batch = next(file.iter_batches(threads={threads}))
    print(batch.nbytes, peak() - before)
    """
    size, used = map(int, run_python(code, str(path)).split())
    # Validity bits add an eighth to values of one byte.
    assert size <= 145 * MIB
    assert used < 520 * MIB


def test_narrow_columns_leave_room_for_wide_ones(tmp_path):
    """The bytes of a batch are not divided by the number of columns where most need less than others."""
    rows = LARGE_ROWS["text beside columns of nulls"]()
    file = orcish.ORCFile(repeated(rows, 1, arrow_schema=False, dictionary=True))
    lengths = [len(batch) for batch in file.iter_batches(threads=1)]
    assert sum(lengths) == ROWS
    # An equal part of 128 MiB has 66 rows of the text.
    assert min(lengths[:-1]) > 5000


@pytest.fixture(scope="module")
def gigabytes(tmp_path_factory):
    """Two gigabytes of integers."""
    path = tmp_path_factory.mktemp("results") / "gigabytes.orc"
    path.write_bytes(repeated(pa.record_batch({"a": pa.array([0] * MIB, pa.int64())}), 256))
    return path


@each_case("batch_size", [1000, ROWS, 1 << 24])
@each_case("threads", [1, 4])
def test_a_process_without_memory_has_an_error(gigabytes, threads, batch_size):
    """An allocation that fails is an exception. The process does not end, and reads on in parts."""
    code = f"""{COMMON}
    resource.setrlimit(resource.RLIMIT_AS, (3 << 29,) * 2)
    options = {{"threads": {threads}, "batch_size": {batch_size}}}
    try:
        orcish.read_table(sys.argv[1], **options)
    except (orcish.LimitExceededError, MemoryError) as error:
        print(error)
    print(orcish.read_table(sys.argv[1], limit=1000, **options).num_rows)
    """
    message, rows = run_python(code, str(gigabytes)).splitlines()
    assert "memory" in message
    assert rows == "1000"
