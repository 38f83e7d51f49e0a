"""Profile of a table: rows, nulls, bounds, distinct values and stored bytes of each column."""

from __future__ import annotations

import os
import pickle
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import types as T  # noqa: N812

from orcish.filters.pushdown import Filters
from orcish.keywords import checked_keywords, chosen_options
from orcish.reading.scan import Split
from orcish.reading.split_groups import group_splits
from orcish.reading.storage import encodings_text
from orcish.spark.column_tree import ColumnNode, column_tree
from orcish.spark.partitions import spark_texts
from orcish.spark.profiler import ColumnProfile, Profiler
from orcish.spark.recorded import plain_type
from orcish.spark.runner import active_session, in_workers
from orcish.spark.session import job_description, task_cpus
from orcish.spark.table import SparkTable, open_table
from orcish.types import SparkReadOptions, StorageOptions

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["profile", "profile_table"]

SCHEMA = T.StructType(
    [
        T.StructField("column", T.StringType(), False),
        T.StructField("type", T.StringType(), False),
        T.StructField("rows", T.LongType(), False),
        T.StructField("values", T.LongType(), False),
        T.StructField("nulls", T.LongType(), False),
        T.StructField("min", T.StringType()),
        T.StructField("max", T.StringType()),
        T.StructField("distinct", T.LongType()),
        T.StructField("bytes", T.LongType()),
        T.StructField("encodings", T.StringType(), False),
        T.StructField("proven", T.BooleanType(), False),
    ]
)
FOUND = "column int, found binary"
MAX_ROWS = 4096
"""Maximum rows that the driver combines itself; otherwise Spark combines the rows of each column first."""
MERGERS = 64
"""Maximum tasks that combine rows."""


@checked_keywords
def profile(
    path: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    *,
    columns: Sequence[str] | None = None,
    filters: Filters | None = None,
    distinct: bool = True,
    spark: SparkSession | None = None,
    storage_options: StorageOptions | None = None,
    **options: Unpack[SparkReadOptions],
) -> DataFrame:
    """Profiles the columns of a table. Statistics of the files are used where they are exact; otherwise Spark's workers
    read the column. The result is complete when the function returns.

    >>> found = osp.profile("orders/", columns=["id", "customer.name"])
    >>> found.select("column", "type", "values", "nulls", "min", "max").show()
    +-------------+-------------------+------+-----+----------+----------+
    |       column|               type|values|nulls|       min|       max|
    +-------------+-------------------+------+-----+----------+----------+
    |           id|             bigint|   100|    0|         0|        99|
    |     customer|struct<name:string>|   100|    0|      NULL|      NULL|
    |customer.name|             string|   100|    0|customer 0|customer 6|
    +-------------+-------------------+------+-----+----------+----------+

    A nested column has one row of its own and one for each leaf, with its dotted name. The data frame has these
    columns, and rows in the order of the table:

    - ``column``: ``id``, ``nest.b``, ``list.element``, ``map.key``, ``map.value``, …;
    - ``type``: the type in Spark;
    - ``rows``: number of rows, or, inside of lists and maps, of elements or entries;
    - ``values``, ``nulls``: numbers of values and nulls, whose sum is ``rows``. Fields of null structs are null;
    - ``min``, ``max``: with the format of Spark's casts to text, in the time zone of the session. NaN is the maximum.
      Null for binary and nested columns, and where there are no values;
    - ``distinct``: approximate number of distinct values, with a standard error of 0.81 %; null for nested columns, and
      where ``distinct`` is false;
    - ``bytes``: stored bytes of the column with its indexes, bloom filters and nested columns, in the stripes that may
      have rows of ``filters``; null where they are not known;
    - ``encodings``: encodings of the column, with the numbers of stripes: ``DICTIONARY_V2 12, DIRECT_V2 3``;
    - ``proven``: whether values, nulls and bounds come from statistics alone. Only the tails and stripe footers are
      then read for them, and the column for ``distinct``.

    The other keywords are options of the data source; see ``docs/spark-reading.md``.

    Args:
        path: A path or URL of a file or folder, a pattern, or several of them.
        columns: Dotted names of columns, in this order; all by default, partition columns included.
        filters: Which rows: a predicate of :func:`orcish.col`, of pyarrow or polars, or text.
        distinct: Whether distinct values are estimated, which reads all columns.
        spark: The session, of Spark 3.5 or later; the active one by default.
        storage_options: Options of the object store of a URL; see :data:`~orcish.types.StorageOptions`.
    """
    session = active_session(spark)
    table = open_table(
        session, path, columns, filters, None, chosen_options(options, SparkReadOptions), storage_options
    )
    return profile_table(session, table, distinct)


