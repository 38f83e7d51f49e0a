"""The file log of streams: the files of a table, in the order in which streams have found them."""

from __future__ import annotations

import contextlib
import json
import os
import uuid
from collections.abc import Iterable
from pathlib import Path

from orcish.errors import OrcishError
from orcish.io.files import TableFile
from orcish.io.paths import is_pattern, local_path
from orcish.spark.options import TableOptions
from orcish.tables.folder import Folder
from orcish.tables.log.listing import folder_above, table_files

__all__ = ["FileLog", "named_files"]

LIST_FILES = 10_000
"""Maximum names of a list, which is read as a whole."""
SAME_STORE = {"s3a": "s3", "gcs": "gs"}
"""Schemes with an alias."""


class FileLog:
    """The file log of a table.

    Names are in numbered lists, which are JSON files. Each list is written once, by the first stream that needs it. All
    lists have the same id, which identifies the order of the files.
    """

    def __init__(self, folder: Folder) -> None:
        self.id: str | None = None
        """Id of the order; ``None`` while there is no list."""
        self.names: list[str] = []
        self.base = folder.base
        self._folder = folder
        self._known: set[str] = set()
        self._lists = 0

    def load(self) -> None:
        """Reads new lists.

        Raises:
            OrcishError: A list is invalid, or has another id than the lists before it.
        """
        with contextlib.suppress(FileNotFoundError):
            while True:
                name = _list_name(self._lists + 1)
                text = self._folder.read(name)
                try:
                    found = json.loads(text)
                    order, names = found["order"], found["files"]
                except (ValueError, TypeError, KeyError) as error:
                    raise OrcishError(f"{self._folder.location(name)}: is no list of files: {error!r}") from error
                if self.id not in (None, order):
                    raise OrcishError(
                        f"{self._folder.location(name)}: is of another order than the lists before it, of which some "
                        "are lost: remove them all, and start streams with new checkpoints"
                    )
                self._take(order, names)

    def add(self, names: Iterable[str]) -> None:
        """Appends names that are not in the log yet."""
        fresh = sorted(set(names) - self._known)
        while fresh:
            order, part = self.id or uuid.uuid4().hex, fresh[:LIST_FILES]
            try:
                self._folder.write(_list_name(self._lists + 1), json.dumps({"order": order, "files": part}).encode())
            except FileExistsError:
                # Another stream has written the list.
                self.load()
            else:
                self._take(order, part)
            fresh = [name for name in fresh if name not in self._known]

    def _take(self, order: str, names: list[str]) -> None:
        self.id = order
        self.names += names
        self._known.update(names)
        self._lists += 1


def _list_name(number: int) -> str:
    return f"{number:012d}.json"


def named_files(options: TableOptions) -> dict[str, TableFile]:
    """The files of a table, by names that do not depend on the spelling of its path, nor on its location: paths within
    its folder, or within the folder above a pattern. With several paths, names are paths or URLs.
    """
    found = {}
    for path in options.paths:
        try:
            files = table_files(path, options.partitions, options.storage)
        except FileNotFoundError:
            # The folder does not exist yet.
            continue
        base = _plain((folder_above(path, "*?[") or path) if is_pattern(local_path(path)) else path)
        for file in files:
            name = _plain(file.location)
            found[name if len(options.paths) > 1 else _within(base, name)] = file
    return found


def _plain(location: str) -> str:
    """A location in a normalized spelling."""
    scheme, sign, rest = local_path(location).partition("://")
    if not sign:
        return Path(os.path.abspath(scheme)).as_posix()
    segments = [segment for segment in rest.split("/") if segment not in ("", ".")]
    return f"{SAME_STORE.get(scheme.lower(), scheme.lower())}://{'/'.join(segments)}"


def _within(base: str, location: str) -> str:
    if location == base:
        return location.rpartition("/")[2]
    start = f"{base.rstrip('/')}/"
    if not location.startswith(start):
        raise OrcishError(f"{location}: is not below {base}, whose files are read as a stream")
    return location[len(start) :]
