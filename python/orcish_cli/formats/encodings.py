"""Encodings of CSV: text of other ones is read as UTF-8, and text that is none is an error that says where."""

from __future__ import annotations

import argparse
import codecs
from collections.abc import Callable, Iterator
from typing import Any

import pyarrow as pa
from orcish.errors import CorruptFileError

__all__ = ["INVALID", "add_encoding", "as_utf8", "checked_encoding", "column_names", "decoded", "invalid_text"]

INVALID = "invalid UTF8 data"
"""What messages of pyarrow have about text that is not UTF-8."""
ADVICE = "--encoding names the encoding of the file, such as latin1, cp1252 or utf-16"
SHOWN = 20


def add_encoding(command: argparse.ArgumentParser) -> None:
    """Adds the argument for the encoding of CSV."""
    command.add_argument("--encoding", metavar="NAME", help="the encoding of CSV that is read, such as latin1 (utf-8)")


def checked_encoding(name: str | None) -> str | None:
    """The name that Python has for an encoding; ``None`` for UTF-8.

    Raises:
        ValueError: There is no such encoding of text.
    """
    if name is None:
        return None
    try:
        found = codecs.lookup(name)
    except (LookupError, ValueError):
        found = None
    if found is None or not getattr(found, "_is_text_encoding", True):
        raise ValueError(f"--encoding {name!r}: no encoding that is known here, such as latin1, cp1252 or utf-16")
    return None if found.name == "utf-8" else found.name


def as_utf8(opened: Callable[[], Any], encoding: str | None) -> Callable[[], Any]:
    """What opens a file as one of UTF-8.

    Args:
        opened: What opens the file.
        encoding: Its encoding; ``None`` for UTF-8.
    """
    if encoding is None:
        return opened
    return lambda: pa.transcoding_input_stream(opened(), encoding, "utf-8")


def decoded(read: Callable[[], bytes]) -> bytes:
    """The bytes that a function reads.

    Raises:
        CorruptFileError: They are not of the encoding that is given.
    """
    try:
        return read()
    except UnicodeError as error:
        raise CorruptFileError(f"the text is not of the encoding that is given: {error}: {ADVICE}") from error


def column_names(schema: pa.Schema) -> list[str]:
    """The names of the columns of CSV.

    Raises:
        CorruptFileError: They are not UTF-8.
    """
    try:
        return list(schema.names)
    except UnicodeDecodeError as error:
        raise CorruptFileError(f"the names of the columns, in the first row, are not UTF-8: {ADVICE}") from error


def invalid_text(batches: Iterator[pa.RecordBatch]) -> CorruptFileError:
    """The error of text that is not UTF-8, which says where the first one is.

    Args:
        batches: The rows, all of whose cells are binaries.
    """
    before = 0
    for batch in batches:
        found = [(row, at) for at, column in enumerate(batch.columns) if (row := _first_invalid(column)) is not None]
        if found:
            row, at = min(found)
            text = batch.column(at)[row].as_py()
            shown = text[:SHOWN].decode("ascii", "backslashreplace") + ("…" if len(text) > SHOWN else "")
            name = batch.schema.names[at]
            return CorruptFileError(f"row {before + row + 1}: column {name!r}: {shown} is not UTF-8: {ADVICE}")
        before += len(batch)
    return CorruptFileError(f"the text is not UTF-8: {ADVICE}")


def _first_invalid(column: pa.Array) -> int | None:
    """The first row whose text is not UTF-8."""
    try:
        column.cast(pa.string())
    except pa.ArrowInvalid:
        return next(
            (row for row, text in enumerate(column.to_pylist()) if text is not None and not _is_utf8(text)), None
        )
    return None


def _is_utf8(text: bytes) -> bool:
    try:
        text.decode()
    except UnicodeDecodeError:
        return False
    return True
