"""The page of a report: a template with its style, its script and its data."""

from __future__ import annotations

import base64
import hashlib
import html
import importlib.resources
import json
import os
from collections.abc import Mapping
from typing import Any

from orcish import _native
from orcish._native import Location, is_hidden
from orcish.io.filesystem import in_file_system
from orcish.io.names import display_name
from orcish.keywords import checked_keywords
from orcish.tables.apart import check_apart
from orcish.tables.log.table import check_no_file_of_table
from orcish.types import ExistingFile, FileSystem, ProgressOption, Sources, StorageOptions
from orcish.writing.target import check_target, is_replaced

from orcish_cli.layout_page.description import describe

__all__ = ["checked_page", "embedded", "page", "write_page", "write_report"]

_SCRIPTS = ("texts.js", "tree.js", "map.js", "tables.js", "sections.js", "page.js")
"""Parts of the script, each of which uses the ones before it."""


def page(described: Mapping[str, Any]) -> str:
    """The page for the result of :func:`orcish_cli.layout_page.describe`, as HTML in ASCII."""
    style, script = _resource("page.css"), _script()
    parts = {
        "title": html.escape(described["title"]),
        "policy": f"default-src 'none'; style-src '{_digest(style)}'; script-src '{_digest(script)}'; "
        "base-uri 'none'; form-action 'none'",
        "style": style,
        "data": embedded(described),
        "script": script,
    }
    # Each text is inserted once, and what is inserted is not looked at again.
    pieces = _resource("page.html").split("@@")
    text = "".join(parts[piece] if at % 2 else piece for at, piece in enumerate(pieces))
    return text.encode("ascii", "xmlcharrefreplace").decode()


def embedded(value: Any) -> str:
    """A value as JSON that can stand in an element ``script``: in ASCII, and without the characters of markup."""
    text = json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    # Outside of strings, JSON has none of these characters.
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _digest(text: str) -> str:
    """The source of a policy that allows a script or a style."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def _script() -> str:
    """The script, whose parts share their names with each other and with nothing else."""
    return '"use strict";\n(() => {\n' + "\n".join(map(_resource, _SCRIPTS)) + "})();\n"


def _resource(name: str) -> str:
    return importlib.resources.files("orcish_cli.layout_page").joinpath("template", name).read_text(encoding="utf-8")


_MAGIC = b"ORC"
"""What ORC files begin with."""


@checked_keywords
def write_report(
    source: Sources,
    target: str | os.PathLike[str],
    *,
    existing_data: ExistingFile = "error",
    distinct: bool = False,
    advice: Mapping[str, Any] | None = None,
    progress: ProgressOption = False,
    storage_options: StorageOptions | None = None,
    filesystem: FileSystem | None = None,
) -> dict[str, Any]:
    """Writes a page of HTML that shows how a file, or the files of a table, are laid out: bytes of stripes, columns and
    streams drawn to scale, a table of the columns, and how far the rows are sorted by each column.

    The page needs no network and no other file. Tails, stripe footers, row indexes and bloom filters are read, and no
    rows. Of many files, stripes or columns, the largest ones are drawn, and the page says what is left out.

    >>> from orcish_cli.layout_page import write_report
    >>> described = write_report("orders.orc", "report.html")
    >>> [(column["path"], column["bytes"]) for column in described["columns"]][1]
    ('id', ...)

    Args:
        source: Any source of :func:`orcish.scan` that is ORC.
        target: Path of the page, which appears when it is complete.
        existing_data: What to do where the target is there: ``"error"`` or ``"overwrite"``; see
            :data:`~orcish.types.ExistingFile`. An ORC file is never replaced.
        distinct: Whether the number of distinct values of each column is estimated, for which all rows are read.
        advice: The result of :meth:`orcish.types.Advice.to_dict`, which becomes a part of the page.
        progress: True for a bar on the terminal, or a function that is called with a
            :class:`~orcish.types.Progress`, of rows.
        storage_options: Options of the object stores of URLs; see :data:`~orcish.types.StorageOptions`.
        filesystem: The file system that the paths of the source are within; see :data:`~orcish.types.FileSystem`.

    Returns:
        What the page says, as JSON values.

    Raises:
        FileNotFoundError: There are no files.
        FileExistsError: The target is an ORC file, or is there and not replaced.
        ValueError: The target is a URL, or a file in the source or in the folder of a table with a log, whose readers
            would take it for one of theirs.
        UnsupportedError: The source is a table of CarbonData.
        OrcishError: No file can be read. A page of several files names those that cannot be read.
        OSError: Likewise, or the page cannot be written.
    """
    path = checked_page(in_file_system(source, filesystem, storage_options), target, existing_data)
    described = describe(
        source,
        distinct=distinct,
        advice=advice,
        progress=progress,
        storage_options=storage_options,
        filesystem=filesystem,
    )
    write_page(described, path, existing_data)
    return described


def write_page(described: Mapping[str, Any], path: str, existing_data: ExistingFile) -> None:
    """Writes the page of what :func:`orcish_cli.layout_page.describe` says.

    Args:
        described: The JSON values.
        path: The path, which :func:`checked_page` gives.
        existing_data: As for :func:`write_report`.

    Raises:
        FileExistsError: The path has appeared, and is not replaced.
        OSError: The page cannot be written.
    """
    file = _native.NewFile(path, overwrite=is_replaced(existing_data))
    try:
        file.write(page(described).encode("ascii"))
        file.finish()
    except BaseException:
        file.abort()
        raise


def checked_page(source: Any, target: str | os.PathLike[str], existing_data: ExistingFile) -> str:
    """The path of a page, which may not be that of a file of data, nor one that readers of the source take for one.

    Raises:
        ValueError: It is a URL, or in the source.
        OSError: There is something that is not replaced.
    """
    path = Location(os.fspath(target)).path
    if "://" in path:
        raise ValueError(f"{display_name(path)}: a page is written to a local path, such as report.html")
    check_no_file_of_table(path, None)
    check_target(path, None, "overwrite")
    if os.path.exists(path):
        with open(path, "rb") as file:
            if file.read(len(_MAGIC)) == _MAGIC:
                raise FileExistsError(
                    f"{display_name(path)} is an ORC file: the page needs another name, such as report.html"
                )
    check_target(path, None, existing_data)
    several = source if isinstance(source, list | tuple) else [source]
    seen = [each for each in several if not _is_hidden_in(path, each)]
    check_apart(seen, (), path, is_folder=False, advice="choose a target outside of the source")
    return path


def _is_hidden_in(path: str, source: Any) -> bool:
    """Whether readers of a source pass over a path in it."""
    if not isinstance(source, str | os.PathLike):
        return False
    place, folder = Location(path).place(), Location(source).place()
    return place.is_below(folder) and is_hidden(place.path[len(folder.path) + 1 :])
