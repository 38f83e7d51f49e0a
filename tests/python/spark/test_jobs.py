"""Jobs over whole tables: small files put together, other formats converted, files checked; and the command."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import orcish
import orcish.spark as osp
import orcish.spark.conversion as convert_job
import pyarrow as pa
import pytest
from orcish.errors import CommitError, OrcishError, UnknownColumnError
from orcish.spark.runner import run_in_workers
from orcish.spark.session import large_batches
from orcish.spark.tasks import within_bytes
from orcish_cli.spark import main
from pyspark.errors import PySparkException
from support.case_loops import each_case
from support.cpp_writers import write_arrow
from support.small_tables import put, rows
from support.spark_tables import assert_same, every_type, ids_of, left_over, rows_of, table_of

Spark = Any


def actions(frame: Any) -> list[tuple[str, str, int, int]]:
    return sorted((row.folder, row.action, row.files, row.rows) for row in frame.collect())


# compact


def test_merge(spark: Spark, tmp_path: Path) -> None:
    table = tmp_path / "t"
    every_type(spark).repartition(6).write.orc(str(table))
    before = rows_of(spark.read.orc(str(table)))
    sizes = sum((table / name).stat().st_size for name in table_of(table))
    done = osp.compact(str(table), spark=spark)
    assert actions(done) == [("", "merge", 6, 100)]
    (row,) = done.collect()
    assert table_of(table) == [row.file]
    assert (row.bytes_before, row.bytes_after) == (sizes, (table / row.file).stat().st_size)
    assert rows_of(spark.read.orc(str(table))) == before
    assert rows_of(spark.read.format("orcish").load(str(table))) == before
    assert left_over(table) == []
    # There is nothing left to do.
    assert actions(osp.compact(str(table))) == []


def test_rows_stay_in_their_order(spark: Spark, tmp_path: Path) -> None:
    table = put(tmp_path / "t", {f"{at:02d}.orc": rows(at * 10, 10) for at in range(8)})
    size = max(path.stat().st_size for path in table.iterdir())
    done = osp.compact(str(table), target_file_size=3 * size + 10)
    assert sum(row.files for row in done.collect()) >= 7
    assert orcish.read_table(str(table))["id"].to_pylist() == list(range(80))


def test_partitions_and_large_files(spark: Spark, tmp_path: Path) -> None:
    large = write_arrow(rows(1000, 50_000))
    table = put(
        tmp_path / "t",
        {
            "p=1/a.orc": rows(0, 10),
            "p=1/b.orc": rows(10, 10),
            "p=1/large.orc": large,
            "p=2/one.orc": rows(20, 10),
            "p=x%20y/c.orc": rows(30, 5),
            "p=x%20y/d.orc": rows(35, 5),
            "p=1.5/e.snappy.orc": write_arrow(rows(40, 5), compression="snappy"),
            "p=1.5/f.snappy.orc": write_arrow(rows(45, 5), compression="snappy"),
            # Hive writes such files.
            "p=1.5/empty.orc": b"",
        },
    )
    done = osp.compact(str(table), target_file_size=len(large))
    assert sorted(actions(done)) == [
        ("p=1", "merge", 2, 20),
        ("p=1.5", "merge", 2, 10),
        ("p=x%20y", "merge", 2, 10),
    ]
    (table / "p=1.5/empty.orc").unlink()
    names = table_of(table)
    assert len(names) == 5
    assert sum(name.startswith("p=1.5/e-") and name.endswith(".snappy.orc") for name in names) == 1
    assert "p=1/large.orc" in names
    assert "p=2/one.orc" in names
    assert ids_of(table) == [*range(50), *range(1000, 51_000)]


def test_files_that_are_not_alike(spark: Spark, tmp_path: Path) -> None:
    """Files that differ are rewritten with all their columns."""
    table = put(
        tmp_path / "t",
        {
            "a.orc": pa.table({"id": [0, 1]}),
            "b.orc": write_arrow(pa.table({"id": [2]}), compression="zlib"),
            "c.orc": pa.table({"id": pa.array([3], pa.int32())}),
        },
    )
    (row,) = osp.compact(str(table)).collect()
    assert (row.action, row.files, row.rows) == ("rewrite", 3, 4)
    assert ids_of(table) == [0, 1, 2, 3]


def test_columns_are_never_lost(spark: Spark, tmp_path: Path) -> None:
    """Compaction by merging and by rewriting keeps columns that the first file does not have."""
    table = put(tmp_path / "t", {"a.orc": pa.table({"id": [0]}), "b.orc": pa.table({"id": [1], "more": ["kept"]})})
    osp.compact(str(table))
    assert len(table_of(table)) == 1
    found = spark.read.option("mergeSchema", "true").orc(str(table))
    assert sorted((row.id, row.more) for row in found.collect()) == [(0, None), (1, "kept")]
    assert left_over(table) == []


def test_instants_stay_instants(spark: Spark, tmp_path: Path) -> None:
    """Instants with the zone of the writer depend on the Arrow schema, which a merge would drop."""
    field = pa.field("t", pa.timestamp("us", "UTC"), metadata={"orc.type": "timestamp"})
    table = tmp_path / "t"
    table.mkdir()
    for name, kind in (("a", pa.string()), ("b", pa.large_string())):
        columns = [pa.array([1_762_061_400 * 10**6], field.type), pa.array(["x"], kind)]
        schema = pa.schema([field, pa.field("s", kind)])
        orcish.write_table(pa.table(columns, schema), table / f"{name}.orc", timezone="America/New_York")
    wanted = orcish.read_table(table / "a.orc")["t"].to_pylist() * 2
    done = osp.compact(str(table))
    assert actions(done) == [("", "rewrite", 2, 2)]
    assert orcish.read_table(table)["t"].to_pylist() == wanted
    assert orcish.read_table(table).schema.field("t").type.tz == "UTC"


def test_types_are_never_narrowed(spark: Spark, tmp_path: Path) -> None:
    table = put(
        tmp_path / "t", {"a.orc": pa.table({"id": pa.array([0], pa.int32())}), "b.orc": pa.table({"id": [2**40]})}
    )
    osp.compact(str(table))
    assert len(table_of(table)) == 1
    assert ids_of(table) == [0, 2**40]


def test_rewrite(spark: Spark, tmp_path: Path) -> None:
    table = tmp_path / "t"
    every_type(spark).repartition(3).write.orc(str(table))
    wanted = spark.read.orc(str(table))
    before, types = rows_of(wanted), wanted.schema.simpleString()
    with pytest.raises(ValueError, match="rewrite=True"):
        osp.compact(str(table), compression="zlib")
    done = osp.compact(str(table), rewrite=True, compression="zlib", bloom_filter_columns=["id"])
    assert actions(done) == [("", "rewrite", 3, 100)]
    found = spark.read.orc(str(table))
    assert found.schema.simpleString() == types
    assert rows_of(found) == before
    assert orcish.ORCFile(table / done.first().file).compression == "zlib"


@each_case("job", ["compact", "delete", "convert"])
def test_commits_of_others(spark: Spark, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, job: str) -> None:
    """Files that another job has removed before the tasks read them are a conflict."""
    table = put(tmp_path / "t", {f"{at}.orc": rows(at * 10, 10) for at in range(4)})

    def run(*args: Any) -> list[dict[str, Any]]:
        orcish.compact(table)
        return run_in_workers(*args)

    monkeypatch.setattr(f"orcish.spark.{'conversion' if job == 'convert' else 'changing'}.run_in_workers", run)
    jobs: dict[str, Callable[[], Any]] = {
        "compact": lambda: osp.compact(str(table)),
        "delete": lambda: osp.delete(str(table), "id < 15"),
        "convert": lambda: osp.convert(str(table), str(tmp_path / "new")),
    }
    with pytest.raises(CommitError, match="removed the file meanwhile"):
        jobs[job]()
    assert sorted(orcish.read_table(str(table))["id"].to_pylist()) == list(range(40))
    assert left_over(table) == []
    assert not any((tmp_path / "new").rglob("*.orc"))


def test_a_file_that_vanishes(spark: Spark, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows of a file that is removed during compaction do not return."""
    table = put(tmp_path / "t", {f"{at}.orc": rows(at * 10, 10) for at in range(4)})

    def run(*args: Any) -> Any:
        found = run_in_workers(*args)
        (table / "2.orc").unlink()
        return found

    monkeypatch.setattr("orcish.spark.changing.run_in_workers", run)
    with pytest.raises(CommitError, match=r"2\.orc: the file was changed"):
        osp.compact(str(table))
    assert ids_of(table) == [*range(20), *range(30, 40)]
    assert left_over(table) == []


