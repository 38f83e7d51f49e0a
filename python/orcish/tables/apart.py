"""Sources and targets that overlap: files that are read would be removed, or their rows would be there twice."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import Any

from orcish.io.names import display_name
from orcish.io.paths import folder_above, is_http, is_pattern, local_path, plain_location
from orcish.io.patterns import matches, segments
from orcish.writing.target import check_no_source

__all__ = ["check_apart"]

PROBES = ((), ("a.orc",), ("a=1", "a.orc"))
"""Paths in a folder of a target that a pattern may match."""


def check_apart(source: Any, files: Iterable[str], target: str, *, is_folder: bool, advice: str) -> None:
    """Checks that a target is not in a source, and that no source is in a target.

    Paths are compared without links. Of URLs of one store, the spelling of the scheme does not matter.

    Args:
        source: A source, or a list of them: paths, URLs and patterns. Others are in no place.
        files: The files of the sources.
        target: The path or URL that is written.
        is_folder: Whether the target is a folder, of which files may be removed, and not a file.
        advice: What to do, for the message.

    Raises:
        ValueError: They overlap.
    """
    given = source if isinstance(source, list | tuple) else [source]
    names = [os.fspath(each) for each in given if isinstance(each, str | os.PathLike)]
    paths, there = [local_path(name) for name in names], [local_path(file) for file in files]
    own, shown = plain_location(local_path(target)), display_name(target)
    if not is_folder:
        check_no_source(target, [*names, *there])
    for name, path in zip(names, paths, strict=True):
        if any(_is_below(own, plain_location(folder)) for folder in _folders(path, there)) or (
            is_pattern(path) and not is_http(name) and _matches(path, own, is_folder)
        ):
            raise ValueError(f"{shown}: the target is in the source {display_name(name)}: {advice}")
    if not is_folder:
        return
    # A folder without files is a source, too.
    for each in [*(path for path in paths if not is_pattern(path)), *there]:
        if _is_below(plain_location(each), own):
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


def _matches(pattern: str, target: str, is_folder: bool) -> bool:
    """Whether a pattern matches a target in its plain spelling, or what may be in it."""
    above = folder_above(pattern)
    base = plain_location(above)
    if not _is_below(target, base):
        return False
    inside = [name for name in target[len(base) :].split("/") if name]
    rest = segments(pattern[len(above) :] if pattern.startswith(above) else pattern)
    return any(matches(rest, [*inside, *probe]) for probe in (PROBES if is_folder else PROBES[:1]))


def _is_below(location: str, folder: str) -> bool:
    """Whether a path or URL is that of a folder, or of something in it. Both have their plain spelling."""
    return f"{location}/".startswith(f"{folder}/")
