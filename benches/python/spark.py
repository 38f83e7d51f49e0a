"""Work on tables in Spark, the builtin way and that of orcish, side by side; prints a Markdown table.

    python make_data.py                           # once: writes data/, whose lineitem is written again by Spark here
    python spark.py
    python spark.py rows q1 --rounds 5 --files DIR

CPU time is user and system of this process, of Spark's JVM and of its Python workers; every round does each work in
each way once, every other round in reverse order, after one round that is not counted, and medians are shown. Results
of both ways are compared. Lineitem is in 8 files of Spark, and for `compact` in 200 of them.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

os.environ["TZ"] = "UTC"
time.tzset()
os.environ["PYSPARK_PYTHON"] = sys.executable

import numpy as np  # noqa: E402
import orcish  # noqa: E402
import orcish.spark as osp  # noqa: E402
import pyarrow as pa  # noqa: E402
import pyarrow.compute as pc  # noqa: E402
from pyspark.sql import DataFrame, SparkSession  # noqa: E402
from run import HERE, seconds, table, versions  # noqa: E402

CORES = 2
SMALL_FILES = 200

Q1 = """
select l_returnflag, l_linestatus, sum(l_quantity), sum(l_extendedprice), sum(l_extendedprice * (1 - l_discount)),
    sum(l_extendedprice * (1 - l_discount) * (1 + l_tax)), count(*)
from lineitem where l_shipdate <= date'1998-09-02' group by l_returnflag, l_linestatus order by 1, 2
"""
Q1_COLUMNS = ["l_returnflag", "l_linestatus", "l_quantity", "l_extendedprice", "l_discount", "l_tax", "l_shipdate"]
Q6 = """
select sum(l_extendedprice * l_discount) from lineitem where l_shipdate >= date'1994-01-01'
    and l_shipdate < date'1995-01-01' and l_discount between 0.05 and 0.07 and l_quantity < 24