def test_two_compact_at_a_time(spark: Spark, tmp_path: Path) -> None:
    """Of two concurrent compactions one succeeds, and the other changes nothing."""
    table = put(tmp_path / "t", {f"{at}.orc": rows(at * 10, 10) for at in range(4)})
    barrier = threading.Barrier(2)

    def run(_: int) -> str:
        barrier.wait()
        try:
            return str(actions(osp.compact(str(table), spark=spark)))
        except (OrcishError, PySparkException) as error:
            return str(error)

    with ThreadPoolExecutor(2) as pool:
        outcomes = list(pool.map(run, range(2)))
    done = str([("", "merge", 4, 40)])
    assert done in outcomes
    outcomes.remove(done)
    # Where the second one begins late, there is nothing left to do.
    assert outcomes == ["[]"] or re.search(
        r"\.orc: (the file was changed or removed|another job has removed the file|cannot be opened)", outcomes[0]
    )
    assert ids_of(table) == list(range(40))
    assert left_over(table) == []


def test_compact_of_corrupt_files(spark: Spark, tmp_path: Path) -> None:
    good = write_arrow(rows(0, 10))
    table = put(tmp_path / "t", {"a.orc": good, "b.orc": good[:-40]})
    with pytest.raises(PySparkException, match=r"b\.orc"):
        osp.compact(str(table))
    assert table_of(table) == ["a.orc", "b.orc"]
    assert left_over(table) == []


