"""Columns in files that have the name of a partition column. Readers see the value of the folder in their place."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import pyarrow as pa

from orcish.arrow.casting import parse_values
from orcish.arrow.nested import value_type
from orcish.errors import UnsupportedError
from orcish.io.names import display_name
from orcish.reading.file import ORCFile
from orcish.reading.orc_files import OrcFiles

__all__ = ["check_hidden_columns"]


def check_hidden_columns(table: OrcFiles, columns: Collection[str], advice: str, *, ignores_case: bool = False) -> None:
    """Checks that files of a table have no other values in such columns than their folders: new files in their place
    have only the latter.

    Args:
        table: The files.
        columns: The columns that are written.
        advice: What to do.
        ignores_case: Whether readers do not distinguish names that differ only by case.

    Raises:
        ValueError: A file has other values.
        OrcishError, OSError: A file cannot be read.
    """
    for file in table.files:
        if not file.partition:
            continue
        opened = ORCFile(file.opened, storage_options=table.storage_options, limits=table.limits)
        names = opened.arrow_schema(masked="allow").names
        stored = {name.lower() if ignores_case else name: name for name in names}
        for name, text in file.partition:
            own = stored.get(name.lower() if ignores_case else name)
            if name in columns and own is not None and not _has_only(opened, own, text):
                folder = "null" if text is None else repr(text)
                raise ValueError(
                    f"{display_name(file.location)}: column {own!r} is stored with other values than that of its "
                    f"folder, {folder}, which readers see, and they would be lost: {advice}"
                )


def _has_only(file: ORCFile, name: str, text: str | None) -> bool:
    """Whether all values of a column are that of a text."""
    wanted: Any = None
    try:
        for batch in file.iter_batches(columns=[name], timestamp_unit="exact"):
            column = batch.column(0)
            if text is not None and wanted is None:
                wanted = parse_values(pa.array([text]), value_type(column.type))[0].as_py()
            if column.null_count != (len(column) if text is None else 0):
                return False
            # NaN is not equal to itself.
            if text is not None and any(str(value) != str(wanted) for value in column.to_pylist()):
                return False
    except (ValueError, OverflowError, UnsupportedError, pa.ArrowException):
        # No value of the type is the text, or Python does not have one.
        return False
    return True
