"""Files that are damaged, hostile, or need what was not asked for: errors of orcish, and where they are."""

import hashlib
import io
import pathlib
from random import Random

import orcish
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from pyorc import CompressionKind
from support import buffer_sizes, orc_builder
from support.case_loops import each_case
from support.cpp_writers import write_arrow, write_rows
from support.orc_layout import layout
from support.random_cases import part

DATA = pathlib.Path(__file__).parents[2] / "data"


def latin1(**options):
    """A file with a string that is no UTF-8: what some engines write when told nothing else."""
    rows = [(i, f"Stra@@e {i % 5}") for i in range(100)]
    rows[70] = (70, "Stra!!e")
    data = write_rows("struct<i:int,n:struct<s:string>>", [(i, (s,)) for i, s in rows], **options)
    assert data.count(b"Stra!!e") >= 1
    return data.replace(b"Stra!!e", b"Stra\xdf!e")


PLAIN = {"compression": CompressionKind.NONE}


@each_case("strings", ["utf8", "large", "view", "dictionary"])
@each_case("options", [PLAIN, {**PLAIN, "dict_key_size_threshold": 1.0}])
def test_strings_that_are_no_utf8(options, strings):
    file = orcish.ORCFile(latin1(**options))
    with pytest.raises(orcish.CorruptFileError, match=r"stripe 0, column n\.s, .*not valid UTF-8"):
        file.read(strings=strings)
    assert file.read(strings=strings, columns=["i"]).num_rows == 100
    binary = file.read(strings="binary")["n"].combine_chunks().field("s")
    assert binary.type == pa.binary()
    assert binary[70].as_py() == b"Stra\xdf!e"
    assert binary[3].as_py() == b"Stra@@e 3"


def test_encrypted_columns_are_refused_unless_masks_will_do():
    file = orcish.ORCFile(DATA / "masked.zstd.orc")
    assert file.encrypted_columns == ["name", "code"]
    for columns, message in ((None, "columns name, code are encrypted"), (["id", "code"], "column code is encrypted")):
        with pytest.raises(orcish.UnsupportedError, match=message):
            file.read(columns=columns)
        with pytest.raises(orcish.UnsupportedError, match=message):
            list(file.iter_batches(columns=columns))
    assert file.read(columns=["id"]).to_pydict() == {"id": list(range(10))}
    masked = file.read(masked="allow")
    assert masked["name"].to_pylist() == [None] * 10
    assert masked["code"][3].as_py() == hashlib.sha256(b"code 3").hexdigest().upper()


SAMPLES = {
    "plain": (PLAIN, 12),
    "zlib": ({"compression": CompressionKind.ZLIB}, 12),
    "zstd": ({"compression": CompressionKind.ZSTD, "dict_key_size_threshold": 1.0}, 12),
}
SAMPLE_SCHEMA = "struct<i:int,s:string,l:array<double>,u:uniontype<int,string>,d:decimal(20,3),t:timestamp>"


def sample(name):
    import datetime as dt
    from decimal import Decimal

    options, n = SAMPLES[name]
    now = dt.datetime(2026, 1, 1)
    rows = [(i, f"s{i}", [0.5] * i, i if i % 2 else "x", Decimal(i), now) if i % 5 else (None,) * 6 for i in range(n)]
    return write_rows(SAMPLE_SCHEMA, rows, **options)


@each_case("name", SAMPLES)
def test_every_truncation_is_refused(name):
    data = sample(name)
    assert orcish.read_table(data).num_rows == 12
    for length in range(len(data)):
        with pytest.raises(orcish.OrcishError):
            orcish.read_table(data[:length])


FLIPS = (0x01, 0x80, 0xFF)


