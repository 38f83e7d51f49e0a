"""Sources of commands that look into files: a file, or the files of a folder or pattern."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from orcish import ORCFile, _native
from orcish._native import Location, complete_storage
from orcish.errors import OrcishError
from orcish.io.names import display_name
from orcish.reading.table_file import file_of_table

from orcish_cli.arguments import storage_of
from orcish_cli.messages import Failures

if TYPE_CHECKING:
    from orcish.tables.log.schema import TableSchema

__all__ = [
    "OpenFiles",
    "Part",
    "is_carbon",
    "is_folder",
    "is_several",
    "opened_file",
    "opened_part",
    "orc_files",
    "refuse_external",
    "source_parts",
]

NAMELESS = "<memory>: "
"""The begin of errors of the file of a table without rows, which is in memory."""
T = TypeVar("T")


class OrcFiles(NamedTuple):
    """The files of a source."""

    files: list[str]
    """Their paths or URLs."""
    schema: TableSchema | None
    """The schema of their table, as its log has it."""


def is_folder(name: str) -> bool:
    """Whether a path or URL is that of a folder. In stores, folders are recognized only by their names."""
    return _is_folder(Location(name))


def _is_folder(location: Location) -> bool:
    if location.is_local:
        return location.is_several and not location.is_pattern
    name = location.path.rpartition("/")[2]
    # Queries of HTTP URLs have question marks.
    return "." not in name and not location.is_pattern and not (location.is_http and "?" in location.path)


def is_several(name: str) -> bool:
    """Whether a path or URL is that of a folder, or a pattern."""
    location = Location(name)
    return _is_folder(location) or (location.is_several and not location.is_http)


def is_carbon(name: str, storage: Mapping[str, str]) -> bool:
    """Whether a path or URL is that of a CarbonData table or file."""
    location = Location(name)
    if location.is_carbon_file or location.is_foreign or not _is_folder(location):
        return location.is_carbon_file
    return _native.is_carbon(location.path, complete_storage(location.path, storage))


def refuse_external(options: argparse.Namespace, name: str) -> None:
    """Refuses ``--external-location`` for a source that is no CarbonData.

    Raises:
        ValueError: It is given.
    """
    if options.external_locations is not None:
        text = "--external-location: the option is of tables of CarbonData, and this is none"
        raise ValueError(f"{display_name(name)}: {text}")


def orc_files(name: str, storage: Mapping[str, str]) -> OrcFiles:
    """The paths or URLs of a file, or of the files of a folder or pattern; a table without rows has none.

    Raises:
        FileNotFoundError: There is no file at a folder or pattern.
        CommitError: The last commit of a table is not finished, and its files do not become visible.
    """
    if not is_several(name):
        return OrcFiles([name], None)
    from orcish.tables.log.listing import table_files

    found = table_files(name, None, storage)
    if not found.files and found.schema is None:
        raise FileNotFoundError(f"no files: {display_name(name)!r}")
    return OrcFiles(found.locations, found.schema)


class Part(NamedTuple):
    """A file of a source, a table without rows, or CarbonData."""

    source: str
    """The source, as it is given."""
    location: str
    """The path or URL of the file, and otherwise of the source."""
    schema: TableSchema | None = None
    """The schema of a table without rows."""
    is_carbon: bool = False


def source_parts(options: argparse.Namespace, failures: Failures) -> Iterator[Part]:
    """The parts of the sources of a command. Errors of a source are printed, and do not end the others."""
    storage = storage_of(options)
    for name in options.files:
        parts: list[Part] = []
        with failures.printed():
            if is_carbon(name, storage):
                parts = [Part(name, name, is_carbon=True)]
            else:
                if hasattr(options, "external_locations"):
                    refuse_external(options, name)
                found = orc_files(name, storage)
                parts = [Part(name, file) for file in found.files]
                if found.schema is not None and not parts:
                    parts = [Part(name, name, found.schema)]
        yield from parts


def opened_part(part: Part, storage: Mapping[str, str]) -> ORCFile | None:
    """The file of a part that is no CarbonData, which has no rows for a table without rows; ``None`` for a file of a
    folder or pattern that has zero bytes.

    Raises:
        OrcishError, OSError: The file cannot be opened.
    """
    if part.schema is not None:
        from orcish.reading.schema_file import schema_file

        return schema_file(part.schema)
    return opened_file(part.source, part.location, storage)


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
        self._options = options
        self._storage = storage_of(options)
        self._command = command
        self._has_schemas = has_schemas
        self._failures = Failures(options)
        self.partition: frozenset[str] = frozenset()
        """The partition columns that the file of a table without rows has among its columns; none of other files."""

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
        for part in source_parts(self._options, self._failures):
            opened = None
            with self._failures.printed():
                self.partition = frozenset()
                if part.is_carbon:
                    name = display_name(part.source)
                    raise ValueError(f"{name}: {self._command} is of ORC files, and this is CarbonData")
                if part.schema is None or self._has_schemas:
                    self.partition = frozenset(() if part.schema is None else part.schema.partition)
                    opened = opened_part(part, self._storage)
            if opened is not None:
                yield part.location, opened
