"""Writing of single files."""

from __future__ import annotations

import contextlib
import io
import os
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, cast

import pyarrow as pa

from orcish import _native
from orcish._native import complete_storage, opened_source
from orcish.arrow.exported import schema_for_native
from orcish.encryption.columns import native_encryption
from orcish.io.filesystem import in_file_system
from orcish.io.paths import path_text
from orcish.keywords import checked_keywords, chosen_options
from orcish.progress import reported, reported_so_far
from orcish.reading.file import ORCFile
from orcish.terminal import printable
from orcish.types import ExistingFile, FileSystem, Limits, ProgressOption, Source, StorageOptions, Target, WriteOptions
from orcish.writing.rows import batch_reader, counted, row_count, schema_and_rows, streams
from orcish.writing.target import file_target, name_of

if TYPE_CHECKING:
    from typing_extensions import Self, Unpack

__all__ = [
    "ORCWriter",
    "Written",
    "file_of_schema",
    "merge",
    "native_options",
    "write_table",
]


class Written(NamedTuple):
    """The size of a file that was written."""

    rows: int
    bytes: int
    """Length of the file."""
    stripes: int


class ORCWriter:
    """Writes an ORC file batch by batch.

    The file appears under its name when the writer is closed. A file that is there is refused, or replaced then. After
    an error, or an exception in the ``with`` block, it does not appear, and an existing file stays. The memory is that
    of the current stripe and a batch. Threads can share a writer: a call waits for the calls of others, and the rows of
    a call stay together. In a child process after a fork, writing raises. A writer that is dropped without having been
    closed is a ``ResourceWarning``, and its file does not appear. The keywords are those of
    :class:`~orcish.types.WriteOptions`.

    >>> with orcish.ORCWriter("out.orc", table.schema, bloom_filter_columns=["id"]) as writer:
    ...     for batch in table.to_batches():
    ...         writer.write(batch)
    >>> writer.rows
    100

    Args:
        target: A path, a URL of an object store, or a file object that is open for binary writing. A file object keeps
            the bytes that were written before an error; they are no valid file. Its ``write`` may write a part and
            return how much; a non-blocking one that writes nothing raises ``BlockingIOError``.
        schema: An Arrow schema, or an object with ``__arrow_c_schema__``.
        storage_options: Options of the object store of a URL; see :data:`~orcish.types.StorageOptions`.
        filesystem: The file system that the path is within; see :data:`~orcish.types.FileSystem`.
        existing_data: What to do where the target is there: ``"error"`` or ``"overwrite"``; see
            :data:`~orcish.types.ExistingFile`.
        publish: ``False`` for a file that does not appear when the writer is closed. Its :attr:`token` then completes
            or aborts it, in any process; see ``orcish.tables.folder.Folder.complete``, which replaces a file that has
            appeared since the writer was opened. Not for file objects.
        staging: Folder on the same disk for such a file, which has a hidden name; by default the folder of the target.
            Object stores ignore it, as they hold the parts of the file.

    Raises:
        ValueError: An option is wrong, or a type of the schema cannot be stored.
        UnknownColumnError: The schema does not have a column that an option names.
        FileExistsError: The file is there, and not replaced.
        OSError: The file cannot be created.
    """

    @checked_keywords
    def __init__(
        self,
        target: Target,
        schema: Any,
        *,
        storage_options: StorageOptions | None = None,
        filesystem: FileSystem | None = None,
        existing_data: ExistingFile = "error",
        publish: bool = True,
        staging: str | os.PathLike[str] | None = None,
        **options: Unpack[WriteOptions],
    ) -> None:
        chosen = chosen_options(options, WriteOptions)
        if not hasattr(schema, "__arrow_c_schema__"):
            raise TypeError(f"a schema has __arrow_c_schema__, which {type(schema).__name__} has not")
        self._target = file_target(target, filesystem, storage_options, existing_data)
        native = self._target.native
        try:
            self._writer = _native.Writer(
                native,
                schema_for_native(schema),
                options=native_options(chosen),
                storage_options=complete_storage(native if isinstance(native, str) else (), storage_options),
                publish=publish,
                staging=None if staging is None else path_text(staging),
                overwrite=self._target.overwrite,
            )
        except BaseException:
            self._target.abort()
            raise
        self._name = name_of(target)
        self._lock = threading.Lock()
        self._thread: int | None = None
        """The thread whose call uses the writer."""
        self._state: Literal["open", "closed", "aborted", "failed"] = "open"
        self._process = os.getpid()
        self._schema = schema if isinstance(schema, pa.Schema) else None
        self._written: Written | None = None

    def __repr__(self) -> str:
        return printable(f"<orcish.ORCWriter {self._name}: {self.rows} rows, {self._state}>")

    def __del__(self, warn: Callable[..., None] = warnings.warn, process: Callable[[], int] = os.getpid) -> None:
        # In a forked child, the file is that of the parent.
        if getattr(self, "_state", None) == "open" and self._process == process():
            text = f"{self!r} was not closed: its file does not appear"
            # An error in place of the warning would keep the writer.
            self.abort()
            warn(text, ResourceWarning, source=self)

    @checked_keywords
    def write(self, data: Any) -> None:
        """Writes rows.

        After an error, the writer cannot be used any more, and the file does not appear.

        Args:
            data: An object with ``__arrow_c_stream__`` (a pyarrow, polars or pandas table, a duckdb relation, a
                :class:`~orcish.Scan`) or ``__arrow_c_array__`` (a record batch), a dataset or scanner of pyarrow, or an
                iterable of these.

        Raises:
            TypeError: The object is none of these, or a column of polars has Python objects.
            ValueError: The schema differs, or a value cannot be stored; the message names row and column. Also in a
                child process of the one that created the writer.
            OSError: The rows cannot be written.
        """
        errors: list[BaseException] = []
        with self._turn():
            try:
                for stream in streams(data, errors):
                    self._writer.write_stream(stream)
            except BaseException:
                self._fail()
                if errors:
                    raise errors.pop() from None
                raise

    @checked_keywords
    def write_batch(self, batch: Any) -> None:
        """Writes a record batch, or another object with ``__arrow_c_array__``; raises as :meth:`write`."""
        with self._turn():
            try:
                self._writer.write_stream(batch_reader(batch).__arrow_c_stream__())
            except BaseException:
                self._fail()
                raise

    @checked_keywords
    def write_table(self, table: Any) -> None:
        """Writes a table; the same as :meth:`write`."""
        self.write(table)

    def close(self) -> Written:
        """Finishes the file and, unless ``publish`` is false, publishes it. Further calls have no effect."""
        with self._turn():
            if self._written is None:
                try:
                    written = Written(*self._writer.finish())
                    self._target.complete()
                except BaseException:
                    if self._state != "aborted":
                        self._state = "failed"
                        self._target.abort()
                    raise
                self._written = written
                self._state = "closed"
            return self._written

    @contextlib.contextmanager
    def _turn(self) -> Iterator[None]:
        """Waits for calls of other threads. A call in a child process is left to the native writer, which refuses it:
        the thread of a call may not exist there.

        Raises:
            ValueError: A call of this thread is running, whose rows call the writer.
        """
        if self._process != os.getpid():
            yield
            return
        if self._thread == threading.get_ident():
            # The file does not appear without the rows of a producer that goes on.
            self._fail()
            raise ValueError("the file is being written to by another call")
        with self._lock:
            self._thread = threading.get_ident()
            try:
                yield
            finally:
                self._thread = None

    def abort(self) -> None:
        """Aborts the file, which does not appear. A closed file stays, published or not."""
        self._writer.abort()
        if self._state != "closed":
            self._target.abort()
            self._state = "aborted"

    def _fail(self) -> None:
        self._writer.fail()
        if self._state == "open":
            self._state = "failed"
            self._target.abort()

    @property
    def token(self) -> bytes | None:
        """Completes or aborts an unpublished file; ``None`` before the writer is closed."""
        return self._writer.token

    def end_stripe(self) -> None:
        """Ends the stripe early, to free memory, or to separate rows."""
        with self._turn():
            self._writer.end_stripe()

    @property
    def memory(self) -> int:
        """Bytes of memory of the current stripe."""
        return self._writer.memory

    @property
    def rows(self) -> int:
        """Number of rows that were written."""
        return self._writer.rows

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None:
            self.abort()
            return
        try:
            self.close()
        except BaseException:
            # Frees all resources, even while the exception is referenced.
            self.abort()
            raise


