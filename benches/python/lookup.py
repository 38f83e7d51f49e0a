"""Finds few rows of many, with orcish and its peers, side by side, and prints Markdown tables.

    python make_data.py lookup lineitem --codecs zstd --writers spark    # once: writes data/
    python lookup.py                                                     # every stage
    python lookup.py --files DIR --stages lookup lineitem --spark --runs 7
    python lookup.py --stages plan --plan-files 10000

Each peer opens the file and gives the rows as an Arrow table or a data frame; CPU time is user and system, of the
process and of Spark's JVM; bytes are what the process asked of the system in one more run (Linux only). In every
round each peer runs once, in turn; every other round runs in reverse order. Shown is the median of the rounds.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import datetime as dt
import os
import shutil
import statistics
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from run import HERE, Spark, report, seconds, table, timed, versions

import orcish  # isort: skip
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset
import pyarrow.orc

Find = Callable[[str], int]
BASELINE = "pyarrow.dataset"
OUT_OF_LINEITEM = ["l_orderkey", "l_extendedprice", "l_shipdate"]


@dataclasses.dataclass(frozen=True)
class Range:
    """Rows whose ``column`` is at least ``low`` and less than ``high``, or is ``low``."""

    name: str
    column: str
    low: Any
    high: Any = None
    columns: list[str] | None = None

    def over(self, column: Any) -> Any:
        """As a predicate on a column of some library."""
        return column == self.low if self.high is None else (column >= self.low) & (column < self.high)

    def sql(self) -> str:
        def literal(value: Any) -> str:
            return repr(value) if isinstance(value, int | str) else f"date'{value}'"

        if self.high is None:
            return f"{self.column} = {literal(self.low)}"
        return f"{self.column} >= {literal(self.low)} and {self.column} < {literal(self.high)}"


# Peers: each gives the number of rows that it found.


def with_orcish(threads: int) -> Callable[[Range], Find]:
    def peer(want: Range) -> Find:
        filters = want.over(orcish.col(want.column))
        return lambda path: len(orcish.scan(path, columns=want.columns, filters=filters, threads=threads).to_table())

    return peer


def with_dataset(want: Range) -> Find:
    def find(path: str) -> int:
        data = pyarrow.dataset.dataset(path, format="orc")
        return len(data.to_table(want.columns, filter=want.over(pc.field(want.column)), use_threads=False))

    return find


def with_polars(want: Range) -> Find:
    import polars

    def find(path: str) -> int:
        lazy = polars.scan_pyarrow_dataset(pyarrow.dataset.dataset(path, format="orc"))
        lazy = lazy.filter(want.over(polars.col(want.column)))
        return (lazy.select(want.columns) if want.columns else lazy).collect().height

    return find


def with_polars_over_orcish(want: Range) -> Find:
    import polars

    def find(path: str) -> int:
        lazy = orcish.scan_polars(path, threads=1).filter(want.over(polars.col(want.column)))
        return (lazy.select(want.columns) if want.columns else lazy).collect().height

    return find


def with_pyorc(want: Range) -> Find:
    """Python objects of the row groups that may have a row, of which the wanted are picked here."""
    import pyorc
    from pyorc.enums import TypeKind
    from pyorc.predicates import PredicateColumn

    kinds = {str: TypeKind.STRING, int: TypeKind.LONG, dt.date: TypeKind.DATE}
    predicate = want.over(PredicateColumn(kinds[type(want.low)], want.column))

    def find(path: str) -> int:
        with open(path, "rb") as file:
            names = [*want.columns, want.column] if want.columns else []
            reader = pyorc.Reader(file, predicate=predicate, column_names=list(dict.fromkeys(names)))
            at = list(reader.schema.fields).index(want.column)
            return sum(1 for row in reader if want.over(row[at]))

    return find


def with_spark(want: Range) -> Find:
    def find(path: str) -> int:
        frame = Spark.session.read.orc(path).where(want.sql())
        return len((frame.select(*want.columns) if want.columns else frame).toArrow())

    return find


PEERS: dict[str, dict[str, Callable[[Range], Find]]] = {
    "lookup": {
        BASELINE: with_dataset,
        "orcish": with_orcish(1),
        "pyorc": with_pyorc,
        "spark": with_spark,
    },
    "lineitem": {
        BASELINE: with_dataset,
        "orcish": with_orcish(1),
        "orcish, 2 threads": with_orcish(2),
        "polars over pyarrow": with_polars,
        "polars over orcish": with_polars_over_orcish,
        "spark": with_spark,
    },
}


def lookups(path: str) -> list[Range]:
    """A UUID that is there, one that is not, and some thousand keys."""
    file = orcish.ORCFile(path)
    row = file.read_stripe(file.num_stripes // 3, columns=["key", "uuid"]).slice(12_345 % 1000, 1).to_pylist()[0]
    there, key = row["uuid"], row["key"]
    missing = there[:-1] + ("0" if there[-1] != "0" else "1")
    return [
        Range("a UUID that is there", "uuid", there),
        Range("a UUID that is not", "uuid", missing),
        Range("some 1,000 rows by key", "key", key, key + 10_500),
    ]


def scans(path: str) -> list[Range]:
    """A month of shipments, and a hundredth of the parts."""
    parts = orcish.ORCFile(path).statistics("l_partkey").max
    month = dt.date(1995, 3, 1), dt.date(1995, 4, 1)
    return [
        Range("a month of l_shipdate", "l_shipdate", *month, columns=OUT_OF_LINEITEM),
        Range("1 % by l_partkey", "l_partkey", parts // 2, parts // 2 + parts // 100, columns=OUT_OF_LINEITEM),
    ]


# Measuring.


def asked() -> int:
    """Bytes that this process, and Spark's, have asked of the system."""
    total = 0
    for pid in ("self", *([str(Spark.jvm)] if Spark.jvm else [])):
        with contextlib.suppress(OSError):
            total += int(Path(f"/proc/{pid}/io").read_text().split()[1])
    return total


