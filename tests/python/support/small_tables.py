"""Small tables of several files, for the tests of scans."""

import threading
import time

import orcish
import pyarrow as pa

from support.cpp_writers import write_arrow


def rows(start, count, **more):
    """A table whose ``id`` counts up, with a text and a number that has nulls."""
    ids = range(start, start + count)
    columns = {
        "id": list(ids),
        "text": [f"t{i % 7}" for i in ids],
    }
    columns["x"] = pa.array([None if i % 5 == 0 else i / 4 for i in ids], pa.float64())
    return pa.table({**columns, **{name: [value] * count for name, value in more.items()}})


def put(folder, files):
    """Writes files, tables or bytes by their paths below a folder, and gives the folder."""
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data if isinstance(data, bytes) else write_arrow(data))
    return folder


def in_stripes(target, table, size, **options):
    """Writes a file whose stripes have ``size`` rows, or the last one fewer, and gives the target."""
    with orcish.ORCWriter(target, table.schema, **options) as writer:
        for start in range(0, table.num_rows, size):
            writer.write(table.slice(start, size))
            writer.end_stripe()
    return target


def threads_end(before):
    """Whether there are no more threads than before, soon."""
    for _ in range(100):
        if native_threads() <= before:
            return True
        time.sleep(0.02)
    return False


def native_threads():
    """Threads of this process, those that Python does not know too."""
    try:
        with open("/proc/self/status") as status:
            return next(int(line.split()[1]) for line in status if line.startswith("Threads:"))
    except OSError:
        return threading.active_count()
