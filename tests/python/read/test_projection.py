"""Which columns are read: names, ids, their order, and that nothing else of the file is touched."""

import datetime as dt
import io
from decimal import Decimal

import orcish
import pytest
from pyorc import CompressionKind, StructRepr
from support.case_loops import each_case
from support.cpp_writers import write_arrow, write_rows
from support.orc_layout import layout

SCHEMA = "struct<id:int,nest:struct<a:int,b:struct<c:string,d:int>>,l:array<struct<x:int,y:string>>,m:map<string,struct<p:int,q:int>>,`dot.ted`:int,ll:array<array<int>>>"
ROWS = [(i, (i * 2, (f"c{i}", i * 3)), [(i, f"y{i}"), None], {f"k{i}": (i, -i)}, i * 7, [[i], []]) for i in range(50)]


@pytest.fixture(scope="module")
def file():
    return orcish.ORCFile(write_rows(SCHEMA, ROWS))


def first(file, *columns):
    return file.read(columns=list(columns)).to_pylist()[1]


def test_order_is_as_asked(file):
    assert file.read(columns=["l", "id"]).column_names == ["l", "id"]
    assert file.read(columns=["id", "l"]).column_names == ["id", "l"]
    assert file.read(columns=["ll", "nest", "dot.ted"]).schema.names == ["ll", "nest", "dot.ted"]
    assert first(file, "nest.b.d", "nest.a") == {"nest": {"b": {"d": 3}, "a": 2}}


@each_case(
    ("name", "want"),
    [
        ("id", {"id": 1}),
        ("nest.a", {"nest": {"a": 2}}),
        ("nest.b", {"nest": {"b": {"c": "c1", "d": 3}}}),
        ("nest.b.c", {"nest": {"b": {"c": "c1"}}}),
        ("l.element.y", {"l": [{"y": "y1"}, None]}),
        ("l.item.y", {"l": [{"y": "y1"}, None]}),
        ("l.y", {"l": [{"y": "y1"}, None]}),
        ("l.element", {"l": [{"x": 1, "y": "y1"}, None]}),
        ("m.value.q", {"m": [("k1", {"q": -1})]}),
        ("m.q", {"m": [("k1", {"q": -1})]}),
        ("m.value", {"m": [("k1", {"p": 1, "q": -1})]}),
        ("dot.ted", {"dot.ted": 7}),
        ("ll.element.element", {"ll": [[1], []]}),
        ("ll.item.item", {"ll": [[1], []]}),
    ],
)
def test_names(file, name, want):
    assert first(file, name) == want


def test_names_with_dots():
    """If a name can mean two columns, the longest field name wins."""
    rows = [((1,), 2, 3)]
    dotted = orcish.ORCFile(write_rows("struct<a:struct<b:int>,`a.b`:int,`a.b.c`:int>", rows))
    assert dotted.read(columns=["a.b"]).to_pylist() == [{"a.b": 2}]
    assert dotted.read(columns=["a.b.c"]).to_pylist() == [{"a.b.c": 3}]
    assert dotted.read(columns=["a"]).to_pylist() == [{"a": {"b": 1}}]


def test_ids(file):
    paths = file.column_paths
    assert paths[:6] == ["", "id", "nest", "nest.a", "nest.b", "nest.b.c"]
    assert first(file, paths.index("nest.b.d"), paths.index("id")) == {"nest": {"b": {"d": 3}}, "id": 1}
    with pytest.raises(
        ValueError, match=r"columns=\[0, 2\]: 0 is the root, and so all columns: numbers are column ids"
    ):
        file.read(columns=[0, 2])
    root = orcish.ORCFile(write_rows("int", [1, 2]))
    assert root.read(columns=[0]).equals(root.read())
    for id, path in enumerate(paths[1:], 1):
        assert file.read(columns=[id]).equals(file.read(columns=[path])), path
    with pytest.raises(orcish.UnknownColumnError, match="no column has id 99"):
        file.read(columns=[99])


