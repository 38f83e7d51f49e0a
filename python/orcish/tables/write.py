"""Writing of tables as folders of files, with folders of partitions as in Hive."""

from __future__ import annotations

import os
import uuid
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from orcish.arrow.frames import with_index_columns
from orcish.io.filesystem import table_folder
from orcish.io.names import display_name
from orcish.keywords import checked_keywords, chosen_options
from orcish.progress import reported
from orcish.tables.target import DatasetTarget, without_new_folders
from orcish.types import ExistingData, FileSystem, ProgressOption, StorageOptions, WriteOptions
from orcish.writing.dataset import MAX_MEMORY, MAX_OPEN_FILES, MAX_PARTITIONS, WrittenFile
from orcish.writing.rows import counted, row_count, schema_and_batches

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["write_dataset"]


@checked_keywords
def write_dataset(
    data: Any,
    target: str | os.PathLike[str],
    *,
    partition_by: Sequence[str] | None = None,
    max_rows_per_file: int | None = None,
    basename_template: str | None = None,
    existing_data: ExistingData = "error",
    max_open_files: int = MAX_OPEN_FILES,
    max_partitions: int = MAX_PARTITIONS,
    max_memory: int = MAX_MEMORY,
    progress: ProgressOption = False,
    storage_options: StorageOptions | None = None,
    filesystem: FileSystem | None = None,
    **options: Unpack[WriteOptions],
) -> list[WrittenFile]:
    """Writes a folder of ORC files, with partition folders such as ``dt=2026-01-01``.

    The files appear together, in one commit of the table: after an error nothing has changed. Writers, readers and jobs
    of orcish that work on the table at the same time see all of the commit or nothing of it. The folder ``_orcish`` of
    the table has the log of its commits. The keywords of :class:`~orcish.types.WriteOptions` apply to each file.

    >>> files = orcish.write_dataset(table, "by_day/", partition_by=["day"], max_rows_per_file=10_000_000)
    >>> [(file.rows, str(file.partition["day"])) for file in files]
    [(50, '2026-11-20'), (50, '2026-11-21')]

    Args:
        data: Anything that :func:`orcish.write_table` takes. Named indexes of data frames of pandas are columns of the
            table. Those of integers without a name are dropped, because they number the rows of one frame only; others
            without a name are refused.
        target: The folder, or a URL of an object store. Missing folders are created. It is no pattern: ``v[12]`` is a
            folder of that name. A folder of a partition, such as ``table/dt=2026-01-01``, is one of its table, which
            has to exist.
        partition_by: Partition columns, the outermost first; none by default. Files do not have them. Special numbers
            have the folder names of Hive and Spark: ``NaN``, ``Infinity``. As there, empty strings are in the folder of
            null, and are read as null.
        max_rows_per_file: Maximum rows of a file.
        basename_template: Template of file names, with ``{i}`` for a number. The number is followed by an ID of the
            call, because the name of a file is used once in a table. Names that readers ignore are refused: those that
            begin with ``_`` or ``.``, or end with ``_$folder$`` or ``.carbondata``. Names with a folder are refused
            too.
        existing_data: What to do where the folder has data, or is that of a table without rows: ``"error"``;
            ``"append"``; ``"overwrite"``, which replaces all files of the folder; or ``"overwrite_partitions"``, which
            replaces the files of the partitions that the rows are in. Links to files are removed, not their targets.
            Nothing is overwritten where there are files behind a link to a folder, or in a folder that is no partition.
            Rows that are added to a table have to have its partition columns, and get the types of its columns, where
            these are wider. A column of type ``null`` gets the type of the rows. Appended instants have the type that
            the table has: ``timestamp`` or ``timestamp with local time zone``. Columns of type ``timestamp`` are
            written in the time zone of the writer of the table, unless there is a ``timezone``.
        max_open_files: Maximum number of open files. Rows of further partitions wait until the end, in memory, and
            beyond half of ``max_memory`` in temporary files: each partition has one file, unless ``max_rows_per_file``
            divides it.
        max_partitions: Maximum number of partitions. More are an error, and not that many folders and files.
        max_memory: Maximum bytes that all open files and rows that wait hold in memory; the largest files end their
            stripe.
        progress: True for a bar on the terminal, or a function that is called with a
            :class:`~orcish.types.Progress`, of rows, at the beginning and after each batch.
        storage_options: Options of the object store of a URL; see :data:`~orcish.types.StorageOptions`.
        filesystem: The local file system that the path is within; see :data:`~orcish.types.FileSystem`. Others are
            refused, as they have no atomic renames or conditional writes.

    Returns:
        The files, in the order in which they were finished.

    Raises:
        FileExistsError: The folder has data already, or is that of a table without rows.
        UnknownColumnError: There is no such partition column.
        ValueError: An option is wrong, or a value cannot be stored; all columns would be partition columns; there are
            more partitions than ``max_partitions``; the rows do not match the table, or have columns of one name,
            without regard to case; the index of a data frame has values other than integers, and no name; files that
            are to be overwritten are not those of the table alone.
        NotADirectoryError: The target is a file.
        UnsupportedError: The folder has data of CarbonData or is that of a transactional table of Hive, or a file was
            written in a time zone that is not known.
        CommitError: Another commit is not finished, and cannot be, see :func:`orcish.recover`; or it has changed the
            table so that the rows do not match it, or has removed a file while the table was looked at.
        UnfinishedCommitError: The commit is decided and not finished, or it is not known whether it is decided.
        OSError: A file cannot be written.
    """
    chosen = chosen_options(options, WriteOptions)
    schema, batches = schema_and_batches(data, with_index_columns)
    if basename_template is not None:
        _check_template(basename_template)
    path = table_folder(target, filesystem, storage_options)
    prepared = DatasetTarget.of(path, schema, partition_by or (), existing_data, storage_options, chosen)
    number = "{i}" if basename_template is None else f"{{i}}-{uuid.uuid4().hex[:12]}"
    template = (basename_template or f"part-{{i}}-{uuid.uuid4()}.orc").replace("{i}", number)
    table = prepared.writer(
        template,
        max_rows_per_file=max_rows_per_file,
        max_open_files=max_open_files,
        max_partitions=max_partitions,
        max_memory=max_memory,
    )
    job, folder = prepared.job, prepared.folder
    with without_new_folders(job), job.cleaned_up() as staged:
        total = row_count(data) if progress else None
        with table, reported(progress, f"write to {display_name(folder)}", total) as add:
            for batch in counted(batches, add) if progress else batches:
                table.write(prepared.cast(batch))
            if prepared.needs_file:
                table.begin()
        staged += table.staged
        prepared.commit(staged)
    start = len(job.base)
    base = "" if folder == "/" else folder
    return [file._replace(path=base + file.path[start:]) for file in table.finished]


def _check_template(template: str) -> None:
    """Raises ValueError for templates of names that readers ignore, or do not recognize as ORC files."""
    given = f"basename_template={template!r}"
    if "{i}" not in template:
        raise ValueError(f"{given}: {{i}} has to be in it, for a number")
    if "/" in template or os.path.basename(template) != template:
        raise ValueError(f"{given}: it names a file, not a folder")
    if template.startswith(("_", ".")):
        raise ValueError(f"{given}: readers pass over files whose names begin with '_' or '.'")
    if template.endswith(("_$folder$", "._COPYING_", ".carbondata")):
        raise ValueError(f"{given}: readers do not take files of such names for those of a table")