def every_timestamp(schema: bool, zone: str) -> dict[str, Any]:
    """Clocks and instants, as columns and within others, with digits of nanoseconds, in a zone that has two of an hour.

    Args:
        schema: Whether the file says of which types of Arrow its columns are.
        zone: That of the writer.
    """
    wall, mark = pa.timestamp("ns"), {"orc.type": "timestamp"}
    instant = pa.field("x", pa.timestamp("ns", "UTC"), metadata=mark)
    clocks = [1_729_994_400_123_456_789, 0, 1_729_994_400_000_000_001, None]
    folds = [1_729_987_200_000_000_001, 1_729_990_800_000_000_001, 1_729_990_800_999_999_999, 7]
    columns: list[tuple[pa.Field, pa.Array]] = [
        (pa.field("wall", wall), pa.array(clocks, wall)),
        (pa.field("walls", pa.list_(wall)), pa.array([[value] for value in clocks], pa.list_(wall))),
        (pa.field("zoned", pa.timestamp("ns", "UTC")), pa.array(folds, pa.timestamp("ns", "UTC"))),
        (instant.with_name("instant"), pa.array(folds, instant.type)),
        (pa.field("instants", pa.list_(instant)), pa.array([[value] for value in folds], pa.list_(instant))),
        (pa.field("coded", pa.dictionary(pa.int32(), instant.type), metadata=mark), pa.array(folds, instant.type)),
    ]
    if not schema:
        # What is a clock to its reader may be either.
        columns = [column for column in columns if column[0].name not in ("wall", "walls")]
    arrays = [
        array if array.type == field.type else array.dictionary_encode().cast(field.type) for field, array in columns
    ]
    return {
        "data": pa.Table.from_arrays(arrays, schema=pa.schema([field for field, _ in columns])),
        "arrow_schema": schema,
        "timezone": zone,
    }


