"""Tables whose rows are written anew in their place: in another order, with other columns, or fewer of them."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Sequence
from typing import Any

from orcish._native import Location, is_hidden
from orcish.errors import CommitError
from orcish.io.names import display_name
from orcish.progress import reported
from orcish.reading.orc_files import OrcFiles
from orcish.reading.reader import BatchSource, row_count_of, rows_of
from orcish.reading.scan import Scan, reader_of
from orcish.tables.commit import check_own_files
from orcish.tables.hidden_columns import check_hidden_columns
from orcish.tables.target import DatasetTarget
from orcish.types import ProgressOption, StorageOptions
from orcish.writing.dataset import MAX_PARTITIONS, WrittenFile
from orcish.writing.rows import counted

__all__ = ["rewrite_table"]

HIDDEN = "--output writes what readers see elsewhere"


def rewrite_table(
    folder: str,
    before: Scan,
    scan: Callable[[str], Scan],
    changed: Callable[[Scan], BatchSource],
    *,
    partition_by: Sequence[str],
    max_rows_per_file: int | None = None,
    max_partitions: int = MAX_PARTITIONS,
    progress: ProgressOption = False,
    storage_options: StorageOptions | None = None,
    options: dict[str, Any],
) -> list[WrittenFile]:
    """Replaces all files of a table by files of its rows, in one commit.

    Args:
        folder: The table.
        before: A scan of all files of the table, which decides on the columns.
        scan: Makes the scan of the rows at a path or URL, once the log has been looked at.
        changed: What becomes of the rows.
        partition_by: The partition columns of the rows that are written.
        max_rows_per_file: Maximum rows of a file.
        max_partitions: Maximum number of partitions.
        progress: As for :func:`orcish.write_dataset`.
        storage_options: Options of the store.
        options: Options of each file.

    Raises:
        CommitError: The table was changed meanwhile; it stays as it is.
        ValueError: The folder is that of a partition, or has files in a folder that is none; or files have other values
            of a partition column than their folder.
        OSError, OrcishError: As in :func:`orcish.write_dataset`.
    """
    root, inside = Location(folder).table()
    if inside:
        raise ValueError(f"{display_name(folder)} is a partition of the table {display_name(root)}: rewrite the table")
    schema, _ = rows_of(changed(before))
    target = DatasetTarget.of(folder, schema, partition_by, "overwrite", storage_options, options)
    job, root = target.job, target.job.root
    # The log was looked at before, so that the commit finds what has changed since.
    found = scan(root)
    files = [file for file in job.files() if not is_hidden(file.name)]
    visible = {each.removeprefix(f"{root}/") for each in found.files}
    names = {file.name for file in files}
    check_own_files(root, sorted(visible), names, "and is not replaced with the table: move it out of the table")
    if visible != names:
        raise CommitError(f"{display_name(folder)}: the table was changed meanwhile, and stays as it is: run it again")
    source = reader_of(found).source
    if isinstance(source, OrcFiles):
        check_hidden_columns(source, found.schema.names, HIDDEN)
    rows = changed(found)
    template = f"part-{{i}}-{uuid.uuid4()}.orc"
    writer = target.writer(template, max_rows_per_file=max_rows_per_file, max_partitions=max_partitions)
    total = row_count_of(rows) if progress else None
    with job.cleaned_up() as staged:
        with writer, reported(progress, f"rewrite {display_name(folder)}", total) as add:
            for batch in counted(rows_of(rows)[1], add):
                writer.write(target.cast(batch))
            if target.needs_file:
                writer.begin()
        staged += job.staged(writer)
        target.replace(staged, files)
    return writer.finished