@checked_keywords
def write_table(
    data: Any,
    target: Target,
    *,
    existing_data: ExistingFile = "error",
    progress: ProgressOption = False,
    storage_options: StorageOptions | None = None,
    filesystem: FileSystem | None = None,
    **options: Unpack[WriteOptions],
) -> Written:
    """Writes an ORC file; see :class:`ORCWriter`. The keywords are those of :class:`~orcish.types.WriteOptions`.

    >>> orcish.write_table(table, "out.orc", compression="zlib", bloom_filter_columns=["id"])
    Written(rows=100, bytes=..., stripes=1)

    Args:
        data: An object with ``__arrow_c_stream__`` or ``__arrow_c_array__``: tables and batches of pyarrow, data frames
            of polars and pandas, relations of duckdb, files and scans of orcish. Also a dataset or scanner of pyarrow,
            and a list or generator of such objects that have the same columns. The index of a data frame of pandas is
            kept as pyarrow keeps it in files of Parquet: ``to_pandas`` restores it.
        target: A path, a URL of an object store, or a file object that is open for binary writing.
        existing_data: What to do where the target is there: ``"error"`` or ``"overwrite"``; see
            :data:`~orcish.types.ExistingFile`.
        progress: True for a bar on the terminal, or a function that is called with a
            :class:`~orcish.types.Progress`, of rows, at the beginning and after each batch.
        storage_options: Options of the object store of a URL; see :data:`~orcish.types.StorageOptions`.
        filesystem: The file system that the path is within; see :data:`~orcish.types.FileSystem`.

    Raises:
        TypeError: ``data`` is none of these, or a column of polars has Python objects.
        ValueError: An option is wrong, a type or value cannot be stored, or parts have different columns; the message
            names row and column.
        UnknownColumnError: The data does not have a column that an option names.
        FileExistsError: The file is there, and not replaced.
        OSError: The file cannot be written.
    """
    chosen = chosen_options(options, WriteOptions)
    schema, rows = schema_and_rows(data)
    total = row_count(data) if progress else None
    with (
        ORCWriter(
            target,
            schema,
            storage_options=storage_options,
            filesystem=filesystem,
            existing_data=existing_data,
            **chosen,
        ) as writer,
        reported(progress, f"write {name_of(target)}", total) as add,
    ):
        writer.write(counted(rows, add) if progress else rows)
    return writer.close()


