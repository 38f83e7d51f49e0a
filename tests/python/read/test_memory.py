"""Memory: of iter_batches bounded by a window, of a full read by what it gives back."""

import orcish
import pyarrow as pa
import pytest
from pyarrow import orc
from support.case_loops import each_case
from support.processes import run_python

MIB = 1 << 20
ROWS, STRIPES = 500_000, 20
COMMON = """
    import sys, orcish, resource
    def peak():
        with open("/proc/self/status") as status:
            return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM"))
    def reset():
        with open("/proc/self/clear_refs", "w") as clear:
            clear.write("5")
    import pyarrow as pa
    file = orcish.ORCFile(sys.argv[1])
    for batch in file.iter_batches(stripes=[0], batch_size=1000, threads=1): pass
    del batch
    reset()
    before = peak()
"""


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    """A file of 20 stripes and 310 MB of Arrow, of one stripe's rows again and again."""
    path = tmp_path_factory.mktemp("memory") / "large.orc"
    part = pa.table(
        {
            "a": pa.array(range(ROWS // STRIPES)),
            "b": pa.array([(i * 7919) % 1000 / 8 for i in range(ROWS // STRIPES)]),
            "s": [f"{i % 100:0600d}" for i in range(ROWS // STRIPES)],
        }
    )
    with orc.ORCWriter(str(path), compression="zstd", stripe_size=MIB, dictionary_key_size_threshold=0.0) as writer:
        for _ in range(STRIPES):
            writer.write(part)
    return path


def measure(code, path):
    peak, total = run_python(COMMON + code, str(path)).split()
    return int(peak), int(total)


@each_case("threads", [1, 2])
def test_batches_take_a_window(path, threads):
    used, total = measure(
        f"""
    total = 0
    for batch in file.iter_batches(threads={threads}, batch_size=8192):
        total += batch.nbytes
    print(peak() - before, total)
    """,
        path,
    )
    assert total > 290 * MIB
    assert used < 180 * MIB


@each_case("threads", [1, 2])
def test_tables_take_their_size_and_a_window(path, threads):
    used, total = measure(
        f"""
    table = file.read(threads={threads})
    print(peak() - before, table.nbytes)
    """,
        path,
    )
    assert total > 290 * MIB
    assert used < total + 120 * MIB


@pytest.fixture(scope="module")
def widened(tmp_path_factory):
    """A file of less than a megabyte, in one stripe, that is 300 MB of Arrow, in eight columns."""
    path = tmp_path_factory.mktemp("memory") / "widened.orc"
    rows = 60_000
    texts = pa.array([f"{at:0600d}" for at in range(100)]).take(pa.array([at * 7919 // 13 % 100 for at in range(rows)]))
    orcish.write_table(
        pa.table({f"c{at}": texts for at in range(8)}), path, dictionary=True, compression="uncompressed"
    )
    file = orcish.ORCFile(path)
    assert (file.num_stripes, MIB // 2 < file.file_length < MIB) == (1, True)
    return path


@each_case("threads", [1, 4])
def test_what_waits_to_be_taken_is_bounded(widened, threads):
    """Decoded rows ahead of a slow caller take at most half of the memory limit, plus running tasks."""
    used, rows = measure(
        f"""
    import time
    file = orcish.ORCFile(sys.argv[1], limits={{"memory": {96 * MIB}}})
    batches = file.iter_batches(threads={threads}, batch_size=8192)
    rows = len(next(batches))
    time.sleep(0.3)
    used = peak() - before
    print(used, rows + sum(map(len, batches)))
    """,
        widened,
    )
    assert rows == 60_000
    assert used < 150 * MIB


@each_case("threads", [1, 16])
def test_a_small_limit_holds_for_all_threads(path, threads):
    """A thread has buffers of its own: the limit decides how many threads there are."""
    used, total = measure(
        f"""
    file = orcish.ORCFile(sys.argv[1], limits={{"memory": {16 * MIB}}})
    total = sum(batch.nbytes for batch in file.iter_batches(threads={threads}, batch_size=8192))
    print(peak() - before, total)
    """,
        path,
    )
    assert total > 290 * MIB
    assert used < 60 * MIB
