"""Parts that differ: groups of columns whose arrays end at other rows, stripes that are open at a time, windows of rows."""

import bisect
import datetime as dt
import io
import random
import threading
import time
from decimal import Decimal
from typing import Any

import orcish
import pyarrow as pa
import pytest
from orcish import Expression, col
from support import buffer_sizes, orc_builder
from support.case_loops import each_case
from support.counting_file import Counting
from support.orc_layout import layout
from support.small_tables import in_stripes
from support.writer_tables import written

ROWS = 3000


def uneven(rows: int = ROWS) -> pa.Table:
    """Columns of which a row takes a few bytes, and columns of which it takes many, here and there."""
    rng = random.Random(5)
    texts = [rng.randbytes(rng.choice([0, 3, 40, 400])).hex() for _ in range(rows)]
    some = [None if row % 7 == 3 else text for row, text in enumerate(texts)]
    lists = [None if row % 11 == 0 else list(range(row % 50)) for row in range(rows)]
    tags = [rng.randrange(3) for _ in range(rows)]
    variants = [pa.array(range(rows)), pa.array(some), pa.array(lists, pa.list_(pa.int16()))]
    return pa.table(
        {
            "number": pa.array(range(rows)),
            "text": texts,
            "some": some,
            "list": pa.array(lists, pa.list_(pa.int16())),
            "struct": [{"a": text, "b": row} if row % 5 else None for row, text in enumerate(texts)],
            "union": pa.UnionArray.from_sparse(pa.array(tags, pa.int8()), variants),
            "one": pa.UnionArray.from_sparse(pa.array([0] * rows, pa.int8()), [pa.array(texts)]),
            "short": [f"{row % 7}" for row in range(rows)],
            "bit": [None if row % 5 == 0 else row % 3 == 0 for row in range(rows)],
        }
    )


UNEVEN = uneven()


@each_case("threads", [1, 2, 3])
@each_case("array_bytes", [900, 5000])
@each_case("dictionary", [False, True])
def test_groups_of_columns_whose_arrays_end_at_other_rows(threads: int, array_bytes: int, dictionary: bool) -> None:
    """Each thread decodes its own columns, which continue at another row when an array reaches its maximum size."""
    file = orcish.ORCFile(written(UNEVEN, stripe_size=200_000, dictionary=dictionary))
    with buffer_sizes.of({"ARRAY_BYTES": array_bytes, "BYTES_WORTH_A_THREAD": 0, "GROUPS_PER_THREAD": 3}):
        for columns in ([*UNEVEN.column_names], *([name] for name in UNEVEN.column_names)):
            batches = list(file.iter_batches(columns=columns, threads=threads, batch_size=1000))
            assert max(map(len, batches)) < 1000 or columns == ["bit"]
            for batch in batches:
                batch.validate(full=True)
                # A union has three arrays; where one is full, the others may be, too.
                assert len(batch) == 1 or len(columns) > 1 or batch.nbytes <= 3 * array_bytes
            # They are filled: what goes on with the next batch was just too large.
            total = sum(batch.nbytes + 16 * len(batch) for batch in batches)
            assert len(batches) <= 1.5 * total / array_bytes
            found = pa.Table.from_batches(batches)
            assert all(found[name].to_pylist() == UNEVEN[name].to_pylist() for name in columns)


@each_case(("threads", "requests"), [(1, 1), (1, 3), (2, 1), (3, 3)])
@each_case("filters", [None, col("row") >= 0, col("text") > ""], ids=str)
def test_rows_that_take_more_than_they_are_stored_in(threads: int, requests: int, filters: Expression | None) -> None:
    """Decoded rows take at most half of the memory limit. Beyond it only rows that the caller waits for are decoded."""
    rows, memory = 6000, 1 << 20
    data = pa.table({"row": pa.array(range(rows)), "text": [f"{row % 3}" * 1000 for row in range(rows)]})
    stored = in_stripes(io.BytesIO(), data, 2000, row_index_stride=1000).getvalue()
    file = orcish.ORCFile(stored, limits={"memory": memory})
    assert file.file_length < memory // 10
    with buffer_sizes.of({"LOCAL_CONCURRENCY": requests, "BYTES_WORTH_A_THREAD": 0, "GROUPS_PER_THREAD": 1}):
        batches = file.iter_batches(filters=filters, threads=threads, batch_size=200)
        found = [next(batches)]
        time.sleep(0.02)
        found += batches
    assert pa.Table.from_batches(found).equals(data)