@each_case("name", SAMPLES)
def test_flipped_bytes_give_rows_or_errors(name):
    """Damaged files give exceptions of orcish, or values that pyarrow validates."""
    data = bytearray(sample(name))
    refused = tried = 0
    for at in range(len(data)):
        for flip in part(FLIPS, at):
            tried += 1
            data[at] ^= flip
            try:
                table = orcish.read_table(bytes(data), limits={"memory": 64 << 20})
                table.validate(full=True)
            except orcish.OrcishError:
                refused += 1
            data[at] ^= flip
    assert refused > tried // 6


def test_the_place_is_in_the_message(tmp_path):
    data = bytearray(write_rows("struct<a:int,n:struct<s:string>>", [(i, (str(i),)) for i in range(1000)], **PLAIN))
    (stream,) = [s for s in layout(bytes(data)).streams if s.column == 3 and s.kind == "LENGTH"]
    data[stream.start : stream.end] = b"\xff" * (stream.end - stream.start)
    path = tmp_path / "broken.orc"
    path.write_bytes(data)
    with pytest.raises(orcish.CorruptFileError, match=r"broken\.orc: stripe 0, column n\.s, LENGTH stream"):
        orcish.read_table(path)


def test_limit_of_depth():
    schema = "struct<a:array<array<array<int>>>>"
    data = write_rows(schema, [([[[1]]],)])
    assert orcish.read_table(data, limits={"depth": 5}).num_rows == 1
    with pytest.raises(orcish.LimitExceededError, match=r"nested deeper than the 4 levels allowed \(limits: depth\)"):
        orcish.ORCFile(data, limits={"depth": 4})


def test_limit_of_columns():
    data = write_rows("struct<a:int,b:int,c:int>", [(1, 2, 3)])
    assert orcish.read_table(data, limits={"columns": 4}).num_rows == 1
    with pytest.raises(orcish.LimitExceededError, match=r"4 columns, more than the 3 allowed \(limits: columns\)"):
        orcish.ORCFile(data, limits={"columns": 3})


def test_limit_of_stripes():
    data = write_arrow({"a": list(range(50_000))}, stripe_size=4096, batch_size=1000)
    count = orcish.ORCFile(data).num_stripes
    assert count > 2
    assert orcish.read_table(data, limits={"stripes": count}).num_rows == 50_000
    with pytest.raises(orcish.LimitExceededError, match=f"{count} stripes"):
        orcish.ORCFile(data, limits={"stripes": count - 1})


def test_limit_of_tail():
    data = write_rows("struct<a:int>", [(1,)], metadata={"k": b"x" * 5000}, **PLAIN)
    assert orcish.read_table(data, limits={"tail": 10_000}).num_rows == 1
    with pytest.raises(orcish.LimitExceededError):
        orcish.ORCFile(data, limits={"tail": 1000})
    # Also where it is small as stored.
    packed = write_rows("struct<a:int>", [(1,)], metadata={"k": b"x" * 5000}, compression=CompressionKind.ZLIB)
    assert len(packed) < 1000
    with pytest.raises(orcish.LimitExceededError):
        orcish.ORCFile(packed, limits={"tail": 1000})


def long_names(columns=8):
    """Columns in a struct with a name of 1 MB, which is in the dotted name of each."""
    names = ["n" * 1_000_000, "short"]
    types = [orc_builder.column_type(orc_builder.STRUCT, [1, columns + 2], names)]
    types += [
        orc_builder.column_type(orc_builder.STRUCT, range(2, columns + 2), [f"c{number}" for number in range(columns)])
    ]
    types += [orc_builder.column_type(orc_builder.LONG)] * (columns + 1)
    return orc_builder.orc(types, [])


