"""Reads ORC files with orcish and its peers, side by side, and prints Markdown tables.

    python make_data.py                                # once: writes data/
    python run.py                                      # every stage on every file of data/
    python run.py lineitem taxi --stages batches two   # some datasets, some stages
    python run.py --files DIR --match '*.spark.zlib.*' --json out.json

The figure is CPU time, user and system, of the process, of processes that it starts and of Spark's JVM, beside wall
time. In every round each peer runs once, in turn; every other round runs in reverse order. Medians are shown.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import fnmatch
import gc
import importlib.metadata
import json
import os
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

os.environ["TZ"] = "UTC"  # pyorc and Spark shift timestamps into the local zone
time.tzset()

import orcish  # noqa: E402
import pyarrow as pa  # noqa: E402
import pyarrow.orc  # noqa: E402

HERE = Path(__file__).parent
BASELINE = "pyarrow stripes"
# Two columns of each dataset for the projection; the first two of others.
TWO_COLUMNS = {
    "lineitem": ["l_orderkey", "l_extendedprice"],
    "taxi": ["tpep_pickup_datetime", "total_amount"],
    "events": ["type", "created_at"],
}
# pyorc makes Python objects: it gets this many values, and its time is scaled to the whole file.
PYORC_VALUES = 1_500_000

Columns = list[str] | None
Read = Callable[[str, Columns], int]


# Peers: each reads a file, or some columns of it, and returns the number of rows read.


def orcish_batches(threads: int) -> Read:
    def read(path: str, columns: Columns) -> int:
        batches = orcish.ORCFile(path).iter_batches(columns=columns, threads=threads)
        return sum(batch.num_rows for batch in batches)

    return read


def orcish_table(threads: int) -> Read:
    def read(path: str, columns: Columns) -> int:
        return int(orcish.read_table(path, columns=columns, threads=threads).num_rows)

    return read


def pyarrow_stripes(path: str, columns: Columns) -> int:
    file = pyarrow.orc.ORCFile(path)
    stripes = (file.read_stripe(i, columns=columns) for i in range(file.nstripes))
    return sum(int(stripe.num_rows) for stripe in stripes)


def pyarrow_table(path: str, columns: Columns) -> int:
    return int(pyarrow.orc.read_table(path, columns=columns).num_rows)


def pyorc_slice(path: str, columns: Columns) -> int:
    import pyorc

    with open(path, "rb") as file:
        reader = pyorc.Reader(file, column_names=columns or ())
        width = len(columns) if columns else len(orcish.ORCFile(path).schema)
        return len(reader.read(max(1000, PYORC_VALUES // width)))


ORC_RUST = HERE.parent / "orc-rust" / "target" / "release" / "orc-rust-reader"


def orc_rust(path: str, columns: Columns) -> int:
    """A process of its own, whose start counts."""
    return int(subprocess.run([ORC_RUST, path, *(columns or ())], check=True, capture_output=True, text=True).stdout)


def chdb_arrow(form: str) -> Read:
    """ClickHouse makes an Arrow table of a file of a format."""

    def read(path: str, columns: Columns) -> int:
        import chdb

        names = ", ".join(f"`{name}`" for name in columns) if columns else "*"
        query = f"SELECT {names} FROM file('{path}', {form}) SETTINGS max_threads = 1"
        return int(chdb.query(query, "ArrowTable").num_rows)

    return read


class Spark:
    """A local session of one core; its JVM's CPU time counts."""

    session: Any = None
    jvm: int | None = None

    @classmethod
    def start(cls) -> None:
        from pyspark.sql import SparkSession

        settings = {
            "spark.ui.enabled": "false",
            "spark.log.level": "ERROR",
            "spark.driver.memory": "4g",
            "spark.driver.host": "127.0.0.1",
            "spark.sql.session.timeZone": "UTC",
            "spark.sql.files.maxPartitionBytes": str(8 << 30),
        }
        builder = SparkSession.builder.master("local[1]").appName("orcish-bench")
        for key, value in settings.items():
            builder = builder.config(key, value)
        cls.session = builder.getOrCreate()
        cls.jvm = cls.session.sparkContext._gateway.proc.pid

    @classmethod
    def cpu(cls) -> float:
        if cls.jvm is None:
            return 0.0
        fields = Path(f"/proc/{cls.jvm}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    @staticmethod
    def read(path: str, columns: Columns) -> int:
        frame = Spark.session.read.orc(path)
        frame = frame.select(*columns) if columns else frame
        frame.write.format("noop").mode("overwrite").save()
        return 0


PEERS: dict[str, dict[str, Read]] = {
    "batches": {
        BASELINE: pyarrow_stripes,
        "orcish": orcish_batches(1),
        "orcish, 2 threads": orcish_batches(2),
        "orc-rust": orc_rust,
        "pyorc": pyorc_slice,
        "spark": Spark.read,
    },
    "table": {
        BASELINE: pyarrow_stripes,
        "pyarrow read_table": pyarrow_table,
        "orcish": orcish_table(1),
        "orcish, 2 threads": orcish_table(2),
        "chdb": chdb_arrow("ORC"),
    },
    "two": {
        BASELINE: pyarrow_stripes,
        "pyarrow read_table": pyarrow_table,
        "orcish": orcish_batches(1),
        "orc-rust": orc_rust,
        "pyorc": pyorc_slice,
        "spark": Spark.read,
    },
}
MEMORY_PEERS: dict[str, Read] = {
    BASELINE: pyarrow_stripes,
    "orcish batches": orcish_batches(1),
    "orcish batches, 2 threads": orcish_batches(2),
    "pyarrow read_table": pyarrow_table,
    "orcish table": orcish_table(1),
    "orcish table, 2 threads": orcish_table(2),
}
STAGES = {
    "batches": "Whole files, batch by batch, each dropped at once",
    "table": "Whole files into one table (the stripe loop drops what it reads)",
    "two": "Open and read two columns",
    "memory": "Peak memory of reading whole files, MiB above what the process has after its imports",
    "columns": "Each column alone, ns a row without opening the file",
}


# Measuring.


@dataclasses.dataclass(frozen=True)
class Measured:
    """Medians in seconds of one peer on one file, scaled to all rows of the file."""

    cpu: float
    wall: float
    runs: int


def cpu_time() -> float:
    """CPU time of the process, of those that it started and that have ended, and of Spark's JVM."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime + Spark.cpu()


def timed(read: Read, path: str, columns: Columns, repeat: int) -> tuple[float, float, int]:
    gc.collect()
    cpu, wall = cpu_time(), time.perf_counter()
    rows = 0
    for _ in range(repeat):
        rows = read(path, columns)
    wall, cpu = time.perf_counter() - wall, cpu_time() - cpu
    return cpu / repeat, wall / repeat, rows


def race(peers: dict[str, Read], path: str, columns: Columns, rows: int, runs: int) -> dict[str, Measured]:
    """All peers in turn; the first round only warms up, and finds out how often to repeat what is short."""
    repeat, times = {}, {}
    for name, read in peers.items():
        _, wall, _ = timed(read, path, columns, 1)
        repeat[name] = max(1, min(100, int(0.05 / wall)))
        times[name] = list[tuple[float, float]]()
    for turn in range(runs):
        for name in list(peers)[:: -1 if turn % 2 else 1]:
            cpu, wall, got = timed(peers[name], path, columns, repeat[name])
            scale = 1.0
            if name == "pyorc" and 0 < got < rows:
                scale = rows / got
            elif got not in (0, rows):
                raise SystemExit(f"{name} read {got} rows of {rows} from {path}")
            times[name].append((cpu * scale, wall * scale))
    medians = {
        name: [statistics.median(values) for values in zip(*pairs, strict=True)] for name, pairs in times.items()
    }
    return {name: Measured(cpu, wall, runs) for name, (cpu, wall) in medians.items()}


def peak_memory() -> float:
    """MiB; the high-water mark of this very process, which on Linux ru_maxrss may take from its parent."""
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1024
    unit = 1 << 20 if sys.platform == "darwin" else 1 << 10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit


def memory_child(peer: str, path: str) -> None:
    before = peak_memory()
    MEMORY_PEERS[peer](path, None)
    print(peak_memory() - before)


def memory_of(peer: str, path: str, runs: int) -> float:
    command = [sys.executable, __file__, "--memory-child", peer, path]
    outputs = [subprocess.run(command, check=True, capture_output=True, text=True).stdout for _ in range(runs)]
    return statistics.median(map(float, outputs))


def per_column(path: str, runs: int) -> dict[str, dict[str, float]]:
    """ns a row of each column: the least of the runs, opening taken off."""
    peers = {BASELINE: pyarrow_stripes, "orcish": orcish_batches(1)}
    opening: dict[str, Callable[[str], object]] = {BASELINE: pyarrow.orc.ORCFile, "orcish": orcish.ORCFile}
    file = orcish.ORCFile(path)

    def least(read: Read, columns: Columns) -> float:
        return min(timed(read, path, columns, 1)[0] for _ in range(runs))

    def opened(name: str) -> Read:
        def read(path: str, _: Columns) -> int:
            opening[name](path)
            return 0

        return read

    base = {name: least(opened(name), None) for name in peers}
    names = file.schema.names[:40]
    return {
        column: {
            name: max(0.0, least(read, [column]) - base[name]) / max(1, file.num_rows) * 1e9
            for name, read in peers.items()
        }
        for column in names
    }


# Reporting.


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def seconds(value: float) -> str:
    return f"{value:.3f} s" if value >= 0.1 else f"{value * 1e3:.2f} ms"


def cells(results: dict[str, Measured], peers: Iterable[str]) -> list[str]:
    """CPU time and how many times less that is than the baseline's; wall time where it differs."""
    line = []
    for peer in peers:
        result = results.get(peer)
        if result is None:
            line.append("")
            continue
        text = seconds(result.cpu)
        if abs(result.wall - result.cpu) > 0.15 * result.cpu:
            text += f" (wall {seconds(result.wall)})"
        if peer != BASELINE:
            text += f" · {results[BASELINE].cpu / result.cpu:.2f}x"
        line.append(text)
    return line


def versions() -> dict[str, str]:
    found = {"orcish": orcish.__version__, "python": sys.version.split()[0]}
    for name in ("pyarrow", "pyorc", "pyspark", "chdb"):
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            found[name] = importlib.metadata.version(name)
    return found


def available(names: Iterable[str], wanted: list[str] | None, spark: bool) -> list[str]:
    """Peers of a stage that can run here; the baseline always does."""
    kept = []
    for name in names:
        if name == "spark" and not spark:
            continue
        if name in ("pyorc", "chdb") and name not in versions():
            continue
        if name == "orc-rust" and not ORC_RUST.exists():
            continue
        if wanted is None or name == BASELINE or any(name.startswith(prefix) for prefix in wanted):
            kept.append(name)
    return kept


def run_stage(stage: str, files: list[Path], args: argparse.Namespace) -> tuple[str, dict[str, Any]]:
    """The Markdown table of a stage, and its figures."""
    out: dict[str, Any] = {}
    lines: list[list[str]] = []
    if stage == "columns":
        for path in files:
            if path.name.startswith("wide"):
                continue
            out[path.name] = per_column(str(path), args.runs)
            types = {field.name: str(field.type)[:40] for field in orcish.ORCFile(path).schema}
            for column, ns in out[path.name].items():
                ratio = ns[BASELINE] / ns["orcish"] if ns["orcish"] else 0.0
                figures = [f"{ns[BASELINE]:.1f}", f"{ns['orcish']:.1f}", f"{ratio:.1f}x"]
                lines.append([path.name, column, f"`{types[column]}`", *figures])
            print(f"  {stage} {path.name}", file=sys.stderr)
        return table(["file", "column", "type", BASELINE, "orcish", ""], lines), out

    if stage == "memory":
        peers = available(MEMORY_PEERS, args.peers, args.spark)
        for path in files:
            out[path.name] = {peer: memory_of(peer, str(path), min(3, args.runs)) for peer in peers}
            lines.append([path.name, *(f"{out[path.name][peer]:.0f}" for peer in peers)])
            print(f"  {stage} {path.name}", file=sys.stderr)
        return table(["file", *peers], lines), out

    peers = available(PEERS[stage], args.peers, args.spark)
    for path in files:
        file = orcish.ORCFile(path)
        columns = None
        if stage == "two":
            columns = TWO_COLUMNS.get(path.name.split(".")[0]) or [file.schema.names[i] for i in (1, -2)]
        results = race({peer: PEERS[stage][peer] for peer in peers}, str(path), columns, file.num_rows, args.runs)
        out[path.name] = {peer: dataclasses.asdict(result) for peer, result in results.items()}
        lines.append([path.name, *cells(results, peers)])
        print(f"  {stage} {' | '.join(lines[-1])}", file=sys.stderr)
    return table(["file", *peers], lines), out


def report(
    stages: dict[str, str], run: Callable[[str], tuple[str, dict[str, Any]]], headline: str, json_file: Path | None
) -> None:
    """Runs stages, given with their titles, and prints their tables; all figures go to the file, if there is one."""
    environment = {"versions": versions(), "cores": os.cpu_count(), "load": os.getloadavg()}
    figures: dict[str, Any] = {"environment": environment, "stages": {}}
    print(", ".join(f"{name} {version}" for name, version in versions().items()), f"· {os.cpu_count()} cores")
    print(headline)
    for stage, title in stages.items():
        text, figures["stages"][stage] = run(stage)
        print(f"\n### {title}\n\n{text}", flush=True)
    if json_file:
        json_file.write_text(json.dumps(figures, indent=1))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("datasets", nargs="*", help="lineitem, taxi, events, wide; all by default")
    parser.add_argument("--files", type=Path, default=HERE / "data", help="directory of DATASET.WRITER.CODEC.orc")
    parser.add_argument("--match", default="*", help="pattern of file names")
    parser.add_argument("--stages", nargs="+", choices=STAGES, default=["batches", "table", "two", "memory"])
    parser.add_argument("--peers", type=lambda text: text.split(","), help="prefixes of peers, with commas between")
    parser.add_argument("--runs", type=int, default=5, help="rounds")
    parser.add_argument("--spark", action="store_true", help="also run Spark (needs pyspark and Java)")
    parser.add_argument("--json", type=Path, help="write all figures here")
    parser.add_argument("--memory-child", nargs=2, help=argparse.SUPPRESS)
    args = parser.parse_args()
    pa.set_cpu_count(1)
    pa.set_io_thread_count(1)
    if args.memory_child:
        memory_child(*args.memory_child)
        return
    files = [path for path in sorted(args.files.glob("*.orc")) if fnmatch.fnmatch(path.name, args.match)]
    if args.datasets:
        files = [path for path in files if path.name.split(".")[0] in args.datasets]
    if not files:
        raise SystemExit(f"no files in {args.files}: run make_data.py first, or give another --files")
    if args.spark:
        Spark.start()

    headline = f"CPU time, median of {args.runs} rounds; the factor: how many times less than {BASELINE}."
    report(
        {stage: STAGES[stage] for stage in args.stages},
        lambda stage: run_stage(stage, files, args),
        headline,
        args.json,
    )


if __name__ == "__main__":
    main()
