"""Files that commands write."""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping

from orcish import _native
from orcish.io.filesystem import foreign_path, is_foreign
from orcish.io.names import display_name
from orcish.io.outputs import checked_place, target_exists
from orcish.io.paths import is_http, local_path
from orcish.io.storage import native_storage
from orcish.tables.log.table import check_no_file_of_table

from orcish_cli.formats.names import ORC, named

__all__ = ["add_overwrite", "check_orc_name", "check_target"]


def add_overwrite(command: argparse.ArgumentParser) -> None:
    """Adds the argument for the replacement of a file."""
    command.add_argument("--overwrite", action="store_true", help="replace the target if it is there")


def check_orc_name(target: str, verb: str) -> None:
    """Checks that the name of a file that a command writes is not that of a file of another format.

    Raises:
        ValueError: It is one.
    """
    if named(target).format not in (ORC, None):
        raise ValueError(f"{display_name(target)}: {verb} writes ORC: convert writes other formats")


def check_target(target: str, storage: Mapping[str, str], *, overwrite: bool, advice: str = "--overwrite") -> None:
    """Checks that a file can be written.

    Args:
        target: The file, or its URL.
        storage: Options of the store.
        overwrite: Whether the file may be replaced.
        advice: The argument that lets it be replaced.

    Raises:
        FileExistsError: The file is there, and may not be replaced.
        IsADirectoryError: There is a folder.
        OSError: There is a pipe, a device or the like.
        ValueError: The file is one of a table with a log.
    """
    path = local_path(target)
    is_local = "://" not in path
    if target.endswith("/") or (is_local and os.path.isdir(path)):
        raise IsADirectoryError(f"{display_name(target)}: the target is a folder: give the name of a file")
    check_no_file_of_table(target, storage, "write it elsewhere, or add its rows with convert --existing-data append")
    if is_local:
        checked_place(path, overwrite=overwrite, advice=advice)
        return
    if not overwrite and _exists(path, storage):
        raise target_exists(target, advice)


def _exists(path: str, storage: Mapping[str, str]) -> bool:
    """Whether there is a file at a URL."""
    if is_foreign(path):
        try:
            return bool(foreign_path(path, dict(storage)).files())
        except FileNotFoundError:
            return False
    # Nothing is written to servers of HTTP.
    return not is_http(path) and _native.stat(path, native_storage(path, dict(storage))) is not None
