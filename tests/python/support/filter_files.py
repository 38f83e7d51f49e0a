"""Files for the tests of filters: columns of every type, in row groups as statistics find them easy and hard."""

import contextlib
import datetime as dt
import math
import random
import zoneinfo
from decimal import Decimal

import pyarrow as pa
import pyorc
from py4j.java_gateway import get_field, set_field

from support.cpp_writers import write_arrow, write_rows

UTC = dt.timezone.utc
EPOCH = dt.datetime(1970, 1, 1)
WORDS = ["", "a", "ab", "abc", "b", "é", "zebra", "Ärger", "\U0001f600"]
SPECIAL = [0.0, -0.0, math.nan, math.inf, -math.inf, 0.5, -2.0, 1e30]
MICROSECOND = dt.timedelta(microseconds=1)


# A value of each column, from a source of random numbers, the row and the row group.


def narrow(rng, row, group):
    return rng.randint(-128, 127)


def constant(rng, row, group):
    return 7 if group % 2 else group


def clustered(rng, row, group):
    return rng.choice([2**31 - 1, -(2**31)]) if group % 7 == 6 else group * 1000 + rng.randint(0, 50)


def ascending(rng, row, group):
    return row // 3 * 10 - 5000


def large(rng, row, group):
    return rng.choice([2**63 - 1, -(2**63), 2**53, 2**53 + 1, rng.randint(-9, 9), rng.randint(-(2**62), 2**62)])


def flag(rng, row, group):
    return [True, False, rng.random() < 0.5][group % 3]


