"""Sources and targets that overlap: files that are read would be removed, or their rows would be there twice."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from orcish.io.identity import Place, place_of
from orcish.io.names import display_name
from orcish.io.paths import folder_above, is_http, is_pattern, local_path
from orcish.io.patterns import matches, segments
from orcish.writing.target import check_no_source

__all__ = ["check_apart"]

PROBES = ((), ("a.orc",), ("a=1", "a.orc"))
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
    paths, there = [local_path(name) for name in names], [local_path(file) for file in files]
    options = storage if target_storage is None else target_storage
    own, shown = place_of(target, options, storage), display_name(target)
    if not is_folder:
        check_no_source(target, [*names, *there], storage_options=storage, target_storage_options=options)

    def place(location: str) -> Place:
        return place_of(location, storage, options)

    for name, path in zip(names, paths, strict=True):
        if any(own.is_below(place(folder)) for folder in _folders(path, there)) or (
            is_pattern(path) and not is_http(name) and _matches(path, own, place(folder_above(path)), is_folder)
        ):
            raise ValueError(f"{shown}: the target is in the source {display_name(name)}: {advice}")
    if not is_folder:
        return
    # A folder without files is a source, too.
    for each in [*(path for path in paths if not is_pattern(path)), *there]:
        if place(each).is_below(own):
            raise ValueError(f"{shown}: the source {display_name(each)} is in the target: {advice}")


def _folders(source: str, files: list[str]) -> Iterator[str]:
    """A source, and the folders in it that files of it are in, which may be links."""
    if is_pattern(source):
        return
    yield source
    if "://" in source or not os.path.isdir(source):
        return
    start = source.rstrip("/")
    found = set()
    for file in files:
        above = os.path.dirname(file)
        while above.startswith(f"{start}/") and above not in found:
            found.add(above)
            above = os.path.dirname(above)
    yield from (folder for folder in sorted(found) if os.path.islink(folder))


def _matches(pattern: str, target: Place, base: Place, is_folder: bool) -> bool:
    """Whether a pattern matches a target, or what may be in it, given the folder above its first special character."""
    if not target.is_below(base):
        return False
    above = folder_above(pattern)
    inside = [name for name in target.path[len(base.path) :].split("/") if name]
    rest = segments(pattern[len(above) :] if pattern.startswith(above) else pattern)
    return any(matches(rest, [*inside, *probe]) for probe in (PROBES if is_folder else PROBES[:1]))
