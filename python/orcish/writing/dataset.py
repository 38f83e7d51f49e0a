"""Writing of datasets: folders of files, with partition folders as in Hive."""

from __future__ import annotations

import os
import uuid
from collections.abc import Collection, Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, get_args

import pyarrow as pa

from orcish import _native
from orcish.arrow.exported import ExportedArray
from orcish.carbon.detect import is_carbon, is_carbon_file
from orcish.errors import CorruptFileError, UnknownColumnError, UnsupportedError, closest_match
from orcish.io.paths import local_path
from orcish.keywords import checked_keywords, chosen_options
from orcish.reading.file import ORCFile
from orcish.types import StorageOptions, WriteOptions
from orcish.writing.timestamps import has_instants, timestamp_types, with_schema, with_stored_types, writer_timezones
from orcish.writing.writer import native_options, schema_and_batches

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["ExistingData", "TableWriter", "WrittenFile", "check_existing_data", "file_suffix", "write_dataset"]

ExistingData: TypeAlias = Literal["error", "append", "overwrite"]
"""What to do where the target has data already."""

MAX_OPEN_FILES = 256
"""Maximum number of open files."""
MAX_MEMORY = 1 << 30
"""Maximum bytes that all open files together hold in memory, by default."""


def check_existing_data(value: str) -> None:
    """Checks the argument ``existing_data``.

    Raises:
        ValueError: The value is none of :data:`ExistingData`.
    """
    if value not in get_args(ExistingData):
        raise ValueError(f"existing_data={value!r}: must be one of {', '.join(get_args(ExistingData))}")


class WrittenFile(NamedTuple):
    """A file of a dataset."""

    path: str
    rows: int
    bytes: int
    partition: dict[str, Any]
    """Values of the partition columns."""


@checked_keywords
def write_dataset(
    data: Any,
    target: str | os.PathLike[str],
    *,
    partition_by: Sequence[str] = (),
    max_rows_per_file: int | None = None,
    basename_template: str | None = None,
    existing_data: ExistingData = "error",
    max_open_files: int = MAX_OPEN_FILES,
    max_memory: int = MAX_MEMORY,
    storage_options: StorageOptions | None = None,
    compression: Literal["zstd", "zlib", "snappy", "lz4", "brotli", "none", "uncompressed"] | None = None,
    compression_level: int | None = None,
    column_compression: Mapping[str, int | Literal["none"] | None] | None = None,
    compression_block_size: int | None = None,
    stripe_size: int | None = None,
    row_index_stride: int | None = None,
    bloom_filter_columns: Sequence[str] | None = None,
    bloom_filter_fpp: float | None = None,
    dictionary: bool | Mapping[str, bool | None] | None = None,
    metadata: Mapping[str, bytes | str] | None = None,
    timezone: str | None = None,
    version: Literal["0.11", "0.12"] | None = None,
    arrow_schema: bool | None = None,
    threads: int | None = None,
    verify: bool | None = None,
) -> list[WrittenFile]:
    """Writes a folder of ORC files, with partition folders such as ``dt=2026-01-01``.

    Each file appears when it is complete. After an error, files that are being written do not appear, and files that
    this call has finished are removed again as far as possible, in stores too. The keywords of
    :class:`~orcish.types.WriteOptions` apply to each file.

    >>> orcish.write_dataset(table, "table/", partition_by=["dt"], max_rows_per_file=10_000_000)   # doctest: +SKIP

    Args:
        data: Anything that :func:`orcish.write_table` takes.
        target: The folder, or a URL of an object store. Missing folders are created. It is no pattern: ``v[12]`` is a
            folder of that name.
        partition_by: Partition columns, the outermost first; files do not have them. Special numbers have the folder
            names of Hive and Spark: ``NaN``, ``Infinity``. As there, empty strings are in the folder of null, and are
            read as null.
        max_rows_per_file: Maximum rows of a file.
        basename_template: Template of file names, with ``{i}`` for a number; by default names are unique to this call.
            Names that readers ignore are refused: those that begin with ``_`` or ``.``, or end with ``_$folder$`` or
            ``.carbondata``. Names with a folder are refused too.
        existing_data: What to do where the folder has data: ``"error"``, ``"append"``, or ``"overwrite"``, which
            removes the old files when all new files are there. Links to files are removed, not their targets. Nothing
            is overwritten where there are files behind a link to a folder. Appended instants have the type that the
            table has: ``timestamp`` in the time zone of its writer, or ``timestamp with local time zone``.
        max_open_files: Maximum number of open files. With more partitions, the least recently used file is finished,
            and later rows of its partition begin another file.
        max_memory: Maximum bytes that all open files together hold in memory; the largest ones end their stripe.
        storage_options: Options of the object store of a URL; see :data:`~orcish.types.StorageOptions`.

    Returns:
        The files, in the order in which they were finished.

    Raises:
        FileExistsError: The folder has data already.
        KeyError: There is no such partition column.
        ValueError: An option is wrong, or a value cannot be stored; all columns would be partition columns; files that
            are to be overwritten are behind a link.
        NotADirectoryError: The target is a file.
        UnsupportedError: The folder has data of CarbonData.
        OSError: A file cannot be written.
    """
    options = chosen_options(locals(), WriteOptions)
    schema, batches = schema_and_batches(data)
    folder = _folder(local_path(os.fspath(target)))
    by = [partition_by] if isinstance(partition_by, str) else list(partition_by)
    for name in by:
        if name not in schema.names:
            closest = closest_match(name, schema.names)
            hint = f"; did you mean {closest!r}?" if closest else ""
            raise UnknownColumnError(f"there is no column {name!r} to partition by{hint}")
    if len(set(by)) != len(by) or len(by) >= max(len(schema), 1):
        raise ValueError(f"partition_by={by}: columns are named once, and one at least is left for the files")
    for name in by:
        kind = schema.field(name).type
        if pa.types.is_dictionary(kind) or pa.types.is_run_end_encoded(kind):
            kind = kind.value_type
        if pa.types.is_nested(kind) or isinstance(kind, pa.BaseExtensionType):
            raise ValueError(f"partition_by={by}: values of {name!r}, of type {kind}, cannot be names of folders")
        if not name or name.startswith("."):
            folder_name = _native.partition_folder(name, "…")
            raise ValueError(f"partition_by={by}: readers pass over folders such as {folder_name!r}")
    if basename_template is not None:
        _check_template(basename_template)
    check_existing_data(existing_data)
    # Unique names need no listing of what exists.
    if "://" not in folder and os.path.isfile(folder):
        raise NotADirectoryError(f"{folder} is a file, and no folder")
    is_looked_for = existing_data != "append" or basename_template is not None or "://" not in folder
    existing = _existing_files(folder, storage_options) if is_looked_for else set()
    if is_carbon(folder, storage_options) or any(is_carbon_file(path) for path in existing):
        raise UnsupportedError(f"{folder} has data of CarbonData, which is only read: write ORC into another folder")
    if existing_data == "error" and existing:
        raise FileExistsError(f"{folder} has data already; existing_data='append' adds to it, 'overwrite' replaces it")
    if existing_data == "overwrite" and "://" not in folder:
        _check_links(folder, existing)
    template = basename_template or f"part-{{i}}-{uuid.uuid4()}.orc"
    given = options
    if existing_data == "append":
        schema, given = _with_table_timestamps(schema, given, folder, storage_options)
    table = TableWriter(
        folder,
        schema,
        by,
        template=template,
        existing=existing,
        max_rows_per_file=max_rows_per_file,
        max_open_files=max_open_files,
        max_memory=max_memory,
        storage_options=storage_options,
        options=given,
    )
    storage = None if storage_options is None else dict(storage_options)
    replaced: list[str] | None = None
    try:
        with table:
            for batch in batches:
                table.write(with_schema(batch, schema))
            if not by:
                table.begin()
        if existing_data == "overwrite" and existing:
            replaced = sorted(existing - _same_files(existing, table.finished))
            _native.delete_files(replaced, storage)
    except BaseException as error:
        # The signal of an interrupt may come at any time. The folder then has the old files or the new files, not both.
        if replaced is None:
            table.abort()
        elif not isinstance(error, Exception):
            _native.delete_files(replaced, storage)
        raise
    return table.finished


