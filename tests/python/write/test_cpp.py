"""What orcish writes, ORC's C++ library reads: pyarrow, and pyorc with seeks and predicates, which use our row index."""

from __future__ import annotations

import datetime as dt
import functools
import io
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pyarrow.dataset
import pyarrow.orc
import pyorc
import pytest
from pyorc import TypeKind
from pyorc.predicates import Predicate, PredicateColumn
from support.orc_cpp import SKIP, as_pyorc, empty_maps, rows_of
from support.random_cases import pairs
from support.writer_tables import COMBINATIONS, ROWS, STRIDE, assert_same, bloomed, comparable, table, union, written

PEER_FAULTS = [
    # (peer, what, what it says, where it comes from)
    ("C++", "brotli", "Unknown compression codec|brotli|not supported", "C++ has no brotli"),
    (
        "C++",
        "direct strings without bytes before the row",
        SKIP,
        "a skip of no bytes in a buffer that is not there yet; files of pyorc have it too",
    ),
]
"""What peers are known to do wrong."""
BROTLI = PEER_FAULTS[0][2]

WITHOUT_BROTLI = [each for each in COMBINATIONS if each[1]["compression"] != "brotli"]
INDEXED = [each for each in WITHOUT_BROTLI if each[1]["row_index_stride"]]


@functools.cache
def data() -> pa.Table:
    return table(unions=True)


@functools.cache
def file_of(title: str) -> bytes:
    options = dict(COMBINATIONS)[title]
    if options["row_index_stride"] and options["version"] == "0.12":
        options = {**options, "bloom_filter_columns": bloomed(data())}
    return written(data(), **options)


@functools.cache
def column_values(name: str) -> list[Any]:
    return [empty_maps(as_pyorc(value)) for value in data()[name].to_pylist()]


@pytest.mark.parametrize("title", [title for title, _ in WITHOUT_BROTLI])
def test_pyarrow_reads_all(title: str) -> None:
    file = pyarrow.orc.ORCFile(io.BytesIO(file_of(title)))
    assert_same(file.read(), data())
    chosen = ["deep", "s", "row", "l_o"]
    assert_same(file.read(columns=chosen).select(chosen), data().select(chosen))
    stripes = [file.read_stripe(at) for at in range(file.nstripes)]
    assert sum(stripe.num_rows for stripe in stripes) == ROWS


def test_pyarrow_filters(tmp_path: Any) -> None:
    path = tmp_path / "a.orc"
    path.write_bytes(file_of(f"zstd_0_12_{STRIDE}"))
    found = pyarrow.dataset.dataset(path, format="orc").to_table(filter=pyarrow.dataset.field("g") == 13)
    assert_same(found.drop_columns(["u", "l_u"]), data().slice(1300, 100).drop_columns(["u", "l_u"]))


@pytest.mark.parametrize("title", [title for title, _ in COMBINATIONS if title.startswith("brotli_0_12")])
def test_brotli_is_not_known_to_the_peer(title: str) -> None:
    """If this test fails, the peer supports brotli: include brotli in the tests above."""
    with pytest.raises(Exception, match=BROTLI):
        pyarrow.orc.ORCFile(io.BytesIO(file_of(title))).read()


@pytest.mark.parametrize("title", [title for title, _ in WITHOUT_BROTLI])
def test_pyorc_reads_all(title: str) -> None:
    rows = list(rows_of(file_of(title)))
    assert len(rows) == ROWS
    for name in data().column_names:
        assert [empty_maps(row[name]) for row in rows] == column_values(name), name


@pytest.mark.parametrize("title", [title for title, _ in INDEXED])
def test_pyorc_seeks(title: str) -> None:
    """Each column seeks to the first rows of row groups, and to other rows."""
    file = file_of(title)
    wanted = [*range(ROWS - 1, 0, -211), *(at + by for at in range(0, ROWS, STRIDE) for by in (0, 1, 9))]
    for name in data().column_names:
        reader = rows_of(file, column_names=[name])
        want = column_values(name)
        skipped = 0
        for row in wanted:
            try:
                reader.seek(row)
                assert empty_maps(next(reader)[name]) == want[row], (name, row)
            except pyorc.errors.ParseError as error:
                if str(error) != SKIP:
                    raise
                skipped += 1
                reader = rows_of(file, column_names=[name])
        assert skipped <= len(wanted) * 0.6, name


@pytest.mark.parametrize("title", [title for title, _ in INDEXED][:4])
def test_pyorc_reads_stripes(title: str) -> None:
    reader = rows_of(file_of(title), column_names=["row", "o", "l_s"])
    first = 0
    for stripe in reader.iter_stripes():
        stripe.seek(len(stripe) - 5)
        assert [row["row"] for row in stripe] == list(range(first + len(stripe) - 5, first + len(stripe)))
        first += len(stripe)
    assert first == ROWS


