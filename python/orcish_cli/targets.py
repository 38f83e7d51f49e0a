"""Files that commands write."""

from __future__ import annotations

from collections.abc import Mapping

from orcish.io.names import display_name
from orcish.tables.log.table import check_no_file_of_table
from orcish.types import ExistingData
from orcish.writing.target import check_target

from orcish_cli.formats.names import ORC, named

__all__ = ["check_new_file", "check_orc_name"]


def check_orc_name(target: str, verb: str) -> None:
    """Checks that the name of a file that a command writes is not that of a file of another format.

    Raises:
        ValueError: It is one.
    """
    if named(target).format not in (ORC, None):
        raise ValueError(f"{display_name(target)}: {verb} writes ORC: convert writes other formats")


def check_new_file(target: str, storage: Mapping[str, str], existing_data: ExistingData) -> None:
    """Checks that a file can be written, before the sources are read.

    Args:
        target: The file, or its URL.
        storage: Options of the store.
        existing_data: What to do where there is a file.

    Raises:
        FileExistsError: The file is there, and may not be replaced.
        IsADirectoryError: There is a folder.
        OSError: There is a pipe, a device or the like.
        ValueError: The file is one of a table with a log.
        OptionError: ``existing_data`` is a word of folders.
    """
    check_no_file_of_table(target, storage, "write it elsewhere, or add its rows with convert --existing-data append")
    check_target(target, storage, existing_data)
