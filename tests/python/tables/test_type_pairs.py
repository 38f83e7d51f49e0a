"""Rows of any type that are appended to a column of any type are refused, or can be read with the rows before."""

import contextlib
import datetime as dt
import pathlib
from decimal import Decimal
from typing import Any

import orcish
import pyarrow as pa
import pytest
from orcish import _native
from orcish.errors import OrcishError
from orcish.tables.commit import Job
from support.case_loops import each_case
from support.random_cases import pairs

NTZ = {"spark.sql.catalyst.type": "timestamp_ntz"}
TIMES = [dt.time(1, 2, 3), None]
MOMENTS = [dt.datetime(2026, 6, 1, 12), None]


def arrays() -> list[tuple[pa.Field, pa.Array]]:
    """Fields of all types that are written, and values."""
    found: list[tuple[Any, list[Any]]] = [
        (pa.bool_(), [True, None]),
        *((kind, [1, None]) for kind in (pa.int8(), pa.int16(), pa.int32(), pa.int64())),
        *((kind, [2, None]) for kind in (pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64())),
        *((kind, [1.5, None]) for kind in (pa.float16(), pa.float32(), pa.float64())),
        *((kind, ["ab", None]) for kind in (pa.string(), pa.large_string(), pa.string_view())),
        *((kind, [b"abcd", None]) for kind in (pa.binary(), pa.large_binary(), pa.binary_view(), pa.binary(4))),
        (pa.binary(2), [b"ab", None]),
        *((kind, [dt.date(2026, 1, 1), None]) for kind in (pa.date32(), pa.date64())),
        *((kind, TIMES) for kind in (pa.time32("s"), pa.time32("ms"), pa.time64("us"), pa.time64("ns"))),
        *((pa.duration(unit), [dt.timedelta(seconds=5), None]) for unit in ("s", "ms", "us", "ns")),
        *((pa.timestamp(unit), MOMENTS) for unit in ("s", "ms", "us", "ns")),
        *((pa.timestamp(unit, zone), MOMENTS) for unit in ("s", "us", "ns") for zone in ("UTC", "Asia/Tokyo")),
        (pa.month_day_nano_interval(), [pa.MonthDayNano([1, 2, 3]), None]),
        *((kind, [Decimal("1.50"), None]) for kind in (pa.decimal32(5, 2), pa.decimal64(12, 3), pa.decimal128(20, 2))),
        *(
            (kind, [Decimal("1.50"), None])
            for kind in (pa.decimal128(38, 10), pa.decimal256(38, 2), pa.decimal256(60, 5))
        ),
        *(
            (pa.dictionary(keys, pa.string()), ["cd", None])
            for keys in (pa.int8(), pa.uint16(), pa.int32(), pa.uint64())
        ),
        (pa.dictionary(pa.int8(), pa.int64()), [7, None]),
        *((kind, [[1, 2], None]) for kind in (pa.list_(pa.int8()), pa.list_(pa.int64()), pa.large_list(pa.int32()))),
        *((kind, [[1, 2], None]) for kind in (pa.list_(pa.int32(), 2), pa.list_view(pa.int16()))),
        (pa.list_(pa.time32("s")), [TIMES, None]),
        (pa.list_(pa.int32()), [[3], None]),
        (pa.list_(pa.duration("us")), [[dt.timedelta(seconds=5)], None]),
        (pa.struct({"a": pa.int32()}), [{"a": 1}, None]),
        (pa.struct({"a": pa.int64(), "b": pa.string()}), [{"a": 1, "b": "x"}, None]),
        (pa.struct({"months": pa.int32(), "days": pa.int32(), "nanoseconds": pa.int64()}), [{"months": 1}, None]),
        (pa.struct({"t": pa.time32("s")}), [{"t": dt.time(1)}, None]),
        (pa.map_(pa.string(), pa.int32()), [[("k", 1)], None]),
        (pa.map_(pa.string(), pa.time64("us")), [[("k", dt.time(1))], None]),
        (pa.map_(pa.int8(), pa.int64()), [[(1, 1)], None]),
    ]
    made = [(pa.field("x", kind), pa.array(values, kind)) for kind, values in found]
    encoded: list[tuple[Any, list[Any]]] = [
        (pa.int64(), [3, None]),
        (pa.string(), ["r", None]),
        (pa.time32("ms"), TIMES),
        (pa.time64("us"), TIMES),
        (pa.duration("us"), [dt.timedelta(seconds=5), None]),
        (pa.timestamp("ms"), MOMENTS),
        (pa.date64(), [dt.date(2026, 1, 1), None]),
        (pa.decimal128(20, 2), [Decimal("1.50"), None]),
    ]
    for kind, values in encoded:
        plain = pa.array(values, kind)
        runs = pa.RunEndEncodedArray.from_arrays(pa.array([1, 2], pa.int32()), plain)
        keys = pa.DictionaryArray.from_arrays(pa.array([0, None], pa.int8()), plain[:1])
        made += [(pa.field("x", each.type), each) for each in (runs, keys)]
        made += [
            (pa.field("x", of.type), of)
            for of in (pa.ListArray.from_arrays(pa.array([0, 1, 2], pa.int32()), each) for each in (runs, keys))
        ]
    ids, numbers, texts = pa.array([0, 1], pa.int8()), pa.array([4, 5], pa.int32()), pa.array(["u", "v"])
    nulls, keys = pa.nulls(2), pa.array([4, 5], pa.duration("us")).dictionary_encode()
    structs = [pa.StructArray.from_arrays([numbers, other], ["a", "b"]) for other in (nulls, texts)]
    for union in (
        pa.UnionArray.from_sparse(ids, [numbers, texts]),
        pa.UnionArray.from_dense(ids, pa.array([0, 0], pa.int32()), [texts, numbers]),
        pa.UnionArray.from_sparse(ids, [numbers, nulls]),
        *(pa.UnionArray.from_sparse(ids, [numbers, each]) for each in (keys, keys.dictionary_decode(), *structs)),
        pa.UnionArray.from_sparse(ids, [numbers, pa.StructArray.from_arrays([numbers], ["a"])]),
    ):
        made.append((pa.field("x", union.type), union))
    made += [
        (pa.field("x", pa.string(), metadata={"orc.type": "char(3)"}), pa.array(["a  ", None])),
        (pa.field("x", pa.string(), metadata={"orc.type": "varchar(3)"}), pa.array(["ab", None])),
        (pa.field("x", pa.timestamp("us"), metadata=NTZ), pa.array(MOMENTS, pa.timestamp("us"))),
        (
            pa.field("x", pa.timestamp("us", "UTC"), metadata={"orc.type": "timestamp"}),
            pa.array(MOMENTS, pa.timestamp("us", "UTC")),
        ),
    ]
    return made


