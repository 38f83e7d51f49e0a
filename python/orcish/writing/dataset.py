"""Writing of datasets: folders of files, with partition folders as in Hive."""

from __future__ import annotations

import contextlib
import math
import os
import uuid
from collections import OrderedDict
from collections.abc import Collection, Iterator, Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, get_args

import pyarrow as pa
import pyarrow.compute as pc

from orcish import _native
from orcish.carbon.detect import is_carbon, is_carbon_file
from orcish.errors import CorruptFileError, UnsupportedError, closest_match
from orcish.io.paths import local_path
from orcish.keywords import checked_keywords, chosen_options
from orcish.reading.file import ORCFile
from orcish.types import StorageOptions, WriteOptions
from orcish.writing.timestamps import has_instants, timestamp_types, with_schema, with_stored_types, writer_timezones
from orcish.writing.writer import ORCWriter, schema_and_batches

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["ExistingData", "TableWriter", "WrittenFile", "file_suffix", "write_dataset"]

ExistingData: TypeAlias = Literal["error", "append", "overwrite"]
"""What to do where the target has data already."""

MAX_OPEN_FILES = 256
"""Maximum number of open files."""
MAX_MEMORY = 1 << 30
"""Maximum bytes that all open files together hold in memory, by default."""
NULL_VALUE = "__HIVE_DEFAULT_PARTITION__"
"""Stands for null, and for empty strings, in names of partition folders."""
_ESCAPED = frozenset("\"#%'*/:=?\\\x7f{[]^") | {chr(code) for code in range(32)}


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
            raise KeyError(f"there is no column {name!r} to partition by{hint}")
    if len(set(by)) != len(by) or len(by) >= max(len(schema), 1):
        raise ValueError(f"partition_by={by}: columns are named once, and one at least is left for the files")
    for name in by:
        kind = schema.field(name).type
        if pa.types.is_dictionary(kind) or pa.types.is_run_end_encoded(kind):
            kind = kind.value_type
        if pa.types.is_nested(kind) or isinstance(kind, pa.BaseExtensionType):
            raise ValueError(f"partition_by={by}: names of folders are no values of {kind}, the type of {name!r}")
        if not name or name.startswith("."):
            raise ValueError(f"partition_by={by}: readers pass over folders such as {_escape(name) + '=…'!r}")
    if max_rows_per_file is not None and max_rows_per_file < 1:
        raise ValueError(f"max_rows_per_file={max_rows_per_file}: a file has one row at least")
    if max_open_files < 1 or max_memory < 0:
        raise ValueError(f"max_open_files={max_open_files} is less than 1, or max_memory={max_memory} less than 0")
    if basename_template is not None:
        _check_template(basename_template)
    if existing_data not in get_args(ExistingData):
        raise ValueError(f"existing_data={existing_data!r}: must be one of {', '.join(get_args(ExistingData))}")
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
    with table:
        for batch in batches:
            table.write(with_schema(batch, schema))
        if not by:
            table.begin()
    if existing_data == "overwrite" and existing:
        replaced = sorted(existing - _same_files(existing, table.finished))
        _native.delete_files(replaced, None if storage_options is None else dict(storage_options))
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


class _TakenRows:
    """A record batch of the native core, for import into pyarrow."""

    def __init__(self, capsules: tuple[object, object]) -> None:
        self._capsules = capsules

    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[object, object]:
        return self._capsules


class _Open(NamedTuple):
    writer: ORCWriter
    path: str
    values: tuple[Any, ...]
    """Values of the partition columns."""


