"""Tables as data frames, and in Python functions that run in the workers."""

from __future__ import annotations

import contextlib
import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeVar, cast

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from orcish._native import Location, is_hidden
from orcish.errors import OrcishError
from orcish.filters.expression import Column, Expression, tree_of
from orcish.filters.pushdown import Filters
from orcish.io.names import display_name
from orcish.keywords import checked_keywords, chosen_options
from orcish.spark.options import data_source_options, path_texts
from orcish.spark.results import ResultSchema
from orcish.spark.runner import in_workers
from orcish.spark.schemas import nullable
from orcish.spark.session import path_of_this_process, session_defaults, task_cpus
from orcish.spark.table import open_table
from orcish.spark.tasks import TaskInput
from orcish.tables.log.table import table_log
from orcish.types import SparkReadOptions, StorageOptions

if TYPE_CHECKING:
    import pandas as pd
    from typing_extensions import Unpack

__all__ = ["UnfilteredReadWarning", "map_batches", "map_pandas", "read"]

_Part = TypeVar("_Part")
"""A batch, or a data frame."""
_known: set[str] = set()
"""The tables that this process has looked at."""


class UnfilteredReadWarning(UserWarning):
    """A data frame has all partitions of a table, because it is read without ``filters``."""


@checked_keywords
def read(
    spark: SparkSession,
    path: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    *,
    columns: Sequence[str] | None = None,
    filters: Filters | None = None,
    schema: StructType | str | None = None,
    storage_options: StorageOptions | None = None,
    **options: Unpack[SparkReadOptions],
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
    chosen = chosen_options(options, SparkReadOptions)
    if filters is not None and not isinstance(filters, Expression | Column | str):
        raise TypeError(f"filters is a predicate of orcish.col, or its text, not {type(filters).__name__}")
    if isinstance(filters, Column):
        filters = Expression(tree_of(filters))
    selection = {"columns": columns, "filters": None if filters is None else str(filters)}
    text = data_source_options({**session_defaults(spark), **chosen, **selection, **(storage_options or {})})
    reader = spark.read.format("orcish").options(**cast("dict[str, Any]", text))
    if schema is not None:
        # Spark's own sources make schemas nullable. For Python data sources, it uses the schema unchanged.
        reader = reader.schema(nullable(_struct_type(spark, schema)))
    paths = path_texts(path)
    if filters is None and options.get("partitions") is not False and not options.get("recursive_file_lookup"):
        # The caller is above the check of the keywords.
        _warn_of_partitions(paths, storage_options, 3)
    paths = [path_of_this_process(spark, each) for each in paths]
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
    storage_options: StorageOptions | None = None,
    **options: Unpack[SparkReadOptions],
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
    chosen = chosen_options(options, SparkReadOptions)
    tasks = open_table(spark, path, columns, filters, table_schema, chosen, storage_options).task_inputs()
    results = ResultSchema(_struct_type(spark, schema))

    def run(part: TaskInput) -> Iterator[pa.RecordBatch]:
        yield from map(results.of, _checked(fn(part.batches(task_cpus())), "batches"))

    return in_workers(spark, tasks, run, schema)


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
    storage_options: StorageOptions | None = None,
    **options: Unpack[SparkReadOptions],
) -> DataFrame:
    """Like :func:`map_batches`, with data frames of pandas, whose columns Spark casts to the types of the schema."""
    chosen = chosen_options(options, SparkReadOptions)
    tasks = open_table(spark, path, columns, filters, table_schema, chosen, storage_options).task_inputs()

    def run(rows: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        for part in (tasks[number] for frame in rows for number in frame.iloc[:, 0]):
            yield from _checked(fn(batch.to_pandas() for batch in part.batches(task_cpus())), "data frames")

    return spark.range(0, len(tasks), 1, max(len(tasks), 1)).mapInPandas(run, schema)


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


def _warn_of_partitions(paths: Sequence[str], storage: StorageOptions | None, level: int) -> None:
    """Warns once of each table with partitions.

    Args:
        paths: The paths or URLs that are read without ``filters``.
        storage: Options of the store.
        level: The frame that the warning names, counted from the caller.
    """
    for path in (Location(each).path for each in paths):
        if path in _known:
            continue
        _known.add(path)
        # What is wrong with a path is an error of the read.
        with contextlib.suppress(OSError, OrcishError, ValueError):
            if _has_partitions(path, storage):
                warnings.warn(
                    f"{display_name(path)}: the table has partitions and is read without filters: df.filter(...) reads "
                    "all of them, as Spark passes no filters to Python data sources; filters='...' of osp.read reads "
                    "those that match",
                    UnfilteredReadWarning,
                    stacklevel=level + 1,
                )


def _has_partitions(path: str, storage: StorageOptions | None) -> bool:
    """Whether a table has partitions: on local disks by its folders, and in stores by its log.

    Raises:
        OSError, OrcishError, ValueError: There is no such folder, or the log cannot be read.
    """
    location = Location(path)
    if location.is_pattern or location.is_foreign or location.is_http:
        return False
    place = location.path
    if not location.is_local:
        # Below this folder there are no files of the table.
        _, schema = table_log(place.rstrip("/"), storage).view("_orcish")
        return schema is not None and bool(schema[1])
    with os.scandir(place) as entries:
        return any(entry.is_dir() and entry.name.partition("=")[1] and not is_hidden(entry.name) for entry in entries)