MEMORY = 4 << 20
WINDOW, FOUND, LENGTH = 1000, 50, 4000


@pytest.fixture(scope="module")
def seldom() -> bytes:
    """A file of which few rows are sought, which are large."""
    rng = random.Random(6)
    rows = range(20 * WINDOW)
    sought = [row % (WINDOW // FOUND) == 7 for row in rows]
    texts = [f"z{rng.randbytes(LENGTH // 2).hex()}" if is_sought else "a" for is_sought in sought]
    data = pa.table({"text": texts, "sought": sought, "again": texts, "row": pa.array(rows)})
    return written(data, compression="uncompressed", stripe_size=32 << 20, row_index_stride=WINDOW, dictionary=False)


@each_case(
    ("filters", "columns"),
    [
        (col("text") >= "z", ["row", "text"]),
        (col("sought").is_in([True]), ["row", "text"]),
        (col("text") >= "z", ["text", "again"]),
    ],
    ids=["asked", "not asked", "both"],
)
def test_filtered_batches_take_an_eighth_of_the_memory(seldom: bytes, filters: Expression, columns: list[str]) -> None:
    """Filtered batches of distant rows are bounded too."""
    file = orcish.ORCFile(seldom, limits={"memory": MEMORY})
    batches = file.iter_batches(filters=filters, columns=columns, threads=1, batch_size=WINDOW)
    sizes = [batch.nbytes for batch in batches]
    window = len(columns) * FOUND * (LENGTH + 100)
    assert max(sizes) < MEMORY // 8 + window
    assert len(sizes) <= 1.2 * sum(sizes) / (MEMORY // 8)
    assert sum(sizes) > 20 * FOUND * LENGTH


def test_windows_that_are_larger_than_a_batch_are_cut(seldom: bytes) -> None:
    """The remaining selected rows of a window are in the next batch."""
    file = orcish.ORCFile(seldom, limits={"memory": MEMORY})
    for columns in (["text", "row"], ["row", "sought", "text"]):
        batches = file.iter_batches(filters=col("sought").is_in([True]), columns=columns, threads=1, batch_size=10**6)
        found = list(batches)
        assert max(batch.nbytes for batch in found) < MEMORY // 2
        assert [row for batch in found for row in batch["row"].to_pylist()] == list(
            range(7, 20 * WINDOW, WINDOW // FOUND)
        )
        assert all(len(text) == LENGTH + 1 for batch in found for text in batch["text"].to_pylist())


def test_lists_of_nothing_count_by_their_elements() -> None:
    """Elements without bytes count, as offsets have to reach them and consumers make objects of them."""
    offsets = pa.array(range(0, 1000 * 2001, 1000), pa.int32())
    lists = pa.ListArray.from_arrays(offsets, pa.array([{}] * 2_000_000, pa.struct([])))
    data = pa.table({"row": pa.array(range(2000)), "list": lists})
    file = orcish.ORCFile(written(data), limits={"memory": MEMORY})
    for filters in (col("row").is_in(range(0, 2000, 2)), col("list").is_not_null() & (col("row") != 3)):
        found = list(file.iter_batches(filters=filters, columns=["list"], threads=1, batch_size=100_000))
        most = max(len(batch["list"].values) for batch in found)
        assert most < MEMORY // 4, most
        assert sum(map(len, found)) == orcish.scan(written(data), filters=filters).count()


def test_no_more_rows_are_found_ahead_than_an_eighth_of_the_memory(seldom: bytes) -> None:
    """Selected rows are read before further rows are evaluated."""
    source = Counting(seldom)
    file = orcish.ORCFile(source, limits={"memory": MEMORY})
    # The columns of the file are text, sought, again and row.
    again = layout(seldom).data_ranges({3})
    source.ranges.clear()
    batches = file.iter_batches(filters=col("text") >= "z", columns=["text", "again"], threads=1, batch_size=WINDOW)
    next(batches)
    assert 0 < source.taken(again) < 0.3 * sum(map(len, again))
    assert sum(map(len, batches)) > 15 * FOUND
    assert source.taken(again) > 0.9 * sum(map(len, again))


STRIPES = 6


def stripes(rows: int = 2000) -> pa.Table:
    """Rows that take about 100 bytes each."""
    rng = random.Random(7)
    texts = [rng.randbytes(46).hex() for _ in range(STRIPES * rows)]
    return pa.table({"row": pa.array(range(STRIPES * rows)), "text": texts})


STRIPED = stripes()
STRIPED_ROWS = STRIPED.num_rows // STRIPES


@pytest.fixture(scope="module")
def striped() -> bytes:
    options = {"row_index_stride": 1000, "compression": "uncompressed"}
    return in_stripes(io.BytesIO(), STRIPED, STRIPED_ROWS, **options).getvalue()


class Watched(io.BytesIO):
    """A file that knows who reads it, and which stripes."""

    def __init__(self, data: bytes) -> None:
        super().__init__(data)
        self.readers: set[int] = set()
        self.stripes: set[int] = set()
        self.ends = [footer.stop for footer in layout(data).stripe_footers]

    def read(self, size: int | None = -1, /) -> bytes:
        self.readers.add(threading.get_ident())
        self.stripes.add(bisect.bisect_right(self.ends, self.tell()))
        return super().read(size)


def watched(data: bytes, **options: Any) -> tuple[Watched, orcish.ORCFile]:
    """A file of which nothing but the tail has been read, which does not count."""
    source = Watched(data)
    file = orcish.ORCFile(source, **options)
    source.readers.clear()
    source.stripes.clear()
    return source, file


@each_case("filters", [None, col("row") >= 0, col("text") > "8"], ids=str)
@each_case("limit", [None, 10])
def test_one_thread_is_that_of_the_caller(striped: bytes, filters: Expression | None, limit: int | None) -> None:
    """Local reads with one thread start no other thread."""
    source, file = watched(striped)
    with buffer_sizes.of({"BYTES_WORTH_A_THREAD": 0}):
        file.read(filters=filters, limit=limit, threads=1)
    assert source.readers == {threading.get_ident()}


def test_nothing_is_read_ahead_of_a_limit(striped: bytes) -> None:
    """With a filter the number of stripes for a limit is unknown. Without one, exactly the stripes with the rows are
    read.
    """
    for filters in (None, col("row") >= 0, col("text") > "8"):
        with buffer_sizes.of({"LOCAL_CONCURRENCY": 4}):
            source, file = watched(striped)
            assert file.read(filters=filters, limit=10, threads=1).num_rows == 10
        assert source.stripes == {0}


def read_in_the_end(source: Watched, count: int) -> set[int]:
    """The stripes that are read while nobody asks for more, once these are so many."""
    for _ in range(500):
        if len(source.stripes) >= count:
            break
        time.sleep(0.01)
    time.sleep(0.05)
    return set(source.stripes)


HOW = [(2, 1), (1, 3), (3, 3), (4, 1)]
"""Threads, and requests that are worth having under way at a time."""


@each_case(("threads", "requests"), HOW)
@each_case("filters", [None, col("text") > "8"], ids=str)
def test_stripes_are_read_ahead(striped: bytes, threads: int, requests: int, filters: Expression | None) -> None:
    """Later stripes are read while the caller processes the first one."""
    with buffer_sizes.of({"LOCAL_CONCURRENCY": requests, "BYTES_WORTH_A_THREAD": 0}):
        source, file = watched(striped)
        batches = file.iter_batches(filters=filters, threads=threads, batch_size=100)
        found = [next(batches)]
        want = set(range(max(threads if filters is not None else 2, requests)))
        assert read_in_the_end(source, len(want)) == want
        found += batches
    assert pa.Table.from_batches(found).num_rows == orcish.scan(striped, filters=filters).count()


@each_case(("threads", "requests"), HOW)
@each_case("filters", [None, col("text") > "8"], ids=str)
def test_stripes_that_do_not_fit_are_read_one_by_one(
    striped: bytes, threads: int, requests: int, filters: Expression | None
) -> None:
    """Open stripes take at most half of the memory limit, except a single stripe."""
    with buffer_sizes.of({"LOCAL_CONCURRENCY": requests, "BYTES_WORTH_A_THREAD": 0}):
        source, file = watched(striped, limits={"memory": 3 * len(striped) // STRIPES})
        for batch in file.iter_batches(filters=filters, threads=threads, batch_size=400):
            stripe = batch["row"][0].as_py() // STRIPED_ROWS
            time.sleep(0.005)
            assert max(source.stripes) == stripe


@each_case(("columns", "ahead"), [(["row", "text"], 2), (["row"], 3)])
def test_what_is_fetched_ahead_is_bounded(striped: bytes, columns: list[str], ahead: int) -> None:
    """Bytes that are fetched ahead are estimated from the share of the columns."""
    with buffer_sizes.of({"LOCAL_CONCURRENCY": 5, "BYTES_AHEAD": 5 * len(striped) // STRIPES // 2}):
        source, file = watched(striped)
        batches = file.iter_batches(columns=columns, threads=1, batch_size=400)
        next(batches)
        assert read_in_the_end(source, ahead) == set(range(ahead))
        assert sum(map(len, batches)) > 0


ELEMENTS = {
    "bool": (pa.bool_(), True, 1),
    "int8": (pa.int8(), 1, 1),
    "int32": (pa.int32(), 1, 4),
    "int64": (pa.int64(), 1, 8),
    "float32": (pa.float32(), 0.5, 4),
    "float64": (pa.float64(), 0.5, 8),
    "date": (pa.date32(), dt.date(2024, 5, 1), 4),
    "decimal": (pa.decimal128(7, 2), Decimal("1.50"), 16),
    "timestamp": (pa.timestamp("us"), dt.datetime(2024, 5, 1), 16),
    "instant": (pa.timestamp("us", "UTC"), dt.datetime(2024, 5, 1, tzinfo=dt.timezone.utc), 16),
    "text": (pa.string(), "a", 16),
    "binary": (pa.binary(), b"a", 16),
    "list": (pa.list_(pa.int64()), [], 8),
    "map": (pa.map_(pa.string(), pa.int64()), [], 8),
    "struct": (pa.struct({"a": pa.int8(), "b": pa.int64()}), {"a": 1, "b": 2}, 8),
    "null": (pa.struct({"a": pa.int8()}), None, 8),
    "union": (None, None, 8),
}
"""Types, a value of each, and the bytes that are counted of a value at least."""
ARRAY = 1 << 18


def long_list(name: str, length: int, *, dictionary: bool) -> bytes:
    """A file of three lists, of which the middle one is long."""
    kind, value, _ = ELEMENTS[name]
    count = length + 1
    if kind is None:
        tags, offsets = pa.array([0] * count, pa.int8()), pa.array(range(count), pa.int32())
        elements = pa.UnionArray.from_dense(tags, offsets, [pa.array([1] * count), pa.array([], pa.string())])
    else:
        elements = pa.array([value], kind).take(pa.array([0] * count))
    offsets = pa.array([0, 0, length, count], pa.int32())
    lists = pa.ListArray.from_arrays(offsets, elements)
    maps = pa.MapArray.from_arrays(offsets, pa.array(range(count)), elements)
    return written(pa.table({"id": [0, 1, 2], "list": lists, "map": maps}), dictionary=dictionary)


@each_case("name", ELEMENTS)
@each_case("column", ["list", "map"])
@each_case("dictionary", [False, True])
def test_what_can_be_read_can_be_passed_over(name: str, column: str, dictionary: bool) -> None:
    """A value that is too large to be read is not skipped either, as skipping could take hours."""
    limits = {"memory": 4 * ARRAY}
    file = orcish.ORCFile(long_list(name, ARRAY // 40, dictionary=dictionary), limits=limits)
    for row, length in ((1, ARRAY // 40), (2, 1)):
        (found,) = file.read(columns=[column], filters=col("id") == row)[column]
        assert len(found) == length
    width = max(ELEMENTS[name][2], 8 if column == "map" else 1)
    file = orcish.ORCFile(long_list(name, ARRAY // width + 1, dictionary=dictionary), limits=limits)
    for row in (1, 2):
        with pytest.raises(orcish.LimitExceededError):
            file.read(columns=[column], filters=col("id") == row)
    file = orcish.ORCFile(long_list(name, ARRAY // width, dictionary=dictionary), limits=limits)
    assert file.read(columns=[column], filters=col("id") == 2).num_rows == 1


def test_row_groups_are_checked_to_their_end() -> None:
    """Large row groups are checked in parts: recorded statistics are compared with all rows."""
    for stride in (0, 1000, UNEVEN.num_rows):
        file = written(UNEVEN, row_index_stride=stride, compression="uncompressed", dictionary=False)
        text = UNEVEN["text"][2990].as_py() or UNEVEN["text"][2991].as_py()
        other = bytearray(file)
        at = file.index(text.encode())
        # It is above all others.
        other[at : at + 1] = b"~"
        for pieces in (1, 7, 500, 65_536):
            with buffer_sizes.of({"ROWS_INSPECTED": pieces, "ROWS_WITHOUT_INDEX": 700}):
                assert orcish.ORCFile(file).check() == []
                assert any("greatest" in finding.message for finding in orcish.ORCFile(bytes(other)).check())


@each_case("kind", ["long", "struct of long", "list of nothing"])
def test_rows_may_be_more_than_the_bytes_allowed(kind: str) -> None:
    """The number of rows with stored bytes is not bounded by the memory limit. Rows without bytes are bounded."""
    rows, long = 4 << 20, orc_builder.column_type(orc_builder.LONG)
    types, streams = {
        "long": ([long], [(1, orc_builder.DATA, orc_builder.zeros(rows // 512))]),
        "struct of long": (
            [orc_builder.column_type(orc_builder.STRUCT, [2], ["y"]), long],
            [(2, orc_builder.DATA, orc_builder.zeros(rows // 512))],
        ),
        "list of nothing": (
            [orc_builder.column_type(orc_builder.LIST, [2]), orc_builder.column_type(orc_builder.STRUCT)],
            [(1, orc_builder.LENGTH, orc_builder.zeros(rows // 512))],
        ),
    }[kind]
    data = orc_builder.orc([orc_builder.column_type(orc_builder.STRUCT, [1], ["x"]), *types], [(rows, streams)])
    limits = {"memory": 2 << 20}
    assert sum(map(len, orcish.ORCFile(data, limits=limits).iter_batches())) == rows
    data = orc_builder.orc(
        [orc_builder.column_type(orc_builder.STRUCT, [1], ["x"]), orc_builder.column_type(orc_builder.STRUCT)],
        [(rows, [])],
    )
    with pytest.raises(orcish.LimitExceededError, match="rows for which nothing is stored"):
        sum(map(len, orcish.ORCFile(data, limits=limits).iter_batches()))
