"""Files of other formats in the place of ORC: what they are, by their content or name, and what makes ORC of them."""

from __future__ import annotations

import bz2
import csv
import gzip
import os
import re
import shlex
import zlib
from collections.abc import Callable
from typing import Any, NamedTuple

from orcish_cli.formats.names import COMPRESSED, named

__all__ = ["TEXT", "convert_command", "format_of"]

TEXT = "text"
"""What is text, and of none of the formats."""
SHOWN = {"parquet": "Parquet", "csv": "CSV", "json": "JSON", "arrow": "Arrow IPC", "arrows": "Arrow IPC", TEXT: TEXT}
"""Names of formats for people."""
MAGIC = ((b"PAR1", "parquet"), (b"ARROW1", "arrow"), (b"\xff\xff\xff\xff", "arrows"))
OPENED: dict[bytes, Callable[..., Any]] = {b"\x1f\x8b": gzip.open, b"BZh": bz2.open}
"""The first bytes of compressed files, and what opens them."""
FIRST = 4096
JSON = re.compile(
    rb"\s*(?:\{\s*[\"}]|\[\s*(?:[\"{\[\]]|-?[0-9][0-9.eE+-]*\s*,|(?:true|false|null)\s*[,\]]))",
)
"""The begin of an object, or of an array."""
MARK = b"\xef\xbb\xbf"
"""What some writers begin text with."""
CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
"""Bytes that text has not."""
TAB = "\t"
DELIMITERS = f",;{TAB}|"


class Content(NamedTuple):
    """What the first bytes of a file say."""

    form: str | None
    """Its format; ``None`` if it is of none that is known."""
    delimiter: str = ","
    """What separates the cells of CSV."""


def format_of(name: str) -> str | None:
    """The name of the format of a file that is not ORC, for people; ``None`` if it is not known."""
    return SHOWN.get(_content(name).form or "")


def convert_command(name: str) -> str:
    """The command that makes ORC of a file, in backticks."""
    content, own = _content(name), named(name)
    bare = re.sub(rf"\.({'|'.join(COMPRESSED)})$", "", name) if own.compressed != "none" else name
    folder, slash, last = bare.rpartition("/")
    stem = last.rpartition(".")[0] or last
    # The ending of the name may say another format.
    more = f" --from {content.form}" if own.format != content.form else ""
    if content.delimiter != own.delimiter:
        more += f" --delimiter {shlex.quote(content.delimiter.replace(TAB, 'tab'))}"
    target = f"{folder}{slash}{stem}{'.new' if f'{stem}.orc' == last else ''}.orc"
    return f"`orcish convert {shlex.quote(name)} {shlex.quote(target)}{more}`"


def _content(name: str) -> Content:
    """What a file is: by the first bytes of a local file that can be read, and else by its name."""
    own = named(name)
    by_name = Content(own.format, own.delimiter)
    try:
        if not os.path.isfile(name):
            return by_name
        with open(name, "rb") as file:
            data = file.read(FIRST)
        opener = next((opener for magic, opener in OPENED.items() if data.startswith(magic)), None)
        if opener is not None and own.compressed != "none":
            with opener(name, "rb") as file:
                data = file.read(FIRST)
        elif own.compressed == "zstd":
            return by_name
    except (OSError, EOFError, ValueError, zlib.error):
        return by_name
    for magic, form in MAGIC:
        if data.startswith(magic):
            return Content(form, own.delimiter)
    if data.startswith(b"ORC") and own.format in (None, "orc"):
        # A damaged file of ORC.
        return Content(None)
    return _text(data, by_name)


def _text(data: bytes, by_name: Content) -> Content:
    """What the first bytes of a file are as text."""
    text = data.removeprefix(MARK)
    if not text.strip() or CONTROL.search(text):
        return Content(None)
    if JSON.match(text):
        return Content("json", by_name.delimiter)
    lines = text.decode("latin-1")
    if by_name.form == "csv":
        # A column alone has no delimiter.
        found = [by_name.delimiter, *(each for each in DELIMITERS if each != by_name.delimiter)]
        return Content("csv", next((each for each in found if _has_cells(lines, each, len(data))), by_name.delimiter))
    delimiter = next((each for each in DELIMITERS if _has_cells(lines, each, len(data))), None)
    return Content(TEXT) if delimiter is None else Content("csv", delimiter)


def _has_cells(text: str, delimiter: str, size: int) -> bool:
    """Whether text has several lines of the same number of cells, two at least. Prose and programs have blanks behind
    commas, or begin as no table does.

    Args:
        text: The begin of a file.
        delimiter: What separates cells.
        size: Its bytes: the last line may be cut, and has fewer cells then.
    """
    if text.startswith(("{", "[", "<", "#")):
        return False
    try:
        rows = [row for row in csv.reader(text.splitlines(keepends=True), delimiter=delimiter) if row]
    except csv.Error:
        return False
    cells = len(rows[0]) if rows else 0
    if size == FIRST and len(rows) > 1 and len(rows[-1]) <= cells:
        del rows[-1]
    is_table = cells > 1 and (len(rows) > 1 or size == FIRST) and all(len(row) == cells for row in rows)
    return is_table and not any(cell.startswith(" ") for cell in rows[0])