def test_what_overlaps_is_read_once(file):
    for columns in (["id", "nest.a", "id"], ["nest.a", "nest.a"]):
        with pytest.raises(ValueError, match=f"'{columns[-1]}' is given twice"):
            file.read(columns=columns)
    assert file.read(columns=["nest.a", "id", "nest.b"]).column_names == ["nest", "id"]
    assert first(file, "nest.a", "nest", "nest.b.c") == {"nest": {"a": 2, "b": {"c": "c1", "d": 3}}}


@each_case(
    ("name", "nearest"),
    [("ID", "id"), ("nest.A", "nest.a"), ("nest.b.e", "nest.b.c"), ("dot", "id"), ("l.z", "l"), ("nset", "nest")],
)
def test_unknown_names_are_errors_with_the_nearest(file, name, nearest):
    with pytest.raises(orcish.UnknownColumnError) as caught:
        file.read(columns=["id", name])
    text = str(caught.value)
    assert f'"{name}"' in text
    assert nearest in text.partition("nearest: ")[2].split(", ")
    assert isinstance(caught.value, KeyError)
    assert isinstance(caught.value, orcish.OrcishError)


def test_one_column_is_as_among_all(file):
    native = file._file
    for id, (path, kind) in enumerate(zip(file.column_paths, file.column_types, strict=True)):
        assert (native.column_id(path) if path else 0, native.column_type(id)) == (file.column_paths.index(path), kind)
    for other in (".", "nest.", "nest.b.", "item", "ID"):
        with pytest.raises(orcish.UnknownColumnError):
            native.column_id(other)


def test_empty_names(file):
    for name in ("", ".", "nest.", ".id", "nest..a"):
        with pytest.raises(orcish.UnknownColumnError):
            file.read(columns=[name])


def test_wrong_arguments(file):
    assert file.read(columns="id").column_names == ["id"]
    for columns in (7.5, [None], [1.5], ["id", 1]):
        with pytest.raises((TypeError, ValueError)):
            file.read(columns=columns)


def test_no_columns_keep_the_rows(file):
    table = file.read(columns=[])
    assert table.num_columns == 0
    assert sum(batch.num_rows for batch in file.iter_batches(columns=[])) == 50
    assert table.num_rows == 50


class Logged(io.BytesIO):
    """A file object that remembers what of it was read."""

    def __init__(self, data):
        super().__init__(data)
        self.ranges = []

    def read(self, size=-1, /):
        start = self.tell()
        data = super().read(size)
        self.ranges.append(range(start, start + len(data)))
        return data


def spread(ranges):
    return {byte for part in ranges for byte in part}


@each_case("compression", ["NONE", "ZLIB"])
def test_only_the_streams_of_the_columns_are_read(compression):
    """For every column, exactly its data streams are read. An independent parser finds the streams."""
    rows = 8000
    data = write_rows(
        "struct<i:int,s:string,nest:struct<a:bigint,b:struct<c:string,d:double>>,l:array<struct<x:int,y:string>>,"
        "m:map<string,bigint>,d:decimal(20,0),t:timestamp,u:uniontype<int,string>>",
        [
            {
                "i": i,
                "s": f"text {i * i}",
                "nest": {"a": i, "b": {"c": str(i), "d": i * 0.5}} if i % 5 else None,
                "l": [{"x": i, "y": str(i)}] * (i % 3),
                "m": {str(i): i},
                "d": Decimal(i),
                "t": dt.datetime(2020, 1, 1) + dt.timedelta(seconds=i * i),
                "u": i if i % 2 else str(i),
            }
            for i in range(rows)
        ],
        struct_repr=StructRepr.DICT,
        compression=CompressionKind[compression],
        compression_block_size=1024,
        memory_block_size=1024,
        stripe_size=20_000,
        batch_size=400,
    )
    found = layout(data)
    source = Logged(data)
    file = orcish.ORCFile(source)
    assert file.num_stripes == len(found.stripe_footers) > 4
    tail = file.tail_bytes()
    footers = spread(found.stripe_footers)
    whole = file.read()
    types = file.column_types
    paths = file.column_paths

    def related(id):
        """The columns that reading one needs: those above and below, keys of maps and variants of unions on the way."""
        path, needed = paths[id], {0, id}
        for other, name in enumerate(paths):
            if name and (path.startswith(f"{name}.") or name.startswith(f"{path}.")):
                needed.add(other)
                if types[other].startswith("map"):
                    needed |= {at for at, child in enumerate(paths) if child == f"{name}.key"}
                if types[other].startswith("uniontype"):
                    needed |= {at for at, child in enumerate(paths) if child.startswith(f"{name}.")}
        return needed

    for id in range(1, len(paths)):
        if paths[id].endswith(".key"):
            continue  # Keys come with their values.
        source.ranges.clear()
        part = orcish.ORCFile(source, tail=tail).read(columns=[id], threads=1)
        touched = spread(source.ranges)
        needed = spread(found.data_ranges(related(id)))
        assert touched == needed | footers, paths[id]
        # No byte twice.
        assert sum(map(len, source.ranges)) == len(touched), paths[id]
        top = paths[id].split(".")[0]
        assert part.column_names == [top]
        if paths[id] == top:
            assert part[top].equals(whole[top])


