"""Compaction: choice of the files that are combined, and how they become one file."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from orcish.carbon.detect import check_not_carbon
from orcish.errors import CorruptFileError, OptionError, OrcishError
from orcish.reading.file import ORCFile, stored_arrow_schema
from orcish.tables.commit import Job, Staged, is_in_partition
from orcish.tables.folder import FileInfo, Folder
from orcish.tables.log.schema import TableSchema
from orcish.tables.log.table import existing_root
from orcish.tables.replacing import Replaced, replace_files
from orcish.tables.rewriting import check_options, file_options, rewrite, rewritten_name
from orcish.writing.dataset import file_suffix
from orcish.writing.timestamps import timestamp_types

__all__ = ["CompactedFile", "CompactionPlan", "CompactionTask", "compact_files"]

FULL = 0.75
"""Files of at least this fraction of the target size are not compacted."""


class CompactedFile(NamedTuple):
    """A file that holds the rows of others."""

    folder: str
    """Path of the folder in the table."""
    action: str
    """``merge`` if stripes were copied, ``rewrite`` if rows were decoded and encoded."""
    files: int
    """Number of the files that it replaces."""
    rows: int
    bytes_before: int
    bytes_after: int
    file: str
    """Name in the folder."""


@dataclasses.dataclass(frozen=True)
class CompactionTask:
    """Files of one folder that become one file; it can be pickled."""

    job: Job
    names: list[str]
    size: int
    """Bytes of the files."""
    rewrite: bool
    options: dict[str, Any]
    schema: TableSchema | None
    """The schema of the table in its log."""


@dataclasses.dataclass(frozen=True)
class CompactionPlan:
    """Which files of a table become which, and the commit of the result."""

    job: Job
    tasks: list[CompactionTask]
    files: list[FileInfo]
    """The files as they were when the plan was made."""
    schema: TableSchema | None
    """The schema of the table in its log, at that time."""

    @staticmethod
    def of(path: str, storage: Mapping[str, str], size: int, rewrite: bool, options: dict[str, Any]) -> CompactionPlan:
        """Plans a compaction.

        Raises:
            ValueError: Options of files are given without ``rewrite``, or are wrong.
            FileNotFoundError: There is no such folder, or there are no files in it.
            NotADirectoryError: The path is that of a file.
            UnsupportedError: The path is a CarbonData table.
            CorruptFileError: The files are not ORC.
            CommitError: A commit of another job is not finished, and cannot be, or has removed a file meanwhile.
        """
        if options and not rewrite:
            first = next(iter(options))
            raise OptionError(first, "options of files need rewrite=True, as merged files stay as they are")
        check_not_carbon(path, storage)
        existing_root(path)
        job = Job(path, storage)
        _, names, schema = job.prepare(job.inside)
        visible = set(names)
        if "://" in path and not visible and (schema is None or job.inside):
            raise FileNotFoundError(f"no files: {path}")
        with job.reading(names):
            # Files behind links to folders, and in folders that are no partitions, may be those of other tables: they
            # stay.
            there = [file for file in job.files() if file.name in visible and is_in_partition(file.name)]
            # Hive writes files of no bytes, which have no rows.
            tasks = [
                CompactionTask(
                    job, [file.name for file in group], sum(file.size for file in group), rewrite, options, schema
                )
                for group in compaction_groups([file for file in there if file.size], size, rewrite)
            ]
            folder = job.folder()
            for task in tasks[:1]:
                check_options(folder.location(task.names[0]), folder, options, schema)
            for file in [file for file in there if file.size][:1] if not tasks else ():
                # A file of another format is an error, as where there is something to compact.
                ORCFile(folder.location(file.name), storage_options=folder.storage_options)
            return CompactionPlan(job, tasks, there, schema)

    def reading(self, *errors: type[Exception]) -> contextlib.AbstractContextManager[None]:
        """A context in which the tasks run, see :meth:`orcish.tables.commit.Job.reading`.

        Raises:
            CommitError: A commit of another job has removed a file of a task.
        """
        return self.job.reading((name for task in self.tasks for name in task.names), *errors)

    def commit(self, made: Sequence[Staged]) -> None:
        """Replaces the files of all tasks.

        Raises:
            CommitError: A file was changed or removed meanwhile; the table is unchanged.
        """
        replaced = [Replaced(task.names, staged) for task, staged in zip(self.tasks, made, strict=True)]
        replace_files(self.job, "compact", replaced, self.files, self.schema)


def compaction_groups(files: Sequence[FileInfo], size: int, rewrite: bool) -> list[list[FileInfo]]:
    """Groups of files that become one file each: of one folder, in the order of their names."""
    folders: dict[str, list[FileInfo]] = {}
    for file in sorted(files):
        folders.setdefault(file.name.rpartition("/")[0], []).append(file)
    groups: list[list[FileInfo]] = []
    for within in folders.values():
        group: list[FileInfo] = []
        total = 0
        for file in within:
            if file.size >= size * FULL and not rewrite:
                continue
            if group and total + file.size > size:
                groups.append(group)
                group, total = [], 0
            group.append(file)
            total += file.size
        groups.append(group)
    return [group for group in groups if len(group) > 1 or (rewrite and group)]


def compact_files(task: CompactionTask) -> tuple[CompactedFile, Staged]:
    """Writes one file, which is not published yet.

    Raises:
        CorruptFileError: A file cannot be read, or is to be merged and contradicts its rows.
        UnsupportedError: Files have columns that are one column to some readers.
    """
    folder = task.job.folder()
    sources = [folder.location(name) for name in task.names]
    first = task.names[0]
    attempt = task.job.attempt()
    action = "rewrite"
    made = None
    if not task.rewrite and _can_be_merged(sources, folder, task.schema):
        try:
            ending = first.rpartition("/")[2].partition(".")[2]
            target = rewritten_name(first, attempt, f".{ending or 'orc'}")
            made = folder.merge(sources, target, staging=attempt)
            action = "merge"
        except ValueError:
            # The files differ, so their stripes cannot be copied.
            pass
    if made is None:
        options = file_options(sources[0], folder, task.options)
        target = rewritten_name(first, attempt, file_suffix(options))
        made = rewrite(sources, folder, target, attempt, options, schema=task.schema)
    written, token = made
    if written.rows != (rows := sum(ORCFile(at, storage_options=folder.storage_options).num_rows for at in sources)):
        folder.abort(target, token)
        raise OrcishError(f"{sources[0]} and {len(sources) - 1} more: {rows} rows became {written.rows}")
    within, _, name = target.rpartition("/")
    file = CompactedFile(within, action, len(sources), written.rows, task.size, written.bytes, name)
    return file, Staged(target, written.rows, written.bytes, token)


def _can_be_merged(sources: Sequence[str], folder: Folder, schema: TableSchema | None) -> bool:
    """Whether a merged file is read as the files are, and all files are what they state. A merged file would have the
    faults of each. It would have no Arrow schema in place of several, which decide on units of timestamps, and on all
    types where the log has no schema.

    Raises:
        CorruptFileError: A file cannot be read, or contradicts its rows.
    """
    files = [ORCFile(source, storage_options=folder.storage_options) for source in sources]
    # All files are checked, those after a deviation, too.
    are_correct = [_is_correct(source, file) for source, file in zip(sources, files, strict=True)]
    has_same_types = len({stored_arrow_schema(file) for file in files}) == 1
    has_timestamps = any(timestamp_types(file) for file in files)
    return all(are_correct) and (has_same_types or (schema is not None and not has_timestamps))


def _is_correct(source: str, file: ORCFile) -> bool:
    """Whether a file is correct. Deviations from the specification that change no value end when it is written again.

    Raises:
        CorruptFileError: It contradicts its rows. A file in its place would not.
    """
    findings = file.check()
    for found in findings:
        if found.contradicts_rows:
            place = "" if found.stripe is None else f"stripe {found.stripe}, "
            raise CorruptFileError(
                f"{source}: {place}column {found.column or 'the root'}: {found.message}: the rows may be damaged; "
                "rewrite=True takes them as they are read"
            )
    return not findings
