"""Columns are selected as by ``pyarrow.orc``."""

from __future__ import annotations

import io
from typing import Any

import orcish
import pyarrow as pa
import pyarrow.orc
import pytest
from orcish.compat import pyarrow_orc
from support.orc_builder import LONG, STRUCT, column_type, orc

PAIR = pa.struct([("u", pa.int64()), ("v", pa.string())])
ROW = {"u": 1, "v": "x"}
TABLE = pa.table(
    {
        "a": pa.array([1, 2]),
        "s": pa.array([{"x": 1, "y": {"z": 2, "w": "q"}}, None]),
        "l": pa.array([[ROW, None], None], pa.list_(PAIR)),
        "ll": pa.array([[[ROW], None], []], pa.list_(pa.list_(PAIR))),
        "m": pa.array([[("k", ROW)], None], pa.map_(pa.string(), PAIR)),
        "dot.ted": pa.array([{"a.b": 5, "c": 6}, None], pa.struct([("a.b", pa.int32()), ("c", pa.int8())])),
        "un": pa.UnionArray.from_sparse(
            pa.array([0, 1], pa.int8()), [pa.array([ROW, ROW], PAIR), pa.array(["p", "q"])]
        ),
        "z": pa.array(["p", None]),
    }
)


@pytest.fixture(scope="module")
def data() -> bytes:
    """A file of pyarrow."""
    file = io.BytesIO()
    pyarrow.orc.write_table(TABLE, file)
    return file.getvalue()


def both(data: bytes) -> tuple[Any, Any]:
    return pyarrow.orc.ORCFile(pa.BufferReader(data)), pyarrow_orc.ORCFile(pa.BufferReader(data))


SELECTIONS: list[Any] = [
    None,
    ["a"],
    ["z", "a"],
    ["a", "a"],
    ["s.x"],
    ["s.y"],
    ["s.y.w"],
    ["s.y.w", "s.x"],
    ["s", "s.x"],
    ["s.y.z", "s"],
    ["l.u"],
    ["l.v", "a"],
    ["ll.u"],
    ["m"],
    ["dot.ted"],
    ["dot.ted.a.b"],
    ["dot.ted.c", "dot.ted.a.b"],
    ["un"],
    ["un.u"],
    [0],
    [7, 0],
    [1, 2, 6],
    ("a", "z"),
    {"a"},
    {"a": 1, "z": 2}.keys(),
    "az",
    [b"a"],
    iter(["a"]),
]


@pytest.mark.parametrize("columns", SELECTIONS, ids=[f"{at}" for at in range(len(SELECTIONS))])
def test_selections(columns: Any, data: bytes) -> None:
    theirs, ours = both(data)
    is_iterator = not hasattr(columns, "__len__") and columns is not None
    # pyarrow takes the first name from an iterator before it reads, and forgets it.
    first, second = ([*columns], iter(["a"])) if is_iterator else (columns, columns)
    found = ours.read(second)
    assert found.equals(theirs.read(first), check_metadata=True)
    again = {"columns": first}
    assert ours.read_stripe(0, **again).equals(theirs.read_stripe(0, **again), check_metadata=True)
    assert pyarrow_orc.read_table(pa.BufferReader(data), first).equals(found)
    ours.read(first).validate(full=True)


@pytest.mark.parametrize(
    ("name", "value"),
    [("m.u", [("k", {"u": 1})]), ("m.v", [("k", {"v": "x"})])],
)
def test_fields_of_map_values(name: str, value: Any, data: bytes) -> None:
    """The keys come along. pyarrow ends the process for these names."""
    _, ours = both(data)
    assert ours.read([name]).to_pylist() == [{"m": value}, {"m": None}]
    assert ours.read_stripe(0, [name]).to_pylist() == [{"m": value}, {"m": None}]


