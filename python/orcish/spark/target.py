"""Writing of a table by the tasks of a job."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import pyarrow as pa
from pyspark.sql.types import StructType

from orcish import _native
from orcish._native import StagedFile
from orcish.arrow.exported import ExportedSchema, schema_for_native
from orcish.arrow.nested import fields_by_path, is_text
from orcish.hints import unknown_column
from orcish.spark.appending import appended_schema
from orcish.spark.columns import same_name
from orcish.spark.options import WriterOptions
from orcish.spark.partitions import check_partition_type, is_named_as_text, spark_texts
from orcish.spark.schemas import arrow_schema, stored_schema
from orcish.spark.session import task_cpus
from orcish.tables.columns import cast_batch
from orcish.tables.commit import Job
from orcish.tables.target import existing_data_named
from orcish.types import ExistingData
from orcish.writing.dataset import TableWriter, file_suffix
from orcish.writing.option_check import check_file_options
from orcish.writing.timestamps import with_stored_types

__all__ = ["TableTarget", "mark_success"]

SUCCESS = "_SUCCESS"
TASK_MEMORY = 512 << 20
"""Maximum bytes that the open files of a task hold in memory."""


class _Beside(NamedTuple):
    """How rows are written beside files of a table that stay."""

    schema: pa.Schema
    """The types with which they are written."""
    typed: tuple[str, ...]
    """Partition columns with types of the table, whose folders have the names that orcish gives them."""
    is_new: bool
    """Whether the table has no columns before."""


@dataclasses.dataclass(frozen=True)
class TableTarget:
    """The table that the tasks of a job write to, and the schema and options of their rows."""

    job: Job
    options: WriterOptions
    schema: StructType
    source_types: Mapping[str, str] = dataclasses.field(default_factory=dict)
    """ORC types of the instants of the source of the rows, by dotted names of columns. Without them, they are those of
    Spark's writer."""
    replaces_carbon: bool = False
    """Whether the rows are those of the files of CarbonData that are in the folder, which they replace."""
    beside: _Beside | None = None
    """How the rows are written; ``None`` before the table was looked at."""
    position: int = 0
    """The position of the log at which the table was looked at."""
    table_schema: tuple[bytes, list[str]] | None = None
    """The schema of the table after the commit."""

    def __post_init__(self) -> None:
        by = [self._column(name) for name in self.options.partition_by]
        # The names of the schema, whatever case the option has.
        object.__setattr__(self, "options", dataclasses.replace(self.options, partition_by=tuple(by)))
        twice = [name for name in self.options.partition_by if self.options.partition_by.count(name) > 1]
        if twice:
            raise ValueError(f"{self._partition_option()}: column {twice[0]!r} is there twice")
        if not self.schema.names:
            raise ValueError("the rows have no columns: a table of Spark has one at least")
        if len(self.options.partition_by) == len(self.schema.names):
            raise ValueError(f"{self._partition_option()}: one column at least is left for the files")
        # Raises errors of the schema before tasks run.
        stored_schema(self.schema)
        for name in by:
            check_partition_type(name, self.schema[name].dataType)

    def missing_partition_columns(self) -> list[str]:
        """The partition columns of the table that the rows do not have as such."""
        return self._write("overwrite_partitions").missing_partition_columns()

    def check_partitioned(self, existing_data: ExistingData) -> None:
        """Checks that rows that replace partitions have partition columns.

        Raises:
            ValueError: They have none; the message has those of the table.
        """
        self._write(existing_data).check_partitioned()

    def _column(self, name: str) -> str:
        is_sensitive = self.options.case_sensitive
        same = [own for own in self.schema.names if same_name(own, is_sensitive) == same_name(name, is_sensitive)]
        if not same:
            raise unknown_column(name, self.schema.names, self._partition_option())
        if len(same) > 1:
            raise ValueError(f"{self._partition_option()}: column {name!r} may be {' or '.join(map(repr, same))}")
        return same[0]

    def write(self, batches: Iterator[pa.RecordBatch], task: int, *, begins: bool = True) -> list[StagedFile]:
        """Writes the rows of a task into unpublished files. Without rows there is no file, except that the first task
        may write one for the schema.

        Args:
            batches: The rows in Spark's Arrow types.
            task: Index of the task, which is part of the file names.
            begins: Whether the first task writes a file without rows, if the table has no columns before.
        """
        attempt = self.job.attempt()
        own, typed, is_new = self.beside or self._beside(None)
        named = self._named_as_text(typed)
        schema = self._in_folders(own, typed)
        table = TableWriter(
            self.job.base,
            schema,
            self.options.partition_by,
            template=f"part-{task:05d}-{attempt[-32:]}-c{{i}}{file_suffix(self.options.file)}",
            max_rows_per_file=self.options.max_rows_per_file,
            max_partitions=self.options.max_partitions,
            max_memory=TASK_MEMORY,
            storage_options=self.options.storage,
            staging=self.job.location(attempt),
            options={
                "arrow_schema": False,
                "threads": task_cpus(),
                "timezone": self.options.timezone,
                **self.options.file,
            },
        )
        with table:
            for batch in batches:
                rows = cast_batch(batch, own, typed)
                for at in named:
                    kind = self.schema[at].dataType
                    texts = spark_texts(batch.column(at), kind, self.options.session_timezone)
                    rows = rows.set_column(at, schema.field(at), texts)
                table.write(rows)
            if begins and task == 0 and not self.options.partition_by and is_new:
                table.begin()
        return table.staged

    def fitted(self, existing_data: ExistingData) -> TableTarget:
        """The target with the types with which its rows are written beside files of the table that stay.

        Raises:
            FileExistsError: The table has files, with ``error``.
            ValueError: The rows do not match the table, which could not be read any more, or an option is wrong.
            OrcishError: An option of the files is about a column that they do not have, or is not supported.
        """
        own_schema = stored_schema(self.schema)
        by = self.options.partition_by
        columns = pa.schema([field for field in own_schema if field.name not in by])
        check_file_options(columns, {"arrow_schema": False, **self.options.file}, self.options.named)
        write = self._write(existing_data)
        write.check_columns(self.schema.names)
        found: list[_Beside] = []

        def types(existing: _native.TableColumns | None) -> tuple[object, str | None]:
            found.append(self._beside(existing))
            return self._logged(found[-1])

        with existing_data_named():
            position, _, _, logged, _ = write.plan(types)
        return dataclasses.replace(self, beside=found[-1], position=position, table_schema=logged)

    def _beside(self, existing: _native.TableColumns | None) -> _Beside:
        """How the rows are written beside columns of the table.

        Raises:
            ValueError: The rows do not match the table.
        """
        schema, kinds = stored_schema(self.schema), dict(self.source_types)
        if existing is None:
            return _Beside(with_stored_types(schema, [kinds]), (), True)
        is_sensitive = self.options.case_sensitive
        own = {same_name(path, is_sensitive): kind for path, kind in existing.timestamp_types.items()}
        for path, field in fields_by_path(schema).items():
            kind = own.get(same_name(path, is_sensitive))
            if kind is not None and pa.types.is_timestamp(field.type) and field.type.tz is not None:
                kinds[path] = kind
        by = self.options.partition_by
        appended = appended_schema(existing, self.schema, by, list(kinds.items()), self.options.replace)
        known = pa.schema(ExportedSchema(existing.partition_schema))
        not_text = {field.name for field in known if not is_text(field.type)}
        return _Beside(appended, tuple(name for name in by if name in not_text), False)

    def commit(
        self, files: Sequence[StagedFile], existing_data: ExistingData, *, stream: tuple[str, int] | None = None
    ) -> None:
        """Adds the files to the table, or replaces its files.

        Raises:
            FileExistsError: The table has files, with ``error``.
        """
        if self.beside is None or self.table_schema is None:
            raise ValueError("a target is committed after it was fitted")
        plan = (self.position, *self._logged(self.beside), self.table_schema, self.beside.is_new)
        values = schema_for_native(arrow_schema(self.schema))
        with existing_data_named():
            self._write(existing_data).commit(
                plan, files, lambda existing: self._logged(self._beside(existing)), values=values, stream=stream
            )
        mark_success(self.job)

    def _named_as_text(self, typed: Sequence[str]) -> list[int]:
        """Indexes of the partition columns whose values Spark makes names of."""
        named = [name for name in self.options.partition_by if name not in typed]
        return [at for at, field in enumerate(self.schema) if field.name in named and is_named_as_text(field.dataType)]

    def _in_folders(self, schema: pa.Schema, typed: Sequence[str]) -> pa.Schema:
        """The schema with text for partition columns whose values Spark makes names of."""
        for at in self._named_as_text(typed):
            schema = schema.set(at, schema.field(at).with_type(pa.string()))
        return schema

    def _in_log(self, beside: _Beside) -> pa.Schema:
        """As :meth:`_in_folders`, with dates as dates: Spark names them as orcish does."""
        named = self._in_folders(beside.schema, beside.typed)
        for at, field in enumerate(beside.schema):
            if pa.types.is_date32(field.type):
                named = named.set(at, field)
        return named

    def _logged(self, beside: _Beside) -> tuple[object, str | None]:
        """The schema in the log, and the time zone of the writer, as the native core takes them."""
        timezone = self.options.file.get("timezone") or self.options.timezone
        return schema_for_native(self._in_log(beside)), timezone

    def _write(self, existing_data: ExistingData) -> _native.RowWrite:
        name = self._partition_option()
        setting = f"{name}={{}}" if self.options.are_keywords else ".option(\"partitionBy\", '{}')"
        return _native.RowWrite(
            self.job,
            existing_data,
            self.options.partition_by,
            arrow_schema=self.options.file.get("arrow_schema", False) is not False,
            option=(name, setting),
            text_zone=self.options.session_timezone,
            replaces_carbon=self.replaces_carbon,
        )

    def _partition_option(self) -> str:
        """What messages call the partition columns."""
        return "partition_by" if self.options.are_keywords else "partitionBy"


def mark_success(job: Job) -> None:
    """Writes the file by which jobs of Hadoop know that a table is there. The commit does not depend on it."""
    with contextlib.suppress(OSError):
        job.folder().write(SUCCESS, b"", existing_data="overwrite")