def bytes_of(find: Callable[[], object]) -> int:
    before = asked()
    itself = asked() - before
    before = asked()
    find()
    return asked() - before - itself


@dataclasses.dataclass(frozen=True)
class Measured:
    cpu: float
    wall: float
    bytes: int
    rows: int


def race(peers: dict[str, Find], path: str, runs: int) -> dict[str, Measured]:
    """All peers in turn; the first round only warms up, and finds out how often to repeat what is short."""
    repeat, times, rows = {}, {}, {}
    for name, find in peers.items():
        _, wall, rows[name] = timed(lambda path, _, find=find: find(path), path, None, 1)
        repeat[name] = max(1, min(50, int(0.1 / wall)))
        times[name] = list[tuple[float, float]]()
    if len(set(rows.values())) > 1:
        raise SystemExit(f"the peers do not agree on the rows of {path}: {rows}")
    for turn in range(runs):
        for name in list(peers)[:: -1 if turn % 2 else 1]:
            find = peers[name]
            times[name].append(timed(lambda path, _, find=find: find(path), path, None, repeat[name])[:2])
    found = {}
    for name, pairs in times.items():
        cpu, wall = (statistics.median(values) for values in zip(*pairs, strict=True))
        found[name] = Measured(cpu, wall, bytes_of(lambda name=name: peers[name](path)), rows[name])
    return found


def size(count: int) -> str:
    return f"{count / 1e6:.2f} MB" if count >= 1e5 else f"{count / 1e3:.1f} KB"


def lines_of(name: str, found: dict[str, Measured]) -> list[list[str]]:
    base = found[BASELINE].cpu
    return [
        [name, peer, f"{one.rows:,}", seconds(one.cpu), f"{base / one.cpu:.1f}x", seconds(one.wall), size(one.bytes)]
        for peer, one in found.items()
    ]


# Planning.


def tables_of_many_files(folder: Path, count: int) -> None:
    """Files of a thousand rows, a hundred in each folder."""
    out = pa.BufferOutputStream()
    ids = range(1000)
    pyarrow.orc.write_table(pa.table({"id": ids, "text": [f"text {i}" for i in ids]}), out, compression="zstd")
    data = out.getvalue().to_pybytes()
    for at in range(count):
        path = folder / f"day={at // 100}" / f"part-{at % 100:03}.orc"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(data)


