"""A pipeline: PySpark writes raw orders; orcish converts them to ORC, compacts, verifies and scans them, in Spark's
workers and out of Spark, and hands them to pandas, polars and duckdb.

`make demo` runs it. It takes about a minute, most of which is Spark's, and leaves nothing behind.
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any, TypeVar

import duckdb
import orcish
import orcish.spark as osp
import orcish_cli
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.orc
import pyspark
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import expr

ROWS = 1_000_000
PARTS = 16
SEED = 7
ROUNDS = 3

ORDERS = f"""
select
    id as order_id,
    date_add(date'2024-01-01', cast(day as int)) as order_date,
    timestamp_micros(1704067200000000 + cast(day * 86400e6 as bigint)) as created_at,
    element_at(array('new', 'paid', 'packed', 'shipped', 'returned'), 1 + cast(luck * luck * 5 as int)) as status,
    cast(1 + price * price * 9000 as decimal(12, 2)) as total,
    if(luck < 0.1, concat('please ring ', substr(md5(cast(id as string)), 1, 12)), null) as note,
    named_struct(
        'id', cast(luck * 200000 as bigint),
        'name', concat('customer ', cast(luck * 200000 as int)),
        'country', element_at(array('DE', 'FR', 'IN', 'JP', 'US'), 1 + cast(price * 5 as int))
    ) as customer,
    transform(
        sequence(1, 1 + cast(luck * 4 as int)),
        line -> named_struct('sku', concat('SKU-', (id * line) % 5000), 'quantity', cast(1 + (id + line) % 9 as int))
    ) as lines,
    map('channel', if(price < 0.3, 'store', 'web'), 'coupon', if(luck < 0.05, 'SPRING', null)) as tags
