"""What the tasks of a job write, and how it becomes files of a table."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence

import pyarrow as pa
from pyspark.sql.types import ArrayType, DataType, MapType, StructType, TimestampType

from orcish.errors import CorruptFileError
from orcish.io.paths import is_hidden
from orcish.reading.file import ORCFile
from orcish.spark.options import WriterOptions
from orcish.spark.session import task_cpus
from orcish.spark.table.batches import StorageConverter
from orcish.spark.types.arrow import stored_schema
from orcish.spark.types.partition_names import check_partition_type, is_named_as_text, partition_names
from orcish.spark.types.timezones import java_zone
from orcish.tables.columns import same_name
from orcish.tables.commit import Job, Staged
from orcish.tables.folder import FileInfo
from orcish.writing.dataset import TableWriter, file_suffix
from orcish.writing.timestamps import timestamp_types, with_stored_types

__all__ = ["TableTarget"]

TASK_MEMORY = 512 << 20
"""Most bytes that the files which a task writes may hold together."""


@dataclasses.dataclass(frozen=True)
class TableTarget:
    """Where, and how, the tasks of a job write rows of one schema."""

    job: Job
    options: WriterOptions
    schema: StructType
    instant_types: tuple[tuple[str, str], ...] = ()
    """Columns of the table that is there, by their dotted names, and as which of ORC's types it has instants."""

    def __post_init__(self) -> None:
        by = [self._column(name) for name in self.options.partition_by]
        # The columns as they are called here, whatever case they were given in.
        object.__setattr__(self, "options", dataclasses.replace(self.options, partition_by=tuple(by)))
        twice = [name for name in self.options.partition_by if self.options.partition_by.count(name) > 1]
        if twice:
            raise ValueError(f"partitionBy: column {twice[0]!r} is there twice")
        if len(self.options.partition_by) == len(self.schema.names):
            raise ValueError("partitionBy: one column at least is left for the files")
        # What cannot be stored, or name a folder, is known before a task runs.
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
        """Writes the rows of a task below the job's folder. No rows make no file, but those of the first task, whose
        file has the columns of the table.

        Args:
            batches: The rows, as Spark gives them.
            task: Number of the task, for the names of its files.
            begins: Whether a table begins with these rows, of which there is a file in any case.
        """
        folder = self.job.folder()
        attempt = self.job.attempt()
        stored = StorageConverter(with_stored_types(stored_schema(self.schema), [dict(self.instant_types)]))
        named = [
            at
            for at, field in enumerate(self.schema)
            if field.name in self.options.partition_by and is_named_as_text(field.dataType)
        ]
        schema = stored.schema
        for at in named:
            schema = schema.set(at, schema.field(at).with_type(pa.string()))
        table = TableWriter(
            folder.base,
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
                rows = stored.of(batch)
                for at in named:
                    kind = self.schema[at].dataType
                    texts = partition_names(batch.column(at), kind, self.options.session_timezone)
                    rows = rows.set_column(at, schema.field(at), texts)
                table.write(rows)
            if begins and task == 0 and not self.options.partition_by:
                table.begin()
        start = len(folder.base) + 1
        return [Staged(file.path[start:], file.rows, file.bytes, table.tokens[file.path]) for file in table.finished]

    def with_table_timestamps(self) -> TableTarget:
        """The same, with instants stored as the table has them, if it has files."""
        folder = self.job.folder()
        for file in folder.files():
            # Those of no bytes, as Hive writes them, have no columns.
            if not is_hidden(file.name) and file.size:
                try:
                    there = ORCFile(folder.location(file.name), storage_options=folder.storage_options)
                except (CorruptFileError, FileNotFoundError):
                    # It is no file of ORC, or somebody has just removed it, which is none of our business here.
                    continue
                own = {
                    same_name(path, self.options.case_sensitive): kind for path, kind in timestamp_types(there).items()
                }
                named = _instants(self.schema, "")
                instant_types = ((path, own.get(same_name(path, self.options.case_sensitive))) for path in named)
                return dataclasses.replace(
                    self, instant_types=tuple((path, kind) for path, kind in instant_types if kind is not None)
                )
        return self

    def check_folders(self) -> None:
        """Whether the files that the table has are in folders of the same columns.

        Raises:
            ValueError: They are not: the table could not be read any more.
        """
        for file in self.job.folder().files():
            if not is_hidden(file.name):
                columns = [segment.partition("=")[0] for segment in file.name.split("/")[:-1] if "=" in segment]
                if columns != list(self.options.partition_by):
                    there, own = (", ".join(names) or "none" for names in (columns, self.options.partition_by))
                    raise ValueError(
                        f"{self.job.base} has files whose partition columns are: {there}; partitionBy is: {own}"
                    )
                return

    def commit(self, files: Sequence[Staged], *, overwrite: bool, stream: tuple[str, int] | None = None) -> None:
        """Makes the files those of the table, with what it has or, with `overwrite`, in place of it."""
        written = None
        if self.options.partition_overwrite == "dynamic" and self.options.partition_by:
            written = {file.target.rpartition("/")[0] for file in files}

        def replaced(there: list[FileInfo]) -> list[str]:
            names = [file.name for file in there if not is_hidden(file.name)]
            return [name for name in names if written is None or name.rpartition("/")[0] in written]

        self.job.commit(files, replaced if overwrite else None, stream=stream)


def _instants(schema: StructType, above: str) -> Iterator[str]:
    """Dotted names of the columns of instants."""
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
