"""Several sources with different partition columns, which are read with the columns of the first one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from orcish.errors import OrcishError
from orcish.io.files import TableFile
from orcish.io.names import display_name
from orcish.reading.file import ORCFile
from orcish.types import Limits, StorageOptions

__all__ = ["NOTHING_LEFT_OUT", "LeftOut", "columns_of_first"]


class LeftOut(NamedTuple):
    """Partition columns of later sources that the first one has not. Rows are read without them."""

    names: tuple[str, ...] = ()
    text: str = ""
    """Which source has them, for messages."""

    def check(self, columns: Sequence[Any] | None) -> None:
        """Checks that rows which are written do not need the columns.

        Args:
            columns: The columns that are written; all by default.

        Raises:
            ValueError: They do.
        """
        if self.names and (columns is None or any(name in columns for name in self.names)):
            raise ValueError(f"{self.text}: write them one by one, or choose columns that both have")


NOTHING_LEFT_OUT = LeftOut()


def columns_of_first(
    files: list[TableFile], storage: StorageOptions | None, limits: Limits | None
) -> tuple[list[TableFile], LeftOut]:
    """The files of several sources, without partition columns that the first one has not.

    Args:
        files: The files.
        storage: Options of the stores of URLs.
        limits: Limits on what each file may make the reader do.

    Raises:
        ValueError: A later source has no folders for a partition column of the first one, or it has folders for a
            column that the first one has in its files.
    """
    if len({tuple(name for name, _ in file.partition) for file in files}) < 2:
        return files, NOTHING_LEFT_OUT
    first, *rest = files
    wanted = [name for name, _ in first.partition]
    other: TableFile | None = None
    kept, left = [first], dict[str, None]()
    for file in rest:
        values = dict(file.partition)
        missing = [name for name in wanted if name not in values]
        if missing:
            raise ValueError(
                f"{_place(file)} has no folders of {', '.join(missing)}, a partition column of {_place(first)}: read "
                f"them one by one; a scan that begins with {_place(file)} has the columns that both have"
            )
        more = [name for name in values if name not in wanted]
        if more:
            other = other or file
            left.update(dict.fromkeys(more))
        kept.append(file._replace(partition=[(name, values[name]) for name in wanted]))
    if other is None:
        return kept, NOTHING_LEFT_OUT
    # The columns of rows are those of the first file that has any.
    with_columns = ((file, _columns(file, storage, limits)) for file in files)
    shaping, columns = next((found for found in with_columns if found[1]), (first, []))
    own = {name.casefold() for name in columns}
    hidden = [name for name in left if name.casefold() in own]
    if hidden:
        raise ValueError(
            f"{_place(shaping)} has a column {hidden[0]!r} in its files, and {_place(other)} one in the names of its "
            "folders: read them one by one, or convert one of them to the form of the other"
        )
    text = f"{_place(other)} has the partition columns {', '.join(left)}, and {_place(first)} has not"
    return kept, LeftOut(tuple(left), text)


def _columns(file: TableFile, storage: StorageOptions | None, limits: Limits | None) -> list[str]:
    try:
        return ORCFile(file.opened, storage_options=storage, limits=limits).column_paths
    except OrcishError:
        # The read has the error.
        return []


def _place(file: TableFile) -> str:
    """The folder of the partitions of a file, or the file."""
    name = display_name(file.location)
    first = next((f"/{name}=" for name, _ in file.partition), None)
    return name if first is None else name.partition(first)[0]