def single(rng, row, group):
    if group % 3 == 0:
        return float(row // 4)
    return rng.choice([0.0, -0.0] if group % 3 == 1 else SPECIAL[:-1])


def double(rng, row, group):
    return [rng.gauss(group * 10, 1), rng.choice(SPECIAL), math.nan, row / 8][group % 4]


def money(rng, row, group):
    return Decimal(row // 5 - 300).scaleb(-2)


def whole(rng, row, group):
    return Decimal(rng.choice([10**18 - 1, 1 - 10**18, group]))


def wide(rng, row, group):
    digits = rng.choice([10**38 - 1, 1 - 10**38, rng.randint(-99, 99) * 10**9, group * 10**20 + rng.randint(0, 9)])
    return Decimal((digits < 0, tuple(map(int, str(abs(digits)))), -10))


def name(rng, row, group):
    return ("" if row % 97 == 0 else ["k", "ß", "日"][group % 3]) + f"{row // 4:05}"


def word(rng, row, group):
    return rng.choice(WORDS[group % 4 : group % 4 + 4])


def long_text(rng, row, group):
    return ("x" * 1030 if group % 2 else "é") + f"{row // 50:04}"


def padded(rng, row, group):
    return rng.choice(["", "a", "a b", "zz", f"g{group % 9}", "éé"]) + " " * rng.randint(0, 2)


def raw(rng, row, group):
    return rng.choice([b"", b"\x00", b"\xff\xff", b"a", bytes([group % 256, row % 5])])


def day(rng, row, group):
    # From 1480 on, over the days that are missing in 1582, to about 2100.
    return dt.date(1480, 1, 1) + dt.timedelta(days=row // 2 * (150 if row < 600 else 75))


def moment(rng, row, group):
    return dt.datetime(1500, 1, 1) + dt.timedelta(days=row // 2 * 90, microseconds=rng.choice([0, 1, 999_999]))


def near_1970(rng, row, group):
    return EPOCH + (row // 2 - 700) * dt.timedelta(microseconds=333_333)


def recent(rng, row, group):
    return dt.datetime(2024, 3, 9, 12) + dt.timedelta(minutes=row // 2 * 7, microseconds=rng.choice([0, 0, 1500]))


def nested(rng, row, group):
    inner = {
        "z": word(rng, row, group),
        "w": money(rng, row, group),
        "t": recent(rng, row, group),
    }
    inner = {key: None if rng.random() < 0.2 else value for key, value in inner.items()}
    return {"x": rng.choice([None, row // 6]), "y": None if group % 4 == 2 or rng.random() < 0.3 else inner}


def items(rng, row, group):
    return [rng.choice([None, row]) for _ in range(rng.randint(0, 3))]


def pairs(rng, row, group):
    return [(f"k{at}", rng.choice([None, row])) for at in range(rng.randint(0, 2))]


def records(rng, row, group):
    return [{"a": row, "b": rng.choice(WORDS)} for _ in range(rng.randint(0, 2))]


INNER = pa.struct([("z", pa.string()), ("w", pa.decimal128(9, 2)), ("t", pa.timestamp("us"))])
RECORD = pa.struct([("a", pa.int32()), ("b", pa.string())])
COLUMNS = {
    "i8": (pa.int8(), narrow),
    "i16": (pa.int16(), constant),
    "i32": (pa.int32(), clustered),
    "i64": (pa.int64(), ascending),
    "far": (pa.int64(), large),
    "o": (pa.bool_(), flag),
    "f32": (pa.float32(), single),
    "f64": (pa.float64(), double),
    "d9": (pa.decimal128(9, 2), money),
    "d18": (pa.decimal128(18, 0), whole),
    "d38": (pa.decimal128(38, 10), wide),
    "s": (pa.string(), name),
    "w": (pa.string(), word),
    "long": (pa.string(), long_text),
    "ch": (pa.string(), padded),
    "vc": (pa.string(), padded),
    "b": (pa.binary(), raw),
    "day": (pa.date32(), day),
    "t": (pa.timestamp("us"), moment),
    "t0": (pa.timestamp("us"), near_1970),
    "tz": (pa.timestamp("us", "UTC"), recent),
    "tz0": (pa.timestamp("us", "UTC"), near_1970),
    "n": (pa.struct([("x", pa.int64()), ("y", INNER)]), nested),
    "li": (pa.list_(pa.int32()), items),
    "m": (pa.map_(pa.string(), pa.int64()), pairs),
    "ls": (pa.list_(RECORD), records),
}
NESTED = ["n.x", "n.y.z", "n.y.w", "n.y.t"]


def values(title, rows, stride):
    """A column, with row groups that have only nulls, some, and none."""
    make = COLUMNS[title][1]
    rng = random.Random(title)
    shift = rng.randrange(5)
    out = []
    for row in range(rows):
        group = row // stride
        nulls = [1, 0, 0.2, 0.2, 0.02][(group + shift) % 5]
        out.append(None if rng.random() < nulls else make(rng, row, group))
    return out


def table(rows, stride, without=()):
    columns = {title: pa.array(values(title, rows, stride), kind) for title, (kind, _) in COLUMNS.items()}
    return pa.table(columns).drop_columns(list(without))


# Writers.


def by_cpp(**options):
    """Written by pyarrow, whose timestamps are those of 64 bits of nanoseconds."""

    def write(folder, spark):
        data = table(3000, options.get("row_index_stride") or 100)
        t = data.schema.get_field_index("t")
        years = [value and value.replace(year=max(value.year, 1700)) for value in data["t"].to_pylist()]
        data = data.set_column(t, "t", pa.array(years, pa.timestamp("us")))
        return write_arrow(data, batch_size=300, **options)

    return write


def by_pyorc(zone="UTC", **options):
    """Written by the same library as with pyarrow, with types that pyarrow has not."""

    def write(folder, spark):
        stride = options.get("row_index_stride") or 100
        kinds = {
            "i8": "tinyint", "i16": "smallint", "i32": "int", "i64": "bigint", "far": "bigint", "o": "boolean",
            "f32": "float", "f64": "double", "d9": "decimal(9,2)", "d18": "decimal(18,0)", "d38": "decimal(38,10)",
            "s": "string", "w": "string", "long": "string", "ch": "char(5)", "vc": "varchar(5)", "b": "binary",
            "day": "date", "t": "timestamp", "t0": "timestamp", "tz": "timestamp with local time zone",
            "tz0": "timestamp with local time zone",
            "n": "struct<x:bigint,y:struct<z:string,w:decimal(9,2),t:timestamp>>",
            "li": "array<int>", "m": "map<string,bigint>", "ls": "array<struct<a:int,b:string>>",
        }  # fmt: skip
        columns = {title: values(title, 2500, stride) for title in kinds}
        for title in ("tz", "tz0"):
            columns[title] = [value and value.replace(tzinfo=UTC) for value in columns[title]]
        columns["m"] = [value if value is None else dict(value) for value in columns["m"]]
        kinds["u"] = "uniontype<bigint,string>"
        columns["u"] = [row if row % 2 else str(row) for row in range(2500)]
        rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
        schema = ",".join(f"{title}:{kind}" for title, kind in kinds.items())
        options.setdefault("memory_block_size", min(options.get("compression_block_size", 65_536), 65_536))
        return write_rows(
            f"struct<{schema}>",
            rows,
            struct_repr=pyorc.StructRepr.DICT,
            timezone=zoneinfo.ZoneInfo(zone),
            batch_size=250,
            **options,
        )

    return write


@contextlib.contextmanager
def clock_of(spark, zone):
    """The zone of the JVM, which writers of timestamps take."""
    zones = spark._jvm.java.util.TimeZone
    before = zones.getDefault()
    zones.setDefault(zones.getTimeZone(zone))
    try:
        yield
    finally:
        zones.setDefault(before)


def by_spark(zone="UTC", **options):
    """Written by ORC's Java library, whose row groups have a thousand rows at least."""

    def write(folder, spark):
        frame = spark.createDataFrame(table(6000, 1000))
        named = {"orc." + key.replace("_", "."): str(value) for key, value in options.items()}
        out = folder / "spark"
        with clock_of(spark, zone):
            frame.coalesce(1).write.options(**{"orc.row.index.stride": "1000", **named}).orc(str(out))
        (part,) = out.glob("part-*.orc")
        return part.read_bytes()

    return write


def by_java(**options):
    """Written by ORC's Java library itself, for types that Spark does not write: a call for each value."""
    kinds = {
        "ch": "char(5)", "vc": "varchar(5)", "day": "date", "tz0": "timestamp with local time zone", "i32": "int",
        "t0": "timestamp", "o": "boolean",
    }  # fmt: skip

    def write(folder, spark):
        jvm = spark._jvm
        schema = jvm.org.apache.orc.TypeDescription.fromString(
            f"struct<{','.join(f'{title}:{kind}' for title, kind in kinds.items())}>"
        )
        configuration = jvm.org.apache.hadoop.conf.Configuration(spark._jsc.hadoopConfiguration())
        for key, value in options.items():
            configuration.set("orc." + key.replace("_", "."), str(value))
        path = folder / "java.orc"
        writer = jvm.org.apache.orc.OrcFile.createWriter(
            jvm.org.apache.hadoop.fs.Path(str(path)),
            jvm.org.apache.orc.OrcFile.writerOptions(configuration).setSchema(schema),
        )
        columns = [values(title, 3000, 1000) for title in kinds]
        for start in range(0, 3000, 1000):
            batch = schema.createRowBatch()
            vectors = list(get_field(batch, "cols"))
            for vector, column in zip(vectors, columns, strict=True):
                for at, value in enumerate(column[start : start + 1000]):
                    set_value(vector, at, value)
            set_field(batch, "size", 1000)
            writer.addRowBatch(batch)
        writer.close()
        return path.read_bytes()

    return write


def set_value(vector, at, value):
    if value is None:
        set_field(vector, "noNulls", False)
        get_field(vector, "isNull")[at] = True
    elif isinstance(value, str):
        vector.setVal(at, value[:5].encode())
    elif isinstance(value, dt.datetime):
        micros = (value - EPOCH) // MICROSECOND
        get_field(vector, "time")[at] = micros // 1000
        get_field(vector, "nanos")[at] = micros % 1_000_000 * 1000
    else:
        number = (value - EPOCH.date()).days if isinstance(value, dt.date) else int(value)
        get_field(vector, "vector")[at] = number


ALL = ",".join([title for title in COLUMNS if title not in ("n", "li", "m", "ls", "o")] + NESTED)
IDS = list(range(1, 40))
FILES = {
    "spark plain": by_spark(compress="none", stripe_row_count=2048, dictionary_key_threshold=0),
    "spark zstd, bloom filters": by_spark(
        compress="zstd", bloom_filter_columns=ALL, bloom_filter_fpp=0.01, compress_size=1024, stripe_row_count=3000
    ),
    "spark zlib, no index": by_spark(compress="zlib", create_index="false", stripe_row_count=2048),
    "spark lz4, dictionaries, bloom filters": by_spark(
        compress="lz4", dictionary_key_threshold=1, bloom_filter_columns=ALL, compress_size=4096
    ),
    "spark snappy, in New York": by_spark(
        "America/New_York", compress="snappy", bloom_filter_columns=ALL, stripe_row_count=4096
    ),
    "java zlib, bloom filters": by_java(
        compress="zlib", row_index_stride=1000, bloom_filter_columns="ch,vc,day,tz0,i32,t0", bloom_filter_fpp=0.01,
        proleptic_gregorian="true",
    ),
    "pyarrow plain, bloom filters": by_cpp(row_index_stride=100, bloom_filter_columns=IDS, bloom_filter_fpp=0.01),
    "pyarrow zstd, stripes": by_cpp(
        row_index_stride=100, compression="zstd", stripe_size=40_000,
        dictionary_key_size_threshold=1.0, compression_strategy="compression",
    ),
    "pyarrow lz4, dictionaries": by_cpp(
        row_index_stride=250, compression="lz4", dictionary_key_size_threshold=0.8, bloom_filter_columns=IDS
    ),
    "pyarrow snappy, 0.11": by_cpp(row_index_stride=100, compression="snappy", file_version="0.11"),
    "pyorc zlib, bloom filters": by_pyorc(
        row_index_stride=100, compression_block_size=1024, bloom_filter_columns=IDS[:22], bloom_filter_fpp=0.01
    ),
    "pyorc, no index": by_pyorc(row_index_stride=0, stripe_size=20_000, memory_block_size=1024, compression_block_size=1024, compression=pyorc.CompressionKind.ZSTD),
    "pyorc, in New York": by_pyorc(
        "America/New_York", row_index_stride=500, dict_key_size_threshold=1.0, stripe_size=60_000,
        compression=pyorc.CompressionKind.NONE, bloom_filter_columns=IDS[:22],
    ),
}  # fmt: skip
