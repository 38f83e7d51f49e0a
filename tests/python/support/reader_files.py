"""Files that have the features on which readers differ."""

from __future__ import annotations

import datetime
import pathlib
import shutil
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import orcish
import pyarrow as pa
import pyorc

__all__ = ["FILES", "feature_file"]

DATA = pathlib.Path(__file__).parents[2] / "data"
ROWS = pa.table({"id": range(2000), "s": [f"v{at % 7}" for at in range(2000)]})
OLD = datetime.date(1500, 1, 1)
BIG = datetime.datetime(9999, 12, 31)


def of_orcish(rows: pa.Table, **options: Any) -> Callable[[pathlib.Path], object]:
    options = {"compression": "zlib", "arrow_schema": False, **options}
    return lambda path: orcish.write_table(rows, path, **options)


def of_pyorc(schema: str, rows: list[Any], **options: Any) -> Callable[[pathlib.Path], object]:
    def write(path: pathlib.Path) -> None:
        with path.open("wb") as file, pyorc.Writer(file, schema, **options) as writer:
            for row in rows:
                writer.write(row)

    return write


def of_old_orcish(rows: pa.Table) -> Callable[[pathlib.Path], object]:
    """As :func:`of_orcish`, with the software version of files whose fields of null structs record no null."""

    def write(path: pathlib.Path) -> None:
        of_orcish(rows, compression="none")(path)
        data = path.read_bytes()
        version = f"orcish {orcish.__version__}".encode()
        assert data.count(version) == 1
        path.write_bytes(data.replace(version, b"orcish 0.0.9".ljust(len(version))))

    return write


def copied(name: str) -> Callable[[pathlib.Path], object]:
    return lambda path: shutil.copy(DATA / name, path)


def named(*names: str) -> pa.Table:
    return pa.table([pa.array([at]) for at, _ in enumerate(names)], names=list(names))


def typed(kind: str, storage: pa.DataType, values: list[Any]) -> pa.Table:
    schema = pa.schema([pa.field("x", storage, metadata={"orc.type": kind})])
    return pa.table([pa.array(values, storage)], schema=schema)


FILES: dict[str, Callable[[pathlib.Path], object]] = {
    **{
        f"codec {name}": of_orcish(ROWS, compression=name)
        for name in ("none", "zlib", "snappy", "lz4", "zstd", "brotli")
    },
    "codec lzo": copied("spark.lzo.orc"),
    "format 0.11": of_orcish(ROWS, version="0.11"),
    "root": of_pyorc("int", [1, 2]),
    "union": of_pyorc("struct<u:uniontype<int,string>>", [(1,), ("x",)]),
    "timestamp instant": of_orcish(pa.table({"t": pa.array([0, 1], pa.timestamp("us", "UTC"))})),
    "geometry": of_orcish(typed("geometry", pa.binary(), [b"a"])),
    "encryption": copied("masked.zstd.orc"),
    "char": of_pyorc("struct<c:char(5)>", [("ab",)]),
    "varchar": of_pyorc("struct<c:varchar(5)>", [("ab",)]),
    "decimal wide": of_orcish(pa.table({"d": pa.array([Decimal("1.5")], pa.decimal128(38, 10))})),
    "attribute types": of_orcish(pa.table({"d": pa.array([1], pa.duration("us"))})),
    "acid": of_orcish(named("operation", "originalTransaction", "bucket", "rowId", "currentTransaction", "row")),
    "names empty": of_orcish(named("")),
    "names odd": of_orcish(named("a.b", "a`b", "a b", "ä", 'a"b', "a<b>", "a,b")),
    "names twice": of_orcish(named("a", "a")),
    "names case": of_orcish(named("a", "A")),
    "dates proleptic": of_orcish(pa.table({"d": [OLD]})),
    "dates julian": of_pyorc("struct<d:date>", [(OLD,)]),
    "timestamps beyond": of_orcish(pa.table({"t": pa.array([BIG], pa.timestamp("us"))})),
    "null lists": of_orcish(pa.table({"l": pa.array([None, []], pa.list_(pa.int64()))})),
    "null structs": of_old_orcish(pa.table({"s": pa.array([None, {"x": 1}], pa.struct({"x": pa.int64()}))})),
    "chunks large": of_orcish(ROWS, compression_block_size=6 << 20),
    "bloom utf8": of_orcish(ROWS, bloom_filter_columns=["id", "s"]),
    "dictionary": of_orcish(ROWS, dictionary=True),
    "zone offset": of_orcish(pa.table({"t": pa.array([0], pa.timestamp("us"))}), timezone="GMT+08:00"),
    "zone short": of_orcish(pa.table({"t": pa.array([0], pa.timestamp("us"))}), timezone="PST"),
}
"""Writers of files, by the feature that they have."""


def feature_file(feature: str, folder: pathlib.Path) -> pathlib.Path:
    """Writes the file that has a feature."""
    path = folder / f"{feature.replace(' ', '_')}.orc"
    FILES[feature](path)
    return path
