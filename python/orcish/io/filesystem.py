"""Paths of arguments: within a file system of another library, or URLs that fsspec opens."""

from __future__ import annotations

import glob
import os
import posixpath
import urllib.parse
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from orcish._native import Location
from orcish.errors import UnsupportedError
from orcish.file_systems import check_file_system
from orcish.io.names import display_name, errors_with_name
from orcish.io.paths import PATTERN, path_text
from orcish.io.system_path import SystemPath

if TYPE_CHECKING:
    from orcish.io.systems import System

__all__ = ["foreign_path", "in_file_system", "table_folder"]


def foreign_path(url: str, storage_options: Mapping[str, Any] | None) -> SystemPath:
    """The path of a URL that fsspec opens.

    Args:
        url: The URL.
        storage_options: Arguments of the file system of fsspec.

    Raises:
        UnsupportedError: fsspec, or a package that it needs, is not installed, or fsspec does not know the scheme.
        OSError: There is no connection.
    """
    name, scheme = display_name(url), urllib.parse.urlsplit(url).scheme.lower()
    try:
        import fsspec
    except ImportError as error:
        raise UnsupportedError(
            f"{name}: orcish has no client for {scheme}://, and fsspec, which may have one, is not installed: "
            "`pip install fsspec`"
        ) from error
    # Some file systems connect at once, and their errors name no URL.
    with errors_with_name(url):
        try:
            system, path = fsspec.core.url_to_fs(url, **(storage_options or {}))
        except ImportError as error:
            raise UnsupportedError(f"{name}: fsspec needs another package for {scheme}://: {error}") from error
        except ValueError as error:
            raise UnsupportedError(f"{name}: {scheme} is known to neither orcish nor fsspec: {error}") from error
    from orcish.io.systems import system_of

    return SystemPath(system_of(system), path, url)


def in_file_system(source: Any, filesystem: Any, storage_options: Any, *, is_target: bool = False) -> Any:
    """A source or target, with paths as those within a file system, and URLs that orcish does not open itself as paths
    within a file system of fsspec. Paths of the local disk stay paths.

    Args:
        source: A path, or a list of paths; without a file system, any source.
        filesystem: A file system of pyarrow or fsspec, a store of obstore, or ``None``.
        storage_options: Options of the call. They are not for file systems.
        is_target: Whether the path is that of a target, which is no pattern.

    Raises:
        TypeError: ``filesystem`` is no file system.
        ValueError: The source is no path, the path is a URL of another file system, or there are ``storage_options``.
        UnsupportedError: fsspec does not open the URL.
    """
    if filesystem is None:
        if isinstance(source, list | tuple):
            return [in_file_system(each, None, storage_options) for each in source]
        is_url = isinstance(source, str) and Location(source).is_foreign
        return foreign_path(source, storage_options) if is_url else source
    if storage_options is not None:
        raise ValueError("storage_options are for URLs: a file system has settings of its own")
    system = _system(filesystem)
    if isinstance(source, list | tuple):
        return [_within(each, system, is_target) for each in source]
    return _within(source, system, is_target)


def table_folder(target: Any, filesystem: Any, storage_options: Any) -> Any:
    """The path or URL of a table that is written.

    Raises:
        UnsupportedError: The path is within a file system that is not the local one.
    """
    if filesystem is None:
        return target
    place = in_file_system(target, filesystem, storage_options, is_target=True)
    if isinstance(place, SystemPath):
        raise UnsupportedError(
            f"{place}: a commit of a table needs atomic renames or conditional writes, which file systems of other "
            "libraries do not offer: give the URL of the table, such as s3://bucket/table, with storage_options in "
            "place of filesystem; write_table writes a single file"
        )
    return place


def _system(filesystem: Any) -> System:
    check_file_system("filesystem", filesystem)
    from orcish.io.systems import system_of

    return system_of(filesystem)


def _within(source: Any, system: System, is_target: bool) -> str | SystemPath:
    if not isinstance(source, str | os.PathLike):
        kind = type(source).__name__
        raise ValueError(f"filesystem is for paths, and not for a source of type {kind}: leave filesystem out")
    text = path_text(source)
    path = system.normalized(text)
    native = system.native_path(path)
    if native is None:
        return SystemPath(system, path)
    is_pattern = not is_target and any(sign in path for sign in PATTERN) and not os.path.exists(native)
    if is_pattern and native.endswith(path):
        # Special characters of the folder above the path do not belong to the pattern.
        native = f"{glob.escape(native.removesuffix(path))}{path}"
    # A slash at the end says that the path is that of a folder.
    return posixpath.join(native, "") if text.endswith("/") else native
