"""Progress of long work."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Iterator
from typing import Protocol

from orcish.process import is_terminal
from orcish.terminal import printable
from orcish.types import Progress, ProgressOption

__all__ = ["reported", "reported_so_far"]

BAR = 40
"""Width of the bar without rich."""
MAX_TEXT = 36
"""Width of the text beside a bar of rich."""
INTERVAL = 0.1
"""Seconds between two states of the bar."""


class Bar(Protocol):
    """A bar on a terminal."""

    def show(self, progress: Progress) -> None:
        """Shows how far the work is."""

    def close(self) -> None:
        """Removes the bar."""


@contextlib.contextmanager
def reported(option: ProgressOption, text: str, total: int | None) -> Iterator[Callable[[int], None]]:
    """A function that takes the bytes, or the rows, of each part that is done. A bar is shown if standard error is a
    terminal.

    Args:
        option: The option.
        text: What the work is.
        total: Bytes or rows of all parts; ``None`` where they are not known.
    """
    bar = _bar(printable(text), total) if option is True and is_terminal(sys.stderr) else None
    show = option if callable(option) else None
    last = -INTERVAL
    done = 0

    def add(size: int) -> None:
        nonlocal done, last
        done += size
        if show is not None:
            show(Progress(done, total))
        elif bar is not None and (now := time.monotonic()) - last >= INTERVAL:
            last = now
            bar.show(Progress(done, total))

    try:
        add(0)
        yield add
    finally:
        if bar is not None:
            bar.close()


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


def _bar(text: str, total: int | None) -> Bar:
    try:
        return RichBar(text, total)
    except ImportError:
        return PlainBar(text)


def _cut(text: str) -> str:
    return text if len(text) <= MAX_TEXT else f"{text[: MAX_TEXT - 1]}…"


class RichBar:
    """A bar of rich, with the rate and the time that is left."""

    def __init__(self, text: str, total: int | None) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as Bars

        columns = (
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            TextColumn("{task.completed:,.0f}", justify="right"),
            TextColumn("{task.percentage:>4.0f}%" if total is not None else ""),
            TextColumn("{task.fields[rate]}", justify="right"),
            TimeRemainingColumn(compact=True),
        )
        self._bars = Bars(*columns, console=Console(stderr=True), auto_refresh=False, transient=True)
        self._task = self._bars.add_task(_cut(text), total=total, rate="")
        self._begun = time.monotonic()
        self._bars.start()

    def show(self, progress: Progress) -> None:
        """See :class:`Bar`."""
        seconds = time.monotonic() - self._begun
        rate = f"{progress.done / seconds:,.0f}/s" if seconds > INTERVAL else ""
        self._bars.update(self._task, completed=progress.done, rate=rate, refresh=True)

    def close(self) -> None:
        """See :class:`Bar`."""
        self._bars.stop()


class PlainBar:
    """A bar of characters."""

    def __init__(self, text: str) -> None:
        self._text = text

    def show(self, progress: Progress) -> None:
        """See :class:`Bar`."""
        if progress.total is None:
            print(f"\r{self._text} {progress.done:,}", end="", file=sys.stderr, flush=True)
            return
        part = min(progress.done / progress.total, 1.0) if progress.total else 1.0
        bar = "#" * round(part * BAR)
        print(f"\r{self._text} [{bar:<{BAR}}] {part:4.0%}", end="", file=sys.stderr, flush=True)

    def close(self) -> None:
        """See :class:`Bar`."""
        print("\r\x1b[K", end="", file=sys.stderr, flush=True)
