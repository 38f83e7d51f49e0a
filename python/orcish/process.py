"""The process of the command ``orcish``: its standard streams, and the signals that end it.

This module imports nothing heavy: it is at work while the package is imported.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any, NoReturn

__all__ = [
    "EndingSignals",
    "Terminated",
    "begin_command",
    "end_process",
    "is_terminal",
    "open_streams",
    "stopped_by_signals",
]

_PROGRAMS = {"orcish", "orcish.exe"}


class Terminated(KeyboardInterrupt):
    """A signal asks the process to end; what it was about is cleaned up, as after Ctrl-C."""


def begin_command() -> None:
    """Prepares the process, if its program is the command: other programs that import the package are left alone.

    Until the command runs, Ctrl-C ends the process without a traceback.
    """
    if not _is_command():
        return
    open_streams()
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _exit)


def end_process(code: int) -> NoReturn:
    """Ends the process of the command as the interpreter does, but does not tear down the interpreter: threads of
    libraries that still read Python files would abort the process.

    Args:
        code: The exit code.

    Raises:
        SystemExit: What was printed cannot be written. The interpreter tells it, as at the end of other programs.
    """
    # Threads and functions at exit are ended in this order.
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    gc.collect()
    try:
        for stream in (sys.stdout, sys.stderr):
            if stream is not None and not stream.closed:
                stream.flush()
    except (OSError, ValueError):
        sys.exit(code)
    os._exit(code)


def open_streams() -> None:
    """Opens the null device in place of standard streams that are closed, as of a shell's ``>&-``. Otherwise the next
    file that is opened would take their places, and get what is printed. What is printed to standard output fails, as
    it is lost; messages about errors are lost without another error.
    """
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            # The lowest free descriptor is this one.
            os.open(os.devnull, os.O_RDWR)
    if sys.stdout is None:
        sys.stdout = _null(os.O_RDONLY)
    if sys.stderr is None:
        sys.stderr = _null(os.O_WRONLY)


def is_terminal(stream: Any) -> bool:
    """Whether a standard stream is a terminal. It is ``None`` where it is closed."""
    return stream is not None and bool(stream.isatty())


class EndingSignals:
    """Within the block, SIGTERM and SIGHUP raise :class:`Terminated` in the main thread, and SIGINT
    :class:`KeyboardInterrupt`. Signals that the process ignores, as those of ``nohup``, stay ignored.
    """

    def __init__(self) -> None:
        self.received: int | None = None
        """The first signal that has arrived."""

    @property
    def code(self) -> int:
        """The exit code of a process that a signal ends: that of a shell."""
        return 128 + (self.received or signal.SIGINT)

    @contextlib.contextmanager
    def handled(self) -> Iterator[None]:
        """Handles the signals."""
        before = {}
        try:
            for name in ("SIGINT", "SIGTERM", "SIGHUP"):
                number = getattr(signal, name, None)
                if number is None or signal.getsignal(number) not in _REPLACED:
                    continue
                # Other threads than the main one cannot handle signals.
                with contextlib.suppress(ValueError):
                    before[number] = signal.signal(number, self._end)
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _end(self, number: int, _: FrameType | None) -> None:
        for stop in _STOPS:
            stop()
        if number == signal.SIGINT:
            self.received = self.received or number
            raise KeyboardInterrupt
        if self.received is None:
            # Later ones do not end the cleaning.
            self.received = number
            raise Terminated


@contextlib.contextmanager
def stopped_by_signals(stop: Callable[[], None]) -> Iterator[None]:
    """Within the block, a function is called by the signals of :class:`EndingSignals`: one that stops work of a library
    which does not see exceptions of the handlers.
    """
    _STOPS.append(stop)
    try:
        yield
    finally:
        _STOPS.remove(stop)


_STOPS: list[Callable[[], None]] = []


def _is_command() -> bool:
    """Whether the program of this process is the command. The first argument of ``-m`` is the option itself until the
    module is found.
    """
    program, *_ = [*sys.argv, ""]
    if program == "-m":
        given = getattr(sys, "orig_argv", ())
        return "-m" in given and list(given[given.index("-m") + 1 :][:1]) == ["orcish"]
    return os.path.basename(program) in _PROGRAMS


def _null(flags: int) -> Any:
    """A stream to the null device, to which writes fail where it is opened to read."""
    return open(os.open(os.devnull, flags), "w", encoding="utf-8")


def _exit(number: int, _: FrameType | None) -> None:
    os._exit(128 + number)


_REPLACED = (signal.SIG_DFL, signal.default_int_handler, _exit)
"""Handlers that others take the place of. Ignored signals, and those that a program handles, are left alone."""
