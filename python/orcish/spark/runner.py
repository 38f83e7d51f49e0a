"""Running of a function in the workers, and results as data frames."""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from orcish.process import is_terminal
from orcish.progress import reported_so_far
from orcish.spark.session import job_description, jvm
from orcish.spark.tasks import deserialize, serialize

__all__ = ["active_session", "in_workers", "run_in_workers", "sql_schema", "to_batch", "to_frame"]

Item = TypeVar("Item")


def active_session(spark: SparkSession | None) -> SparkSession:
    """The given session, the active one, or a new one."""
    return spark or SparkSession.getActiveSession() or SparkSession.builder.getOrCreate()


def in_workers(
    spark: SparkSession,
    items: Sequence[Item],
    run: Callable[[Item], Iterator[pa.RecordBatch]],
    schema: StructType | str,
) -> DataFrame:
    """A data frame of the batches that a function makes, in one task for each item.

    Args:
        spark: The session.
        items: Arguments of the function, which are pickled.
        run: The function; it runs more than once where a task is retried or speculated.
        schema: Schema of the batches.
    """
    sent = [serialize(item) for item in items]

    def task(numbers: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in numbers:
            for number in batch.column(0).to_pylist():
                yield from run(deserialize(sent[number]))

    return spark.range(0, len(items), 1, max(len(items), 1)).mapInArrow(task, schema)


def run_in_workers(
    spark: SparkSession,
    items: Sequence[Item],
    run: Callable[[Item], Sequence[tuple[Any, ...]]],
    schema: pa.Schema,
    text: str,
) -> list[dict[str, Any]]:
    """Runs a function in one task for each item, as :func:`in_workers`, and gives the rows that it returns.

    Args:
        spark: The session.
        items: Arguments of the function.
        run: The function, which gives rows.
        schema: Schema of the rows.
        text: Description of the job, for Spark's UI and the terminal.
    """
    if not items:
        return []
    frame = in_workers(spark, items, lambda item: iter([to_batch(run(item), schema)]), sql_schema(schema))
    with job_description(spark, text), _progress(spark, text, len(items)):
        return [row.asDict() for row in frame.collect()]


def to_batch(rows: Sequence[tuple[Any, ...]], schema: pa.Schema) -> pa.RecordBatch:
    """Rows as a batch."""
    columns = zip(*rows, strict=True) if rows else ([] for _ in schema)
    arrays = [pa.array(list(values), field.type) for values, field in zip(columns, schema, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def sql_schema(schema: pa.Schema) -> str:
    """The schema in the syntax of Spark."""
    return ", ".join(f"`{field.name}` {_SQL[field.type]}" for field in schema)


_SQL = {pa.string(): "string", pa.int64(): "bigint", pa.binary(): "binary", pa.bool_(): "boolean"}


def to_frame(spark: SparkSession, rows: Sequence[dict[str, Any]], schema: pa.Schema) -> DataFrame:
    """Rows as a data frame."""
    return spark.createDataFrame([tuple(row[field.name] for field in schema) for row in rows], sql_schema(schema))


@contextlib.contextmanager
def _progress(spark: SparkSession, text: str, tasks: int) -> Iterator[None]:
    """Shows a progress bar of tasks on a terminal, unless Spark shows its own."""
    has_own = jvm(spark) is None or spark.conf.get("spark.ui.showConsoleProgress", "false") == "true"
    if has_own or not is_terminal(sys.stderr):
        yield
        return
    tracker = spark.sparkContext.statusTracker()
    is_done = threading.Event()

    def watch(show: Callable[[int], None]) -> None:
        done = 0
        while not is_done.wait(0.2):
            stages = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
            done = max(done, sum(stage.numCompletedTasks for stage in stages if stage is not None))
            show(done)

    with reported_so_far(True, text, tasks) as show:
        assert show is not None
        thread = threading.Thread(target=watch, args=(show,), daemon=True)
        thread.start()
        try:
            yield
        finally:
            is_done.set()
            thread.join()
