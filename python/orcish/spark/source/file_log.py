"""The file log of streams: the files of a table, in the order in which streams have found them."""

from __future__ import annotations

import concurrent.futures
import contextlib
import gzip
import json
import math
import os
import re
import uuid
import zlib
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
"""Maximum names of a list."""
CHECKPOINT_LISTS = 64
"""Number of lists after which a checkpoint is written."""
MAX_CHECKPOINT = 1 << 30
"""Maximum bytes of the names of a checkpoint."""
MAX_ATTEMPTS = 20
"""How often the log is read again because others change it."""
READERS = 8
"""Number of lists that are read at a time."""
LIST = re.compile(r"(\d{12})\.json")
CHECKPOINT = re.compile(r"checkpoint-(\d{12})\.json\.gz")
SAME_STORE = {"s3a": "s3", "gcs": "gs"}
"""Schemes with an alias."""


class FileLog:
    """The file log of a table.

    Names are in numbered lists, which are JSON files. Each list is written once, by the first stream that needs it. All
    lists have the same id, which identifies the order of the files. A checkpoint has the names of all lists up to its
    number, compressed. It is written by any stream, and the lists that it replaces are deleted.

    A list is void if there is a checkpoint of its number or a higher one: a stream that was suspended has written it.
    """

    def __init__(self, folder: Folder) -> None:
        self.id: str | None = None
        """Id of the order; ``None`` while there is no list."""
        self.names: list[str] = []
        self.base = folder.base
        self._folder = folder
        self._known: set[str] = set()
        self._lists = 0
        self._checkpoint = 0

    def load(self) -> None:
        """Reads new lists.

        Raises:
            OrcishError: A list is invalid, has another id than the lists before it, or is lost.
        """
        for _ in range(MAX_ATTEMPTS):
            if self._load():
                return
        missing = self._folder.location(_list_name(self._lists + 1))
        raise OrcishError(f"{missing}: this list of files is lost, or the lists change faster than they can be read")

    def _load(self) -> bool:
        """Reads new lists; false if others have changed the log meanwhile."""
        lists, checkpoint = self._entries()
        try:
            if checkpoint > self._lists:
                order, names = self._read(_checkpoint_name(checkpoint))
                self._take(order, names[len(self.names) :], checkpoint, _checkpoint_name(checkpoint))
            self._checkpoint = max(checkpoint, self._checkpoint)
            fresh = [number for number in lists if number > self._lists]
            if not fresh:
                return True
            with concurrent.futures.ThreadPoolExecutor(READERS) as pool:
                found = list(pool.map(self._read, map(_list_name, fresh)))
        except FileNotFoundError:
            # A later checkpoint has replaced it.
            return False
        # Lists that were read are void if a checkpoint of their numbers has been there.
        if self._entries()[1] != checkpoint:
            return False
        for number, (order, names) in zip(fresh, found, strict=True):
            if number != self._lists + 1:
                # A listing of several pages may lack a list that was written meanwhile.
                return False
            self._take(order, names, number, _list_name(number))
        return True

    def add(self, names: Iterable[str]) -> None:
        """Appends names that are not in the log yet."""
        fresh = sorted(set(names) - self._known)
        while fresh:
            order, part = self.id or uuid.uuid4().hex, fresh[:LIST_FILES]
            number = self._lists + 1
            try:
                self._folder.write(_list_name(number), json.dumps({"order": order, "files": part}).encode())
            except FileExistsError:
                # Another stream has written the list.
                self.load()
            else:
                if self._entries()[1] < number:
                    self._take(order, part, number, _list_name(number))
                else:
                    # This process was suspended until a checkpoint had replaced the list of this number.
                    self._folder.delete([_list_name(number)])
                    self.load()
            fresh = [name for name in fresh if name not in self._known]
        self._compact()

    def _compact(self) -> None:
        """Writes a checkpoint after some lists, and deletes what it replaces. Errors do not matter."""
        if self._lists - self._checkpoint < CHECKPOINT_LISTS:
            return
        content = gzip.compress(json.dumps({"order": self.id, "files": self.names}).encode(), 1, mtime=0)
        with contextlib.suppress(OSError):
            # Each stream writes the same.
            with contextlib.suppress(FileExistsError):
                self._folder.write(_checkpoint_name(self._lists), content)
            self._checkpoint = self._lists
            numbers = {file.name: _number(file.name) for file in self._folder.files()}
            self._folder.delete(name for name, number in numbers.items() if number < self._lists)
            self._folder.delete([_list_name(self._lists)])

    def _entries(self) -> tuple[list[int], int]:
        """Sorted numbers of the lists that are not void, and the number of the last checkpoint; 0 without one."""
        found = [file.name for file in self._folder.files()]
        checkpoint = max((int(match[1]) for name in found if (match := CHECKPOINT.fullmatch(name))), default=0)
        lists = sorted(int(match[1]) for name in found if (match := LIST.fullmatch(name)))
        return [number for number in lists if number > checkpoint], checkpoint

    def _read(self, name: str) -> tuple[str, list[str]]:
        try:
            data = self._folder.read(name, limit=MAX_CHECKPOINT)
            if CHECKPOINT.fullmatch(name):
                data = zlib.decompressobj(wbits=31).decompress(data, MAX_CHECKPOINT)
            found = json.loads(data)
            return found["order"], found["files"]
        except (ValueError, TypeError, KeyError, zlib.error) as error:
            raise OrcishError(f"{self._folder.location(name)}: is no list of files: {error!r}") from error

    def _take(self, order: str, names: list[str], number: int, name: str) -> None:
        if self.id not in (None, order):
            raise OrcishError(
                f"{self._folder.location(name)}: is of another order than the lists before it, of which some are lost: "
                "remove them all, and start streams with new checkpoints"
            )
        self.id = order
        self.names += names
        self._known.update(names)
        self._lists = number


def _list_name(number: int) -> str:
    return f"{number:012d}.json"


def _checkpoint_name(number: int) -> str:
    # Checkpoints are listed after lists.
    return f"checkpoint-{number:012d}.json.gz"


def _number(name: str) -> float:
    """The number of a list or a checkpoint; infinite for other files."""
    match = LIST.fullmatch(name) or CHECKPOINT.fullmatch(name)
    return int(match[1]) if match else math.inf


def named_files(options: TableOptions) -> dict[str, TableFile]:
    """The files of a table, by names that do not depend on the spelling of its path, nor on its location: paths within
    its folder, or within the folder above a pattern. With several paths, names are paths or URLs.
    """
    found = {}
    for path in options.paths:
        try:
            # A commit that is not finished is read by a later batch.
            files = table_files(path, options.partitions, options.storage, "before")
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
