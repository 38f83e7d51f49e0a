"""Writing of tables: folders of files, with Hive's partitions."""

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
from orcish.errors import CorruptFileError, UnsupportedError, nearest
from orcish.io.paths import local_path
from orcish.keywords import checked_keywords, chosen_options
from orcish.reading.file import ORCFile
from orcish.types import StorageOptions, WriteOptions
from orcish.writing.timestamps import as_stored, has_instants, kinds_of, with_schema, zones_of
from orcish.writing.writer import ORCWriter, batches_of

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["ExistingData", "TableWriter", "WrittenFile", "file_suffix", "write_dataset"]

ExistingData: TypeAlias = Literal["error", "append", "overwrite"]
"""What becomes of data that is there already."""

MAX_OPEN_FILES = 256
"""Most files that are written at a time."""
MAX_MEMORY = 1 << 30
"""Most bytes that files which are being written may hold together, by default."""
NULL_VALUE = "__HIVE_DEFAULT_PARTITION__"
"""What stands for null, and for empty text, in the name of a partition's folder."""
_ESCAPED = frozenset("\"#%'*/:=?\\\x7f{[]^") | {chr(code) for code in range(32)}


class WrittenFile(NamedTuple):
    """A file of a table."""

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
    """Writes a folder of ORC files, in folders such as ``dt=2026-01-01`` where it has partition columns.

    Each file appears when it is whole; if something fails, those that are being written do not appear, and those that
    have been finished by this call are removed again, in stores too, as far as they can be.

    >>> orcish.write_dataset(table, "table/", partition_by=["dt"], max_rows_per_file=10_000_000)   # doctest: +SKIP

    Args:
        data: Anything that :func:`orcish.write_table` takes.
        target: The folder, or a URL of an object store. It is made, and those in it. It is no pattern: ``v[12]`` is a
            folder of that name.
        partition_by: Columns whose values name folders, the outermost first; files do not have them. Numbers that are
            none have the names that Hive and Spark give them: ``NaN``, ``Infinity``. Empty text is in the folder of
            null, as it is with these, and is read as null.
        max_rows_per_file: Rows after which another file begins.
        basename_template: Names of files, with ``{i}`` for a number; by default a part of them is of this call only.
            Names that readers pass over are refused: those that begin with ``_`` or ``.``, or end with ``_$folder$`` or
            ``.carbondata``. So are names with a folder in them.
        existing_data: What to do where the folder has files that are data: ``"error"``, ``"append"`` to them, or
            ``"overwrite"``, which removes them once all new files are there. Of links to files the links are removed;
            where files are behind a link to a folder, nothing is overwritten. Instants are added as the type that the
            table has: as ``timestamp`` in the time zone of its writer, or as ``timestamp with local time zone``.
        max_open_files: Most files that are written at a time: where there are more partitions, the one that has waited
            longest is finished, and begins another file when it has rows again.
        max_memory: Most bytes that files which are being written may hold together; what holds most ends its stripe.
        storage_options: How the store of a URL is reached; see :data:`~orcish.types.StorageOptions`.
        options: See :class:`~orcish.types.WriteOptions`.

    Returns:
        The files, in the order in which they were finished.

    Raises:
        FileExistsError: The folder has data already.
        KeyError: There is no partition column of a name.
        ValueError: An option is wrong, or a value cannot be stored; all columns would be partition columns; what is to
            be overwritten is behind a link.
        NotADirectoryError: There is a file in the place of the folder.
        UnsupportedError: The folder has data of CarbonData.
        OSError: A file cannot be written.
    """
    options = chosen_options(locals(), WriteOptions)
    schema, batches = batches_of(data)
    folder = _folder(local_path(os.fspath(target)))
    by = [partition_by] if isinstance(partition_by, str) else list(partition_by)
    for name in by:
        if name not in schema.names:
            meant = nearest(name, schema.names)
            hint = f"; did you mean {meant!r}?" if meant else ""
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
            raise ValueError(f"partition_by={by}: readers pass over folders such as {_escaped(name) + '=…'!r}")
    if max_rows_per_file is not None and max_rows_per_file < 1:
        raise ValueError(f"max_rows_per_file={max_rows_per_file}: a file has one row at least")
    if max_open_files < 1 or max_memory < 0:
        raise ValueError(f"max_open_files={max_open_files} is less than 1, or max_memory={max_memory} less than 0")
    if basename_template is not None:
        _check_template(basename_template)
    if existing_data not in get_args(ExistingData):
        raise ValueError(f"existing_data={existing_data!r}: must be one of {', '.join(get_args(ExistingData))}")
    # Names of its own are those of no other call.
    if "://" not in folder and os.path.isfile(folder):
        raise NotADirectoryError(f"{folder} is a file, and no folder")
    is_looked_for = existing_data != "append" or basename_template is not None or "://" not in folder
    there = _data_of(folder, storage_options) if is_looked_for else set()
    if is_carbon(folder, storage_options) or any(is_carbon_file(path) for path in there):
        raise UnsupportedError(f"{folder} has data of CarbonData, which is only read: write ORC into another folder")
    if existing_data == "error" and there:
        raise FileExistsError(f"{folder} has data already; existing_data='append' adds to it, 'overwrite' replaces it")
    if existing_data == "overwrite" and "://" not in folder:
        _check_links(folder, there)
    template = basename_template or f"part-{{i}}-{uuid.uuid4()}.orc"
    given = options
    if existing_data == "append":
        schema, given = _like_table(schema, given, folder, storage_options)
    table = TableWriter(
        folder,
        schema,
        by,
        template=template,
        there=there,
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
    if existing_data == "overwrite" and there:
        replaced = sorted(there - _same_files(there, table.finished))
        _native.delete_files(replaced, None if storage_options is None else dict(storage_options))
    return table.finished


def _folder(path: str) -> str:
    """A path or URL of a folder, as the paths of files below it begin."""
    if not path:
        raise ValueError("the folder of a table has a name; '.' is the one that this process is in")
    return path if path.endswith("://") else path.rstrip("/") or "/"


def _check_template(template: str) -> None:
    """Raises ValueError for names of files that readers would pass over, or not take for ORC files."""
    given = f"basename_template={template!r}"
    if "{i}" not in template:
        raise ValueError(f"{given}: {{i}} has to be in it, for a number")
    if "/" in template or os.path.basename(template) != template:
        raise ValueError(f"{given}: it names a file, not a folder")
    if template.startswith(("_", ".")):
        raise ValueError(f"{given}: readers pass over files whose names begin with '_' or '.'")
    if template.endswith(("_$folder$", ".carbondata")):
        raise ValueError(f"{given}: readers do not take files of such names for those of a table")


def _check_links(base: str, there: Collection[str]) -> None:
    """Raises ValueError where one of the files in a folder is behind a link: it is of another folder too."""
    seen = set()
    for path in sorted(there):
        folder = os.path.dirname(path)
        while len(folder) > len(base) and folder not in seen:
            seen.add(folder)
            if os.path.islink(folder):
                raise ValueError(
                    f"{folder} is a link to a folder, and what is behind it is not removed: "
                    "existing_data='overwrite' takes a folder that has all of its files itself"
                )
            folder = os.path.dirname(folder)


def _same_files(there: Collection[str], finished: Collection[WrittenFile]) -> set[str]:
    """Paths that lead to files which have just been written: names may differ in their case alone."""

    def number(path: str) -> tuple[int, int] | None:
        try:
            found = os.lstat(path)
        except OSError:
            return None
        return found.st_dev, found.st_ino

    own = {number(file.path) for file in finished if "://" not in file.path}
    return {path for path in there if "://" not in path and number(path) in own - {None}}


class _Taken:
    """Rows on their way back to pyarrow."""

    def __init__(self, capsules: tuple[object, object]) -> None:
        self._capsules = capsules

    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[object, object]:
        return self._capsules


class _Open(NamedTuple):
    writer: ORCWriter
    path: str
    values: tuple[Any, ...]
    """Of the partition columns."""


class TableWriter:
    """Writes the files of a table, those of its partitions side by side.

    In a ``with`` block: they are finished at its end, or given up with an exception, and so they are where a call in it
    has failed. A child of a fork cannot go on with them, and removes nothing.

    Args:
        base: The folder, or a URL of an object store.
        schema: Of the rows, partition columns included.
        by: Partition columns, the outermost first.
        template: Names of files, with ``{i}`` for a number.
        there: Paths that are not written to.
        max_rows_per_file: Rows after which another file begins.
        max_open_files: Most files that are written at a time.
        max_memory: Most bytes that they may hold together.
        storage_options: How the store of a URL is reached.
        staging: A folder in which files wait that are not to appear yet; ``tokens`` has, by their paths, what
            :meth:`orcish.tables.folder.Folder.complete` needs. In a store they wait where they will be.
        options: Of each file.
    """

    def __init__(
        self,
        base: str,
        schema: pa.Schema,
        by: Sequence[str] = (),
        *,
        template: str,
        there: Collection[str] = (),
        max_rows_per_file: int | None = None,
        max_open_files: int = MAX_OPEN_FILES,
        max_memory: int = MAX_MEMORY,
        storage_options: StorageOptions | None = None,
        staging: str | None = None,
        options: dict[str, Any] | None = None,
    ) -> None:
        self.tokens: dict[str, bytes] = {}
        self.finished: list[WrittenFile] = []
        # The one that was written to last at the end.
        self._open: OrderedDict[tuple[str | None, ...], _Open] = OrderedDict()
        """By the names of their folders, and whether the value is null where it has that of null."""
        self._base = base
        self._there = there
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
        """The path of a file that is appearing."""
        self._made: list[str] = []
        """Folders that were not there before, those within others behind them."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._process != os.getpid():
            # All that there is belongs to the process that began it.
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
        """Raises ValueError where nothing can follow."""
        if self._process != os.getpid():
            raise ValueError(
                f"{self._base}: the table is being written by process {self._process}: "
                "a child of a fork begins one of its own"
            )
        if self._has_failed:
            raise ValueError(f"{self._base}: writing the table has failed before")

    def write(self, batch: pa.RecordBatch) -> None:
        """Writes rows, each to the file of its partition. Whatever is raised, nothing can follow."""
        self._check()
        try:
            for values, rows in _partitioned(batch, self._by):
                self._write(values, rows.select(self._schema.names))
        except BaseException:
            self._has_failed = True
            raise

    def begin(self) -> None:
        """Begins a file, if there has been none: that of a table without rows says its schema."""
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
        self._relieve()

    def _writer_of(self, key: tuple[str | None, ...], values: tuple[Any, ...]) -> ORCWriter:
        """The file of a partition that is being written; another one where there is none."""
        if key in self._open:
            self._open.move_to_end(key)
            return self._open[key].writer
        if len(self._open) >= self._max_open:
            self._finish(next(iter(self._open)))
        segments = [f"{_escaped(name)}={_text(value)}" for name, value in zip(self._by, values, strict=True)]
        folder = "/".join([self._base.rstrip("/") or "/", *segments])
        if not self._is_remote and self._is_published:
            self._make(folder)
        path = self._name(folder)
        while path in self._there:
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

    def _relieve(self) -> None:
        """Ends stripes while more memory is held than may be."""
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
        """Gives up what is being written, and removes what has been made where that can be."""
        for file in self._open.values():
            file.writer.abort()
        self._open.clear()
        # Of files of these names there were none. What fails here is what fails already.
        if self._is_published:
            done = {file.path for file in self.finished} | ({self._closing} if self._closing is not None else set())
            with contextlib.suppress(OSError):
                _native.delete_files(sorted(done), self._native_storage())
            for folder in reversed(self._made):
                # Somebody else may have put something there.
                with contextlib.suppress(OSError):
                    os.rmdir(folder)
        else:
            for path in [done.path for done in self.finished]:
                with contextlib.suppress(OSError):
                    _native.abort_upload(path, self.tokens.pop(path), self._native_storage())
        self.finished.clear()


def _like_table(
    schema: pa.Schema, options: dict[str, Any], folder: str, storage_options: StorageOptions | None
) -> tuple[pa.Schema, dict[str, Any]]:
    """The schema of rows that are added to a table, and the options, with which instants are stored as the table has
    them: as ``timestamp`` in the zone of its writer, where the first file that has columns does so.
    """
    if not has_instants(schema):
        return schema, options
    kinds: dict[str, str] | None = None
    stored = schema
    # Files of no bytes, as Hive writes them, have no columns.
    for path, size in sorted(_files(folder, storage_options)):
        if not size:
            continue
        try:
            file = ORCFile(path, storage_options=storage_options)
        except (CorruptFileError, FileNotFoundError):
            # It is no file of ORC, or somebody has just removed it, which is none of our business here.
            continue
        if kinds is None:
            kinds = kinds_of(file)
            stored = as_stored(schema, [kinds])
            if "timestamp" not in kinds.values():
                break
        # Other readers than ours show its clock: with the zone of the others it shows the same instants as those.
        if zones := zones_of(file):
            if len(zones) == 1 and (zone := zones.pop()):
                options = {"timezone": zone, **options}
            break
    return stored, options


def _data_of(folder: str, storage_options: StorageOptions | None) -> set[str]:
    """The files of a table that is there."""
    return {path for path, _ in _files(folder, storage_options)}


def _files(folder: str, storage_options: StorageOptions | None) -> list[tuple[str, int]]:
    """The files of a folder, which is no pattern, and their sizes; none where it is not there."""
    try:
        return _native.list_files(folder, None if storage_options is None else dict(storage_options), patterns=False)
    except FileNotFoundError:
        return []


def _partitioned(batch: pa.RecordBatch, by: list[str]) -> Iterator[tuple[tuple[Any, ...], pa.RecordBatch]]:
    """The rows of each partition."""
    if not len(batch):
        return
    if not by:
        yield (), batch
        return
    # Each row's partition as one number.
    codes: Any = pa.repeat(pa.scalar(0, pa.int64()), len(batch))
    values = {name: _plain(batch.column(name)) for name in by}
    for column in values.values():
        encoded = column.dictionary_encode(null_encoding="encode")
        own = pc.cast(encoded.indices, pa.int64())
        codes = pc.add(pc.multiply(codes, max(len(encoded.dictionary), 1)), own)
        # Numbers stay as few as there are partitions.
        codes = pc.cast(codes.dictionary_encode().indices, pa.int64())
    # Rows of a partition stay in their order: sorting is stable.
    order = pc.array_sort_indices(codes) if len(pc.unique(codes)) > 1 else None
    if order is not None:
        taken = _native.take_rows(batch.__arrow_c_array__(), order.__arrow_c_array__())
        batch = pa.record_batch(_Taken(taken))
        codes = codes.take(order)
        values = {name: column.take(order) for name, column in values.items()}
    start = 0
    for end in pc.run_end_encode(codes, run_end_type=pa.int64()).run_ends.to_pylist():
        yield tuple(_value(name, column[start]) for name, column in values.items()), batch.slice(start, end - start)
        start = end


def _value(name: str, scalar: pa.Scalar) -> Any:
    """A value of a partition column.

    Raises:
        ValueError: It is not UTF-8, as names of folders are, or the text that stands for null in them.
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


def _plain(column: pa.Array) -> pa.Array:
    """A column without dictionary, runs and views, which pyarrow cannot number."""
    if pa.types.is_dictionary(column.type):
        values = _plain(column.dictionary)
        return _plain(pa.DictionaryArray.from_arrays(column.indices, values).dictionary_decode())
    if pa.types.is_run_end_encoded(column.type):
        return _plain(pc.run_end_decode(column))
    if column.type == pa.string_view():
        return column.cast(pa.large_string())
    if column.type == pa.binary_view():
        return column.cast(pa.large_binary())
    return column


def _key(values: tuple[Any, ...]) -> tuple[str | None, ...]:
    """What tells the files of partitions apart."""
    return tuple(None if value is None else "" if value == "" else _text(value) for value in values)


def _text(value: Any) -> str:
    """A value as the name of its folder, as Hive and Spark have it."""
    if value is None or value == "":
        return NULL_VALUE
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, bytes):
        return _escaped(value.decode())
    return _escaped(str(value))


def _escaped(text: str) -> str:
    return "".join(f"%{ord(char):02X}" if char in _ESCAPED else char for char in text)


def file_suffix(options: Mapping[str, Any]) -> str:
    """How names of files end that are written with these options, as those of Spark's writer do."""
    codec = options.get("compression") or "zstd"
    return ".orc" if codec == "none" else f".{codec}.orc"