def test_footers_alone_for_no_columns(file):
    data = write_rows(SCHEMA, ROWS)
    source = Logged(data)
    tail = orcish.ORCFile(source).tail_bytes()
    source.ranges.clear()
    assert orcish.ORCFile(source, tail=tail).read(columns=[]).num_rows == 50
    found = layout(write_rows(SCHEMA, ROWS))
    assert spread(source.ranges) <= spread(found.stripe_footers)


def test_a_chosen_stripe_is_all_that_is_read():
    data = write_arrow({"a": list(range(50_000))}, stripe_size=8192, batch_size=1000)
    source = Logged(data)
    file = orcish.ORCFile(source)
    assert file.num_stripes > 3
    stripe = file.stripes[2]
    source.ranges.clear()
    table = file.read_stripe(2)
    assert table["a"].to_pylist() == list(range(stripe.first_row, stripe.first_row + stripe.num_rows))
    end = stripe.offset + stripe.index_length + stripe.data_length + stripe.footer_length
    assert spread(source.ranges) <= set(range(stripe.offset, end))


@each_case(
    ("options", "error", "text"),
    [
        ({"batch_size": -1}, ValueError, "batch_size=-1: must be at least 1"),
        ({"batch_size": "9"}, TypeError, "batch_size='9'"),
        ({"threads": -1}, ValueError, "threads=-1: must be at least 0"),
        ({"threads": 1 << 99}, ValueError, "threads=.*: is out of its range"),
        ({"stripes": [-1]}, ValueError, r"stripes\[0\]=-1: must be at least 0"),
        ({"stripes": [True]}, TypeError, r"stripes\[0\]=True: must be an integer"),
        ({"masked": True}, TypeError, "masked=True: must be a string, not bool"),
        ({"masked": "x"}, ValueError, "masked='x': must be one of error, allow"),
        ({"invalid_utf8": "5"}, ValueError, "invalid_utf8='5': must be one of error, replace, null, binary"),
        ({"columns": [-1]}, ValueError, r"columns=\[-1\]: must be names, or column ids from 0"),
        ({"columns": [None]}, TypeError, r"columns=\[None\]: must be names, or column ids from 0"),
        ({"columns": ["i", 1]}, TypeError, r"columns=\['i', 1\]: must be names"),
        ({"limits": {"memory": -1}}, ValueError, "limits: memory=-1: must not be negative"),
        ({"limits": {"memory": 10}}, orcish.LimitExceededError, r"\(limits: memory\)"),
    ],
    ids=str,
)
def test_options_that_are_wrong(options, error, text):
    with pytest.raises(error, match=text):
        orcish.read_table(write_rows(SCHEMA, ROWS), **options)
