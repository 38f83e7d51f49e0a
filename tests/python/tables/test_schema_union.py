"""The union of the schemas of files is that of pyarrow, except where pyarrow's loses values or knows no union."""

import io
import itertools

import orcish
import pyarrow as pa
import pytest
from orcish.errors import OrcishError
from orcish.reading.orc_files import OrcFiles, UnifiedSchema, unified_schema
from orcish.tables.log.listing import table_files

INTEGERS = [pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64()]
DIGITS = dict(zip(INTEGERS, [3, 5, 10, 19, 3, 5, 10, 20], strict=True))
FLOATS = [pa.float16(), pa.float32(), pa.float64()]
SIGNIFICANDS = dict(zip(FLOATS, [11, 24, 53], strict=True))
DECIMALS = [pa.decimal128(5, 4), pa.decimal128(10, 2), pa.decimal128(38, 0), pa.decimal128(38, 20)]
LEAVES = [
    *(pa.bool_(), *INTEGERS, *FLOATS, *DECIMALS, pa.date32(), pa.date64()),
    *(pa.time32("s"), pa.time32("ms"), pa.time64("us"), pa.time64("ns"), pa.duration("s"), pa.duration("ns")),
    *(pa.timestamp("s"), pa.timestamp("ms"), pa.timestamp("ns"), pa.timestamp("us", "UTC"), pa.timestamp("ns", "UTC")),
    *(pa.string(), pa.large_string(), pa.binary(), pa.large_binary(), pa.binary(4), pa.binary(5)),
]
NESTED = [
    *(pa.list_(pa.int32()), pa.list_(pa.int64()), pa.large_list(pa.int8()), pa.list_(pa.int32(), 3)),
    *(pa.map_(pa.string(), pa.int32()), pa.map_(pa.string(), pa.int64())),
    *(
        pa.struct({"a": pa.int32()}),
        pa.struct({"a": pa.int64(), "b": pa.string()}),
        pa.struct({"b": pa.large_string()}),
    ),
    *(pa.list_(pa.struct({"a": pa.int8()})), pa.list_(pa.struct({"b": pa.int8()}))),
]
# Types for which pyarrow has no union, and orcish has one.
ENCODED = [
    *(pa.string_view(), pa.binary_view(), pa.dictionary(pa.int8(), pa.string())),
    *(pa.dictionary(pa.int32(), pa.large_string()), pa.run_end_encoded(pa.int32(), pa.string())),
]


def written(kind: pa.DataType, name: str = "x") -> bytes:
    out = io.BytesIO()
    orcish.write_table(pa.table({name: pa.array([None], kind)}), out)
    return out.getvalue()


def unified(*sources: bytes, case_sensitive: bool = True) -> UnifiedSchema:
    files = OrcFiles(table_files(list(sources), False, None).files, None, "name", None, None)
    return unified_schema(files.open({}), case_sensitive=case_sensitive)


def of_pyarrow(one: pa.DataType, other: pa.DataType) -> pa.DataType | None:
    schemas = [pa.schema({"x": kind}) for kind in (one, other)]
    try:
        return pa.unify_schemas(schemas, promote_options="permissive").field("x").type
    except pa.ArrowException:
        return None


def deliberate(one: pa.DataType, other: pa.DataType) -> pa.DataType | bool | None:
    """Where orcish differs from pyarrow: its union, or ``None`` where there is none; ``False`` elsewhere."""
    types = pa.types
    for first, second in ((one, other), (other, one)):
        if types.is_decimal(first) and types.is_floating(second):
            return None
        # Floating point numbers have whole numbers of as many bits as their significands.
        if types.is_integer(first) and types.is_floating(second):
            bits = first.bit_width - types.is_signed_integer(first)
            wider = [kind for kind in FLOATS if kind.bit_width >= second.bit_width and SIGNIFICANDS[kind] >= bits]
            return wider[0] if wider else None
        # pyarrow's int64 does not hold all of uint64.
        if types.is_uint64(first) and types.is_signed_integer(second):
            return pa.decimal128(20, 0)
        # pyarrow's decimals have one digit too few for the integers.
        if types.is_integer(first) and types.is_decimal(second):
            digits = max(DIGITS[first], second.precision - second.scale) + second.scale
            return pa.decimal128(digits, second.scale) if digits <= 38 else pa.decimal256(digits, second.scale)
        if types.is_timestamp(first) and types.is_timestamp(second) and first.tz is None and second.tz is not None:
            finer = min(first.unit, second.unit, key=["ns", "us", "ms", "s"].index)
            return pa.timestamp(finer, second.tz)
    return False