def test_limit_of_names():
    """Names of all columns count for each descendant, types of all columns for each ancestor."""
    data = long_names()
    file = orcish.ORCFile(data)
    assert [len(path) for path in file.column_paths] == [0, 1_000_000, *[1_000_003] * 8, 5]
    assert file.encrypted_columns == []
    assert file.statistics("n" * 1_000_000 + ".c7") is None
    file = orcish.ORCFile(data, limits={"tail": 5 << 20})
    with pytest.raises(orcish.LimitExceededError, match="the names of all columns take more than the 5242880 bytes"):
        _ = file.column_paths
    assert file.statistics("short") is None
    with pytest.raises(orcish.UnknownColumnError, match="nearest: short") as error:
        file.read(columns=["shirt"])
    assert len(str(error.value)) < 2000
    levels = [orc_builder.column_type(orc_builder.STRUCT, [at + 1], ["n" * 100_000]) for at in range(20)]
    deep = orc_builder.orc([*levels, orc_builder.column_type(orc_builder.LONG)], [])
    file = orcish.ORCFile(deep, limits={"tail": 5 << 20})
    with pytest.raises(orcish.LimitExceededError, match="the types of all columns take more than the 5242880 bytes"):
        _ = file.column_types
    assert len(file.type_string) > 2_000_000


def test_nul_in_names():
    """Arrow's C interface has no names with NUL: NUL and invalid UTF-8 become U+FFFD."""
    kinds = [
        orc_builder.column_type(orc_builder.STRUCT, [1, 2], ["a\0b", "c"]),
        *[orc_builder.column_type(orc_builder.LONG)] * 2,
    ]
    streams = [(column, orc_builder.DATA, orc_builder.integers([7, 8])) for column in (1, 2)]
    data = orc_builder.orc(kinds, [(2, streams)])
    expected = {"a\ufffdb": [7, 8], "c": [7, 8]}
    assert orcish.read_table(data).to_pydict() == expected
    assert orcish.read_table(data, columns=["a\ufffdb"], filters=orcish.col("a\ufffdb") > 7).num_rows == 1
    assert orcish.scan(data).to_table().to_pydict() == expected
    (finding,) = (found for found in orcish.ORCFile(data).check() if "NUL" in found.message)
    assert finding.column == ""


def test_limit_of_chunks():
    data = write_rows("struct<a:string>", [(str(i) * 9,) for i in range(20_000)], compression=CompressionKind.SNAPPY)
    assert orcish.read_table(data, limits={"chunk": 1 << 20}).num_rows == 20_000
    with pytest.raises(orcish.LimitExceededError):
        orcish.read_table(data, limits={"chunk": 1000})


def test_limit_of_memory():
    data = write_rows("struct<a:string>", [(str(i) * 9,) for i in range(20_000)], **PLAIN)
    assert orcish.read_table(data, limits={"memory": 64 << 20}).num_rows == 20_000
    with pytest.raises(orcish.LimitExceededError, match="to be read at once"):
        orcish.read_table(data, limits={"memory": 50_000})


def test_limit_of_streams_that_are_read_in_pieces(tmp_path):
    """Each long stream of a local file has a piece in memory."""
    random, path = Random(1), tmp_path / "wide.orc"
    rows = pa.table({f"c{at}": [random.getrandbits(62) for _ in range(2000)] for at in range(50)})
    orcish.write_table(rows, path, compression="uncompressed")
    with buffer_sizes.of({"LOCAL_PIECE": 12_000}):
        assert orcish.read_table(path, limits={"memory": 4 << 20}).equals(rows)
        with pytest.raises(orcish.LimitExceededError, match="600000 bytes to be read at once"):
            orcish.read_table(path, limits={"memory": 500_000})


def test_null_keys_of_maps():
    """Arrow maps have no null keys: streams raise an error, tables have dictionary keys."""
    maps = [{"a": 1, None: 2}, None, {}, {"b": 3}]
    file = orcish.ORCFile(write_rows("struct<i:int,m:map<string,int>>", list(enumerate(maps))))
    with pytest.raises(orcish.errors.NullMapKeyError, match="stripe 0, column m: value 0 "):
        list(file.iter_batches())
    with pytest.raises(orcish.errors.NullMapKeyError):
        file.read(null_map_keys="error")
    want = [None if row is None else list(row.items()) for row in maps]
    assert file.read()["m"].to_pylist() == want
    (batch,) = file.iter_batches(null_map_keys="dictionary")
    assert batch["m"].to_pylist() == want
    assert pa.types.is_dictionary(batch.schema.field("m").type.key_type)
    assert file.read(columns=["i"]).schema.names == ["i"]


