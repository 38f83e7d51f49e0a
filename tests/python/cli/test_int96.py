"""Timestamps of Parquet that are INT96, as Hive, Impala and Spark write them."""

from __future__ import annotations

import datetime
import functools
import random

import orcish
import pyarrow as pa
import pyarrow.parquet
import pytest
from support.case_loops import each_case

NEAR = (-(2**63), 2**63 - 1)
"""The nanoseconds of the first and the last instant that 64 bits hold."""
YEARS = [
    datetime.datetime(1, 1, 1),
    datetime.datetime(1600, 1, 1),
    datetime.datetime(9999, 12, 31, 23, 59, 59, 999_999),
]


@pytest.fixture
def run(run):
    """Runs ``orcish convert``."""
    return functools.partial(run, "convert")


def write(path, table):
    pa.parquet.write_table(
        table, path, use_deprecated_int96_timestamps=True, store_schema=False, row_group_size=7, data_page_size=64
    )


def us(values):
    return pa.array(values, pa.int64()).cast(pa.timestamp("us"))


@each_case("ending", ["orc", "arrow", "parquet"])
def test_all_years(ending, tmp_path, run):
    choose = random.Random(ending)
    far = [choose.randint(-(2**55), 2**57) for _ in range(50)]
    edges = [at // 1000 + more for at in NEAR for more in (-1, 0, 1, 2)]
    times = pa.concat_arrays([us([*far, *edges, None]), pa.array(YEARS, pa.timestamp("us"))])
    rows = pa.table(
        {
            "id": pa.array(range(len(times))),
            "at": times,
            "list": pa.ListArray.from_arrays(pa.array([*range(len(times)), len(times)], pa.int32()), times),
            "map": pa.array(
                [[(1, at)] for at in times.cast(pa.int64()).to_pylist()], pa.map_(pa.int64(), pa.int64())
            ).cast(pa.map_(pa.int64(), pa.timestamp("us"))),
            "struct": pa.StructArray.from_arrays([times], ["x.y"]),
            "at.x": us(range(len(times))),
        }
    )
    write(tmp_path / "a.parquet", rows)
    target = tmp_path / f"b.{ending}"
    assert run(tmp_path / "a.parquet", target)[0] == 0
    assert run(target, tmp_path / "c.orc")[0] == 0
    found = orcish.read_table(tmp_path / "c.orc", timestamp_unit="exact")
    assert found["at"].combine_chunks().equals(times)
    assert found.cast(rows.schema).equals(rows)


@each_case("far", [NEAR[0] // 1000, NEAR[1] // 1000 + 1])
def test_the_unit_is_that_of_all_values(far, tmp_path, run):
    exact = pa.array([*NEAR, 1, None]).cast(pa.timestamp("ns"))
    write(tmp_path / "exact.parquet", pa.table({"at": exact}))
    write(tmp_path / "near.parquet", pa.table({"at": us([1, None])}))
    write(tmp_path / "far.parquet", pa.table({"at": us([0, far])}))

    def units(*names):
        sources = [tmp_path / f"{name}.parquet" for name in names]
        code, _, err = run(*sources, tmp_path / "o.arrow", "--existing-data=overwrite")
        assert (code, err) == (0, "")
        return pa.ipc.open_file(tmp_path / "o.arrow").read_all()["at"]

    assert units("exact").combine_chunks().equals(exact)
    assert units("near").type == pa.timestamp("ns")
    assert units("exact", "near").type == pa.timestamp("ns")
    for names in (("near", "far"), ("far", "near"), ("far",)):
        found = units(*names)
        assert found.type == pa.timestamp("us")
        assert far in found.cast(pa.int64()).to_pylist()
    for names in (("exact", "far"), ("near", "far", "exact")):
        code, _, err = run(*(tmp_path / f"{name}.parquet" for name in names), tmp_path / "no.orc")
        assert code == 1
        assert "exact.parquet: column 'at' has timestamps of INT96 with digits beyond microseconds" in err
        assert not (tmp_path / "no.orc").exists()


def test_columns_that_no_unit_holds(tmp_path, run):
    rows = pa.table({"id": [1], "exact": pa.array([1], pa.timestamp("ns")), "far": us([2**57])})
    write(tmp_path / "a.parquet", rows)
    code, _, err = run(tmp_path / "a.parquet", tmp_path / "a.orc")
    assert code == 1
    assert "a.parquet: column 'exact' has timestamps of INT96 with digits beyond microseconds, and column 'far'" in err
    assert not (tmp_path / "a.orc").exists()
    for name in ("exact", "far", "id"):
        assert run(tmp_path / "a.parquet", tmp_path / f"{name}.orc", "--columns", name)[0] == 0
        found = orcish.read_table(tmp_path / f"{name}.orc", timestamp_unit="exact")
        assert found.equals(rows.select([name]))
