"""Recovery of torn and damaged files."""

from __future__ import annotations

import dataclasses
from typing import cast

from orcish import _native
from orcish._native import complete_storage, opened_source
from orcish.io.filesystem import in_file_system
from orcish.keywords import checked_keywords
from orcish.types import ExistingFile, FileSystem, Limits, Source, StorageOptions, Target
from orcish.writing.target import FileTarget, check_no_source, file_target
from orcish.writing.writer import Written

__all__ = ["Lost", "Recovered", "recover_file"]


@dataclasses.dataclass(frozen=True)
class Lost:
    """A part of a file that cannot be read."""

    start: int
    """Offset of the first byte."""
    end: int
    """Offset of the byte after the last."""
    rows: int | None
    """Rows of the part; ``None`` if their number is not known."""
    reason: str


@dataclasses.dataclass(frozen=True)
class Recovered:
    """What of a file can be read, and what is lost."""

    rows: int
    stripes: int
    unlisted: int
    """How many of the stripes no tail of the file lists."""
    tail_end: int | None
    """Offset at which the last valid tail ends; ``None`` if the file has none."""
    file_length: int
    is_whole: bool
    """Whether nothing is lost or in doubt, and the file ends with a valid tail that lists all stripes."""
    lost: list[Lost]
    doubts: list[str]
    """What contradicts rows that can be read: their values or their number may be damaged. Stripes are counted from 0,
    as in the new file.
    """
    written: Written | None
    """The new file; ``None`` without a target."""


@checked_keywords
def recover_file(
    source: Source,
    target: Target | None = None,
    *,
    like: Source | None = None,
    existing_data: ExistingFile = "error",
    storage_options: StorageOptions | None = None,
    filesystem: FileSystem | None = None,
    limits: Limits | None = None,
) -> Recovered:
    """Finds what of a torn or damaged file can be read, and writes it as a new file. All stripes are read, and compared
    with their indexes and statistics.

    The stripes are those of the last valid tail, which is within the file where a writer that flushes was interrupted,
    as those of streams and of Hive, and complete stripes between them and behind it. The new file has the bytes of the
    stripes, and no statistics of stripes and of the file. Rows that contradict what is recorded of them are kept, and
    are in doubt. A stripe that states more than ``limits`` allow is lost, because damaged lengths state any size. Its
    reason names the limit, and a higher limit recovers a stripe that is whole.

    >>> orcish.recover_file("orders.orc").is_whole
    True

    Args:
        source: A path, a URL, the bytes of a file, or a file object.
        target: The new file: a path, a URL of an object store, or a file object. Without one, nothing is written.
        like: Another file with the same columns, of the same writer with the same settings, for a file without any
            tail, or with damaged types.
        existing_data: What to do where the target is there: ``"error"`` or ``"overwrite"``; see
            :data:`~orcish.types.ExistingFile`. The file itself and ``like`` are never replaced.
        storage_options: Options of the object stores of URLs; see :data:`~orcish.types.StorageOptions`.
        filesystem: The file system that the paths are within; see :data:`~orcish.types.FileSystem`.
        limits: Limits on what the file may make the reader do.

    Raises:
        CorruptFileError: The file has no tail, and ``like`` is not given; it is no ORC file; or none of its stripes can
            be read, and there is a target.
        UnsupportedError: The file has encrypted columns.
        LimitExceededError: More memory would be needed than is allowed.
        FileExistsError: The target is there, and not replaced.
        ValueError: The target is the file itself, or ``like``.
        OSError: A file cannot be read or written. No file appears.
    """
    given = [source] if like is None else [source, like]
    places = in_file_system(given, filesystem, storage_options)
    files = [opened_source(place) for place in places]
    check_no_source(target, given, filesystem, storage_options)
    new = FileTarget(None, overwrite=False)
    if target is not None:
        new = file_target(target, filesystem, storage_options, existing_data)
    with new:
        found, written = _native.recover_file(
            files[0],
            new.native,
            like=None if like is None else files[1],
            storage_options=complete_storage(
                (each for each in (*files, new.native) if isinstance(each, str)), storage_options
            ),
            limits=cast("dict[str, int] | None", limits),
            overwrite=new.overwrite,
        )
    rows, stripes, unlisted, tail_end, length, is_whole, lost, doubts = found
    parts = [Lost(*each) for each in lost]
    new_file = None if written is None else Written(*written)
    return Recovered(rows, stripes, unlisted, tail_end, length, is_whole, parts, doubts, new_file)
