"""Statistics of files and stripes, against what is computed from the rows."""

import pathlib

import orcish
import pyarrow as pa
import pytest
from support.case_loops import each_case
from support.column_statistics import COLUMNS, KINDS, ROWS, expect
from support.cpp_writers import write_arrow, write_rows

DATA = pathlib.Path(__file__).parents[2] / "data"


def by_pyarrow():
    table = pa.table({name: pa.array(values, KINDS[name][2]) for name, values in COLUMNS.items()})
    return write_arrow(table, stripe_size=100_000, batch_size=1000)


def by_pyorc():
    schema = ",".join(f"{name}:{KINDS[name][1]}" for name in COLUMNS)
    rows = list(zip(*COLUMNS.values(), strict=True))
    return write_rows(f"struct<{schema}>", rows, stripe_size=50_000, batch_size=1000, memory_block_size=4096)


@each_case("write", [by_pyarrow, by_pyorc])
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
    """Bounds of invalid UTF-8 are left out."""
    values = pa.array([b"a", b"caf\xe9", b"\xff\xfe"])
    texts = pa.Array.from_buffers(pa.string(), len(values), values.buffers())
    file = orcish.ORCFile(write_arrow({"s": texts}))
    for found in [file.statistics("s"), *file.stripe_statistics("s")]:
        assert (found.min, found.min_is_exact, found.max, found.max_is_exact) == ("a", True, None, None)
        assert (found.values, found.total_length) == (3, 7)