@each_case("zones", [["Europe/Berlin"] * 2, ["Europe/Berlin", "UTC"]])
@each_case("schema", [True, False])
def test_timestamps_stay_what_they_are(spark: Spark, tmp_path: Path, schema: bool, zones: list[str]) -> None:
    """ORC types, Arrow types and all digits are kept, and instants too if all files have one zone."""
    table = tmp_path / "t"
    table.mkdir()
    for at, zone in enumerate(zones):
        orcish.write_table(target=table / f"{at}.orc", **every_timestamp(schema, zone))
    wall, instant = ({"timestamps": how, "timestamp_unit": "ns"} for how in ("wall", "instant"))
    # Of two zones the clocks of instants, or the instants of clocks, cannot both stay.
    readings: list[dict[str, Any]] = [{}, wall, instant] if len(set(zones)) == 1 else [{}] if schema else [{}, wall]

    def state() -> Any:
        found = [orcish.read_table(table, **reading) for reading in readings]
        return [orcish.ORCFile(table / name).column_types[0] for name in table_of(table)][:1], found

    before = state()
    assert actions(osp.compact(str(table), rewrite=True)) == [("", "rewrite", 2, 8)]
    after = state()
    assert after == before
    # The metadata of schemas say what is stored.
    assert all(one.schema.equals(two.schema, check_metadata=True) for one, two in zip(before[1], after[1], strict=True))


def test_nothing_to_compact(spark: Spark, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="none"):
        osp.compact(str(tmp_path / "none"))
    assert not (tmp_path / "none").exists()
    assert actions(osp.compact(str(put(tmp_path / "one", {"a.orc": rows(0, 3)})))) == []
    for size in ["much", "0", "-1", "1.5MB"]:
        with pytest.raises(ValueError, match="no size"):
            osp.compact(str(tmp_path), target_file_size=size)


# convert


def test_parquet(spark: Spark, tmp_path: Path) -> None:
    frame = every_type(spark)
    frame.write.parquet(str(tmp_path / "p"))
    done = osp.convert(str(tmp_path / "p"), str(tmp_path / "t"), bloom_filter_columns=["id"])
    assert sum(row.rows for row in done.collect()) == 100
    assert sorted(row.file for row in done.collect()) == table_of(tmp_path / "t")
    assert_same(spark.read.orc(str(tmp_path / "t")), spark.read.parquet(str(tmp_path / "p")))


def test_text_formats(spark: Spark, tmp_path: Path) -> None:
    put(tmp_path, {"c/a.csv": b"id,text\n1,x\n2,\n", "j/a.json": b'{"id":1,"n":{"a":[1,2]}}\n{"id":2}\n'})
    osp.convert(str(tmp_path / "c"), str(tmp_path / "t1"), read_options={"header": True, "inferSchema": True})
    assert sorted(tuple(row) for row in spark.read.orc(str(tmp_path / "t1")).collect()) == [(1, "x"), (2, None)]
    osp.convert(str(tmp_path / "j"), str(tmp_path / "t2"))
    assert_same(spark.read.orc(str(tmp_path / "t2")), spark.read.json(str(tmp_path / "j")))
    put(tmp_path, {"u/a.data": b'{"id":1}\n'})
    with pytest.raises(ValueError, match="does not say its format"):
        osp.convert(str(tmp_path / "u"), str(tmp_path / "t3"))
    osp.convert(str(tmp_path / "u"), str(tmp_path / "t3"), format="json")
    assert ids_of(tmp_path / "t3") == [1]


