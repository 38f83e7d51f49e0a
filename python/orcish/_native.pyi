"""Types of the native core, which only modules of :mod:`orcish` use."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, Final, Literal, TypeAlias, final

from typing_extensions import Self, disjoint_base

from orcish.errors import OrcishError, UnknownColumnError

_LogSchema: TypeAlias = tuple[bytes, list[str], str, list[str] | None]
"""The schema of a table in its log; see :class:`orcish.tables.log.schema.TableSchema`."""

__all__ = [
    "FILE_REPLACED",
    "MAX_SCHEMA_TAIL",
    "Batches",
    "CarbonFile",
    "CarbonTable",
    "DatasetWriter",
    "Distinct",
    "File",
    "Filter",
    "Job",
    "JsonTypes",
    "Location",
    "NewFile",
    "Node",
    "Place",
    "RowWrite",
    "Scan",
    "StagedFile",
    "StoredFile",
    "TableColumns",
    "TableLog",
    "Writer",
    "__version__",
    "_tune",
    "abort_upload",
    "above_pattern",
    "are_inferred",
    "cast",
    "cast_rows",
    "check_target",
    "combine_files",
    "complete_storage",
    "complete_upload",
    "date_text",
    "delete_files",
    "delete_folder",
    "delete_rows",
    "detach_threads",
    "display_name",
    "exact_bound",
    "field_path",
    "file_suffix",
    "file_version",
    "fitted_pandas",
    "format_partition_values",
    "has_carbon_metadata",
    "has_folder",
    "infer_partition_schema",
    "is_carbon",
    "is_file_of_carbon",
    "is_hidden",
    "is_same_version",
    "iso_texts",
    "list_all",
    "list_files",
    "matches_pattern",
    "merge_files",
    "opened_source",
    "options_of",
    "parse_partition_values",
    "partition_folder",
    "partitions_below",
    "partitions_of",
    "plan_compaction",
    "plan_deletion",
    "read_json",
    "read_small",
    "recover_file",
    "replace_files",
    "rewritten_schema",
    "source_files",
    "stat",
    "stored_schema",
    "timestamp_text",
    "unify_schemas",
    "unknown_column",
    "untyped_columns",
    "upload_info",
    "with_timestamp_types",
    "working_folder",
    "write_small",
]

FILE_REPLACED: str
MAX_SCHEMA_TAIL: int
__version__: str

def cast(array: tuple[object, object], schema: object, adds_fields: bool) -> object:
    """The array with the type of the only field of a schema. A value that the type does not have is a ``CastError``."""

def iso_texts(array: tuple[object, object]) -> tuple[object, object]:
    """ISO 8601 texts of dates, times or timestamps."""

def date_text(days: int) -> str:
    """The text of a number of days since 1970."""

def timestamp_text(seconds: int, nanoseconds: int) -> str:
    """The ISO 8601 text of a timestamp without zone."""

@final
class Location:
    """A path or URL, classified. Whether there is a file, a folder or nothing is asked of the local disk.

    Raises:
        TypeError: It is neither text nor a ``pathlib.Path``.
        ValueError: It is a ``file:`` URL with a host.
    """

    def __new__(cls, path: object) -> Location: ...
    @property
    def path(self) -> str:
        """The path of the local disk, of a ``file:`` or ``local:`` URL, or below ``~``; or the URL as it was given."""

    @property
    def is_local(self) -> bool:
        """Whether the location is on the local disk."""

    @property
    def is_http(self) -> bool:
        """Whether the location is a URL of an HTTP server."""

    @property
    def is_foreign(self) -> bool:
        """Whether the location is a URL that orcish does not open itself."""

    @property
    def is_pattern(self) -> bool:
        """Whether the location is a pattern. A path of the local disk that exists is none."""

    @property
    def is_several(self) -> bool:
        """Whether the location is that of a folder, or a pattern."""

    @property
    def is_carbon_file(self) -> bool:
        """Whether the location is that of a data file of CarbonData, by its name."""

    @property
    def is_unicode(self) -> bool:
        """Whether the path is text. Names of other files of the local disk have lone surrogates."""

    def absolute(self) -> str:
        """The location as one that other processes understand, which have other working directories."""

    def table(self) -> tuple[str, str]:
        """The folder of the table that a folder or a file belongs to, and the path of the folder below it. The table of
        ``t/day=1/hour=2`` is ``t``. Links of local paths are resolved, as staged files are bound to their paths.

        Raises:
            UnsupportedError: Tables are not written at such a location.
            ValueError: The path is empty, or the URL has no bucket.
        """

    def check_folder(self) -> None:
        """Checks that a path of the local disk is not that of a file, a pipe or the like.

        Raises:
            NotADirectoryError: It is.
        """

    def check_not_transactional(self, names: list[str] | None, storage_options: dict[str, Any] | None = None) -> None:
        """Checks that rows may be written into a folder: it is not that of a transactional table of Hive, nor in one.

        ``names`` are the files of the table in the folder; ``None`` for a single file that is written into the folder.

        Raises:
            UnsupportedError: Only Hive writes there.
            OSError, OrcishError: A folder of a store cannot be listed.
        """

    def place(self, *storage: Mapping[str, Any] | None) -> Place:
        """The file or folder of the location, whatever its spelling, given options of stores: of its own store first.
        No server is asked.
        """

@final
class Place:
    """A file or folder. Two spellings of one location are one place, but for what one of them leaves out."""

    @staticmethod
    def within_file_system(path: str) -> Place:
        """The place of a path within a file system of another library."""

    @property
    def is_local(self) -> bool:
        """Whether the place is on the local disk."""

    @property
    def path(self) -> str:
        """The path, without a slash at the end; that of a store begins with the bucket or container."""

    def is_same(self, other: Place) -> bool:
        """Whether both are one file or folder, as far as is known."""

    def is_below(self, folder: Place) -> bool:
        """Whether this is the folder or something in it, as far as is known."""

def source_files(
    sources: object,
    storage_options: Mapping[str, Any] | None = None,
    *,
    partitions: bool | None = None,
    is_before: bool = False,
    is_read: bool = False,
) -> tuple[
    bool,
    list[tuple[str, Any, list[tuple[str, str | None]], None, None]],
    _LogSchema | None,
]:
    """The files of sources; see :func:`orcish.tables.log.listing.table_files`.

    Gives whether the source is one of CarbonData, the files, and the schema of their table in its log.
    """

def opened_source(source: object, storage: Mapping[str, Any] | None = None) -> Any:
    """A source as a path or URL, bytes or a file object."""

def has_carbon_metadata(source: object, storage_options: Mapping[str, Any] | None = None) -> bool:
    """Whether a source is a CarbonData table with metadata, or a data file. Other tables are known by their files."""

def is_file_of_carbon(location: str) -> bool:
    """Whether a file is one of a CarbonData table, by its name."""

def complete_storage(locations: str | Iterable[str], options: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """The options of stores for calls of this module; see :mod:`orcish.io.storage`.

    Raises:
        ValueError: An option is one of fsspec.
        OSError, OrcishError, ValueError: As for :func:`orcish.io.storage.with_profile`, for URLs of S3.
    """

def working_folder() -> str | None:
    """The working directory; ``None`` where it was removed."""

def above_pattern(pattern: str) -> str:
    """The folder above the first name of a pattern that has a special character; another path is returned as it is."""

def matches_pattern(pattern: str, paths: Sequence[str]) -> list[bool]:
    """Whether a pattern matches paths, or folders above them, which are relative to the same folder as the pattern.

    Raises:
        ValueError: It is no pattern.
    """

def is_hidden(path: str) -> bool:
    """Whether a file, given by its path in the folder of a table, is ignored by readers."""

def list_files(
    location: str, storage_options: dict[str, Any] | None = None, *, patterns: bool = True
) -> list[tuple[str, int]]:
    """Locations and sizes of the files at a path or URL: a file, a folder, or, with ``patterns``, a pattern."""

def read_small(location: str, storage_options: dict[str, Any] | None = None, *, limit: int = 67108864) -> bytes:
    """Reads a file of at most ``limit`` bytes."""

@final
class StoredFile:
    """A file of which ranges are read. A file that is replaced meanwhile is an error where the store says it."""

    def __new__(cls, location: str, storage_options: dict[str, Any] | None = None) -> StoredFile: ...
    def size(self) -> int:
        """Length of the file in bytes."""
    def read(self, start: int, end: int) -> bytes:
        """The bytes from ``start`` to ``end``, which are within the file."""

def write_small(location: str, data: bytes, storage_options: dict[str, Any] | None = None, *, overwrite: bool) -> None:
    """Writes a file atomically; without ``overwrite``, only where there is none."""

def delete_files(locations: Sequence[str], storage_options: dict[str, Any] | None = None) -> None:
    """Deletes files; missing files are ignored."""

def delete_folder(location: str, storage_options: dict[str, Any] | None = None) -> None:
    """Deletes a folder with everything below it; a missing folder is ignored."""

def has_folder(location: str, storage_options: dict[str, Any] | None = None) -> bool:
    """Whether there is a folder. In an object store, there is one if an object is below it."""

def list_all(location: str, storage_options: dict[str, Any] | None = None) -> list[tuple[str, int, float]]:
    """Locations, sizes and times (seconds since 1970) of all files below a folder, hidden files included."""

def stat(location: str, storage_options: dict[str, Any] | None = None) -> tuple[int, float] | None:
    """Size and time of a file; ``None`` where there is no such file."""

def complete_upload(location: str, token: bytes, storage_options: dict[str, Any] | None = None) -> None:
    """Publishes an unpublished file of a ``Writer``; further calls have no effect."""

def abort_upload(location: str, token: bytes, storage_options: dict[str, Any] | None = None) -> None:
    """Removes an unpublished file of a ``Writer``; a published one stays."""

def upload_info(token: bytes) -> tuple[str, int, int, int]:
    """Location, rows, bytes and stripes of an unpublished file of a ``Writer``."""

def check_target(location: str, storage_options: dict[str, Any] | None = None, *, overwrite: bool = False) -> None:
    """Checks that a file can be created at a path or URL: by calls with the same ``overwrite``, which check it, too.

    Raises:
        FileExistsError: There is a file, without ``overwrite``.
        IsADirectoryError: There is a folder.
        OSError: There is something that is no regular file, such as a pipe or a device.
    """

def merge_files(
    sources: Sequence[object],
    target: object,
    *,
    storage_options: dict[str, Any] | None = None,
    limits: dict[str, int] | None = None,
    publish: bool = True,
    staging: str | None = None,
    overwrite: bool = False,
    progress: Callable[[int], object] | None = None,
) -> tuple[int, int, int, bytes | None]:
    """Writes the stripes of files as one file, without decoding them. ``progress`` takes the bytes that are written.

    Returns:
        Rows, bytes, stripes, and, with ``publish=False``, a token.
    """

def recover_file(
    source: object,
    target: object | None = None,
    *,
    like: object | None = None,
    storage_options: dict[str, Any] | None = None,
    limits: dict[str, int] | None = None,
    overwrite: bool = False,
) -> tuple[
    tuple[int, int, int, int | None, int, bool, list[tuple[int, int, int | None, str]], list[str]],
    tuple[int, int, int] | None,
]:
    """Finds what of a damaged file can be read, and writes it as a new file, if a target is given.

    Returns:
        Rows, stripes, stripes that no tail lists, end of the last tail, length of the file, whether it is whole, what
        is lost (first byte, end, rows, reason), and what is in doubt. Rows, bytes and stripes of the new file.
    """

def unknown_column(name: str, names: Sequence[str]) -> UnknownColumnError:
    """The error of a column that does not exist, with the nearest of the names that do."""

def unify_schemas(first: object, other: object) -> object:
    """The union of two schemas, with types that hold the values of both, as a PyCapsule.

    Raises:
        UnsupportedError: Two types of a column have no common type.
        ValueError: Names of columns are ambiguous.
    """

def fitted_pandas(described: str, names: Sequence[str], is_whole: bool) -> str | None:
    """Metadata for pandas, as JSON, that fit columns of some names; ``None`` if they stay.

    ``is_whole`` says that the rows are those of one data frame, or some of them. Metadata fit if ``to_pandas`` does not
    fail and does not number rows wrongly; ``fitted_pandas`` of the crate ``orcish`` has the rules.
    """

@final
class TableColumns:
    """The columns of a table that rows are added to."""

    @staticmethod
    def of(
        table: str,
        files: Sequence[str],
        visible: Sequence[str],
        schema: _LogSchema | None = None,
        storage_options: dict[str, Any] | None = None,
        *,
        keeps_twins: bool = False,
    ) -> TableColumns | None:
        """The columns of the schema in the log of a table, or without one those of its files.

        Args:
            table: Path or URL of the table.
            files: The files that stay, by their paths in the table.
            visible: The files whose folders have values of partition columns.
            schema: The schema in the log.
            storage_options: Options of the store.
            keeps_twins: Whether columns of the first file stay that are one column to some readers.

        Raises:
            ValueError: There are files, and none of them is an ORC file, or they have no common schema.
        """

    @property
    def location(self) -> str:
        """Path or URL of the table."""

    @property
    def schema(self) -> object:
        """The columns that can be read, without partition columns, as a PyCapsule."""

    @property
    def partition_schema(self) -> object:
        """The partition columns whose types are known, with the types that readers see, as a PyCapsule."""

    @property
    def timestamp_types(self) -> dict[str, str]:
        """The ORC types of the columns of timestamps, by their dotted names."""

    @property
    def has_arrow_schema(self) -> bool:
        """Whether readers have types that only an Arrow schema keeps: that of the log, or of a file."""

    def appended_schema(
        self, rows: object, partition: Sequence[str], timestamps: Collection[tuple[str, str]] | None = None
    ) -> object:
        """The schema with which rows are appended, as a PyCapsule.

        Raises:
            ValueError: Names differ only by case, or a type of the table does not hold the values.
        """

    def timezone_beside(self, rows: object) -> str | None:
        """The time zone with which rows are written beside the files of the table; ``None`` if any zone will do.

        Raises:
            UnsupportedError: The zone of a file is not known.
        """

def stored_schema(schema: object, options: dict[str, Any] | None = None) -> object:
    """The schema that readers see of a file that is written without an Arrow schema, as a PyCapsule."""

def are_inferred(schema: object) -> bool:
    """Whether readers of a file without an Arrow schema see the types of a schema."""

def with_timestamp_types(schema: object, types: Collection[tuple[str, str]]) -> object:
    """The schema with instants that are stored as ORC types of columns say, as a PyCapsule."""

@final
class StagedFile:
    """A file that is written and not published, given by its token. It can be pickled.

    Raises:
        ValueError: The token is invalid.
    """

    def __new__(cls, token: bytes) -> StagedFile: ...
    @property
    def token(self) -> bytes:
        """The serialized file."""

    @property
    def location(self) -> str:
        """Path or URL of the file once it is published."""

    @property
    def rows(self) -> int:
        """Number of rows."""

    @property
    def size(self) -> int:
        """Size in bytes."""

@disjoint_base
class Job:
    """A job that changes a table. It is pickled for its tasks.

    Raises:
        NotADirectoryError: The path is that of a file.
        UnsupportedError: Tables are not written in such a store.
    """

    def __new__(cls, path: str, storage: Mapping[str, Any] | None = None, id: str | None = None) -> Self:
        """A job of the table in a folder, or of a partition of one.

        Args:
            path: Path or URL of the folder.
            storage: Options of the store.
            id: The ID of a job of another process; a new one by default.
        """

    @property
    def base(self) -> str:
        """Path or URL of the folder that the job writes to, without links: a table, or a partition of one."""

    @property
    def root(self) -> str:
        """Path or URL of the folder of the table, without links."""

    @property
    def inside(self) -> str:
        """The path of the folder of the job below that of the table; empty for the table itself."""

    @property
    def id(self) -> str:
        """The ID of the job."""

    @property
    def storage(self) -> Mapping[str, Any] | None:
        """Options of the store, as they were given."""

    @property
    def staging(self) -> str:
        """Folder of the files of the job, within the folder of the table."""

    @property
    def is_own(self) -> bool:
        """Whether the job belongs to this process, and not to the parent of a fork."""

    def attempt(self) -> str:
        """A new folder for one attempt of a task, within the folder of the table. Its name has 32 digits.

        Raises:
            ValueError: The job belongs to another process.
        """

    def location(self, name: str) -> str:
        """The path or URL of a file or folder, by its path in the table."""

    def name_of(self, file: StagedFile) -> str:
        """The path of a staged file of the job in the table.

        Raises:
            ValueError: The file was not staged for the table.
        """

    def prepare(self, folder: str) -> tuple[int, list[str], tuple[bytes, list[str]] | None]:
        """Finishes a commit of another job that has died, and looks at a folder of the table.

        Returns:
            The position of the log, the files by their paths in the table, and the schema in the log.

        Raises:
            CommitError: The commit cannot be finished.
            UnsupportedError: The folder is that of a transactional table of Hive, or in one.
            ValueError: The table is below another table, or above one.
        """

    def stored_files(self) -> list[tuple[str, int, float]]:
        """All files below the folder that the job writes to, hidden ones included: path in the table, size, and time.

        Raises:
            ValueError: There is another table below the folder.
        """

    def check_own_files(self, names: Sequence[str], there: Sequence[tuple[str, int, float]], fate: str) -> None:
        """Checks that files that readers see are those of the table alone.

        Args:
            names: The files, by their paths in the table.
            there: The files below the folder of the job.
            fate: What does not become of another file, and what to do, for the message.

        Raises:
            CommitError: A file is gone, or behind a link to a folder.
            ValueError: A file is in a folder that is no partition.
        """

    def commit(
        self,
        added: Sequence[StagedFile],
        operation: Literal["append", "overwrite", "compact", "delete"] = "append",
        *,
        existing: Sequence[tuple[str, int, float]] | None = None,
        partitions: Sequence[str] | None = None,
        everything: bool = False,
        is_new: bool = False,
        stream: tuple[str, int] | None = None,
        position: int | None = None,
        schema: tuple[bytes, list[str]] | None = None,
    ) -> bool:
        """Adds files to the table, and removes others, as a whole.

        Args:
            added: Files that tasks have written, of one attempt of each task.
            operation: What the log calls the commit.
            existing: Files to remove. It is an error if one of them has changed.
            partitions: The folders whose files are removed, by their paths in the table.
            everything: Whether all files of the folder of the job are removed.
            is_new: Whether it is an error if the folder of the job has files.
            stream: ID of a stream and number of its batch.
            position: The position of the log at which the caller has looked at the table.
            schema: The schema of the table after the commit; ``None`` where it stays.

        Returns:
            Whether the files are in the table: false if the batch of the stream was committed before.

        Raises:
            UnfinishedCommitError: The commit is decided and not finished; the next writer finishes it. Or it is not
                known whether the commit is decided.
            CommitError: Another commit is not finished and cannot be, or has come first since ``position``, or has
                changed files of ``existing``. The table is unchanged.
            FileExistsError: There are files, with ``is_new``.
            ValueError: Files that are to be removed are not those of the table alone, or the job belongs to another
                process.
            OSError: The commit is not decided; the table is unchanged.
        """

    def abort(self, written: Sequence[StagedFile] | None = None) -> None:
        """Removes the staged files of the job. Files of a commit that is decided stay.

        Args:
            written: Known files. In a store, parts of other files stay until the rules of the store remove unfinished
                uploads.

        Raises:
            ValueError: The job belongs to another process.
            OSError: A file cannot be removed.
        """

    def give_up(self, written: Sequence[StagedFile]) -> None:
        """As :meth:`abort`, but ignores errors, and does nothing in a child of a fork.

        Files that cannot be removed stay until they are vacuumed.
        """

_RowTypes: TypeAlias = object | Callable[[TableColumns | None], tuple[object, str | None]]
"""A schema as a PyCapsule, or a function that is called with the columns of the table, and gives the schema with which
rows are written, and the time zone of the writer.
"""

@final
class RowWrite:
    """A write of rows to a table, or to a partition of one."""

    def __new__(
        cls,
        job: Job,
        existing_data: str,
        partition_by: Sequence[str],
        *,
        arrow_schema: bool,
        option: tuple[str, str] | None = None,
        text_zone: str | None = None,
        replaces_carbon: bool = False,
    ) -> RowWrite:
        """A write by a job.

        Args:
            job: The job.
            existing_data: What the write does where there are data.
            partition_by: The partition columns of the rows, without those of the folder.
            arrow_schema: Whether the files of the rows have an Arrow schema.
            option: The name of the option with the partition columns, and how it is set, with ``{}`` for a list.
            text_zone: The zone of instants in names of folders, where the table has no type for them.
            replaces_carbon: Whether files of CarbonData in the folder are those that the rows replace.
        """

    def check_columns(self, names: Sequence[str]) -> None:
        """Checks the names of the columns of the rows.

        Raises:
            ValueError: A column is one of the folder, or its name differs from that of a partition column only by case.
        """

    def check_partitioned(self) -> None:
        """Checks that rows that replace partitions have partition columns.

        Raises:
            CommitError: A commit of another job cannot be finished.
            ValueError: They have none; the message has those of the table.
        """

    def missing_partition_columns(self) -> list[str]:
        """The partition columns of the table that the rows do not have.

        Raises:
            CommitError: A commit of another job cannot be finished.
        """

    def plan(
        self, rows: _RowTypes, timezone: str | None = None
    ) -> tuple[int, object, str | None, tuple[bytes, list[str]], bool]:
        """Looks at the table, and decides how rows are written.

        Returns:
            The position of the log, the schema with which the rows are written as a PyCapsule, the time zone of the
            writer, the schema of the table after the commit, and whether the table has no columns before.

        Raises:
            FileExistsError: There are data, and nothing is added to them.
            ValueError: The rows do not match the table, or the folder is a partition of no table.
            CommitError: A commit of another job cannot be finished, or has removed a file meanwhile.
            UnsupportedError: The folder has data of CarbonData, or is that of a transactional table of Hive.
        """

    def commit(
        self,
        plan: tuple[int, object, str | None, tuple[bytes, list[str]], bool],
        files: Sequence[StagedFile],
        rows: _RowTypes,
        timezone: str | None = None,
        *,
        values: object | None = None,
        stream: tuple[str, int] | None = None,
    ) -> bool:
        """Commits the files of the rows.

        Args:
            plan: How the rows were written.
            files: The files.
            rows: As for the plan.
            timezone: As for the plan.
            values: The types of the values of partition columns, where they are not those of the plan.
            stream: ID of a stream and number of its batch.

        Returns:
            Whether the files are in the table: false if the batch of the stream was committed before.

        Raises:
            CommitError: The table has changed, and the rows do not match it any more.
            FileExistsError: There are data, and nothing is added to them.
            ValueError: A value of a partition column does not have the type of the table.
            UnfinishedCommitError: As for :meth:`Job.commit`.
        """

def plan_compaction(
    job: Job, size: int, rewrite: bool
) -> tuple[list[list[tuple[str, int, float]]], list[tuple[str, int, float]], tuple[bytes, list[str]] | None]:
    """The files of the folder of a job that become one file each time, all of its files, and the schema in its log."""

def plan_deletion(
    job: Job,
) -> tuple[list[str], list[str], list[tuple[str, int, float]], tuple[bytes, list[str]] | None]:
    """The visible files of the folder of a job, those with bytes, all files, and the schema in its log.

    Raises:
        ValueError: A file is in a folder that is no partition.
    """

def rewritten_schema(job: Job, name: str, options: dict[str, Any], schema: tuple[bytes, list[str]] | None) -> object:
    """The schema with which a file of the table of a job is written again, as a PyCapsule."""

def combine_files(
    job: Job,
    names: Sequence[str],
    *,
    rewrite: bool,
    options: dict[str, Any],
    schema: tuple[bytes, list[str]] | None,
) -> tuple[Literal["merge", "rewrite"], StagedFile]:
    """Writes the rows of files of a table into one file, which is not published yet.

    Args:
        job: The job.
        names: The files, by their paths in the table.
        rewrite: Whether the rows are written again in any case.
        options: Options of the new file where they are.
        schema: The schema of the table in its log.

    Returns:
        What was done, and the file.

    Raises:
        CorruptFileError: A file cannot be read, or is to be merged and contradicts its rows.
        UnsupportedError: The files have columns that are one column to some readers.
        LimitExceededError: A timestamp has digits beyond the unit of its column, or does not fit into 64 bits.
    """

def delete_rows(
    job: Job,
    name: str,
    numbers: tuple[object, object],
    *,
    options: dict[str, Any],
    schema: tuple[bytes, list[str]] | None,
) -> StagedFile | None:
    """Deletes rows of a file, given by the capsules of an array of their numbers: the others are written into a file,
    which is not published yet.

    Returns:
        The file; ``None`` if no row is left.
    """

def replace_files(
    job: Job,
    operation: Literal["compact", "delete"],
    replaced: Sequence[tuple[Sequence[str], StagedFile | None]],
    files: Sequence[tuple[str, int, float]],
    schema: tuple[bytes, list[str]] | None,
) -> None:
    """Commits the replacement of files by files of their rows. Readers find the types that they have found before.

    Args:
        job: The job.
        operation: What the log calls the commit.
        replaced: Files by their paths in the table, and the file in their place.
        files: The files of the table as they were when the job was planned.
        schema: The schema in the log at that time.

    Raises:
        CommitError: A file was changed or removed meanwhile; the table is unchanged.
        UnfinishedCommitError: As for :meth:`Job.commit`.
    """

def file_suffix(options: dict[str, Any]) -> str:
    """The ending of the names of files that are written with some options."""

def untyped_columns(schema: _LogSchema) -> list[str]:
    """The partition columns that have no type in the log yet, as they had no values."""

def cast_rows(rows: tuple[object, object], schema: object, partition: Sequence[str]) -> tuple[object, object]:
    """A batch with the types of a schema of the same columns. Values of partition columns are cast by their texts.

    Raises:
        ValueError: A value is not one of its new type.
    """

@final
class TableLog:
    """The log of the table in a folder, given by its absolute path or its URL."""

    def __new__(cls, root: str, storage_options: dict[str, Any] | None = None) -> TableLog: ...
    def view(
        self, folder: str, *, is_before: bool = False
    ) -> tuple[list[tuple[str, int]], tuple[bytes, list[str]] | None]:
        """Names and sizes of the visible files below a folder of the table, sorted, and the schema in the log."""

    def table_above(self) -> str | None:
        """The nearest folder above that of the table that is a table with a log."""

    def recover(self, *, undo: bool = False) -> str:
        """Finishes the last commit, or undoes it: ``nothing``, ``finished`` or ``undone``."""

    def history(self, limit: int) -> list[tuple[int, int, str, str, int, int, int, tuple[str, int] | None, str, str]]:
        """The last commits, the newest first.

        Number, milliseconds since 1970, operation, status, rows, numbers of files that are added and removed, batch of
        a stream, job, and engine.
        """

    def vacuum(self, seconds: float) -> int:
        """Removes what killed processes have left; the number of files."""

def _tune(values: dict[str, int] | None = None) -> dict[str, tuple[int, int, int]]:
    """For tests: sets sizes of windows of readers and writers, and resets all others.

    Returns:
        The default, the minimum and the maximum of each window, by its name.
    """

@final
class Distinct:
    """A sketch that estimates the number of distinct values, with a standard error of 0.81 %."""

    def __new__(cls) -> Distinct: ...
    def add(self, array: tuple[object, object]) -> None:
        """Adds the values of an array, from its ``__arrow_c_array__``; nulls are ignored."""

    def merge(self, other: bytes) -> None:
        """Adds another sketch, from its ``to_bytes``."""

    def to_bytes(self) -> bytes: ...
    def estimate(self) -> float: ...

@final
class DatasetWriter:
    """A dataset that is being written."""

    def __new__(
        cls,
        base: str,
        schema: object,
        *,
        storage_options: dict[str, Any] | None = None,
        publish: bool = True,
        staging: str | None = None,
        options: dict[str, Any] | None = None,
        **dataset: Any,
    ) -> DatasetWriter: ...
    def write_stream(self, stream: object) -> None: ...
    def begin(self) -> None:
        """Creates a file if there is none, and the dataset has no partition columns."""

    def partition_values(self) -> tuple[object, object]:
        """The values of the partition columns of each finished file, in the order of ``finish``, as a struct array."""

    def finish(self) -> list[tuple[str, int, int, StagedFile | None]]:
        """Finishes all files: location, rows, bytes, and the staged file where it is not published."""

    def abort(self) -> None:
        """Removes all files. A finished dataset stays."""

def exact_bound(statistics: dict[str, Any], schema: object, function: str) -> tuple[object, object] | None:
    """The minimum or maximum of values of the only type of a schema, as an array of one value; ``None`` if the
    statistics are not exact.
    """

@final
class Filter:
    """A predicate of the native core, made of a tree."""

    MAX_LEVELS: Final[int]
    """Maximum number of levels of conjunctions, disjunctions, negations and the leaves below them."""

    def __new__(cls, tree: tuple[Any, ...]) -> Filter: ...
    @staticmethod
    def parse(text: str) -> Filter:
        """Parses a predicate in the syntax of SQL. Text that is no predicate raises ValueError."""

    def tree(self) -> tuple[Any, ...]:
        """The predicate as nested tuples."""
    def mask(self, batch: tuple[object, object]) -> tuple[object, object]:
        """For which rows of a batch the predicate is true, as capsules."""

@final
class Batches:
    """Batches of a read, which can be consumed once."""

    def __arrow_c_schema__(self) -> object: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...
    @property
    def depth(self) -> int: ...
    @property
    def max_result(self) -> int | None: ...
    def raise_failure(self) -> None: ...
    def nodes(self) -> list[Node]: ...
    def next_nodes(self) -> list[Node] | None: ...

_JsonType: TypeAlias = tuple[str, list[tuple[str, _JsonType]]]
"""A type of ORC, or ``null``, and the types in it with their names."""

@final
class JsonTypes:
    """The type of the values of JSON documents, nulls aside. Values of several kinds are a union."""

    def __new__(cls, *, dates: bool = False, hexadecimal: bool = False) -> JsonTypes:
        """With ``dates``, text that has the form of a date in all values is a date; with ``hexadecimal``, text of
        hexadecimal digits is binary.
        """

    def add(
        self, read: Callable[[int], bytes], *, block_size: int, blocks: int | None = None, limit: int | None = None
    ) -> int:
        """Adds documents of a file, and gives their number: those of its first ``blocks``, and at most ``limit``.

        Raises:
            CorruptFileError: The text is not JSON, or a document is larger than a block.
            LimitExceededError: Values nest too deeply.
        """

    def column(self) -> _JsonType:
        """The type."""

    def fine(self) -> list[str]:
        """The columns that have text of a time with digits beyond microseconds."""

def read_json(
    read: Callable[[int], bytes],
    schema: object,
    cast: Callable[[tuple[object, object], object], tuple[object, object]],
    *,
    inferred: set[str],
    advice: str,
    block_size: int,
) -> Batches:
    """The rows of JSON lines.

    Args:
        read: The method of a file.
        schema: The capsule of the schema.
        cast: Takes the capsules of an array of texts and of a schema of one field, and gives those of the values.
        inferred: The columns whose types are inferred; errors about them end in the advice.
        advice: The advice.
        block_size: Bytes that are parsed at a time. A row has no more.
    """

@final
class NewFile:
    """A file of bytes that is being written; arguments as those of :class:`Writer`."""

    def __new__(
        cls,
        target: object,
        storage_options: dict[str, Any] | None = None,
        *,
        overwrite: bool = False,
    ) -> NewFile: ...
    def write(self, data: bytes) -> None:
        """Appends bytes."""
    def finish(self) -> None:
        """Finishes the file, and publishes it."""
    def abort(self) -> None:
        """Discards the file. A finished file stays."""

@final
class Node:
    """An array or a field that can be imported level by level."""

    @property
    def depth(self) -> int: ...
    @property
    def kind(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def nullable(self) -> bool: ...
    @property
    def metadata(self) -> dict[str, str]: ...
    @property
    def type_codes(self) -> list[int]: ...
    @property
    def length(self) -> int: ...
    def buffers(self) -> list[bytes | None]: ...
    def children(self) -> list[Node]: ...
    def __arrow_c_schema__(self) -> object: ...
    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[object, object]: ...

@final
class Scan:
    """A scan of the rows and columns of a table, or of a file."""

    def __new__(
        cls,
        files: Sequence[tuple[str, Any, list[tuple[str, str | None]], bytes | None, list[int] | None]],
        *,
        schema: object | None = None,
        options: dict[str, Any] | None = None,
        matching: str = "name",
        storage_options: Mapping[str, Any] | None = None,
        limits: dict[str, int] | None = None,
        schema_of: Literal["caller", "files", "log", "orc"] = "caller",
        keys: object | None = None,
    ) -> Scan:
        """A scan of ORC files. Columns that cannot be read are an error where they are selected."""

    @staticmethod
    def of_carbon_split(
        token: bytes, *, storage_options: dict[str, Any] | None = None, limits: dict[str, int] | None = None
    ) -> Scan:
        """The scan of a split of a CarbonData table."""

    def with_options(self, options: dict[str, Any]) -> Scan:
        """The same table under other options of reading.

        ``stages`` are filters and limits that are applied one after the other: for each a :class:`Filter` or ``None``,
        a list of :class:`orcish.filters.residual.Residual`, and a limit or ``None``.
        """

    def schema_only(self) -> Batches:
        """No batches, of the schema of the batches that are read."""

    def readable(self, *, row_number: bool = False) -> Batches:
        """No batches, of all columns that can be read, and, with ``row_number``, the column of row numbers."""

    def unified_schema(self, case_sensitive: bool) -> tuple[object, bool, Any, list[tuple[str, Any]]]:
        """The union of the schemas of the files, whether they differ, the error of columns that cannot be read, and the
        dotted names and errors of columns without a common type.
        """

    def all_columns(self, is_whole: bool) -> object:
        """The columns of the table, and after them those that only its files have, as a PyCapsule, without partition
        columns.
        """

    @property
    def fault(self) -> OrcishError | None:
        """The error of the columns that cannot be read."""

    @property
    def files(self) -> list[str]: ...
    @property
    def residual(self) -> str | None:
        """The filters and limits that are applied after the read, for people."""

    @property
    def is_divisible(self) -> bool:
        """Whether parts of the rows can be read alone: there is no limit, and no filter about all rows at once."""

    @property
    def known_limit(self) -> int | None:
        """The number of rows after which a read ends, where it is known before."""

    def read(self) -> Batches: ...
    def count(self) -> int: ...
    def aggregate(self, function: str) -> tuple[object, object]:
        """The minimum, maximum or sum of the only column, as an array of one value."""

    def explain(self) -> list[tuple[str, bool, list[Any]]]: ...
    def exact_statistics(self) -> list[tuple[dict[str, Any], list[int]]] | None:
        """For each file, statistics of the only column over stripes all of whose rows are wanted, and the other
        stripes; ``None`` where rows have to be read to know that.
        """

    def splits(self, size: int) -> list[tuple[str, int, int, list[int], list[tuple[str, str | None]] | None, bytes]]:
        """Location, rows, bytes and stripes of each split; for ORC files the partition values and the tail, for
        CarbonData ``None`` and a token.
        """

def is_carbon(location: str, storage_options: dict[str, Any] | None = None) -> bool:
    """Whether there is a CarbonData table or file at a location."""

@final
class CarbonTable:
    """A CarbonData table at the time when it was opened."""

    def __new__(
        cls,
        location: str,
        *,
        storage_options: dict[str, Any] | None = None,
        limits: dict[str, int] | None = None,
        external_locations: list[str] = ...,
    ) -> CarbonTable: ...
    @property
    def location(self) -> str: ...
    def __arrow_c_schema__(self) -> object: ...
    @property
    def properties(self) -> dict[str, str]: ...
    @property
    def segments(
        self,
    ) -> list[
        tuple[
            tuple[str, str, bool, str],
            tuple[int | None, int | None, int | None],
            str | None,
            tuple[int | None, int | None, int | None, int | None, int],
        ]
    ]:
        """Id, state, whether it is read, format; times of its beginning, end and last change; the segment that it was
        compacted into; rows, deleted rows, bytes of data and of indexes, files.
        """

    @property
    def files(self) -> list[str]: ...
    def rows(self) -> int | None: ...
    @property
    def sort_columns(self) -> list[str]: ...
    @property
    def partition_columns(self) -> list[str]: ...
    @property
    def is_transactional(self) -> bool: ...
    def scan(self) -> Scan: ...

@final
class CarbonFile:
    """A CarbonData file."""

    def __new__(
        cls,
        location: str,
        *,
        storage_options: dict[str, Any] | None = None,
        limits: dict[str, int] | None = None,
    ) -> CarbonFile: ...
    @property
    def version(self) -> int: ...
    @property
    def num_rows(self) -> int: ...
    def __arrow_c_schema__(self) -> object: ...
    @property
    def written_by(self) -> list[tuple[str, str]]: ...
    @property
    def blocklets(self) -> list[tuple[int, int, int]]:
        """Rows, pages and bytes of each blocklet."""

def display_name(location: str) -> str:
    """A path or URL for people: each URL of a chain of fsspec loses its credentials and its query."""

def options_of(
    what: Literal["read", "write", "dataset", "limits", "requests"],
) -> list[tuple[str, str, bool, list[str], str]]:
    """Name, kind, whether it may have no value, words and documentation of each option of the native core."""

def file_version(size: int | None, marks: Sequence[tuple[str, str]]) -> bytes:
    """The version of a file, serialized, given its size and what a file system states about it, by kind."""

def is_same_version(opened: bytes, now: bytes) -> bool:
    """Whether a file may still be the version that was opened, given its version now."""

def detach_threads() -> None:
    """Ends the use of the interpreter by other threads; called at the end of the process."""

def field_path(schema: object, name: str | tuple[str, ...]) -> list[int] | None:
    """The indexes of the column, and of the fields within it, that a name leads to in the schema of a PyCapsule."""

def partitions_of(location: str) -> list[tuple[str, str | None]]:
    """Names and values of the partition columns in a path."""

def partitions_below(base: str, location: str) -> list[tuple[str, str | None]]:
    """As ``partitions_of``, of the folders below ``base``, which was listed."""

def partition_folder(key: str, value: str | None) -> str:
    """The name of a partition folder: ``key=value``, escaped."""

def infer_partition_schema(columns: list[tuple[str, list[str]]], flavor: str) -> object:
    """A PyCapsule of the schema of partition columns, given names and values.

    Args:
        columns: Name and values of each column.
        flavor: ``"hive"`` or ``"spark"``.
    """

def parse_partition_values(texts: tuple[object, object], schema: object, flavor: str) -> tuple[object, object]:
    """Parses strings as values of the type of the only field of a schema. Arrays are pairs of PyCapsules."""

def format_partition_values(
    values: tuple[object, object], flavor: str, *, timezone: str | None = None, interval: tuple[int, int] | None = None
) -> tuple[object, object]:
    """Formats values of a partition column as strings. Arrays are pairs of PyCapsules.

    Args:
        values: The array of values.
        flavor: ``"hive"`` or ``"spark"``.
        timezone: Time zone in which Spark's instants are formatted.
        interval: Spark's numbers of the first and the last field of durations; days and seconds by default.
    """

@final
class File:
    """An ORC file whose tail has been read."""

    def __new__(
        cls,
        source: object,
        *,
        tail: bytes | None = None,
        limits: dict[str, int] | None = None,
        storage_options: Mapping[str, Any] | None = None,
        keys: object | None = None,
    ) -> File: ...
    @property
    def source(self) -> Any:
        """What was opened: a path or URL, bytes or a file object."""

    def in_gregorian_calendar(self) -> File:
        """The file with dates and timestamps of the proleptic Gregorian calendar, whatever its footer says."""

    @property
    def name(self) -> str: ...
    @property
    def num_rows(self) -> int: ...
    @property
    def type_string(self) -> str: ...
    @property
    def column_paths(self) -> list[str]: ...
    def column_id(self, name: str | tuple[str, ...]) -> int:
        """The column id of a name. Raises UnknownColumnError."""

    @property
    def column_types(self) -> list[str]: ...
    def column_type(self, id: int) -> str: ...
    @property
    def column_parents(self) -> list[int | None]: ...
    @property
    def metadata(self) -> dict[str, bytes]: ...
    @property
    def properties(self) -> dict[str, Any]: ...
    @property
    def encryption(
        self,
    ) -> (
        tuple[str, list[tuple[str, int, str]], list[tuple[int, int, int]], list[tuple[str, list[str], list[int]]]]
        | None
    ):
        """Key provider; names, versions and algorithms of keys; column, key and bytes of the encrypted key of variants;
        names, parameters and columns of masks.
        """

    @property
    def stripes(self) -> list[tuple[int, int, int, int, int, int]]: ...
    def column_attributes(self, id: int) -> list[tuple[str, str]]: ...
    def tail_bytes(self) -> bytes: ...
    def write_options(self, has_bloom_filters: bool) -> dict[str, Any]:
        """Options of writing of a file that takes the place of this one."""

    def column_statistics(self, id: int) -> dict[str, Any] | None: ...
    def stripe_statistics(self) -> list[list[dict[str, Any]]]: ...
    def column_stripe_statistics(self, id: int) -> list[dict[str, Any]]: ...
    def writer_timezones(self, stripes: Sequence[int] | None = None) -> list[str]: ...
    def column_storage(
        self, stripes: Sequence[int] | None = None
    ) -> list[tuple[int, int, dict[str, int], int, dict[str, int]]]:
        """Bytes of data, bytes of indexes, bytes by kind of stream, entries of dictionaries, and encodings with their
        numbers of stripes, by column id.
        """

    def row_groups(
        self, id: int, stripes: Sequence[int] | None = None
    ) -> list[tuple[int, int, int, dict[str, Any] | None, list[int], tuple[str, int, int, int] | None]]:
        """Row groups of a column: stripe, first row in it, rows, statistics, positions, and of the bloom filter the
        kind of its stream, hash functions, bits, and bits that are set.
        """

    def check(
        self, progress: Callable[[int], object] | None = None
    ) -> list[tuple[int | None, int | None, str, str, bool]]: ...
    def scan(self) -> Scan: ...

@final
class Writer:
    """A file that is being written."""

    def __new__(
        cls,
        target: object,
        schema: object,
        *,
        options: dict[str, Any] | None = None,
        storage_options: dict[str, Any] | None = None,
        publish: bool = True,
        staging: str | None = None,
        overwrite: bool = False,
    ) -> Writer: ...
    def write_stream(self, stream: object) -> None: ...
    def finish(self) -> tuple[int, int, int]: ...
    def end_stripe(self) -> None: ...
    def set_timezone(self, timezone: str) -> None:
        """Ends the stripe, and sets the time zone of the writer of the next stripes; empty for none."""

    @property
    def memory(self) -> int: ...
    def abort(self) -> None: ...
    def fail(self) -> None: ...
    @property
    def token(self) -> bytes | None: ...
    @property
    def rows(self) -> int: ...
    @property
    def type_string(self) -> str | None: ...