def test_names_of_orcish_are_not_those_of_pyarrow(data: bytes) -> None:
    for file in both(data):
        for name in ("l.element", "l.item.u", "m.key", "m.value", "un.field0", "un._union_0"):
            with pytest.raises(OSError, match=r".+"):
                file.read([name])


def test_no_columns(data: bytes) -> None:
    """The rows are counted. ``ORCFile.read`` of pyarrow loses their number."""
    for table in (pyarrow_orc.read_table(pa.BufferReader(data), []), both(data)[1].read([])):
        assert (table.num_rows, table.num_columns) == (2, 0)
    assert pyarrow.orc.read_table(pa.BufferReader(data), []).num_rows == 2
    batch = both(data)[1].read_stripe(0, [])
    assert (batch.num_rows, batch.num_columns) == (2, 0)


def test_names_that_are_there_twice() -> None:
    """The last column of a name counts, and each has its index. pyarrow takes the last one for all indexes."""
    file = io.BytesIO()
    pyarrow.orc.write_table(pa.table([pa.array([1]), pa.array([2])], ["a", "a"]), file)
    theirs, ours = both(file.getvalue())
    assert ours.read(["a"]).equals(theirs.read(["a"]))
    assert ours.read(["a"]).columns[0].to_pylist() == [2]
    assert [ours.read([at]).columns[0].to_pylist() for at in (0, 1)] == [[1], [2]]
    assert ours.read().equals(theirs.read())


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        (pa.int32(), [1, None]),
        (pa.list_(PAIR), [[ROW], None]),
        (pa.map_(pa.string(), PAIR), [[("k", ROW)], []]),
    ],
)
def test_roots_that_are_no_structs(kind: Any, values: Any) -> None:
    """Their table has one column. pyarrow does not read such files."""
    data = root_of(pa.array(values, kind))
    file = pyarrow_orc.ORCFile(pa.BufferReader(data))
    assert file.schema.names == ["value"]
    assert file.read()["value"].to_pylist() == values
    assert file.read([0]).equals(file.read())
    assert file.read(["value"]).equals(file.read())
    if pa.types.is_list(kind):
        assert file.read(["u"])["value"].to_pylist() == [[{"u": 1}], None]


def root_of(values: pa.Array) -> bytes:
    """A file whose root has the values."""
    import pyorc

    def plain(value: Any) -> Any:
        if isinstance(value, list):
            return dict(map(plain, value)) if value and isinstance(value[0], tuple) else list(map(plain, value))
        if isinstance(value, tuple):
            return value[0], plain(value[1])
        return tuple(value.values()) if isinstance(value, dict) else value

    schema = orcish.ORCFile(written(values)).column_types[1]
    file = io.BytesIO()
    with pyorc.Writer(file, schema) as writer:
        for value in values.to_pylist():
            writer.write(dict(value) if value == [] and "map" in schema else plain(value))
    return file.getvalue()


def written(values: pa.Array) -> bytes:
    file = io.BytesIO()
    orcish.write_table(pa.table({"v": values}), file)
    return file.getvalue()


def test_files_without_rows() -> None:
    file = io.BytesIO()
    pyarrow.orc.write_table(TABLE.slice(0, 0), file)
    theirs, ours = both(file.getvalue())
    assert ours.nstripes == theirs.nstripes == 0
    assert ours.read().equals(theirs.read(), check_metadata=True)
    assert ours.read(["un.u", "a"]).schema.names == ["a", "un"]


def test_stripes_without_rows() -> None:
    """The batch has the columns."""
    union = 13
    types = [column_type(STRUCT, [1, 2], ["a", "un"]), column_type(LONG), column_type(union, [3]), column_type(LONG)]
    theirs, ours = both(orc(types, [(0, [])]))
    assert ours.nstripes == 1
    batch = ours.read_stripe(0)
    assert batch.num_rows == 0
    assert batch.schema.equals(theirs.schema)
    assert ours.read_stripe(0, []).num_columns == 0