from (
    select id, id * 700 / {ROWS} + rand({SEED}) as day, rand({SEED} + 1) as luck, rand({SEED} + 2) as price
    from range(0, {ROWS}, 1, {PARTS})
)
"""

Result = TypeVar("Result")


def main() -> None:
    """Run the demo."""
    with tempfile.TemporaryDirectory(prefix="orcish-demo-") as folder:
        raw, table = Path(folder) / "raw", Path(folder) / "orders"
        with quiet(Path(folder) / "spark.log"):
            spark = start_spark(Path(folder))
        try:
            expected = write_raw(spark, raw)
            convert(spark, raw, table, expected)
            append(spark, table, expected)
            compact(spark, table, expected)
            verify(spark, table)
            map_batches(spark, table, expected)
        finally:
            with quiet(Path(folder) / "spark.log"):
                spark.stop()

        parts = sorted(table.glob("*/part-*.orc"))
        show_file(parts[0])
        orders = read_everything(table)
        check(orders, expected)
        compare(parts)
        project(parts[0])
        find(table, orders)
        hand_over(parts[0])


def heading(text: str) -> None:
    """Print a heading."""
    print(f"\n\033[1m{text}\033[0m" if sys.stdout.isatty() else f"\n== {text}", flush=True)


def timed(action: Callable[[], Result]) -> tuple[Result, float]:
    """What an action gives, and the seconds it takes."""
    start = time.perf_counter()
    result = action()
    return result, time.perf_counter() - start


def write_raw(spark: SparkSession, raw: Path) -> dict[str, Any]:
    """Let Spark write the orders, and count and sum what it reads back."""
    heading(f"PySpark writes {ROWS:,} raw orders, in {PARTS} files of Parquet")
    _, seconds = timed(lambda: spark.sql(ORDERS).write.parquet(str(raw)))
    print(f"Spark {pyspark.__version__} took {seconds:.1f} s")
    return summarize(spark.read.parquet(str(raw)))


def convert(spark: SparkSession, raw: Path, table: Path, expected: dict[str, Any]) -> None:
    """Write them as ORC, in folders by status."""
    heading('osp.convert(raw, table, partition_by=["status"], sort_within=["order_id"], bloom_filter_columns=["note"])')
    files, seconds = timed(
        lambda: osp.convert(
            str(raw),
            str(table),
            partition_by=["status"],
            sort_within=["order_id"],
            bloom_filter_columns=["note"],
            spark=spark,
        ).collect()
    )
    print(f"{len(files)} files, {sum(file['bytes'] for file in files) / 1e6:,.1f} MB, in {seconds:.2f} s")
    agree(summarize(spark.read.orc(str(table))), expected)
    print("Spark's own reader counts and sums the same")


def append(spark: SparkSession, table: Path, expected: dict[str, Any]) -> None:
    """Fail to add rows: the table stays as it was."""
    heading('df.write.format("orcish").mode("append"), of which the last task fails')
    rows = spark.read.orc(str(table)).withColumn(
        "order_id", expr(f"if(order_id = {ROWS - 1}, raise_error('no such order'), order_id)")
    )
    try:
        with quiet(table.parent / "spark.log"):
            rows.write.format("orcish").mode("append").option("partitionBy", "status").save(str(table))
    except Exception as error:
        print(f"{type(error).__name__}: {str(error).splitlines()[0][:100]}")
    agree(summarize(spark.read.format("orcish").load(str(table))), expected)
    print("the table is as it was")


def compact(spark: SparkSession, table: Path, expected: dict[str, Any]) -> None:
    """Put the small files together."""
    heading("osp.compact(table)")
    done, seconds = timed(lambda: osp.compact(str(table), spark=spark).collect())
    for row in done:
        print(f"  {row['folder']:<16} {row['action']} of {row['files']} files: {row['rows']:,} rows")
    print(f"in {seconds:.2f} s")
    agree(summarize(spark.read.orc(str(table))), expected)


def verify(spark: SparkSession, table: Path) -> None:
    """Read all of it, and compare with what its statistics, indexes and bloom filters say."""
    heading("osp.verify(table)")
    findings, seconds = timed(lambda: osp.verify(str(table), spark=spark).collect())
    if findings:
        raise SystemExit(f"what was written is not as it says: {findings}")
    print(f"no findings, in {seconds:.2f} s")


def map_batches(spark: SparkSession, table: Path, expected: dict[str, Any]) -> None:
    """Count the lines of orders in a Python function, with Spark's reader and with orcish's."""
    heading('osp.map_batches(spark, table, count_lines, "lines bigint", columns=["lines"])')

    def count_lines(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        total = sum(pc.sum(pc.struct_field(pc.list_flatten(batch["lines"]), "quantity")).as_py() for batch in batches)
        yield pa.record_batch({"lines": [total]})

    builtin = spark.read.orc(str(table)).select("lines")
    ways = {
        "spark.read.orc, mapInArrow": lambda: builtin.mapInArrow(count_lines, "lines bigint"),
        "osp.map_batches": lambda: osp.map_batches(spark, str(table), count_lines, "lines bigint", columns=["lines"]),
    }
    for name, way in ways.items():
        rows, seconds = timed(lambda way=way: way().collect())  # type: ignore[misc]
        agree({"quantities": sum(row["lines"] for row in rows)}, {"quantities": expected["quantities"]})
        print(f"  {name:<28}{seconds:6.2f} s")


def agree(found: dict[str, Any], expected: dict[str, Any]) -> None:
    """Stop where counts and sums are not those of what was written."""
    if found != expected:
        raise SystemExit(f"the rows are not those that were written:\n  {found}\n  {expected}")


@contextlib.contextmanager
def quiet(log: Path) -> Iterator[None]:
    """Send standard error, that of child processes too, to a file."""
    sys.stderr.flush()
    saved = os.dup(2)
    with log.open("w") as file:
        os.dup2(file.fileno(), 2)
    try:
        yield
    finally:
        sys.stderr.flush()
        os.dup2(saved, 2)
        os.close(saved)


def start_spark(folder: Path) -> SparkSession:
    """A local Spark that keeps to this machine and to UTC."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    options = {
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.memory": "2g",
        "spark.sql.session.timeZone": "UTC",
        "spark.driver.extraJavaOptions": "-Duser.timezone=UTC",
        "spark.local.dir": str(folder / "spark"),
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }
    builder = SparkSession.builder.appName("orcish demo").master("local[*]")
    for key, value in options.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()


def summarize(orders: DataFrame) -> dict[str, Any]:
    """Counts and sums over all columns, by Spark."""
    row = orders.selectExpr(
        "count(*) as rows",
        "sum(order_id) as order_ids",
        "sum(total) as totals",
        "sum(datediff(order_date, date'1970-01-01')) as days",
        "sum(unix_micros(created_at) % 1000000) as microseconds",
        "count(note) as notes",
        "sum(length(customer.name)) as name_lengths",
        "sum(aggregate(lines, 0, (sum, line) -> sum + line.quantity)) as quantities",
        "count(tags['coupon']) as coupons",
    ).first()
    assert row is not None
    return row.asDict()


def show_file(part: Path) -> None:
    """Print what a file says of itself, its first rows and its Arrow schema."""
    for command in ["meta"], ["data", "-n", "5", "-c", "order_id,created_at,status,total,customer", "--width", "60"]:
        heading(f"$ orcish {' '.join(command)} {part.name}")
        orcish_cli.main([*command, str(part)])
    heading(f'orcish.ORCFile("{part.name}").schema')
    print(orcish.ORCFile(part).schema.to_string(show_field_metadata=False))


def read_everything(table: Path) -> pa.Table:
    """Read all files into one table, in the order of their names."""
    heading("orcish.read_table(folder)")
    orders, seconds = timed(lambda: orcish.read_table(table))
    print(f"{orders.num_rows:,} rows, {orders.nbytes / 1e6:,.0f} MB of Arrow in {seconds:.2f} s")
    return orders


