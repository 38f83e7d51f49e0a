"""Versions of a file: what tells a file apart from another one that replaces it. The native core compares them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from orcish import _native

__all__ = ["FileChangedError", "Version", "check_unchanged", "version_of"]

KEYS = {
    "entity_tag": ("ETag", "etag", "e_tag", "eTag"),
    "generation": ("generation",),
    "version_id": ("VersionId", "version_id", "versionId"),
    "checksum": ("Content-MD5", "md5Hash", "content_md5", "Digest", "checksum", "sha", "hash"),
    "modified": (
        "Last-Modified",
        "LastModified",
        "last_modified",
        "mtime",
        "modified",
        "modificationTime",
        "updated",
        "modify",
    ),
    "created": ("created", "creation_time", "timeCreated", "birthtime"),
}
"""Names of the properties that file systems state, by kind. The names of a kind mean the same."""

Version = bytes
"""A version in the form of the native core."""


class FileChangedError(OSError):
    """The file is another one than when it was opened."""

    def __init__(self) -> None:
        super().__init__(_native.FILE_REPLACED)


def version_of(properties: Mapping[str, Any], size: int | None) -> Version:
    """The version of a file, given its properties.

    Args:
        properties: What the file system states of the file, by name.
        size: Length of the file, if it is stated.
    """
    found = {
        kind: next((properties[name] for name in names if properties.get(name) is not None), None)
        for kind, names in KEYS.items()
    }
    marks = [(kind, str(value)) for kind, value in found.items() if value is not None]
    return _native.file_version(None if size is None or size < 0 else size, marks)


def check_unchanged(opened: Version, now: Version) -> None:
    """Checks that a file is the one that was opened. The most exact property that both have decides, and the size.

    Raises:
        FileChangedError: It is another one.
    """
    if not _native.is_same_version(opened, now):
        raise FileChangedError
