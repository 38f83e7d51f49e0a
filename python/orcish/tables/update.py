"""Writing of rows to a table: what stays of it, how the rows fit to that, and the commit."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Sequence
from typing import Any, NamedTuple

import pyarrow as pa

from orcish.errors import CommitError
from orcish.tables.appending import ExistingTable, check_partitions, existing_table
from orcish.tables.commit import Job, Staged
from orcish.types import ExistingData

__all__ = ["TableState", "Update"]


class TableState(NamedTuple):
    """A table before rows are written to it."""

    position: int
    """The position of the log."""
    names: list[str]
    """The files below the folder that is written to, by their paths in the table."""
    existing: ExistingTable | None
    """The files that stay; ``None`` if there are none."""


@dataclasses.dataclass(frozen=True)
class Update:
    """What a job does to the files of a table."""

    job: Job
    existing_data: ExistingData
    partition_by: tuple[str, ...]
    """The partition columns of the rows, without those of the folder that is written to."""
    option: str = "partition_by"
    """What messages call the partition columns."""

    def check_columns(self, names: Sequence[str]) -> None:
        """Checks the columns of the rows, partition columns included.

        Raises:
            ValueError: A column is one of the folder that is written to, whose value would replace those of the rows.
        """
        for name in self.job.partition_columns:
            if name.lower() in (each.lower() for each in names):
                raise ValueError(
                    f"{self.job.base}: column {name!r} of the rows is a partition column of the path: leave it out, or "
                    f"write to {self.job.root} with {self.option}"
                )

    def state(self) -> TableState:
        """Looks at the table. A commit of another job that has died is finished before.

        Raises:
            CommitError: That commit cannot be finished.
            ValueError: The table has other partition columns.
        """
        inside = self.job.inside
        position, names = self.job.prepare("" if self._has_others() else inside)
        below = [name for name in names if not inside or name.startswith(f"{inside}/")]
        if self.existing_data == "error" and below:
            # The job ends here.
            return TableState(position, below, None)
        replaced = set(below) if self.existing_data == "overwrite" else set()
        kept = [name for name in names if name not in replaced]
        columns = [*self.job.partition_columns, *self.partition_by]
        if kept:
            check_partitions(self.job.root, kept[0], columns, self.option)
        return TableState(position, below, existing_table(self.job, kept))

    def commit(
        self, staged: Sequence[Staged], schema: pa.Schema, position: int, *, stream: tuple[str, int] | None = None
    ) -> None:
        """Commits the files.

        Args:
            staged: The files.
            schema: The schema with which they were written.
            position: The position of the log of the state for which they were written.
            stream: Id of a stream and number of its batch.

        Raises:
            CommitError: The table has changed, and the rows do not fit to it any more.
            FileExistsError: The folder has files, with ``existing_data="error"``.
            OSError, OrcishError, ValueError: As in :meth:`orcish.tables.commit.Job.commit`.
        """
        removed: dict[str, Any] = {"is_new": self.existing_data == "error"}
        if self.existing_data == "overwrite_partitions":
            removed = {"partitions": {file.target.rpartition("/")[0] for file in staged}}
        elif self.existing_data == "overwrite":
            removed = {"everything": True}
        elif self.existing_data == "append" and not staged:
            return
        self.job.commit(
            staged,
            "overwrite" if self.existing_data.startswith("overwrite") else "append",
            stream=stream,
            position=position if self._has_others() else None,
            check=functools.partial(self._check_again, schema),
            **removed,
        )

    def _has_others(self) -> bool:
        """Whether other files may stay in the table."""
        return self.existing_data != "overwrite" or bool(self.job.inside)

    def _check_again(self, schema: pa.Schema) -> None:
        try:
            existing = self.state().existing
            fits = existing is None or existing.appended_schema(schema) == schema
        except ValueError as error:
            raise CommitError(f"the table has changed while the rows were written: {error}") from error
        if not fits:
            raise CommitError(f"{self.job.base}: the types of the table have changed while the rows were written")
