"""Sources and targets that overlap: files that are read would be removed, or their rows would be there twice."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from orcish._native import Location, Place, above_pattern, matches_pattern
from orcish.io.names import display_name
from orcish.writing.target import check_no_source

__all__ = ["check_apart"]

PROBES = ("", "a.orc", "a=1/a.orc")
"""Paths in a folder of a target that a pattern may match."""


def check_apart(
    source: Any,
    files: Iterable[str],
    target: str,
    *,
    is_folder: bool,
    advice: str,
    storage: Mapping[str, Any] | None = None,
    target_storage: Mapping[str, Any] | None = None,
) -> None:
    """Checks that a target is not in a source, and that no source is in a target.

    Paths are compared without links, and URLs by the stores that they lead to, whatever their spelling.

    Args:
        source: A source, or a list of them: paths, URLs and patterns. Others are in no place.
        files: The files of the sources.
        target: The path or URL that is written.
        is_folder: Whether the target is a folder, of which files may be removed, and not a file.
        advice: What to do, for the message.
        storage: Options of the stores of the sources.
        target_storage: Options of the store of the target; those of the sources by default.

    Raises:
        ValueError: They overlap.
    """
    given = source if isinstance(source, list | tuple) else [source]
    names = [os.fspath(each) for each in given if isinstance(each, str | os.PathLike)]
    sources, there = [Location(name) for name in names], [Location(file) for file in files]
    options = storage if target_storage is None else target_storage
    own, shown = Location(target).place(options, storage), display_name(target)
    if not is_folder:
        read = [*names, *(file.path for file in there)]
        check_no_source(target, read, storage_options=storage, target_storage_options=options)
    for name, found in zip(names, sources, strict=True):
        if found.is_pattern:
            above = above_pattern(found.path)
            base = Location(above).place(storage, options)
            # A pattern without a folder is one in the working directory.
            rest = found.path if above == "." and not found.path.startswith("./") else found.path[len(above) :]
            is_within = not found.is_http and _matches(rest, own, base, is_folder)
        else:
            folders = [found, *(Location(folder) for folder in _linked_folders(found, there))]
            is_within = any(own.is_below(folder.place(storage, options)) for folder in folders)
        if is_within:
            raise ValueError(f"{shown}: the target is in the source {display_name(name)}: {advice}")
    if not is_folder:
        return
    # A folder without files is a source, too.
    for found in [*(found for found in sources if not found.is_pattern), *there]:
        if found.place(storage, options).is_below(own):
            raise ValueError(f"{shown}: the source {display_name(found.path)} is in the target: {advice}")


def _linked_folders(source: Location, files: list[Location]) -> Iterator[str]:
    """The folders in a source that files of it are in, and that are links."""
    if not source.is_local or not os.path.isdir(source.path):
        return
    start = source.path.rstrip("/")
    found = set()
    for file in files:
        above = os.path.dirname(file.path)
        while above.startswith(f"{start}/") and above not in found:
            found.add(above)
            above = os.path.dirname(above)
    yield from (folder for folder in sorted(found) if os.path.islink(folder))


def _matches(pattern: str, target: Place, base: Place, is_folder: bool) -> bool:
    """Whether a pattern in a folder matches a target, or what may be in it."""
    if not target.is_below(base):
        return False
    inside = target.path[len(base.path) :]
    return any(matches_pattern(pattern, [f"{inside}/{probe}" for probe in (PROBES if is_folder else PROBES[:1])]))