ARRAYS = arrays()


def plain(value: Any) -> Any:
    """A value as all types that have it give it."""
    if isinstance(value, dict):
        return {key: plain(each) for key, each in value.items() if each is not None}
    if isinstance(value, list):
        return [plain(each) for each in value]
    if isinstance(value, str | bytes):
        # Texts are appended to binary columns. Values of char(3) are padded.
        return (value.encode() if isinstance(value, str) else value).rstrip(b" ")
    if isinstance(value, dt.time):
        # Without an Arrow schema, times are integers.
        return value.hour * 3600 + value.minute * 60 + value.second
    if isinstance(value, tuple) and not isinstance(value, pa.MonthDayNano):
        return tuple(plain(each) for each in value)
    if isinstance(value, dt.datetime):
        # Without an Arrow schema, readers choose whether these are instants.
        return value.astimezone(dt.timezone.utc).replace(tzinfo=None) if value.tzinfo else value
    return value


def difference(before: pa.Table, found: pa.Table, name: str, added: pa.Array) -> str | None:
    """What is wrong with a column after an append."""
    seen, old, new = ([plain(value) for value in each.to_pylist()] for each in (found[name], before[name], added))
    left = list(seen)
    for value in old + new:
        if value not in left:
            return f"{old} and {new} became {seen}"
        left.remove(value)
    return None


def put(table: pathlib.Path, rows: pa.Table, has_log: bool, has_schema: bool) -> None:
    if has_log:
        orcish.write_dataset(rows, table, arrow_schema=has_schema)
    else:
        table.mkdir()
        orcish.write_table(rows, table / "a.orc", arrow_schema=has_schema)


@each_case(("has_log", "has_schema", "others_have_schema"), pairs(*[[True, False]] * 3))
def test_appends_of_all_types(
    tmp_path: pathlib.Path, has_log: bool, has_schema: bool, others_have_schema: bool
) -> None:
    """A table has a column for each type that it accepts, all of one type. Rows of each are appended to one of them."""
    wrong, appended = [], 0
    names = [f"c{number}" for number in range(len(ARRAYS))]
    columns = [other.with_name(name) for name, (other, _) in zip(names, ARRAYS, strict=True)]
    added = {name: rows for name, (_, rows) in zip(names, ARRAYS, strict=True)}
    for at, (field, values) in enumerate(ARRAYS):
        narrow = tmp_path / f"narrow{at}"
        put(narrow, pa.table([values], schema=pa.schema([field])), has_log, has_schema)
        accepted: list[pa.Field] = []

        def types(
            table: _native.TableColumns | None, field: pa.Field = field, accepted: list[pa.Field] = accepted
        ) -> tuple[object, str | None]:
            assert table is not None
            for column in columns:
                with contextlib.suppress(ValueError):
                    table.appended_schema(pa.schema([column.with_name(field.name)]).__arrow_c_schema__(), [])
                    accepted.append(column)
            return pa.schema([field]).__arrow_c_schema__(), None

        _native.RowWrite(Job(str(narrow)), "append", [], arrow_schema=others_have_schema).plan(types)
        table = tmp_path / str(at)
        refused = next(column for column in columns if column not in accepted)
        there = [field.with_name(column.name) for column in [*accepted, refused]]
        put(table, pa.table([values] * len(there), schema=pa.schema(there)), has_log, has_schema)
        before = orcish.read_table(table)
        files = sorted(table.rglob("*"))
        rows = pa.table([added[column.name] for column in accepted], schema=pa.schema(accepted))
        other = pa.table([added[refused.name]], schema=pa.schema([refused]))
        with pytest.raises(ValueError, match=f"column {refused.name}"):
            orcish.write_dataset(other, table, existing_data="append", arrow_schema=others_have_schema)
        assert sorted(table.rglob("*")) == files
        orcish.write_dataset(rows, table, existing_data="append", arrow_schema=others_have_schema)
        appended += len(accepted)
        try:
            whole = orcish.read_table(table)
        except OrcishError:
            whole = None
        for column in accepted:
            try:
                found = whole or orcish.read_table(table, columns=[column.name])
                reason = difference(before, found, column.name, added[column.name])
            except OrcishError as error:
                reason = str(error)
            if reason is not None:
                wrong.append(f"{column.type} on {field}: {reason}")
    assert not wrong, "\n".join(wrong)
    assert appended > 3 * len(ARRAYS)
