"""Verification of the files of a table as a Spark job."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, cast

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from orcish._native import Location
from orcish.carbon.detect import check_not_carbon
from orcish.errors import OrcishError
from orcish.io.files import TableFile
from orcish.keywords import checked_keywords
from orcish.reading.file import ORCFile
from orcish.spark.files import spark_files
from orcish.spark.options import TableOptions
from orcish.spark.runner import active_session, run_in_workers, to_frame
from orcish.types import StorageOptions
from orcish.writing.timestamps import timestamp_types

__all__ = ["verify"]

TASKS = 256
"""Maximum number of tasks."""

FINDINGS = pa.schema(
    [
        ("file", pa.string()),
        ("stripe", pa.int64()),
        ("row_group", pa.int64()),
        ("column", pa.string()),
        ("message", pa.string()),
    ]
)
_BY_TASK = pa.schema([*FINDINGS, ("kind", pa.string())])
"""Results of tasks: findings, and, with ``kind``, the types of timestamp columns."""


@checked_keywords
def verify(
    path: str | os.PathLike[str],
    *,
    recursive_file_lookup: bool = False,
    spark: SparkSession | None = None,
    storage_options: StorageOptions | None = None,
) -> DataFrame:
    """Reads all files of a table, and compares their rows with recorded statistics of files, stripes and row groups,
    row indexes, bloom filters and numbers of rows.

    A column that is ``timestamp`` in some files and ``timestamp with local time zone`` in others is reported for the
    first file that differs from those before it, as values of ``timestamp`` are instants only with the zone of their
    writer.

    >>> osp.verify("orders/").isEmpty()
    True

    Args:
        path: A file, folder or pattern.
        recursive_file_lookup: Whether the files of all subfolders are read. By default they are those that Spark reads.
        spark: The session; the active one by default.
        storage_options: Options of the object store of a URL; see :data:`~orcish.types.StorageOptions`.

    Returns:
        A row for each finding: the file, the index of the stripe, the index of the row group within it, the dotted name
        of the column, and the message. A file that cannot be read has one row with the error.

    Raises:
        FileNotFoundError: There is no file.
        UnsupportedError: The path is a CarbonData table.
    """
    session = active_session(spark)
    storage = cast("Mapping[str, str]", storage_options or {})
    check_not_carbon(Location(path).absolute(), storage)
    files, schema, _ = spark_files(
        TableOptions(
            (Location(path).absolute(),), partitions=False, recursive_file_lookup=recursive_file_lookup, storage=storage
        )
    )
    if not files and schema is None:
        raise FileNotFoundError(f"no files: {Location(path).absolute()}")
    # With many files, a task reads several of them.
    count = min(len(files), TASKS)
    tasks = [files[at::count] for at in range(count)]
    rows = run_in_workers(
        session, tasks, lambda some: _findings(some, storage_options), _BY_TASK, f"orcish: verify {path}"
    )
    found = [{name: row[name] for name in FINDINGS.names} for row in rows if row["kind"] is None]
    found += _mixed([row for row in rows if row["kind"] is not None], [file.location for file in files])
    return to_frame(session, found, FINDINGS)


def _findings(files: Sequence[TableFile], storage_options: StorageOptions | None) -> list[tuple[Any, ...]]:
    rows: list[tuple[Any, ...]] = []
    for path, source, *_ in files:
        try:
            file = ORCFile(path if source is None else source, storage_options=storage_options)
            rows.extend((path, None, None, column, "", kind) for column, kind in timestamp_types(file).items())
            found = file.check()
        except (OrcishError, OSError, ValueError) as error:
            rows.append((path, None, None, "", f"{type(error).__name__}: {error}", None))
        else:
            rows.extend((path, each.stripe, each.group, each.column, each.message, None) for each in found)
    return rows


def _mixed(rows: Sequence[Mapping[str, Any]], files: Sequence[str]) -> list[dict[str, Any]]:
    """Findings about columns with both types of timestamps."""
    order = {file: at for at, file in enumerate(files)}
    first: dict[str, Any] = {}
    found: dict[str, dict[str, Any]] = {}
    for row in sorted(rows, key=lambda row: order[row["file"]]):
        begun = first.setdefault(row["column"], row)
        if row["kind"] != begun["kind"] and row["column"] not in found:
            message = f"it is {row['kind']} here, and {begun['kind']} in {begun['file']}: wall clocks beside instants"
            found[row["column"]] = {**dict.fromkeys(FINDINGS.names), "file": row["file"], "column": row["column"]}
            found[row["column"]]["message"] = message
    return list(found.values())
