"""Commits that replace files by files of the same rows, or of some of them: the columns and types of the table stay.

The log of a table has its schema. A folder without a log has the columns of its first file, and the partition types
that its folders show, so that files that go away may take columns and types with them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

import pyarrow as pa

from orcish import _native
from orcish.arrow.nested import has_nulls
from orcish.tables.appending import ExistingTable, existing_table, has_columns, schema_with
from orcish.tables.commit import Job, Staged, TableView
from orcish.tables.folder import FileInfo
from orcish.tables.log.schema import TableSchema
from orcish.tables.partition_values import inferred_fields, untyped_columns

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
    """Commits the replacement of files. Readers find the columns and types that they have found before.

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
    commit = _Replacement(job, replaced)
    # The log has the schema from then on.
    view = job.prepare("") if schema is None or untyped_columns(schema) else None
    removed = {name for each in replaced for name in each.names}
    job.commit(
        [each.staged for each in replaced if each.staged is not None],
        operation,
        existing=[file for file in files if file.name in removed],
        position=None if view is None else view.position,
        schema=None if view is None else commit.schema(view),
        check=lambda: commit.schema(job.prepare("")),
    )


@dataclasses.dataclass(frozen=True)
class _Replacement:
    """What a commit replaces."""

    job: Job
    replaced: Sequence[Replaced]

    def schema(self, view: TableView) -> TableSchema | None:
        """The schema that the log gets; ``None`` if readers find the same columns and types without it.

        Args:
            view: The table before the commit.

        Raises:
            CommitError: A commit of another job has removed a file meanwhile.
        """
        with self.job.reading(view.names):
            return self._schema(view)

    def _schema(self, view: TableView) -> TableSchema | None:
        root, before = self.job.root, view.names
        removed = {name for each in self.replaced for name in each.names}
        sources = {each.staged.target: each.names for each in self.replaced if each.staged is not None}
        after = sorted([*(name for name in before if name not in removed), *sources])
        if view.schema is not None and not untyped_columns(view.schema):
            return None
        is_same = inferred_fields(root, before) == inferred_fields(root, after)
        if view.schema is None:
            is_same = is_same and self._has_same_columns(before, after, sources)
        return None if is_same else self._schema_of(before, view.schema)

    def _has_same_columns(self, before: Sequence[str], after: Sequence[str], sources: Mapping[str, list[str]]) -> bool:
        """Whether the first file has the columns of the one that was first, with which readers of a folder begin."""
        old = self._first(before, {})
        new = self._first(after, sources)
        if self._has_nulls(old):
            # Other files give them a type.
            return False
        # A file in the place of several has the columns of all of them.
        if set(old) <= set(new):
            return True
        tables = [self._table(names, None, before) for names in (old, new)]
        return len({(table.schema, table.has_arrow_schema) if table else None for table in tables}) == 1

    def _has_nulls(self, names: Sequence[str]) -> bool:
        """Whether the table that some files make has columns of type ``null``, nested ones included."""
        table = self._table(names, None, names)
        return table is not None and has_nulls(table.schema)

    def _first(self, names: Sequence[str], sources: Mapping[str, list[str]]) -> list[str]:
        """The first of some files that has columns, or the files that it replaces."""
        for name in names:
            found = list(sources.get(name, [name]))
            if has_columns(self.job, found):
                return found
        return []

    def _table(self, names: Sequence[str], schema: TableSchema | None, visible: Sequence[str]) -> ExistingTable | None:
        """The table that some files make; ``None`` if they have no common schema."""
        try:
            return existing_table(self.job, names, schema, visible)
        except ValueError:
            return None

    def _schema_of(self, names: Sequence[str], schema: TableSchema | None) -> TableSchema | None:
        """The schema of the table that files make, or of the first one where they have no common schema."""
        existing = self._table(names, schema, names) or self._table(self._first(names, {}), schema, names)
        if existing is None:
            return None
        root = self.job.root
        partition = [name for name, _ in _native.partitions_below(root, f"{root}/{names[0]}")]
        own = partition if schema is None else schema.partition
        return schema_with(existing, pa.schema([]), own, arrow_schema=False)
