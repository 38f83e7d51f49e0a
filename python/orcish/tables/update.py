"""Writing of rows to a table: the files that stay, the columns that the rows have to match, and the commit."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import json
from collections.abc import Callable, Collection, Sequence
from typing import Any, NamedTuple

import pyarrow as pa

from orcish import _native
from orcish._native import Location
from orcish.arrow.exported import schema_for_native
from orcish.errors import CommitError, UnsupportedError
from orcish.io.names import display_name
from orcish.tables.columns import columns_of, schema_with
from orcish.tables.commit import Job, Staged, is_in_partition
from orcish.tables.log.schema import TableSchema
from orcish.terminal import printable
from orcish.types import ExistingData

__all__ = ["TableState", "Update", "data_exists", "has_carbon_data"]

MAX_SHOWN = 500
"""Most characters of names of columns in a message."""


def data_exists(target: str, *, has_files: bool = True) -> FileExistsError:
    """The error of a write that adds to no table, given a path or URL that is one."""
    found = "has data already" if has_files else "is a table already, without rows"
    return FileExistsError(
        f"{target} {found}; existing_data='append' adds to it, 'overwrite' replaces it, and 'overwrite_partitions' "
        "replaces the partitions of the new rows"
    )


def has_carbon_data(target: str) -> UnsupportedError:
    """The error of a write to a folder with files of CarbonData."""
    return UnsupportedError(f"{target} has data of CarbonData, which is only read: write ORC into another folder")


class TableState(NamedTuple):
    """A table before rows are written to it."""

    position: int
    """The position of the log."""
    names: list[str]
    """The files below the folder that is written to, by their paths in the table."""
    existing: _native.TableColumns | None
    """The columns that the rows have to match; ``None`` if the table has none, or if all columns are replaced."""
    exists: bool
    """Whether the folder that is written to has files, or is that of a table without rows."""


@dataclasses.dataclass(frozen=True)
class Update:
    """What a job does to the files of a table."""

    job: Job
    existing_data: ExistingData
    partition_by: tuple[str, ...]
    """The partition columns of the rows, without those of the folder that is written to."""
    arrow_schema: bool
    """Whether the files of the rows have an Arrow schema."""
    option: str = "partition_by"
    """What messages call the partition columns."""
    zone: str | None = None
    """Time zone of instants that folders show without an offset, where the table has no type for them. ``None`` if such
    texts are no instants."""
    timezone: str | None = None
    """Time zone of the writer of the rows."""
    replaces_carbon: bool = False
    """Whether the rows are those of the files of CarbonData that are in the folder, which they replace."""

    def check_columns(self, names: Sequence[str]) -> None:
        """Checks the columns of the rows, partition columns included.

        Raises:
            ValueError: A column is one of the folder that is written to, whose value would replace those of the rows,
                or the name of a column differs from that of a partition column only by case.
        """
        for name in self.job.partition_columns:
            if name.lower() in (each.lower() for each in names):
                raise ValueError(
                    f"{self.job.base}: column {name!r} of the rows is a partition column of the path: leave it out, or "
                    f"write to {self.job.root} with {self.option}"
                )
        partition = {name.lower(): name for name in self.partition_by}
        for name in names:
            other = partition.get(name.lower(), name)
            if other != name:
                raise ValueError(
                    f"column {name!r} and partition column {other!r} differ only by case: rename one of them"
                )

    def check_partitioned(self) -> None:
        """Checks that rows that overwrite partitions have partition columns.

        Raises:
            CommitError: A commit of another job cannot be finished.
            ValueError: They have none; the message has those of the table.
        """
        if self.existing_data != "overwrite_partitions" or self.partition_by:
            return
        missing = self.missing_partition_columns()
        option = self._partition_option(missing) if missing else self.option
        advice = "" if missing else ", and 'overwrite' replaces the whole folder"
        raise ValueError(f"existing_data='overwrite_partitions' needs {option}{advice}")

    def state(self) -> TableState:
        """Looks at the table. A commit of another job that has died is finished before.

        Raises:
            CommitError: That commit cannot be finished, or another one has removed a file meanwhile.
            UnsupportedError: The folder has data of CarbonData.
            ValueError: The table has other partition columns, or the folder is a partition of no table.
        """
        inside = self.job.inside
        position, names, schema = self.job.prepare("" if self._has_others() else inside)
        if inside and not names and schema is None:
            raise ValueError(self._no_table())
        below = [name for name in names if not inside or name.startswith(f"{inside}/")]
        if not self.replaces_carbon and any(Location(name).is_carbon_file for name in below):
            raise has_carbon_data(self.job.base)
        exists = bool(below) or (schema is not None and not inside)
        if self.existing_data == "error" and exists:
            # The job ends here.
            return TableState(position, below, None, exists)
        replaced = set(below) if self.existing_data == "overwrite" else set()
        kept = [name for name in names if name not in replaced]
        if not kept and not inside and self.existing_data in ("error", "overwrite"):
            return TableState(position, below, None, exists)
        own = self._columns_of_table(schema, kept)
        if own is not None:
            self._check_partitions(own, "" if schema is not None else _first_in_partition(kept))
        with self.job.reading(names):
            return TableState(position, below, self._existing(kept, names, schema), exists)

    def _existing(self, kept: list[str], names: list[str], schema: TableSchema | None) -> _native.TableColumns | None:
        """The columns of the table. Those of the files of a partition that is replaced stay, unless their types
        contradict those of the other files.
        """
        if schema is None and 0 < len(kept) < len(names):
            with contextlib.suppress(ValueError):
                return columns_of(self.job, names, schema, names)
        return columns_of(self.job, kept, schema, names)

    def missing_partition_columns(self) -> list[str]:
        """The partition columns of the table that the rows do not have. A commit of another job that has died is
        finished before.

        Raises:
            CommitError: That commit cannot be finished.
        """
        _, names, schema = self.job.prepare("")
        known = self._partition_columns()
        return [name for name in self._columns_of_table(schema, names) or () if name not in known]

    def schema_with(self, existing: _native.TableColumns | None, rows: pa.Schema) -> TableSchema:
        """The schema of the table after the commit of rows that are written with a schema."""
        columns = self._partition_columns()
        return schema_with(existing, rows, columns, arrow_schema=self.arrow_schema, timezone=self.timezone)

    def commit(
        self,
        staged: Sequence[Staged],
        rows: pa.Schema,
        position: int,
        schema: TableSchema,
        *,
        is_new: bool,
        fits: Callable[[_native.TableColumns | None], bool],
        types: pa.Schema | None = None,
        stream: tuple[str, int] | None = None,
    ) -> None:
        """Commits the files.

        Args:
            staged: The files.
            rows: The schema with which they were written.
            position: The position of the log of the state for which they were written.
            schema: The schema of the table after the commit, for that state.
            is_new: Whether the table has no columns before the commit. A commit without rows makes it then.
            fits: Whether the rows would be written in the same way beside the columns that the table has meanwhile.
            types: The types of the values of partition columns, if ``rows`` has their texts.
            stream: Id of a stream and number of its batch.

        Raises:
            CommitError: The table has changed, and the rows do not match it any more.
            FileExistsError: The folder has files, or is that of a table, with ``existing_data="error"``.
            ValueError: A value of a partition column does not have the type of the table.
            OSError, OrcishError, ValueError: As in :meth:`orcish.tables.commit.Job.commit`.
        """
        removed: dict[str, Any] = {"is_new": self.existing_data == "error"}
        if self.existing_data in ("append", "overwrite_partitions") and not staged and not is_new:
            return
        if self.existing_data == "overwrite_partitions":
            targets = [file.target for file in staged]
            own_types = rows if types is None else types
            # Folders may have come since the table was looked at, and the table may have other types.
            removed = {"partitions": lambda now: self._equal_folders(targets, own_types, now)}
        elif self.existing_data == "overwrite":
            removed = {"everything": True}
        self._check_partition_values(staged, schema)
        try:
            self.job.commit(
                staged,
                "overwrite" if self.existing_data.startswith("overwrite") else "append",
                stream=stream,
                position=position if self._has_others() else None,
                schema=schema,
                check=functools.partial(self._check_again, staged, rows, fits),
                **removed,
            )
        except FileExistsError:
            if self.existing_data == "error":
                raise data_exists(self.job.base) from None
            raise

    def _no_table(self) -> str:
        """Why rows are not written to a folder of a partition, if there is no table of it."""
        base, root = display_name(self.job.base), display_name(self.job.root)
        columns = printable(str(self._partition_columns()))
        return (
            f"{base}: a folder with '=' in its name is a partition of the table above it, and there is no table in "
            f"{root}: write the rows there, with {self.option}={columns}, or choose a name without '='"
        )

    def _check_partition_values(self, staged: Sequence[Staged], schema: TableSchema) -> None:
        """Raises ValueError if a partition value of a file does not have the type of the table."""
        if schema.partition:
            _native.check_partition_values(self.job.root, [file.target for file in staged], schema)

    def _equal_folders(self, targets: Sequence[str], rows: pa.Schema, schema: TableSchema) -> Collection[str]:
        """The folders of the partitions of new files, whatever the spelling of their values: values are equal in the
        types of the table. Texts of a table that has text are compared as values of the rows.
        """
        names = self.job.prepare("").names
        types = schema_for_native(rows)
        return _native.equal_folders(self.job.root, names, targets, schema, types, self.zone)

    def _has_others(self) -> bool:
        """Whether other files may stay in the table."""
        return self.existing_data != "overwrite" or bool(self.job.inside)

    def _check_partitions(self, own: Sequence[str], file: str) -> None:
        """Checks that rows are partitioned as the table is, which could not be read any more.

        Args:
            own: The partition columns of the table.
            file: The file that they are those of, by its path in the table; empty if they are in its log.
        """
        columns = self._partition_columns()
        if columns == list(own):
            return
        if [name.lower() for name in columns] == [name.lower() for name in own]:
            name, other = next(pair for pair in zip(own, columns, strict=True) if pair[0] != pair[1])
            raise ValueError(
                f"{self.job.root}: partition column {printable(other)} of the rows and {printable(name)} of the table "
                "differ only by case: rename the column of the rows"
            )
        existing, given = (printable(", ".join(each)[:MAX_SHOWN]) or "none" for each in (own, columns))
        found, example = ("has files", f"; such a file is {printable(file)}") if file else ("is a table", "")
        raise ValueError(
            f"{self.job.root} {found} whose partition columns are: {existing}; {self.option} is: {given}{example}"
            f"{self._partition_advice(own)}"
        )

    def _partition_advice(self, own: Sequence[str]) -> str:
        """How rows are partitioned as the table is; empty where the folder that is written to is no partition of it."""
        above = self.job.partition_columns
        if list(own[: len(above)]) != above:
            return ""
        if len(own) == len(above):
            return f": leave {self.option} out"
        return f": partition the rows likewise, with {self._partition_option(own[len(above) :])}"

    def _partition_option(self, names: Sequence[str]) -> str:
        """The option with some partition columns, as users write it."""
        listed = printable(json.dumps(list(names), ensure_ascii=False)[:MAX_SHOWN])
        if self.option != "partitionBy":
            return f"{self.option}={listed}"
        plain = printable(",".join(names)[:MAX_SHOWN])
        needs_json = any("," in name or '"' in name for name in names)
        return f".option(\"partitionBy\", '{listed}')" if needs_json else f'.option("partitionBy", "{plain}")'

    def _columns_of_table(self, schema: TableSchema | None, names: Sequence[str]) -> list[str] | None:
        """The partition columns of the table, by the schema in its log or its files; ``None`` if it has neither."""
        if schema is not None:
            return list(schema.partition)
        if not names:
            return None
        first = f"{self.job.root}/{_first_in_partition(names)}"
        return [column for column, _ in _native.partitions_below(self.job.root, first)]

    def _partition_columns(self) -> list[str]:
        return [*self.job.partition_columns, *self.partition_by]

    def _check_again(
        self, staged: Sequence[Staged], rows: pa.Schema, fits: Callable[[_native.TableColumns | None], bool]
    ) -> TableSchema:
        try:
            state = self.state()
            if self.existing_data == "error" and state.exists:
                raise FileExistsError(self.job.base)
            if not fits(state.existing):
                raise CommitError(
                    f"{self.job.base}: the types or the time zone of the table have changed while the rows were "
                    "written: write them again"
                )
            schema = self.schema_with(state.existing, rows)
            self._check_partition_values(staged, schema)
        except ValueError as error:
            raise CommitError(f"the table has changed while the rows were written: {error}") from error
        return schema


def _first_in_partition(names: Sequence[str]) -> str:
    """The first file in the folder of the table or of a partition, or the first file."""
    return next(filter(is_in_partition, names), names[0])
