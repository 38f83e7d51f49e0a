"""Scans as data sources of Ray Data."""

from __future__ import annotations

import copy
import functools
import inspect
import pickle
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa

from orcish.datasets.dataset import ScanDataset
from orcish.errors import OrcishError
from orcish.hints import unknown_column
from orcish.reading.orc_files import OrcFiles
from orcish.reading.scan import WHOLE_FILE, Scan, Split, reader_of
from orcish.reading.split_groups import group_splits

try:
    import ray
    from ray.data import Datasource, read_datasource
    from ray.data.block import BlockAccessor, BlockMetadata
    from ray.data.datasource import ReadTask
except ImportError as error:
    raise ImportError(f"orcish.ray needs Ray Data: pip install 'ray[data]' ({error})") from error

__all__ = ["OrcDatasource", "read_source"]

_OLDEST = (2, 56)
"""The first version of Ray whose hooks for columns and filters are those that are used here."""

if tuple(map(int, ray.__version__.split(".")[:2])) < _OLDEST:
    raise ImportError(f"orcish.ray needs Ray {'.'.join(map(str, _OLDEST))} or later, not {ray.__version__}")


def read_source(source: OrcDatasource, options: Mapping[str, Any]) -> Any:
    """The dataset of a data source.

    Args:
        source: The data source.
        options: Keywords of :func:`ray.data.read_datasource`.

    Raises:
        TypeError: There is no such keyword.
    """
    # Ray ignores other keywords.
    kinds = {name: each.kind for name, each in inspect.signature(read_datasource).parameters.items()}
    for name in options:
        if kinds.get(name) is not inspect.Parameter.KEYWORD_ONLY:
            raise TypeError(f"ray_options: ray.data.read_datasource has no option {name!r}")
    return read_datasource(source, **options)


