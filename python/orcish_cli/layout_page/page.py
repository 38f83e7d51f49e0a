"""The page of a report: a template with its style, its script and its data."""

from __future__ import annotations

import base64
import hashlib
import html
import importlib.resources
import json
from collections.abc import Mapping
from typing import Any

__all__ = ["embedded", "page"]

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
