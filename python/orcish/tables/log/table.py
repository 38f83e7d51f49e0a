"""The table that a path belongs to, and its log."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from orcish import _native
from orcish.errors import UnsupportedError
from orcish.io.filesystem import is_foreign, table_folder
from orcish.io.names import display_name
from orcish.io.outputs import kind_of
from orcish.io.paths import is_hidden, is_http, is_unicode, local_path, path_text
from orcish.io.storage import native_storage
from orcish.tables.log.transactions import check_not_transactional
from orcish.types import FileSystem, StorageOptions

__all__ = ["check_folder", "check_no_file_of_table", "existing_root", "of_log", "table_log", "table_of"]

Result = TypeVar("Result")


def table_of(path: str) -> tuple[str, str]:
    """The folder of the table that a folder or a file belongs to, and the path of the folder below it.

    The table is the folder above the folders of partitions at the end of the path: that of ``t/day=1/hour=2`` is ``t``.
    Links of local paths are resolved, as staged files are bound to their paths.

    Raises:
        UnsupportedError: The URL is one that orcish does not write to.
        ValueError: The path is empty, or the URL has no bucket.
    """
    if is_foreign(path):
        raise UnsupportedError(
            f"{display_name(path)}: such stores are read, by fsspec, and a table there is not written"
        )
    if not path:
        raise ValueError("the folder of a table has a name; '.' is the one that this process is in")
    found = local_path(path)
    scheme, sign, rest = found.partition("://")
    if sign and not rest.strip("/"):
        raise ValueError(
            f"{display_name(path)!r}: the URL names no bucket or server; a table is at {scheme}://NAME/PATH"
        )
    if is_http(found):
        raise UnsupportedError(f"{display_name(path)}: files of HTTP servers are read, and not written")
    if "://" not in found:
        found = os.path.realpath(found)
        found = os.path.dirname(found) if os.path.isfile(found) else found
    return _native.table_root(found)


def existing_root(path: str) -> str:
    """The folder of the table that a folder belongs to.

    Raises:
        FileNotFoundError: The path is local, and does not exist.
        NotADirectoryError: The path is that of a local file.
        UnsupportedError: The URL is one that orcish does not write to.
    """
    root, _ = table_of(path)
    if "://" not in root:
        check_folder(path)
        if not os.path.exists(local_path(path)):
            raise FileNotFoundError(f"no such folder: {path}")
    return root


def check_folder(path: str) -> None:
    """Checks that a path is not that of a local file, a pipe or the like.

    Raises:
        NotADirectoryError: It is.
    """
    found = local_path(path)
    if is_foreign(path) or not os.path.exists(found) or os.path.isdir(found):
        return
    kind = "a file" if os.path.isfile(found) else kind_of(found)
    raise NotADirectoryError(
        f"{path} is {kind}, and no folder: a table is given by its folder, or by the folder of a partition"
    )


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
    path = local_path(target)
    if is_foreign(path) or is_http(path):
        # No table there has a log.
        return
    # A link may be in a table, or lead into one.
    places = [path] if "://" in path else [os.path.abspath(path), os.path.realpath(path)]
    # Tables have names that are text.
    for place in filter(is_unicode, dict.fromkeys(places)):
        root = table_log(place, storage).table_above()
        if root is not None:
            raise ValueError(f"{display_name(target)} is a file of the table {display_name(root)}: {advice}")
        folder, _, name = place.rpartition("/")
        if not is_hidden(name):
            check_not_transactional(folder or "/", storage)


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
    root = existing_root(path_text(table_folder(target, filesystem, storage_options)))
    log = table_log(root, storage_options)
    found = call(log)
    # The path of a partition is one of a table with a log.
    is_unknown = found == nothing and "://" in root and not log.history(1)
    if is_unknown and not _native.has_folder(root, native_storage(root, storage_options)):
        raise FileNotFoundError(f"no such folder: {display_name(root)}")
    return found


def table_log(root: str, storage: Mapping[str, Any] | None) -> _native.TableLog:
    """The log of the table in a folder."""
    return _native.TableLog(root, native_storage(root, storage))
