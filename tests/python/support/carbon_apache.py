"""Rows that Apache's own tables must give: those that were written, but for what Apache's writer changed."""

import base64
import datetime as dt
import gzip
import json
import os
import struct
from decimal import Context, Decimal
from pathlib import Path

import numpy as np
import pyarrow as pa

FOLDER = Path(os.environ.get("ORCISH_CARBONDATA") or Path(__file__).parents[4] / "shared/carbondata/tables")
# Tables that have no rows of their own: what Apache's reader returned is what they have.
READBACK = ("spark_altered", "spark_streamed")
NO_ROWS = ("empty", "spark_empty_table")
WIDE = Context(prec=60)
NESTED_NULLS = ("spark_complex_t", "spark_complex_nodict")
# Nulls of VARCHAR and BINARY columns are stored as nothing, which is what empty values are stored as.
EMPTY_FOR_NULL = {
    **{name: ["c_varchar"] for name in ("prim_all_null", "compress_snappy", "compress_zstd", "localdict_on")},
    **{name: ["c_varchar"] for name in ("sort_inverted_index", "v161_prim_nulls", "v161_sort_inverted_index")},
    "varchar_long": ["v"],
    "spark_longstr": ["t", "bin"],
}


def tables() -> list[str]:
    """Names of the tables that are there."""
    return sorted(path.name for path in FOLDER.iterdir() if path.is_dir()) if FOLDER.is_dir() else []


def table_path(name: str) -> str:
    return str(FOLDER / name / "table")


def lines(name: str, of: str) -> list[dict]:
    path = FOLDER / name / f"{of}.jsonl.gz"
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [json.loads(line, parse_float=Decimal) for line in file]


def expected(name: str, schema: pa.Schema) -> pa.Table:
    """The rows of a table in the types of a schema, by their ``id``."""
    if name in NO_ROWS:
        return schema.empty_table()
    rows = sorted(lines(name, "readback" if name in READBACK else "expected"), key=lambda row: row["id"])
    spark = name.startswith("spark_")
    columns = {}
    for field in schema:
        values = [value_of(row.get(field.name), field.type, spark) for row in rows]
        columns[field.name] = corrected(name, field, values)
    return pa.table(columns, schema=schema)


def value_of(value, of: pa.DataType, spark: bool):
    """A value of JSON as Python has it."""
    kinds = pa.types
    if value is None:
        return None
    if kinds.is_list(of):
        return [value_of(item, of.value_type, spark) for item in value]
    if kinds.is_map(of):
        pairs = value.items() if isinstance(value, dict) else value
        return [(key_of(key, of.key_type), value_of(item, of.item_type, spark)) for key, item in pairs]
    if kinds.is_struct(of):
        return {field.name: value_of(value.get(field.name), field.type, spark) for field in of}
    if kinds.is_decimal(of):
        return Decimal(value).quantize(Decimal(1).scaleb(-of.scale), context=WIDE)
    if kinds.is_date(of):
        return dt.date.fromisoformat(value)
    if kinds.is_timestamp(of):
        return dt.datetime.fromisoformat(value.replace("Z", "")).replace(tzinfo=dt.timezone.utc)
    if kinds.is_binary(of):
        return base64.b64decode(value) if spark else bytes.fromhex(value)
    return float(value) if kinds.is_floating(of) else value


def key_of(key: str, of: pa.DataType):
    return int(key) if pa.types.is_integer(of) else key


def corrected(name: str, field: pa.Field, values: list) -> list:
    """The values of a column as they were stored: each change is one that Apache's writer made."""
    column = field.name
    if column in EMPTY_FOR_NULL.get(name, ()):
        empty = b"" if pa.types.is_binary(field.type) else ""
        return [empty if value is None else value for value in values]
    if name in ("dates", "v161_dates") and column == "d":
        return [hybrid(value) for value in values]
    if name == "adaptive_float" and column in ("f_delta", "f_delta2"):
        return cut(values)
    if name in NESTED_NULLS and column == "aa":
        return [None if value is None else [None if item == [None] else item for item in value] for value in values]
    if name == "spark_default_all" and column == "f":
        return [None if value is None else float_bits(value) for value in values]
    return values


def hybrid(day: dt.date | None) -> dt.date | None:
    """Days before 1582-10-15 were written by the Julian calendar."""
    if day is None or day >= dt.date(1582, 10, 15):
        return day
    year, month = (day.year, day.month) if day.month > 2 else (day.year - 1, day.month + 12)
    number = 365 * year + year // 4 + (153 * (month - 3) + 2) // 5 + day.day
    # 1970-01-01 is 1969-12-19 by the Julian calendar.
    return dt.date(1970, 1, 1) + dt.timedelta(days=number - 719_471)


def cut(values: list) -> list:
    """Distances from the greatest of single precision were cut to whole numbers, not rounded."""
    singles = [np.float32(value) for value in values if value is not None]
    decimals = max(len(str(single).partition(".")[2].rstrip("0")) for single in singles)
    factor = np.float32(10**decimals)
    most = int(factor * max(singles))

    def stored(value):
        distance = int(most - float(np.float32(value)) * 10.0**decimals)
        return float(np.float32(most - distance) / factor)

    return [None if value is None else stored(value) for value in values]


def float_bits(value: float) -> float:
    """The bits of a number of single precision, read as one of double precision."""
    return struct.unpack(">d", bytes(4) + struct.pack(">f", value))[0]