def plans(folder: str) -> dict[str, dict[str, Find]]:
    """What there is to be timed, with orcish and with pyarrow."""
    in_part, in_file = (orcish.col("day") == 5), (orcish.col("id") == 5)
    known = orcish.scan(folder, filters=in_file)
    splits = known.splits()
    # What splits carry in other processes: files with their tails.
    files = [file for split in splits for file in split.table.files]
    with_tails = dataclasses.replace(splits[0].table, files=files)

    def dataset() -> Any:
        return pyarrow.dataset.dataset(folder, format="orc", partitioning="hive")

    def rows(filters: Any = None) -> int:
        return int(dataset().count_rows(filter=filters, use_threads=False))

    def scan(**options: Any) -> orcish.Scan:
        return orcish.scan(folder, threads=1, **options)

    return {
        "list the files": {
            BASELINE: lambda _: len(dataset().files),
            "orcish": lambda _: len(scan().files),
        },
        "plan, cold": {"orcish": lambda _: len(scan(filters=in_file).splits())},
        "plan, cold, 2 threads": {"orcish": lambda _: len(orcish.scan(folder, filters=in_file, threads=2).splits())},
        "plan, tails known": {
            "orcish": lambda _: len(orcish.Scan(with_tails, {"filters": in_file, "threads": 1}).splits()),
        },
        "plan one of the folders": {
            BASELINE: lambda _: len(list(dataset().get_fragments(pc.field("day") == 5))),
            "orcish": lambda _: len(scan(filters=in_part).splits()),
        },
        "count all rows": {BASELINE: lambda _: rows(), "orcish": lambda _: scan().count()},
        "a row of each file": {
            BASELINE: lambda _: len(dataset().to_table(filter=pc.field("id") == 5, use_threads=False)),
            "orcish": lambda _: len(scan(filters=in_file).to_table()),
        },
    }


# Reporting.

HEAD = ["what", "reader", "rows", "CPU", "", "wall", "bytes"]


def run_finds(stage: str, args: argparse.Namespace) -> tuple[str, dict[str, Any]]:
    lines, out = [], {}
    files = sorted(args.files.glob(f"{stage}.{args.match}.orc"))
    if not files:
        raise SystemExit(f"no {stage} files in {args.files}: run make_data.py {stage} first, or give another --files")
    for path in files:
        out[path.name] = {}
        for want in (lookups if stage == "lookup" else scans)(str(path)):
            peers = {name: make(want) for name, make in PEERS[stage].items() if name != "spark" or args.spark}
            if "pyorc" not in versions():
                peers.pop("pyorc", None)
            found = race(peers, str(path), args.runs)
            out[path.name][want.name] = {name: dataclasses.asdict(one) for name, one in found.items()}
            lines += lines_of(f"{path.name}: {want.name}", found)
    return table(HEAD, lines), out


def run_plans(args: argparse.Namespace) -> tuple[str, dict[str, Any]]:
    folder = Path(tempfile.mkdtemp(prefix="orcish-plan"))
    try:
        tables_of_many_files(folder, args.plan_files)
        lines, out = [], {}
        for what, peers in plans(str(folder)).items():
            found = race(peers, str(folder), args.runs)
            out[what] = {name: dataclasses.asdict(one) for name, one in found.items()}
            base = found.get(BASELINE)
            for peer, one in found.items():
                times = f"{base.cpu / one.cpu:.1f}x" if base else ""
                lines.append([what, peer, f"{one.rows:,}", seconds(one.cpu), times, seconds(one.wall), size(one.bytes)])
        return table(["what", "reader", "rows, or files", *HEAD[3:]], lines), out
    finally:
        shutil.rmtree(folder)


STAGES = {
    "lookup": "Few rows of many, by a bloom filter and by statistics",
    "lineitem": "Three columns of some rows of lineitem",
    "plan": "A table of many small files",
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=Path, default=HERE / "data", help="directory of DATASET.WRITER.CODEC.orc")
    parser.add_argument("--match", default="spark.zstd", help="pattern of WRITER.CODEC")
    parser.add_argument("--stages", nargs="+", choices=STAGES, default=list(STAGES))
    parser.add_argument("--runs", type=int, default=5, help="rounds")
    parser.add_argument("--plan-files", type=int, default=10_000)
    parser.add_argument("--spark", action="store_true", help="also run Spark (needs pyspark and Java)")
    parser.add_argument("--json", type=Path, help="write all figures here")
    args = parser.parse_args()
    pa.set_cpu_count(1)
    pa.set_io_thread_count(1)
    # For polars, before it is imported.
    os.environ.setdefault("POLARS_MAX_THREADS", "1")
    if args.spark:
        Spark.start()
    headline = f"Medians of {args.runs} rounds; the factor: how many times less CPU time than {BASELINE}."
    titles = {stage: STAGES[stage] for stage in args.stages}
    report(titles, lambda stage: run_plans(args) if stage == "plan" else run_finds(stage, args), headline, args.json)


if __name__ == "__main__":
    main()
