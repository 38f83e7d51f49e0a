"""Makes the ORC files of this folder, and beside them the rows that were given to their writers.

    python tests/data/generate.py            # all of them
    python tests/data/generate.py corrupt    # only those under corrupt/, which are made from the others

Made with Python 3.11, pyarrow 26.0.1 (ORC C++ 2.2), pyorc 0.12.0 (ORC C++ 2.x), PySpark 4.3.0 (ORC Java 2.3.0)
and cramjam 2.14.0 (brotli) on Java 17. Another version may give other bytes, with the same rows.

The rows of `a.b.orc` are in `a.jsonl`, one object a line: binary as hexadecimal digits, decimals as strings,
timestamps as `YYYY-MM-DD HH:MM:SS.ffffff` (instants with a Z), maps as lists of pairs, unions as [tag, value].
Those under groups/ have many row groups, chunks smaller than these, and bloom filters; they have no rows beside them:
tests compare parts of them with the whole.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import json
import os
import struct
import sys
import tempfile
import time
from decimal import Decimal, getcontext
from pathlib import Path
from zoneinfo import ZoneInfo

HERE = Path(__file__).parent
getcontext().prec = 60  # the default of 28 rounds what decimal(38) holds
ZONE = "America/New_York"
os.environ["TZ"] = ZONE
time.tzset()


class Map(list):
    """Pairs of a map."""


class Union(tuple):
    """Tag and value of a union."""


def plain(value):
    """A value as JSON has it."""
    match value:
        case None | bool() | int() | str():
            return value
        case float():
            return value if value == value and abs(value) != float("inf") else str(value)
        case bytes():
            return value.hex()
        case Decimal():
            return format(value, "f")
        case dt.datetime() if value.tzinfo:
            return value.astimezone(dt.UTC).strftime("%Y-%m-%d %H:%M:%S.%fZ").rjust(27, "0")
        case dt.datetime():
            return value.strftime("%Y-%m-%d %H:%M:%S.%f").rjust(26, "0")
        case dt.date():
            return value.isoformat()
        case dict():
            return {name: plain(field) for name, field in value.items()}
        case list() | tuple():
            return [plain(item) for item in value]
    raise TypeError(type(value))


def expect(stem: str, rows: list[dict]) -> None:
    lines = [json.dumps(plain(row), separators=(",", ":"), ensure_ascii=False) + "\n" for row in rows]
    (HERE / f"{stem}.jsonl").write_text("".join(lines), encoding="utf-8")


class Mixed:
    """Pseudo-random numbers that are the same everywhere."""

    def __init__(self, seed: int) -> None:
        self.state = seed * 2654435761 % 2**64 | 1

    def __call__(self, below: int) -> int:
        self.state = (self.state * 6364136223846793005 + 1442695040888963407) % 2**64
        return (self.state >> 33) % below


WORDS = ["", "a", "blue", "green", "Zürich", "日本", "a somewhat longer value of a column", "x" * 20]


def common_rows(n: int, seed: int) -> list[dict]:
    """Rows of the types that all writers have."""
    mixed = Mixed(seed)
    epoch = dt.datetime(1970, 1, 1)
    rows = []
    for i in range(n):
        row = {
            "bool": i % 3 == 0,
            "byte": i * 37 % 256 - 128,
            "short": mixed(65536) - 32768,
            "int": i * 1000 if i % 2 else -mixed(2**31),
            "long": (mixed(2**31) << 31) + i - 2**61,
            "float": i / 8 if i != 3 else float("nan"),
            "double": -i / 3 if i != 4 else float("inf"),
            "string": WORDS[mixed(len(WORDS))],
            "binary": bytes(mixed(256) for _ in range(i % 5)),
            "date": dt.date(1900, 1, 1) + dt.timedelta(days=mixed(60000)),
            "stamp": epoch + dt.timedelta(seconds=mixed(4 * 10**9) - 2 * 10**9, microseconds=mixed(10) * 100_000),
            "money": Decimal(mixed(10**9) - 10**8).scaleb(-2),
            "wide": Decimal(mixed(2**31) ** 3 - mixed(2**31) ** 4).scaleb(-10),
            "list": [mixed(100) if mixed(4) else None for _ in range(i % 4)],
            "map": Map((WORDS[k + 1], k * i) for k in range(i % 3)),
            "nest": {"x": i, "y": WORDS[i % 4], "z": {"deep": [[i], []]}},
        }
        # Each column has some nulls of its own; the first row has none, the last nothing else.
        for at, name in enumerate(row):
            if i and (i == n - 1 or mixed(7) == at % 7):
                row[name] = None
        rows.append(row)
    return rows


def pyarrow_files() -> None:
    import pyarrow as pa
    from pyarrow import orc

    rows = common_rows(20, 1)
    for row in rows:
        instant = row["stamp"]
        row["instant"] = instant and instant.replace(tzinfo=dt.UTC)
    expect("pyarrow", rows)
    schema = pa.schema(
        {
            "bool": pa.bool_(), "byte": pa.int8(), "short": pa.int16(), "int": pa.int32(), "long": pa.int64(),
            "float": pa.float32(), "double": pa.float64(), "string": pa.string(), "binary": pa.binary(),
            "date": pa.date32(), "stamp": pa.timestamp("us"), "money": pa.decimal128(10, 2),
            "wide": pa.decimal128(38, 10), "list": pa.list_(pa.int32()), "map": pa.map_(pa.string(), pa.int64()),
            "nest": pa.struct({"x": pa.int32(), "y": pa.string(),
                               "z": pa.struct({"deep": pa.list_(pa.list_(pa.int32()))})}),
            "instant": pa.timestamp("us", "UTC"),
        }
    )  # fmt: skip
    table = pa.Table.from_pylist(rows, schema)
    for codec in ["uncompressed", "zlib", "snappy", "lz4", "zstd"]:
        name = "none" if codec == "uncompressed" else codec
        with open(HERE / f"pyarrow.{name}.orc", "wb") as file:
            orc.write_table(
                table, file, compression=codec, compression_block_size=65536, dictionary_key_size_threshold=0.9
            )

    # Integers that make every sub-encoding of version 2, past the end of a run of 512.
    mixed = Mixed(5)
    rows = [
        {
            "a": i // 7,
            "b": mixed(2**16) - 2**15,
            "c": mixed(9) if i % 97 else 2**40 + i,
            "d": i * i,
            "e": 100 - 3 * i,
            "f": (i % 11) * 90 - 400,
        }
        for i in range(530)
    ]
    expect("integers", rows)
    types = {name: pa.int64() for name in "abcde"}
    table = pa.Table.from_pylist(rows, pa.schema(types | {"f": pa.int16()}))
    for name, version in [("v2", "0.12"), ("v1", "0.11")]:
        with open(HERE / f"integers.{name}.orc", "wb") as file:
            orc.write_table(table, file, file_version=version)


def pyorc_files() -> None:
    import pyorc

    # pyorc writes values of a union by their Python type.
    rows = [
        {
            "choice": [Union((0, i)), Union((1, f"text {i}")), Union((2, i / 4)), None][i % 4],
            "char": ["ab", "a word", "", None][i % 4] and ["ab", "a word", "", None][i % 4],
            "varchar": None if i % 5 == 3 else "v" * (i % 9),
            "word": WORDS[i % 3],
            "at": dt.datetime(1969, 12, 28, 23, 59, 59, 250_000) + dt.timedelta(days=i * 37, microseconds=i),
        }
        for i in range(24)
    ]
    expected = [dict(row, char=row["char"] and row["char"].ljust(8)) for row in rows]
    for row in expected:
        row["char"] = " " * 8 if row["char"] == "" else row["char"]
    expect("pyorc", expected)
    schema = "struct<choice:uniontype<int,string,double>,char:char(8),varchar:varchar(10),word:string,at:timestamp>"
    zone = ZoneInfo("Asia/Kolkata")
    for name, codec in [("snappy", pyorc.CompressionKind.SNAPPY), ("none", pyorc.CompressionKind.NONE)]:
        with open(HERE / f"pyorc.{name}.orc", "wb") as file, pyorc.Writer(
            file, schema, compression=codec, timezone=zone,
            struct_repr=pyorc.StructRepr.DICT, dict_key_size_threshold=1.0, row_index_stride=0,
        ) as writer:  # fmt: skip
            for row in rows:
                choice = row["choice"]
                writer.write(dict(row, choice=choice and choice[1], at=row["at"].replace(tzinfo=zone)))

    rows = [[i, None, -i] if i % 3 else None for i in range(10)]
    expect("root", [{"value": row} for row in rows])
    with open(HERE / "root.zlib.orc", "wb") as file, pyorc.Writer(file, "array<bigint>") as writer:
        writer.writerows(rows)


def spark_files() -> None:
    import pyspark.sql.types as t
    from pyspark.sql import SparkSession

    spark = (
        SparkSession.builder.master("local[1]")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.session.timeZone", ZONE)
        .config("spark.driver.extraJavaOptions", f"-Duser.timezone={ZONE}")
        .config("spark.sql.warehouse.dir", tempfile.mkdtemp())
        .getOrCreate()
    )
    spark.sparkContext.setLogLevel("ERROR")
    rows = common_rows(20, 2)
    for row in rows:
        row["ntz"] = row["stamp"] and row["stamp"].replace(year=1800)
    expect("spark", rows)
    nest = t.StructType().add("deep", t.ArrayType(t.ArrayType(t.IntegerType())))
    nest = t.StructType().add("x", t.IntegerType()).add("y", t.StringType()).add("z", nest)
    schema = t.StructType()
    for name, type_ in {
        "bool": t.BooleanType(), "byte": t.ByteType(), "short": t.ShortType(), "int": t.IntegerType(),
        "long": t.LongType(), "float": t.FloatType(), "double": t.DoubleType(), "string": t.StringType(),
        "binary": t.BinaryType(), "date": t.DateType(), "stamp": t.TimestampType(), "money": t.DecimalType(10, 2),
        "wide": t.DecimalType(38, 10), "list": t.ArrayType(t.IntegerType()),
        "map": t.MapType(t.StringType(), t.LongType()), "nest": nest, "ntz": t.TimestampNTZType(),
    }.items():  # fmt: skip
        schema = schema.add(name, type_)
    given = [dict(row, map=row["map"] if row["map"] is None else dict(row["map"])) for row in rows]
    frame = spark.createDataFrame(given, schema).coalesce(1)
    for codec in ["none", "zlib", "snappy", "lzo", "lz4", "zstd"]:
        with tempfile.TemporaryDirectory() as folder:
            frame.write.mode("overwrite").option("compression", codec).orc(folder)
            (part,) = Path(folder).glob("*.orc")
            (HERE / f"spark.{codec}.orc").write_bytes(part.read_bytes())
    java_files(spark._jvm, spark._jsc.hadoopConfiguration())
    rare_files(spark._jvm, spark._jsc.hadoopConfiguration())
    bloom_files(spark._jvm, spark._jsc.hadoopConfiguration())
    java_groups(spark._jvm, spark._jsc.hadoopConfiguration())
    spark.stop()


def fill(jvm, vector, at: int, value, type_) -> None:
    """Puts a value into a vector of the Java writer."""
    from py4j.java_gateway import get_field, set_field

    if value is None:
        set_field(vector, "noNulls", False)
        get_field(vector, "isNull")[at] = True
        return
    kind = type_.getCategory().toString().upper()
    match kind:
        case "STRING" | "CHAR" | "VARCHAR":
            vector.setVal(at, value.encode())
        case "BINARY" | "GEOMETRY" | "GEOGRAPHY":
            vector.setVal(at, value)
        case "TIMESTAMP" | "TIMESTAMP_INSTANT":
            vector.set(at, jvm.java.sql.Timestamp.valueOf(value.strftime("%Y-%m-%d %H:%M:%S.%f")))
        case "DECIMAL":
            vector.set(at, jvm.org.apache.hadoop.hive.common.type.HiveDecimal.create(str(value)))
        case "DATE":
            get_field(vector, "vector")[at] = (value - dt.date(1970, 1, 1)).days
        case "STRUCT":
            for field, child, name in zip(
                get_field(vector, "fields"), type_.getChildren(), type_.getFieldNames(), strict=False
            ):
                fill(jvm, field, at, value[name], child)
        case "UNION":
            get_field(vector, "tags")[at] = value[0]
            fill(jvm, get_field(vector, "fields")[value[0]], at, value[1], type_.getChildren()[value[0]])
        case "LIST" | "MAP":
            start = get_field(vector, "childCount")
            get_field(vector, "offsets")[at] = start
            get_field(vector, "lengths")[at] = len(value)
            set_field(vector, "childCount", start + len(value))
            names = ["child"] if kind == "LIST" else ["keys", "values"]
            for part, (name, child) in enumerate(zip(names, type_.getChildren(), strict=False)):
                inner = get_field(vector, name)
                inner.ensureSize(start + len(value), True)
                for i, item in enumerate(value):
                    fill(jvm, inner, start + i, item if kind == "LIST" else item[part], child)
        case "BOOLEAN":
            get_field(vector, "vector")[at] = int(value)
        case _:
            get_field(vector, "vector")[at] = value


def write_java(jvm, configuration, name: str, schema, stripes: list[list[dict]], keys=None, **settings: str) -> None:
    """Writes a file with ORC for Java itself, which has more types and settings than Spark."""
    from py4j.java_gateway import get_field, set_field

    orc = jvm.org.apache.orc
    configuration = jvm.org.apache.hadoop.conf.Configuration(configuration)
    for key, value in settings.items():
        configuration.set("orc." + key.replace("_", "."), value)
    type_ = orc.TypeDescription.fromString(schema) if isinstance(schema, str) else schema
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "file.orc"
        options = orc.OrcFile.writerOptions(configuration).setSchema(type_)
        if keys is not None:
            options = options.setKeyProvider(keys).encrypt("secret:name,code").masks("sha256:code")
        writer = orc.OrcFile.createWriter(jvm.org.apache.hadoop.fs.Path(str(path)), options)
        for rows in stripes:
            batch = type_.createRowBatch(max(1024, len(rows)))
            set_field(batch, "size", len(rows))
            for i, row in enumerate(rows):
                for column, child, field in zip(
                    get_field(batch, "cols"), type_.getChildren(), type_.getFieldNames(), strict=False
                ):
                    fill(jvm, column, i, row[field], child)
            writer.addRowBatch(batch)
            writer.writeIntermediateFooter()
        writer.close()
        (HERE / name).write_bytes(path.read_bytes())


def java_files(jvm, configuration) -> None:
    rows = [
        {
            "choice": [Union((0, i)), Union((1, f"text {i}")), Union((2, [i, None])), None, Union((1, None))][i % 5],
            "char": None if i % 5 == 2 else ["ab", "a word", ""][i % 3],
            "varchar": WORDS[i % 4],
            "word": "same" if i < 8 else WORDS[i % 3],
            "at": dt.datetime(1969, 12, 29, 12, 0, 0, 250_000) + dt.timedelta(hours=i * 7001, microseconds=i),
            "instant": dt.datetime(2020, 2, 29, 1, 2, 3) + dt.timedelta(days=i * 17),
            "money": Decimal(i * 1001 - 7000).scaleb(-3),
            "maps": [Map([(f"k{i}", {"a": i, "b": [b"\0", None]})]), None][: i % 3],
            "none": None,
            "hollow": {} if i % 4 else None,
        }
        for i in range(30)
    ]
    schema = (
        "struct<choice:uniontype<int,string,array<int>>,char:char(8),varchar:varchar(10),word:string,at:timestamp,"
        "instant:timestamp with local time zone,money:decimal(12,3),"
        "maps:array<map<string,struct<a:int,b:array<binary>>>>,none:int,hollow:struct<>>"
    )
    expected = [
        dict(
            row,
            char=row["char"] if row["char"] is None else row["char"].ljust(8),
            choice=None if row["choice"] == (1, None) else row["choice"],
            instant=row["instant"].replace(tzinfo=ZoneInfo(ZONE)),
        )
        for row in rows
    ]
    expect("java", expected)
    stripes = [rows[:12], rows[12:20], rows[20:]]
    write_java(
        jvm,
        configuration,
        "java.v2.orc",
        schema,
        stripes,
        compress="ZSTD",
        compress_size="1024",
        dictionary_key_threshold="0.9",
    )
    write_java(jvm, configuration, "java.v1.orc", schema, stripes, compress="NONE", write_format="0.11",
               dictionary_key_threshold="1.0")  # fmt: skip
    expect("empty", [])
    write_java(jvm, configuration, "empty.zlib.orc", "struct<a:int,b:array<string>>", [], compress="ZLIB")


def rare_files(jvm, configuration) -> None:
    """What Java writes only when asked to: shapes, decimals of the 1.9999 draft, encrypted columns."""
    points = [b"\x01\x01\x00\x00\x00" + struct.pack("<dd", i, -i / 2) for i in range(12)]
    rows = [{"id": i, "shape": point if i % 5 else None, "place": point} for i, point in enumerate(points)]
    expect("shapes", rows)
    kinds = jvm.org.apache.orc.TypeDescription
    schema = kinds.createStruct().addField("id", kinds.createInt())
    schema = schema.addField("shape", kinds.createGeometry()).addField("place", kinds.createGeography())
    write_java(jvm, configuration, "shapes.zlib.orc", schema, [rows], compress="ZLIB")

    rows = [
        {
            "money": None if i % 7 == 3 else Decimal(i * 1001 - 7000).scaleb(-3),
            "most": Decimal(10**18 - 1 - i).scaleb(-2) * (-1) ** i,
            "wide": Decimal(10**25 + i).scaleb(-4),
            "word": WORDS[i % 3],
        }
        for i in range(30)
    ]
    expect("draft", rows)
    schema = "struct<money:decimal(12,3),most:decimal(18,2),wide:decimal(30,4),word:string>"
    write_java(jvm, configuration, "draft.none.orc", schema, [rows[:20], rows[20:]], compress="NONE",
               write_format="UNSTABLE-PRE-2.0")  # fmt: skip

    # Masked, not decrypted: nothing is left of the name, and a digest of the code.
    rows = [{"id": i, "name": f"name {i}", "code": f"code {i}"} for i in range(10)]
    digest = [hashlib.sha256(row["code"].encode()).hexdigest().upper() for row in rows]
    expect("masked", [dict(row, name=None, code=code) for row, code in zip(rows, digest, strict=True)])
    keys = jvm.org.apache.orc.InMemoryKeystore()
    keys.addKey("secret", jvm.org.apache.orc.EncryptionAlgorithm.AES_CTR_128, bytes(range(16)))
    schema = "struct<id:int,name:string,code:string>"
    write_java(jvm, configuration, "masked.zstd.orc", schema, [rows], keys, compress="ZSTD")


def bloom_files(jvm, configuration) -> None:
    """Bloom filters of all columns, by Java (both streams, two stripes) and C++."""
    import pyarrow as pa
    from pyarrow import orc

    types = {
        "byte": ("tinyint", pa.int8()), "short": ("smallint", pa.int16()), "int": ("int", pa.int32()),
        "long": ("bigint", pa.int64()), "float": ("float", pa.float32()), "double": ("double", pa.float64()),
        "string": ("string", pa.string()), "binary": ("binary", pa.binary()), "date": ("date", pa.date32()),
        "stamp": ("timestamp", pa.timestamp("us")), "money": ("decimal(10,2)", pa.decimal128(10, 2)),
        "wide": ("decimal(38,10)", pa.decimal128(38, 10)),
    }  # fmt: skip
    rows = [{name: row[name] for name in types} for row in common_rows(60, 7)]
    rows[0] |= {"float": -0.0, "double": -0.0, "string": "", "binary": b"", "money": Decimal("0.00")}
    expect("bloom", rows)
    names = list(types)
    schema = "struct<" + ",".join(f"{name}:{type_}" for name, (type_, _) in types.items()) + ">"
    write_java(jvm, configuration, "bloom.java.orc", schema, [rows[:30], rows[30:]], compress="ZSTD",
               bloom_filter_columns=",".join(names), bloom_filter_write_version="original",
               row_index_stride="1000", bloom_filter_fpp="0.2")  # fmt: skip
    table = pa.Table.from_pylist(rows, pa.schema({name: type_ for name, (_, type_) in types.items()}))
    with open(HERE / "bloom.pyarrow.orc", "wb") as file:
        orc.write_table(
            table, file, compression="zstd", row_index_stride=1000, bloom_filter_fpp=0.2,
            bloom_filter_columns=list(range(1, len(types) + 1)),
        )  # fmt: skip


GROUPS_SCHEMA = (
    "struct<id:int,bool:boolean,byte:tinyint,short:smallint,long:bigint,float:float,double:double,word:string,"
    "text:string,char:char(6),binary:binary,date:date,at:timestamp,money:decimal(10,2),wide:decimal(30,4),"
    "list:array<int>,map:map<string,bigint>,nest:struct<x:int,y:array<struct<a:string,b:boolean>>>,"
    "choice:uniontype<int,string,array<tinyint>>,none:int,hollow:struct<>>"
)


def group_rows(n: int, seed: int, period: int) -> list[dict]:
    """Rows with an ascending id, and stretches of a few kinds so that runs of all sorts begin and end anywhere."""
    mixed = Mixed(seed)
    rows = []
    for i in range(n):
        stretch = i // 50 % period
        k = mixed(40) if stretch == 0 else i % 40 if stretch == 2 else i // 9 // (period - 2) % 40
        row = {
            "id": i,
            "bool": k % 3 == 0,
            "byte": k - 20,
            "short": k * 700 - 14000,
            "long": (k << 40) - i // 30,
            "float": k / 4,
            "double": -k / 8 if i % 211 else float("nan"),
            "word": WORDS[k % 7],
            "text": f"{i // 25:05}{'ab' * (k % 4)}"[: 5 + k % 9],
            "char": WORDS[k % 4][:6],
            "binary": bytes([k]) * (k % 6),
            "date": dt.date(1980, 1, 1) + dt.timedelta(days=i // 3 + k),
            "at": dt.datetime(1990, 1, 1) + dt.timedelta(hours=i, milliseconds=k % 3 * 250),
            "money": Decimal(k * 1001 - 7000).scaleb(-2),
            "wide": Decimal((k << 62) - i // 20).scaleb(-4),
            "list": [j if j % 3 else None for j in range(k % 5)],
            "map": Map((WORDS[j + 1], k * j) for j in range(k % 3)),
            "nest": {"x": k, "y": [{"a": WORDS[j + k % 2], "b": None if j == 2 else j == k % 2} for j in range(k % 4)]},
            "choice": [Union((0, k)), Union((1, WORDS[k % 5])), Union((2, [1, None][: k % 3]))][k % 3],
            "none": None,
            "hollow": {} if k % 4 else None,
        }
        # Nulls in some row groups of each column and not in others; the id has none.
        for at, name in enumerate(row):
            if at and (i // 70 + at) % 3 == 0 and (k + at) % 5 == 0:
                row[name] = None
        rows.append(row)
    return rows


def java_groups(jvm, configuration) -> None:
    """Java has no fewer than 1000 rows a row group."""
    rows = group_rows(2080, 11, 40)
    settings = {"row_index_stride": "1000", "bloom_filter_columns": "id,word,text", "bloom_filter_fpp": "0.3",
                "compress_size": "256", "buffer_size_enforce": "true"}  # fmt: skip
    stripes = [rows[:2030], rows[2030:]]
    write_java(jvm, configuration, "groups/java.zlib.orc", GROUPS_SCHEMA, stripes, compress="ZLIB",
               dictionary_key_threshold="0.1", **settings)  # fmt: skip
    write_java(jvm, configuration, "groups/java.v1.orc", GROUPS_SCHEMA, stripes, compress="ZLIB",
               write_format="0.11", dictionary_key_threshold="0", **settings)  # fmt: skip


def pyorc_groups() -> None:
    import pyorc

    zone = ZoneInfo("UTC")
    given = []
    for row in group_rows(170, 12, 3):
        choice, at = row["choice"], row["at"]
        # A union takes values by their Python type; with nulls, ORC C++ mixes its children up beyond a row group.
        choice = -1 if choice is None or choice[0] == 2 else choice[1]
        given.append(dict(row, choice=choice, at=at and at.replace(tzinfo=zone), map=row["map"] and dict(row["map"])))
    schema = GROUPS_SCHEMA.replace("uniontype<int,string,array<tinyint>>", "uniontype<int,string>")
    schema = schema.replace(",hollow:struct<>", "")
    codecs = pyorc.CompressionKind
    for name, codec, threshold in [
        ("none", codecs.NONE, 1.0),
        ("snappy", codecs.SNAPPY, 0.0),
        ("zstd", codecs.ZSTD, 1.0),
    ]:
        with open(HERE / f"groups/cpp.{name}.orc", "wb") as file, pyorc.Writer(
            file, schema, compression=codec, timezone=zone, struct_repr=pyorc.StructRepr.DICT,
            dict_key_size_threshold=threshold, row_index_stride=20, compression_block_size=64, memory_block_size=64,
            bloom_filter_columns=["id", "word", "text"], bloom_filter_fpp=0.3,
        ) as writer:  # fmt: skip
            for row in given:
                row.pop("hollow", None)
                writer.write(row)


# Files as parts that can be changed and put together again.


def varint(value: int) -> bytes:
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


class Message(list):
    """A protobuf message: pairs of a field number and a number or bytes."""

    @classmethod
    def parse(cls, data: bytes) -> Message:
        message, at = cls(), 0

        def number() -> int:
            nonlocal at
            value = shift = 0
            while True:
                byte = data[at]
                at += 1
                value |= (byte & 127) << shift
                shift += 7
                if byte < 128:
                    return value

        while at < len(data):
            key = number()
            if key & 7 == 0:
                message.append((key >> 3, number()))
            else:
                size = {1: 8, 5: 4}.get(key & 7) or number()
                assert key & 7 == 2
                message.append((key >> 3, data[at : at + size]))
                at += size
        return message

    def bytes(self) -> bytes:
        out = b""
        for field, value in self:
            if isinstance(value, int):
                out += varint(field << 3) + varint(value % 2**64)
            else:
                out += varint(field << 3 | 2) + varint(len(value)) + bytes(value)
        return out

    def get(self, field: int, default=None):
        return next((value for at, value in self if at == field), default)

    def all(self, field: int) -> list:
        return [value for at, value in self if at == field]

    def set(self, field: int, *values) -> None:
        at = next((i for i, (number, _) in enumerate(self) if number == field), len(self))
        self[:] = [pair for pair in self if pair[0] != field]
        self[at:at] = [(field, value) for value in values]


class Parts:
    """An uncompressed file: stripes of streams, footer and postscript."""

    def __init__(self, data: bytes) -> None:
        length = data[-1]
        self.postscript = Message.parse(data[-1 - length : -1])
        footer_length = self.postscript.get(1)
        self.footer = Message.parse(data[-1 - length - footer_length : -1 - length])
        start = len(data) - 1 - length - footer_length
        self.metadata = data[start - self.postscript.get(5, 0) : start]
        self.stripes = []
        for raw in self.footer.all(3):
            info = Message.parse(raw)
            at = info.get(1)
            end = at + info.get(2, 0) + info.get(3, 0)
            footer = Message.parse(data[end : end + info.get(4)])
            streams = []
            for stream in map(Message.parse, footer.all(1)):
                size = stream.get(3, 0)
                streams.append([stream, data[at : at + size]])
                at += size
            self.stripes.append([info, streams, footer])

    def build(self, pack=lambda data: data, kind: int = 0, chunk_size: int = 0) -> bytes:
        out = b"ORC"
        infos = []
        for info, streams, footer in self.stripes:
            info, offset, index = Message(info), len(out), 0
            heads = []
            for head, body in streams:
                head, body = Message(head), pack(body)
                if not getattr(head, "stated", False):
                    head.set(3, len(body))
                heads.append(head.bytes())
                index += len(body) if head.get(1, 0) >= 6 else 0
                out += body
            footer = Message(footer)
            footer.set(1, *heads)
            stored = pack(footer.bytes())
            info.set(1, offset)
            info.set(2, index)
            info.set(3, len(out) - offset - index)
            info.set(4, len(stored))
            infos.append(info.bytes())
            out += stored
        footer, postscript = Message(self.footer), Message(self.postscript)
        footer.set(3, *infos)
        content = len(out)
        metadata = pack(self.metadata) if self.metadata else b""
        stored = pack(footer.bytes())
        postscript.set(1, len(stored))
        postscript.set(2, kind)
        if chunk_size:
            postscript.set(3, chunk_size)
        postscript.set(5, len(metadata))
        tail = postscript.bytes()
        assert content + len(metadata) + len(stored) == len(out) + len(metadata) + len(stored)
        return out + metadata + stored + tail + bytes([len(tail)])


def brotli_file() -> None:
    """No writer at hand has brotli: the streams of another file, packed again."""
    import cramjam

    def pack(data: bytes) -> bytes:
        out = b""
        for at in range(0, len(data), 4096):
            chunk = data[at : at + 4096]
            packed = bytes(cramjam.brotli.compress(chunk, level=9))
            body, original = (packed, 0) if len(packed) < len(chunk) else (chunk, 1)
            out += (len(body) * 2 + original).to_bytes(3, "little") + body
        return out

    parts = Parts((HERE / "spark.none.orc").read_bytes())
    (HERE / "spark.brotli.orc").write_bytes(parts.build(pack, kind=6, chunk_size=4096))


def hive_file() -> None:
    """Hive 0.11 did not record digits of decimals: another file of that version, without them."""
    parts = Parts((HERE / "java.v1.orc").read_bytes())
    kinds = [Message.parse(raw) for raw in parts.footer.all(4)]
    (decimal,) = [kind for kind in kinds if kind.get(5)]
    decimal.set(5)
    decimal.set(6)
    parts.footer.set(4, *[kind.bytes() for kind in kinds])
    (HERE / "hive.none.orc").write_bytes(parts.build())
    rows = [json.loads(line) for line in (HERE / "java.jsonl").read_text(encoding="utf-8").splitlines()]
    expect("hive", [dict(row, money=row["money"] + "0" * 7) for row in rows])


def main() -> None:
    if sys.argv[1:] != ["corrupt"]:
        pyarrow_files()
        (HERE / "groups").mkdir(exist_ok=True)
        pyorc_files()
        pyorc_groups()
        spark_files()
        brotli_file()
        hive_file()
    if (HERE / "corrupt.py").exists():
        import corrupt

        corrupt.main()


if __name__ == "__main__":
    main()
