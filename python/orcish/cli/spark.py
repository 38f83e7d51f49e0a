"""``orcish spark``: jobs over whole tables; also the main program of spark-submit."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Sequence
from typing import Any, get_args

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from orcish.cli.arguments import (
    LIST,
    Parser,
    add_filters,
    add_partition_by,
    add_storage,
    add_writing,
    chosen_writing,
    count,
    pair,
)
from orcish.errors import OrcishError
from orcish.spark.jobs.compact import compact
from orcish.spark.jobs.convert import convert
from orcish.spark.jobs.delete import delete
from orcish.spark.jobs.profile import profile_table
from orcish.spark.jobs.verify import verify
from orcish.spark.table.open import open_table
from orcish.terminal import json_line, printable, show
from orcish.types import ExistingData

__all__ = ["main"]

Job = Callable[[SparkSession, argparse.Namespace], int]

_PROFILE_ARGUMENTS = ("path", "paths", "columns", "filters")
"""Options of the data source that the command has arguments for."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a job; gives the exit code."""
    return _run(_parser().parse_args(arguments))


def _parser() -> argparse.ArgumentParser:
    parser = Parser(prog="orcish spark", description="Jobs over tables of ORC files, by Spark.")
    jobs = parser.add_subparsers(title="jobs", metavar="JOB", required=True)

    job = _add_job(jobs, "compact", _compact, "put small files together")
    job.add_argument("table", metavar="TABLE")
    job.add_argument("--target-file-size", default="512MB", metavar="SIZE", help="bytes of a file, about (512MB)")
    job.add_argument("--rewrite", action="store_true", help="decode and encode, in place of copying stripes")
    add_writing(job, "that of the old ones")

    job = _add_job(jobs, "convert", _convert, "write a table of Parquet, CSV, JSON, ORC or CarbonData as ORC")
    job.add_argument("source", metavar="SOURCE")
    job.add_argument("target", metavar="TARGET")
    job.add_argument(
        "--format", choices=["parquet", "csv", "json", "orc", "carbondata"], help="of the source (by what is there)"
    )
    _add_reading(job)
    add_partition_by(job)
    job.add_argument("--sort-within", **LIST, default=[], help="columns to sort each task by")
    job.add_argument(
        "--existing-data",
        choices=get_args(ExistingData),
        default="error",
        help="what to do where the folder has data (error)",
    )
    job.add_argument("--max-rows-per-file", type=count, metavar="N", help="most rows of a file")
    add_writing(job)

    job = _add_job(jobs, "delete", _delete, "delete the rows for which a predicate is true")
    job.add_argument("table", metavar="TABLE")
    add_filters(job, "the rows for which this is true", required=True)
    add_writing(job, "that of the old ones")

    job = _add_job(
        jobs, "profile", _profile, "rows, nulls, bounds, distinct values, bytes and encodings of each column"
    )
    job.add_argument("table", metavar="TABLE")
    job.add_argument("-c", "--columns", **LIST, help="only these columns, in this order")
    add_filters(job, "only rows for which this is true")
    job.add_argument("--no-distinct", dest="distinct", action="store_false", help="do not estimate distinct values")
    _add_reading(job)

    job = _add_job(jobs, "verify", _verify, "read all, and check it against what it says; exit code 1 with findings")
    job.add_argument("table", metavar="TABLE")
    job.add_argument("--recursive-file-lookup", action="store_true", help="also the files of all subfolders")
    return parser


def _run(options: argparse.Namespace) -> int:
    builder = SparkSession.builder.appName(f"orcish {options.job}")
    if options.master:
        builder = builder.master(options.master)
    if options.remote:
        builder = builder.remote(options.remote)
    for name, value in options.conf:
        builder = builder.config(name, value)
    run_job: Job = options.run_job
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


def _add_job(jobs: Any, name: str, run_job: Job, text: str) -> argparse.ArgumentParser:
    job: argparse.ArgumentParser = jobs.add_parser(name, help=text, description=text[0].upper() + text[1:] + ".")
    job.add_argument("--master", metavar="URL", help="of Spark; by default what its own configuration says")
    job.add_argument("--remote", metavar="URL", help="of a Spark Connect server")
    job.add_argument("--conf", type=pair, action="append", default=[], metavar="NAME=VALUE", help="of Spark")
    add_storage(job)
    job.add_argument("--json", action="store_true", help="print a JSON object a row, each on a line")
    job.set_defaults(run_job=run_job, job=name)
    return job


def _add_reading(job: argparse.ArgumentParser) -> None:
    job.add_argument("--read-option", type=pair, action="append", default=[], metavar="NAME=VALUE")


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
        max_rows_per_file=options.max_rows_per_file,
        spark=spark,
        storage_options=dict(options.storage_options),
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
