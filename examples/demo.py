"""PySpark writes a table of orders as ORC; orcish reads it into pyarrow, pandas, polars and duckdb, and writes it anew.

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
import orcish.cli
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.orc
import pyspark
from pyspark.sql import DataFrame, SparkSession

ROWS = 1_000_000
PARTS = 4
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
        table = Path(folder) / "orders"
        heading(f"PySpark writes {ROWS:,} orders")
        expected = write_with_spark(table)
        parts = sorted(table.glob("part-*.orc"))
        size = sum(part.stat().st_size for part in parts)
        print(f"{len(parts)} files, {size / 1e6:,.1f} MB, zstd")

        show_file(parts[0])
        orders = read_everything(table)
        check(orders, expected)
        compare(parts)
        project(parts[0])
        find(table, orders)
        hand_over(parts[0])
        write_again(orders, parts, table.parent / "by-day", expected)


def heading(text: str) -> None:
    """Print a heading."""
    print(f"\n\033[1m{text}\033[0m" if sys.stdout.isatty() else f"\n== {text}", flush=True)


def timed(action: Callable[[], Result]) -> tuple[Result, float]:
    """What an action gives, and the seconds it takes."""
    start = time.perf_counter()
    result = action()
    return result, time.perf_counter() - start


def write_with_spark(table: Path) -> dict[str, Any]:
    """Let Spark write the orders, and count and sum what it reads back."""
    with quiet(table.parent / "spark.log"):
        spark = start_spark(table.parent)
        try:
            options = {"compression": "zstd", "orc.bloom.filter.columns": "note"}
            _, seconds = timed(lambda: spark.sql(ORDERS).write.options(**options).orc(str(table)))
            found = summarize(spark.read.orc(str(table)))
        finally:
            spark.stop()
    print(f"Spark {pyspark.__version__} took {seconds:.1f} s to write")
    return found


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
        orcish.cli.main([*command, str(part)])
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
    by_status = frame.group_by("status").agg(pl.len().alias("orders"), pl.col("total").sum()).sort("status")
    print(f"{frame.height:,} rows in {seconds:.2f} s")
    with pl.Config(tbl_hide_dataframe_shape=True):
        print(by_status)

    heading('pandas.DataFrame.from_arrow(orcish.ORCFile(part).reader(columns=["order_date", "total"]))')
    dates, seconds = timed(lambda: pd.DataFrame.from_arrow(file.reader(columns=["order_date", "total"])))
    print(f"{len(dates):,} rows in {seconds:.2f} s")
    print(dates.head(3))

    heading("duckdb.from_arrow(orcish.ORCFile(part))")
    orders = duckdb.from_arrow(file)
    print(orders.aggregate("customer.country as country, count(*) as orders, sum(total) as total").order("country"))


def write_again(orders: pa.Table, parts: list[Path], folder: Path, expected: dict[str, Any]) -> None:
    """Write the orders with orcish, in folders by status, and let Spark count and sum what it reads of them."""
    heading('orcish.write_dataset(orders, folder, partition_by=["status"], bloom_filter_columns=["note"])')
    options: dict[str, Any] = {"bloom_filter_columns": ["note"]}
    files, seconds = timed(lambda: orcish.write_dataset(orders, folder, partition_by=["status"], **options))
    print(f"{len(files)} files, {sum(file.bytes for file in files) / 1e6:,.1f} MB, in {seconds:.2f} s")
    findings = [finding for file in files for finding in orcish.ORCFile(file.path).check()]
    if findings:
        raise SystemExit(f"what was written is not as it says: {findings}")
    with quiet(folder.parent / "spark.log"):
        spark = start_spark(folder.parent)
        try:
            found = summarize(spark.read.orc(str(folder)))
        finally:
            spark.stop()
    if found != expected:
        raise SystemExit(f"Spark reads other orders than it wrote:\n  {found}\n  {expected}")
    print("Spark reads them, and counts and sums the same")

    heading("orcish.merge(parts, one file)")
    merged, seconds = timed(lambda: orcish.merge(parts, folder.parent / "all.orc"))
    print(f"{merged.rows:,} rows of {len(parts)} files, {merged.bytes / 1e6:,.1f} MB, in {seconds:.2f} s: {merged}")
    if not orcish.read_table(folder.parent / "all.orc").equals(orders):
        raise SystemExit("the merged file has other rows")


if __name__ == "__main__":
    main()
