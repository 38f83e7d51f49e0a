"""Random schemas and rows, written by pyarrow and by pyorc with random options, come back as they were."""

import datetime as dt
from decimal import Decimal

import orcish
import pyarrow as pa
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from pyorc import CompressionKind, StructRepr
from support.cpp_writers import write_arrow, write_rows
from support.random_cases import examples

EXAMPLES = examples(100, suppress_health_check=list(HealthCheck))
UTC = dt.timezone.utc
# Dates from the Gregorian calendar's first day on, timestamps that 64 bits of nanoseconds hold: pyarrow writes those.
FIRST, LAST = dt.datetime(1680, 1, 1), dt.datetime(2260, 1, 1)


def whole_seconds_before_1970(value):
    """The second before 1970 cannot be stored with a fraction."""
    return value.replace(microsecond=0) if -1 < (value - dt.datetime(1970, 1, 1)).total_seconds() < 0 else value


text = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=12)
moments = st.datetimes(FIRST, LAST).map(whole_seconds_before_1970)


def integers(bits):
    bound = 1 << (bits - 1)
    return st.integers(-bound, bound - 1) | st.integers(-5, 5).map(lambda n: max(-bound, min(bound - 1, n)))


def decimals(precision, scale):
    bound = 10**precision - 1
    return st.integers(-bound, bound).map(lambda n: Decimal((n < 0, tuple(map(int, str(abs(n)))), -scale)))


LEAVES = [
    (pa.bool_(), "boolean", st.booleans()),
    (pa.int8(), "tinyint", integers(8)),
    (pa.int16(), "smallint", integers(16)),
    (pa.int32(), "int", integers(32)),
    (pa.int64(), "bigint", integers(64)),
    (pa.float32(), "float", st.floats(width=32, allow_nan=False)),
    (pa.float64(), "double", st.floats(allow_nan=False)),
    (pa.string(), "string", text | st.sampled_from(["a", "b", ""])),
    (pa.binary(), "binary", st.binary(max_size=20)),
    (pa.date32(), "date", st.dates(dt.date(1582, 10, 15))),
    (pa.timestamp("ns"), "timestamp", moments),
    (pa.timestamp("ns", "UTC"), "timestamp with local time zone", moments.map(lambda t: t.replace(tzinfo=UTC))),
    *((pa.decimal128(p, s), f"decimal({p},{s})", decimals(p, s)) for p, s in ((5, 2), (18, 0), (18, 18), (38, 7))),
]


def lists(inner):
    arrow, orc, values = inner
    return pa.list_(arrow), f"array<{orc}>", st.lists(values | st.none(), max_size=4)


def maps(inner):
    arrow, orc, values = inner
    return pa.map_(pa.string(), arrow), f"map<string,{orc}>", st.dictionaries(text, values | st.none(), max_size=3)


def structs(inner):
    fields = [(f"f{i}", *field) for i, field in enumerate(inner)]
    return (
        pa.struct([(name, arrow) for name, arrow, _, _ in fields]),
        f"struct<{','.join(f'{name}:{orc}' for name, _, orc, _ in fields)}>",
        st.fixed_dictionaries({name: values | st.none() for name, _, _, values in fields}),
    )


def grow(inner):
    return inner.map(lists) | inner.map(maps) | st.lists(inner, min_size=1, max_size=3).map(structs)


types = st.recursive(st.sampled_from(LEAVES), grow, max_leaves=4)


@st.composite
def tables(draw):
    """Columns of some types, and rows: few distinct ones, many times over."""
    columns = draw(st.lists(types, min_size=1, max_size=4))
    distinct = draw(st.lists(st.tuples(*(values | st.none() for _, _, values in columns)), min_size=1, max_size=12))
    order = draw(
        st.lists(st.tuples(st.integers(0, len(distinct) - 1), st.sampled_from([1, 1, 2, 3, 9, 60, 600])), max_size=12)
    )
    rows = [distinct[index] for index, times in order for _ in range(times)]
    return columns, rows


reading = st.fixed_dictionaries(
    {"batch_size": st.sampled_from([1, 7, 100, 65_536]), "threads": st.sampled_from([1, 2])},
    optional={"strings": st.sampled_from(["large", "view", "dictionary"])},
)


def plain(value):
    """Rows as Python has them: maps as dictionaries, decimals and timestamps by their values."""
    if isinstance(value, list):
        if value and all(isinstance(pair, tuple) for pair in value):
            return {key: plain(inner) for key, inner in value}
        return [plain(inner) for inner in value]
    if isinstance(value, dict):
        return {key: plain(inner) for key, inner in value.items()} or []
    return value


def check(file, rows, options):
    table = orcish.read_table(file, **options)
    table.validate(full=True)
    got = [
        plain(column.to_pylist()) if column.type.num_fields == 0 else [plain(v) for v in column.to_pylist()]
        for column in table.columns
    ]
    want = [[plain(row[i]) for row in rows] for i in range(table.num_columns)]
    assert got == want


@EXAMPLES
@given(
    tables(),
    reading,
    st.fixed_dictionaries(
        {
            "compression": st.sampled_from(["uncompressed", "zlib", "snappy", "lz4", "zstd"]),
            "file_version": st.sampled_from(["0.11", "0.12"]),
            "dictionary_key_size_threshold": st.sampled_from([0.0, 0.5, 1.0]),
            "batch_size": st.sampled_from([1, 10, 1024]),
            "stripe_size": st.sampled_from([1024, 64 << 20]),
            "row_index_stride": st.sampled_from([1000, 10_000]),
        }
    ),
)
def test_what_pyarrow_writes(data, options, writing):
    columns, rows = data
    arrays = [
        # pyarrow takes lists of pairs for maps, and nothing else.
        pa.array([pairs(row[i], arrow) for row in rows], arrow)
        for i, (arrow, _, _) in enumerate(columns)
    ]
    table = pa.table(arrays, names=[f"c{i}" for i in range(len(columns))])
    check(write_arrow(table, **writing), rows, options)


def pairs(value, kind):
    if value is None:
        return None
    if pa.types.is_map(kind):
        return [(key, pairs(inner, kind.item_type)) for key, inner in value.items()]
    if pa.types.is_list(kind):
        return [pairs(inner, kind.value_type) for inner in value]
    if pa.types.is_struct(kind):
        return {field.name: pairs(value[field.name], field.type) for field in kind}
    return value


@EXAMPLES
@given(
    tables(),
    reading,
    st.fixed_dictionaries(
        {
            "compression": st.sampled_from([kind for kind in CompressionKind if kind.name != "LZO"]),
            "compression_block_size": st.sampled_from([64, 1024, 65_536]),
            "dict_key_size_threshold": st.sampled_from([0.0, 0.5, 1.0]),
            "batch_size": st.sampled_from([1, 10, 1024]),
            "stripe_size": st.sampled_from([1024, 64 << 20]),
            "row_index_stride": st.sampled_from([0, 100, 10_000]),
        }
    ),
)
def test_what_pyorc_writes(data, options, writing):
    columns, rows = data
    schema = ",".join(f"c{i}:{orc}" for i, (_, orc, _) in enumerate(columns))
    named = [{f"c{i}": value for i, value in enumerate(row)} for row in rows]
    writing["memory_block_size"] = min(writing["compression_block_size"], 1024)
    file = write_rows(f"struct<{schema}>", named, struct_repr=StructRepr.DICT, **writing)
    check(file, rows, options)
