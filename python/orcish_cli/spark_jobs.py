"""The jobs of ``orcish spark``."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable
from typing import Any

from orcish.errors import OrcishError
from orcish.spark.jobs.compact import compact
from orcish.spark.jobs.convert import convert
from orcish.spark.jobs.delete import delete
from orcish.spark.jobs.profile import profile_table
from orcish.spark.jobs.verify import verify
from orcish.spark.table.open import open_table
from orcish.terminal import json_line, printable, show
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from orcish_cli.arguments import (
    chosen_writing,
    table_bounds,
)

__all__ = ["run"]

Job = Callable[[SparkSession, argparse.Namespace], int]

_PROFILE_ARGUMENTS = ("path", "paths", "columns", "filters")
"""Options of the data source that the command has arguments for."""


def run(options: argparse.Namespace) -> int:
    """Runs a job; gives the exit code."""
    builder = SparkSession.builder.appName(f"orcish {options.job}")
    if options.master:
        builder = builder.master(options.master)
    if options.remote:
        builder = builder.remote(options.remote)
    for name, value in options.conf:
        builder = builder.config(name, value)
    run_job = _JOBS[options.job]
    try:
        return run_job(builder.getOrCreate(), options)
    except (OrcishError, OSError, ValueError, PySparkException) as error:
        show(f"orcish: {_error_message(error)}", is_error=True)
        return 1


def _error_message(error: Exception) -> str:
    """The message of an error; for an error in a worker, only its own message."""
    if not isinstance(error, PySparkException):
        return str(error)
    found = re.findall(r"^(?:[\w.]+\.)?\w*(?:Error|Exception): (.+)$", str(error), re.MULTILINE)
    return found[-1] if found else str(error)


def _compact(spark: SparkSession, options: argparse.Namespace) -> int:
    done = compact(
        options.table,
        target_file_size=options.target_file_size,
        rewrite=options.rewrite,
        spark=spark,
        storage_options=dict(options.storage_options),
        **chosen_writing(options),
    )
    _show(done, options)
    return 0


def _convert(spark: SparkSession, options: argparse.Namespace) -> int:
    done = convert(
        options.source,
        options.target,
        format=options.format,
        read_options=dict(options.read_option),
        partition_by=options.partition_by,
        sort_within=options.sort_within,
        existing_data=options.existing_data,
        spark=spark,
        storage_options=dict(options.storage_options),
        **table_bounds(options),
        **chosen_writing(options),
    )
    _show(done, options)
    return 0


def _delete(spark: SparkSession, options: argparse.Namespace) -> int:
    storage = dict(options.storage_options)
    done = delete(options.table, options.filters, spark=spark, storage_options=storage, **chosen_writing(options))
    _show(done, options)
    return 0


def _profile(spark: SparkSession, options: argparse.Namespace) -> int:
    given = dict(options.read_option)
    taken = next((name for name in given if name.lower() in _PROFILE_ARGUMENTS), None)
    if taken is not None:
        raise ValueError(f"--read-option {taken}: profile has arguments of its own for it")
    storage = dict(options.storage_options)
    table = open_table(spark, options.table, options.columns, options.filters, None, given, storage)
    _show(profile_table(spark, table, options.distinct), options)
    return 0


def _verify(spark: SparkSession, options: argparse.Namespace) -> int:
    found = verify(
        options.table,
        recursive_file_lookup=options.recursive_file_lookup,
        spark=spark,
        storage_options=dict(options.storage_options),
    )
    return 1 if _show(found, options) else 0


def _show(rows: DataFrame, options: argparse.Namespace) -> int:
    """Prints rows; gives their number."""
    found = rows.collect()
    if options.json:
        for row in found:
            show(json_line(row.asDict()))
        return len(found)
    if not found:
        show("nothing")
        return 0
    texts = [list(rows.columns), *([_text(value) for value in row] for row in found)]
    widths = [max(len(line[at]) for line in texts) for at in range(len(rows.columns))]
    for line in texts:
        show("  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip())
    return len(found)


def _text(value: Any) -> str:
    return "" if value is None else printable(str(value))


_JOBS: dict[str, Job] = {
    "compact": _compact,
    "convert": _convert,
    "delete": _delete,
    "profile": _profile,
    "verify": _verify,
}