KINDS: dict[str, TypeKind] = {
    "row": TypeKind.LONG,
    "k": TypeKind.LONG,
    "g": TypeKind.INT,
    "i8": TypeKind.BYTE,
    "i16": TypeKind.SHORT,
    "i32": TypeKind.INT,
    "i64": TypeKind.LONG,
    "f32": TypeKind.FLOAT,
    "f64": TypeKind.DOUBLE,
    "s": TypeKind.STRING,
    "s0": TypeKind.STRING,
    "w": TypeKind.STRING,
    "day": TypeKind.DATE,
    "d9": TypeKind.DECIMAL,
    "d18": TypeKind.DECIMAL,
    "d38": TypeKind.DECIMAL,
    "o": TypeKind.BOOLEAN,
    "t": TypeKind.TIMESTAMP,
    "t0": TypeKind.TIMESTAMP,
}
ASKED: dict[str, tuple[Callable[[PredicateColumn, Any], Predicate], Callable[[Any, Any], bool]]] = {
    "=": (lambda column, value: column == value, lambda found, value: found == value),
    "<": (lambda column, value: column < value, lambda found, value: found < value),
    ">=": (lambda column, value: column >= value, lambda found, value: found >= value),
}


def predicate_column(name: str) -> PredicateColumn:
    kind = data().schema.field(name).type
    more = {"precision": kind.precision, "scale": kind.scale} if pa.types.is_decimal(kind) else {}
    return PredicateColumn(KINDS[name], name=name, **more)


PRUNED = [f"zlib_0_11_{STRIDE}", f"zstd_0_12_{STRIDE}"]
PLACES = [0, 0.5, 1]
"""Where a value is among those of its column."""
QUERIES = set(pairs(PRUNED, KINDS, PLACES, ASKED))


@pytest.mark.parametrize("title", PRUNED)
@pytest.mark.parametrize("name", KINDS)
def test_pyorc_prunes(title: str, name: str) -> None:
    """Row groups that are not pruned have all matching rows, unchanged."""
    found = column_values(name)
    there = sorted({value for value in found if value is not None})
    rest = ["row", "g", "o", "i8", "i320", "f64", "t", "d18", "l_o", "l_i64", "m_i", "u"]
    for place in PLACES:
        value = there[round(place * (len(there) - 1))]
        for symbol, (make, holds) in ASKED.items():
            if (title, name, place, symbol) not in QUERIES:
                continue
            predicate = make(predicate_column(name), value)
            rows = list(rows_of(file_of(title), predicate=predicate, column_names=sorted({*rest, name})))
            want = {at for at, each in enumerate(found) if each is not None and holds(each, value)}
            assert want <= {row["row"] for row in rows}, (symbol, value)
            if name == "row" and symbol == "=":
                assert len(rows) <= STRIDE
            for row in rows[:: max(1, len(rows) // 100)]:
                for other, got in row.items():
                    assert empty_maps(got) == column_values(other)[row["row"]], (symbol, value, other)


def test_pruning_is_exact_where_values_are_apart() -> None:
    """Row groups are pruned for each type, so that the tests above are meaningful."""
    by_group = {
        "n": (pa.array([row // 1000 * 10 for row in range(5000)]), TypeKind.LONG, 30),
        "f": (pa.array([row // 1000 * 10.5 for row in range(5000)]), TypeKind.DOUBLE, 31.5),
        "s": (pa.array([f"v{row // 1000}" for row in range(5000)]), TypeKind.STRING, "v3"),
        "d": (pa.array([dt.date(2000, 1, 1 + row // 1000) for row in range(5000)]), TypeKind.DATE, dt.date(2000, 1, 4)),
        "t": (
            pa.array([dt.datetime(2000, 1, 1 + row // 1000) for row in range(5000)]),
            TypeKind.TIMESTAMP,
            dt.datetime(2000, 1, 4, tzinfo=dt.timezone.utc),
        ),
    }
    rows = pa.table({"row": range(5000), **{name: array for name, (array, _, _) in by_group.items()}})
    file = written(rows, row_index_stride=1000)
    for name, (_, kind, value) in by_group.items():
        found = list(rows_of(file, predicate=PredicateColumn(kind, name=name) == value))
        assert [row["row"] for row in found] == list(range(3000, 4000)), name


def test_bloom_filters_leave_row_groups_out() -> None:
    """The values are within the bounds of every row group, and in one of them."""
    rows = 5000
    spread = [row * 7919 % rows * 2 for row in range(rows)]
    data = pa.table({"row": range(rows), "n": spread, "s": [f"v{value:06}" for value in spread]})
    file = written(data, row_index_stride=1000, bloom_filter_columns=["n", "s"], bloom_filter_fpp=0.001)
    absent = list(rows_of(file, predicate=PredicateColumn(TypeKind.LONG, name="n") == 4445))
    assert absent == []
    for at in range(0, rows, 501):
        for predicate in (
            PredicateColumn(TypeKind.LONG, name="n") == spread[at],
            PredicateColumn(TypeKind.STRING, name="s") == f"v{spread[at]:06}",
        ):
            found = [row["row"] for row in rows_of(file, predicate=predicate)]
            assert at in found
            assert len(found) <= 2000


def test_unions_with_nulls() -> None:
    array = union("nulls of C++", 3000, nulls=True)
    file = written(pa.table({"u": array}), row_index_stride=1000)
    assert [row["u"] for row in rows_of(file)] == array.to_pylist()
    back = pyarrow.orc.read_table(io.BytesIO(file))["u"].to_pylist()
    assert [comparable(value) for value in back] == [comparable(value) for value in array.to_pylist()]