def check(orders: pa.Table, expected: dict[str, Any]) -> None:
    """Compare counts and sums with those that Spark got."""
    customer, lines = orders["customer"].combine_chunks(), orders["lines"].combine_chunks()
    tags = orders["tags"].combine_chunks()
    microseconds = pc.microsecond(orders["created_at"]), pc.millisecond(orders["created_at"])
    found = {
        "rows": orders.num_rows,
        "order_ids": pc.sum(orders["order_id"]).as_py(),
        "totals": pc.sum(orders["total"]).as_py(),
        "days": pc.sum(orders["order_date"].cast(pa.int32())).as_py(),
        "microseconds": pc.sum(microseconds[0]).as_py() + 1000 * pc.sum(microseconds[1]).as_py(),
        "notes": pc.count(orders["note"]).as_py(),
        "name_lengths": pc.sum(pc.utf8_length(customer.field("name"))).as_py(),
        "quantities": pc.sum(lines.values.field("quantity")).as_py(),
        "coupons": pc.count(pc.map_lookup(tags, "coupon", "first")).as_py(),
    }
    if found != expected:
        raise SystemExit(f"orcish and Spark disagree:\n  orcish {found}\n  Spark  {expected}")
    assert isinstance(found["totals"], Decimal)
    print("Spark counts and sums the same: " + ", ".join(f"{name} {value:,}" for name, value in found.items()))


def compare(parts: list[Path]) -> None:
    """Time orcish beside pyarrow.orc on the same files."""
    heading("Seconds to read every file into pyarrow.Table, best of three in turn")
    readers: dict[str, Callable[[Path], pa.Table]] = {
        "orcish": orcish.read_table,
        "orcish, one thread": lambda part: orcish.read_table(part, threads=1),
        "pyarrow.orc": pyarrow.orc.read_table,
    }
    best = dict.fromkeys(readers, float("inf"))
    for _ in range(ROUNDS):
        for name, read in readers.items():
            _, seconds = timed(lambda read=read: [read(part) for part in parts])  # type: ignore[misc]
            best[name] = min(best[name], seconds)
    for name, seconds in best.items():
        print(f"  {name:<20}{seconds:6.2f}")


class CountingFile(io.FileIO):
    """A file that counts the bytes that are read from it."""

    bytes_read = 0

    def read(self, size: int | None = -1, /) -> bytes:
        """Read as ever."""
        data = super().read(-1 if size is None else size) or b""
        self.bytes_read += len(data)
        return data


def project(part: Path) -> None:
    """Show that only what is asked for is read."""
    columns = ["customer.country", "total"]
    heading(f"orcish.read_table(file, columns={columns})")
    with CountingFile(part) as file:
        table = orcish.read_table(file, columns=columns)
        share = file.bytes_read / part.stat().st_size
        print(f"{file.bytes_read:,} of {part.stat().st_size:,} bytes were read ({share:.1%})")
    print(table.slice(0, 3).to_pylist())


def find(table: Path, orders: pa.Table) -> None:
    """Look rows up in all files, show what is skipped and why, and compare with what a filter in memory finds."""
    note = orders["note"].drop_null()[-1].as_py()
    cases = [
        (orcish.col("note") == note, pc.field("note") == note),
        (orcish.col("order_id").between(123_456, 123_465), (pc.field("order_id") - 123_456).isin(range(10))),
    ]
    for filters, in_memory in cases:
        heading(f"orcish.scan(table, filters={filters})")
        scan = orcish.scan(table, filters=filters, columns=["order_id", "customer"])
        found, seconds = timed(scan.to_table)
        if found != orders.filter(in_memory).select(["order_id", "customer"]):
            raise SystemExit(f"orcish and a filter in memory disagree: {found}")
        print(f"{found.num_rows} of {orders.num_rows:,} rows in {seconds * 1000:.1f} ms")
        print(str(scan.explain()).replace(f"{table}/", ""))


def hand_over(part: Path) -> None:
    """Give a file to what takes Arrow streams."""
    file = orcish.ORCFile(part)
    heading("polars.DataFrame(orcish.ORCFile(part))")
    frame, seconds = timed(lambda: pl.DataFrame(file))
    by_year = pl.col("order_date").dt.year().alias("year")
    years = frame.group_by(by_year).agg(pl.len().alias("orders"), pl.col("total").sum()).sort("year")
    print(f"{frame.height:,} rows in {seconds:.2f} s")
    with pl.Config(tbl_hide_dataframe_shape=True):
        print(years)

    heading('pandas.DataFrame.from_arrow(orcish.ORCFile(part).reader(columns=["order_date", "total"]))')
    dates, seconds = timed(lambda: pd.DataFrame.from_arrow(file.reader(columns=["order_date", "total"])))
    print(f"{len(dates):,} rows in {seconds:.2f} s")
    print(dates.head(3))

    heading("duckdb.from_arrow(orcish.ORCFile(part))")
    orders = duckdb.from_arrow(file)
    print(orders.aggregate("customer.country as country, count(*) as orders, sum(total) as total").order("country"))


if __name__ == "__main__":
    main()
