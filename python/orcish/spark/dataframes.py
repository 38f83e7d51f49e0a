"""Tables in Spark: as data frames, and in Python functions that run in the workers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, cast

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from orcish.filters.expression import Column, Expression, tree_of
from orcish.filters.pushdown import Filters
from orcish.spark.options import to_text
from orcish.spark.session import task_cpus
from orcish.spark.table.open import open_table, session_defaults
from orcish.spark.table.tasks import Work
from orcish.spark.types.arrow import nullable

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["map_batches", "map_pandas", "read"]


def read(
    spark: SparkSession,
    path: str | Sequence[str],
    *,
    columns: Sequence[str] | None = None,
    where: Filters | None = None,
    schema: StructType | str | None = None,
    **options: Any,
) -> DataFrame:
    """A table as a data frame, of which no more than these columns and rows leave the workers.

    >>> osp.read(spark, "table/", columns=["id", "nest.b"], where=orcish.col("id") > 5)         # doctest: +SKIP

    Args:
        spark: The session.
        path: A path or URL of a file or folder, a pattern, or several of them.
        columns: Dotted names of columns, in their order; all by default.
        where: Which rows: a predicate of :func:`orcish.col`, or its text.
        schema: Columns and their types, in place of those of the files, and of `columns`.
        options: Other options of the data source, such as ``mergeSchema=True``; see ``docs/spark-reading.md``.

    Raises:
        TypeError: The predicate is one of another library, which Spark cannot be given; :func:`map_batches` can.
    """
    if where is not None and not isinstance(where, Expression | Column | str):
        raise TypeError(f"where is a predicate of orcish.col, or its text, not {type(where).__name__}")
    if isinstance(where, Column):
        where = Expression(tree_of(where))
    own = {"columns": columns, "where": None if where is None else str(where)}
    text = to_text({**session_defaults(spark), **options, **own})
    reader = spark.read.format("orcish").options(**cast("dict[str, Any]", text))
    if schema is not None:
        # As in Spark's own sources; the schema of a data source is taken at its word.
        fields = spark.createDataFrame([], schema).schema if isinstance(schema, str) else schema
        reader = reader.schema(nullable(fields))
    return reader.load(path if isinstance(path, str) else list(path))


def map_batches(
    spark: SparkSession,
    path: str | Sequence[str],
    fn: Callable[[Iterator[pa.RecordBatch]], Iterable[pa.RecordBatch]],
    schema: StructType | str,
    *,
    columns: Sequence[str] | None = None,
    where: Filters | None = None,
    table_schema: StructType | None = None,
    **options: Any,
) -> DataFrame:
    """The rows of a table through a function that runs in the workers, which open the files themselves: no row of the
    table passes through the JVM.

    >>> def score(batches):                                                                    # doctest: +SKIP
    ...     for batch in batches:
    ...         yield pa.record_batch({"id": batch["id"], "score": model(batch["text"])})
    >>> osp.map_batches(spark, "table/", score, "id bigint, score double", columns=["id", "text"])  # doctest: +SKIP

    Args:
        spark: The session; of Spark 3.5 or later.
        path: A path or URL of a file or folder, a pattern, or several of them.
        fn: Takes the batches of a task, with the types that Spark's Arrow functions have, and gives others.
        schema: Of what `fn` gives.
        columns: Dotted names of the columns that `fn` is given; all by default.
        where: Which rows: a predicate of :func:`orcish.col`, of pyarrow or polars, or text.
        table_schema: Columns and their types, in place of those of the files, and of `columns`.
        options: Other options of the data source; see ``docs/spark-reading.md``.
    """
    work = open_table(spark, path, columns, where, table_schema, options).work()

    def run(rows: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for part in _parts(work, (batch.column(0).to_pylist() for batch in rows)):
            yield from fn(part.batches(task_cpus()))

    return _numbers(spark, work).mapInArrow(run, schema)


def map_pandas(
    spark: SparkSession,
    path: str | Sequence[str],
    fn: Callable[[Iterator[pd.DataFrame]], Iterable[pd.DataFrame]],
    schema: StructType | str,
    *,
    columns: Sequence[str] | None = None,
    where: Filters | None = None,
    table_schema: StructType | None = None,
    **options: Any,
) -> DataFrame:
    """As :func:`map_batches`, with data frames of pandas."""
    work = open_table(spark, path, columns, where, table_schema, options).work()

    def run(rows: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        for part in _parts(work, (frame.iloc[:, 0].tolist() for frame in rows)):
            yield from fn(batch.to_pandas() for batch in part.batches(task_cpus()))

    return _numbers(spark, work).mapInPandas(run, schema)


def _numbers(spark: SparkSession, work: list[Work]) -> DataFrame:
    """One row, and one task, for each part of the work."""
    count = len(work)
    return spark.range(0, count, 1, max(count, 1))


def _parts(work: list[Work], numbers: Iterable[list[int]]) -> Iterator[Work]:
    return (work[number] for some in numbers for number in some)
