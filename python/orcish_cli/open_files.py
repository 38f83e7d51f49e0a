"""ORC files of sources, opened one after another."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeVar

from orcish.errors import OrcishError
from orcish.io.names import display_name
from orcish.reading.file import ORCFile
from orcish.reading.schema_file import schema_file

from orcish_cli.meta_carbon import is_carbon
from orcish_cli.sources import opened_file, orc_files
from orcish_cli.wrong_arguments import fail_of_source

__all__ = ["SKIPPED", "OpenFiles"]

SKIPPED = (OrcishError, OSError, ValueError)
"""Errors of a source among several, which do not end the others."""
_NAMELESS = "<memory>: "
T = TypeVar("T")


class OpenFiles:
    """The ORC files of sources, which are opened one after another. Errors are printed, and do not end the others.

    Args:
        names: Files, folders, patterns and URLs.
        storage: Options of the stores of URLs.
        command: The command, for errors.
        has_schemas: Whether a table without rows has one file, without rows, that has its columns.
    """

    def __init__(
        self, names: Sequence[str], storage: Mapping[str, str], command: str, *, has_schemas: bool = True
    ) -> None:
        self._names = names
        self._storage = storage
        self._command = command
        self._has_schemas = has_schemas
        self.partition: frozenset[str] = frozenset()
        """The partition columns that the file of a table without rows has among its columns; none of other files."""
        self.seen = 0
        """The number of sources that have been found."""
        self.code = 0
        """The exit code: 1 after an error."""

    def each(self, look: Callable[[str, ORCFile], T]) -> Iterator[T]:
        """What a function of names and files returns for each file. An error that it raises is one of the file."""
        for name, file in self._opened():
            try:
                found = look(name, file)
            except SKIPPED as error:
                text = str(error)
                # The schema of a table without rows is in memory.
                is_nameless = text.startswith(_NAMELESS)
                self.code = fail_of_source(
                    type(error)(f"{display_name(name)}: {text.removeprefix(_NAMELESS)}") if is_nameless else error
                )
                continue
            yield found

    def _opened(self) -> Iterator[tuple[str, ORCFile]]:
        """Names and files. A table without rows has one file, without rows."""
        for name in self._names:
            try:
                if is_carbon(name, self._storage):
                    raise ValueError(f"{display_name(name)}: {self._command} is of ORC files, and this is CarbonData")
                found = orc_files(name, self._storage)
                self.seen += 1
                if found.schema is not None and not found.files and self._has_schemas:
                    self.partition = frozenset(found.schema.partition)
                    yield name, schema_file(found.schema)
                    self.partition = frozenset()
            except SKIPPED as error:
                self.code = fail_of_source(error)
                continue
            for file in found.files:
                try:
                    opened = opened_file(name, file, self._storage)
                except SKIPPED as error:
                    self.code = fail_of_source(error)
                    continue
                if opened is not None:
                    yield file, opened
