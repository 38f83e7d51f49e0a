"""The table that rows are written to, by one process or by the tasks of a job."""

from __future__ import annotations

import contextlib
import dataclasses
import os
from collections.abc import Collection, Iterator, Sequence
from typing import Any, cast

import pyarrow as pa

from orcish import _native
from orcish._native import Location, has_carbon_metadata
from orcish.arrow.frames import fitted_metadata
from orcish.arrow.nested import value_type
from orcish.errors import CommitError, OptionError, UnknownColumnError, closest_match
from orcish.tables.columns import appended_schema, cast_batch
from orcish.tables.commit import Job, Staged
from orcish.tables.folder import FileInfo
from orcish.tables.log.schema import TableSchema
from orcish.tables.update import Update, data_exists, has_carbon_data
from orcish.types import ExistingData, StorageOptions
from orcish.writing.dataset import TableWriter

__all__ = ["DatasetTarget", "without_new_folders"]

UTC = "UTC"
"""Time zone of files that are written without the option ``timezone``."""


@dataclasses.dataclass(frozen=True)
class DatasetTarget:
    """A table as it is before rows are written, and the schema and options of the rows. It is pickled for tasks."""

    folder: str
    """Path or URL of the folder, as given."""
    job: Job
    update: Update = dataclasses.field(repr=False)
    schema: pa.Schema
    """The schema with which the rows are written."""
    options: dict[str, Any]
    """Options of each file."""
    is_new: bool
    """Whether the table has no columns before the commit."""
    _given: tuple[pa.Schema, dict[str, Any]] = dataclasses.field(repr=False)
    """The schema and the options of the rows, before they are fitted to the table."""
    _position: int
    """The position of the log at which the table was looked at."""
    _logged: TableSchema
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
        job = Job(folder, cast("dict[str, str]", dict(storage_options or {})))
        if has_carbon_metadata(folder, storage_options):
            raise has_carbon_data(folder)
        update = Update(job, existing_data, tuple(by), options.get("arrow_schema") is not False)
        update.check_columns(schema.names)
        update.check_partitioned()
        state = update.state()
        if existing_data == "error" and state.exists:
            raise data_exists(folder, has_files=bool(state.names))
        given = schema, options
        schema, options = _fitted(*given, state.existing, by)
        update = dataclasses.replace(update, timezone=options.get("timezone", UTC))
        logged = update.schema_with(state.existing, schema)
        return cls(folder, job, update, schema, options, state.existing is None, given, state.position, logged)

    @property
    def needs_file(self) -> bool:
        """Whether a file is written even without rows: readers that know nothing of the log find the columns in it."""
        return self.is_new and not self.update.partition_by

    def writer(self, template: str, **bounds: Any) -> TableWriter:
        """A writer of unpublished files; :meth:`orcish.tables.commit.Job.staged` gives them.

        Args:
            template: Template of file names, with ``{i}`` for a number.
            bounds: Bounds of the writer, as of :class:`orcish.writing.dataset.TableWriter`.
        """
        return TableWriter(
            self.job.base,
            self.schema,
            self.update.partition_by,
            template=template,
            storage_options=self.job.storage,
            staging=self.job.folder().location(self.job.attempt()),
            options=self.options,
            **bounds,
        )

    def cast(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Rows with the types with which they are written.

        Raises:
            ValueError: A value is not one of its new type.
        """
        return cast_batch(batch, self.schema, self.update.partition_by)

    def commit(self, staged: Sequence[Staged]) -> None:
        """Publishes files.

        Raises:
            OSError, OrcishError, ValueError: As in :meth:`orcish.tables.update.Update.commit`.
        """
        self.update.commit(staged, self.schema, self._position, self._logged, is_new=self.is_new, fits=self._fits)

    def replace(self, staged: Sequence[Staged], files: Collection[FileInfo]) -> None:
        """Publishes files in the place of some that have the same rows.

        Raises:
            CommitError: The table has changed since it was looked at; it stays as it is.
            OSError, OrcishError, ValueError: As in :meth:`orcish.tables.commit.Job.commit`.
        """

        def check() -> TableSchema | None:
            raise CommitError(f"{self.job.root}: the table was changed meanwhile, and stays as it is: run it again")

        self.job.commit(staged, "overwrite", existing=files, position=self._position, schema=self._logged, check=check)

    def _fits(self, existing: _native.TableColumns | None) -> bool:
        types, chosen = _fitted(*self._given, existing, self.update.partition_by)
        return bool(types == self.schema) and chosen.get("timezone", UTC) == self.options.get("timezone", UTC)


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


def _fitted(
    schema: pa.Schema, options: dict[str, Any], existing: _native.TableColumns | None, by: Sequence[str]
) -> tuple[pa.Schema, dict[str, Any]]:
    """The schema and the options with which rows are written beside existing files."""
    if existing is None:
        return schema, options
    try:
        schema = appended_schema(existing, schema, by)
    except ValueError as error:
        raise ValueError(f"{error}{_advice(str(error))}") from None
    if "timezone" not in options and (zone := existing.timezone_beside(schema.__arrow_c_schema__())):
        options = {**options, "timezone": zone}
    return schema, options


def _advice(text: str) -> str:
    """What can be done about rows that do not match the table, given the message."""
    if "differ only by case" in text:
        return ": rename the column of the rows"
    if "in the table" in text:
        return ": cast the rows to the type of the table, or replace it (existing_data='overwrite')"
    return ""


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
            closest = closest_match(name, schema.names)
            hint = f"; did you mean {closest!r}?" if closest else ""
            raise UnknownColumnError(f"there is no column {name!r} to partition by{hint}")
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
