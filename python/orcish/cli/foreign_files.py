"""Files of other formats in the place of ORC: what they are, by their content or name, and what makes ORC of them."""

from __future__ import annotations

import bz2
import gzip
import os
import re
import shlex
import zlib
from collections.abc import Callable
from typing import Any

from orcish.cli.formats.names import COMPRESSED, named

__all__ = ["convert_command", "format_of"]

SHOWN = {"parquet": "Parquet", "csv": "CSV", "json": "JSON", "arrow": "Arrow IPC", "arrows": "Arrow IPC"}
"""Names of formats for people."""
MAGIC = ((b"PAR1", "parquet"), (b"ARROW1", "arrow"), (b"\xff\xff\xff\xff", "arrows"))
OPENED: dict[bytes, Callable[..., Any]] = {b"\x1f\x8b": gzip.open, b"BZh": bz2.open}
"""The first bytes of compressed files, and what opens them."""
FIRST = 4096
CELLS = re.compile(rb"[^\x00-\x08\x0e-\x1f]*?[,;\t|][^\x00-\x08\x0e-\x1f]*\r?\n[^\x00-\x08\x0e-\x1f]*")
"""The begin of text of several lines, the first of which has a delimiter."""


def format_of(name: str) -> str | None:
    """The name of the format of a file that is not ORC, for people; ``None`` if it is not known."""
    form = _by_content(name) or named(name).format
    return SHOWN.get(form or "")


def convert_command(name: str) -> str:
    """The command that makes ORC of a file, in backticks."""
    form, own = _by_content(name), named(name)
    bare = re.sub(rf"\.({'|'.join(COMPRESSED)})$", "", name) if own.compressed != "none" else name
    folder, slash, last = bare.rpartition("/")
    stem = last.rpartition(".")[0] or last
    # The ending of the name may say another format.
    more = f" --from {form}" if form is not None and own.format != form else ""
    target = f"{folder}{slash}{stem}{'.new' if f'{stem}.orc' == last else ''}.orc"
    return f"`orcish convert {shlex.quote(name)} {shlex.quote(target)}{more}`"


def _by_content(name: str) -> str | None:
    """The format that the first bytes of a local file say."""
    try:
        if not os.path.isfile(name):
            return None
        with open(name, "rb") as file:
            data = file.read(FIRST)
        opener = next((opener for magic, opener in OPENED.items() if data.startswith(magic)), None)
        if opener is not None:
            if named(name).compressed == "none":
                # The name says how a file is decompressed.
                return None
            with opener(name, "rb") as file:
                data = file.read(FIRST)
    except (OSError, EOFError, ValueError, zlib.error):
        return None
    found = next((form for magic, form in MAGIC if data.startswith(magic)), None)
    if found is not None:
        return found
    if re.match(rb"(?:\xef\xbb\xbf)?\s*[{\[]\s*[\"{\[}\]]", data):
        return "json"
    return "csv" if CELLS.fullmatch(data) else None
