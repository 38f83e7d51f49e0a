"""Messages of errors, in the words of the shell: flags in place of arguments of functions."""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import sys
from collections.abc import Iterator
from typing import Any

from orcish.errors import CorruptFileError, OptionError, OrcishError, UnknownColumnError, UnsupportedError
from orcish.io.names import display_name
from orcish.terminal import printable

from orcish_cli.parser import WrongArgumentsError, given_options, given_texts
from orcish_cli.terminal import drop_output, is_of_output, show

__all__ = [
    "EXPECTED",
    "Failures",
    "fail",
    "in_shell",
    "is_of_arguments",
    "print_traceback",
    "set_command",
    "set_stream",
    "shown_name",
    "with_stream",
]

EXPECTED = (OrcishError, OSError, TypeError, KeyError, ValueError)
"""Errors of arguments and files, which are shown without a traceback."""
OWN = {"source_timezone": "timezone"}
"""Arguments of functions that have another name as arguments of commands."""
OPTION = re.compile(
    r"(?<![\w/.`'\"=-])([a-z]+(?:_[a-z]+)*)"
    r"(?:=(\{[^{}]*\}|\[[^\[\]]*\]|'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|True|False|None|-?\d+(?:\.\d+)?))?(?![\w/.=])"
)
"""An argument of a function, with or without a value, as messages of the library have it."""
FUNCTION = re.compile(r"(?<![\w/.`'\"-])orcish\.(\w+)(?![\w.(])")
COMMANDS = {"recover_file": "recover", "write_dataset": "convert", "write_table": "convert", "read_table": "data"}
"""Functions that have another name than their commands."""
BEGINS = ("--", "-: ", "filters: ", "the type '", "the schema has two columns ")
"""Begins of messages about values of options that do not name an argument of a function."""
PARTS = (
    *("unknown storage option ", "compression level ", " has no compression levels", "has no levels: leave"),
    *(" has no codec ", "the codec of "),
)
"""Parts of such messages."""
UNITS = ("s", "ms", "us", "ns")
PHRASES = {
    ", or as null (timestamp_out_of_range)": "",
    "stripes has to be below": "--stripe has to be below",
    "another file of its writer tells them": "--like FILE names another file of its writer, which has them",
    "the storage option orcish.ca_certificate names": "--storage-option orcish.ca_certificate=FILE names",
    **{
        f"cast(pyarrow.timestamp('{unit}'), safe=False)": f"--timestamp-unit {unit}" for unit in ("s", "ms", "us", "ns")
    },
}
"""Parts of messages that only functions need, and those of the shell."""
ANSWER = re.compile(r"<\?xml.*?<Code>([^<]*)</Code>(?:.*?<Message>([^<]*)</Message>)?.*?</Error>", re.DOTALL)
"""An answer of a store of the protocol of S3."""
STREAM_FILE = "standard-input.orc"
"""The file that advice makes of standard input."""
_stream: str | None = None
_flags: dict[str, argparse.Action] = {}
_given: list[str] = []


def set_command(options: argparse.Namespace) -> None:
    """Says which arguments the command has: messages have their flags. Values that are given, such as names of files,
    may look like arguments of functions, and stay as they are.
    """
    _flags.clear()
    _flags.update({action.dest: action for action in options.parser.all_actions() if action.option_strings})
    _given[:] = [text for _, text in given_texts(options)]


def set_stream(path: str | None) -> None:
    """Says which file has the bytes of standard input: messages call it ``-``. ``None`` for none."""
    global _stream
    _stream = path


def with_stream(text: str) -> str:
    """A text that calls standard input ``-``, and not by the file that has its bytes."""
    if _stream is None:
        return text
    for name in dict.fromkeys((_stream, printable(_stream))):
        text = text.replace(f"{name}.orc", STREAM_FILE).replace(name, "-")
    return text


def shown_name(location: str) -> str:
    """What output calls a path or URL that is read: it has no credentials, and standard input is ``-``."""
    return "-" if location == _stream else display_name(location)


def in_shell(error: Exception | str) -> str:
    """The message of an error in the words of the shell."""
    if isinstance(error, CorruptFileError):
        # The text advises pyarrow, too.
        return with_stream(_other_format(str(error).partition("; pyarrow.dataset.dataset(")[0]))
    if isinstance(error, OptionError) and (flag := _flag(error.option)) is not None:
        value = "" if error.value is ... else f" {_value(error.value)}"
        return with_stream(f"{flag}{value}: {_in_shell(error.reason)}")
    return with_stream(_in_shell(str(error)))


def _in_shell(text: str) -> str:
    for part, own in PHRASES.items():
        text = text.replace(part, own)
    if "masked" not in _flags:
        text = text.replace(', with the option masked="allow"', ", which this command does not do")
    if "timestamp_unit" not in _flags:
        text = text.partition('; timestamp_unit="ns" reads them ')[0]
    text = ANSWER.sub(lambda found: ": ".join(filter(None, found.groups())), text)
    first, colon, rest = text.partition(": ")
    if colon and first in _flags and first not in _given:
        # The begin of a message is about the value of an argument.
        text = f"{_flag(first)}: {rest}"
    shown, end = "", 0
    for found in OPTION.finditer(text):
        name, value = found.groups()
        if (value is None and "_" not in name) or any(found[0] in given for given in _given):
            continue
        shown, end = f"{shown}{text[end : found.start()]}{_assigned(name, value) or found[0]}", found.end()
    text = shown + text[end:]
    return FUNCTION.sub(lambda found: f"orcish {COMMANDS.get(found[1], found[1])}", text)


