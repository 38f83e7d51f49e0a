"""The ORC files that a scan reads."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any, cast

import pyarrow as pa

from orcish import _native
from orcish.arrow.nested import map_fields
from orcish.errors import CorruptFileError, OrcishError, UnknownColumnError, UnsupportedError
from orcish.io.files import TableFile
from orcish.reading.explanation import STRIPES
from orcish.reading.source import SplitPart, type_options
from orcish.types import Limits, Matching, StorageOptions

__all__ = ["OrcFiles", "PartiallyReadable", "unknown_or_unreadable"]


@dataclasses.dataclass(frozen=True)
class OrcFiles:
    """The files of a scan, and how they are read; pickled, it has the storage options in it, secrets and all."""

    files: list[TableFile] = dataclasses.field(repr=False)
    schema: pa.Schema | None
    match: Matching
    storage_options: StorageOptions | None = dataclasses.field(repr=False)
    limits: Limits | None
    is_part: bool = False
    """Whether this is a part of a table whose schema is that of its files, as those of the part may not be all."""

    part_names = STRIPES

    @property
    def partition_columns(self) -> list[str]:
        """Names of the columns whose values are in names of folders."""
        return [name for name, _ in self.files[0].partition]

    def open(self, options: dict[str, Any]) -> _native.Scan | PartiallyReadable:
        """The table with the types that its columns have under these options."""
        types = type_options(options)
        try:
            return self.open_columns(types, None)
        except (CorruptFileError, UnsupportedError) as error:
            fault = error
        # Types of some columns may be unknown, and those of others be known.
        return PartiallyReadable(self, types, self.open_columns(types, []), fault)

    def open_columns(self, types: dict[str, Any], columns: list[str] | None) -> _native.Scan:
        """The table of all columns, or of those that can be read, among which these have to be."""
        return self._open(types if columns is None else {**types, "columns": columns})

    def _open(self, options: dict[str, Any]) -> _native.Scan:
        schema = self.schema
        if schema is not None and self.is_part and options.get("null_map_keys") == "dictionary":
            # So do the types of the files.
            schema = pa.schema([_with_null_keys(field) for field in schema], schema.metadata)
        return _native.Scan(
            self.files,
            schema=None if schema is None else schema.__arrow_c_schema__(),
            options=options,
            matching=self.match,
            storage_options=cast("dict[str, Any] | None", self.storage_options),
            limits=cast("dict[str, int] | None", self.limits),
        )

    def is_stored(self, column: str) -> bool:
        """Whether statistics of the files may know the column."""
        return column not in self.partition_columns

    def statistics(self, opened: _native.Scan) -> list[tuple[dict[str, Any], list[int]]]:
        """For each file, statistics of the one column over what is wanted whole, and the indexes of the rest."""
        return opened.proven()

    def subset(self, files: list[tuple[int, list[int] | None]], opened: _native.Scan | PartiallyReadable) -> OrcFiles:
        """The part that is in some files, by their indexes, and in some of their stripes or all."""
        some = [
            self.files[at] if stripes is None else self.files[at]._replace(stripes=stripes) for at, stripes in files
        ]
        return self._with_files(some, opened)

    def splits(self, opened: _native.Scan, size: int) -> Iterator[SplitPart]:
        """Parts of a scan, each with a table of its own."""
        sources = {file.location: file.source for file in self.files}
        for location, partition, tail, stripes, rows, length in opened.splits(size):
            table = self._with_files([TableFile(location, sources[location], partition, tail, stripes)], opened)
            # The core says of every split which stripes are in it.
            yield SplitPart(location, rows, length, stripes or [], table)

    def _with_files(self, files: list[TableFile], opened: _native.Scan | PartiallyReadable) -> OrcFiles:
        """A table of some files, with the columns of this one."""
        is_part = self.schema is None or self.is_part
        return dataclasses.replace(self, files=files, schema=self.full_schema(opened), is_part=is_part)

    def full_schema(self, opened: _native.Scan | PartiallyReadable) -> pa.Schema:
        """The schema of all columns that can be read, those of the folders last."""
        return pa.schema(_Schema(opened.table_schema()))


def _with_null_keys(field: pa.Field, _: str = "") -> pa.Field:
    """A field in which the keys of maps are dictionaries, which may have nulls among their values."""
    kind = map_fields(field.type, _with_null_keys)
    if pa.types.is_map(kind) and not pa.types.is_dictionary(kind.key_type):
        key = kind.key_field.with_type(pa.dictionary(pa.int32(), kind.key_type))
        kind = pa.map_(key, kind.item_field, kind.keys_sorted)
    return field.with_type(kind)


@dataclasses.dataclass(frozen=True)
class PartiallyReadable:
    """A table that has columns which cannot be read, beside those that can."""

    source: OrcFiles
    types: dict[str, Any]
    """Options that decide the types of its columns."""
    opened: _native.Scan
    """The table of the columns that can be read."""
    fault: OrcishError
    """Why not all columns can be read."""

    @property
    def files(self) -> list[str]:
        """Paths or URLs of the files."""
        return self.opened.files

    def table_schema(self) -> object:
        """The schema of the columns that can be read."""
        return self.opened.table_schema()

    def with_options(self, options: dict[str, Any]) -> _native.Scan:
        """The scan of columns that can be read.

        Raises:
            OrcishError: A column that is asked for cannot be read.
        """
        columns = options.get("columns")
        if columns is None:
            raise self.fault
        try:
            return self.opened.with_options(options)
        except UnknownColumnError as error:
            # Of columns that are there, this is the error that says why they cannot be read.
            self.source.open_columns(self.types, columns)
            raise unknown_or_unreadable(error, self.fault) from error


def unknown_or_unreadable(error: UnknownColumnError, fault: OrcishError) -> UnknownColumnError:
    """The error of a column that is not among those that can be read, with the reason why others cannot."""
    return UnknownColumnError(f"{error}; not all columns can be read: {fault}")


class _Schema:
    """A schema that is a capsule."""

    def __init__(self, capsule: object) -> None:
        self._capsule = capsule

    def __arrow_c_schema__(self) -> object:
        return self._capsule
