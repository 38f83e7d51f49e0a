"""Text for terminals. All text from files is escaped."""

from __future__ import annotations

__all__ = ["printable"]


def printable(text: str) -> str:
    """Escapes control characters, invisible characters and changes of colour or direction."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)
