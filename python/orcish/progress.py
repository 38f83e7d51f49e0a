"""Progress of long work."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Iterator

from orcish.terminal import printable
from orcish.types import Progress, ProgressOption

__all__ = ["reported", "reported_so_far"]

BAR = 40
"""Width of the bar."""
INTERVAL = 0.1
"""Seconds between two states of the bar."""


@contextlib.contextmanager
def reported(option: ProgressOption, text: str, total: int | None) -> Iterator[Callable[[int], None]]:
    """A function that takes the bytes, or the rows, of each part that is done. A bar is shown if standard error is a
    terminal.

    Args:
        option: The option.
        text: What the work is.
        total: Bytes or rows of all parts; ``None`` where they are not known.
    """
    show = _bar(text) if option is True else option or None
    done = 0

    def add(size: int) -> None:
        nonlocal done
        done += size
        if show is not None:
            show(Progress(done, total))

    add(0)
    try:
        yield add
    finally:
        if option is True and sys.stderr.isatty():
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)


@contextlib.contextmanager
def reported_so_far(option: ProgressOption, text: str, total: int | None) -> Iterator[Callable[[int], None] | None]:
    """As :func:`reported`, but the function takes all bytes or rows that are done so far. At the end of the block all
    are done. ``None`` if no progress is asked for.
    """
    if not option:
        yield None
        return
    with reported(option, text, total) as add:
        done = 0

        def set_done(count: int) -> None:
            nonlocal done
            add(count - done)
            done = count

        yield set_done
        if total is not None and done != total:
            set_done(total)


def _bar(text: str) -> Callable[[Progress], object] | None:
    if not sys.stderr.isatty():
        return None
    label = printable(text)
    last = -INTERVAL

    def draw(progress: Progress) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last < INTERVAL:
            return
        last = now
        if progress.total is None:
            print(f"\r{label} {progress.done:,}", end="", file=sys.stderr, flush=True)
            return
        part = min(progress.done / progress.total, 1.0) if progress.total else 1.0
        bar = "#" * round(part * BAR)
        print(f"\r{label} [{bar:<{BAR}}] {part:4.0%}", end="", file=sys.stderr, flush=True)

    return draw
