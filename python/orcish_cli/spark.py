"""``orcish spark``: jobs over whole tables; also the main program of spark-submit."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from orcish import UnsupportedError
from orcish.types import ReadOptions, SparkReadOptions

from orcish_cli.arguments import (
    LIST,
    add_existing,
    add_filters,
    add_json,
    add_options,
    add_partition_by,
    add_storage,
    add_writing,
    pair,
    size,
)
from orcish_cli.parser import Parser

__all__ = ["add_arguments", "main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a job; gives the exit code."""
    parser = Parser(prog="orcish spark")
    add_arguments(parser)
    return _run(parser.parse_args(arguments))


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Adds the arguments of the command."""
    command.description = "Run jobs over tables of ORC files, by Spark."
    command.set_defaults(run=_run, has_stream_sources=False)
    jobs: Any = command.add_subparsers(title="jobs", metavar="JOB", required=True)

    job = _add_job(jobs, "compact", "put small files together")
    job.add_argument("table", metavar="TABLE")
    job.add_argument(
        "--target-file-size", type=size, default="512MB", metavar="SIZE", help="bytes of a file, about (512MB)"
    )
    job.add_argument("--rewrite", action="store_true", help="decode and encode, in place of copying stripes")
    add_writing(job, "that of the old ones")

    job = _add_job(jobs, "convert", "write a table of Parquet, CSV, JSON, ORC or CarbonData as ORC")
    job.add_argument("source", metavar="SOURCE")
    job.add_argument("target", metavar="TARGET")
    job.add_argument(
        "--format", choices=["parquet", "csv", "json", "orc", "carbondata"], help="of the source (by what is there)"
    )
    _add_reading(job)
    add_partition_by(job)
    job.add_argument("--sort-within", **LIST, default=[], help="columns to sort each task by")
    add_existing(job)
    add_writing(job)

    job = _add_job(jobs, "delete", "delete the rows for which a predicate is true")
    job.add_argument("table", metavar="TABLE")
    add_filters(job, "the rows for which this is true", required=True)
    add_writing(job, "that of the old ones")

    job = _add_job(jobs, "profile", "rows, nulls, bounds, distinct values, bytes and encodings of each column")
    job.add_argument("table", metavar="TABLE")
    add_options(job, ReadOptions, "columns", "filters")
    job.add_argument("--no-distinct", dest="distinct", action="store_false", help="do not estimate distinct values")
    _add_reading(job)

    job = _add_job(jobs, "verify", "read all, and check it against what it says; exit code 1 with findings")
    job.add_argument("table", metavar="TABLE")
    add_options(job, SparkReadOptions, "recursive_file_lookup")


def _run(options: argparse.Namespace) -> int:
    try:
        # Importing PySpark takes a second, which the other commands do not need.
        from orcish_cli.spark_jobs import run
    except ModuleNotFoundError as error:
        if error.name != "pyspark":
            raise
        raise UnsupportedError("jobs need PySpark: pip install pyspark") from error
    return run(options)


def _add_job(jobs: Any, name: str, text: str) -> Parser:
    job: Parser = jobs.add_parser(name, help=text, description=text[0].upper() + text[1:] + ".")
    job.add_argument("--master", metavar="URL", help="of Spark; by default what its own configuration says")
    job.add_argument("--remote", metavar="URL", help="of a Spark Connect server")
    job.add_argument("--conf", type=pair, action="append", default=[], metavar="NAME=VALUE", help="of Spark")
    add_storage(job)
    add_json(job)
    job.set_defaults(job=name, parser=job)
    return job


def _add_reading(job: argparse.ArgumentParser) -> None:
    job.add_argument("--read-option", type=pair, action="append", default=[], metavar="NAME=VALUE")
