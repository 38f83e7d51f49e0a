"""Running of a function in the workers, and results as data frames."""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from orcish.process import is_terminal
from orcish.spark.session import job_description, jvm
from orcish.spark.table.tasks import deserialize, serialize
from orcish.terminal import printable

__all__ = ["active_session", "run_in_workers", "sql_schema", "to_batch", "to_frame"]

Item = TypeVar("Item")

BAR = 40
"""Width of the progress bar."""


def active_session(spark: SparkSession | None) -> SparkSession:
    """The given session, the active one, or a new one."""
    return spark or SparkSession.getActiveSession() or SparkSession.builder.getOrCreate()


def run_in_workers(
    spark: SparkSession,
    items: Sequence[Item],
    run: Callable[[Item], Sequence[tuple[Any, ...]]],
    schema: pa.Schema,
    text: str,
) -> list[dict[str, Any]]:
    """Runs a function in one task for each item, and gives the rows that it returns.

    Args:
        spark: The session.
        items: Arguments of the function, which are pickled.
        run: The function; it runs more than once where a task is retried or speculated. Gives rows.
        schema: Schema of the rows.
        text: Description of the job, for Spark's UI and the terminal.
    """
    if not items:
        return []
    sent = [serialize(item) for item in items]

    def task(numbers: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in numbers:
            for number in batch.column(0).to_pylist():
                yield to_batch(run(deserialize(sent[number])), schema)

    frame = spark.range(0, len(items), 1, len(items)).mapInArrow(task, sql_schema(schema))
    with job_description(spark, text), _progress(spark, text):
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
def _progress(spark: SparkSession, text: str) -> Iterator[None]:
    """Shows a progress bar on a terminal, unless Spark shows its own."""
    machine = jvm(spark)
    has_own = machine is None or spark.conf.get("spark.ui.showConsoleProgress", "false") == "true"
    if has_own or not is_terminal(sys.stderr):
        yield
        return
    text = printable(text)
    tracker = spark.sparkContext.statusTracker()
    done = threading.Event()

    def draw() -> None:
        while not done.wait(0.2):
            for stage in tracker.getActiveStageIds():
                info = tracker.getStageInfo(stage)
                if info is not None and info.numTasks:
                    part = info.numCompletedTasks / info.numTasks
                    bar = "#" * round(part * BAR)
                    print(f"\r{text} [{bar:<{BAR}}] {info.numCompletedTasks}/{info.numTasks}", end="", file=sys.stderr)
        print("\r\x1b[K", end="", file=sys.stderr, flush=True)

    thread = threading.Thread(target=draw, daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()
