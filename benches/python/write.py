"""Writes Arrow tables as ORC with orcish and its peers, side by side, and prints a Markdown table for each data set.

    python make_data.py                                   # once: writes data/, whose rows are written again here
    python write.py                                       # all data sets, all codecs
    python write.py lineitem --codecs zstd none --spark
    python write.py --files DIR                           # files named DATASET.…, ORC or Parquet

Rows are in memory before the clock starts. CPU time is user and system, of the process and of Spark's JVM; every round
runs each peer once, every other round in reverse order, and medians are shown, with the bytes of the file.

pyarrow writes with dictionaries (``dictionary_key_size_threshold=0.8``, which is what Java has), and with the chunks of
Java; pyorc writes some of the rows, and its time and bytes are scaled to all; Spark's time is that of reading the rows
and writing them, less that of reading them. ``lookup`` has a bloom filter on its UUIDs, of which one in twenty that are
not there is found.
"""

from __future__ import annotations

import argparse
import io
import os
import statistics
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from run import HERE, PYORC_VALUES, Spark, seconds, table, timed, versions

import orcish  # isort: skip
import pyarrow as pa
import pyarrow.orc
import pyarrow.parquet

DATASETS = ["lineitem", "taxi", "events", "wide", "lookup"]
CODECS = ["zstd", "zlib", "snappy", "none"]
BLOOMS = {"lookup": "uuid"}
ERROR = 0.05
BASELINE = "pyarrow"

Write = Callable[[pa.Table, Path, str, str], None]


def orcish_writer(threads: int) -> Write:
    """Writes with so many threads."""

    def write(rows: pa.Table, path: Path, codec: str, dataset: str) -> None:
        blooms = [BLOOMS[dataset]] if dataset in BLOOMS else None
        orcish.write_table(
            rows,
            path,
            existing_data="overwrite",
            compression=codec,
            threads=threads,
            bloom_filter_columns=blooms,
            bloom_filter_fpp=ERROR,
        )

    return write


def pyarrow_writer(rows: pa.Table, path: Path, codec: str, dataset: str) -> None:
    """Writes with dictionaries; bloom filters are of columns by their ids."""
    blooms = [1 + rows.schema.names.index(BLOOMS[dataset])] if dataset in BLOOMS else None
    pyarrow.orc.write_table(
        rows,
        path,
        compression="uncompressed" if codec == "none" else codec,
        compression_block_size=256 << 10,
        dictionary_key_size_threshold=0.8,
        bloom_filter_columns=blooms,
        bloom_filter_fpp=ERROR,
    )


PEERS: dict[str, Write] = {
    BASELINE: pyarrow_writer,
    "orcish": orcish_writer(1),
    "orcish, 2 threads": orcish_writer(2),
}


