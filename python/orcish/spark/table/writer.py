"""Writing of a table by the tasks of a job."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator, Sequence

import pyarrow as pa
from pyspark.sql.types import ArrayType, DataType, MapType, StructType, TimestampType

from orcish.arrow.nested import is_text
from orcish.spark.options import WriterOptions
from orcish.spark.session import task_cpus
from orcish.spark.table.batches import StorageConverter
from orcish.spark.table.columns import same_name
from orcish.spark.types.arrow import arrow_schema, stored_schema
from orcish.spark.types.partition_names import check_partition_type, is_named_as_text, partition_names
from orcish.spark.types.timezones import java_zone
from orcish.tables.appending import cast_batch
from orcish.tables.commit import Job, Staged
from orcish.tables.log.schema import TableSchema
from orcish.tables.update import Update, data_exists
from orcish.types import ExistingData
from orcish.writing.dataset import TableWriter, file_suffix
from orcish.writing.timestamps import with_stored_types

__all__ = ["TableTarget", "mark_success"]

SUCCESS = "_SUCCESS"
TASK_MEMORY = 512 << 20
"""Maximum bytes that the open files of a task hold in memory."""


@dataclasses.dataclass(frozen=True)
class TableTarget:
    """The table that the tasks of a job write to, and the schema and options of their rows."""

    job: Job
    options: WriterOptions
    schema: StructType
    instant_types: tuple[tuple[str, str], ...] = ()
    """ORC types of the instants of an existing table, by dotted column names."""
    appended: pa.Schema | None = None
    """The types of the rows in an existing table that keeps its columns."""
    typed: tuple[str, ...] = ()
    """Partition columns with types of the table, whose folders have the names that orcish gives them."""
    position: int = 0
    """The position of the log at which the table was looked at."""
    table_schema: TableSchema | None = None
    """The schema of the table after the commit."""

    def __post_init__(self) -> None:
        by = [self._column(name) for name in self.options.partition_by]
        # The names of the schema, whatever case the option has.
        object.__setattr__(self, "options", dataclasses.replace(self.options, partition_by=tuple(by)))
        twice = [name for name in self.options.partition_by if self.options.partition_by.count(name) > 1]
        if twice:
            raise ValueError(f"partitionBy: column {twice[0]!r} is there twice")
        if len(self.options.partition_by) == len(self.schema.names):
            raise ValueError("partitionBy: one column at least is left for the files")
        # Raises errors of the schema before tasks run.
        stored_schema(self.schema)
        for name in by:
            check_partition_type(name, self.schema[name].dataType)

    def _column(self, name: str) -> str:
        is_sensitive = self.options.case_sensitive
        same = [own for own in self.schema.names if same_name(own, is_sensitive) == same_name(name, is_sensitive)]
        if len(same) != 1:
            found = f"column {name!r} may be {' or '.join(map(repr, same))}" if same else f"there is no column {name!r}"
            raise ValueError(f"partitionBy: {found}")
        return same[0]

    def write(self, batches: Iterator[pa.RecordBatch], task: int, *, begins: bool = True) -> list[Staged]:
        """Writes the rows of a task into unpublished files. Without rows there is no file, except that the first task
        may write one for the schema.

        Args:
            batches: The rows in Spark's Arrow types.
            task: Index of the task, which is part of the file names.
            begins: Whether the first task writes a file without rows, if the table has no columns before.
        """
        folder = self.job.folder()
        attempt = self.job.attempt()
        kinds = [dict(self.instant_types)]
        stored = StorageConverter(with_stored_types(stored_schema(self.schema), kinds))
        own = with_stored_types(self.appended or stored_schema(self.schema), kinds)
        named = self._named_as_text()
        schema = self._in_folders(own)
        table = TableWriter(
            self.job.base,
            schema,
            self.options.partition_by,
            template=f"part-{task:05d}-{attempt[-32:]}-c{{i}}{file_suffix(self.options.file)}",
            max_rows_per_file=self.options.max_rows_per_file,
            max_memory=TASK_MEMORY,
            storage_options=self.options.storage,
            staging=folder.location(attempt),
            options={
                "arrow_schema": False,
                "threads": task_cpus(),
                "timezone": java_zone(self.options.timezone),
                **self.options.file,
            },
        )
        with table:
            for batch in batches:
                rows = cast_batch(stored.of(batch), own, self.typed)
                for at in named:
                    kind = self.schema[at].dataType
                    texts = partition_names(batch.column(at), kind, self.options.session_timezone)
                    rows = rows.set_column(at, schema.field(at), texts)
                table.write(rows)
            if begins and task == 0 and not self.options.partition_by and self.appended is None:
                table.begin()
        return self.job.staged(table)

    def fitted(self, existing_data: ExistingData) -> TableTarget:
        """The target with the types with which its rows are written beside files of the table that stay.

        Raises:
            FileExistsError: The table has files, with ``error``.
            ValueError: The rows do not match the table, which could not be read any more.
        """
        update = self._update(existing_data)
        update.check_columns(self.schema.names)
        state = update.state()
        if existing_data == "error" and state.exists:
            raise data_exists(self.job.base, has_files=bool(state.names))
        rows = stored_schema(self.schema)
        if state.existing is None:
            table_schema = update.schema_with(None, self._in_log(rows))
            return dataclasses.replace(self, position=state.position, table_schema=table_schema)
        is_sensitive = self.options.case_sensitive
        own = {same_name(path, is_sensitive): kind for path, kind in state.existing.timestamp_types.items()}
        kinds = ((path, own.get(same_name(path, is_sensitive))) for path in _instants(self.schema, ""))
        instant_types = tuple((path, kind) for path, kind in kinds if kind is not None)
        by = self.options.partition_by
        appended = state.existing.appended_schema(rows, by)
        types = state.existing.partition_types
        typed = tuple(name for name in by if name in types and not is_text(types[name]))
        fitted = dataclasses.replace(self, appended=appended, typed=typed)
        return dataclasses.replace(
            fitted,
            position=state.position,
            instant_types=instant_types,
            table_schema=update.schema_with(state.existing, fitted._in_log(appended)),
        )

    def commit(
        self, files: Sequence[Staged], existing_data: ExistingData, *, stream: tuple[str, int] | None = None
    ) -> None:
        """Adds the files to the table, or replaces its files.

        Raises:
            FileExistsError: The table has files, with ``error``.
        """
        rows = stored_schema(self.schema) if self.appended is None else self.appended
        if self.table_schema is None:
            raise ValueError("a target is committed after it was fitted")
        self._update(existing_data).commit(
            files,
            self._in_log(rows),
            self.position,
            self.table_schema,
            is_new=self.appended is None,
            types=arrow_schema(self.schema),
            stream=stream,
        )
        mark_success(self.job)

    def _named_as_text(self) -> list[int]:
        """Indexes of the partition columns whose values Spark makes names of."""
        by = self.options.partition_by
        named = [name for name in by if name not in self.typed]
        return [at for at, field in enumerate(self.schema) if field.name in named and is_named_as_text(field.dataType)]

    def _in_folders(self, schema: pa.Schema) -> pa.Schema:
        """The schema with text for partition columns whose values Spark makes names of."""
        for at in self._named_as_text():
            schema = schema.set(at, schema.field(at).with_type(pa.string()))
        return schema

    def _in_log(self, schema: pa.Schema) -> pa.Schema:
        """As :meth:`_in_folders`, with dates as dates: Spark names them as orcish does."""
        named = self._in_folders(schema)
        for at, field in enumerate(schema):
            if pa.types.is_date32(field.type):
                named = named.set(at, field)
        return named

    def _update(self, existing_data: ExistingData) -> Update:
        has_schema = self.options.file.get("arrow_schema", False) is not False
        zone = self.options.session_timezone
        return Update(self.job, existing_data, tuple(self.options.partition_by), has_schema, "partitionBy", zone)


def mark_success(job: Job) -> None:
    """Writes the file by which jobs of Hadoop know that a table is there. The commit does not depend on it."""
    with contextlib.suppress(OSError):
        job.folder().write(SUCCESS, b"", overwrite=True)


def _instants(schema: StructType, above: str) -> Iterator[str]:
    """Dotted names of the instant columns."""
    for field in schema:
        yield from _instants_of(field.dataType, above + field.name)


def _instants_of(kind: DataType, path: str) -> Iterator[str]:
    if isinstance(kind, TimestampType):
        yield path
    elif isinstance(kind, StructType):
        yield from _instants(kind, f"{path}.")
    elif isinstance(kind, ArrayType):
        yield from _instants_of(kind.elementType, f"{path}.element")
    elif isinstance(kind, MapType):
        yield from _instants_of(kind.keyType, f"{path}.key")
        yield from _instants_of(kind.valueType, f"{path}.value")