def profile_table(session: SparkSession, table: SparkTable, distinct: bool) -> DataFrame:
    """The profile of an open table; see :func:`profile`."""
    options = table.options
    if options.row_number:
        raise ValueError("option rowNumber: numbers of rows have no profile")
    nodes = column_tree(table)
    reported = [node for top in nodes for node in top.all() if node.index is not None]
    parts = group_splits(table.scan.splits(options.split_size), options.split_size, options.min_splits)

    def run(splits: list[Split]) -> Iterator[pa.RecordBatch]:
        profiler = Profiler(nodes, distinct, task_cpus())
        for split in splits:
            profiler.add(split)
        yield _rows(profiler.found())

    with job_description(session, f"profile of {', '.join(options.paths)}"):
        found: dict[int, ColumnProfile] = {}
        if parts:
            frame = in_workers(session, parts, run, FOUND)
            if len(parts) * len(reported) > MAX_ROWS:
                frame = frame.repartition(min(len(reported), MERGERS), "column").mapInArrow(_merge, FOUND)
            found = _combine((row[0], pickle.loads(row[1])) for row in frame.collect())
        rows = [
            _row(node, found.get(node.index or 0, ColumnProfile()), distinct, options.session_timezone)
            for node in reported
        ]
        return session.createDataFrame(rows, SCHEMA)


def _merge(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    rows = (row for batch in batches for row in zip(*(c.to_pylist() for c in batch.columns), strict=True))
    yield _rows(_combine((column, pickle.loads(found)) for column, found in rows))


def _combine(rows: Iterator[tuple[int, ColumnProfile]]) -> dict[int, ColumnProfile]:
    merged: dict[int, ColumnProfile] = {}
    for column, found in rows:
        merged.setdefault(column, ColumnProfile()).merge(found)
    return merged


def _rows(found: dict[int, ColumnProfile]) -> pa.RecordBatch:
    columns = [pa.array(list(found), pa.int32()), pa.array([pickle.dumps(one) for one in found.values()], pa.binary())]
    return pa.RecordBatch.from_arrays(columns, names=["column", "found"])


def _row(node: ColumnNode, found: ColumnProfile, distinct: bool, zone: str) -> tuple[Any, ...]:
    """A row of the result."""
    bounds = spark_texts(_typed([found.low, found.high], node), node.kind, zone).to_pylist() if node.has_order else []
    return (
        node.name,
        node.kind.simpleString(),
        found.slots,
        found.values,
        found.slots - found.values,
        *(bounds or (None, None)),
        found.distinct() if distinct and not node.children else None,
        found.size,
        encodings_text(found.encodings),
        found.proven,
    )


def _typed(bounds: list[Any], node: ColumnNode) -> pa.Array:
    """The values of :func:`plain_bounds`, in the type of Spark."""
    if pa.types.is_floating(node.arrow_type):
        # Zero has no sign.
        bounds = [value if value is None else value + 0.0 for value in bounds]
    kind = plain_type(node.arrow_type)
    return pa.array(bounds, node.arrow_type) if kind is None else pa.array(bounds, kind).view(node.arrow_type)