def _folder(path: str) -> str:
    """The folder without a trailing slash."""
    if not path:
        raise ValueError("the folder of a table has a name; '.' is the one that this process is in")
    return path if path.endswith("://") else path.rstrip("/") or "/"


def _check_template(template: str) -> None:
    """Raises ValueError for templates of names that readers ignore, or do not recognize as ORC files."""
    given = f"basename_template={template!r}"
    if "{i}" not in template:
        raise ValueError(f"{given}: {{i}} has to be in it, for a number")
    if "/" in template or os.path.basename(template) != template:
        raise ValueError(f"{given}: it names a file, not a folder")
    if template.startswith(("_", ".")):
        raise ValueError(f"{given}: readers pass over files whose names begin with '_' or '.'")
    if template.endswith(("_$folder$", ".carbondata")):
        raise ValueError(f"{given}: readers do not take files of such names for those of a table")


def _check_links(base: str, existing: Collection[str]) -> None:
    """Raises ValueError where a file is behind a link to a folder, as it belongs to another folder too."""
    seen = set()
    for path in sorted(existing):
        folder = os.path.dirname(path)
        while len(folder) > len(base) and folder not in seen:
            seen.add(folder)
            if os.path.islink(folder):
                raise ValueError(
                    f"{folder} is a link to a folder, and what is behind it is not removed: "
                    "existing_data='overwrite' takes a folder that has all of its files itself"
                )
            folder = os.path.dirname(folder)


def _same_files(existing: Collection[str], finished: Collection[WrittenFile]) -> set[str]:
    """Paths that are the same files as finished ones, on case-insensitive file systems."""

    def number(path: str) -> tuple[int, int] | None:
        try:
            found = os.lstat(path)
        except OSError:
            return None
        return found.st_dev, found.st_ino

    own = {number(file.path) for file in finished if "://" not in file.path}
    return {path for path in existing if "://" not in path and number(path) in own - {None}}


