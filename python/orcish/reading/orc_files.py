"""ORC files as the source of a scan."""

from __future__ import annotations

import collections
import dataclasses
from collections.abc import Callable, Collection, Iterator
from typing import Any, Literal, NamedTuple, cast

import pyarrow as pa

from orcish import _native
from orcish.arrow.exported import ExportedSchema
from orcish.arrow.nested import map_fields
from orcish.encryption.keys import HiddenKeys
from orcish.errors import OrcishError
from orcish.filters.names import ColumnName, dotted
from orcish.io.files import TableFile
from orcish.io.names import display_name, errors_about
from orcish.io.paths import within
from orcish.io.system_path import SystemFile
from orcish.reading.batches import schema_of
from orcish.reading.explanation import STRIPES
from orcish.reading.file import has_arrow_schema
from orcish.reading.schema_file import schema_file
from orcish.reading.several import NOTHING_LEFT_OUT, LeftOut
from orcish.reading.source import ScanSource, SplitPart, type_options
from orcish.tables.log.schema import TableSchema
from orcish.types import Limits, Matching, StorageOptions

__all__ = [
    "OrcFiles",
    "UnifiedSchema",
    "partition_schema",
    "unified_schema",
]


@dataclasses.dataclass(frozen=True)
class OrcFiles:
    """The files of a scan, and how they are read. Pickles include the storage options, and thus credentials."""

    files: list[TableFile] = dataclasses.field(repr=False)
    schema: pa.Schema | None
    match: Matching
    storage_options: StorageOptions | None = dataclasses.field(repr=False)
    limits: Limits | None
    keys: HiddenKeys | None = dataclasses.field(default=None, repr=False, kw_only=True)
    """The keys of encrypted columns."""
    table_schema: TableSchema | None = None
    """The schema where none is given; by default the columns of the first file, with types for all files."""
    is_part: bool = False
    """Whether these are some of the files of a table, whose schema was inferred from all of them."""
    is_schema_inferred: bool = False
    """Whether the schema was made of files of the table: values have its types. Other schemas convert values."""
    is_schema_of_log: bool = False
    """Whether the log of the table decided on such a schema: it says what numbers of files without an Arrow schema are.
    """
    log_infers: bool | None = None
    """Whether readers of the table infer its types, as that log has no Arrow schema; ``None`` if it is not known."""
    ignores_arrow_types: bool = False
    """Whether the columns have the types of ORC, whatever Arrow types files were written with, as in a table whose log
    has no Arrow schema.
    """
    left_out: LeftOut = NOTHING_LEFT_OUT
    """The partition columns of the files that the rows do not have."""
    folder: str | None = dataclasses.field(default_factory=_native.working_folder, repr=False, compare=False)
    """The working directory that relative paths are in."""

    part_names = STRIPES
    reads_null_keys = True

    def __getstate__(self) -> dict[str, Any]:
        # Other processes have other working directories.
        return {**self.__dict__, "files": self._absolute_files()}

    @property
    def locations(self) -> list[str]:
        """Paths or URLs of the files."""
        return [file.location for file in self.files]

    @property
    def partition_columns(self) -> list[str]:
        """Columns whose values are in folder names."""
        if not self.files:
            return [] if self.table_schema is None else self.table_schema.shown_columns
        return [name for name, _ in self.files[0].partition]

    def open(self, options: dict[str, Any]) -> _native.Scan:
        """The native scan, whose columns have the types that the options decide. Columns that cannot be read are an
        error where they are selected.
        """
        options = type_options(options)
        schema = self.schema
        if schema is None and self.table_schema is not None:
            return self._opened(self.table_schema, options)
        if schema is not None and self.is_part and options.get("null_map_keys") == "dictionary":
            # The types in the files change in the same way.
            schema = pa.schema([_with_null_keys(field) for field in schema], schema.metadata)
        return self._opened(None if schema is None else schema.__arrow_c_schema__(), options)

    def _opened(self, schema: object | None, options: dict[str, Any]) -> _native.Scan:
        try:
            return _native.Scan(
                self._named_files(),
                schema=schema,
                options=options,
                matching=self.match,
                storage_options=self.storage_options,
                limits=cast("dict[str, int] | None", self.limits),
                schema_of=self._schema_of,
                keys=None if self.keys is None else self.keys.native(),
            )
        except ValueError as error:
            if len({tuple(name for name, _ in file.partition) for file in self.files}) < 2:
                raise
            raise ValueError(
                f"{error}: readers take each file of a folder for one of the table, unless its name begins with '_' or "
                "'.'; move other files away, or leave them out with a pattern such as table/*/*.orc"
            ) from None

    @property
    def _schema_of(self) -> Literal["caller", "files", "log", "orc"]:
        """Whose schema a given one is, for the native core."""
        if self.ignores_arrow_types:
            return "orc"
        if not (self.is_part or self.is_schema_inferred):
            return "caller"
        return "log" if self.is_schema_of_log else "files"

    def splits(self, scan: _native.Scan, size: int) -> Iterator[SplitPart]:
        """Parts of about ``size`` stored bytes."""
        files = dict(zip(scan.files, self.files, strict=True))
        table = self.with_schema(scan)
        for name, rows, length, stripes, partition, tail in scan.splits(size):
            location, source, *_ = files[name]
            part = dataclasses.replace(table, files=[TableFile(location, source, partition or [], tail, stripes)])
            yield SplitPart(location, rows, length, stripes, part)

    def _named_files(self) -> list[TableFile]:
        """The files for the native core, which has URLs of fsspec in messages only: their locations are distinct names
        without credentials.
        """
        names = collections.Counter[str]()
        found = []
        for file in self.files if _native.working_folder() == self.folder else self._absolute_files():
            name = display_name(file.location) if isinstance(file.source, SystemFile) else file.location
            if name != file.location:
                names[name] += 1
                name = name if names[name] == 1 else f"{name} ({names[name]})"
            found.append(file._replace(location=name))
        return found

    def _absolute_files(self) -> list[TableFile]:
        """The files, whatever the working directory is now."""
        return [
            file._replace(location=within(self.folder, file.location)) if file.source is None else file
            for file in self.files
        ]

    def files_of(self, opened: _native.Scan) -> list[str]:  # noqa: ARG002 - its names may be others
        """Paths or URLs of the files."""
        return self.locations

    def of_files(self, opened: _native.Scan) -> list[tuple[str, ScanSource]]:
        """The locations of the files, and the table of each file, with the columns of all."""
        table = self.with_schema(opened)
        return [(file.location, dataclasses.replace(table, files=[file])) for file in self.files]

    def with_types(self, opened: _native.Scan, change: Callable[[pa.DataType], pa.DataType]) -> OrcFiles:
        """The table with other types of its columns; a value that they do not hold is an error where it is read."""
        whole = self.full_schema(opened)
        changed = pa.schema([field.with_type(change(field.type)) for field in whole], whole.metadata)
        return self if changed == whole else dataclasses.replace(self, schema=changed)

    def with_schema(self, opened: _native.Scan) -> OrcFiles:
        """The table with the types that columns have in a native scan, whatever options it is opened with."""
        ignores, infers = self.ignores_arrow_types, self.log_infers
        if self.table_schema is not None:
            infers = not has_arrow_schema(schema_file(self.table_schema))
            ignores = infers if self.schema is None else ignores
        return dataclasses.replace(
            self,
            schema=self.full_schema(opened),
            table_schema=None,
            is_part=self.schema is None or self.is_part,
            is_schema_of_log=self.table_schema is not None or self.is_schema_of_log,
            log_infers=infers,
            ignores_arrow_types=ignores,
        )

    def full_schema(self, opened: _native.Scan) -> pa.Schema:
        """The schema of all columns that can be read, partition columns last."""
        with errors_about(display_name(self.files[0].location) if self.files else "no files"):
            return schema_of(opened.readable())


