"""Run by a test in a process whose time zone is not UTC: instants of CarbonData, which become wall clocks in ORC."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import orcish
import orcish.spark as osp

from support.spark_scripts.clock_changes import session
from support.spark_tables import assert_same


def main(folder: Path) -> None:
    spark = session()
    table, target = os.environ["TABLE"], str(folder / "orc")
    wanted = {row["id"]: row["at"] for row in orcish.read_table(table, columns=["id", "at"]).to_pylist()}
    osp.convert(table, target, spark=spark)
    for frame in (spark.read.format("carbondata").load(table), spark.read.orc(target)):
        rows = frame.selectExpr("id", "unix_micros(at) as at").collect()
        assert {row.id: row.at for row in rows} == {
            id: at and round(at.timestamp() * 1000) * 1000 for id, at in wanted.items()
        }
    assert_same(spark.read.orc(target), spark.read.format("carbondata").load(table))
    print("instants")
    spark.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