class TableWriter:
    """Writes the files of a dataset, with one open file for each partition.

    A context manager: files are finished at its end, or aborted after an exception, or where an earlier call has
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
        # Ordered by last use, the most recent at the end.
        self._open: OrderedDict[tuple[str | None, ...], _Open] = OrderedDict()
        """Keys are values of :func:`_key`."""
        self._base = base
        self._existing = existing
        self._is_remote = "://" in base
        self._by = list(by)
        self._schema = pa.schema([field for field in schema if field.name not in by], schema.metadata)
        self._template = template
        self._max_rows = max_rows_per_file
        self._max_open = max_open_files
        self._max_memory = max_memory
        self._storage_options = storage_options
        self._options = dict(options or {})
        self._is_published = staging is None
        if staging is not None:
            self._options |= {"publish": False, "staging": None if self._is_remote else staging}
        self._count = 0
        self._process = os.getpid()
        self._has_failed = False
        self._closing: str | None = None
        """The path of the file that is being closed."""
        self._made: list[str] = []
        """Folders that were created, outer ones first."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._process != os.getpid():
            # The files belong to the process that created them.
            if kind is None:
                self._check()
            return
        try:
            if kind is None:
                self._check()
                for key in list(self._open):
                    self._finish(key)
        except BaseException:
            self._abort()
            raise
        if kind is not None:
            self._abort()

    def _check(self) -> None:
        """Raises ValueError where the writer cannot be used any more."""
        if self._process != os.getpid():
            raise ValueError(
                f"{self._base}: the table is being written by process {self._process}: "
                "a child of a fork begins one of its own"
            )
        if self._has_failed:
            raise ValueError(f"{self._base}: writing the table has failed before")

    def write(self, batch: pa.RecordBatch) -> None:
        """Writes rows to the files of their partitions. After an error, the writer cannot be used any more."""
        self._check()
        try:
            for values, rows in _partitioned(batch, self._by):
                self._write(values, rows.select(self._schema.names))
        except BaseException:
            self._has_failed = True
            raise

    def begin(self) -> None:
        """Opens a file if there is none yet. The file of a dataset without rows holds its schema."""
        self._check()
        if not self.finished and not self._open:
            self._writer_of((), ())

    def _write(self, values: tuple[Any, ...], rows: pa.RecordBatch) -> None:
        at = 0
        while at < len(rows):
            key = _key(values)
            writer = self._writer_of(key, values)
            left = len(rows) if self._max_rows is None else self._max_rows - writer.rows
            writer.write_batch(rows.slice(at, left))
            at += left
            if self._max_rows is not None and writer.rows >= self._max_rows:
                self._finish(key)
        self._flush_largest()

    def _writer_of(self, key: tuple[str | None, ...], values: tuple[Any, ...]) -> ORCWriter:
        """The open file of a partition; opens one if necessary."""
        if key in self._open:
            self._open.move_to_end(key)
            return self._open[key].writer
        if len(self._open) >= self._max_open:
            self._finish(next(iter(self._open)))
        segments = [f"{_escape(name)}={_folder_name(value)}" for name, value in zip(self._by, values, strict=True)]
        folder = "/".join([self._base.rstrip("/") or "/", *segments])
        if not self._is_remote and self._is_published:
            self._make(folder)
        path = self._name(folder)
        while path in self._existing:
            path = self._name(folder)
        writer = ORCWriter(path, self._schema, storage_options=self._storage_options, **self._options)
        self._open[key] = _Open(writer, path, values)
        return writer

    def _name(self, folder: str) -> str:
        path = f"{folder}/{self._template.replace('{i}', f'{self._count:05d}')}"
        self._count += 1
        return path

    def _make(self, folder: str) -> None:
        missing = []
        above = folder
        while above and not os.path.isdir(above):
            missing.append(above)
            above = os.path.dirname(above)
        os.makedirs(folder, exist_ok=True)
        self._made += reversed(missing)

    def _flush_largest(self) -> None:
        """Ends stripes of the largest files until the memory limit is kept."""
        held = {key: file.writer.memory for key, file in self._open.items()}
        while held and sum(held.values()) > self._max_memory:
            key = max(held, key=lambda key: held[key])
            self._open[key].writer.end_stripe()
            del held[key]

    def _finish(self, key: tuple[str | None, ...]) -> None:
        writer, path, values = self._open[key]
        self._closing = path
        written = writer.close()
        if writer.token is not None:
            self.tokens[path] = writer.token
        partition = dict(zip(self._by, values, strict=True))
        self.finished.append(WrittenFile(path, written.rows, written.bytes, partition))
        self._closing = None
        del self._open[key]

    def _native_storage(self) -> dict[str, Any] | None:
        return None if self._storage_options is None else dict(self._storage_options)

    def _abort(self) -> None:
        """Aborts open files, and removes finished files and created folders as far as possible."""
        for file in self._open.values():
            file.writer.abort()
        self._open.clear()
        # The names are new. Errors are ignored, as another error is being raised.
        if self._is_published:
            done = {file.path for file in self.finished} | ({self._closing} if self._closing is not None else set())
            with contextlib.suppress(OSError):
                _native.delete_files(sorted(done), self._native_storage())
            for folder in reversed(self._made):
                # The folder may have files of others by now.
                with contextlib.suppress(OSError):
                    os.rmdir(folder)
        else:
            for path in [done.path for done in self.finished]:
                with contextlib.suppress(OSError):
                    _native.abort_upload(path, self.tokens.pop(path), self._native_storage())
        self.finished.clear()


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


