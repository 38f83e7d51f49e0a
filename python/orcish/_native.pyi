"""Types of the native part of orcish; :mod:`orcish` is what to use."""

from collections.abc import Sequence
from typing import Any, final

__all__ = [
    "Batches",
    "CarbonFile",
    "CarbonScan",
    "CarbonTable",
    "Distinct",
    "File",
    "Filter",
    "Node",
    "Scan",
    "Writer",
    "__version__",
    "_tune",
    "abort_upload",
    "complete_upload",
    "delete_files",
    "delete_folder",
    "display_name",
    "is_carbon",
    "list_all",
    "list_files",
    "merge_files",
    "partitions_below",
    "partitions_of",
    "read_small",
    "stat",
    "take_rows",
    "upload_info",
    "write_small",
]

__version__: str

def list_files(
    location: str, storage_options: dict[str, Any] | None = None, *, patterns: bool = True
) -> list[tuple[str, int]]:
    """Locations and sizes of the files at a path or URL: one file, all of a folder, or those of a pattern, unless there
    are to be no ``patterns``.
    """

def read_small(location: str, storage_options: dict[str, Any] | None = None, *, limit: int = 67108864) -> bytes:
    """All bytes of a file, which are at most ``limit``."""

def write_small(location: str, data: bytes, storage_options: dict[str, Any] | None = None, *, overwrite: bool) -> None:
    """Makes a file of these bytes, which appears whole: in place of what is there, or only where there is nothing."""

def delete_files(locations: Sequence[str], storage_options: dict[str, Any] | None = None) -> None:
    """Deletes files; those that are missing are no error."""

def delete_folder(location: str, storage_options: dict[str, Any] | None = None) -> None:
    """Deletes a folder with all that is below; one that is missing is no error."""

def list_all(location: str, storage_options: dict[str, Any] | None = None) -> list[tuple[str, int, float]]:
    """Locations, sizes and times (seconds since 1970) of all files below a folder, hidden ones too."""

def stat(location: str, storage_options: dict[str, Any] | None = None) -> tuple[int, float] | None:
    """Size and time of a file; ``None`` where there is none."""

def complete_upload(location: str, token: bytes, storage_options: dict[str, Any] | None = None) -> None:
    """Makes the file appear that a ``Writer`` has not published; once more does nothing more."""

def abort_upload(location: str, token: bytes, storage_options: dict[str, Any] | None = None) -> None:
    """Removes the file that a ``Writer`` has not published; one that has appeared stays."""

def upload_info(token: bytes) -> tuple[str, int, int, int]:
    """Location, rows, bytes and stripes of the file that a ``Writer`` has not published."""

def merge_files(
    sources: Sequence[object],
    target: object,
    *,
    storage_options: dict[str, Any] | None = None,
    limits: dict[str, int] | None = None,
    publish: bool = True,
    staging: str | None = None,
) -> tuple[int, int, int, bytes | None]:
    """Writes the stripes of files as one file, without decoding them: rows, bytes and stripes, and a token with
    ``publish=False``.
    """

def take_rows(batch: tuple[object, object], indexes: tuple[object, object]) -> tuple[object, object]:
    """Rows of a batch, in the order of their indexes: types and arrays as PyCapsules."""

def _tune(values: dict[str, int] | None = None) -> dict[str, tuple[int, int, int]]:
    """For tests: makes windows of readers and writers as large as ``values`` say, and all others what they are without
    tests. Says of each by its name how large it is without that, and the least and the greatest size in tests.
    """

@final
class Distinct:
    """A sketch of a set of values, from which their number is estimated, with a standard error of 0.81 %."""

    def __new__(cls) -> Distinct: ...
    def add(self, array: tuple[object, object]) -> None:
        """Adds the values of an array, from its `__arrow_c_array__`; nulls are none."""

    def merge(self, other: bytes) -> None:
        """Adds all values of another sketch, from its `to_bytes`."""

    def to_bytes(self) -> bytes: ...
    def estimate(self) -> float: ...

@final
class Filter:
    """A predicate that has been taken over from its tree, with all values."""

    def __new__(cls, tree: tuple[Any, ...]) -> Filter: ...

@final
class Batches:
    """Batches of a file, which can be taken once."""

    def __arrow_c_schema__(self) -> object: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...
    @property
    def depth(self) -> int: ...
    def raise_failure(self) -> None: ...
    def nodes(self) -> list[Node]: ...
    def next_nodes(self) -> list[Node] | None: ...

