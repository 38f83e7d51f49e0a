"""The page of HTML: a template with its style, its script and its data; and the file that it is written to."""

from __future__ import annotations

import base64
import hashlib
import html
import importlib.resources
import json
import os
import string
from collections.abc import Mapping
from typing import Any

from orcish import _native
from orcish._native import Location, is_hidden
from orcish.io.names import display_name
from orcish.tables.apart import check_apart
from orcish.tables.log.table import check_no_file_of_table
from orcish.types import ExistingFile
from orcish.writing.target import check_target, is_replaced

__all__ = ["checked_page", "page", "write_page"]

_SCRIPTS = ("texts.js", "tree.js", "map.js", "tables.js", "sections.js", "page.js")
"""Parts of the script, each of which uses the ones before it."""
_MAGIC = b"ORC"
"""What ORC files begin with."""


def page(described: Mapping[str, Any]) -> str:
    """The page for the result of :func:`orcish_cli.layout_page.describe`, as HTML in ASCII."""
    style = _resource("page.css")
    # The parts of the script share their names with each other and with nothing else.
    script = '"use strict";\n(() => {\n' + "\n".join(map(_resource, _SCRIPTS)) + "})();\n"
    data = json.dumps(described, allow_nan=False, separators=(",", ":"))
    text = string.Template(_resource("page.html")).substitute(
        title=html.escape(described["title"]),
        policy=f"default-src 'none'; style-src '{_digest(style)}'; script-src '{_digest(script)}'; "
        "base-uri 'none'; form-action 'none'",
        style=style,
        # Outside of strings, JSON has none of the characters of markup.
        data=data.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026"),
        script=script,
    )
    return text.encode("ascii", "xmlcharrefreplace").decode()


def _digest(text: str) -> str:
    """The source of a policy that allows a script or a style."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def _resource(name: str) -> str:
    return importlib.resources.files(__package__).joinpath("template", name).read_text(encoding="utf-8")


def write_page(described: Mapping[str, Any], path: str, existing_data: ExistingFile) -> None:
    """Writes the page of what :func:`orcish_cli.layout_page.describe` says, which appears when it is complete.

    Args:
        described: The JSON values.
        path: The path, which :func:`checked_page` gives.
        existing_data: What to do where the target is there; see :data:`~orcish.types.ExistingFile`.

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


def checked_page(sources: list[str], target: str, existing_data: ExistingFile) -> str:
    """The path of a page, which may not be that of a file of data, nor one that readers of the sources take for one.

    Raises:
        ValueError: It is a URL, or in a source.
        OSError: There is something that is not replaced.
    """
    path = Location(target).path
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
    seen = [source for source in sources if not _is_hidden_in(path, source)]
    check_apart(seen, (), path, is_folder=False, advice="choose a target outside of the source")
    return path


def _is_hidden_in(path: str, source: str) -> bool:
    """Whether readers of a source pass over a path in it."""
    place, folder = Location(path).place(), Location(source).place()
    return place.is_below(folder) and is_hidden(place.path[len(folder.path) + 1 :])
