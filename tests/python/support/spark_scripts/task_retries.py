"""Run by a test in a process whose Spark tries tasks again: tasks that fail, and commits that fail."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import orcish
import orcish.spark as osp
from pyspark.errors import PySparkException

from support.spark_tables import ids_of, left_over, start_spark, table_of


def main(folder: Path) -> None:
    spark = start_spark("local[2,4]", spark_sql_shuffle_partitions="2", spark_task_maxFailures="4")

    def stumbling(mark: Path, times: int) -> Any:
        """Rows of which one task fails some times, in the middle of them."""

        def rows(batches: Any) -> Any:
            for batch in batches:
                yield batch
                if 99 in batch.column(0).to_pylist():
                    for at in range(times):
                        if not (mark / str(at)).exists():
                            (mark / str(at)).touch()
                            raise ValueError("it stumbles")

        mark.mkdir()
        return spark.range(0, 200, 1, 2).mapInArrow(rows, "id bigint")

    def save(frame: Any, name: str, mode: str = "append", **more: str) -> None:
        frame.write.format("orcish").options(**more).mode(mode).save(str(folder / name))

    def fails(run: Any, text: str) -> None:
        try:
            run()
        except PySparkException as error:
            assert text in str(error), error  # noqa: PT017
        else:
            raise AssertionError("nothing failed")

    # A task that fails twice.
    save(stumbling(folder / "mark1", 2), "t")
    assert ids_of(folder / "t") == list(range(200))
    assert left_over(folder / "t") == []
    assert len(table_of(folder / "t")) == 2
    print("again")

    # One that always fails: nothing has changed, and nothing is left.
    before = table_of(folder / "t")
    fails(lambda: save(stumbling(folder / "mark2", 99), "t"), "it stumbles")
    fails(lambda: save(stumbling(folder / "mark3", 99), "t", "overwrite"), "it stumbles")
    fails(
        lambda: osp.convert(stumbling(folder / "mark4", 99), str(folder / "t"), existing_data="append"), "it stumbles"
    )
    assert table_of(folder / "t") == before
    assert ids_of(folder / "t") == list(range(200))
    assert left_over(folder / "t") == [], left_over(folder / "t")
    print("never")

    # A commit that is decided and cannot be finished, as there is a folder where a file should be.
    marker = folder / "d" / "_orcish" / "log" / "000000000000.done"
    (marker / "x").mkdir(parents=True)
    fails(lambda: save(spark.range(10), "d"), "is decided and not finished")
    (marker / "x").rmdir()
    marker.rmdir()
    assert spark.read.format("orcish").load(str(folder / "d")).count() == 10
    assert ids_of(folder / "d") == list(range(10))
    assert orcish.recover(folder / "d") == "finished"
    assert ids_of(folder / "d") == list(range(10))
    assert left_over(folder / "d") == []
    print("finished")

    # One that is not decided.
    from orcish.spark.data_source import OrcishDataSource
    from orcish.spark.writers import OrcishWriter
    from orcish.tables.commit import Job

    class Undecided(OrcishDataSource):
        @classmethod
        def name(cls) -> str:
            return "undecided"

        def writer(self, schema: Any, overwrite: bool) -> Any:
            from orcish.spark.options import WriterOptions

            class Writer(OrcishWriter):
                def commit(self, messages: Any) -> None:
                    def refused(*args: Any, **more: Any) -> None:
                        raise PermissionError("nobody may write here")

                    before, Job.commit = Job.commit, refused  # type: ignore[method-assign]
                    try:
                        super().commit(messages)
                    finally:
                        Job.commit = before  # type: ignore[method-assign]

            return Writer(WriterOptions.of(self.options), schema, overwrite)

    spark.dataSource.register(Undecided)
    for mode in ["append", "overwrite"]:
        writer = spark.range(5).write.format("undecided").mode(mode)
        fails(lambda writer=writer: writer.save(str(folder / "d")), "nobody may write here")
        assert ids_of(folder / "d") == list(range(10))
        assert left_over(folder / "d") == []
    print("undecided")
    spark.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
