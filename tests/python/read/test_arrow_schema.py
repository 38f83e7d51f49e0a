"""Columns in the Arrow types that they were written with: files of pyorc with an Arrow schema in their metadata."""

import datetime
import decimal
import uuid

import orcish
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from support.case_loops import each_case
from support.protobuf import varint
from support.read_types import read_schema

pyorc = pytest.importorskip("pyorc")

KEY = "orcish.arrow.schema"
UNITS = {"s": "s", "ms": "m", "us": "u", "ns": "n"}
PLAIN = {
    pa.null(): "n",
    pa.bool_(): "b",
    pa.int8(): "c",
    pa.uint8(): "C",
    pa.int16(): "s",
    pa.uint16(): "S",
    pa.int32(): "i",
    pa.uint32(): "I",
    pa.int64(): "l",
    pa.uint64(): "L",
    pa.float16(): "e",
    pa.float32(): "f",
    pa.float64(): "g",
    pa.string(): "u",
    pa.large_string(): "U",
    pa.string_view(): "vu",
    pa.binary(): "z",
    pa.large_binary(): "Z",
    pa.date32(): "tdD",
    pa.date64(): "tdm",
    pa.time32("s"): "tts",
    pa.time64("ns"): "ttn",
    pa.month_day_nano_interval(): "tin",
}


def part(key, value):
    """A field of a message: bytes or text, or a flag."""
    if isinstance(value, bool):
        return varint(key << 3) + varint(value) if value else b""
    value = value.encode() if isinstance(value, str) else value
    return varint(key << 3 | 2) + varint(len(value)) + value


def pairs(key, metadata):
    return b"".join(part(key, part(1, name) + part(2, value)) for name, value in (metadata or {}).items())


def message(field):
    """A field of the schema as the message ``ArrowField``."""
    kind, children, flags = field.type, [], b""
    types = pa.types
    if types.is_dictionary(kind):
        flags = part(5, kind.ordered) + part(8, message(pa.field("", kind.value_type)))
        kind = kind.index_type
    if types.is_timestamp(kind):
        form = f"ts{UNITS[kind.unit]}:{kind.tz or ''}"
    elif types.is_duration(kind):
        form = f"tD{UNITS[kind.unit]}"
    elif types.is_decimal(kind):
        form = f"d:{kind.precision},{kind.scale},{kind.bit_width}"
    elif types.is_fixed_size_binary(kind):
        form = f"w:{kind.byte_width}"
    elif types.is_map(kind):
        entries = pa.struct([kind.key_field, kind.item_field])
        form, children = "+m", [pa.field("entries", entries, nullable=False)]
    elif types.is_fixed_size_list(kind):
        form, children = f"+w:{kind.list_size}", [kind.value_field]
    elif types.is_list(kind) or types.is_large_list(kind):
        form, children = "+l" if types.is_list(kind) else "+L", [kind.value_field]
    elif types.is_struct(kind):
        form, children = "+s", list(kind)
    elif types.is_run_end_encoded(kind):
        ends = pa.field("run_ends", kind.run_end_type, nullable=False)
        form, children = "+r", [ends, pa.field("values", kind.value_type)]
    else:
        form = PLAIN[kind]
    below = b"".join(part(7, message(child)) for child in children)
    return part(1, field.name) + part(2, form) + part(3, field.nullable) + flags + pairs(6, field.metadata) + below


def stored(schema):
    return b"".join(part(1, message(field)) for field in schema) + pairs(2, schema.metadata)


def write(path, struct, rows, schema=None, **options):
    with open(path, "wb") as file, pyorc.Writer(file, struct, **options) as writer:
        writer.writerows(rows)
        if schema is not None:
            writer.set_user_metadata(**{KEY: schema if isinstance(schema, bytes) else stored(schema)})
    return str(path)


def interval(months, days, nanoseconds):
    return pa.MonthDayNano([months, days, nanoseconds])