def test_orc_and_partitions(spark: Spark, tmp_path: Path) -> None:
    frame = every_type(spark).selectExpr("*", "if(id % 5 = 0, null, concat('v ', id % 3)) as p", "id % 2 as q")
    frame.write.partitionBy("p", "q").orc(str(tmp_path / "own"))
    osp.convert(str(tmp_path / "own"), str(tmp_path / "t"), compression="zlib")
    wanted = spark.read.orc(str(tmp_path / "own"))
    assert_same(spark.read.orc(str(tmp_path / "t")), wanted)
    folders = [sorted({Path(name).parent for name in table_of(tmp_path / each)}) for each in ("own", "t")]
    assert folders[0] == folders[1]
    # Other partitions, or none.
    osp.convert(str(tmp_path / "own"), str(tmp_path / "flat"), partition_by=[])
    assert_same(spark.read.orc(str(tmp_path / "flat")), wanted)
    osp.convert(
        str(tmp_path / "own"), str(tmp_path / "by"), partition_by=["i8"], read_options={"columns": ["i8", "id"]}
    )
    assert len(list((tmp_path / "by").glob("i8=*"))) == 87


def test_partitions_of_parquet(spark: Spark, tmp_path: Path) -> None:
    frame = spark.range(10).selectExpr("id", "id % 2 as p")
    frame.write.partitionBy("p").parquet(str(tmp_path / "own"))
    osp.convert(str(tmp_path / "own"), str(tmp_path / "t"))
    assert_same(spark.read.orc(str(tmp_path / "t")), spark.read.parquet(str(tmp_path / "own")))
    assert {Path(name).parent.name for name in table_of(tmp_path / "t")} == {"p=0", "p=1"}


def test_partitions_that_are_not_read(spark: Spark, tmp_path: Path) -> None:
    """Partition columns that are not read name no folders of the target."""
    frame = spark.range(10).selectExpr("id", "id % 2 as p")
    frame.write.partitionBy("p").orc(str(tmp_path / "orc"))
    frame.write.partitionBy("p").parquet(str(tmp_path / "parquet"))
    for at, (source, options) in enumerate(
        [
            ("orc", {"columns": ["id"]}),
            ("orc", {"partitions": False}),
            ("parquet/p=*/*.parquet", {}),
        ]
    ):
        target = tmp_path / f"t{at}"
        osp.convert(str(tmp_path / source), str(target), read_options=options)
        assert ids_of(target) == list(range(10))
        assert not list(target.glob("p=*"))


def test_batches_are_bounded(spark: Spark) -> None:
    """Batches are bounded by bytes, unless the types bound the size of a row."""
    name = "spark.sql.execution.arrow.maxBytesPerBatch"
    before = spark.conf.get(name, None)
    narrow = pa.schema([("id", pa.int64()), ("n", pa.struct([("a", pa.decimal128(38, 2))]))])
    wide = pa.schema([(f"c{at}", pa.int64()) for at in range(1000)])
    for schema, is_lifted in [(narrow, True), (pa.schema([("s", pa.string())]), False), (wide, False)]:
        with large_batches(spark, schema):
            assert (spark.conf.get(name, None) == str((1 << 31) - 1)) == is_lifted
        assert spark.conf.get(name, None) == before


def test_sorted_within(spark: Spark, tmp_path: Path) -> None:
    frame = spark.range(0, 1000, 1, 1).selectExpr("id * 7919 % 1000 as n", "id")
    frame.write.orc(str(tmp_path / "own"))
    for at, source in enumerate([frame, str(tmp_path / "own")]):
        osp.convert(source, str(tmp_path / f"t{at}"), sort_within=["n"], max_rows_per_file=300)
        names = table_of(tmp_path / f"t{at}")
        assert len(names) == 4
        found = [
            value for name in names for value in orcish.read_table(str(tmp_path / f"t{at}" / name))["n"].to_pylist()
        ]
        assert found == list(range(1000))
    with pytest.raises(UnknownColumnError, match='sort_within: no column is named "no"'):
        osp.convert(frame, str(tmp_path / "t9"), sort_within=["no"])