"""
Q6_WHERE = (
    "l_shipdate >= date '1994-01-01' and l_shipdate < date '1995-01-01' "
    "and l_discount between 0.05 and 0.07 and l_quantity < 24"
)

Batches = Iterator[pa.RecordBatch]


def start() -> SparkSession:
    """A local session of two cores."""
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.log.level": "ERROR",
        "spark.driver.memory": "4g",
        "spark.driver.host": "127.0.0.1",
        "spark.sql.session.timeZone": "UTC",
    }
    builder = SparkSession.builder.master(f"local[{CORES}]").appName("orcish-bench")
    for key, value in settings.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()


def cpu() -> float:
    """CPU seconds of this process and all below it, with those that have ended."""
    parents: dict[int, int] = {}
    ticks: dict[int, int] = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                fields = Path(f"/proc/{entry}/stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            parents[int(entry)] = int(fields[1])
            ticks[int(entry)] = sum(map(int, fields[11:15]))
    own = {os.getpid()}
    while more := {pid for pid, parent in parents.items() if parent in own} - own:
        own |= more
    return sum(ticks.get(pid, 0) for pid in own) / os.sysconf("SC_CLK_TCK")


class Bench:
    """The tables, and each work in each way: what it gives can be compared."""

    def __init__(self, spark: SparkSession, source: Path, folder: Path) -> None:
        self.spark = spark
        self.folder = folder
        self.table = str(folder / "lineitem")
        self.small = str(folder / "small")
        frame = spark.read.format("parquet" if source.suffix == ".parquet" else "orc").load(str(source))
        frame.repartition(8).sortWithinPartitions("l_orderkey").write.orc(self.table)
        spark.read.orc(self.table).repartition(SMALL_FILES).write.orc(self.small)
        self.lineitem().createOrReplaceTempView("lineitem")

    def lineitem(self) -> DataFrame:
        """Lineitem by Spark's reader."""
        return self.spark.read.orc(self.table)

    def works(self) -> dict[str, dict[str, Callable[[], Any]]]:
        """By name, each way of doing a work; the first is the builtin one."""
        return {
            "rows": {"spark.read.orc → mapInArrow": self.rows_builtin, "map_batches": self.rows},
            "q1": {"SQL": self.q1_builtin, "map_batches": self.q1},
            "q6": {"SQL": self.q6_builtin, "map_batches": self.q6},
            "source": {"spark.read.orc → noop": self.source_builtin, 'format("orcish") → noop': self.source},
            "write": {
                "df.write.orc": self.write_builtin,
                'df.write.format("orcish")': self.write,
                "convert": self.convert,
            },
            "compact": {
                "spark.read.orc → df.write.orc": self.compact_builtin,
                "compact": self.compact,
                "compact, rewrite": self.recompact,
            },
        }

    def rows_builtin(self) -> int:
        """Rows in a Python function."""
        return count(self.lineitem().mapInArrow(count_rows, "n bigint"))

    def rows(self) -> int:
        """The same."""
        return count(osp.map_batches(self.spark, self.table, count_rows, "n bigint"))

    def q1_builtin(self) -> list[tuple[Any, ...]]:
        """Query 1 of TPC-H, without the averages."""
        return [tuple(row) for row in self.spark.sql(Q1).collect()]

    def q1(self) -> list[tuple[Any, ...]]:
        """The same in the workers."""
        found = osp.map_batches(
            self.spark,
            self.table,
            q1_of_task,
            "f string, s string, q bigint, p bigint, d bigint, c bigint, n bigint",
            columns=Q1_COLUMNS[:-1],
            filters=orcish.col("l_shipdate") <= pa.scalar(10471, pa.int32()).cast(pa.date32()),
        )
        sums: dict[tuple[str, str], list[int]] = {}
        for row in found.collect():
            total = sums.setdefault((row.f, row.s), [0] * 5)
            total[:] = [a + b for a, b in zip(total, row[2:], strict=True)]
        from decimal import Decimal

        def scaled(value: int, scale: int) -> Decimal:
            return Decimal(value).scaleb(-scale)

        return [
            (*key, scaled(q, 2), scaled(p, 2), scaled(d, 4), scaled(c, 6), n)
            for key, (q, p, d, c, n) in sorted(sums.items())
        ]

    def q6_builtin(self) -> Any:
        """Query 6 of TPC-H."""
        return self.spark.sql(Q6).collect()[0][0]

    def q6(self) -> Any:
        """The same in the workers."""
        from decimal import Decimal

        columns = ["l_extendedprice", "l_discount"]
        found = osp.map_batches(self.spark, self.table, q6_of_task, "r bigint", columns=columns, filters=Q6_WHERE)
        return Decimal(sum(row.r for row in found.collect())).scaleb(-4)

    def source_builtin(self) -> None:
        """All columns into the JVM."""
        self.lineitem().write.format("noop").mode("overwrite").save()

    def source(self) -> None:
        """The same."""
        self.spark.read.format("orcish").load(self.table).write.format("noop").mode("overwrite").save()

    def write_builtin(self) -> float:
        """Reads and writes."""
        self.lineitem().write.mode("overwrite").orc(str(self.folder / "out"))
        return self.size("out")

    def write(self) -> float:
        """The same."""
        target = str(self.folder / "out-orcish")
        shutil.rmtree(target, ignore_errors=True)
        name = "spark.sql.execution.arrow.maxBytesPerBatch"
        self.spark.conf.set(name, str((1 << 31) - 1))
        self.lineitem().write.format("orcish").mode("append").save(target)
        self.spark.conf.unset(name)
        return self.size("out-orcish")

    def convert(self) -> float:
        """The same in the workers."""
        osp.convert(self.table, str(self.folder / "out-convert"), existing_data="overwrite", spark=self.spark)
        return self.size("out-convert")

    def compact_builtin(self) -> float:
        """Small files into few."""
        self.spark.read.orc(self.small).coalesce(CORES).write.mode("overwrite").orc(str(self.folder / "compacted"))
        return self.size("compacted")

    def compact(self) -> float:
        """Their stripes copied."""
        return self.compacted(rewrite=False)

    def recompact(self) -> float:
        """Their rows written anew."""
        return self.compacted(rewrite=True)

    def compacted(self, *, rewrite: bool) -> float:
        """The files are put back first, which takes next to no time: they are links."""
        target = self.folder / "links"
        shutil.rmtree(target, ignore_errors=True)
        target.mkdir()
        for file in Path(self.small).glob("part-*.orc"):
            os.link(file, target / file.name)
        osp.compact(str(target), target_file_size="100MB", rewrite=rewrite, spark=self.spark)
        return self.size("links")

    def size(self, name: str) -> float:
        """Bytes of a table's files."""
        return float(sum(file.stat().st_size for file in (self.folder / name).rglob("part-*.orc")))


