"""Files and tables written anew: with other options, columns or types, in another order, or only some of their rows."""

from __future__ import annotations

import dataclasses
import uuid
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pyarrow as pa

from orcish._native import Location, is_hidden
from orcish.errors import CommitError
from orcish.filters.names import dotted, steps_of
from orcish.io.names import display_name
from orcish.progress import reported
from orcish.reading.orc_files import OrcFiles
from orcish.reading.reader import BatchSource, row_count_of, rows_of
from orcish.reading.scan import Scan, reader_of
from orcish.reading.table_file import file_of_schema_of
from orcish.tables.apart import check_apart
from orcish.tables.changed_rows import ChangedRows, ChosenRows, CountedRows, NamedRows
from orcish.tables.hidden_columns import check_hidden_columns
from orcish.tables.inferred_types import infers_written_types
from orcish.tables.log.conflicts import reading
from orcish.tables.rewriting import kept_options
from orcish.tables.target import DatasetTarget
from orcish.tables.write import write_dataset
from orcish.types import ColumnName, ExistingData, ExistingFile, ProgressOption, StorageOptions
from orcish.writing.dataset import MAX_PARTITIONS, WrittenFile
from orcish.writing.replaced_file import ReplacedFile
from orcish.writing.rows import counted
from orcish.writing.sorting import DEFAULT_MEMORY, SortedRows, SortKey
from orcish.writing.writer import Written, write_table

__all__ = ["DEFAULT_MEMORY", "Rewrite", "rewrite_table"]

HIDDEN = "--output writes what readers see elsewhere"


