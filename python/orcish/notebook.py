"""HTML of files, scans and explanations, as notebooks show them."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence

import pyarrow as pa

from orcish.terminal import printable

__all__ = ["schema_html", "text_html"]

MAX_COLUMNS = 100
"""Most columns that are shown."""
MAX_TEXT = 200
"""Most characters of a cell."""


def schema_html(title: str, facts: Iterable[tuple[str, object]], schema: pa.Schema) -> str:
    """A table of the columns of a schema below a title and some facts, as HTML."""
    said = " · ".join(f"{_cell(value)} {_cell(name)}" for name, value in facts)
    rows: list[Sequence[object]] = [(field.name, field.type) for field in schema]
    left = len(rows) - MAX_COLUMNS
    body = "".join(f"<tr><td>{_cell(name)}</td><td>{_cell(kind)}</td></tr>" for name, kind in rows[:MAX_COLUMNS])
    more = f"<tr><td>… {left} more</td><td></td></tr>" if left > 0 else ""
    return (
        f"<div><b>{_cell(title)}</b><br>{said}<table><thead><tr><th>column</th><th>type</th></tr></thead>"
        f"<tbody>{body}{more}</tbody></table></div>"
    )


def text_html(text: str) -> str:
    """A text with lines, as HTML."""
    return f"<pre>{html.escape(text)}</pre>"


def _cell(value: object) -> str:
    text = printable(str(value))
    return html.escape(text if len(text) <= MAX_TEXT else f"{text[: MAX_TEXT - 1]}…")
