"""Type × encoding × codec, with data that makes writers choose each form, and values that straddle chunks."""

import random

import orcish
import pyarrow as pa
from pyorc import CompressionKind
from support.case_loops import each_case
from support.cpp_writers import write_arrow, write_rows
from support.orc_layout import chunk_count, layout

ROWS = 5000
random.seed(1)


def patched(bits, outliers):
    """Small numbers with some of as many bits: what patched base is for."""
    return [random.getrandbits(bits) if i % outliers == 3 else random.getrandbits(5) for i in range(ROWS)]


# Shapes of integers, all within 63 bits; narrower types take them modulo their width.
SHAPES = {
    "zeros": [0] * ROWS,
    "constant": [-77] * ROWS,
    "short repeats": [i // 7 * 31 for i in range(ROWS)],
    "repeats of 3 to 10": [value for i in range(800) for value in [i * i] * (3 + i % 8)][:ROWS],
    "ascending": [3 * i - 1000 for i in range(ROWS)],
    "descending": [10**12 - 5 * i for i in range(ROWS)],
    "growing deltas": [i * i for i in range(ROWS)],
    "falling deltas": [-i * i * i for i in range(ROWS)],
    "alternating": [(-1) ** i * i for i in range(ROWS)],
    "outliers": patched(20, 50),
    "large outliers": patched(60, 40),
    "one outlier a run": patched(40, 512),
    "negative base": [value - 1000 for value in patched(24, 30)],
    "extremes": [random.choice([2**62, -(2**62), 0, 1]) for _ in range(ROWS)],
    "full width": [random.getrandbits(64) - 2**63 for _ in range(ROWS)],
    **{
        f"{bits} bits": [random.getrandbits(bits) for _ in range(ROWS)]
        for bits in (1, 2, 3, 4, 7, 8, 11, 16, 21, 24, 27, 31)
    },
    **{
        f"{bits} bits": [random.getrandbits(bits) for _ in range(ROWS)]
        for bits in (32, 33, 39, 40, 47, 48, 55, 56, 61, 63)
    },
    "one": [5] + [6] * (ROWS - 1),
    "mixed": [(i if i % 1000 < 300 else 4 if i % 1000 < 600 else random.getrandbits(i % 50)) for i in range(ROWS)],
}


def wrap(values, bits):
    half = 1 << (bits - 1)
    return [(value + half) % (2 * half) - half for value in values]


WITH_NULLS = [i % 5 != 0 and not 700 < i < 1800 for i in range(ROWS)]


def thinned(values):
    return [value if keep else None for value, keep in zip(values, WITH_NULLS, strict=True)]


def integers():
    """All shapes at all widths, with nulls and without, as one table."""
    columns = {}
    for name, values in SHAPES.items():
        for bits, kind in ((8, pa.int8()), (16, pa.int16()), (32, pa.int32()), (64, pa.int64())):
            narrow = wrap(values, bits)
            columns[f"{name}/{bits}"] = pa.array(narrow, kind)
            columns[f"{name}/{bits}/nulls"] = pa.array(thinned(narrow), kind)
    return pa.table(columns)


INTEGERS = integers()
TEXTS = {
    "equal": ["same"] * ROWS,
    "few": [f"value {i % 17}" for i in range(ROWS)],
    "distinct": [f"{i:x} {random.getrandbits(60):x}" for i in range(ROWS)],
    "empty": [""] * ROWS,
    "long and short": ["ü" * random.choice([0, 1, 5, 3000]) for _ in range(500)] * 10,
}
OTHERS = pa.table(
    {
        **{
            f"{name}/{kind}": pa.array(v, pa.string()).cast(kind)
            for name, v in TEXTS.items()
            for kind in ("string", "binary")
        },
        **{f"{name}/nulls": pa.array(thinned(v), pa.string()) for name, v in TEXTS.items()},
        "float": pa.array([random.random() for _ in range(ROWS)], pa.float32()),
        "double": pa.array(thinned([random.gauss(0, 1e9) for _ in range(ROWS)]), pa.float64()),
        "boolean": pa.array([random.random() < 0.5 for _ in range(ROWS)]),
        "boolean/runs": pa.array(thinned([i // 100 % 2 == 0 for i in range(ROWS)])),
        "date": pa.array([random.randrange(20000) for _ in range(ROWS)], pa.int32()).cast(pa.date32()),
        "timestamp": pa.array([random.randrange(10**18) // 1000 * 1000 for _ in range(ROWS)], pa.timestamp("ns")),
        "timestamp/days": pa.array(thinned([i * 86400 * 10**9 for i in range(ROWS)]), pa.timestamp("ns")),
        "decimal": pa.array(thinned([random.getrandbits(50) for _ in range(ROWS)]), pa.int64()).cast(
            pa.decimal128(20, 0)
        ),
        "decimal/wide": pa.array([random.getrandbits(30) for _ in range(ROWS)], pa.int64()).cast(pa.decimal128(38, 12)),
        "list": pa.array([list(range(i % 5)) if i % 9 else None for i in range(ROWS)], pa.list_(pa.int16())),
        "map": pa.array([[(f"k{i % 3}", i)] * (i % 3) for i in range(ROWS)], pa.map_(pa.string(), pa.int64())),
        "struct": pa.array([{"a": i, "b": [str(i)]} if i % 4 else None for i in range(ROWS)]),
    }
)


def check(file: bytes, want: pa.Table, **options):
    got = orcish.read_table(file, **options)
    got.validate(full=True)
    assert got.column_names == want.column_names
    for name in want.column_names:
        expected = want[name]
        if pa.types.is_timestamp(expected.type):
            expected = expected.cast(pa.timestamp("us"))
        # Equality of tables with other chunks, and of lists whose children have other names.
        assert got[name].to_pylist() == expected.to_pylist(), name


@each_case("version", ["0.12", "0.11"])
@each_case("batch_size", [65_536, 333])
def test_integers(version, batch_size):
    """Both versions of run length encoding are read at every width, with reads that end within runs."""
    file = write_arrow(INTEGERS, file_version=version)
    encodings = layout(file).encodings[0]
    position = INTEGERS.column_names.index("mixed/64") + 1
    assert encodings[position] == (2 if version == "0.12" else 0)
    check(file, INTEGERS, batch_size=batch_size)


@each_case("codec", ["uncompressed", "zlib", "snappy", "lz4", "zstd"])
@each_case("version", ["0.12", "0.11"])
def test_codecs(codec, version):
    file = write_arrow(OTHERS, compression=codec, file_version=version, compression_strategy="compression")
    assert orcish.ORCFile(file).compression == codec.replace("uncompressed", "none")
    check(file, OTHERS)


@each_case("codec", ["zlib", "snappy", "lz4", "zstd"])
def test_integers_through_codecs(codec):
    check(write_arrow(INTEGERS, compression=codec), INTEGERS)


@each_case("codec", ["uncompressed", "zlib", "snappy", "lz4", "zstd"])
@each_case("version", ["0.12", "0.11"])
def test_dictionaries(codec, version):
    file = write_arrow(OTHERS, compression=codec, file_version=version, dictionary_key_size_threshold=1.0)
    if codec in ("uncompressed", "zlib"):
        encodings = layout(file).encodings[0]
        at = OTHERS.column_names.index("few/string") + 1
        assert encodings[at] == (3 if version == "0.12" else 1)
    check(file, OTHERS)
    strings = OTHERS.select([name for name in OTHERS.column_names if OTHERS[name].type == pa.string()])
    for form in ("large", "view", "dictionary"):
        got = orcish.read_table(file, columns=strings.column_names, strings=form, batch_size=1000)
        got.validate(full=True)
        for name in strings.column_names:
            assert got[name].to_pylist() == strings[name].to_pylist(), (form, name)


@each_case("codec", ["NONE", "ZLIB", "SNAPPY", "LZ4", "ZSTD"])
@each_case("dictionary", [0.0, 1.0])
def test_values_that_straddle_chunks(codec, dictionary):
    """Chunks of 64 bytes hold less than a run, and often less than a value."""
    n = 2000
    names = [name for name in INTEGERS.column_names if name.endswith("/64/nulls")]
    columns = {name: INTEGERS[name].slice(0, n).to_pylist() for name in names}
    kinds = dict.fromkeys(names, "bigint")
    for kind, source in (
        ("string", "few/string"),
        ("string", "distinct/nulls"),
        ("string", "long and short/string"),
        ("binary", "distinct/binary"),
        ("double", "double"),
        ("float", "float"),
        ("boolean", "boolean/runs"),
        ("decimal(38,12)", "decimal/wide"),
        ("array<smallint>", "list"),
    ):
        columns[source], kinds[source] = OTHERS[source].slice(0, n).to_pylist(), kind
    schema = ",".join(f"`{name}`:{kind}" for name, kind in kinds.items())
    file = write_rows(
        f"struct<{schema}>",
        list(zip(*columns.values(), strict=True)),
        compression=CompressionKind[codec],
        compression_block_size=64,
        memory_block_size=64,
        dict_key_size_threshold=dictionary,
    )
    if codec == "ZLIB":
        assert orcish.ORCFile(file).compression_chunk_size == 64
        assert max(chunk_count(file, stream) for stream in layout(file).streams) > 100
    for batch_size in (65_536, 77):
        got = orcish.read_table(file, batch_size=batch_size)
        for name, values in columns.items():
            assert got[name].to_pylist() == values, name


@each_case("codec", ["none", "zlib", "snappy", "lzo", "lz4", "zstd"])
def test_codecs_of_spark(spark_orc, codec):
    """Java's codecs are read with chunks of 1 KiB, dictionaries and direct strings, in several stripes."""
    path = spark_orc(
        """select id, concat('name ', id % 100) few, sha2(cast(id as string), 256) hash, repeat('long text ', 500) long,
                  if(id % 7 = 0, null, cast(id * 0.37 as decimal(18, 4))) d, hash(id) h, id % 2 = 0 b,
                  timestamp_seconds(id * 1000003) t, date_add(date'1990-01-01', cast(id as int)) day
           from range(6000)""",
        compression=codec,
        **{"orc.compress.size": "1024", "orc.stripe.size": "65536", "orc.row.index.stride": "1000"},
    )
    file = orcish.ORCFile(path)
    assert file.compression == codec
    assert file.compression_chunk_size == (0 if codec == "none" else 1024)
    table = file.read()
    assert table["id"].to_pylist() == list(range(6000))
    assert table["few"].to_pylist() == [f"name {i % 100}" for i in range(6000)]
    assert set(table["long"].to_pylist()) == {"long text " * 500}
    assert table["b"].to_pylist() == [i % 2 == 0 for i in range(6000)]
    assert [None if d is None else int(d * 10000) for d in table["d"].to_pylist()] == [
        None if i % 7 == 0 else i * 3700 for i in range(6000)
    ]
    import pyarrow.orc

    if codec != "none":  # pyarrow as a second opinion on what only Java computes here
        peer = pyarrow.orc.read_table(str(path))
        for name in ("hash", "h", "day"):
            assert table[name].to_pylist() == peer[name].to_pylist()
    assert table["t"].cast(pa.int64()).to_pylist() == [i * 1000003 * 10**6 for i in range(6000)]


def test_lists_of_many_elements():
    """Lists have more elements than a batch has rows. Lists of lists are read in small batches."""
    rows = [list(range(20_000)), [], None, list(range(7)), list(range(50_000)), [None] * 3] * 3
    nested = [[row, row[:2]] if row else None for row in rows]
    file = write_arrow(
        {"l": pa.array(rows, pa.list_(pa.int32())), "n": pa.array(nested, pa.list_(pa.list_(pa.int32())))}
    )
    for batch_size in (1, 2, 65_536):
        table = orcish.read_table(file, batch_size=batch_size)
        assert table["l"].to_pylist() == rows
        assert table["n"].to_pylist() == nested


@each_case("threads", [1, 2])
def test_many_stripes(threads):
    """Runs and dictionaries begin anew in every stripe."""
    table = pa.table(
        {
            "id": pa.array(range(60_000)),
            "s": [f"{i // 1000} {i % 7}" for i in range(60_000)],
            "l": [[i] * (i % 3) for i in range(60_000)],
            "n": [None if i // 5000 % 2 else i for i in range(60_000)],
        }
    )
    for dictionary in (0.0, 1.0):
        file = write_arrow(table, stripe_size=4096, batch_size=500, dictionary_key_size_threshold=dictionary)
        opened = orcish.ORCFile(file)
        assert opened.num_stripes > 20
        assert sum(stripe.num_rows for stripe in opened.stripes) == 60_000
        assert [stripe.first_row for stripe in opened.stripes][:2] == [0, opened.stripes[0].num_rows]
        check(file, table, threads=threads, batch_size=1700)