@dataclasses.dataclass(frozen=True)
class Rewrite:
    """What is written of sources. Columns are named as in the sources. Rows may be sorted by columns that are left out.

    Options of the files that are not given are those of the first source, and so are partition columns.
    """

    scan: Callable[[list[str]], Scan]
    """Makes a scan of the rows of sources, without a loss of digits."""
    casts: Callable[[Scan], Mapping[str, pa.Field]]
    """New types of columns of a scan, as fields whose names do not matter."""
    advice: str
    """What to do where a target is in a source, for messages."""
    has_columns: bool = False
    """Whether the scan has chosen columns: rows may be sorted by others."""
    renamed: Mapping[str, str] = dataclasses.field(default_factory=dict)
    dropped: Sequence[str] = ()
    sort_by: Sequence[tuple[ColumnName, bool]] = ()
    """Columns, and whether they are sorted in descending order."""
    memory: int = DEFAULT_MEMORY
    """Bytes of rows that are sorted at a time, about."""
    temporary_folder: str | None = None
    """Where rows beyond the memory are written."""
    is_counted: bool = False
    """Whether nothing is written where there are more or less rows than metadata say."""
    partition_by: Sequence[str] | None = None
    """Partition columns of a table that is written, by their new names."""
    bounds: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    """Bounds of the files and partitions of a table that is written."""
    options: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    """Options of the files."""
    progress: bool = False
    storage_options: Mapping[str, str] = dataclasses.field(default_factory=dict)

    def replace_table(self, folder: str) -> list[WrittenFile]:
        """Replaces all files of a table; see :func:`rewrite_table`."""
        scan = self.scan([folder])
        with reading(folder, self.storage_options, scan.files):
            return rewrite_table(
                folder,
                scan,
                lambda path: self.scan([path]),
                self._changed,
                partition_by=self._partition_by(scan),
                progress=self.progress,
                storage_options=self.storage_options,
                **self.bounds,
                options=self._file_options(scan),
            )

    def replace_file(self, path: str) -> Written:
        """Replaces a file.

        Raises:
            CommitError: The file was changed meanwhile, and stays as it is.
        """
        before = ReplacedFile(path, self.storage_options)
        scan = self.scan([path])
        return before.write(self._changed(scan), progress=self.progress, options=self._file_options(scan))

    def write_file(self, sources: list[str], target: str, existing_data: ExistingFile) -> Written:
        """Writes the rows of all sources as one file; see :func:`orcish.write_table`."""
        scan = self.scan(sources)
        self._check_apart(sources, scan, target, is_folder=False)
        return write_table(
            self._changed(scan),
            target,
            existing_data=existing_data,
            progress=self.progress,
            storage_options=self.storage_options,
            **self._file_options(scan),
        )

    def write_table(self, sources: list[str], target: str, existing_data: ExistingData) -> list[WrittenFile]:
        """Writes the rows of all sources as a folder of files; see :func:`orcish.write_dataset`."""
        scan = self.scan(sources)
        self._check_apart(sources, scan, target, is_folder=True)
        with reading(sources, self.storage_options, scan.files):
            return write_dataset(
                self._changed(scan),
                target,
                partition_by=self._partition_by(scan),
                existing_data=existing_data,
                progress=self.progress,
                storage_options=self.storage_options,
                **self.bounds,
                **self._file_options(scan),
            )

    def _check_apart(self, sources: list[str], scan: Scan, target: str, *, is_folder: bool) -> None:
        storage = self.storage_options
        check_apart(sources, scan.files, target, is_folder=is_folder, advice=self.advice, storage=storage)

    def _changed(self, scan: Scan) -> BatchSource:
        """The rows with other columns and in another order."""
        keys = [SortKey(*key) for key in self.sort_by]
        names = list(dict.fromkeys(key.name for key in keys))
        # A dotted name may be that of a column, or begin with it.
        sorted_by = {
            each for name in names for each in (dotted(name), steps_of(name)[0], dotted(name).partition(".")[0])
        }
        rows: BatchSource = _with_columns(scan, names) if self.has_columns else scan
        casts = self.casts(scan)
        early = [name for name in self.dropped if name not in sorted_by]
        late = [name for name in self.dropped if name in sorted_by]
        if casts or early:
            rows = ChangedRows(rows, casts, None, early)
        if keys:
            rows = SortedRows(rows, keys, self.memory, self.temporary_folder)
        if self.has_columns and keys:
            rows = ChosenRows(rows, scan.schema, casts.keys())
        if self.renamed or late:
            rows = ChangedRows(rows, None, self.renamed, late)
        if rows is not scan and scan.files:
            files = list(map(display_name, scan.files))
            rows = NamedRows(rows, files[0] if len(files) == 1 else f"{files[0]} and {len(files) - 1} more", files)
        return CountedRows(rows, scan.count) if self.is_counted else rows

    def _partition_by(self, scan: Scan) -> list[str]:
        if self.partition_by is not None:
            return list(self.partition_by)
        own, names = reader_of(scan).source.partition_columns, scan.schema.names
        return [self.renamed.get(name, name) for name in own if name in names and name not in self.dropped]

    def _file_options(self, scan: Scan) -> dict[str, Any]:
        """The given options, and those of the first source."""
        if not scan.files or scan.files[0].endswith(".carbondata"):
            return dict(self.options)
        first = file_of_schema_of(scan.files, self.storage_options)
        kept = kept_options(first, self.options)
        if infers_written_types(scan, self.casts(scan), self.dropped, first):
            # Readers infer the same types.
            kept.setdefault("arrow_schema", False)
        zones = set(first.writer_timezones()) - {""}
        if len(zones) == 1:
            kept.setdefault("timezone", next(iter(zones)))
        return kept


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
    fate = "and is not replaced with the table: move it out of the table"
    job.check_own_files(sorted(visible), files, fate)
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
        staged += writer.staged
        target.replace(staged, files)
    return writer.finished


def _with_columns(scan: Scan, names: Sequence[ColumnName]) -> Scan:
    """The scan with further columns behind its own."""
    reader = reader_of(scan)
    own = reader.options["columns"]
    return Scan(reader.with_options(columns=[*own, *(name for name in names if name not in own)]))
