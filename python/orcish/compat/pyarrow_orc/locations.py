"""Sources and targets of ``pyarrow.orc``: paths, URIs, file systems of pyarrow and fsspec, file objects and buffers."""

from __future__ import annotations

import errno
import io
import os
import urllib.parse
from typing import Any

import pyarrow as pa
from pyarrow import fs

from orcish.io.names import display_name, without_credentials

__all__ = ["checked_source", "checked_target", "resolved_source"]


def is_path(source: Any) -> bool:
    """Whether an argument is a path or a URI."""
    return isinstance(source, str | os.PathLike)


def _path(path: Any) -> str:
    """The text of a path, with the home folder in place of a leading ``~``."""
    return os.path.expanduser(os.fsdecode(path))


def checked_source(source: Any) -> Any:
    """A path, buffer or file object, in the form that orcish takes.

    Raises:
        TypeError: The source is none of these.
        ValueError: A file object is closed.
    """
    if is_path(source):
        return _path(source)
    if isinstance(source, pa.Buffer):
        return pa.BufferReader(source)
    if not hasattr(source, "read"):
        raise TypeError(
            f"a source is a path, a file object or a buffer of pyarrow, not {type(source).__name__}; "
            "bytes are read through pyarrow.BufferReader"
        )
    _check_open(source)
    return source


def resolved_source(source: Any, filesystem: Any = None) -> Any:
    """The source of a table: a path of a local file, or a file object.

    Args:
        source: A path, also one within ``filesystem``; a URI; or what :func:`checked_source` takes.
        filesystem: A file system of pyarrow or fsspec, the URI of a folder, or ``None``.

    Raises:
        TypeError: The source or the file system is none of these.
        ValueError: There is a file system for a source that is no path, or pyarrow does not know the scheme of a URI.
        OSError: The file cannot be opened.
    """
    if not is_path(source):
        if filesystem is not None:
            raise ValueError("filesystem is for paths, and the source is a file object or a buffer")
        return checked_source(source)
    if filesystem is not None:
        system = _filesystem(filesystem)
        if not isinstance(source, str) and not isinstance(system, fs.LocalFileSystem):
            raise TypeError(f"the path within a file system that is not local is a str, not {type(source).__name__}")
        path = _path(source) if isinstance(system, fs.LocalFileSystem) else source
        return _opened(system, system.normalize_path(path))
    path = _path(source)
    if os.path.exists(path) or not urllib.parse.urlsplit(path).scheme:
        return path
    return _opened(*_from_uri(path))


def _from_uri(uri: str) -> tuple[Any, str]:
    """The file system and the path of a URI. The texts of errors have neither its credentials nor its query."""
    try:
        system, path = fs.FileSystem.from_uri(uri)
    except (pa.ArrowException, OSError) as error:
        text = without_credentials(str(error), uri)
        if text == str(error):
            raise
        kind = type(error)
    else:
        return system, path
    raise kind(text)


def _opened(system: Any, path: str) -> Any:
    """A file of a file system. Local files are opened by orcish, which reads them in several threads."""
    return path if isinstance(system, fs.LocalFileSystem) else system.open_input_file(path)


def _filesystem(filesystem: Any) -> Any:
    """The file system of pyarrow for an argument."""
    if isinstance(filesystem, fs.FileSystem):
        return filesystem
    if isinstance(filesystem, str):
        system, folder = _from_uri(filesystem)
        folder = system.normalize_path(folder)
        if folder and system.get_file_info(folder).type != fs.FileType.Directory:
            raise ValueError(
                f"filesystem={display_name(filesystem)!r}: the URI of a file system has the path of a folder"
            )
        return fs.SubTreeFileSystem(folder, system) if folder else system
    try:
        import fsspec
        from fsspec.implementations.local import LocalFileSystem
    except ImportError:
        pass
    else:
        if isinstance(filesystem, LocalFileSystem):
            return fs.LocalFileSystem()
        if isinstance(filesystem, fsspec.AbstractFileSystem):
            return fs.PyFileSystem(fs.FSSpecHandler(filesystem))
    raise TypeError(f"filesystem is a file system of pyarrow or fsspec, or a URI, not a {type(filesystem).__name__}")


def checked_target(target: Any) -> Any:
    """A path or a file object that a file can be written to, in the form that orcish takes. Nothing is created.

    Raises:
        TypeError: The target is none of these, or is not open for binary writing.
        ValueError: A file object is closed.
        OSError: The folder of a path does not exist, the path is that of a folder, or a file of pyarrow is not open for
            writing.
    """
    if is_path(target):
        path = _path(target)
        if os.path.isdir(path):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
        if "://" not in path and not os.path.isdir(os.path.dirname(path) or "."):
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
        return path
    if not hasattr(target, "write"):
        raise TypeError(f"a file is written to a path or a file object, not to a {type(target).__name__}")
    _check_open(target)
    if isinstance(target, io.TextIOBase):
        raise TypeError("the file object is open for text: open it with mode 'wb'")
    if hasattr(target, "writable") and not target.writable():
        kind = OSError if isinstance(target, pa.NativeFile) else TypeError
        raise kind("the file object is not open for writing: open it with mode 'wb'")
    return target


def _check_open(file: Any) -> None:
    if getattr(file, "closed", False):
        raise ValueError("I/O operation on a closed file")