class TableWriter:
    """Writes the files of a dataset, with one open file for each partition.

    A context manager: files are finished at its end, or removed after an exception, or where an earlier call has
    failed. In a child process after a fork, all calls raise, and nothing is removed.

    Args:
        base: The folder, or a URL of an object store.
        schema: The schema of the rows, partition columns included.
        by: Partition columns, the outermost first.
        template: Template of file names, with ``{i}`` for a number.
        existing: Paths that are not written to.
        max_rows_per_file: Maximum rows of a file.
        max_open_files: Maximum number of open files.
        max_memory: Maximum bytes that all open files together hold in memory.
        storage_options: Options of the object store.
        staging: A folder for files that are not published yet. ``tokens`` then has the argument of
            :meth:`orcish.tables.folder.Folder.complete` for each path. In an object store, no folder is needed.
        options: Options of each file.
    """

    def __init__(
        self,
        base: str,
        schema: pa.Schema,
        by: Sequence[str] = (),
        *,
        template: str,
        existing: Collection[str] = (),
        max_rows_per_file: int | None = None,
        max_open_files: int = MAX_OPEN_FILES,
        max_memory: int = MAX_MEMORY,
        storage_options: StorageOptions | None = None,
        staging: str | None = None,
        options: dict[str, Any] | None = None,
    ) -> None:
        self.tokens: dict[str, bytes] = {}
        self.finished: list[WrittenFile] = []
        self._by = list(by)
        self._writer = _native.DatasetWriter(
            base,
            schema.__arrow_c_schema__(),
            partition_by=self._by,
            file_name=template,
            excluded=list(existing),
            max_rows_per_file=max_rows_per_file,
            max_open_files=max_open_files,
            max_memory=max_memory,
            storage_options=None if storage_options is None else dict(storage_options),
            publish=staging is None,
            staging=staging,
            options=native_options(dict(options or {})),
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None:
            self._writer.abort()
            return
        try:
            # Python may have no such values. The files are removed then.
            values = self._partitions()
            files = self._writer.finish()
        except BaseException:
            self._writer.abort()
            raise
        for (path, rows, size, token), partition in zip(files, values, strict=True):
            self.finished.append(WrittenFile(path, rows, size, partition))
            if token is not None:
                self.tokens[path] = token

    def abort(self) -> None:
        """Removes all files, as far as possible, also after the end of the context."""
        self._writer.abort()

    def write(self, batch: pa.RecordBatch) -> None:
        """Writes rows to the files of their partitions. After an error, the writer cannot be used any more."""
        reader = pa.RecordBatchReader.from_batches(batch.schema, [batch])
        self._writer.write_stream(reader.__arrow_c_stream__())

    def begin(self) -> None:
        """Opens a file if there is none yet. The file of a dataset without rows holds its schema."""
        self._writer.begin()

    def _partitions(self) -> list[dict[str, Any]]:
        """The values of the partition columns of each file."""
        values = pa.array(ExportedArray(self._writer.partition_values()))
        columns = [column.to_pylist() for column in values.flatten()] if len(values) else []
        rows = zip(*columns, strict=True) if columns else [()] * len(values)
        return [dict(zip(self._by, row, strict=True)) for row in rows]


def _with_table_timestamps(
    schema: pa.Schema, options: dict[str, Any], folder: str, storage_options: StorageOptions | None
) -> tuple[pa.Schema, dict[str, Any]]:
    """The schema and the options of rows that are appended, such that instants are stored as in the existing table: as
    ``timestamp`` in the zone of its writer if the first file with columns does so.
    """
    if not has_instants(schema):
        return schema, options
    kinds: dict[str, str] | None = None
    stored = schema
    # Hive writes files of no bytes, which have no columns.
    for path, size in sorted(_files(folder, storage_options)):
        if not size:
            continue
        try:
            file = ORCFile(path, storage_options=storage_options)
        except (CorruptFileError, FileNotFoundError):
            # The file is no ORC file, or was just removed.
            continue
        if kinds is None:
            kinds = timestamp_types(file)
            stored = with_stored_types(schema, [kinds])
            if "timestamp" not in kinds.values():
                break
        # Other readers show wall clock times, which are consistent only within one zone.
        if zones := writer_timezones(file):
            if len(zones) == 1 and (zone := zones.pop()):
                options = {"timezone": zone, **options}
            break
    return stored, options


def _existing_files(folder: str, storage_options: StorageOptions | None) -> set[str]:
    """Paths of the files of an existing dataset."""
    return {path for path, _ in _files(folder, storage_options)}


def _files(folder: str, storage_options: StorageOptions | None) -> list[tuple[str, int]]:
    """Paths and sizes of the files of a folder; empty where there is no folder."""
    try:
        return _native.list_files(folder, None if storage_options is None else dict(storage_options), patterns=False)
    except FileNotFoundError:
        return []


def file_suffix(options: Mapping[str, Any]) -> str:
    """The suffix of file names, as that of Spark's writer with these options."""
    codec = options.get("compression") or "zstd"
    return ".orc" if codec == "none" else f".{codec}.orc"
