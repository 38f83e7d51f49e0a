"""Writes that are verified, of all types in all nestings: nothing that is right is refused."""

from __future__ import annotations

import io
import random
from typing import Any

import orcish
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from support.cpp_writers import write_rows
from support.orc_builder import DATA, LENGTH, LIST, LONG, STRUCT, column_type, integers, orc, statistics, zeros
from support.orc_layout import layout
from support.random_cases import random_cases
from support.writer_tables import written

UNION = 13
UNITS = ("s", "ms", "us", "ns")


def numbers(rng: random.Random, count: int, bits: int) -> list[int | None]:
    edges = [0, 1, -1, 2 ** (bits - 1) - 1, -(2 ** (bits - 1))]
    return [rng.choice([None, rng.choice(edges), rng.randint(-100, 100)]) for _ in range(count)]


def leaf(rng: random.Random, count: int) -> pa.Array:
    kind = rng.choice(
        ["int", "uint", "float", "text", "bytes", "bool", "day", "time", "instant", "duration", "decimal", "interval"]
    )
    bits = rng.choice([8, 16, 32, 64])
    some = numbers(rng, count, bits)
    match kind:
        case "int":
            return pa.array(some, getattr(pa, f"int{bits}")())
        case "uint":
            return pa.array([None if n is None else n % 2**bits for n in some], getattr(pa, f"uint{bits}")())
        case "float":
            values = [None if n is None else rng.choice([n / 8, float("nan"), float("inf"), -0.0]) for n in some]
            return pa.array(values, pa.float64()).cast(
                rng.choice([pa.float16(), pa.float32(), pa.float64()]), safe=False
            )
        case "text":
            type_ = rng.choice([pa.string(), pa.large_string(), pa.string_view()])
            return pa.array([None if n is None else f"é{n}" * rng.randint(0, 3) for n in some], type_)
        case "bytes":
            type_ = rng.choice([pa.binary(), pa.large_binary(), pa.binary_view()])
            return pa.array([None if n is None else str(n).encode() for n in some], type_)
        case "bool":
            return pa.array([None if n is None else n % 2 == 0 for n in some])
        case "day":
            return pa.array([None if n is None else n % 100_000 for n in some], pa.int32()).cast(pa.date32())
        case "time":
            # The second before 1970 cannot be told from the one after; seconds go as far as 64 bits, and further than a
            # finer unit does.
            unit = rng.choice(UNITS)
            most = {"s": 2**61, "ms": 2**62}.get(unit, 2**62)
            return pa.array(
                [None if n is None else max(n, 0) % most for n in numbers(rng, count, 64)], pa.timestamp(unit)
            )
        case "instant":
            unit = rng.choice(UNITS)
            return pa.array([None if n is None else abs(n) % 2**60 for n in some], pa.timestamp(unit, "Asia/Tokyo"))
        case "duration":
            return pa.array(numbers(rng, count, 64), pa.duration(rng.choice(UNITS)))
        case "decimal":
            return pa.array([None if n is None else n % 10**9 for n in some], pa.decimal128(20, rng.randint(0, 3)))
    values = [None if n is None else pa.MonthDayNano([n % 100, -(n % 9), n % 1000]) for n in some]
    return pa.array(values, pa.month_day_nano_interval())


