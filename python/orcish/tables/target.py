"""The table that rows are written to, by one process or by the tasks of a job."""

from __future__ import annotations

import contextlib
import dataclasses
import os
from collections.abc import Collection, Iterator, Sequence
from typing import Any

import pyarrow as pa

from orcish import _native
from orcish._native import Location, StagedFile, has_carbon_metadata
from orcish.arrow.exported import ExportedSchema, schema_for_native
from orcish.arrow.frames import fitted_metadata
from orcish.arrow.nested import value_type
from orcish.errors import OptionError, UnsupportedError
from orcish.hints import unknown_column
from orcish.tables.columns import cast_batch
from orcish.tables.commit import Job
from orcish.tables.folder import FileInfo
from orcish.types import ExistingData, StorageOptions
from orcish.writing.dataset import TableWriter

__all__ = ["DatasetTarget", "existing_data_named", "without_new_folders"]


@dataclasses.dataclass(frozen=True)
class DatasetTarget:
    """A table as it is before rows are written, and the schema and options of the rows. It is pickled for tasks."""

    folder: str
    """Path or URL of the folder, as given."""
    job: Job
    partition_by: list[str]
    schema: pa.Schema
    """The schema with which the rows are written."""
    options: dict[str, Any]
    """Options of each file."""
    is_new: bool
    """Whether the table has no columns before the commit."""
    _existing_data: ExistingData
    _given: tuple[pa.Schema, str | None] = dataclasses.field(repr=False)
    """The schema and the time zone of the rows, before they are fitted to the table."""
    _position: int
    """The position of the log at which the table was looked at."""
    _logged: tuple[bytes, list[str]] = dataclasses.field(repr=False)
    """The schema of the table after the commit."""

    @classmethod
    def of(
        cls,
        target: str | os.PathLike[str],
        schema: pa.Schema,
        partition_by: Sequence[str],
        existing_data: ExistingData,
        storage_options: StorageOptions | None,
        options: dict[str, Any],
    ) -> DatasetTarget:
        """Looks at the table. The arguments are those of :func:`orcish.write_dataset`.

        Raises:
            OSError, OrcishError, ValueError: As in :func:`orcish.write_dataset`.
        """
        schema = fitted_metadata(schema, is_whole=False)
        folder = _folder(Location(target).path)
        by = _partition_columns(partition_by, schema)
        job = Job(folder, dict(storage_options or {}))
        if has_carbon_metadata(folder, storage_options):
            raise UnsupportedError(
                f"{folder} has data of CarbonData, which is only read: write ORC into another folder"
            )
        given, zone = schema, options.get("timezone")
        write = _write(job, existing_data, by, options)
        write.check_columns(schema.names)
        write.check_partitioned()
        with existing_data_named():
            position, capsule, timezone, logged, is_new = write.plan(schema_for_native(given), zone)
        if not is_new:
            schema = pa.schema(ExportedSchema(capsule))
        if timezone is not None:
            options = {**options, "timezone": timezone}
        return cls(folder, job, by, schema, options, is_new, existing_data, (given, zone), position, logged)

    @property
    def needs_file(self) -> bool:
        """Whether a file is written even without rows: readers that know nothing of the log find the columns in it."""
        return self.is_new and not self.partition_by

    def writer(self, template: str, **bounds: Any) -> TableWriter:
        """A writer of unpublished files.

        Args:
            template: Template of file names, with ``{i}`` for a number.
            bounds: Bounds of the writer, as of :class:`orcish.writing.dataset.TableWriter`.
        """
        return TableWriter(
            self.job.base,
            self.schema,
            self.partition_by,
            template=template,
            storage_options=self.job.storage,
            staging=self.job.location(self.job.attempt()),
            options=self.options,
            **bounds,
        )

    def cast(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Rows with the types with which they are written.

        Raises:
            ValueError: A value is not one of its new type.
        """
        return cast_batch(batch, self.schema, self.partition_by)

    def commit(self, staged: Sequence[StagedFile]) -> None:
        """Publishes files.

        Raises:
            CommitError: The table has changed, and the rows do not match it any more.
            FileExistsError: The folder has files, or is that of a table, with ``existing_data="error"``.
            ValueError: A value of a partition column does not have the type of the table.
            OSError, OrcishError, ValueError: As in :func:`orcish.write_dataset`.
        """
        schema, zone = self._given
        timezone = self.options.get("timezone")
        plan = (self._position, schema_for_native(self.schema), timezone, self._logged, self.is_new)
        write = _write(self.job, self._existing_data, self.partition_by, self.options)
        with existing_data_named():
            write.commit(plan, staged, schema_for_native(schema), zone)

    def replace(self, staged: Sequence[StagedFile], files: Collection[FileInfo]) -> None:
        """Publishes files in the place of some that have the same rows.

        Raises:
            CommitError: The table has changed since it was looked at; it stays as it is.
            OSError, OrcishError, ValueError: As in :func:`orcish.write_dataset`.
        """
        position, schema = self._position, self._logged
        self.job.commit(staged, "overwrite", existing=list(files), position=position, schema=schema)


def _write(job: Job, existing_data: ExistingData, by: Sequence[str], options: dict[str, Any]) -> _native.RowWrite:
    return _native.RowWrite(job, existing_data, by, arrow_schema=options.get("arrow_schema") is not False)


@contextlib.contextmanager
def existing_data_named() -> Iterator[None]:
    """Adds the choices of ``existing_data`` to the error of a write that adds to no table."""
    try:
        yield
    except FileExistsError as error:
        raise FileExistsError(
            f"{error}; existing_data='append' adds to it, 'overwrite' replaces it, and 'overwrite_partitions' replaces "
            "the partitions of the new rows"
        ) from None


@contextlib.contextmanager
def without_new_folders(job: Job) -> Iterator[None]:
    """Removes the folder of a job and the folders above it after an exception, as far as they are new and empty. A
    child of a fork removes nothing.
    """
    folder, missing = job.base, []
    while "://" not in folder and not os.path.lexists(folder):
        missing.append(folder)
        folder = os.path.dirname(folder)
    try:
        yield
    except BaseException:
        for path in missing if job.is_own else []:
            with contextlib.suppress(OSError):
                os.rmdir(path)
        raise


def _folder(path: str) -> str:
    """The folder without a trailing slash."""
    if not path:
        raise ValueError("the folder of a table has a name; '.' is the one that this process is in")
    # A URL without a bucket is refused later. Without its slashes it would be a path.
    is_url = not path.partition("://")[2].strip("/") and "://" in path
    return path if is_url else path.rstrip("/") or "/"


def _partition_columns(partition_by: Sequence[str], schema: pa.Schema) -> list[str]:
    """Names of the partition columns.

    Raises:
        UnknownColumnError: There is no such column.
        ValueError: A column cannot be a partition column.
    """
    by = list(partition_by)
    for name in by:
        if name not in schema.names:
            raise unknown_column(name, schema.names, "partition_by")
    if len(set(by)) != len(by) or len(by) >= max(len(schema), 1):
        raise OptionError("partition_by", "columns are named once, and one at least is left for the files", by)
    for name in by:
        if schema.names.count(name) > 1:
            raise OptionError("partition_by", f"column {name!r} is there twice", by)
        kind = value_type(schema.field(name).type)
        if pa.types.is_nested(kind) or isinstance(kind, pa.BaseExtensionType):
            raise OptionError("partition_by", f"values of {name!r}, of type {kind}, cannot be names of folders", by)
        if not name or name.startswith("."):
            folder_name = _native.partition_folder(name, "…")
            raise OptionError("partition_by", f"readers pass over folders such as {folder_name!r}", by)
    return by