def count(frame: DataFrame) -> int:
    """The sum of a column."""
    return sum(row.n for row in frame.collect())


def count_rows(batches: Batches) -> Batches:
    """Rows of each batch, counted in Python."""
    yield pa.record_batch({"n": pa.array([sum(batch.num_rows for batch in batches)], pa.int64())})


def unscaled(column: Any) -> pa.Array:
    """Decimals of 18 digits as whole numbers: the lower halves of their 128 bits."""
    halves = np.frombuffer(column.buffers()[1], np.int64)
    return pa.array(halves[column.offset * 2 : (column.offset + len(column)) * 2 : 2])


def q1_of_task(batches: Batches) -> Batches:
    """The groups of a task."""
    parts = []
    for batch in batches:
        quantity, price, discount, tax = (unscaled(batch[name]) for name in Q1_COLUMNS[2:6])
        reduced = pc.multiply(price, pc.subtract(100, discount))
        rows = {
            "f": batch["l_returnflag"],
            "s": batch["l_linestatus"],
            "q": quantity,
            "p": price,
            "d": reduced,
            "c": pc.multiply(reduced, pc.add(100, tax)),
            "n": pa.repeat(1, len(batch)),
        }
        parts.append(grouped(pa.table(rows)))
    if parts:
        yield from grouped(pa.concat_tables(parts)).combine_chunks().to_batches()


def grouped(rows: pa.Table) -> pa.Table:
    """Sums by the first two columns."""
    names = rows.column_names
    sums = rows.group_by(names[:2], use_threads=False).aggregate([(name, "sum") for name in names[2:]])
    return sums.select([*names[:2], *(f"{name}_sum" for name in names[2:])]).rename_columns(names)


def q6_of_task(batches: Batches) -> Batches:
    """The sum of a task."""
    total = 0
    for batch in batches:
        product = pc.multiply(unscaled(batch["l_extendedprice"]), unscaled(batch["l_discount"]))
        total += pc.sum(product).as_py() or 0
    yield pa.record_batch({"r": pa.array([total], pa.int64())})


def main() -> None:
    """Run what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("works", nargs="*", metavar="WORK", help="of rows, q1, q6, source, write, compact")
    parser.add_argument("--files", type=Path, default=HERE / "data")
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    files = sorted([*args.files.glob("lineitem*.parquet"), *args.files.glob("lineitem*.orc")])
    if not files:
        parser.error(f"{args.files} has no lineitem: run make_data.py")
    spark = start()
    print(", ".join(f"{name} {version}" for name, version in versions().items()), f"{os.cpu_count()} cores", sep=", ")
    with tempfile.TemporaryDirectory(prefix="orcish-bench-") as folder:
        bench = Bench(spark, files[-1], Path(folder))
        lines = []
        for work, ways in bench.works().items():
            if not args.works or work in args.works:
                lines += measured(work, ways, args.rounds)
        print(table(["work", "way", "CPU", "wall", "times less", "MB"], lines), flush=True)
    spark.stop()


def measured(work: str, ways: dict[str, Callable[[], Any]], rounds: int) -> list[list[str]]:
    """Medians of each way."""
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in ways}
    results: dict[str, Any] = {}
    for turn in range(rounds + 1):
        for name in list(ways)[:: 1 if turn % 2 == 0 else -1]:
            before, begun = cpu(), time.perf_counter()
            results[name] = ways[name]()
            if turn:
                times[name].append((cpu() - before, time.perf_counter() - begun))
    is_size = isinstance(next(iter(results.values())), float)
    if not is_size and any(result != results[next(iter(ways))] for result in results.values()):
        raise SystemExit(f"{work}: the ways disagree: {results}")
    lines = []
    base = 0.0
    for name, measures in times.items():
        used, wall = (statistics.median(column) for column in zip(*measures, strict=True))
        base = base or used
        size = f"{results[name] / 1e6:.1f}" if is_size else ""
        lines.append([work, name, seconds(used), seconds(wall), f"{base / used:.2f} x", size])
    return lines


if __name__ == "__main__":
    main()
