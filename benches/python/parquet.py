"""Reads the same rows as ORC and as Parquet, each with its fastest readers, and prints a Markdown table.

    python make_data.py                                   # once: writes data/, whose rows are written again here
    python parquet.py                                     # all data sets, three codecs
    python parquet.py lineitem --codecs zstd --runs 9

Every reader makes one Arrow table (polars: one data frame) of all columns, with one thread. ORC is written by orcish
and by pyarrow as in write.py, Parquet by pyarrow with its defaults. In every round each reader runs once, every other
round in reverse order; figures are medians of CPU time, user and system.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path

os.environ["POLARS_MAX_THREADS"] = "1"

from run import chdb_arrow, race, seconds, table, versions
from write import load, orcish_writer, parser_of, pyarrow_writer, sources

import orcish  # isort: skip
import duckdb
import polars
import pyarrow as pa
import pyarrow.parquet

CODECS = ["zstd", "snappy", "none"]

Read = Callable[[str], int]
"""Reads a file; gives its number of rows."""


def read_orcish(path: str) -> int:
    return int(orcish.read_table(path, threads=1).num_rows)


def read_polars(path: str) -> int:
    return polars.read_parquet(path).height


def read_pyarrow(path: str) -> int:
    return int(pyarrow.parquet.read_table(path, use_threads=False).num_rows)


def read_duckdb(path: str) -> int:
    return int(duckdb.sql(f"SELECT * FROM read_parquet('{path}')").to_arrow_table().num_rows)


def read_chdb(path: str) -> int:
    return chdb_arrow("Parquet")(path, None)


ORC = "orcish"
FOREIGN = "ORC of pyarrow"
PEERS: dict[str, tuple[str, Read]] = {
    ORC: ("orcish.orc", read_orcish),
    FOREIGN: ("pyarrow.orc", read_orcish),
    "Parquet: polars": ("pyarrow.parquet", read_polars),
    "Parquet: pyarrow": ("pyarrow.parquet", read_pyarrow),
    "Parquet: duckdb": ("pyarrow.parquet", read_duckdb),
}
if "chdb" in versions():
    PEERS["Parquet: chdb"] = ("pyarrow.parquet", read_chdb)


def write(rows: pa.Table, dataset: str, codec: str, folder: Path) -> None:
    """Writes the files of the peers."""
    orcish_writer(1)(rows, folder / "orcish.orc", codec, dataset)
    pyarrow_writer(rows, folder / "pyarrow.orc", codec, dataset)
    pyarrow.parquet.write_table(rows, folder / "pyarrow.parquet", compression=codec)


def line_of(rows: pa.Table, dataset: str, codec: str, runs: int) -> list[str]:
    """The line of a data set and a codec."""
    with tempfile.TemporaryDirectory(prefix="orcish-bench-") as name:
        folder = Path(name)
        write(rows, dataset, codec, folder)
        sizes = " · ".join(
            f"{(folder / file).stat().st_size / 1e6:.1f}" for file in dict.fromkeys(file for file, _ in PEERS.values())
        )
        readers = {
            peer: lambda _path, _columns, file=str(folder / file), read=read: read(file)
            for peer, (file, read) in PEERS.items()
        }
        found = {peer: result.cpu for peer, result in race(readers, "", None, len(rows), runs).items()}
    fastest = min(cpu for peer, cpu in found.items() if peer.startswith("Parquet"))
    return [f"{dataset}, {codec}", *map(seconds, found.values()), f"{fastest / found[ORC]:.2f} ×", sizes]


def main() -> None:
    """Run what is asked for."""
    parser = parser_of(__doc__, CODECS)
    args = parser.parse_args()
    pa.set_cpu_count(1)
    pa.set_io_thread_count(1)
    duckdb.sql("SET threads = 1")
    found = {name: path for name, path in sources(args.files).items() if not args.datasets or name in args.datasets}
    if not found:
        parser.error(f"{args.files} has no such files: run make_data.py")
    peers = {"polars": polars.__version__, "duckdb": duckdb.__version__}
    print(", ".join(f"{name} {version}" for name, version in (versions() | peers).items()), "· one thread\n")
    lines = []
    for dataset, path in found.items():
        rows = load(path)
        for codec in args.codecs:
            lines.append(line_of(rows, dataset, codec, args.runs))
            print(f"  {' | '.join(lines[-1])}", flush=True)
    print()
    head = ["data set, codec", *PEERS, "fastest Parquet ÷ orcish", "MB: orcish · ORC of pyarrow · Parquet"]
    print(table(head, lines))


if __name__ == "__main__":
    main()