STRUCT = (
    "struct<u8:smallint,u32:bigint,u64:decimal(20,0),half:float,none:boolean,text:string,word:string,bits:binary,"
    "day:date,at:timestamp with local time zone,time:int,wait:bigint,money:decimal(7,0),pairs:map<string,smallint>,"
    "two:array<int>,nest:struct<a:smallint,b:array<string>>,gap:struct<months:int,days:int,nanoseconds:bigint>,"
    "runs:string>"
)
SCHEMA = pa.schema(
    [
        pa.field("u8", pa.uint8(), nullable=False, metadata={"a": "b"}),
        pa.field("u32", pa.uint32()),
        pa.field("u64", pa.uint64()),
        pa.field("half", pa.float16()),
        pa.field("none", pa.null()),
        pa.field("text", pa.large_string()),
        pa.field("word", pa.dictionary(pa.int8(), pa.string())),
        pa.field("bits", pa.binary(2), metadata={"ARROW:extension:name": "nobody's"}),
        pa.field("day", pa.date64()),
        pa.field("at", pa.timestamp("ms", "Europe/Paris")),
        pa.field("time", pa.time32("s")),
        pa.field("wait", pa.duration("s")),
        pa.field("money", pa.decimal128(5, -2)),
        pa.field("pairs", pa.map_(pa.large_string(), pa.uint8())),
        pa.field("two", pa.list_(pa.int32(), 2)),
        pa.field("nest", pa.struct([("a", pa.uint8()), ("b", pa.large_list(pa.string_view()))])),
        pa.field("gap", pa.month_day_nano_interval()),
        pa.field("runs", pa.run_end_encoded(pa.int16(), pa.string())),
    ],
    metadata={"of": "schema"},
)
READ = read_schema(SCHEMA)
NOON = datetime.datetime(2024, 5, 1, 12, tzinfo=datetime.timezone.utc)
DAY = datetime.date(2024, 5, 1)


def row(n):
    if n % 5 == 4:
        return (n % 256, *([None] * 17))
    return (
        n % 256,
        2**32 - 1 - n,
        decimal.Decimal(2**64 - 1 - n),
        n / 2,
        None,
        f"text {n}",
        f"word {n % 3}",
        bytes([n % 256, 1]),
        DAY,
        NOON,
        n,
        n,
        decimal.Decimal(n * 100),
        [(f"k{n}", n % 256)],
        [n, n + 1],
        (n % 256, [f"b{n}"]),
        (n, 1, 2),
        f"run {n // 10}",
    )