@each_case("column", ["m", "l", "s", "d"])
@each_case("batch_size", [7, 1000])
def test_null_keys_of_maps_that_are_found(column, batch_size):
    """Filtered rows of many windows are concatenated, with such maps at any depth."""
    maps = [[{"a": at, None: 2}, None, {}][at % 3] for at in range(600)]
    kind = "map<string,int>"
    schema = f"struct<i:int,m:{kind},l:array<{kind}>,s:struct<m:{kind}>,d:map<string,array<{kind}>>>"
    rows = [(at, value, [value, value], (value,), {None: [value]}) for at, value in enumerate(maps)]
    file = orcish.ORCFile(write_rows(schema, rows))
    for filters, found in [
        (orcish.col("i").is_in(range(0, 600, 5)), range(0, 600, 5)),
        (orcish.col("i") > 50, range(51, 600)),
        ((orcish.col("i") > 50) & orcish.col("m").is_not_null(), [at for at in range(51, 600) if maps[at] is not None]),
    ]:
        options = {"null_map_keys": "dictionary", "batch_size": batch_size}
        some = file.read(columns=[column], filters=filters, **options)
        whole = file.read(columns=[column], null_map_keys="dictionary")
        assert some[column].to_pylist() == whole.take(list(found))[column].to_pylist()


FAULTY_TYPES = ["types-kind-unknown", "types-kind-with-children", "types-list-of-two", "types-precision-99"]


@each_case("name", [*FAULTY_TYPES, "encoding-unknown", "stream-too-long"])
def test_columns_beside_one_that_cannot_be_read(name):
    path = DATA / "odd" / f"{name}.orc"
    whole = {"c": [-1] * 5}
    assert orcish.ORCFile(path).read(columns=["c"]).to_pydict() == whole
    scan = orcish.scan(path, columns=["c"])
    assert scan.to_table().to_pydict() == whole
    assert scan.where(orcish.col("c") == -1).count() == 5
    assert scan.splits(1)[0].scan().to_table().to_pydict() == whole
    for columns in (None, ["d"]):
        with pytest.raises(orcish.OrcishError, match="column d"):
            orcish.scan(path, columns=columns).to_table()
        with pytest.raises(orcish.OrcishError, match="column d"):
            orcish.read_table(path, columns=columns)
    with pytest.raises(orcish.OrcishError, match="column d"):
        orcish.read_table(path, columns=["c"], filters=orcish.col("d").is_null())


@each_case("name", FAULTY_TYPES)
def test_columns_may_be_chosen_of_a_scan_of_which_not_all_can_be_read(name):
    path, whole = DATA / "odd" / f"{name}.orc", {"c": [-1] * 5}
    everything, scan = orcish.scan(path), orcish.scan(path, columns=["c"])
    for found in (everything.select("c"), everything.select("c").where("c = -1"), scan.select("d").select("c")):
        assert found.to_table().to_pydict() == whole
    assert everything.count() == 5
    assert everything.where("c = -1").count() == 5
    assert everything.where(pl.col("c").abs() == 1).count() == 5
    assert everything.min("c") == -1
    for fail in (
        everything.to_table,
        everything.splits,
        lambda: everything.schema,
        lambda: everything.min("d"),
        scan.select("d").to_table,
        lambda: orcish.scan_polars(path),
    ):
        with pytest.raises(orcish.OrcishError, match="column d"):
            fail()
    for fail in (scan.select("c", "none").to_table, scan.where("none = 1").to_table):
        with pytest.raises(orcish.UnknownColumnError, match="none"):
            fail()
    assert orcish.scan_polars(path, columns=["c"]).filter(pl.col("c") < 0).collect().height == 5


