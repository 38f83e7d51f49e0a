"""``-`` in the place of a file: standard input as a source."""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import sys
from collections.abc import Iterator

from orcish.io.names import display_name

from orcish_cli.parser import WrongArgumentsError, given_texts

__all__ = ["STREAM", "named_sources", "source_names", "stream_file"]

STREAM = "-"
"""The name of standard input as a source, and of standard output as a target."""
SOURCES = ("files", "source", "a", "b", "path")
"""Arguments of commands that name files that are read."""
OTHERS = ("table", "output", "target")
"""Arguments that name tables, or files that are written."""


@contextlib.contextmanager
def named_sources(options: argparse.Namespace) -> Iterator[None]:
    """Within the block, arguments have a file with the bytes of standard input in place of ``-``. It is ``/dev/stdin``
    for a file that is redirected, and a temporary file for a pipe.

    Args:
        options: The arguments, which are changed; ``standard_input`` is the path.

    Raises:
        ValueError: An argument is not UTF-8, ``-`` is a table or a target, or is there twice, or standard input is
            closed or a terminal.
    """
    texts = given_texts(options)
    _check_texts(texts)
    for name in OTHERS:
        if getattr(options, name, None) == STREAM and not getattr(options, "has_stream_target", False):
            raise ValueError("-: a table, or a file that is written, has a name: a file of the name - is ./-")
    given = [text for name, text in texts if name in SOURCES and text == STREAM]
    if not given:
        yield
        return
    if len(given) > 1:
        raise ValueError("-: standard input is read once: give it once; a file of the name - is ./-")
    if not getattr(options, "has_stream_sources", True) or getattr(options, "in_place", False):
        raise ValueError("-: standard input is not read here: give a file, or ./- for a file of the name -")
    with stream_file() as path:
        options.standard_input = path
        for name in SOURCES:
            value = getattr(options, name, None)
            if isinstance(value, list):
                setattr(options, name, [path if each == STREAM else each for each in value])
            elif value == STREAM:
                setattr(options, name, path)
        yield


def _check_texts(texts: list[tuple[str, str]]) -> None:
    """Checks that the texts of arguments are Unicode. Other bytes of arguments are lone surrogates, and files of such
    names are not read by all commands.

    Raises:
        ValueError: The name of a file is not.
        WrongArgumentsError: Another argument is not, or a name is empty.
    """
    for name, text in texts:
        if name in (*SOURCES, *OTHERS) and not text:
            raise WrongArgumentsError("the name of a file or table is empty: give one, such as ./a.orc")
        try:
            text.encode()
        except UnicodeEncodeError:
            shown = text.encode(errors="surrogateescape").decode(errors="backslashreplace")
            if name not in (*SOURCES, *OTHERS, "tables", "like"):
                raise WrongArgumentsError(f"{shown}: the argument is not UTF-8") from None
            raise ValueError(f"{shown}: the name is not UTF-8: rename the file, or make a link to it") from None


def source_names(options: argparse.Namespace) -> list[str]:
    """The names of the sources of a command, or its query, for messages."""
    return [display_name(text) for name, text in given_texts(options) if name in (*SOURCES, "table", "query")]


@contextlib.contextmanager
def stream_file() -> Iterator[str]:
    """The path of a file with the bytes of standard input, within the block.

    Raises:
        ValueError: Standard input is closed or a terminal.
    """
    if sys.stdin is None or sys.stdin.isatty():
        what = "closed" if sys.stdin is None else "a terminal"
        raise ValueError(f"-: standard input is {what}: give a file, or redirect one; a file of the name - is ./-")
    if _is_whole_file():
        yield "/dev/stdin"
        return
    # It would be a part of each start.
    from orcish.io.temporary_folder import TemporaryFolder

    with TemporaryFolder("orcish-") as folder:
        path = os.path.join(folder.name, "standard-input")
        with open(path, "xb", buffering=0) as file:
            while data := sys.stdin.buffer.read(1 << 20):
                with folder.errors_of_writing():
                    _write(file, data)
        yield path


def _write(file: io.FileIO, data: bytes) -> None:
    left = memoryview(data)
    while left:
        left = left[file.write(left) :]


def _is_whole_file() -> bool:
    """Whether standard input is a file of which no process has read a part."""
    try:
        is_own = sys.stdin.buffer.fileno() == 0
        return is_own and os.path.isfile("/dev/stdin") and os.lseek(0, 0, os.SEEK_CUR) == 0
    except OSError:
        return False
