"""The table that a path belongs to, and its log."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from orcish import _native
from orcish._native import Location, complete_storage, is_hidden
from orcish.io.filesystem import table_folder
from orcish.io.names import display_name
from orcish.types import FileSystem, StorageOptions

__all__ = ["check_no_file_of_table", "existing_root", "of_log", "table_log"]

Result = TypeVar("Result")


def existing_root(path: str) -> str:
    """The folder of the table that a folder belongs to.

    Raises:
        FileNotFoundError: The path is local, and does not exist.
        NotADirectoryError: The path is that of a local file.
        UnsupportedError: The URL is one that orcish does not write to.
    """
    location = Location(path)
    root, _ = location.table()
    location.check_folder()
    if location.is_local and not os.path.exists(location.path):
        raise FileNotFoundError(f"no such folder: {path}")
    return root


def check_no_file_of_table(
    target: str, storage: Mapping[str, Any] | None, advice: str = "choose a target outside of it"
) -> None:
    """Checks that a file that is written is none of a table with a log, or of a transactional table of Hive, also by a
    link. The log records the files of the table, and readers take each file below its folder for one of them.

    Args:
        target: The path or URL of the file. Hidden files, and files in hidden folders, are none of a table.
        storage: Options of the store.
        advice: What to do, for the message.

    Raises:
        ValueError: It is one of a table with a log.
        UnsupportedError: It is one of a transactional table.
        OSError, OrcishError: The folders above it cannot be looked at.
    """
    found = Location(target)
    if found.is_foreign or found.is_http:
        # No table there has a log.
        return
    # A link may be in a table, or lead into one.
    places = [os.path.abspath(found.path), os.path.realpath(found.path)] if found.is_local else [found.path]
    for place in dict.fromkeys(places):
        if not Location(place).is_unicode:
            # Tables have names that are text.
            continue
        root = table_log(place, storage).table_above()
        if root is not None:
            raise ValueError(f"{display_name(target)} is a file of the table {display_name(root)}: {advice}")
        folder, _, name = place.rpartition("/")
        if not is_hidden(name):
            Location(folder or "/").check_not_transactional(None, complete_storage(folder, storage))


def of_log(
    target: str | os.PathLike[str],
    filesystem: FileSystem | None,
    storage_options: StorageOptions | None,
    call: Callable[[_native.TableLog], Result],
    nothing: object,
) -> Result:
    """The result of a call of the log of the table that the argument of a function names.

    Args:
        target: The argument.
        filesystem: The local file system, or ``None``.
        storage_options: Options of the store.
        call: The call.
        nothing: Its result where there is no log.

    Raises:
        UnsupportedError: The path is within a file system that is not the local one.
        FileNotFoundError: There is no such folder.
        OSError: As for :func:`existing_root`, or of the call.
    """
    root = existing_root(Location(table_folder(target, filesystem, storage_options)).path)
    log = table_log(root, storage_options)
    found = call(log)
    # The path of a partition is one of a table with a log.
    is_unknown = found == nothing and "://" in root and not log.history(1)
    if is_unknown and not _native.has_folder(root, complete_storage(root, storage_options)):
        raise FileNotFoundError(f"no such folder: {display_name(root)}")
    return found


def table_log(root: str, storage: Mapping[str, Any] | None) -> _native.TableLog:
    """The log of the table in a folder."""
    return _native.TableLog(root, complete_storage(root, storage))
