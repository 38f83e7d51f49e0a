"""Classification and conversion of paths and URLs."""

from __future__ import annotations

import os
from typing import Any

from orcish.types import Sources

__all__ = [
    "PATTERN",
    "absolute",
    "absolute_source",
    "expanded",
    "folder_above",
    "is_hidden",
    "is_http",
    "is_many",
    "is_pattern",
    "is_unicode",
    "local_path",
    "native_source",
    "path_text",
    "within",
    "working_folder",
]

PATTERN = "*?["
"""Special characters of patterns."""
LOCAL_SCHEME = "local://"
"""What URLs of paths of the local disk begin with, beside those of ``file:``."""


def native_source(source: Any) -> Any:
    """A path, URL, bytes or file object, in the form that the native core takes.

    Raises:
        TypeError: The source is none of these.
        ValueError: The source is a ``file:`` URL with a host.
    """
    found = os.fspath(source) if isinstance(source, os.PathLike) else source
    if isinstance(found, str):
        _check_no_host(found)
        return expanded(found)
    if isinstance(found, bytes) or hasattr(found, "read") or hasattr(found, "read_ranges"):
        return found
    try:
        # Any object with the buffer protocol, such as buffers of pyarrow.
        return bytes(memoryview(found))
    except TypeError:
        raise TypeError(
            f"a source is a path, a URL, the bytes of a file or a file object, not {type(source).__name__}"
        ) from None


def is_many(source: Sources) -> bool:
    """Whether a source is the path of a folder, or a pattern."""
    if not isinstance(source, str | os.PathLike):
        return False
    path = local_path(os.fspath(source))
    if _exists(path):
        return os.path.isdir(path)
    return path.endswith("/") or is_pattern(path)


def is_unicode(path: str) -> bool:
    """Whether a path is text. The native core takes no other ones: local names of other bytes have lone surrogates."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True


def is_pattern(path: str) -> bool:
    """Whether a path or URL is a pattern. A local path that exists is none."""
    return any(sign in path for sign in PATTERN) and not _exists(path)


def folder_above(pattern: str) -> str:
    """The folder above the first part of a pattern that has a special character; another path is returned as it is."""
    parts = pattern.split("/")
    at = next((at for at, part in enumerate(parts) if any(sign in part for sign in PATTERN)), None)
    if at is None:
        return pattern
    return "/".join(parts[:at]) or ("/" if pattern.startswith("/") else ".")


def is_http(path: str) -> bool:
    """Whether a location is a URL of HTTP or HTTPS."""
    return path.lower().startswith(("http://", "https://"))


def _exists(path: str) -> bool:
    found = expanded(path)
    return "://" not in found and os.path.exists(found)


def expanded(location: str) -> str:
    """A path with the home folder in place of a leading ``~``, as pyarrow, polars and duckdb read it, and the path of a
    ``local://`` URL of fsspec, in which nothing is encoded; other locations are unchanged.
    """
    if location[: len(LOCAL_SCHEME)].lower() == LOCAL_SCHEME:
        location = location[len(LOCAL_SCHEME) :]
    return os.path.expanduser(location) if location == "~" or location.startswith("~/") else location


def absolute_source(source: Sources) -> Sources:
    """A source, or several, with absolute paths; file objects and the bytes of files are unchanged."""
    if isinstance(source, str | os.PathLike):
        return absolute(source)
    if isinstance(source, list | tuple):
        return [absolute(each) if isinstance(each, str | os.PathLike) else each for each in source]
    return source


def absolute(path: str | os.PathLike[str]) -> str:
    """An absolute path, as other processes have other working directories; URLs are unchanged.

    Raises:
        TypeError: The path is neither text nor a ``pathlib.Path``.
    """
    found = local_path(path_text(path))
    if "://" in found or os.path.isabs(found):
        return found
    # A trailing slash marks a folder.
    return os.path.abspath(found) + ("/" if found.endswith("/") else "")


def working_folder() -> str | None:
    """The working directory; ``None`` where it was removed."""
    try:
        return os.getcwd()
    except FileNotFoundError:
        return None


def within(folder: str | None, path: str) -> str:
    """A path that was relative to a working directory as an absolute one; other paths and URLs are unchanged."""
    found = local_path(path)
    return path if folder is None or "://" in found or os.path.isabs(found) else os.path.join(folder, found)


def path_text(path: Any) -> str:
    """A path or URL that an argument has, as text.

    Raises:
        TypeError: It is neither text nor a ``pathlib.Path``.
    """
    found = os.fspath(path) if isinstance(path, os.PathLike) else path
    if isinstance(found, str):
        return found
    hint = ": os.fsdecode makes text of it" if isinstance(found, bytes) else ""
    raise TypeError(f"{path!r:.100}: a path or URL is text or a pathlib.Path, not {type(found).__name__}{hint}")


def local_path(location: str) -> str:
    """The path of a ``file:`` or ``local:`` URL, or of a path below ``~``; other locations are unchanged.

    Raises:
        ValueError: The URL has a host.
    """
    # A colon is part of a name, as that of `file:a.orc`.
    if not location.lower().startswith("file:/"):
        return expanded(location)
    _check_no_host(location)
    path = location[len("file:") :]
    if path.startswith("//"):
        path = "/" + path[2:].partition("/")[2]
    # It imports modules for HTTP and e-mail, which would be 9 ms of each start.
    import urllib.request

    return urllib.request.url2pathname(path)


def _check_no_host(location: str) -> None:
    """Raises ValueError for ``file:`` URLs with a host, such as ``file://tmp/x`` in place of ``file:///tmp/x``."""
    if not location.lower().startswith("file://"):
        return
    host, _, path = location[len("file://") :].partition("/")
    if host.lower() not in ("", "localhost"):
        raise ValueError(f"{location!r}: the URL of a file has no host: file:///{host}/{path} is a path from the root")


def is_hidden(name: str) -> bool:
    """Whether a file, given by its path in the folder of a table, is ignored by readers."""
    is_own = any(part.startswith(".") or (part.startswith("_") and "=" not in part) for part in name.split("/"))
    # Hadoop copies to the last of these names.
    return is_own or name.endswith("._COPYING_")