def nested(rng: random.Random, count: int, depth: int) -> pa.Array:
    """An array of any type that is written, of so many levels at most."""
    kind = rng.choice(["leaf", "dictionary", "list", "map", "struct", "union", "runs"] if depth else ["leaf"])
    nulls = pa.array([rng.random() < 0.2 for _ in range(count)], pa.bool_())
    if kind == "leaf":
        return leaf(rng, count)
    if kind == "dictionary":
        # A value that is null, which references that are not null go to.
        values = pa.array(["a", None, "b"]) if rng.random() < 0.5 else pa.array([1, None, 3])
        keys = pa.array([rng.choice([0, 1, 2, None]) for _ in range(count)], rng.choice([pa.int8(), pa.int32()]))
        return pa.DictionaryArray.from_arrays(keys, values)
    if kind == "runs":
        return pc.run_end_encode(pa.array([at // 3 for at in range(count)]))
    if kind == "struct":
        fields = [nested(rng, count, depth - 1) for _ in range(rng.randint(1, 3))]
        return pa.StructArray.from_arrays(fields, names=[f"f{at}" for at in range(len(fields))], mask=nulls)
    if kind == "union":
        tags = [rng.randrange(2) for _ in range(count)]
        places = [tags[:at].count(tag) for at, tag in enumerate(tags)]
        variants = [nested(rng, tags.count(tag), depth - 1) for tag in range(2)]
        return pa.UnionArray.from_dense(pa.array(tags, pa.int8()), pa.array(places, pa.int32()), variants)
    offsets = [0]
    for _ in range(count):
        offsets.append(offsets[-1] + rng.choice([0, 0, 1, 2, 5]))
    at = pa.array(offsets, pa.int32())
    items = nested(rng, offsets[-1], depth - 1)
    if kind == "map":
        return pa.MapArray.from_arrays(at, pa.array([f"k{n % 7}" for n in range(offsets[-1])], pa.string()), items)
    return pa.ListArray.from_arrays(at, items, mask=nulls)


def test_any_type_passes() -> None:
    """A verified write refuses nothing that a plain write accepts."""
    passed = [passes_verified(rng) for _, rng in random_cases("any type", 40)]
    assert sum(passed) > len(passed) * 0.8


def passes_verified(rng: random.Random) -> bool:
    """Whether a random table could be written."""
    count = rng.choice([1, 7, 300, 2500])
    table = pa.table({f"c{at}": nested(rng, count, rng.randint(0, 3)) for at in range(rng.randint(1, 4))})
    options: dict[str, Any] = {
        "row_index_stride": rng.choice([0, 1000]),
        "stripe_size": rng.choice([1, 1 << 20]),
        "arrow_schema": rng.random() < 0.8,
        "compression": rng.choice(["none", "zlib"]),
    }
    try:
        data = written(table, **options)
    except (ValueError, orcish.OrcishError) as error:
        # What cannot be stored is refused, verified or not.
        with pytest.raises(type(error)):
            written(table, verify=True, **options)
        return False
    assert written(table, verify=True, **options) == data
    if options["arrow_schema"]:
        assert orcish.ORCFile(data).check() == []
    return True


@pytest.mark.parametrize("unit", ["s", "ms"])
@pytest.mark.parametrize("zone", [None, "UTC"])
def test_times_beyond_microseconds(unit: str, zone: str | None) -> None:
    most = {"s": 2**60, "ms": 2**63 - 1}[unit]
    values = pa.array([most, most - 1, None, 5] * 700, pa.timestamp(unit, zone))
    for table in (pa.table({"t": values}), pa.table({"t": pa.StructArray.from_arrays([values], names=["t"])})):
        data = written(table, verify=True, row_index_stride=1000)
        file = orcish.ORCFile(data)
        assert file.check() == []
        assert file.read().equals(table)


def test_dictionaries_with_nulls_below_maps_and_unions() -> None:
    keys = pa.array([0, 1, 2, 1, None] * 400, pa.int8())
    entries = pa.DictionaryArray.from_arrays(keys, pa.array(["a", None, "b"]))
    offsets = pa.array(range(0, 2001, 2), pa.int32())
    maps = pa.MapArray.from_arrays(offsets, pa.array([f"{at}" for at in range(2000)]), entries)
    tags = pa.array([0, 1] * 1000, pa.int8())
    places = pa.array([at // 2 for at in range(2000)], pa.int32())
    unions = pa.UnionArray.from_dense(tags, places, [entries.slice(0, 1000), pa.array(range(1000))])
    for column in (maps, unions, pa.ListArray.from_arrays(offsets, unions)):
        data = written(pa.table({"c": column}), verify=True, row_index_stride=1000)
        assert orcish.ORCFile(data).check() == []


TEXT_PARTS = (
    *("a", "", "~", "\x7f", "\u00e4", "\ud7ff", "\ue000", "\ufffc"),
    *("\ufffd", "\ufffe", "\uffff", "\U00010000", "\U0010ffff"),
)
"""Characters around those that bounds are cut at or that have another order in other encodings."""


def test_bounds_of_all_texts_are_right() -> None:
    for _, rng in random_cases("texts", 60):
        short = ["".join(rng.choices(TEXT_PARTS, k=rng.choice([1, 2, 3]))) for _ in range(rng.choice([1, 2, 6]))]
        values = [text + rng.choice(["", "", rng.choice(TEXT_PARTS) * 1500]) for text in short]
        out = io.BytesIO()
        orcish.write_table(pa.table({"t": values}), out, verify=True)
        file = orcish.ORCFile(out)
        assert file.check() == []
        field = orcish.col("t")
        for value in {*values, "\ufffd", "zz"}:
            assert file.read(filters=field == value)["t"].to_pylist() == [each for each in values if each == value]
            assert file.read(filters=field < value)["t"].to_pylist() == [each for each in values if each < value]
            assert file.read(filters=field >= value)["t"].to_pylist() == [each for each in values if each >= value]


def test_null_map_keys_are_checked() -> None:
    """Null keys of text, numbers and structs are compared with the file."""
    for key, values in (("string", ["a", None]), ("bigint", [7, None]), ("struct<a:int>", [(1,), None])):
        rows = [({values[at % 2]: at},) for at in range(3000)]
        data = write_rows(f"struct<m:map<{key},int>>", rows, row_index_stride=1000)
        with pytest.raises(orcish.errors.NullMapKeyError):
            next(iter(orcish.ORCFile(data).iter_batches()))
        assert orcish.ORCFile(data).check() == []


def test_unions_of_many_variants_are_checked() -> None:
    count, rows = 200, 1000
    types = [
        column_type(STRUCT, [1], ["u"]),
        column_type(UNION, range(2, 2 + count)),
        *(column_type(LONG) for _ in range(count)),
    ]
    tags = bytes(at % count for at in range(rows))
    literal = b"".join(bytes([256 - len(part)]) + part for part in (tags[at : at + 128] for at in range(0, rows, 128)))
    streams = [(1, DATA, literal)]
    streams += [(2 + at, DATA, integers([at * 10 + n for n in range(rows // count)])) for at in range(count)]
    good = [b""] * 2 + [statistics(5, at * 10, at * 10 + 4) for at in range(count)]
    wrong = [*good[:-1], statistics(5, 0, 3)]
    assert orcish.ORCFile(orc(types, [(rows, streams)], file_statistics=good)).check() == []
    findings = orcish.ORCFile(orc(types, [(rows, streams)], file_statistics=wrong)).check()
    assert [finding.column for finding in findings] == [f"u.field{count - 1}"] * 2


# Files that say much and hold little.


def test_lists_of_many_empty_structs() -> None:
    """Five lists have the maximum number of elements."""
    most = 2**31 - 1
    types = [column_type(STRUCT, [1], ["l"]), column_type(LIST, [2]), column_type(STRUCT)]
    data = orc(types, [(5, [(1, LENGTH, integers([most] * 5, signed=False))])])
    assert len(data) < 200
    with pytest.raises(orcish.LimitExceededError):
        orcish.ORCFile(data, limits={"memory": 1 << 28}).check()


def test_many_rows_of_empty_structs() -> None:
    """Rows without data take no memory."""
    rows = 2**24
    data = orc([column_type(STRUCT, [1], ["s"]), column_type(STRUCT)], [(rows, [])])
    file = orcish.ORCFile(data, limits={"memory": 64 << 20})
    assert file.num_rows == rows
    assert file.check() == []


def test_merging_many_statistics_of_files() -> None:
    """Statistics beyond the number of columns are ignored without being decoded."""
    types = [column_type(STRUCT, [1], ["a"]), column_type(LONG)]
    data = orc(types, [(512, [(1, DATA, zeros(1))])], file_statistics=[b""] * 1_000_000)
    assert len(data) < 10_000
    out = io.BytesIO()
    orcish.merge([data, data], out, limits={"memory": 256 << 20})
    assert orcish.ORCFile(out.getvalue()).num_rows == 1024


def test_merging_more_rows_than_can_be_counted() -> None:
    data = orc([column_type(STRUCT, [], [])], [(2**62, [])])
    assert orcish.ORCFile(data).num_rows == 2**62
    out = io.BytesIO()
    with pytest.raises(ValueError, match="more rows than 63 bits count"):
        orcish.merge([data, data], out)
    assert out.getvalue() == b""


@pytest.mark.parametrize("what", ["stripes", "metadata"])
def test_merging_keeps_to_its_memory(what: str) -> None:
    if what == "stripes":
        types = [column_type(STRUCT, [1], ["a"]), column_type(LONG)]
        data = orc(types, [(512, [(1, DATA, zeros(1))])] * 500, stripe_statistics=[[b"", b""]] * 500)
    else:
        data = written(pa.table({"a": [1]}), metadata={"k": "v" * 100_000})
    orcish.merge([data, data], io.BytesIO())
    with pytest.raises(orcish.LimitExceededError, match="memory"):
        orcish.merge([data, data], io.BytesIO(), limits={"memory": 60_000})


def test_torn_stripes_are_not_merged() -> None:
    """A stream longer than its stripe is refused."""
    data = written(pa.table({"a": [at * at * 7919 % 10_007 for at in range(5000)]}), compression="none")
    (footer,) = layout(data).stripe_footers
    (stream,) = [each for each in layout(data).streams if each.kind == "DATA" and each.column == 1]
    length = stream.end - stream.start
    at = data.index(bytes([length & 127 | 128, length >> 7]), footer.start)
    torn = data[:at] + bytes([length & 127 | 128, (length >> 7) + 1]) + data[at + 2 :]
    out = io.BytesIO()
    with pytest.raises(
        orcish.CorruptFileError, match=r"stripe 0, column a, DATA stream: a stream of \d+ bytes does not fit"
    ):
        orcish.merge([data, torn], out)
    assert out.getvalue() == b""


@pytest.mark.parametrize("rows", [0, 1, 3, 100_000])
def test_tables_without_columns(tmp_path, rows):
    table = pa.table({"a": pa.nulls(rows)}).select([])
    orcish.write_table(table, tmp_path / "t.orc", verify=True)
    with orcish.ORCWriter(tmp_path / "u.orc", table.schema, verify=True) as writer:
        for batch in table.to_batches(max_chunksize=7_000):
            writer.write(batch)
    for name in ("t.orc", "u.orc"):
        assert orcish.scan(tmp_path / name).count() == rows


def test_rows_of_verified_stripes_are_bounded(tmp_path: Any) -> None:
    """The rows of a stripe are kept until it is verified, however few bytes they take when they are stored."""
    rows = pa.table({"a": pa.array([7] * 4_000_000)})
    stripes = {}
    for verify in (True, False):
        orcish.write_table(rows, tmp_path / "a.orc", stripe_size="1MB", verify=verify, existing_data="overwrite")
        stripes[verify] = [stripe.num_rows * 8 for stripe in orcish.ORCFile(tmp_path / "a.orc").stripes]
    # A stripe ends with a row group.
    assert max(stripes[True]) < 9 << 20
    assert len(stripes[False]) < len(stripes[True])