class PyorcWriter:
    """pyorc takes Python objects: it gets some of the rows, made before the clock starts, and is scaled to all."""

    def __init__(self, rows: pa.Table) -> None:
        part = rows.slice(0, max(PYORC_VALUES // rows.num_columns, 1))
        self.scale = rows.num_rows / part.num_rows
        self.objects = part.to_pylist()
        file = io.BytesIO()
        orcish.write_table(part.slice(0, 1), file, arrow_schema=False)
        self.type_string = orcish.ORCFile(file.getvalue()).type_string

    def write(self, path: Path, codec: str) -> None:
        """Writes one file of these rows."""
        import pyorc

        kind = pyorc.CompressionKind[codec.upper()]
        options = {"compression": kind, "compression_block_size": 256 << 10, "dict_key_size_threshold": 0.8}
        with (
            path.open("wb") as file,
            pyorc.Writer(file, self.type_string, struct_repr=pyorc.StructRepr.DICT, **options) as writer,
        ):
            writer.writerows(self.objects)


class SparkWriter:
    """Spark's own writer; what it takes to read the rows is measured too."""

    def __init__(self, source: Path) -> None:
        kind = "orc" if source.suffix == ".orc" else "parquet"
        self.frame = Spark.session.read.format(kind).load(str(source))

    def read(self) -> None:
        """Reads the rows."""
        self.frame.write.format("noop").mode("overwrite").save()

    def write(self, path: Path, codec: str, dataset: str) -> int:
        """Writes one file; gives its length."""
        options = {"compression": codec}
        if dataset in BLOOMS:
            options |= {"orc.bloom.filter.columns": BLOOMS[dataset], "orc.bloom.filter.fpp": str(ERROR)}
        self.frame.coalesce(1).write.mode("overwrite").options(**options).orc(str(path))
        return sum(part.stat().st_size for part in path.glob("part-*"))


def clock(action: Callable[[], Any]) -> tuple[float, float]:
    """CPU and wall time of something."""
    cpu, wall, _ = timed(lambda _path, _columns: (action(), 0)[1], "", None, 1)
    return cpu, wall


def race(
    rows: pa.Table, dataset: str, codec: str, runs: int, spark: SparkWriter | None, pyorc: PyorcWriter | None
) -> dict[str, list[float]]:
    """Median CPU, median wall and bytes of each peer."""
    found: dict[str, list[tuple[float, float, float]]] = {name: [] for name in PEERS}
    with tempfile.TemporaryDirectory(prefix="orcish-bench-") as folder:
        path = Path(folder) / "out.orc"
        for turn in range(runs):
            for name in list(PEERS)[:: 1 if turn % 2 == 0 else -1]:
                times = clock(lambda name=name: PEERS[name](rows, path, codec, dataset))  # type: ignore[misc]
                found[name].append((*times, path.stat().st_size))
            if pyorc is not None:
                cpu, wall = clock(lambda: pyorc.write(path, codec))
                measured = (cpu * pyorc.scale, wall * pyorc.scale, path.stat().st_size * pyorc.scale)
                found.setdefault("pyorc, scaled", []).append(measured)
            if spark is not None:
                reading = clock(spark.read)
                size = 0

                def write() -> None:
                    nonlocal size
                    size = spark.write(Path(folder) / "spark", codec, dataset)

                writing = clock(write)
                found.setdefault("spark", []).append((writing[0] - reading[0], writing[1] - reading[1], size))
    return {name: [statistics.median(column) for column in zip(*runs, strict=True)] for name, runs in found.items()}


def sources(folder: Path) -> dict[str, Path]:
    """A file of each data set: any, as all have the same rows."""
    files = sorted([*folder.glob("*.parquet"), *folder.glob("*.orc")])
    return {name: file for name in DATASETS for file in reversed(files) if file.name.startswith(f"{name}.")}


def load(path: Path) -> pa.Table:
    """The rows of a file."""
    rows = pyarrow.parquet.read_table(path) if path.suffix == ".parquet" else orcish.read_table(path)
    # What other writers left on the fields is not the rows'.
    return rows.cast(pa.schema([field.remove_metadata() for field in rows.schema]))


def parser_of(description: str | None, codecs: list[str]) -> argparse.ArgumentParser:
    """The arguments of benchmarks that write data sets with codecs."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("datasets", nargs="*", metavar="DATASET", help=f"of {', '.join(DATASETS)}")
    parser.add_argument("--codecs", nargs="+", default=codecs)
    parser.add_argument("--files", type=Path, default=HERE / "data")
    parser.add_argument("--runs", type=int, default=5)
    return parser


def main() -> None:
    """Run what is asked for."""
    parser = parser_of(__doc__, CODECS)
    parser.add_argument("--spark", action="store_true", help="Spark's writer too")
    args = parser.parse_args()
    pa.set_cpu_count(1)
    pa.set_io_thread_count(1)
    if args.spark:
        Spark.start()
    found = {name: path for name, path in sources(args.files).items() if not args.datasets or name in args.datasets}
    if not found:
        parser.error(f"{args.files} has no such files: run make_data.py")
    print(", ".join(f"{name} {version}" for name, version in versions().items()), f"{os.cpu_count()} cores", sep=", ")
    for dataset, path in found.items():
        rows = load(path)
        spark = SparkWriter(path) if args.spark else None
        pyorc = PyorcWriter(rows) if "pyorc" in versions() else None
        print(f"\n## {dataset}: {len(rows):,} rows, {rows.nbytes / 1e6:,.0f} MB of Arrow\n")
        lines: list[list[str]] = []
        names: list[str] = []
        for codec in args.codecs:
            results = race(rows, dataset, codec, args.runs, spark, pyorc)
            names = list(results)
            base = results[BASELINE][0]
            line = [codec]
            for name, (cpu, wall, size) in results.items():
                text = f"{seconds(cpu)} (wall {seconds(wall)}), {size / 1e6:.1f} MB"
                line.append(text if name == BASELINE else f"{text} · {base / cpu:.2f}x")
            lines.append(line)
        print(table(["codec", *names], lines), flush=True)


if __name__ == "__main__":
    main()