def expected(n):
    if n % 5 == 4:
        return dict(zip(SCHEMA.names, row(n), strict=True))
    values = dict(zip(SCHEMA.names, row(n), strict=True))
    return values | {
        "u64": 2**64 - 1 - n,
        "time": datetime.time(0, n // 60 % 60, n % 60),
        "wait": datetime.timedelta(seconds=n),
        "nest": {"a": n % 256, "b": [f"b{n}"]},
        "gap": interval(n, 1, 2),
    }


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("arrow") / "stored.orc"
    return write(path, STRUCT, [row(n) for n in range(100)], SCHEMA)


def check(table, rows):
    columns = [
        pc.run_end_decode(column.combine_chunks()) if pa.types.is_run_end_encoded(column.type) else column
        for column in table.columns
    ]
    for name, column in zip(table.column_names, columns, strict=True):
        assert column.to_pylist() == [expected(n)[name] for n in rows], name
    for batch in table.to_batches():
        batch.validate(full=True)


def test_types_and_values_come_back(file):
    opened = orcish.ORCFile(file)
    assert opened.schema.equals(READ, check_metadata=True)
    assert opened.metadata[KEY] == stored(SCHEMA)
    for options in ({}, {"batch_size": 7}, {"threads": 3}):
        table = orcish.read_table(file, **options)
        assert table.schema.equals(READ, check_metadata=True)
        check(table, range(100))


def test_natural_types(file):
    physical = orcish.ORCFile(file).arrow_schema(arrow_schema=False)
    assert physical.field("u8").type == pa.int16()
    assert physical.metadata is None
    assert orcish.read_table(file, arrow_schema=False).schema == physical
    assert orcish.scan(file, arrow_schema=False).schema == physical


def test_parts_of_columns(file):
    opened = orcish.ORCFile(file)
    names = ["nest.b", "u64", "pairs.value", "u8"]
    table = opened.read(columns=names, row_number=True)
    assert table.schema.names == ["nest", "u64", "pairs", "u8", "row_number"]
    assert table.schema.field("nest").type == pa.struct([("b", pa.large_list(pa.string_view()))])
    assert table.schema.field("pairs") == SCHEMA.field("pairs")
    assert orcish.scan(file).select(*names).schema == table.schema.remove(4)
    # Part of an interval is none.
    assert opened.read(columns=["gap.days"]).schema.field("gap").type == pa.struct([("days", pa.int32())])
    ids = [opened.column_id(name) for name in ("at", "u8")] if hasattr(opened, "column_id") else None
    if ids:
        assert opened.read(columns=ids).schema.names == ["at", "u8"]


def test_filters(file):
    for filters, rows in (
        (orcish.col("u8") > 90, range(91, 100)),
        (orcish.col("u64") == 2**64 - 4, [3]),
        (orcish.col("word") == "word 1", [n for n in range(100) if n % 3 == 1 and n % 5 < 4]),
        (orcish.col("time") == 7, [7]),
        (pc.field("u8") > 90, range(91, 100)),
        (pc.field("u32") == 2**32 - 4, [3]),
        (pc.field("time") == pa.scalar(7, pa.time32("s")), [7]),
        (pc.field("wait") == pa.scalar(7, pa.duration("s")), [7]),
        (pc.field("text") == "text 8", [8]),
    ):
        for read in (orcish.ORCFile(file).read, lambda **options: orcish.scan([file], **options).to_table()):
            check(read(filters=filters), rows)


def test_answers(file):
    scan = orcish.scan(file)
    assert (scan.min("u8"), scan.max("u8"), scan.sum("u8")) == (0, 99, sum(range(100)))
    assert scan.max("u64") == 2**64 - 1
    assert scan.max("text") == "text 98"
    assert scan.max("runs") == "run 9"
    assert scan.max("half") == 49
    assert scan.max("time") == datetime.time(0, 1, 38)
    assert scan.min("bits") == b"\0\1"
    assert scan.count() == 100


def test_what_was_chosen_stands_above(file):
    schema = orcish.ORCFile(file).arrow_schema(strings="utf8", timestamp_unit="us")
    assert schema.field("text").type == schema.field("word").type == schema.field("runs").type == pa.string()
    assert schema.field("bits").type == pa.binary(2)
    assert schema.field("at").type == pa.timestamp("us", "Europe/Paris")
    table = orcish.read_table(file, strings="view", null_map_keys="dictionary")
    assert table.schema.field("text").type == pa.string_view()
    assert pa.types.is_dictionary(table.schema.field("pairs").type.key_type)


def test_scans(file, tmp_path):
    other = write(tmp_path / "other.orc", STRUCT, [row(n) for n in range(100, 120)], SCHEMA)
    nullable = pa.schema([field.with_nullable(True) for field in READ], metadata=READ.metadata)
    table = orcish.scan([file, other])
    assert table.schema.equals(nullable, check_metadata=True)
    check(table.to_table(), range(120))
    check(table.where(orcish.col("u8") > 95).to_table(), range(96, 120))
    splits = [split.scan().to_table() for split in table.splits()]
    check(pa.concat_tables(splits), range(120))
    assert orcish.scan(file).schema.equals(READ, check_metadata=True)
    backwards = orcish.scan([other, file])
    # Kinds of lists are those of the first file.
    names = [name for name in table.schema.names if name not in ("two", "nest")]
    assert [backwards.schema.field(name).type for name in names] == [table.schema.field(name).type for name in names]
    assert backwards.to_table().slice(20).to_pylist() == table.to_table().slice(0, 100).to_pylist()


def test_numbers_become_no_times_of_another_unit(tmp_path):
    def one(name, kind):
        return write(tmp_path / name, "struct<x:bigint>", [(1,)], None if kind is None else pa.schema({"x": kind}))

    seconds, nothing = one("s.orc", pa.duration("s")), one("none.orc", None)
    # Numbers of a file without an Arrow schema are times where the caller says so.
    for files in ([seconds, nothing], [nothing, seconds]):
        with pytest.raises(orcish.UnsupportedError, match="which have no common type"):
            orcish.scan(files).to_table()
    given = orcish.scan([seconds, nothing], schema=pa.schema({"x": pa.duration("s")}))
    assert given.to_table()["x"].to_pylist() == [datetime.timedelta(seconds=1)] * 2
    finer = orcish.scan([seconds, one("finer.orc", pa.duration("ms"))]).to_table()["x"]
    assert finer.to_pylist() == [datetime.timedelta(seconds=1), datetime.timedelta(milliseconds=1)]
    for other in (pa.int64(), pa.uint32()):
        with pytest.raises(orcish.UnsupportedError, match="does not become"):
            orcish.scan([seconds, one("other.orc", other)]).to_table()


def test_a_schema_of_another_file_is_left_alone(tmp_path):
    rows, kinds = [(1, "a")], {"x": pa.int32(), "y": pa.string()}
    for schema in (
        pa.schema({"x": pa.uint8(), "y": pa.large_string()}),
        pa.schema({"x": pa.uint16()}),
        pa.schema({"y": pa.large_string(), "x": pa.uint16()}),
        b"",
        b"\xff\xff",
        part(1, part(2, "w:-1")) * 2,
    ):
        path = write(tmp_path / "x.orc", "struct<x:int,y:string>", rows, schema)
        assert orcish.read_table(path).schema == pa.schema(kinds)


def one_field(form, *children):
    return part(1, part(1, "x") + part(2, form) + part(3, True) + b"".join(part(7, child) for child in children))


def test_a_schema_of_what_arrow_has_not_is_left_alone(tmp_path):
    """A stored schema with types that no consumer can import is ignored."""
    text = message(pa.field("values", pa.string()))
    runs = [one_field("+r", message(pa.field("run_ends", kind)), text) for kind in (pa.int16(), pa.int32(), pa.int64())]
    kinds = [pa.int8(), pa.uint16(), pa.uint32(), pa.uint64(), pa.string(), pa.float32()]
    ends = [message(pa.field("run_ends", kind, nullable=False)) for kind in kinds]
    runs += [one_field("+r", end, text) for end in ends]
    number = part(2, "i") + part(3, True)
    instant = "timestamp with local time zone"
    for struct, value, schema, kind in (
        *(("string", "a", schema, pa.string()) for schema in runs),
        ("array<int>", [1], one_field("+L", part(1, "a\0b") + number), pa.list_(pa.int32())),
        ("array<int>", [1], one_field("+L\0", part(1, "item") + number), pa.list_(pa.int32())),
        (instant, NOON, one_field("tsm:Europe\0/Paris"), pa.timestamp("us", "UTC")),
    ):
        path = write(tmp_path / "x.orc", f"struct<x:{struct}>", [(value,)], schema)
        table = orcish.read_table(path)
        assert table.schema == pa.schema({"x": kind})
        assert table["x"].to_pylist() == [value]
    good = one_field("+L", part(1, "other") + number)
    path = write(tmp_path / "x.orc", "struct<x:array<int>>", [([1],)], good)
    assert orcish.read_table(path).schema.field("x").type == pa.large_list(pa.field("other", pa.int32()))


def test_values_that_do_not_fit(tmp_path):
    for kind, struct, value in (
        (pa.uint8(), "smallint", 300),
        (pa.uint16(), "int", -1),
        (pa.float16(), "float", 2.0**100),
        (pa.binary(3), "binary", b"ab"),
        (pa.list_(pa.int32(), 3), "array<int>", [1]),
        (pa.null(), "boolean", True),
        (pa.decimal128(5, -2), "decimal(7,0)", decimal.Decimal(150)),
    ):
        path = write(tmp_path / "bad.orc", f"struct<x:{struct}>", [(value,)], pa.schema({"x": kind}))
        with pytest.raises(orcish.CorruptFileError, match=r"bad\.orc.*column x"):
            orcish.read_table(path)
        assert orcish.read_table(path, arrow_schema=False)["x"].to_pylist() == [value]
    schema = pa.schema([pa.field("x", pa.int32(), nullable=False)])
    path = write(tmp_path / "null.orc", "struct<x:int>", [(None,)], schema)
    with pytest.raises(orcish.CorruptFileError, match=r"column x.*there are nulls"):
        orcish.read_table(path)


def test_short_runs_and_keys(tmp_path):
    rows = [(f"{n}", f"{n % 100}") for n in range(100_000)]
    kinds = {"x": pa.run_end_encoded(pa.int16(), pa.string()), "y": pa.dictionary(pa.int8(), pa.string())}
    path = write(tmp_path / "runs.orc", "struct<x:string,y:string>", rows, pa.schema(kinds))
    batches = list(orcish.ORCFile(path).iter_batches())
    assert max(len(batch) for batch in batches) <= 32_767
    assert [value for batch in batches for value in pc.run_end_decode(batch["x"]).to_pylist()] == [x for x, _ in rows]
    assert [value for batch in batches for value in batch["y"].to_pylist()] == [y for _, y in rows]
    assert orcish.scan([path, path]).select("x").count() == 200_000
    path = write(tmp_path / "keys.orc", "struct<y:string>", [x[:1] for x in rows], pa.schema([("y", kinds["y"])]))
    # Keys of 8 bits are read as keys of 32 bits, unless another schema is given.
    assert orcish.read_table(path)["y"].to_pylist() == [x for x, _ in rows]
    with pytest.raises(orcish.LimitExceededError, match="keys of int8"):
        orcish.read_table(path, schema=pa.schema([("y", kinds["y"])]))


UUIDS = pa.array([uuid.UUID(int=3), None, uuid.UUID(int=1 << 127), uuid.UUID(int=2)], pa.uuid())
TEXTS = pa.array(['{"a": 1}', "2", None, "[]"], pa.json_())


def extensions():
    """A table with extension types at any depth, of which one is not registered."""
    nested = pa.StructArray.from_arrays([UUIDS, TEXTS], ["id", "text"])
    pairs = pa.MapArray.from_arrays(pa.array([0, 1, 2, 3, 4], pa.int32()), pa.array(list("abcd")), TEXTS)
    unknown = pa.field("bits", pa.binary(2), metadata={"ARROW:extension:name": "nobody's", "own": "x"})
    columns = {
        "id": UUIDS,
        "text": TEXTS,
        "nested": nested,
        "list": pa.ListArray.from_arrays(pa.array([0, 2, 2, 3, 4], pa.int32()), UUIDS),
        "pairs": pairs,
        "bits": pa.array([b"ab", None, b"cd", b"ef"], pa.binary(2)),
    }
    table = pa.table(columns)
    return table.cast(table.schema.set(5, unknown))


def found_extensions(fields, above=""):
    """Dotted names of the fields that are of an extension type."""
    for field in fields:
        name = above + field.name
        if isinstance(field.type, pa.BaseExtensionType) or b"ARROW:extension:name" in (field.metadata or {}):
            yield name
        if pa.types.is_struct(field.type):
            yield from found_extensions(field.type, f"{name}.")
        elif pa.types.is_map(field.type):
            yield from found_extensions([field.type.key_field, field.type.item_field], f"{name}.")
        elif pa.types.is_list(field.type):
            yield from found_extensions([field.type.value_field], f"{name}.")


def stored_values(value):
    """Values of extension types as bytes, which those of their storage are too."""
    if isinstance(value, dict):
        return {name: stored_values(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [stored_values(each) for each in value]
    if isinstance(value, uuid.UUID):
        return value.bytes
    return value.encode() if isinstance(value, str) else value


OF_UUID = ["id", "nested.id", "list.item"]
OF_TEXT = ["text", "nested.text", "pairs.value"]


@each_case(
    ("options", "left"),
    [
        ({}, [*OF_UUID, *OF_TEXT, "bits"]),
        ({"arrow_schema": False}, []),
        ({"strings": "utf8"}, [*OF_UUID, *OF_TEXT, "bits"]),
        ({"strings": "large"}, [*OF_UUID, "bits"]),
        ({"strings": "view"}, [*OF_UUID, "bits"]),
        ({"strings": "dictionary"}, [*OF_UUID, "bits"]),
        ({"strings": "binary"}, [*OF_UUID, "bits"]),
        ({"invalid_utf8": "binary"}, [*OF_UUID, "bits"]),
        ({"null_map_keys": "dictionary"}, [*OF_UUID, "text", "nested.text", "bits", "pairs.value"]),
        ({"columns": ["nested.text", "list"]}, ["nested.text", "list.item"]),
    ],
    ids=str,
)
def test_extension_types_go_with_their_storage(options, left, tmp_path):
    table = extensions()
    path = tmp_path / "extensions.orc"
    orcish.write_table(table, path)
    want = stored_values(table.to_pylist())
    if "columns" in options:
        want = [{"nested": row["nested"] and {"text": row["nested"]["text"]}, "list": row["list"]} for row in want]
    everything = pc.field("id").is_valid() | pc.field("id").is_null()
    for read in (
        lambda: orcish.read_table(path, **options),
        lambda: orcish.scan(path, **options).to_table(),
        lambda: orcish.scan([path, path], **options).head(4),
        lambda: pa.Table.from_batches(orcish.ORCFile(path).iter_batches(**options)),
        lambda: orcish.read_table(path, filters=everything, **options),
    ):
        found = read()
        assert sorted(found_extensions(found.schema)) == sorted(left)
        assert stored_values(found.to_pylist()) == want
        if "columns" not in options:
            assert found.schema.field("bits").metadata[b"own"] == b"x"
    assert sorted(found_extensions(orcish.ORCFile(path).arrow_schema(**options))) == sorted(left)


def test_attributes_make_no_extension_types(tmp_path):
    """Rewritten files keep attributes and lose the Arrow schema."""
    path = tmp_path / "extensions.orc"
    orcish.write_table(extensions(), path, arrow_schema=False)
    file = orcish.ORCFile(path)
    assert file.attributes("id")["ARROW:extension:name"] == "arrow.uuid"
    assert list(found_extensions(file.schema)) == []
    assert file.read()["id"].to_pylist() == [None if at is None else at.bytes for at in UUIDS.to_pylist()]


def test_answers_of_extension_types(tmp_path):
    path = tmp_path / "extensions.orc"
    orcish.write_table(extensions(), path)
    scan = orcish.scan(path)
    for name in ("id", "nested.id"):
        assert (scan.min(name), scan.max(name)) == (uuid.UUID(int=2), uuid.UUID(int=1 << 127)), name
    for name in ("text", "nested.text"):
        assert (scan.min(name), scan.max(name)) == ("2", '{"a": 1}'), name
    assert scan.where(orcish.col("text") == "none").max("id") is None
    for name in ("id", "text", "nested.id"):
        with pytest.raises(TypeError, match="no sum"):
            scan.sum(name)
    numbers = pa.ExtensionArray.from_storage(
        pa.opaque(pa.list_(pa.int8()), "a", "b"), pa.array([[1], [2]], pa.list_(pa.int8()))
    )
    orcish.write_table(pa.table({"x": numbers}), path, existing_data="overwrite")
    with pytest.raises(TypeError, match="no order"):
        orcish.scan(path).min("x")


def test_dictionaries_come_back_without_an_order(tmp_path):
    """Dictionaries are restored from rows, and are therefore unordered."""
    kind = pa.dictionary(pa.int8(), pa.string(), ordered=True)
    sizes = pa.DictionaryArray.from_arrays(pa.array([2, 0, 1], pa.int8()), ["small", "medium", "large"], ordered=True)
    nested = pa.StructArray.from_arrays([sizes], ["s"])
    table = pa.table({"s": sizes, "n": nested, "l": pa.ListArray.from_arrays([0, 1, 2, 3], sizes)})
    path = tmp_path / "a.orc"
    orcish.write_table(table, path, verify=True)
    for schema in (None, table.schema):
        for found in (orcish.scan(path, schema=schema), orcish.scan([path, path], schema=schema)):
            for given in (found.schema, found.to_table().schema):
                kinds = [given.field("s").type, given.field("n").type[0].type, given.field("l").type.value_type]
                assert [(of.value_type, of.ordered) for of in kinds] == [(pa.string(), False)] * 3
    assert orcish.ORCFile(path).schema.field("s").type != kind
    assert orcish.read_table(path)["s"].to_pylist() == ["large", "small", "medium"]
