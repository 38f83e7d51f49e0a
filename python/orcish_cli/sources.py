"""Sources of commands that look into files: a file, or the files of a folder or pattern."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping
from typing import TypeVar

from orcish.carbon.detect import is_carbon_file, is_carbon_folder
from orcish.carbon.source import check_no_external
from orcish.errors import OrcishError
from orcish.io.filesystem import is_foreign
from orcish.io.names import display_name
from orcish.io.paths import is_http, is_many, is_pattern, local_path
from orcish.reading.file import ORCFile
from orcish.reading.schema_file import schema_file
from orcish.reading.table_file import file_of_table
from orcish.tables.log.listing import Locations, table_locations

from orcish_cli.arguments import storage_of
from orcish_cli.messages import Failures

__all__ = ["OpenFiles", "is_carbon", "is_folder", "is_several", "opened_file", "orc_files", "refuse_external"]

NAMELESS = "<memory>: "
"""The begin of errors of the file of a table without rows, which is in memory."""
T = TypeVar("T")


def is_folder(name: str) -> bool:
    """Whether a path or URL is that of a folder. In stores, folders are recognized only by their names."""
    path = local_path(name)
    if is_pattern(path):
        return False
    return is_many(path) if "://" not in path else "." not in path.rpartition("/")[2]


def is_several(name: str) -> bool:
    """Whether a path or URL is that of a folder, or a pattern."""
    # Queries of HTTP URLs have question marks.
    return is_folder(name) or (is_many(name) and not is_http(name))


def is_carbon(name: str, storage: Mapping[str, str]) -> bool:
    """Whether a path or URL is that of a CarbonData table or file."""
    if is_carbon_file(name) or is_foreign(name) or not is_folder(name):
        return is_carbon_file(name)
    return is_carbon_folder(name, storage)


def refuse_external(options: argparse.Namespace, name: str) -> None:
    """Refuses ``--external-location`` for a source that is no CarbonData.

    Raises:
        ValueError: It is given.
    """
    check_no_external(options.external_locations, f"{display_name(name)}: --external-location")


def orc_files(name: str, storage: Mapping[str, str]) -> Locations:
    """The paths or URLs of a file, or of the files of a folder or pattern; a table without rows has none.

    Raises:
        FileNotFoundError: There is no file at a folder or pattern.
        CommitError: The last commit of a table is not finished, and its files do not become visible.
    """
    if not is_several(name):
        return Locations([name], None)
    found = table_locations(name, storage)
    if not found.files and found.schema is None:
        raise FileNotFoundError(f"no files: {display_name(name)!r}")
    return found


def opened_file(name: str, file: str, storage: Mapping[str, str]) -> ORCFile | None:
    """A file of a source; ``None`` for a file of a folder or pattern that has zero bytes, and so no rows.

    Raises:
        OrcishError, OSError: The file cannot be opened.
    """
    return file_of_table(file, storage) if is_several(name) else ORCFile(file, storage_options=storage)


class OpenFiles:
    """The ORC files of the sources of a command, which are opened one after another. Errors are printed, and do not end
    the others.

    Args:
        options: The arguments of the command.
        command: The command, for errors.
        has_schemas: Whether a table without rows has one file, without rows, that has its columns.
    """

    def __init__(self, options: argparse.Namespace, command: str, *, has_schemas: bool = True) -> None:
        self._names = options.files
        self._storage = storage_of(options)
        self._command = command
        self._has_schemas = has_schemas
        self._failures = Failures(options)
        self.partition: frozenset[str] = frozenset()
        """The partition columns that the file of a table without rows has among its columns; none of other files."""
        self.seen = 0
        """The number of sources that have been found."""

    @property
    def code(self) -> int:
        """The exit code: 1 after an error."""
        return self._failures.code

    def each(self, look: Callable[[str, ORCFile], T]) -> Iterator[T]:
        """What a function of names and files returns for each file. An error that it raises is one of the file."""
        for name, file in self._opened():
            found: list[T] = []
            with self._failures.printed():
                try:
                    found.append(look(name, file))
                except OrcishError as error:
                    text = str(error)
                    if not text.startswith(NAMELESS):
                        raise
                    raise type(error)(f"{display_name(name)}: {text.removeprefix(NAMELESS)}") from None
            yield from found

    def _opened(self) -> Iterator[tuple[str, ORCFile]]:
        """Names and files. A table without rows has one file, without rows."""
        for name in self._names:
            files: list[str] = []
            with self._failures.printed():
                if is_carbon(name, self._storage):
                    raise ValueError(f"{display_name(name)}: {self._command} is of ORC files, and this is CarbonData")
                found = orc_files(name, self._storage)
                self.seen += 1
                files = list(found.files)
                if found.schema is not None and not files and self._has_schemas:
                    self.partition = frozenset(found.schema.partition)
                    yield name, schema_file(found.schema)
                    self.partition = frozenset()
            for file in files:
                opened = None
                with self._failures.printed():
                    opened = opened_file(name, file, self._storage)
                if opened is not None:
                    yield file, opened
