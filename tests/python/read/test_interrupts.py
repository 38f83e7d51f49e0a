"""Ctrl-C while something takes long that gives no batches: a file of some kilobytes may be hours of work."""

import json
import signal
import subprocess
import sys
import textwrap

import pytest
from support.carbon_tables import some, writer
from support.case_loops import each_case
from support.orc_builder import DATA, LONG, STRUCT, column_type, integer, integers, nested, orc, zeros

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals are of Unix")

TIMESTAMP, SECONDARY = 9, 5
MAX_SECONDS = 60


def interrupted(code: str, *args: str) -> None:
    """Runs code that prints "begun" and then takes longer than anybody waits, and interrupts it."""
    code = f"""
import os, sys, orcish
try:
{textwrap.indent(textwrap.dedent(code), "    ")}
    print("ended", flush=True)
except KeyboardInterrupt:
    print("interrupted", flush=True)
    os._exit(0)
"""
    command = [sys.executable, "-c", code, *args]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout.readline() == "begun\n", process.stderr.read()
            # It is at work, and not about to be.
            with pytest.raises(subprocess.TimeoutExpired):
                process.wait(timeout=1)
            process.send_signal(signal.SIGINT)
            out, errors = process.communicate(timeout=MAX_SECONDS)
            assert out == "interrupted\n", errors
        finally:
            process.kill()


@pytest.fixture(scope="module")
def padded(tmp_path_factory):
    """A file whose 20,000 stripes share a footer of 8 MiB, most of it streams of no column."""
    padding = nested(1, integer(1, 50), integer(2, 9), integer(3, 0)) * (1 << 20)
    types = [column_type(STRUCT, [1, 2], ["a", "t"]), column_type(LONG), column_type(TIMESTAMP)]
    one = integers([1])
    streams = [(1, DATA, one), (2, DATA, one), (2, SECONDARY, one)]
    path = tmp_path_factory.mktemp("padded") / "padded.orc"
    path.write_bytes(orc(types, [(1, streams)], repeat=20_000, stripe_footer=padding))
    assert path.stat().st_size < 100_000
    return str(path)


FILES = {
    "explain": "file.explain(filters=orcish.col('a') > 5)",
    "explain, all": "file.explain()",
    "explain, table": "orcish.scan(sys.argv[1], filters=orcish.col('a') > 5).explain()",
    "time zones": "file.writer_timezones()",
    "storage": "file._file.column_storage()",
}


@each_case("call", FILES.values(), ids=FILES)
def test_footers_of_many_stripes(padded, call):
    interrupted(f"file = orcish.ORCFile(sys.argv[1])\nprint('begun', flush=True)\n{call}", padded)


def test_folders_that_link_to_each_other(tmp_path):
    """Twelve folders link to each other, so that the number of paths is factorial."""
    for folder in range(12):
        (tmp_path / f"f{folder}").mkdir()
        for other in range(12):
            (tmp_path / f"f{folder}" / f"l{other}").symlink_to(tmp_path / f"f{other}")
    interrupted("print('begun', flush=True)\norcish.scan(sys.argv[1])", str(tmp_path))


def test_many_segments_with_one_index(tmp_path):
    """The index is read for each segment."""
    written = writer(tmp_path)
    written.load(some())
    status = written.path / "Metadata/tablestatus"
    (entry,) = json.loads(status.read_text())
    status.write_text(json.dumps([{**entry, "loadName": str(at)} for at in range(500_000)]))
    interrupted(
        "print('begun', flush=True)\norcish.CarbonTable(sys.argv[1], limits={'memory': 1 << 40, 'tail': 1 << 30})",
        str(written.path),
    )


@pytest.fixture(scope="module")
def zeros_only(tmp_path_factory):
    """A file of 20,000 stripes that are the same bytes: a million zeros each, of which nothing is known."""
    types = [column_type(STRUCT, [1], ["a"]), column_type(LONG)]
    path = tmp_path_factory.mktemp("zeros") / "zeros.orc"
    path.write_bytes(orc(types, [(1 << 20, [(1, DATA, zeros(2048))])], repeat=20_000))
    return str(path)


WANTED_BY_NONE = {
    "file": "orcish.ORCFile(sys.argv[1]).read(filters=orcish.col('a') == 5, threads={})",
    "scan": "orcish.scan(sys.argv[1], filters=orcish.col('a') == 5, threads={}).count()",
    "reader": """
try:
    orcish.ORCFile(sys.argv[1]).reader(filters=orcish.col('a') == 5, threads={}).read_all()
except Exception:
    str()
""",
}


@each_case("threads", [1, 2])
@each_case("call", WANTED_BY_NONE.values(), ids=WANTED_BY_NONE)
def test_rows_none_of_which_is_wanted(zeros_only, call, threads):
    """No batch is returned, so that Python code cannot check for signals."""
    interrupted(f"print('begun', flush=True)\n{call.format(threads)}", zeros_only)


@each_case("threads", [1, 2])
def test_a_batch_that_takes_long(tmp_path, threads):
    """A batch is compressed by one slow call on any thread. The file does not appear."""
    interrupted(
        """
        import numpy, pyarrow as pa
        numbers = numpy.random.default_rng(1).integers(0, 1 << 20, 8_000_000) / 8
        batch = pa.record_batch({"a": numbers, "b": numbers})
        options = {"compression": "brotli", "compression_level": 11, "row_index_stride": 1 << 30}
        writer = orcish.ORCWriter(sys.argv[1], batch.schema, threads=int(sys.argv[2]), **options)
        print("begun", flush=True)
        writer.write(batch)
        """,
        str(tmp_path / "a.orc"),
        str(threads),
    )
    assert not (tmp_path / "a.orc").exists()
