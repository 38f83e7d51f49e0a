"""Tables as datasets of Ray Data, read and written, for Ray 2.56 and later.

::

    import orcish.ray

    orders = orcish.ray.read("orders/", filters=orcish.col("id") >= 90)
    assert orders.min("id") == 90
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from orcish._native import Location
from orcish.filters.pushdown import Filters
from orcish.io.filesystem import table_folder
from orcish.io.paths import absolute_source
from orcish.keywords import checked_keywords, chosen_options
from orcish.scanning import scan
from orcish.tables.target import DatasetTarget, without_new_folders
from orcish.types import (
    Columns,
    ExistingData,
    FileSystem,
    ScanOptions,
    Sources,
    StorageOptions,
    TableOptions,
    WriteOptions,
)
from orcish.writing.dataset import MAX_PARTITIONS

if TYPE_CHECKING:
    import ray.data
    from typing_extensions import Unpack

__all__ = ["read", "write"]


@checked_keywords
def read(
    source: Sources,
    *,
    override_num_blocks: int | None = None,
    concurrency: int | None = None,
    ray_options: Mapping[str, Any] | None = None,
    columns: Columns | None = None,
    batch_size: int | None = None,
    filters: Filters | None = None,
    limit: int | None = None,
    row_number: bool | str | None = None,
    threads: int | None = None,
    **options: Unpack[TableOptions],
) -> ray.data.Dataset:
    """A dataset of Ray Data over one file or many, whose read tasks are splits of the scan. The other arguments are
    those of :func:`orcish.scan`.

    Columns, filters and limits of a query are pushed down where Ray offers them to a data source: those of
    ``select_columns``, of ``filter(expr=...)`` and of ``limit``. Ray decides the number of read tasks. A task reads
    batch by batch, and decodes with one thread unless ``threads`` is given.

    Args:
        override_num_blocks: The number of read tasks, as far as the table has as many stripes.
        concurrency: Maximum number of read tasks that run at the same time.
        ray_options: Further keywords of :func:`ray.data.read_datasource`, such as ``memory``.

    Raises:
        FileNotFoundError: There is no file.
        UnknownColumnError: The table does not have a column.
        TypeError: The source cannot be read, or is a file object, which has no pickle; an option has the wrong type,
            there is no such option, or the filter is about all rows at once.
        ValueError: An option has a wrong value, the filter does not fit the types of the columns, or a ``limit`` is
            given.
    """
    chosen = chosen_options(locals(), ScanOptions)
    if limit is not None:
        raise ValueError(f"limit={limit}: tasks read independently; take limit() of the dataset")
    from orcish.ray.datasource import OrcDatasource, read_source

    # Workers have working directories of their own.
    given = scan(source if "filesystem" in chosen else absolute_source(source), **{"threads": 1, **chosen})
    of_ray = {"override_num_blocks": override_num_blocks, "concurrency": concurrency, **(ray_options or {})}
    return read_source(OrcDatasource(given), of_ray)


@checked_keywords
def write(
    dataset: ray.data.Dataset,
    target: str | os.PathLike[str],
    *,
    schema: pa.Schema | None = None,
    partition_by: Sequence[str] | None = None,
    max_rows_per_file: int | None = None,
    max_partitions: int = MAX_PARTITIONS,
    existing_data: ExistingData = "error",
    concurrency: int | None = None,
    storage_options: StorageOptions | None = None,
    filesystem: FileSystem | None = None,
    **options: Unpack[WriteOptions],
) -> None:
    """Writes a dataset of Ray Data into a table, in one commit. The other arguments are those of
    :func:`orcish.write_dataset`.

    Each task writes a file, or one for each partition. Readers see the files of all tasks, or none: after an error
    nothing has changed. Tasks that Ray repeats add no row twice. A task encodes with one thread unless ``threads`` is
    given.

    Args:
        dataset: The dataset.
        target: The folder, or a URL of an object store, which all nodes of the cluster see.
        schema: The types of the columns. By default, they are those of the dataset, whose first block is computed where
            nothing else has them. The values of all blocks have to be of these types.
        concurrency: Maximum number of tasks that run at the same time.

    Raises:
        FileExistsError: The folder has data already, or is that of a table without rows.
        UnknownColumnError: There is no such partition column.
        TypeError: The first argument is no dataset of Ray, an option has the wrong type, or there is no such option.
        ValueError: An option is wrong, a value cannot be stored, blocks have different columns, the dataset has no
            schema, or the rows do not match the table.
        CommitError: Another commit is not finished, and cannot be; see :func:`orcish.recover`.
        UnfinishedCommitError: The commit is decided and not finished, or it is not known whether it is decided.
        OSError: A file cannot be written.
    """
    chosen = chosen_options(options, WriteOptions)
    from orcish.ray.datasink import OrcDatasink, check_dataset, schema_of

    check_dataset(dataset)
    folder = Location(table_folder(target, filesystem, storage_options)).absolute()
    if schema is not None and not isinstance(schema, pa.Schema):
        raise TypeError(f"schema={schema!r}: must be a schema of pyarrow, not {type(schema).__name__}")
    rows = schema_of(dataset) if schema is None else schema
    table = DatasetTarget.of(folder, rows, partition_by or (), existing_data, storage_options, {"threads": 1, **chosen})
    with without_new_folders(table.job), table.job.cleaned_up() as staged:
        dataset.write_datasink(OrcDatasink(table, max_rows_per_file, max_partitions, staged), concurrency=concurrency)