def test_sorted_as_by_spark(spark: Spark, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nulls are first and NaN is last, also where rows are sorted on disk."""
    columns = "id", "if(id % 7 = 0, null, if(id % 5 = 0, double('nan'), id * 7919 % 1000 - 500D)) as n", "id % 3 as k"
    frame = spark.range(0, 3000, 1, 1).selectExpr(*columns)
    frame.write.orc(str(tmp_path / "own"))
    want = [tuple(row) for row in frame.sortWithinPartitions("k", "n", "id").collect()]
    for memory in (1 << 28, 1 << 12):
        monkeypatch.setattr(convert_job, "SORT_MEMORY", memory)
        target = tmp_path / str(memory)
        osp.convert(str(tmp_path / "own"), str(target), sort_within=["k", "n", "id"])
        (name,) = table_of(target)
        found = orcish.read_table(target / name).select(["id", "n", "k"]).to_pylist()
        assert str([tuple(row.values()) for row in found]) == str(want)


def test_batches_of_wide_rows() -> None:
    """Batches have at most as many bytes as those of Spark, unless one row has more."""
    texts = ["x" * (1 << 20) if at % 10 == 0 else "y" * at for at in range(200)]
    batch = pa.record_batch({"id": range(200), "text": texts})
    for most in (1, 1 << 20, 3 << 20, 1 << 30):
        found = list(within_bytes(batch, most))
        assert pa.Table.from_batches(found).equals(pa.Table.from_batches([batch]))
        assert all(part.nbytes <= most or part.num_rows == 1 for part in found)
        assert len(found) == 1 or most < 1 << 30
    assert next(within_bytes(batch.slice(0, 0), 1)).num_rows == 0


def test_modes(spark: Spark, tmp_path: Path) -> None:
    target = str(tmp_path / "t")
    osp.convert(spark.range(3), target)
    with pytest.raises(FileExistsError, match="existing_data='append'"):
        osp.convert(spark.range(3), target)
    osp.convert(spark.range(3, 5), target, existing_data="append")
    assert ids_of(tmp_path / "t") == list(range(5))
    osp.convert(spark.range(7, 9), target, existing_data="overwrite")
    assert ids_of(tmp_path / "t") == [7, 8]
    # Over itself.
    osp.convert(target, target, existing_data="overwrite")
    assert ids_of(tmp_path / "t") == [7, 8]
    with pytest.raises(ValueError, match="existing_data='other'"):
        osp.convert(spark.range(3), target, existing_data="other")  # type: ignore[arg-type]
    with pytest.raises(FileNotFoundError):
        osp.convert(str(tmp_path / "none"), target, existing_data="append")
    (tmp_path / "empty").mkdir()
    with pytest.raises(FileNotFoundError):
        osp.convert(str(tmp_path / "empty"), target, existing_data="append")
    assert ids_of(tmp_path / "t") == [7, 8]


def test_convert_of_nothing(spark: Spark, tmp_path: Path) -> None:
    spark.range(0).write.orc(str(tmp_path / "own"))
    osp.convert(spark.range(0), str(tmp_path / "a"))
    put(tmp_path / "b", {"x.orc": pa.table({"id": pa.array([], pa.int64())})})
    osp.convert(str(tmp_path / "b"), str(tmp_path / "c"))
    for name in "ac":
        assert spark.read.orc(str(tmp_path / name)).schema.simpleString() == "struct<id:bigint>"
        assert ids_of(tmp_path / name) == []


# verify


def test_verify(spark: Spark, tmp_path: Path) -> None:
    good = write_arrow(rows(0, 5000))
    table = put(tmp_path / "t", {f"p={at}/a.orc": good for at in range(3)})
    assert osp.verify(str(table)).collect() == []
    flipped = bytearray(good)
    flipped[200] ^= 0xFF
    put(table, {"p=1/a.orc": good[:-30], "p=2/a.orc": bytes(flipped)})
    found = osp.verify(str(table)).collect()
    assert {Path(row.file).parent.name for row in found} == {"p=1", "p=2"}
    assert all(row.message for row in found)
    with pytest.raises(FileNotFoundError):
        osp.verify(str(tmp_path / "none"))


# The command.


def test_main(
    spark: Spark, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    table = str(put(tmp_path / "t", {f"{at}.orc": rows(at, 1) for at in range(3)}))
    assert main(["compact", table, "--json"]) == 0
    (line,) = capsys.readouterr().out.splitlines()
    assert json.loads(line)["files"] == 3
    assert main(["compact", table]) == 0
    assert capsys.readouterr().out == "nothing\n"
    assert main(["verify", table]) == 0
    assert main(["convert", table, str(tmp_path / "out"), "--partition-by", "id", "--compression", "zlib"]) == 0
    assert capsys.readouterr().out.splitlines()[-1].split()[1] == "1"
    assert main(["convert", table, str(tmp_path / "out")]) == 1
    assert "has data already" in capsys.readouterr().err
    plain = ["--partition-by", "", "--bloom-filter-columns", "id", "--verify", "--compression-level", "0"]
    assert main(["convert", str(tmp_path / "out"), str(tmp_path / "plain"), "--compression", "brotli", *plain]) == 0
    assert orcish.read_table(tmp_path / "plain").num_rows == 3
    assert not list((tmp_path / "plain").glob("id=*"))
    put(tmp_path / "t", {"below/bad.orc": b"no ORC"})
    assert main(["verify", table]) == 0
    assert main(["verify", table, "--recursive-file-lookup"]) == 1
    (tmp_path / "t" / "below" / "bad.orc").unlink()
    put(tmp_path / "t", {"bad\x1b[31m.orc": b"no ORC"})
    assert main(["verify", table]) == 1
    out = capsys.readouterr().out
    assert "\x1b" not in out
    assert "bad" in out
    capsys.readouterr()
    # Of an error in a worker, nothing but that.
    assert main(["compact", table]) == 1
    said = capsys.readouterr().err.splitlines()[-1]
    assert re.search(r"^orcish: .*/bad\\x1b\[31m\.orc: ", said), said
    assert main(["verify", str(tmp_path / "none")]) == 1
    with pytest.raises(SystemExit):
        main(["compact"])


def test_options_of_what_profile_reads(spark: Spark, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "text.orc"
    orcish.write_table(pa.table({"s": ["a@@", "b"]}), path, compression="none", row_index_stride=0, arrow_schema=False)
    path.write_bytes(path.read_bytes().replace(b"@@", b"\xff@"))
    assert main(["profile", str(path), "--read-option", "invalidUtf8=null", "--json"]) == 0
    (line,) = capsys.readouterr().out.splitlines()
    assert (json.loads(line)["values"], json.loads(line)["nulls"]) == (1, 1)
    for option in ("columns=s", "nosuch=1", "externalLocations=/elsewhere"):
        assert main(["profile", str(path), "--read-option", option]) == 1
        assert option.partition("=")[0] in capsys.readouterr().err


@pytest.mark.long
def test_commands_of_the_shell(tmp_path: Path) -> None:
    """The commands run in the shell, and with spark-submit."""
    import pyspark
    import pyspark_orcish

    table = str(put(tmp_path / "t", {f"{at}.orc": rows(at, 1) for at in range(3)}))
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    conf = ["--conf", "spark.ui.enabled=false", "--conf", "spark.driver.host=127.0.0.1"]
    submit = Path(pyspark.__file__).parent / "bin" / "spark-submit"
    script = str(Path(pyspark_orcish.__file__).parent / "__main__.py")
    command = [str(submit), "--master", "local[1]", *conf, script, "compact", table, "--json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=200, check=False, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr[-3000:]
    # The line behind the warnings of pandas and Spark.
    assert json.loads(done.stdout.splitlines()[-1])["rows"] == 3
    assert ids_of(tmp_path / "t") == [0, 1, 2]
    command = [sys.executable, "-m", "orcish", "spark", "compact", "--help"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=200, check=True, env=environment)
    assert "--target-file-size" in done.stdout
    command = [sys.executable, "-m", "orcish", "spark", "--help"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=200, check=True, env=environment)
    assert "compact" in done.stdout
