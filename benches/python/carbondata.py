"""Reads a CarbonData table and an ORC file of the same rows, side by side, and prints a Markdown table.

    python carbondata.py                     # two million rows of lineitem
    python carbondata.py --rows 5000000 --runs 5 --data DIR

The rows are lineitem's, sorted by l_orderkey, as the writer of the tests makes them (defaults of CarbonData 2.3:
snappy, pages of 32,000 rows, local dictionaries, min and max of each blocklet), and as orcish writes ORC, with snappy.
The figure is CPU time of one thread, of a full scan in nanoseconds for each value too; in every round both run, in
turn. Shown is the median of the rounds.
"""

from __future__ import annotations

import argparse
import dataclasses
import datetime as dt
import statistics
import sys
from pathlib import Path
from typing import Any

from make_data import lineitem
from run import HERE, report, seconds, table, timed

import orcish  # isort: skip
import numpy as np
import pyarrow as pa

sys.path.insert(0, str(HERE.parents[1] / "tests" / "python"))
from support.carbon.tables import CarbonTableWriter

BLOCKLET_ROWS = 320_000
STRIPE_BYTES = 64 << 20


@dataclasses.dataclass(frozen=True)
class Task:
    """What is read of both."""

    title: str
    columns: list[str] | None
    filters: Any

    def run(self, path: str, _: list[str] | None) -> int:
        scan = orcish.scan(path, columns=self.columns, filters=self.filters, threads=1)
        return sum(batch.num_rows for batch in scan.to_batches())


def tasks(rows: pa.Table) -> list[Task]:
    key, day = orcish.col("l_orderkey"), orcish.col("l_shipdate")
    middle = rows["l_orderkey"][len(rows) // 2].as_py()
    three = ["l_orderkey", "l_extendedprice", "l_shipdate"]
    return [
        Task("all rows, all columns", None, None),
        Task("all rows, three columns", three, None),
        Task("one key, by which the rows are sorted", None, key == middle),
        Task("a day, which is anywhere", three, day == dt.date(1995, 6, 17)),
        Task("a key beyond all", None, key == 1 << 60),
    ]


def write(folder: Path, count: int) -> tuple[dict[str, str], pa.Table]:
    """The table and the file, made where they are not there yet, and the rows."""
    rows = lineitem(np.random.default_rng(5), count).sort_by("l_orderkey")
    paths = {"CarbonData": folder / f"lineitem.{count}.carbon", "ORC": folder / f"lineitem.{count}.orc"}
    folder.mkdir(parents=True, exist_ok=True)
    if not paths["CarbonData"].exists():
        writer = CarbonTableWriter(
            paths["CarbonData"], rows.schema, sort_columns=("l_orderkey",), blocklet_rows=BLOCKLET_ROWS
        )
        writer.load(rows)
    if not paths["ORC"].exists():
        orcish.write_table(rows, paths["ORC"], compression="snappy", stripe_size=STRIPE_BYTES)
    return {name: str(path) for name, path in paths.items()}, rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--runs", type=int, default=5, help="rounds (5)")
    parser.add_argument("--data", type=Path, default=HERE / "data", help="folder for the table and the file")
    parser.add_argument("--json", type=Path, help="file for all figures")
    args = parser.parse_args()
    paths, rows = write(args.data, args.rows)
    values = len(rows) * rows.num_columns

    def stage(_: str) -> tuple[str, dict[str, Any]]:
        lines, figures = [], {}
        for task in tasks(rows):
            found: dict[str, list[float]] = {name: [] for name in paths}
            counts = set()
            for round_number in range(args.runs + 1):
                for name in list(paths)[:: 1 if round_number % 2 else -1]:
                    cpu, _, count = timed(task.run, paths[name], None, 1)
                    counts.add(count)
                    # The first round warms up.
                    found[name].extend([cpu] if round_number else [])
            if len(counts) > 1:
                raise SystemExit(f"{task.title}: the numbers of rows differ: {counts}")
            medians = {name: statistics.median(times) for name, times in found.items()}
            is_full = task.columns is None and task.filters is None
            cells = [
                seconds(cpu) + (f" ({cpu / values * 1e9:.2f} ns a value)" if is_full else "")
                for cpu in medians.values()
            ]
            ratio = medians["CarbonData"] / medians["ORC"]
            lines.append([task.title, f"{counts.pop():,}", *cells, f"{ratio:.2f}"])
            figures[task.title] = found
        return table(["", "rows found", *paths, "ratio"], lines), figures

    headline = f"{len(rows):,} rows of lineitem, {rows.num_columns} columns; CPU time of one thread"
    report({"carbondata": "CarbonData beside ORC"}, stage, headline, args.json)


if __name__ == "__main__":
    main()