@pytest.fixture(scope="module")
def files() -> dict[pa.DataType, bytes]:
    return {kind: written(kind) for kind in (*LEAVES, *NESTED, *ENCODED)}


def test_unions_are_those_of_pyarrow(files: dict[pa.DataType, bytes]) -> None:
    count = 0
    for one, other in itertools.product((*LEAVES, *NESTED), repeat=2):
        expected = deliberate(one, other)
        if expected is False:
            expected = of_pyarrow(one, other)
        if expected is None:
            with pytest.raises(OrcishError, match="<bytes 1>: its columns do not go with those of <bytes 0>: column x"):
                unified(files[one], files[other]).check()
            continue
        assert unified(files[one], files[other]).schema.field("x").type == expected, (one, other)
        count += 1
    assert count > 250


def test_strings_of_any_encoding_have_a_union(files: dict[pa.DataType, bytes]) -> None:
    for one, other in itertools.combinations([pa.string(), pa.large_string(), pa.binary(), *ENCODED], 2):
        forward, backward = unified(files[one], files[other]), unified(files[other], files[one])
        assert forward.schema == backward.schema, (one, other)


def test_values_are_read_with_the_union(files: dict[pa.DataType, bytes]) -> None:
    """Files of either type can be read with the union, where a scan widens values."""
    tables = {pa.int8(): [1], pa.int32(): [2**31 - 1], pa.int64(): [-(2**63)], pa.decimal128(10, 2): ["1.50"]}
    for one, other in itertools.permutations(tables, 2):
        sources = []
        for kind in (one, other):
            values = pa.array(tables[kind]).cast(kind)
            out = io.BytesIO()
            orcish.write_table(pa.table({"x": values}), out)
            sources.append((out.getvalue(), values))
        schema = unified(*(source for source, _ in sources)).schema
        found = orcish.scan([source for source, _ in sources], schema=schema).to_table()["x"]
        assert found.to_pylist() == [
            value for _, values in sources for value in values.cast(schema.field("x").type).to_pylist()
        ]


def test_names_and_missing_columns() -> None:
    sources = [written(pa.int8(), "id"), written(pa.int32(), "ID"), written(pa.string(), "name")]
    found = unified(*sources, case_sensitive=False)
    assert found.differs
    assert found.schema == pa.schema({"id": pa.int32(), "name": pa.string()})
    assert unified(*sources).schema.names == ["id", "ID", "name"]
    assert not unified(sources[0], b"", sources[0]).differs
    assert unified(b"", sources[0]).schema.names == ["id"]
    with pytest.raises(OrcishError):
        unified(b"", b"")
    both = io.BytesIO()
    orcish.write_table(pa.table({"a": [1], "A": [1]}), both)
    with pytest.raises((OrcishError, ValueError), match="several columns could be"):
        unified(written(pa.int8(), "a"), both.getvalue(), case_sensitive=False)


def test_columns_that_are_missing_in_a_file_are_nullable() -> None:
    out = io.BytesIO()
    schema = pa.schema([pa.field("id", pa.int64(), nullable=False), pa.field("only", pa.int64(), nullable=False)])
    orcish.write_table(pa.table({"id": [1], "only": [2]}, schema), out)
    other = io.BytesIO()
    orcish.write_table(pa.table({"id": [1]}, schema.remove(1)), other)
    found = unified(out.getvalue(), other.getvalue()).schema
    assert [(field.name, field.nullable) for field in found] == [("id", False), ("only", True)]
    rows = orcish.scan([out.getvalue(), other.getvalue()], schema=found).to_table()
    assert rows.to_pylist() == [{"id": 1, "only": 2}, {"id": 1, "only": None}]
