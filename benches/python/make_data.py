"""Makes the files that run.py and lookup.py read: five data sets, written as ORC by Spark (Java) and pyarrow (C++).

    python make_data.py                  # 1,000,000 rows of lineitem and taxi: some minutes, 2 GB
    python make_data.py --rows 6000000   # TPC-H scale factor 1
    python make_data.py lineitem --codecs zlib zstd --writers pyarrow

lineitem  TPC-H's widest table, 16 columns: keys, decimals, dates, flags, text (by tpchgen-cli if installed)
taxi      trips of a city's taxis, 14 columns: timestamps, prices as doubles, small integers, nulls
events    a log of nested events: structs, lists of structs, maps, long text; a tenth of the rows
wide      2,000 columns; a 250th of the rows
lookup    ascending keys, random UUIDs with a bloom filter, short text; for lookup.py
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ["TZ"] = "UTC"  # Spark writes timestamps in the local zone

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.orc
import pyarrow.parquet

HERE = Path(__file__).parent
CODECS = ["zlib", "snappy", "zstd", "lz4", "none"]
LINEITEM_ROWS_OF_SF1 = 6_001_215
WORDS = """
    about above accounts across after against along among are bold busily carefully cajole deposits dolphins
    dependencies even express final fluffily foxes furiously haggle idly instructions integrate ironic nag
    packages pending platelets pinto beans quickly quietly regular requests ruthlessly silent sleep slyly
    special the theodolites unusual use wake
