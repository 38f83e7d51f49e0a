"""Commits that replace files by files of the same rows, or of some of them: the columns and types of the table stay.

The log of a table has its schema. Without a log, all files and folders decide on the types, so that those that go away
would take types with them.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Literal, NamedTuple

import pyarrow as pa

from orcish import _native
from orcish.tables.columns import columns_of, schema_with
from orcish.tables.commit import Job, Staged
from orcish.tables.folder import FileInfo
from orcish.tables.log.schema import TableSchema

__all__ = ["Replaced", "replace_files"]


class Replaced(NamedTuple):
    """Files that a commit removes, and the file that has their rows."""

    names: list[str]
    """The files, by their paths in the table."""
    staged: Staged | None
    """The file in their place; ``None`` if no row is left."""


def replace_files(
    job: Job,
    operation: Literal["compact", "delete"],
    replaced: Sequence[Replaced],
    files: Sequence[FileInfo],
    schema: TableSchema | None,
) -> None:
    """Commits the replacement of files. Readers find the types that they have found before.

    Args:
        job: The job.
        operation: What the log calls the commit.
        replaced: The files.
        files: The files of the table as they were when the job was planned.
        schema: The schema of the table in its log at that time.

    Raises:
        CommitError: A file was changed or removed meanwhile; the table is unchanged.
        OSError, OrcishError, ValueError: As in :meth:`orcish.tables.commit.Job.commit`.
    """
    if not replaced:
        return
    # The log has the schema from then on.
    position, recorded = _recorded(job) if schema is None or _native.untyped_columns(schema) else (None, None)
    removed = {name for each in replaced for name in each.names}
    job.commit(
        [each.staged for each in replaced if each.staged is not None],
        operation,
        existing=[file for file in files if file.name in removed],
        position=position,
        schema=recorded,
        check=lambda: _recorded(job)[1],
    )


def _recorded(job: Job) -> tuple[int, TableSchema | None]:
    """The position of the log, and the schema that it gets, as with an append: the columns of all files, with the types
    that readers see. ``None`` if the log has it already, or if readers cannot read the files together.

    Raises:
        CommitError: A commit of another job has removed a file meanwhile.
    """
    position, names, schema = job.prepare("")
    if schema is not None and not _native.untyped_columns(schema):
        return position, None
    folders = [_native.partitions_below(job.root, f"{job.root}/{name}") for name in names]
    partition = {tuple(column for column, _ in folder) for folder in folders}
    if len(partition) != 1:
        return position, None
    with job.reading(names), contextlib.suppress(ValueError):
        columns = columns_of(job, names, schema, names, keeps_twins=True)
        if columns is not None:
            own = partition.pop() if schema is None else schema.partition
            return position, schema_with(columns, pa.schema([]), own, arrow_schema=False)
    return position, None