@final
class Node:
    """An array, or the field of one, that can be taken level by level."""

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
    """A scan over the files of a table."""

    def __new__(
        cls,
        files: Sequence[tuple[str, Any, list[tuple[str, str | None]], bytes | None, list[int] | None]],
        *,
        schema: object | None = None,
        options: dict[str, Any] | None = None,
        matching: str = "name",
        storage_options: dict[str, Any] | None = None,
        limits: dict[str, int] | None = None,
    ) -> Scan: ...
    def with_options(self, options: dict[str, Any]) -> Scan: ...
    def __arrow_c_schema__(self) -> object: ...
    def table_schema(self) -> object: ...
    @property
    def files(self) -> list[str]: ...
    def read(self) -> Batches: ...
    def count(self) -> int: ...
    def explain(self) -> list[tuple[str, bool, list[Any]]]: ...
    def proven(self) -> list[tuple[dict[str, Any], list[int]]]: ...
    def splits(
        self, size: int
    ) -> list[tuple[str, list[tuple[str, str | None]], bytes | None, list[int] | None, int, int]]:
        """Location, partition values, tail, stripes, rows and bytes of each."""

def is_carbon(location: str, storage_options: dict[str, Any] | None = None) -> bool:
    """Whether a table of CarbonData, or a file of one, is at a location."""

@final
class CarbonTable:
    """A table of CarbonData as it was when it was opened."""

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
        """Id, state, whether it is read, format; when it was begun, ended and changed; the segment that it was merged
        into; rows, deleted rows, bytes of data and of indexes, files.
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
    def scan(self, options: dict[str, Any] | None = None) -> CarbonScan: ...

@final
class CarbonScan:
    """A scan over a table of CarbonData, or a part of one."""

    @staticmethod
    def of_split(
        token: bytes,
        options: dict[str, Any] | None = None,
        *,
        storage_options: dict[str, Any] | None = None,
        limits: dict[str, int] | None = None,
    ) -> CarbonScan: ...
    def with_options(self, options: dict[str, Any]) -> CarbonScan: ...
    def __arrow_c_schema__(self) -> object: ...
    def table_schema(self) -> object: ...
    @property
    def files(self) -> list[str]: ...
    def read(self) -> Batches: ...
    def count(self) -> int: ...
    def explain(self) -> list[tuple[str, bool, list[Any]]]: ...
    def splits(self, size: int) -> list[tuple[str, list[int], int, int, bytes]]:
        """Location, blocklets, rows, bytes and token of each."""

@final
class CarbonFile:
    """A data file of CarbonData."""

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
        """Rows, pages and bytes of each."""

def display_name(location: str) -> str: ...
def partitions_of(location: str) -> list[tuple[str, str | None]]: ...
def partitions_below(base: str, location: str) -> list[tuple[str, str | None]]: ...

@final
class File:
    """An ORC file whose tail has been read."""

    def __new__(
        cls,
        source: object,
        *,
        tail: bytes | None = None,
        limits: dict[str, int] | None = None,
        storage_options: dict[str, Any] | None = None,
    ) -> File: ...
    @property
    def name(self) -> str: ...
    @property
    def num_rows(self) -> int: ...
    @property
    def type_string(self) -> str: ...
    @property
    def column_paths(self) -> list[str]: ...
    def column_id(self, path: str) -> int | None: ...
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
    def stripes(self) -> list[tuple[int, int, int, int, int, int]]: ...
    def column_attributes(self, id: int) -> list[tuple[str, str]]: ...
    def tail_bytes(self) -> bytes: ...
    def column_statistics(self, id: int) -> dict[str, Any] | None: ...
    def stripe_statistics(self) -> list[list[dict[str, Any]]]: ...
    def writer_timezones(self, stripes: Sequence[int] | None = None) -> list[str]: ...
    def column_storage(self, stripes: Sequence[int] | None = None) -> list[tuple[int, int, dict[str, int]]]:
        """Bytes of data streams, bytes of indexes, and encodings with their numbers of stripes, by column id."""

    def check(self) -> list[tuple[int | None, int | None, str, str]]: ...
    def explain(self, options: dict[str, Any] | None = None) -> tuple[str, bool, list[Any]]: ...
    def read(self, options: dict[str, Any] | None = None) -> Batches: ...

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
    ) -> Writer: ...
    def write_stream(self, stream: object) -> None: ...
    def finish(self) -> tuple[int, int, int]: ...
    def end_stripe(self) -> None: ...
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
