"""Statistics of files and stripes, against what is computed from the rows."""

import datetime as dt
import decimal
import pathlib
from decimal import Decimal

import orcish
import pyarrow as pa
import pytest
from support import write_arrow, write_rows

ROWS = 12_000
UTC = dt.timezone.utc
START = dt.datetime(2020, 1, 1, 0, 0, 0)


def pick(i, value):
    return None if i % 10 == 3 else value


COLUMNS = {
    "i8": [pick(i, i % 200 - 100) for i in range(ROWS)],
    "i32": [i * 3 - 5000 for i in range(ROWS)],
    "i64": [pick(i, i * 10**12) for i in range(ROWS)],
    "f": [pick(i, i / 4 - 1000) for i in range(ROWS)],
    "s": [pick(i, f"{i * 7919 % ROWS:05d} ü") for i in range(ROWS)],
    "bin": [b"x" * (i % 9) for i in range(ROWS)],
    "bool": [pick(i, i % 3 == 0) for i in range(ROWS)],
    "dec": [pick(i, Decimal(i - 6000).scaleb(-2)) for i in range(ROWS)],
    "wide": [Decimal(i * 10**25 - 7).scaleb(-5, decimal.Context(prec=60)) for i in range(ROWS)],
    "date": [pick(i, dt.date(1990, 1, 1) + dt.timedelta(days=i)) for i in range(ROWS)],
    "t": [pick(i, START + dt.timedelta(milliseconds=i * 1001)) for i in range(ROWS)],
    "inst": [(START + dt.timedelta(milliseconds=i * 1001)).replace(tzinfo=UTC) for i in range(ROWS)],
    "null": [None] * ROWS,
}
DATA = pathlib.Path(__file__).parents[1] / "data"
KINDS = {
    "i8": ("integer", "tinyint", pa.int8()),
    "i32": ("integer", "int", pa.int32()),
    "i64": ("integer", "bigint", pa.int64()),
    "f": ("double", "double", pa.float64()),
    "s": ("string", "string", pa.string()),
    "bin": ("binary", "binary", pa.binary()),
    "bool": ("boolean", "boolean", pa.bool_()),
    "dec": ("decimal", "decimal(10,2)", pa.decimal128(10, 2)),
    "wide": ("decimal", "decimal(38,5)", pa.decimal128(38, 5)),
    "date": ("date", "date", pa.date32()),
    "t": ("timestamp", "timestamp", pa.timestamp("ns")),
    "inst": ("timestamp", "timestamp with local time zone", pa.timestamp("ns", "UTC")),
    "null": ("integer", "int", pa.int32()),
}


def by_pyarrow():
    table = pa.table({name: pa.array(values, KINDS[name][2]) for name, values in COLUMNS.items()})
    return write_arrow(table, stripe_size=100_000, batch_size=1000)


def by_pyorc():
    schema = ",".join(f"{name}:{KINDS[name][1]}" for name in COLUMNS)
    rows = list(zip(*COLUMNS.values(), strict=True))
    return write_rows(f"struct<{schema}>", rows, stripe_size=50_000, batch_size=1000, memory_block_size=4096)


def expect(statistics, kind, values, has_sums=True):
    """Whatever the writer kept is what the rows give. Java's sums of some types are not believed."""
    there = [value for value in values if value is not None]
    assert statistics.kind == kind
    assert statistics.values == len(there)
    assert statistics.has_null in (len(there) < len(values), None)
    if not there:
        assert statistics.min is statistics.max is None
        return
    if kind in ("integer", "double", "string", "decimal", "date", "timestamp"):
        assert (statistics.min, statistics.max) == (min(there), max(there))
    if kind == "integer":
        total = sum(there)
        assert statistics.sum == (total if -(2**63) <= total < 2**63 else None)
    if kind == "double":
        assert statistics.sum == (pytest.approx(sum(there)) if has_sums else None)
    if kind == "decimal":
        with decimal.localcontext(prec=60):
            assert statistics.sum in ((sum(there), None) if has_sums else (None,))
    if kind == "boolean":
        assert statistics.true_count == sum(there)
    if kind == "string":
        assert statistics.min_is_exact
        assert statistics.max_is_exact
        assert statistics.total_length == sum(len(value.encode()) for value in there)
    if kind == "binary":
        assert statistics.total_length == sum(map(len, there))


