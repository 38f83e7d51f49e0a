"""Tables as data frames, and in Python functions that run in the workers."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeVar, cast

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from orcish.filters.expression import Column, Expression, tree_of
from orcish.filters.pushdown import Filters
from orcish.keywords import checked_keywords, chosen_options
from orcish.spark.options import SourceOptions, data_source_options, path_texts
from orcish.spark.session import task_cpus
from orcish.spark.table.open import open_table, session_defaults
from orcish.spark.table.tasks import TaskInput
from orcish.spark.types.arrow import nullable
from orcish.spark.types.results import ResultSchema
from orcish.spark.unfiltered import warn_of_partitions
from orcish.types import Pending, StorageOptions

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["map_batches", "map_pandas", "read"]

_Part = TypeVar("_Part")
"""A batch, or a data frame."""


@checked_keywords
def read(
    spark: SparkSession,
    path: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    *,
    columns: Sequence[str] | None = None,
    filters: Filters | None = None,
    schema: StructType | str | None = None,
    merge_schema: bool | None = None,
    case_sensitive: bool | None = None,
    row_number: bool | str | None = None,
    partitions: bool | None = None,
    partition_column_type_inference: bool | None = None,
    recursive_file_lookup: bool | None = None,
    pending: Pending | None = None,
    split_size: int | None = None,
    min_splits: int | None = None,
    batch_size: int | None = None,
    invalid_utf8: Literal["error", "replace", "null", "binary"] | None = None,
    decimal_out_of_range: Literal["error", "null"] | None = None,
    long_char: Literal["keep", "cut", "error"] | None = None,
    timezone: str | None = None,
    session_timezone: str | None = None,
    external_locations: Sequence[str] | None = None,
    storage_options: StorageOptions | None = None,
) -> DataFrame:
    """Reads a table as a data frame. Columns and filters are pushed down to the workers.

    Only the keyword ``filters`` is: ``frame.filter("k = 7")`` reads the whole table, its other partitions too, because
    Spark passes no filters to a Python data source. A table with partitions that is read without ``filters`` gives an
    :class:`~orcish.spark.UnfilteredReadWarning`, once.

    >>> osp.read(spark, "orders/", columns=["id", "customer.name"], filters=orcish.col("id") > 95).count()
    4

    The other keywords are options of the data source; see ``docs/spark-reading.md``.

    Args:
        spark: The session.
        path: A path or URL of a file or folder, a pattern, or several of them.
        columns: Dotted names of columns, in this order; all by default.
        filters: Which rows: a predicate of :func:`orcish.col`, or its text.
        schema: Columns and their types, instead of those of the files, and of ``columns``.
        storage_options: Options of the object store of a URL; see :data:`~orcish.types.StorageOptions`.

    Raises:
        TypeError: The predicate is of another library, which cannot be an option of Spark; :func:`map_batches` takes
            it.
    """
    options = chosen_options(locals(), SourceOptions)
    if filters is not None and not isinstance(filters, Expression | Column | str):
        raise TypeError(f"filters is a predicate of orcish.col, or its text, not {type(filters).__name__}")
    if isinstance(filters, Column):
        filters = Expression(tree_of(filters))
    selection = {"columns": columns, "filters": None if filters is None else str(filters)}
    text = data_source_options({**session_defaults(spark), **options, **selection, **(storage_options or {})})
    reader = spark.read.format("orcish").options(**cast("dict[str, Any]", text))
    if schema is not None:
        # Spark's own sources make schemas nullable. For Python data sources, it uses the schema unchanged.
        reader = reader.schema(nullable(_struct_type(spark, schema)))
    paths = path_texts(path)
    if filters is None and partitions is not False and not recursive_file_lookup:
        # The caller is above the check of the keywords.
        warn_of_partitions(paths, storage_options, 3)
    return reader.load(paths[0] if len(paths) == 1 else paths)


@checked_keywords
def map_batches(
    spark: SparkSession,
    path: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    fn: Callable[[Iterator[pa.RecordBatch]], Iterable[pa.RecordBatch]],
    schema: StructType | str,
    *,
    columns: Sequence[str] | None = None,
    filters: Filters | None = None,
    table_schema: StructType | None = None,
    merge_schema: bool | None = None,
    case_sensitive: bool | None = None,
    row_number: bool | str | None = None,
    partitions: bool | None = None,
    partition_column_type_inference: bool | None = None,
    recursive_file_lookup: bool | None = None,
    pending: Pending | None = None,
    split_size: int | None = None,
    min_splits: int | None = None,
    batch_size: int | None = None,
    invalid_utf8: Literal["error", "replace", "null", "binary"] | None = None,
    decimal_out_of_range: Literal["error", "null"] | None = None,
    long_char: Literal["keep", "cut", "error"] | None = None,
    timezone: str | None = None,
    session_timezone: str | None = None,
    external_locations: Sequence[str] | None = None,
    storage_options: StorageOptions | None = None,
) -> DataFrame:
    """Passes the rows of a table through a function, which takes an iterator of Arrow batches and yields batches. It
    runs in the workers, once for a task. These open the files themselves, so that no row of the table passes through
    the JVM.

    >>> def doubled(batches):
    ...     import pyarrow as pa
    ...     import pyarrow.compute as pc
    ...     for batch in batches:
    ...         yield pa.record_batch({"id": batch["id"], "twice": pc.multiply(batch["id"], 2)})
    >>> frame = osp.map_batches(spark, "orders/", doubled, "id bigint, twice bigint", columns=["id"])
    >>> frame.filter("id = 21").collect()
    [Row(id=21, twice=42)]

    The other keywords are options of the data source; see ``docs/spark-reading.md``.

    Args:
        spark: The session; of Spark 3.5 or later.
        path: A path or URL of a file or folder, a pattern, or several of them.
        fn: Takes an iterator of the batches of a task, with the types of Spark's Arrow functions, and yields batches.
        schema: The schema of the batches that ``fn`` gives. Columns, and fields of structs, are matched by name. Their
            types are cast to those of the schema where that keeps all values: ``int32`` is a ``bigint``, too.
        columns: Dotted names of columns; all by default.
        filters: Which rows: a predicate of :func:`orcish.col`, of pyarrow or polars, or text.
        table_schema: Columns and their types, instead of those of the files, and of ``columns``.
        storage_options: Options of the object store of a URL; see :data:`~orcish.types.StorageOptions`.
    """
    options = chosen_options(locals(), SourceOptions)
    tasks = open_table(spark, path, columns, filters, table_schema, options, storage_options).task_inputs()
    results = ResultSchema(_struct_type(spark, schema))

    def run(rows: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for part in _inputs_of_task(tasks, (batch.column(0).to_pylist() for batch in rows)):
            yield from map(results.of, _checked(fn(part.batches(task_cpus())), "batches"))

    return _index_frame(spark, tasks).mapInArrow(run, schema)


@checked_keywords
def map_pandas(
    spark: SparkSession,
    path: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    fn: Callable[[Iterator[pd.DataFrame]], Iterable[pd.DataFrame]],
    schema: StructType | str,
    *,
    columns: Sequence[str] | None = None,
    filters: Filters | None = None,
    table_schema: StructType | None = None,
    merge_schema: bool | None = None,
    case_sensitive: bool | None = None,
    row_number: bool | str | None = None,
    partitions: bool | None = None,
    partition_column_type_inference: bool | None = None,
    recursive_file_lookup: bool | None = None,
    pending: Pending | None = None,
    split_size: int | None = None,
    min_splits: int | None = None,
    batch_size: int | None = None,
    invalid_utf8: Literal["error", "replace", "null", "binary"] | None = None,
    decimal_out_of_range: Literal["error", "null"] | None = None,
    long_char: Literal["keep", "cut", "error"] | None = None,
    timezone: str | None = None,
    session_timezone: str | None = None,
    external_locations: Sequence[str] | None = None,
    storage_options: StorageOptions | None = None,
) -> DataFrame:
    """Like :func:`map_batches`, with data frames of pandas, whose columns Spark casts to the types of the schema."""
    options = chosen_options(locals(), SourceOptions)
    tasks = open_table(spark, path, columns, filters, table_schema, options, storage_options).task_inputs()

    def run(rows: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        for part in _inputs_of_task(tasks, (frame.iloc[:, 0].tolist() for frame in rows)):
            yield from _checked(fn(batch.to_pandas() for batch in part.batches(task_cpus())), "data frames")

    return _index_frame(spark, tasks).mapInPandas(run, schema)


def _struct_type(spark: SparkSession, schema: StructType | str) -> StructType:
    """A schema, which may be a text of DDL."""
    return spark.createDataFrame([], schema).schema if isinstance(schema, str) else schema


def _checked(made: Iterable[_Part], parts: str) -> Iterable[_Part]:
    """What a function of the user has made.

    Raises:
        TypeError: It is no iterator. Data frames and batches are iterables of other things.
    """
    if not isinstance(made, Iterable) or hasattr(made, "columns"):
        kind = "None" if made is None else f"a {type(made).__name__}"
        raise TypeError(f"the function takes an iterator of {parts} and yields {parts}; it has returned {kind}")
    return made


def _index_frame(spark: SparkSession, task_inputs: list[TaskInput]) -> DataFrame:
    """A data frame with one row, and one task, for each task input."""
    count = len(task_inputs)
    return spark.range(0, count, 1, max(count, 1))


def _inputs_of_task(task_inputs: list[TaskInput], numbers: Iterable[list[int]]) -> Iterator[TaskInput]:
    return (task_inputs[number] for some in numbers for number in some)
