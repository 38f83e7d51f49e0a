"""Folders of transactional (ACID) tables of Hive, whose files are no plain rows, and to which only Hive writes."""

from __future__ import annotations

import contextlib
import glob
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from orcish import _native
from orcish.errors import UnsupportedError
from orcish.io.names import display_name
from orcish.io.paths import is_hidden
from orcish.io.storage import native_storage

__all__ = ["check_not_transactional", "check_plain_files"]

TRANSACTION = re.compile(r"(?:base_[0-9]+|(?:delete_)?delta_[0-9]+_[0-9]+(?:_[0-9]+)?)(?:_v[0-9]+)?", re.ASCII)
"""Names of folders of transactions, with a statement and the id of a compaction."""
CONTENT = re.compile(r"bucket_[0-9].*|[0-9]{6}_[0-9].*|_orc_acid_version|_metadata_acid", re.ASCII)
"""Names of files that Hive writes into these folders."""


def check_plain_files(folder: str, names: Iterable[str]) -> None:
    """Checks that no file below a folder is in a folder of transactions. Its rows may be deleted by further files,
    replaced by later folders, or of aborted transactions.

    Args:
        folder: The path or URL of the folder.
        names: The files, by their paths below it.

    Raises:
        UnsupportedError: One is.
    """
    found = _first_of(names)
    if found is not None:
        raise UnsupportedError(
            f"{display_name(folder)}: a transactional table of Hive, with the folder {found}: which of its rows are "
            "deleted, replaced or aborted is not read; a pattern, such as table/*/*, reads the rows of the files as "
            "they are"
        )


def check_not_transactional(folder: str, storage: Mapping[str, Any] | None, names: Iterable[str] | None = None) -> None:
    """Checks that a folder to which rows are written is not that of a transactional table, nor in one: Hive would take
    them for rows of no transaction, and a log would hide what the folder is.

    Args:
        folder: The path or URL of the folder.
        storage: Options of the store.
        names: The files of the table in the folder, by their paths in it. ``None`` for a single file that is written.

    Raises:
        UnsupportedError: It is.
        OSError, OrcishError: The folder cannot be listed.
    """
    every = _local_folders(folder) if "://" not in folder else _folders_of_store(folder)
    place, found = every[0], None if names is None else _first_of(names)
    if found is None and names is not None and "://" not in folder:
        found = next((name for name, _ in _transactions(place, storage)), None)
    if found is None:
        # Beside files, and in the folders above, a folder may have such a name by chance.
        places = every if names is None else every[1:]
        of_hive = ((each, name) for each in places for name, own in _transactions(each, storage) if _is_of_hive(own))
        place, found = next(of_hive, (place, None))
    if found is not None:
        raise UnsupportedError(
            f"{display_name(place)}: a transactional table of Hive, with the folder {found}, to which only Hive "
            "writes: choose a folder beside it"
        )


def _first_of(names: Iterable[str]) -> str | None:
    """The folder of transactions that the first file of one is in."""
    suspects = (name for name in names if "base_" in name or "delta_" in name)
    return next((part for name in suspects for part in name.split("/")[:-1] if TRANSACTION.fullmatch(part)), None)


def _is_of_hive(files: Iterable[str]) -> bool:
    return any(CONTENT.fullmatch(name) for name in files)


def _local_folders(folder: str) -> list[str]:
    """A folder and those above it, up to a hidden one, which readers pass over."""
    found = [os.path.realpath(folder)]
    while (above := os.path.dirname(found[-1])) != found[-1] and not is_hidden(os.path.basename(found[-1])):
        found.append(above)
    return found


def _folders_of_store(folder: str) -> list[str]:
    """A folder, and those above it in which a folder of transactions would be that it is in. No others are listed."""
    scheme, _, rest = folder.rstrip("/").partition("://")
    parts = rest.split("/")
    above = (f"{scheme}://{'/'.join(parts[:at])}" for at in range(1, len(parts)) if TRANSACTION.fullmatch(parts[at]))
    return [folder.rstrip("/"), *above]


def _transactions(folder: str, storage: Mapping[str, Any] | None) -> Iterator[tuple[str, list[str]]]:
    """The folders of transactions in a folder, and the names of their files."""
    if "://" in folder:
        yield from _transactions_of_store(folder, storage)
        return
    try:
        names = [name for name in os.listdir(folder) if TRANSACTION.fullmatch(name)]
    except OSError:
        # It is not there, or the write says what is wrong with it.
        return
    for name in sorted(names):
        path = os.path.join(folder, name)
        if os.path.isdir(path):
            try:
                yield name, os.listdir(path)
            except OSError:
                yield name, []


def _transactions_of_store(folder: str, storage: Mapping[str, Any] | None) -> Iterator[tuple[str, list[str]]]:
    scheme, _, rest = folder.partition("://")
    pattern = f"{scheme}://{glob.escape(rest)}/*_[0-9]*/*"
    found: dict[str, list[str]] = {}
    # Who may not list a folder may still write into it.
    with contextlib.suppress(PermissionError):
        for location, _ in _native.list_files(pattern, native_storage(folder, storage)):
            *_, name, file = location.split("/")
            if TRANSACTION.fullmatch(name):
                found.setdefault(name, []).append(file)
    yield from found.items()