@each_case("name", FAULTY_TYPES)
@each_case(
    "of",
    [
        lambda name: orcish.col(name) == -1,
        lambda name: pc.field(name) == -1,
        lambda name: pl.col(name) == -1,
        lambda name: pl.col(name).abs() == 1,
        lambda name: [(name, "=", -1)],
        lambda name: f"{name} = -1",
    ],
    ids=["orcish", "pyarrow", "polars", "polars itself", "lists", "text"],
)
def test_filters_beside_a_column_that_cannot_be_read(name, of):
    path = DATA / "odd" / f"{name}.orc"
    for read in (orcish.read_table, lambda *args, **options: orcish.scan(*args, **options).to_table()):
        for options in ({"columns": ["c"]}, {"columns": [], "row_number": True}):
            assert read(path, filters=of("c"), **options).num_rows == 5
            with pytest.raises(orcish.OrcishError, match="d"):
                read(path, filters=of("d"), **options)
            with pytest.raises(orcish.UnknownColumnError, match="none"):
                read(path, filters=of("none"), **options)
        with pytest.raises(orcish.OrcishError, match="column d"):
            read(path, filters=of("c"))
    assert orcish.read_table(path, columns=[1], filters=of("c")).num_rows == 5


def test_files_of_other_formats_are_named():
    table = pa.table({"a": range(1000)})
    buffer = pa.BufferOutputStream()
    pq.write_table(table, buffer)
    with pytest.raises(orcish.CorruptFileError, match="not an ORC file, but one of Parquet"):
        orcish.ORCFile(buffer.getvalue())
    buffer = pa.BufferOutputStream()
    with pa.ipc.new_file(buffer, table.schema) as writer:
        writer.write_table(table)
    with pytest.raises(orcish.CorruptFileError, match="not an ORC file, but one of Arrow IPC"):
        orcish.ORCFile(buffer.getvalue())


VERBS = {
    "read_table": orcish.read_table,
    "to_table": lambda path: orcish.scan(path).to_table(),
    "filtered": lambda path: orcish.scan(path).where(None).limit(5).count(),
    "count": lambda path: orcish.scan(path).count(),
    "head": lambda path: orcish.scan(path).head(1),
    "explain": lambda path: orcish.scan(path).explain(),
    "splits": lambda path: orcish.scan(path).splits(),
    "scan of two": lambda path: orcish.scan([path, DATA / "spark.zlib.orc"]).to_table(),
    "union of schemas": lambda path: orcish.scan([path, path], limit=0).schema,
    "arrow_schema": lambda path: orcish.ORCFile(path).arrow_schema(),
    "check": lambda path: orcish.ORCFile(path).check(),
}


@each_case("path", sorted((DATA / "corrupt").glob("*.orc")), ids=lambda path: path.stem)
def test_every_verb_names_the_file(path):
    messages = {}
    for name, verb in VERBS.items():
        try:
            verb(path)
        except (orcish.OrcishError, OSError, ValueError) as error:
            messages[name] = str(error)
    # Tables are read with null map keys without request.
    assert messages or path.stem == "map-key-null"
    assert {name: text for name, text in messages.items() if path.name not in text} == {}


def test_data_streams_may_lie_among_the_index(tmp_path: pathlib.Path) -> None:
    """Their place follows from the lengths before them, as other readers have it."""
    data = pa.table({"a": pa.array(range(5000), pa.int64())})
    out = io.BytesIO()
    orcish.write_table(data, out, compression="none")
    row_index_of_column_1 = bytes([0x08, 6, 0x10, 1, 0x18])
    at = out.getvalue().rindex(row_index_of_column_1)
    stored = bytearray(out.getvalue())
    stored[at + 1] = 2  # A stream of lengths, which integers do not have.
    path = tmp_path / "a.orc"
    path.write_bytes(stored)
    for source in (bytes(stored), path):
        for columns in (None, ["a"]):
            assert orcish.read_table(source, columns=columns).equals(data)
        assert orcish.read_table(source, filters="a < 10").equals(data.slice(0, 10))
