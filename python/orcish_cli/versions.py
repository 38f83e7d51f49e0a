"""``orcish version``: versions of orcish and of what it works with."""

from __future__ import annotations

import argparse
import platform
from importlib.metadata import PackageNotFoundError, version

from orcish import __version__

from orcish_cli.terminal import fields, print_lines, print_objects

__all__ = ["add_arguments"]

_PACKAGES = ("pyarrow", "polars", "pandas", "duckdb", "pyspark", "fsspec", "obstore", "rich", "argcomplete")


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Adds the arguments of the command."""
    command.add_argument("--all", action="store_true", help="also of Python, of the system, and of packages")
    command.add_argument("--json", action="store_true", help="all versions as one JSON object")
    command.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> int:
    if not options.json and not options.all:
        print_lines([f"orcish {__version__}"])
        return 0
    versions = {"orcish": __version__, "python": platform.python_version(), "system": platform.platform()}
    for name in _PACKAGES:
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            continue
    if options.json:
        print_objects([versions])
    else:
        print_lines(fields(versions.items()))
    return 0