@checked_keywords
def merge(
    sources: Sequence[Source],
    target: Target,
    *,
    existing_data: ExistingFile = "error",
    storage_options: StorageOptions | None = None,
    filesystem: FileSystem | None = None,
    limits: Limits | None = None,
    progress: ProgressOption = False,
) -> Written:
    """Writes the stripes of several files as one file. Bytes are copied, nothing is decoded.

    The files must have the same types and attributes, codec, format version, row index stride, writer, writer version
    and calendar. User metadata are merged; a key must have the same value in all files that have it. Arrow schemas that
    differ only in representation are dropped. They must be the same in all files where columns are durations, times,
    intervals, or instants that are stored with the zone of their writer. The new file records the writer of the files,
    and has merged statistics.

    >>> orcish.merge(["orders.orc", "orders.orc"], "out.orc")
    Written(rows=200, bytes=..., stripes=2)

    Args:
        sources: Paths, URLs, bytes or file objects, in the order of their rows.
        target: A path, a URL of an object store, or a file object that is open for binary writing.
        existing_data: What to do where the target is there: ``"error"`` or ``"overwrite"``; see
            :data:`~orcish.types.ExistingFile`.
        storage_options: Options of the object stores of URLs; see :data:`~orcish.types.StorageOptions`.
        filesystem: The file system that all paths are within; see :data:`~orcish.types.FileSystem`.
        limits: Limits on what the files may make the reader do.
        progress: True for a bar on the terminal, or a function that is called with a
            :class:`~orcish.types.Progress`, in bytes, whose total is not known.

    Raises:
        ValueError: There are no files, or they differ; the message names the file and the difference.
        CorruptFileError: A file is no valid ORC file.
        LimitExceededError: The tails of the files exceed the memory limit.
        UnsupportedError: A file has encrypted columns, or overlapping stripes.
        FileExistsError: The target is there, and not replaced.
        OSError: A file cannot be read, or the new file cannot be written.
    """
    places = in_file_system(sources, filesystem, storage_options)
    files = [opened_source(place) for place in places]
    native_limits = cast("dict[str, int] | None", limits)
    new = file_target(target, filesystem, storage_options, existing_data)
    options = complete_storage((each for each in (*files, new.native) if isinstance(each, str)), storage_options)
    with new, reported_so_far(progress, f"merge {name_of(target)}", None) as done:
        *written, _ = _native.merge_files(
            files,
            new.native,
            storage_options=options,
            limits=native_limits,
            overwrite=new.overwrite,
            progress=done,
        )
    return Written(*written)


def file_of_schema(schema: pa.Schema) -> ORCFile:
    """A file in memory without rows that has the columns of a schema."""
    target = io.BytesIO()
    # pyarrow makes no empty table of some types.
    with ORCWriter(target, schema):
        pass
    return ORCFile(target.getvalue())


def native_options(options: dict[str, Any]) -> dict[str, Any]:
    """Options in the form that the native core takes."""
    native = {name: value for name, value in options.items() if value is not None}
    dictionary = native.pop("dictionary", None)
    if isinstance(dictionary, Mapping):
        native["column_dictionary"] = list(dictionary.items())
    elif dictionary is not None:
        native["dictionary"] = dictionary
    if "column_compression" in native:
        own = cast("Mapping[str, int | str | None]", native["column_compression"])
        native["column_compression"] = [(column, _level(level)) for column, level in own.items()]
    encryption = native_encryption(*(native.pop(name, None) for name in ("encrypt", "mask", "keys")))
    if encryption is not None:
        native["encryption"] = encryption
    if "metadata" in native:
        pairs = cast("Mapping[str, bytes | str]", native["metadata"])
        native["metadata"] = [(key, _bytes(key, value)) for key, value in pairs.items()]
    return native


def _bytes(key: str, value: Any) -> bytes:
    if isinstance(value, str):
        return value.encode()
    if isinstance(value, bytes | bytearray | memoryview):
        return bytes(value)
    raise TypeError(f"metadata: the value of {key!r} is bytes or text, not {type(value).__name__}")


def _level(level: int | str | None) -> int | None:
    if level is None or isinstance(level, int):
        return level
    if level in ("none", "uncompressed"):
        return None
    raise ValueError(f"column_compression: {level!r} is no level, nor None; the codec is that of the file")
