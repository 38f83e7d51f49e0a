"""Versions of a file: what tells a file apart from another one that replaces it while it is read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["FileChangedError", "Version", "check_unchanged", "version_of"]

KEYS = (
    ("ETag", "etag", "e_tag", "eTag"),
    ("generation",),
    ("VersionId", "version_id", "versionId"),
    ("Content-MD5", "md5Hash", "content_md5", "Digest", "checksum", "sha", "hash"),
    ("Last-Modified", "LastModified", "last_modified", "mtime", "modified", "modificationTime", "updated", "modify"),
    ("created", "creation_time", "timeCreated", "birthtime"),
)
"""Names of the properties that file systems state, the most exact first. The names of a group mean the same."""

Version = tuple[str | None, ...]
"""A value for each group of ``KEYS``; ``None`` where it is not stated. The last value is the size."""


class FileChangedError(OSError):
    """The file is another one than when it was opened."""

    def __init__(self) -> None:
        super().__init__("the file is another one than when it was opened")


def version_of(properties: Mapping[str, Any], size: int | None) -> Version:
    """The version of a file, given its properties.

    Args:
        properties: What the file system states of the file, by name.
        size: Length of the file, if it is stated.
    """
    found = [next((properties[name] for name in names if properties.get(name) is not None), None) for names in KEYS]
    return tuple(None if value is None else str(value) for value in [*found, size])


def check_unchanged(opened: Version, now: Version) -> None:
    """Checks that a file is the one that was opened. The most exact property that both have decides, and the size.

    Raises:
        FileChangedError: It is another one.
    """
    pairs = [pair for pair in zip(opened[:-1], now[:-1], strict=True) if None not in pair]
    sizes = [pair for pair in [(opened[-1], now[-1])] if None not in pair]
    if any(first != second for first, second in [*pairs[:1], *sizes]):
        raise FileChangedError
