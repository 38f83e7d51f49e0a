"""Writes of Ray Data to tables."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import pyarrow as pa

from orcish._native import StagedFile
from orcish.tables.target import DatasetTarget

try:
    from ray.data import Dataset, Datasink
    from ray.data.block import BlockAccessor
except ImportError as error:
    raise ImportError(f"orcish.ray needs Ray Data: pip install 'ray[data]' ({error})") from error

__all__ = ["OrcDatasink", "check_dataset", "schema_of"]

TASK_MEMORY = 512 << 20
"""Maximum bytes that the open files of a task hold in memory."""


class WrittenByTask(NamedTuple):
    """The files of one attempt of a task."""

    files: list[StagedFile]


class OrcDatasink(Datasink):  # type: ignore[misc]
    """Writes a table: tasks write unpublished files, and the driver commits those of one attempt of each task.

    Args:
        target: The table and the schema of the rows.
        max_rows_per_file: Maximum rows of a file.
        max_partitions: Maximum number of partitions of a task.
        staged: Receives the files before they are committed. The caller removes them after an exception.
    """

    def __init__(
        self, target: DatasetTarget, max_rows_per_file: int | None, max_partitions: int, staged: list[StagedFile]
    ) -> None:
        self._target = target
        self._max_rows_per_file = max_rows_per_file
        self._max_partitions = max_partitions
        self._staged = staged

    def get_name(self) -> str:
        """What Ray calls the sink."""
        return "Orcish"

    def write(self, blocks: Iterable[Any], ctx: Any) -> WrittenByTask:
        """Writes the rows of a task. Without rows there is no file.

        Args:
            blocks: The rows.
            ctx: The task of Ray.

        Raises:
            OSError, OrcishError, ValueError: As in :func:`orcish.write_dataset`.
        """
        table = self._target.writer(
            f"part-{ctx.task_idx:05d}-{uuid.uuid4()}-{{i}}.orc",
            max_rows_per_file=self._max_rows_per_file,
            max_partitions=self._max_partitions,
            max_memory=TASK_MEMORY,
        )
        with table:
            for block in blocks:
                for batch in self._rows(BlockAccessor.for_block(block).to_arrow()):
                    table.write(self._target.cast(batch))
        return WrittenByTask(table.staged)

    def on_write_complete(self, write_result: Any) -> None:
        """Publishes the files of all tasks.

        Args:
            write_result: The results of the tasks.

        Raises:
            OSError, OrcishError, ValueError: As in :func:`orcish.write_dataset`.
        """
        self._staged += [file for written in write_result.write_returns for file in written.files]
        if not self._staged and self._target.needs_file:
            with self._target.writer(f"part-{uuid.uuid4()}-{{i}}.orc") as table:
                table.begin()
            self._staged += table.staged
        self._target.commit(self._staged)

    def _rows(self, table: pa.Table) -> Iterator[pa.RecordBatch]:
        """The rows of a block, with the columns in the order of the schema.

        Raises:
            ValueError: The block has other columns.
        """
        names = self._target.schema.names
        # Blocks without rows may have no columns.
        if table.num_rows and sorted(table.column_names) != sorted(names):
            raise ValueError(
                f"a block has the columns {', '.join(table.column_names)}, and the dataset {', '.join(names)}: give "
                "all blocks the same columns"
            )
        if table.num_rows:
            yield from table.select(names).to_batches()


def check_dataset(dataset: Any) -> None:
    """Raises TypeError for what is no dataset of Ray."""
    if not isinstance(dataset, Dataset):
        raise TypeError(f"dataset: must be a dataset of Ray Data, not {type(dataset).__name__}")


def schema_of(dataset: Any) -> pa.Schema:
    """The schema of a dataset of Ray, whose first block is computed where nothing else has it.

    Raises:
        ValueError: The dataset has no schema, or columns without a type of Arrow.
    """
    found = dataset.schema()
    if found is None:
        raise ValueError("the dataset has no rows and thus no schema: give the argument schema")
    for name, kind in zip(found.names, found.types, strict=True):
        if not isinstance(kind, pa.DataType):
            raise ValueError(f"column {name} of the dataset has no type of Arrow, but {kind}: give the argument schema")
    if isinstance(found.base_schema, pa.Schema):
        return found.base_schema
    return pa.schema(list(zip(found.names, found.types, strict=True)))
