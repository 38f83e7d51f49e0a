"""A dataset whose reads are counted, and its table, for queries of engines."""

import datetime as dt
import io
import random

import orcish
import pyarrow as pa

from support.counting_file import Counting
from support.orc_layout import layout

ROWS, STRIDE = 40_000, 1000
GENERATOR = random.Random(8)
DAY = dt.date(2026, 1, 1)


def table():
    at = range(ROWS)
    return pa.table(
        {
            "id": pa.array(at, pa.int64()),
            "name": [f"n{i:06}" for i in at],
            "day": pa.array([DAY + dt.timedelta(i // 100) for i in at]),
            "time": pa.array([dt.datetime(2026, 1, 1) + dt.timedelta(0, i) for i in at], pa.timestamp("us")),
            "price": pa.array(at, pa.int64()).cast(pa.decimal128(21, 2)).cast(pa.decimal128(12, 2)),
            "none": pa.array([i if i >= 30_000 else None for i in at], pa.int32()),
            "x": pa.array([None if i % 9 == 0 else i / 4 for i in at]),
            "n": pa.array([{"a": i, "b": f"b{i}"} for i in at]),
            "payload": [GENERATOR.randbytes(20).hex() for _ in at],
        }
    )


TABLE = table()


def written():
    """The table as a file without compression."""
    out = io.BytesIO()
    options = {"row_index_stride": STRIDE, "compression": "none", "dictionary": False}
    orcish.write_table(TABLE, out, bloom_filter_columns=["name"], bloom_filter_fpp=0.001, **options)
    return out.getvalue()


def opened(data):
    """A dataset over a file that counts the bytes that are read."""
    file = Counting(data)
    dataset = orcish.dataset(file)
    file.ranges.clear()
    return file, dataset


def share(file, data, *, of_payload):
    """The share of the data streams that was read: those of the payload column, or all of them."""
    columns = [column for column in range(1, 12) if not of_payload or column == 11]
    wanted = layout(data).data_ranges(columns)
    assert sum(map(len, wanted)) > (ROWS * 40 if of_payload else ROWS * 60)
    return file.taken(wanted) / sum(map(len, wanted))