def partition_schema(schema: TableSchema) -> pa.Schema:
    """The partition columns of a table, with the types that they have in scans without files."""
    table = OrcFiles([], None, "name", None, None, schema._replace(shown=None))
    fields = list(table.full_schema(table.open({})))
    return pa.schema(fields[len(fields) - len(schema.partition) :])


class UnifiedSchema(NamedTuple):
    """The union of the schemas of several files."""

    schema: pa.Schema
    """The columns that can be read. A column without a common type has the first of its types."""
    differs: bool
    """Whether the schemas of the files differ."""
    fault: OrcishError | None
    """The error of the first column that cannot be read."""
    conflicts: list[tuple[str, OrcishError]]
    """The dotted names of columns without a common type, and errors that name two files."""

    def check(self, columns: Collection[ColumnName] | None = None) -> None:
        """Raises the error of the first column that has no common type, of some columns or of all."""
        for name, error in self.conflicts:
            if columns is None or any(f"{name}.".startswith(f"{dotted(column)}.") for column in columns):
                raise error


def unified_schema(opened: _native.Scan, *, case_sensitive: bool) -> UnifiedSchema:
    """The union of the schemas of all files of a scan, without partition columns.

    Args:
        opened: The scan.
        case_sensitive: Whether columns whose names differ only by case are different columns.

    Raises:
        OrcishError: The names of columns are ambiguous.
    """
    capsule, differs, fault, conflicts = opened.unified_schema(case_sensitive)
    return UnifiedSchema(pa.schema(ExportedSchema(capsule)), differs, fault, conflicts)


def _with_null_keys(field: pa.Field, _: str = "") -> pa.Field:
    """The field with dictionaries as keys of maps. Unlike plain keys, they can be null."""
    kind = map_fields(field.type, _with_null_keys)
    if pa.types.is_map(kind) and not pa.types.is_dictionary(kind.key_type):
        key = kind.key_field.with_type(pa.dictionary(pa.int32(), kind.key_type))
        kind = pa.map_(key, kind.item_field, kind.keys_sorted)
    return field.with_type(kind)