class OrcDatasource(Datasource):  # type: ignore[misc]
    """A scan as a data source of Ray Data, for :func:`ray.data.read_datasource`.

    Args:
        scan: The scan, without a limit.

    Raises:
        UnknownColumnError: The table does not have a column.
        TypeError: The scan cannot be pickled, or its filter is about all rows at once.
        ValueError: An option has a wrong value, or the filter does not fit the types of the columns.
    """

    def __init__(self, scan: Scan) -> None:
        super().__init__()
        self._scan = scan
        self._columns: list[str] | None = None
        # Raises the error of a column that cannot be read.
        reader_of(scan).check()
        _check_pickle(scan)
        # Raises the error of a filter that has no splits.
        _ = self._splits

    def get_name(self) -> str:
        """What Ray calls the data source."""
        return "Orcish"

    def get_read_tasks(
        self,
        parallelism: int,
        per_task_row_limit: int | None = None,
        data_context: Any = None,  # noqa: ARG002
    ) -> list[ReadTask]:
        """Tasks that read groups of splits, each with what is known of its rows.

        Args:
            parallelism: The number of tasks, as far as there are as many stripes.
            per_task_row_limit: Maximum rows of a task.
            data_context: Settings of Ray, which change nothing here.
        """
        tasks, schema, splits = max(parallelism, 1), self._schema, self._splits
        if len(splits) < tasks:
            splits = self._scan.splits(max(sum(split.size for split in splits) // tasks, 1))
        # A task without rows has the schema of a dataset without rows.
        groups: list[list[Split]] = group_splits(splits, WHOLE_FILE, tasks) or [[]]
        return [
            ReadTask(
                _reader(group, self._columns, per_task_row_limit),
                BlockMetadata(
                    num_rows=self._row_count(group),
                    size_bytes=_memory(group, schema),
                    exec_stats=None,
                    input_files=tuple(dict.fromkeys(split.location for split in group)),
                ),
                schema=schema,
                per_task_row_limit=per_task_row_limit,
            )
            for group in groups
        ]

    def estimate_inmemory_data_size(self) -> int:
        """Bytes of all rows in memory, about: those of columns of fixed width are exact, and the others have their
        stored size, of all columns.
        """
        return _memory(self._splits, self._schema)

    def supports_projection_pushdown(self) -> bool:
        """Whether the columns of queries are pushed down: true."""
        return True

    def get_projection_map(self) -> dict[str, str] | None:
        """The columns that are read, each by its own name; ``None`` for all."""
        return None if self._columns is None else {name: name for name in self._columns}

    def apply_projection(self, projection_map: dict[str, str] | None) -> OrcDatasource:
        """The data source with some columns.

        Args:
            projection_map: The columns, as keys; ``None`` for all.

        Raises:
            UnknownColumnError: There is no such column.
        """
        if projection_map is None:
            return self
        clone = copy.copy(self)
        known = self._schema.names
        for name in projection_map:
            if name not in known:
                raise unknown_column(name, known)
        clone._columns = list(projection_map)
        return clone

    def supports_predicate_pushdown(self) -> bool:
        """Whether the filters of queries are pushed down: true."""
        return True

    def apply_predicate(self, predicate_expr: Any) -> OrcDatasource:
        """The data source with a further filter; itself if Ray has to apply the filter, because orcish does not compare
        these types.

        Args:
            predicate_expr: An expression of Ray that has one of pyarrow.
        """
        try:
            filtered = self._scan.where(predicate_expr.to_pyarrow())
            reader_of(filtered).check()
        except (OrcishError, TypeError, ValueError):
            return self
        clone: OrcDatasource = super().apply_predicate(predicate_expr)
        clone._scan = filtered
        clone.__dict__.pop("_splits", None)
        return clone

    @functools.cached_property
    def _splits(self) -> list[Split]:
        return self._scan.splits()

    @property
    def _schema(self) -> pa.Schema:
        return ScanDataset(self._scan).scanner(self._columns).projected_schema

    def _row_count(self, splits: Sequence[Split]) -> int | None:
        """The number of rows, if metadata have it."""
        reader = reader_of(self._scan)
        # Splits of CarbonData have deleted rows.
        is_known = not splits or (isinstance(reader.source, OrcFiles) and reader.options.get("filters") is None)
        return sum(split.rows for split in splits) if is_known else None


def _reader(splits: Sequence[Split], columns: list[str] | None, limit: int | None) -> Callable[[], Iterator[pa.Table]]:
    """The function of a task."""

    # Ray shows the name of the function.
    def read_orc() -> Iterator[pa.Table]:
        return _blocks(splits, columns, limit)

    return read_orc


def _blocks(splits: Sequence[Split], columns: list[str] | None, limit: int | None) -> Iterator[pa.Table]:
    """The rows of splits, batch by batch."""
    for split in splits:
        # Ray ends the task after the limit; a split has no more rows than that.
        rows = split.scan() if limit is None else split.scan().limit(limit)
        for batch in ScanDataset(rows).to_batches(columns):
            yield _block(batch)


def _block(batch: pa.RecordBatch) -> pa.Table:
    """A batch as a block. Blocks without columns are made by Ray, which would lose the number of rows of a table."""
    if batch.num_columns:
        return pa.Table.from_batches([batch])
    return BlockAccessor.for_block(pa.table({"": pa.nulls(batch.num_rows)})).select([])


def _memory(splits: Sequence[Split], schema: pa.Schema) -> int:
    """Bytes of splits in memory, about."""
    rows, width, stored = sum(split.rows for split in splits), 0, 0
    for field in schema:
        try:
            width += field.type.bit_width
        except ValueError:
            # The type has no fixed width.
            stored = sum(split.size for split in splits)
    return rows * width // 8 + stored


def _check_pickle(scan: Scan) -> None:
    """Raises TypeError for scans that cannot be sent to workers."""
    try:
        pickle.dumps(scan)
    except (TypeError, AttributeError, pickle.PicklingError) as error:
        raise TypeError(f"the source cannot be sent to the workers of Ray: {error}: give a path or a URL") from error
