"""The reader of ``pyarrow.orc``, and its selection of columns."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from numbers import Integral
from typing import Any, cast

import pyarrow as pa

from orcish.compat.pyarrow_orc.arrow_types import read_schema, with_schema
from orcish.compat.pyarrow_orc.errors import errors_of_pyarrow
from orcish.compat.pyarrow_orc.locations import checked_source
from orcish.hints import unknown_column
from orcish.reading.file import ORCFile as File
from orcish.reading.file import in_gregorian_calendar, native_file
from orcish.types import ReadOptions

__all__ = ["ColumnSelector", "ORCFile"]


class ColumnSelector:
    """Finds the column ids of names and of indexes of top-level columns.

    The names of pyarrow lead through lists, maps and unions without a step of their own: in a list of structs ``l``,
    ``l.a`` is the field ``a`` of the elements.

    Args:
        file: The file.

    Raises:
        LimitExceededError: The names or types of the columns take more than ``limits["tail"]`` bytes.
    """

    def __init__(self, file: File) -> None:
        paths, parents = file.column_paths, file.column_parents
        is_struct = [kind.startswith("struct<") for kind in file.column_types]
        # A file whose root is no struct has one column.
        self._ids: dict[str, int] = {} if is_struct[0] else {"value": 0}
        steps: list[tuple[str, ...]] = [()]
        for id, parent in list(enumerate(parents))[1:]:
            # The root has no parent; all other columns do.
            above = parent or 0
            name = paths[id][len(paths[above]) + 1 :] if above else paths[id]
            steps.append((*steps[above], name) if is_struct[above] else steps[above])
            if is_struct[above]:
                # The last column of a name counts.
                self._ids[".".join(steps[id])] = id
        self._top = [id for id, parent in enumerate(parents) if parent == 0] if is_struct[0] else [0]

    def select(self, columns: Iterable[Any]) -> list[int]:
        """The ids of columns, in the order of the file.

        Args:
            columns: Names, or indexes of top-level columns.

        Raises:
            OSError: There is no column of a name.
            ValueError: An index is out of range.
            TypeError: The columns are neither all names nor all indexes.
        """
        wanted = list(columns)
        if wanted and isinstance(wanted[0], Integral):
            return sorted({self._id_of_index(each) for each in wanted})
        return sorted({self._id_of_name(each) for each in wanted})

    def _id_of_index(self, index: Any) -> int:
        if not isinstance(index, Integral):
            raise TypeError(f"columns are names or indexes, not both: {index!r} follows an index")
        at, count = int(index), len(self._top)
        if not 0 <= at < count:
            raise ValueError(f"the index of a column is at least 0 and less than {count}, not {at}")
        return self._top[at]

    def _id_of_name(self, name: Any) -> int:
        text = name.decode() if isinstance(name, bytes) else name
        if not isinstance(text, str):
            raise TypeError(f"columns are all names or all indexes; {name!r} is a {type(name).__name__}")
        if text not in self._ids:
            raise OSError(str(unknown_column(text, self._ids)))
        return self._ids[text]


READ_OPTIONS: ReadOptions = {
    "arrow_schema": False,
    "timestamp_unit": "ns",
    "timestamps": "wall",
    "unions": "sparse",
    "masked": "allow",
}
"""Options with which orcish gives the types of pyarrow."""
WRITERS = {0: "ORC_JAVA", 1: "ORC_CPP", 2: "PRESTO", 3: "SCRITCHLEY_GO", 4: "TRINO"}
"""Names of writers, by their codes."""
WRITER_VERSIONS = (
    "ORIGINAL",
    "HIVE_8732",
    "HIVE_4243",
    "HIVE_12055",
    "HIVE_13083",
    "ORC_101",
    "ORC_135",
    "ORC_517",
    "ORC_203",
    "ORC_14",
)
"""Names of versions of writers, by their numbers."""
CODECS = {"none": "UNCOMPRESSED"}
"""Names of codecs that are not those of orcish in upper case."""
OLDEST_VERSION = "0.11"
"""Version of the format of a file that states none."""
DEFAULT_CHUNK_SIZE = 262_144
"""Bytes of a compression chunk in a file that states none."""


class ORCFile:
    """An open ORC file.

    Args:
        source: A path, a file object, or a file or buffer of pyarrow.

    Raises:
        TypeError: The source is none of these.
        OSError: The source cannot be read, or is no ORC file.
    """

    reader: File
    """The file that is read, with all that orcish offers."""

    def __init__(self, source: Any) -> None:
        with errors_of_pyarrow():
            file = File(checked_source(source))
        # The C++ library has one calendar, and does not name it.
        self.reader = in_gregorian_calendar(file) if file.writer == "ORC C++" else file
        self._selector: ColumnSelector | None = None

    def _property(self, name: str) -> Any:
        return native_file(self.reader).properties[name]

    @property
    def metadata(self) -> pa.KeyValueMetadata:
        """The user metadata."""
        return pa.KeyValueMetadata(self.reader.metadata)

    @property
    def schema(self) -> pa.Schema:
        """The Arrow schema of all columns."""
        with errors_of_pyarrow():
            return read_schema(self.reader.arrow_schema(**READ_OPTIONS), self.reader.metadata)

    @property
    def nrows(self) -> int:
        """Number of rows."""
        return self.reader.num_rows

    @property
    def nstripes(self) -> int:
        """Number of stripes."""
        return self.reader.num_stripes

    @property
    def file_version(self) -> str:
        """Version of the format, such as ``0.12``."""
        return self.reader.version or OLDEST_VERSION

    @property
    def software_version(self) -> str:
        """The software that wrote the file, and its version if the file has it."""
        name = "CUDF" if self.reader.writer == "cuDF" else self.reader.writer
        version = self.reader.software_version
        # Files of orcish have its name in the version.
        return name if version is None else version if version.startswith(name) else f"{name} {version}"

    @property
    def compression(self) -> str:
        """The codec: ``UNCOMPRESSED``, ``ZLIB``, ``SNAPPY``, ``LZO``, ``LZ4``, ``ZSTD`` or ``BROTLI``."""
        return CODECS.get(self.reader.compression, self.reader.compression.upper())

    @property
    def compression_size(self) -> int:
        """Maximum bytes of a compression chunk, as the file states it."""
        return cast("int", self._property("stated_chunk_size") or DEFAULT_CHUNK_SIZE)

    @property
    def writer(self) -> str | int:
        """Name of the writer: ``ORC_JAVA``, ``ORC_CPP``, ``PRESTO``, ``SCRITCHLEY_GO``, ``TRINO``; or a code."""
        code: int = self._property("writer_code")
        return WRITERS.get(code, code)

    @property
    def writer_version(self) -> str:
        """Version of the writer, such as ``ORC_135``.

        Raises:
            ValueError: The version has no name.
        """
        version = self.reader.writer_version
        if version >= len(WRITER_VERSIONS):
            raise ValueError(f"version {version} of the writer has no name")
        return WRITER_VERSIONS[version]

    @property
    def row_index_stride(self) -> int:
        """Rows of a row group; 0 where the file has no row index."""
        return self.reader.row_index_stride

    @property
    def nstripe_statistics(self) -> int:
        """Number of stripes with statistics."""
        with errors_of_pyarrow():
            return len(native_file(self.reader).stripe_statistics())

    @property
    def content_length(self) -> int:
        """Bytes of the header and of all stripes."""
        return cast("int", self._property("content_length"))

    @property
    def stripe_statistics_length(self) -> int:
        """Bytes of the statistics of stripes."""
        return cast("int", self._property("stripe_statistics_length"))

    @property
    def file_footer_length(self) -> int:
        """Bytes of the footer."""
        # The tail is the footer, the postscript, and one byte.
        return cast("int", self._property("tail_length") - self._property("postscript_length") - 1)

    @property
    def file_postscript_length(self) -> int:
        """Bytes of the postscript."""
        return cast("int", self._property("postscript_length"))

    @property
    def file_length(self) -> int:
        """Bytes of the file."""
        return self.reader.file_length

    def read_stripe(self, n: int, columns: Iterable[str] | Iterable[int] | None = None) -> pa.RecordBatch:
        """Reads one stripe.

        Args:
            n: The index of the stripe.
            columns: Which columns to read, as in :meth:`read`.

        Raises:
            pyarrow.ArrowInvalid: There is no such stripe, or a timestamp is out of the range of nanoseconds.
            TypeError: The index is no integer.
            OSError: The stripe cannot be read, or the file does not have a column.
        """
        index = operator.index(n)
        if not 0 <= index < self.nstripes:
            raise pa.ArrowInvalid(f"there is no stripe {index}: the file has {self.nstripes}")
        rows = self.reader.stripes[index].num_rows
        table = self._read(columns, {**READ_OPTIONS, "stripes": [index], "batch_size": max(rows, 1)})
        batches = table.combine_chunks().to_batches()
        if not batches:
            return pa.RecordBatch.from_arrays([pa.nulls(0, field.type) for field in table.schema], schema=table.schema)
        if len(batches) > 1:
            raise pa.ArrowCapacityError(f"stripe {index} does not fit into one batch: read the file as a table")
        return batches[0]

    def read(self, columns: Iterable[str] | Iterable[int] | None = None) -> pa.Table:
        """Reads the file.

        Args:
            columns: Which columns to read: dotted names, of which ``a`` includes ``a.b``, or indexes of top-level
                columns. Names lead through lists and maps: ``l.a`` is the field ``a`` of the structs in the list ``l``.
                The columns have the order of the file. All are read by default.

        Raises:
            pyarrow.ArrowInvalid: A timestamp is out of the range of nanoseconds.
            OSError: The file cannot be read, or does not have a column.
            ValueError: An index is out of range.
            TypeError: The columns are neither all names nor all indexes.
        """
        return self._read(columns, READ_OPTIONS)

    def _read(self, columns: Iterable[str] | Iterable[int] | None, options: ReadOptions) -> pa.Table:
        with errors_of_pyarrow():
            if columns is not None:
                self._selector = self._selector or ColumnSelector(self.reader)
                options = {**options, "columns": self._selector.select(columns)}
            table = self.reader.read(**options)
            return with_schema(table, read_schema(table.schema, self.reader.metadata))