""".split()  # noqa: SIM905


def texts(random: np.random.Generator, rows: int, longest: int) -> pa.Array:
    """Pieces of running text."""
    body = " ".join(random.choice(WORDS, 200_000))
    lengths = random.integers(longest // 4, longest + 1, rows)
    starts = random.integers(0, len(body) - longest, rows)
    return pa.array([body[start : start + length] for start, length in zip(starts, lengths, strict=True)])


def pick(random: np.random.Generator, choices: list[str], rows: int, weights: list[float] | None = None) -> pa.Array:
    return pa.array(choices).take(pa.array(random.choice(len(choices), rows, p=weights)))


def with_nulls(random: np.random.Generator, values: Any, share: float) -> pa.Array:
    return pa.array(values, mask=random.random(len(values)) < share)


def hundredths(values: Any) -> pa.Array:
    """decimal(15,2) of that many hundredths."""
    wide = np.zeros((len(values), 2), np.int64)
    wide[:, 0], wide[:, 1] = values, np.asarray(values) >> 63
    return pa.Array.from_buffers(pa.decimal128(15, 2), len(values), [None, pa.py_buffer(wide.tobytes())])


def lineitem(random: np.random.Generator, rows: int) -> pa.Table:
    if tool := shutil.which("tpchgen-cli", path=f"{Path(sys.executable).parent}:{os.environ.get('PATH', '')}"):
        with tempfile.TemporaryDirectory() as directory:
            scale = str(round(rows / LINEITEM_ROWS_OF_SF1, 4))
            command = [tool, "parquet", "-s", scale, "--tables=lineitem", "-o", directory, "--quiet"]
            subprocess.run(command, check=True)
            table = pyarrow.parquet.read_table(f"{directory}/lineitem.parquet")
        is_view = pa.types.is_string_view
        return table.cast(pa.schema([(f.name, pa.string() if is_view(f.type) else f.type) for f in table.schema]))
    orders = np.sort(random.integers(1, rows // 4 + 2, rows))
    quantity = random.integers(1, 51, rows)
    shipped = random.integers(8036, 10561, rows).astype(np.int32)
    return pa.table(
        {
            "l_orderkey": orders + orders // 8 * 24,
            "l_partkey": random.integers(1, 200_001, rows),
            "l_suppkey": random.integers(1, 10_001, rows),
            "l_linenumber": (np.arange(rows) % 7 + 1).astype(np.int32),
            "l_quantity": hundredths(quantity * 100),
            "l_extendedprice": hundredths(quantity * random.integers(90_000, 209_901, rows)),
            "l_discount": hundredths(random.integers(0, 11, rows)),
            "l_tax": hundredths(random.integers(0, 9, rows)),
            "l_returnflag": pick(random, ["A", "N", "R"], rows, [0.25, 0.5, 0.25]),
            "l_linestatus": pick(random, ["F", "O"], rows),
            "l_shipdate": pa.array(shipped, pa.date32()),
            "l_commitdate": pa.array(shipped + random.integers(-90, 60, rows, np.int32), pa.date32()),
            "l_receiptdate": pa.array(shipped + random.integers(1, 31, rows, np.int32), pa.date32()),
            "l_shipinstruct": pick(random, ["COLLECT COD", "DELIVER IN PERSON", "NONE", "TAKE BACK RETURN"], rows),
            "l_shipmode": pick(random, ["AIR", "FOB", "MAIL", "RAIL", "REG AIR", "SHIP", "TRUCK"], rows),
            "l_comment": texts(random, rows, 43),
        }
    )


def taxi(random: np.random.Generator, rows: int) -> pa.Table:
    start = np.datetime64("2024-01-01", "us").astype(np.int64)
    pickup = start + np.sort(random.integers(0, 90 * 86_400, rows)) * 1_000_000
    seconds = np.clip(random.lognormal(6.4, 0.7, rows), 30, 14_400).astype(np.int64)
    distance = np.round(seconds / 3600 * random.normal(11, 3, rows).clip(2, 40), 2)
    fare = np.round(3 + distance * 2.2 + seconds / 60 * 0.35, 1)
    payment = random.choice([0, 1, 2, 3, 4], rows, p=[0.05, 0.76, 0.16, 0.01, 0.02])
    tip = np.where(payment == 1, np.round(fare * random.choice([0, 0.1, 0.15, 0.2, 0.25], rows), 2), 0)
    tolls = np.where(random.random(rows) < 0.07, 6.94, 0.0)
    return pa.table(
        {
            "vendor": random.integers(1, 3, rows).astype(np.int32),
            "tpep_pickup_datetime": pickup.astype("datetime64[us]"),
            "tpep_dropoff_datetime": (pickup + seconds * 1_000_000).astype("datetime64[us]"),
            "passengers": with_nulls(random, random.choice([1, 2, 3, 4], rows, p=[0.76, 0.15, 0.05, 0.04]), 0.05),
            "distance": distance,
            "flag": with_nulls(random, np.where(random.random(rows) < 0.01, "Y", "N"), 0.05),
            "pickup_zone": np.minimum(random.zipf(1.3, rows), 263),
            "dropoff_zone": np.minimum(random.zipf(1.3, rows), 263),
            "payment": payment,
            "fare": fare,
            "tip": tip,
            "tolls": tolls,
            "total_amount": np.round(fare + tip + tolls + 4.3, 2),
            "congestion": with_nulls(random, random.choice([0.0, 2.5], rows, p=[0.1, 0.9]), 0.05),
        }
    )


def events(random: np.random.Generator, rows: int) -> pa.Table:
    rows = max(1000, rows // 10)
    users = random.zipf(1.2, rows) % 50_000
    logins = pc.binary_join_element_wise(pick(random, WORDS, rows), pc.cast(pa.array(users), pa.string()), "-")
    url = pc.binary_join_element_wise("https://api.example.com/users/", logins, "")
    actor = pa.StructArray.from_arrays([pa.array(users), logins, url], ["id", "login", "url"])

    counts = np.where(random.random(rows) < 0.5, random.geometric(0.6, rows), 0)
    offsets = pa.array(np.concatenate([[0], np.cumsum(counts)]).astype(np.int32))
    inner = int(counts.sum())
    digits = random.integers(0, 256, inner * 20, np.uint8).tobytes().hex()
    hashes = pa.array([digits[i : i + 40] for i in range(0, len(digits), 40)])
    commit = [hashes, texts(random, inner, 80), pa.array(random.random(inner) < 0.9)]
    commits = pa.ListArray.from_arrays(offsets, pa.StructArray.from_arrays(commit, ["sha", "message", "distinct"]))

    keys = np.minimum(counts, 3)
    starts = np.concatenate([[0], np.cumsum(keys)]).astype(np.int32)
    which = np.arange(starts[-1]) - np.repeat(starts[:-1], keys)
    values = random.geometric(0.3, starts[-1]).astype(np.int32)
    reactions = pa.MapArray.from_arrays(
        pa.array(starts), pa.array(["+1", "heart", "eyes"]).take(pa.array(which)), values
    )

    body = pc.if_else(pa.array(random.random(rows) < 0.2), texts(random, rows, 1200), None)
    created = np.datetime64("2024-05-01", "us") + np.sort(random.integers(0, 86_400_000_000, rows))
    return pa.table(
        {
            "id": pc.cast(pa.array(38_000_000_000 + np.cumsum(random.integers(1, 9, rows))), pa.string()),
            "type": pick(random, ["Push", "Create", "Issue", "Watch"], rows, [0.5, 0.2, 0.2, 0.1]),
            "actor": actor,
            "commits": commits,
            "reactions": reactions,
            "body": body,
            "public": random.random(rows) < 0.99,
            "created_at": created,
        }
    )


def wide(random: np.random.Generator, rows: int) -> pa.Table:
    rows = max(1000, rows // 250)
    labels = [f"label_{i:03}" for i in range(50)]
    makers: list[Callable[[], Any]] = [
        lambda: np.round(random.normal(100, 25, rows), 4),
        lambda: random.integers(0, 1_000_000, rows),
        lambda: with_nulls(random, random.integers(0, 1000, rows, np.int32), 0.1),
        lambda: pick(random, labels, rows),
        lambda: random.random(rows) < 0.3,
    ]
    return pa.table({f"c{i:04}": makers[i % len(makers)]() for i in range(2000)})


def lookup(random: np.random.Generator, rows: int) -> pa.Table:
    digits = random.integers(0, 256, rows * 16, np.uint8).tobytes().hex()
    uuids = [
        f"{digits[i : i + 8]}-{digits[i + 8 : i + 12]}-{digits[i + 12 : i + 16]}-{digits[i + 16 : i + 20]}-"
        f"{digits[i + 20 : i + 32]}"
        for i in range(0, rows * 32, 32)
    ]
    parts = [random.integers(0, 10**7, rows), random.integers(0, 5000, rows)]
    order, price = (pc.cast(pa.array(part), pa.string()) for part in parts)
    status = pick(random, ["new", "paid", "shipped", "returned"], rows, [0.1, 0.3, 0.5, 0.1])
    return pa.table(
        {
            "key": np.cumsum(random.integers(1, 21, rows)) + 10**9,
            "uuid": pa.array(uuids),
            "payload": pc.binary_join_element_wise(order, status, price, ";"),
        }
    )


DATASETS = {"lineitem": lineitem, "taxi": taxi, "events": events, "wide": wide, "lookup": lookup}
# Columns with bloom filters, and how often a value that is not there may seem to be.
BLOOM = {"lookup": "uuid"}
BLOOM_FPP = 0.05


class SparkWriter:
    """Spark with one task, so that a file keeps the order of its rows; it reads them from Parquet."""

    def __init__(self) -> None:
        from pyspark.sql import SparkSession

        settings = {
            "spark.ui.enabled": "false",
            "spark.log.level": "ERROR",
            "spark.driver.memory": "4g",
            "spark.driver.host": "127.0.0.1",
            "spark.sql.session.timeZone": "UTC",
            "spark.sql.files.maxPartitionBytes": str(8 << 30),
            # As TIMESTAMP_NTZ Spark would write timestamps as bigint.
            "spark.sql.parquet.inferTimestampNTZ.enabled": "false",
        }
        builder = SparkSession.builder.master("local[1]").appName("orcish-bench")
        for key, value in settings.items():
            builder = builder.config(key, value)
        self.session: Any = builder.getOrCreate()

    def write(self, parquet: str, to: Path, codec: str, bloom: str | None) -> None:
        with tempfile.TemporaryDirectory(dir=to.parent) as directory:
            frame = self.session.read.parquet(parquet)
            options = {"compression": codec}
            if bloom:
                options |= {"orc.bloom.filter.columns": bloom, "orc.bloom.filter.fpp": str(BLOOM_FPP)}
            frame.write.mode("overwrite").options(**options).orc(f"{directory}/out")
            (part,) = Path(directory, "out").glob("part-*.orc")
            part.rename(to)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("datasets", nargs="*", help=f"{', '.join(DATASETS)}; all by default")
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--out", type=Path, default=HERE / "data")
    parser.add_argument("--codecs", nargs="+", choices=CODECS, default=CODECS)
    parser.add_argument("--writers", nargs="+", choices=["spark", "pyarrow"], default=["spark", "pyarrow"])
    args = parser.parse_args()
    if unknown := set(args.datasets) - set(DATASETS):
        parser.error(f"no dataset {', '.join(unknown)}")
    args.out.mkdir(parents=True, exist_ok=True)
    spark = SparkWriter() if "spark" in args.writers else None

    for name in args.datasets or DATASETS:
        # combine_chunks: nested columns that are slices, as Parquet gives them, pyarrow's writer gets wrong.
        table = DATASETS[name](np.random.default_rng(7), args.rows).combine_chunks()
        bloom = BLOOM.get(name)
        size = f"{table.nbytes / 1e6:.0f} MB of Arrow"
        print(f"{name}: {table.num_rows:,} rows, {table.num_columns} columns, {size}")
        with tempfile.TemporaryDirectory(dir=args.out) as directory:
            parquet = f"{directory}/{name}.parquet"
            pyarrow.parquet.write_table(table, parquet)
            for writer in args.writers:
                for codec in args.codecs:
                    path = args.out / f"{name}.{writer}.{codec}.orc"
                    if spark and writer == "spark":
                        spark.write(parquet, path, codec, bloom)
                    else:
                        compression = "uncompressed" if codec == "none" else codec
                        # Columns have the ids of their types: 0 is the root.
                        ids = [table.schema.get_field_index(bloom) + 1] if bloom else None
                        pyarrow.orc.write_table(
                            table,
                            str(path),
                            compression=compression,
                            bloom_filter_columns=ids,
                            bloom_filter_fpp=BLOOM_FPP,
                        )
                    print(f"  {path.name:28}{path.stat().st_size / 1e6:10.1f} MB", flush=True)


if __name__ == "__main__":
    main()