def _partitioned(batch: pa.RecordBatch, by: list[str]) -> Iterator[tuple[tuple[Any, ...], pa.RecordBatch]]:
    """Splits a batch by partition."""
    if not len(batch):
        return
    if not by:
        yield (), batch
        return
    # Combines the values of all partition columns to one number.
    codes: Any = pa.repeat(pa.scalar(0, pa.int64()), len(batch))
    values = {name: _decoded(batch.column(name)) for name in by}
    for column in values.values():
        encoded = column.dictionary_encode(null_encoding="encode")
        own = pc.cast(encoded.indices, pa.int64())
        codes = pc.add(pc.multiply(codes, max(len(encoded.dictionary), 1)), own)
        # Renumbering keeps the numbers small.
        codes = pc.cast(codes.dictionary_encode().indices, pa.int64())
    # The sort is stable, so rows of a partition keep their order.
    order = pc.array_sort_indices(codes) if len(pc.unique(codes)) > 1 else None
    if order is not None:
        taken = _native.take_rows(batch.__arrow_c_array__(), order.__arrow_c_array__())
        batch = pa.record_batch(_TakenRows(taken))
        codes = codes.take(order)
        values = {name: column.take(order) for name, column in values.items()}
    start = 0
    for end in pc.run_end_encode(codes, run_end_type=pa.int64()).run_ends.to_pylist():
        yield (
            tuple(_partition_value(name, column[start]) for name, column in values.items()),
            batch.slice(start, end - start),
        )
        start = end


def _partition_value(name: str, scalar: pa.Scalar) -> Any:
    """The value of a partition column.

    Raises:
        ValueError: The value is not UTF-8, or is the name that stands for null.
    """
    try:
        value = scalar.as_py()
        text = value.decode() if isinstance(value, bytes) else value
    except UnicodeDecodeError as error:
        message = f"column {name}: {error.object!r} is not UTF-8, as values of partition columns have to be"
        raise ValueError(message) from error
    if text == NULL_VALUE:
        raise ValueError(f"column {name}: {text!r} stands for null in names of folders, and cannot be a value there")
    return value


def _decoded(column: pa.Array) -> pa.Array:
    """Decodes dictionaries, run-end encoding and views, which pyarrow cannot dictionary encode."""
    if pa.types.is_dictionary(column.type):
        values = _decoded(column.dictionary)
        return _decoded(pa.DictionaryArray.from_arrays(column.indices, values).dictionary_decode())
    if pa.types.is_run_end_encoded(column.type):
        return _decoded(pc.run_end_decode(column))
    if column.type == pa.string_view():
        return column.cast(pa.large_string())
    if column.type == pa.binary_view():
        return column.cast(pa.large_binary())
    return column


def _key(values: tuple[Any, ...]) -> tuple[str | None, ...]:
    """The key of a partition. Null and the empty string have different keys, though the same folder."""
    return tuple(None if value is None else "" if value == "" else _folder_name(value) for value in values)


def _folder_name(value: Any) -> str:
    """The folder name of a value, as in Hive and Spark."""
    if value is None or value == "":
        return NULL_VALUE
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, bytes):
        return _escape(value.decode())
    return _escape(str(value))


def _escape(text: str) -> str:
    return "".join(f"%{ord(char):02X}" if char in _ESCAPED else char for char in text)


def file_suffix(options: Mapping[str, Any]) -> str:
    """The suffix of file names, as that of Spark's writer with these options."""
    codec = options.get("compression") or "zstd"
    return ".orc" if codec == "none" else f".{codec}.orc"
