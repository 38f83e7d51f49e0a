"""Ranges of files that fsspec reads by HTTP. Answers are compared with what was asked for."""

from __future__ import annotations

import errno
import os
import re
import sys
from collections.abc import Callable, Mapping
from typing import Any

__all__ = ["read_range", "reads_http"]

CONTENT_RANGE = re.compile(r"\s*bytes\s+(\d+)-(\d+)/(\d+|\*)\s*", re.IGNORECASE)
Check = Callable[[Mapping[str, str]], None]
PART = 1 << 20
"""Bytes of an answer that are read at a time."""


def read_range(
    system: Any,
    path: str,
    start: int,
    end: int,
    size: int,
    headers: Mapping[str, str],
    check: Check | None = None,
) -> bytes:
    """The bytes of a range of a file, or those of the whole file where a server of HTTP gives no ranges.

    Args:
        system: A file system of fsspec, and no folder of another. Those that are not of HTTP check their answers
            themselves.
        path: The path within it.
        start: Offset of the first byte.
        end: Offset of the byte after the last.
        size: Length of the file.
        headers: Headers of requests of HTTP, besides those of the file system.
        check: Called with the headers of the answer, before its bytes are read.

    Raises:
        OSError: A server of HTTP gives another range, the range of a file of another length, or more bytes than it
            says.
    """
    if not reads_http(system):
        found: bytes = system.cat_file(path, start=start, end=end)
        return found
    from fsspec.asyn import sync

    checked: bytes = sync(system.loop, _checked, system, path, (start, end, size), dict(headers), check)
    return checked


def reads_http(system: Any) -> bool:
    """Whether a file system of fsspec, which is no folder of another, reads by HTTP."""
    http = sys.modules.get("fsspec.implementations.http")
    return http is not None and isinstance(system, http.HTTPFileSystem)


async def _checked(
    system: Any, url: str, span: tuple[int, int, int], headers: dict[str, str], check: Check | None
) -> bytes:
    """The bytes of an answer."""
    start, end, size = span
    own = dict(system.kwargs)
    asked = {**(own.pop("headers", None) or {}), **headers, "Range": f"bytes={start}-{end - 1}"}
    session = await system.set_session()
    async with session.get(system.encode_url(url), **own, headers=asked) as answer:
        if answer.status == 404:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), url)
        answer.raise_for_status()
        if check is not None:
            check(answer.headers)
        is_part = answer.status == 206
        if is_part:
            _check_range(answer.headers.get("Content-Range"), span)
        most = end - start if is_part else size
        parts, count = [], 0
        async for part in answer.content.iter_chunked(PART):
            parts.append(part)
            count += len(part)
            if count > most:
                # There may be no end.
                raise OSError(f"the server sent more than the {most:,} bytes of the {'range' if is_part else 'file'}")
    return b"".join(parts)


def _check_range(given: str | None, span: tuple[int, int, int]) -> None:
    """Checks the header of an answer that is a range."""
    start, end, size = span
    found = CONTENT_RANGE.fullmatch(given or "")
    if found is None:
        said = "no range" if given is None else f"Content-Range: {given[:80]!r}"
    else:
        first, last, total = found.groups()
        if (int(first), int(last) + 1) == (start, end) and total in ("*", str(size)):
            return
        said = f"bytes {int(first):,} to {int(last) + 1:,} of {total if total == '*' else format(int(total), ',')}"
    raise OSError(
        f"the server answered with {said}, and not with bytes {start:,} to {end:,} of {size:,}: the file was replaced, "
        "or the server is wrong: try again, or download the file"
    )
