"""The jobs of ``orcish spark``."""

from __future__ import annotations

import argparse
import re
from typing import Any

import orcish.spark as osp
from orcish import OrcishError
from orcish.spark.profiling import profile_table
from orcish.spark.table import open_table
from orcish.terminal import printable
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from orcish_cli.arguments import chosen_writing, storage_of, table_bounds
from orcish_cli.terminal import Table, print_lines, print_objects, show

__all__ = ["run"]

OF_PROFILE = ("path", "paths", "columns", "filters")
"""Options of the data source that the job has arguments for."""


def run(options: argparse.Namespace) -> int:
    """Runs a job; gives the exit code."""
    builder = SparkSession.builder.appName(f"orcish {options.job}")
    if options.master:
        builder = builder.master(options.master)
    if options.remote:
        builder = builder.remote(options.remote)
    for name, value in options.conf:
        builder = builder.config(name, value)
    try:
        found = _JOBS[options.job](options, builder.getOrCreate())
        rows = found.collect()
    except (OrcishError, OSError, ValueError, PySparkException) as error:
        show(f"orcish: {_error_message(error)}", is_error=True)
        return 1
    if options.json:
        print_objects(row.asDict() for row in rows)
    elif rows:
        texts = [["" if value is None else printable(str(value)) for value in row] for row in rows]
        header, _, *lines = Table(found.columns, [False] * len(found.columns)).lines(texts)
        print_lines([header, *lines])
    else:
        show("nothing")
    return int(options.job == "verify" and bool(rows))


def _error_message(error: Exception) -> str:
    """The message of an error; for an error in a worker, only its own message."""
    if not isinstance(error, PySparkException):
        return str(error)
    found = re.findall(r"^(?:[\w.]+\.)?\w*(?:Error|Exception): (.+)$", str(error), re.MULTILINE)
    return found[-1] if found else str(error)


def _common(options: argparse.Namespace, spark: SparkSession) -> dict[str, Any]:
    return {"spark": spark, "storage_options": storage_of(options)}


def _compact(options: argparse.Namespace, spark: SparkSession) -> DataFrame:
    given = {"target_file_size": options.target_file_size, "rewrite": options.rewrite}
    return osp.compact(options.table, **given, **_common(options, spark), **chosen_writing(options))


def _convert(options: argparse.Namespace, spark: SparkSession) -> DataFrame:
    return osp.convert(
        options.source,
        options.target,
        format=options.format,
        read_options=dict(options.read_option),
        partition_by=options.partition_by,
        sort_within=options.sort_within,
        existing_data=options.existing_data,
        **_common(options, spark),
        **table_bounds(options),
        **chosen_writing(options),
    )


def _delete(options: argparse.Namespace, spark: SparkSession) -> DataFrame:
    return osp.delete(options.table, options.filters, **_common(options, spark), **chosen_writing(options))


def _profile(options: argparse.Namespace, spark: SparkSession) -> DataFrame:
    given = dict(options.read_option)
    taken = next((name for name in given if name.lower() in OF_PROFILE), None)
    if taken is not None:
        raise ValueError(f"--read-option {taken}: profile has arguments of its own for it")
    table = open_table(spark, options.table, options.columns, options.filters, None, given, storage_of(options))
    return profile_table(spark, table, options.distinct)


def _verify(options: argparse.Namespace, spark: SparkSession) -> DataFrame:
    return osp.verify(options.table, recursive_file_lookup=options.recursive_file_lookup, **_common(options, spark))


_JOBS = {"compact": _compact, "convert": _convert, "delete": _delete, "profile": _profile, "verify": _verify}
