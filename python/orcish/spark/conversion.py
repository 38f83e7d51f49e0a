"""Conversion of tables of other formats to ORC as a Spark job."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import pyarrow as pa
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from orcish._native import Location, StagedFile, has_carbon_metadata
from orcish.carbon.detect import check_not_carbon, is_of_carbon
from orcish.errors import UnsupportedError
from orcish.hints import unknown_column
from orcish.io.files import TableFile
from orcish.io.names import display_name
from orcish.io.paths import path_text
from orcish.keywords import checked_keywords, chosen_options
from orcish.reading.orc_files import OrcFiles
from orcish.reading.scan import reader_of
from orcish.spark.options import WriterOptions, java_zone, to_text
from orcish.spark.runner import active_session, run_in_workers, sql_schema, to_batch, to_frame
from orcish.spark.schemas import arrow_schema
from orcish.spark.session import job_description, large_batches, session_zone, task_number, timestamp_zone
from orcish.spark.table import open_table
from orcish.spark.target import TableTarget
from orcish.spark.tasks import BatchConverter, TaskInput
from orcish.tables.commit import STAGED, Job
from orcish.tables.hidden_columns import check_hidden_columns
from orcish.tables.log.conflicts import reading
from orcish.tables.log.listing import table_files
from orcish.types import ExistingData, StorageOptions, WriteOptions
from orcish.writing.dataset import MAX_PARTITIONS
from orcish.writing.sorting import SortKey, sorted_batches

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["convert"]

SORT_MEMORY = 256 << 20
"""Bytes of rows that a task holds while it sorts them. Others are in temporary files."""
RESULT = pa.schema([("file", pa.string()), ("rows", pa.int64()), ("bytes", pa.int64())])
FORMATS = {
    "parquet": "parquet",
    "csv": "csv",
    "json": "json",
    "jsonl": "json",
    "ndjson": "json",
    "orc": "orc",
}
"""Formats by the suffixes of file names, but for those of CarbonData."""
_ELSEWHERE = "convert to another folder, which has what readers see"
"""Advice about values that would be lost."""


@checked_keywords
def convert(
    source: str | os.PathLike[str] | DataFrame,
    target: str | os.PathLike[str],
    *,
    format: Literal["parquet", "csv", "json", "orc", "carbondata"] | None = None,  # noqa: A002 - Spark's word
    read_options: dict[str, Any] | None = None,
    partition_by: Sequence[str] | None = None,
    sort_within: Sequence[str] | None = None,
    existing_data: ExistingData = "error",
    max_rows_per_file: int | None = None,
    max_partitions: int = MAX_PARTITIONS,
    spark: SparkSession | None = None,
    storage_options: StorageOptions | None = None,
    **options: Unpack[WriteOptions],
) -> DataFrame:
    """Converts a table to ORC. The files appear at once, when all have been written.

    ORC files and CarbonData tables are read and written in the workers, without passing rows through the JVM, and
    ``timestamp`` and ``timestamp with local time zone`` of ORC files keep their types. Other formats are read by Spark,
    whose timestamps are written as ``timestamp``. The columns are those of all ORC and Parquet files, unless
    ``mergeSchema`` of ``read_options`` says otherwise. The keywords of :class:`~orcish.types.WriteOptions` apply to
    each file. Codec, bloom filters, sizes of stripes and row groups, and user metadata of the source files are not
    kept.

    >>> osp.convert("parquet/", "out/", bloom_filter_columns=["id"], sort_within=["id"]).select("rows").show()
    +----+
    |rows|
    +----+
    | 100|
    +----+

    Args:
        source: A file, folder or pattern, or a data frame.
        target: The folder of the new table.
        format: Format of the source; by default that of the suffixes of its file names, or ``carbondata`` for such a
            table.
        read_options: Options of the data source ``orcish`` for ORC and CarbonData, or of Spark's reader for other
            formats, such as ``{"header": True}``.
        partition_by: Partition columns; by default those of the source.
        sort_within: Columns by which each task sorts its rows, which makes statistics more selective.
        existing_data: What to do where the target has files: ``"error"``, ``"append"``, ``"overwrite"`` or
            ``"overwrite_partitions"``; see :func:`orcish.write_dataset`.
        max_rows_per_file: Maximum rows of a file.
        max_partitions: Maximum number of partitions of a task; see :func:`orcish.write_dataset`.
        spark: The session; the active one by default.
        storage_options: Options of the object store of a URL, for files that orcish reads and writes; see
            :data:`~orcish.types.StorageOptions`.

    Returns:
        A row for each file: its name, rows and bytes.

    Raises:
        FileNotFoundError: The source has no files.
        FileExistsError: The target has files, or is a table without rows, and ``existing_data`` is ``"error"``.
        ValueError: The format of the source is unknown, or there are several, or an option is wrong; or files that are
            replaced are not read, or store a partition column with other values than that of their folder.
        UnknownColumnError: There is no column of ``partition_by`` or ``sort_within``.
        CommitError: A file of a source that is ORC was removed while the job ran, as by :func:`orcish.compact`.
        UnsupportedError: A type cannot be stored in ORC, or the target is a CarbonData table with metadata.
    """
    session = active_session(spark)
    storage = to_text(storage_options or {})
    target = Location(target).absolute()
    check_not_carbon(target, storage)
    job = Job(target, storage)
    rows = _source(session, source, format, read_options or {}, storage)
    by = rows.folders if partition_by is None else list(partition_by)
    missing = next((name for name in sort_within or () if name not in rows.schema.names), None)
    if missing is not None:
        raise unknown_column(missing, rows.schema.names, "sort_within")
    is_replaced = existing_data in ("overwrite", "overwrite_partitions") and rows.is_replaced(target, storage)
    writing = WriterOptions(
        path=target,
        partition_by=tuple(by),
        max_rows_per_file=max_rows_per_file,
        max_partitions=max_partitions,
        timezone=java_zone(timestamp_zone(session), "timezone"),
        session_timezone=java_zone(session_zone(session), "spark.sql.session.timeZone"),
        file=chosen_options(options, WriteOptions),
        storage=storage,
        are_keywords=True,
    )
    to = TableTarget(
        job,
        writing,
        rows.schema,
        source_types=rows.instant_types,
        replaces_carbon=is_replaced and existing_data == "overwrite",
    )
    to.check_partitioned(existing_data)
    to = to.fitted(existing_data)
    # Files of a data frame are those of Spark.
    there: contextlib.AbstractContextManager[None] = contextlib.nullcontext()
    if rows.files is not None and not isinstance(source, DataFrame):
        there = reading(Location(source).absolute(), storage, rows.files.locations, PySparkException)
    with job.cleaned_up() as staged, there:
        staged += rows.write(session, to, list(sort_within or ()), f"orcish: convert to {target}")
        to.commit(staged, existing_data)
    written = [{"file": job.name_of(file), "rows": file.rows, "bytes": file.size} for file in staged]
    return to_frame(session, written, RESULT)


@dataclasses.dataclass(frozen=True)
class _Source:
    schema: StructType
    folders: list[str]
    """Partition columns."""
    write: Callable[[SparkSession, TableTarget, list[str], str], list[StagedFile]]
    instant_types: Mapping[str, str] = dataclasses.field(default_factory=dict)
    """The ORC types of timestamps, by dotted names of columns."""
    files: OrcFiles | None = None
    """The files of a source that is ORC."""
    listed: Sequence[TableFile] = ()
    """All files of a source that is a path."""
    read: Sequence[str] = ()
    """The locations of those that are read."""
    stored: Callable[[], list[str]] = list
    """The columns that files of other formats store."""

    def is_replaced(self, target: str, storage: Mapping[str, str]) -> bool:
        """Whether files of the source are below a folder that is written to. All of them are read then.

        Raises:
            ValueError: A file is not read, or values of a partition column are not those of its folder.
        """
        folder = Location(target).place(storage)
        inside = [file for file in self.listed if Location(file.location).place(storage).is_below(folder)]
        if not inside:
            return False
        read = {Location(location).place(storage).path for location in self.read}
        for file in inside:
            # Spark lists files beside the folders of partitions, and does not read them.
            is_beside = self.folders and not file.partition
            if is_beside or Location(file.location).place(storage).path not in read:
                raise ValueError(f"{display_name(file.location)} is not read, and would be removed: {_ELSEWHERE}")
        if self.files is not None:
            replaced = dataclasses.replace(self.files, files=inside)
            check_hidden_columns(replaced, self.folders, _ELSEWHERE, ignores_case=True)
        elif self.folders:
            stored = {name.lower() for name in self.stored()}
            hidden = next((name for name in self.folders if name.lower() in stored), None)
            if hidden is not None:
                raise ValueError(
                    f"{display_name(target)}: column {hidden!r} is stored in files and in the names of their folders, "
                    f"which readers see, and the former would be lost: {_ELSEWHERE}"
                )
        return True


def _source(
    spark: SparkSession,
    source: str | os.PathLike[str] | DataFrame,
    named: str | None,
    options: dict[str, Any],
    storage: dict[str, str],
) -> _Source:
    """Opens the source."""
    if isinstance(source, DataFrame):
        return _Source(source.schema, [], functools.partial(_write_frame, source))
    files: list[TableFile] = []
    if named in (None, "carbondata") and has_carbon_metadata(Location(source).absolute(), storage):
        named = "carbondata"
    else:
        files, schema, _ = table_files(Location(source).absolute(), None, storage)
        if not files and schema is None:
            raise FileNotFoundError(f"no files: {source}")
        # A table without files has a log of ORC files.
        named = named or (_format(files) if files else "orc")
    found = named
    is_given = any(name.replace("_", "").lower() == "mergeschema" for name in options)
    if found in ("orc", "parquet") and not is_given:
        # Columns that only later files have would be lost.
        options = {**options, "mergeSchema": True}
    if found in ("orc", "carbondata"):
        table = open_table(spark, source, options=options, storage_options=storage, is_carbon=found == "carbondata")
        # Options may select some of the columns.
        read = reader_of(table.scan).source
        folders = [name for name in read.partition_columns if name in table.schema.names]
        write = functools.partial(_write_work, table.task_inputs())
        orc = read if isinstance(read, OrcFiles) else None
        are_read = [file for file in files if is_of_carbon(file)] if orc is None else orc.files
        locations = [file.location for file in are_read]
        return _Source(table.schema, folders, write, table.instant_types(), orc, files, locations)

    def load(**more: bool) -> DataFrame:
        return spark.read.format(found).options(**{**options, **more}).load(Location(path_text(source)).path)

    def stored() -> list[str]:
        return list(load(recursiveFileLookup=True).schema.names)

    try:
        frame = load()
    except Exception as error:
        if "CANNOT_MERGE_SCHEMAS" not in str(error):
            raise
        raise UnsupportedError(
            f"{display_name(Location(source).absolute())}: a column has other types in other files, which Spark does "
            "not merge: convert the files of each type by themselves"
        ) from None
    # For patterns, Spark has no partition columns.
    partition = next((file.partition for file in files if file.partition), [])
    folders = [name for name, _ in partition if name in frame.schema.names]
    write = functools.partial(_write_frame, frame)
    return _Source(frame.schema, folders, write, listed=files, read=frame.inputFiles(), stored=stored)


def _format_of(file: TableFile) -> str | None:
    """The format that the name of a file says."""
    if is_of_carbon(file):
        return "carbondata"
    endings = reversed(file.location.rpartition("/")[2].lower().split(".")[1:])
    return next((FORMATS[ending] for ending in endings if ending in FORMATS), None)


def _format(files: list[TableFile]) -> str:
    first: dict[str | None, str] = {}
    for file in files:
        first.setdefault(_format_of(file), file.location)
    if None in first:
        raise ValueError(f"{display_name(first[None])}: its name does not say its format, which option `format` does")
    if len(first) > 1:
        named = ", ".join(f"{display_name(location)} is {form}" for form, location in first.items())
        raise ValueError(f"files of several formats: {named}: convert those of one format at a time")
    return next(form for form in first if form is not None)


def _write_work(
    task_inputs: list[TaskInput], spark: SparkSession, to: TableTarget, sort: list[str], text: str
) -> list[StagedFile]:
    """Reads and writes in the workers."""
    # As in Spark.
    keys = [SortKey(name, nulls_first=True) for name in sort]

    def run(item: tuple[int, TaskInput]) -> list[tuple[bytes]]:
        number, part = item
        batches = part.batches()
        if sort:
            batches = sorted_batches(arrow_schema(to.schema), batches, keys, SORT_MEMORY)
        return tokens(to.write(batches, number))

    # Without rows, one task writes a file for the schema.
    nothing = TaskInput.of([], BatchConverter((), pa.schema([])))
    rows = run_in_workers(spark, list(enumerate(task_inputs or [nothing])), run, STAGED, text)
    return [StagedFile(row["token"]) for row in rows]


def tokens(files: list[StagedFile]) -> list[tuple[bytes]]:
    """Files as rows that tasks return."""
    return [(file.token,) for file in files]


def _write_frame(
    frame: DataFrame, spark: SparkSession, to: TableTarget, sort: list[str], text: str
) -> list[StagedFile]:
    """Writes a data frame of Spark."""

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield to_batch(tokens(to.write(batches, task_number())), STAGED)

    rows = frame.sortWithinPartitions(*sort) if sort else frame
    with job_description(spark, text), large_batches(spark, arrow_schema(frame.schema)):
        found = rows.mapInArrow(run, sql_schema(STAGED)).collect()
    # Without rows, Spark may run no task, and there would be no file for the schema.
    if not found and not to.options.partition_by:
        return to.write(iter(()), 0)
    return [StagedFile(row["token"]) for row in found]