@pytest.mark.parametrize("write", [by_pyarrow, by_pyorc])
def test_files_and_stripes_of_cpp_writers(write):
    file = orcish.ORCFile(write())
    assert file.num_stripes > 1
    for name, values in COLUMNS.items():
        kind = KINDS[name][0]
        expect(file.statistics(name), kind, values)
        stripes = file.stripe_statistics(name)
        assert len(stripes) == file.num_stripes
        for stripe, statistics in zip(file.stripes, stripes, strict=True):
            expect(statistics, kind, values[stripe.first_row : stripe.first_row + stripe.num_rows])
    root = file.statistics("")
    assert root == file.statistics(0)
    assert (root.values, root.has_null) == (ROWS, False)


def test_the_root_as_the_one_column():
    file = orcish.ORCFile(DATA / "root.zlib.orc")
    assert file.schema.names == ["value"]
    assert file.statistics("value") == file.statistics(0)
    assert file.statistics("value").values == file.num_rows - file.read()["value"].null_count
    assert file.stripe_statistics("value") == file.stripe_statistics(0)
    with pytest.raises(orcish.UnknownColumnError, match="values"):
        file.statistics("values")
    with pytest.raises(orcish.UnknownColumnError, match="value"):
        orcish.ORCFile(by_pyorc()).statistics("value")


def test_files_and_stripes_of_spark(spark_orc):
    path = spark_orc(
        """select c.* from (select if(id % 10 = 3, null, struct(
               cast(id % 200 - 100 as tinyint) i8, id * 1000000000000 i64, id / 4 - 1000D f, lpad(id * 7919 % 12000, 5, '0') s,
               encode(repeat('x', cast(id % 9 as int)), 'utf-8') bin, id % 3 = 0 bool, cast(id / 100 as decimal(10, 2)) dec,
               date_add(date'1990-01-01', cast(id as int)) date,
               timestamp'2020-01-01' + make_interval(0, 0, 0, 0, 0, 0, id) t,
               array_repeat(id, cast(id % 4 as int)) l)) c from range(12000))""",
        **{"orc.stripe.size": "100000", "orc.stripe.row.count": "5000", "orc.compress": "zlib"},
    )
    file = orcish.ORCFile(path)
    rows = file.read()
    assert rows.num_rows == ROWS
    kinds = {
        "i8": "integer",
        "i64": "integer",
        "f": "double",
        "s": "string",
        "bin": "binary",
        "bool": "boolean",
        "dec": "decimal",
        "date": "date",
        "t": "timestamp",
    }
    for name, kind in kinds.items():
        values = rows[name].to_pylist()
        expect(file.statistics(name), kind, values, has_sums=False)
        stripes = file.stripe_statistics(name)
        assert len(stripes) == file.num_stripes
        for stripe, statistics in zip(file.stripes, stripes, strict=True):
            expect(statistics, kind, values[stripe.first_row : stripe.first_row + stripe.num_rows], has_sums=False)
        assert file.statistics(name).bytes_on_disk > 0
    # What Java's writer records of lists is the length of its own buffer, 1024.
    lists = file.statistics("l")
    assert (lists.kind, lists.min_children, lists.max_children, lists.total_children) == (
        "collection",
        None,
        None,
        None,
    )
    assert file.statistics("l.element").values == sum(len(row or []) for row in rows["l"].to_pylist())


def test_columns_below_and_unknown_ones():
    file = orcish.ORCFile(write_rows("struct<n:struct<a:int>,l:array<int>>", [((i,), [i, i + 1]) for i in range(10)]))
    # C++ counts the children of batches with nulls only.
    lists = file.statistics("l")
    assert (lists.kind, lists.min_children, lists.max_children, lists.total_children) == (
        "collection",
        None,
        None,
        None,
    )
    assert (file.statistics("n.a").min, file.statistics("n.a").max) == (0, 9)
    assert (file.statistics("l.element").values, file.statistics("l.element").max) == (20, 10)
    assert file.statistics(file.column_paths.index("n.a")) == file.statistics("n.a")
    with pytest.raises(orcish.UnknownColumnError, match=r"nearest: n\.a"):
        file.statistics("n.b")
    with pytest.raises(orcish.UnknownColumnError):
        file.statistics(17)


def test_nan_hides_bounds():
    file = orcish.ORCFile(write_rows("struct<f:double>", [(1.0,), (float("nan"),), (2.0,)]))
    assert file.statistics("f").min is file.statistics("f").max is None


def test_bounds_that_are_not_utf8():
    """There is no text for them, and another one would be none of the column."""
    values = pa.array([b"a", b"caf\xe9", b"\xff\xfe"])
    texts = pa.Array.from_buffers(pa.string(), len(values), values.buffers())
    file = orcish.ORCFile(write_arrow({"s": texts}))
    for found in [file.statistics("s"), *file.stripe_statistics("s")]:
        assert (found.min, found.min_is_exact, found.max, found.max_is_exact) == ("a", True, None, None)
        assert (found.values, found.total_length) == (3, 7)