def _flag(option: str) -> str | None:
    action = _flags.get(OWN.get(option, option))
    return None if action is None else next((each for each in action.option_strings if each.startswith("--")), None)


def _assigned(option: str, text: str | None) -> str | None:
    """An argument of a function, with a literal of Python, as the shell has it; ``None`` where the command does not."""
    flag = _flag(option)
    if flag is None or text is None:
        return flag
    import ast

    try:
        value = ast.literal_eval(text)
    except (SyntaxError, ValueError):
        return None
    if value is True or _flags[OWN.get(option, option)].nargs == 0:
        return flag
    if value is None or value is False:
        return f"no {flag}"
    if isinstance(value, dict):
        return " ".join(f"{flag} {key}={_value(each)}" for key, each in value.items())
    return f"{flag} {_value(value)}"


def _value(value: Any) -> str:
    if isinstance(value, list | tuple):
        value = ",".join(map(str, value))
    return str(value).lower() if isinstance(value, bool) else str(value) or repr("")


def _other_format(text: str) -> str:
    """A message about a file that is not valid; of one that is not ORC, with the command that helps."""
    name, is_other, rest = text.partition(": not an ORC file")
    if not is_other:
        return _in_shell(text)
    if "(it begins like one, and may be truncated)" in rest:
        import shlex

        return (
            f"{text}: `orcish recover {shlex.quote(name)} -o TARGET` saves what of it can be read; where its end is "
            "lost, --like FILE names another file of its writer"
        )
    from orcish_cli.foreign_files import TEXT, convert_command, format_of

    form = format_of(name)
    if form == TEXT:
        return f"{name} is text, and not ORC: `orcish convert` reads CSV with --from csv, and JSON with --from json"
    if form is None:
        return text
    article = "an" if form[0] in "AEIOU" else "a"
    return f"{name} is {article} {form} file, and not ORC: {convert_command(name)} makes ORC of it"


def is_of_arguments(error: BaseException, options: argparse.Namespace) -> bool:
    """Whether an error says that an argument has a value that it cannot have, or that arguments do not go together.
    Columns and files that are not there are no such errors.
    """
    if isinstance(error, WrongArgumentsError):
        return True
    if not isinstance(error, ValueError | TypeError | UnsupportedError) or isinstance(error, UnknownColumnError):
        return False
    given = given_options(options)
    if isinstance(error, OptionError):
        return OWN.get(error.option, error.option) in given
    text = str(error)
    first, _, rest = text.partition(": ")
    if text.startswith(BEGINS) or any(part in text for part in PARTS):
        return True
    words = [first.partition("=")[0], rest.partition("=")[0]]
    # The name of a file may look like an argument of a function.
    is_name = any("=" in name and text.startswith(name) for name in _given)
    return any(OWN.get(word, word) in given for word in words[is_name:])


def fail(error: Exception, code: int = 1) -> int:
    """Prints the message of an error; gives the exit code."""
    _end_output()
    text = _text_of_system(error) if isinstance(error, OSError) and error.strerror else in_shell(error)
    if isinstance(error, KeyError) and not isinstance(error, OrcishError):
        # The text of a KeyError is quoted.
        text = in_shell(str(error.args[0]) if error.args else "")
    if isinstance(error, UnicodeEncodeError) and error.encoding == "utf-8":
        # Bytes of arguments that are no text are surrogates.
        name = error.object.encode(errors="surrogateescape").decode(errors="backslashreplace")
        text = f"{name}: the name is not UTF-8: rename the file, or make a link to it"
    show(f"orcish: {text}", is_error=True)
    return code


def _text_of_system(error: OSError) -> str:
    """The text of an error of the system, with the file that it is about, without its number."""
    name = display_name(os.fsdecode(error.filename)) if isinstance(error.filename, str | bytes) else ""
    text = in_shell(str(error.strerror))
    return with_stream(f"{name}: {text}") if name and name not in text else text


def _end_output() -> None:
    """Writes what was printed before an error. Where that fails, the rest must not fail again at exit."""
    try:
        sys.stdout.flush()
    except OSError:
        drop_output()


def print_traceback(code: int = 1) -> int:
    """Prints the traceback of an unexpected exception; gives the exit code."""
    import traceback

    _end_output()
    for line in traceback.format_exc().splitlines():
        show(line, is_error=True)
    return code


class Failures:
    """The failures of some of the sources of a command, which do not end the work on the others.

    Args:
        options: The arguments of the command.
        trouble: The exit code after a failure.
    """

    def __init__(self, options: argparse.Namespace, trouble: int = 1) -> None:
        self._options = options
        self._trouble = trouble
        self.code = 0
        """The exit code: 0 where nothing has failed."""

    @contextlib.contextmanager
    def printed(self) -> Iterator[None]:
        """Within the block, an error is printed, which ends the block and is not raised. Errors of arguments are
        raised, as they are those of all sources.
        """
        try:
            yield
        except EXPECTED as error:
            if is_of_output(error) or is_of_arguments(error, self._options):
                raise
            self.code = fail(error, self._trouble)
