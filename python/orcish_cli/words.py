"""Messages of the library in the words of the shell: options in place of keywords of functions."""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Iterator, Mapping
from typing import Any

from orcish.io.names import display_name
from orcish.terminal import printable

from orcish_cli.foreign_files import TEXT, convert_command, format_of

__all__ = ["in_shell", "set_options", "set_stream", "shown_name", "with_stream"]

KEYWORDS = {
    **{
        name: f"--{name.replace('_', '-')}"
        for name in (
            "bloom_filter_columns",
            "bloom_filter_fpp",
            "columns",
            "compression",
            "compression_block_size",
            "compression_level",
            "decimal_out_of_range",
            "existing_data",
            "filters",
            "fraction",
            "ignore_order",
            "invalid_utf8",
            "key",
            "like",
            "limit",
            "long_char",
            "lookup",
            "masked",
            "max_memory",
            "max_partitions",
            "max_rows_per_file",
            "older_than",
            "overwrite",
            "partition_by",
            "rewrite",
            "row_index_stride",
            "runs",
            "sample_size",
            "seed",
            "sort_by",
            "stripe_size",
            "target_file_size",
            "timestamp_unit",
            "timestamps",
            "timezone",
            "tolerance",
            "undo",
            "values_only",
            "verify",
        )
    },
    "check_metadata": "--metadata",
    "external_locations": "--external-location",
    "source_timezone": "--timezone",
    "storage_options": "--storage-option",
}
"""Keywords of functions, and the options in their place."""
FLAGS = ("masked",)
"""Options without a value, whose keywords have one."""
FUNCTIONS = {
    **{name: name for name in ("advise", "check", "compact", "convert", "delete", "diff", "history", "merge")},
    **dict.fromkeys(("recover", "recover_file"), "recover"),
    "vacuum": "vacuum",
    **dict.fromkeys(("write_dataset", "write_table"), "convert"),
    **dict.fromkeys(("scan", "read_table", "dataset", "ORCFile.read"), "data"),
}
"""Functions, and the commands in their place."""
_names = "|".join(sorted(KEYWORDS, key=len, reverse=True))
ASSIGNED = re.compile(
    rf"(?<![\w/.`'\"=-])({_names})="
    r"(\{[^{}]*\}|\[[^\[\]]*\]|'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|True\b|False\b|None\b|-?\d+(?:\.\d+)?\b)"
    r"(?![\w/.])"
)
"""A keyword with a value of Python. Names of folders, such as ``key=5/``, are none."""
QUOTED = re.compile(r"(?<!\w)(?:'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|`[^`]*`)")
"""A name or a literal, which is no word of the library."""
BARE = re.compile(rf"(?<![\w/.`'\"=-])({'|'.join(name for name in KEYWORDS if '_' in name)})(?![\w=.])")
"""A keyword without a value. Words without an underscore may be others."""
FIRST = re.compile(r"^(key|ignore_order|lookup|filters|fraction|tolerance|runs|older_than): ")
"""A keyword at the beginning of a message, about its value."""
OF_FILES = re.compile(r"^([a-z_]+(?:, [a-z_]+)*)(?=: options of files need )")
FUNCTION = re.compile(
    rf"(?<![\w/.`'\"-])(?:orcish\.({'|'.join(map(re.escape, FUNCTIONS))})|(write_dataset|write_table))(?![\w.(])"
)
ANY = re.compile(f"{ASSIGNED.pattern}|{QUOTED.pattern}|{BARE.pattern}|{FUNCTION.pattern}")
WORDS = re.compile("|".join([_names, *map(re.escape, FUNCTIONS)]))
DIGITS = re.compile(r"with cast\(pyarrow\.timestamp\('(\w+)'\), safe=False\)")
XML = re.compile(r"<\?xml.*?<Code>([^<]*)</Code>(?:.*?<Message>([^<]*)</Message>)?.*?</Error>", re.DOTALL)
"""An answer of a store of the protocol of S3."""
READ_ONE = re.compile(r": read them one by one, or .+ first, whose columns are then those of both")
"""Advice to readers of several tables."""
NO_ORC = re.compile(r"^(.+?): not an ORC file(.*)$", re.DOTALL)
TORN = "(it begins like one, and may be truncated)"
PYARROW = re.compile(r"; pyarrow\.dataset\.dataset\(.*?\) reads files of .*$", re.DOTALL)
PHRASES = {
    ", or as null (timestamp_out_of_range)": "",
    "stripes has to be below": "--stripe has to be below",
    "another file of its writer tells them": "--like FILE names another file of its writer, which has them",
    "the storage option orcish.ca_certificate names": "--storage-option orcish.ca_certificate=FILE names",
}
"""Parts of messages that only functions need, and those of the shell."""
READ_IN_UNITS = re.compile(r'; timestamp_unit="ns" reads them .+? cuts them off')
UNITS = re.compile(r'timestamp_unit="(\w+)"')
NO_MASKS = ', with the option masked="allow"'
STREAM_FILE = "standard-input.orc"
"""The file that advice makes of standard input."""
_stream: str | None = None
_known: set[str] = set()
_given: list[str] = []


def set_options(options: Mapping[str, Any]) -> None:
    """Says which options the command has, by the names of their attributes: others are not advised.

    Args:
        options: The options, with the values that are given: names of files and columns that look like words of the
            library stay as they are in messages.
    """
    _known.clear()
    _known.update(options)
    _given[:] = sorted({text for value in options.values() for text in _texts(value)}, key=len, reverse=True)


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


def _texts(value: Any) -> Iterator[str]:
    """The texts in the value of an option that have a word of the library."""
    if isinstance(value, str):
        if WORDS.search(value):
            yield value
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _texts(each)


def in_shell(text: str) -> str:
    """A message of the library in the words of the shell."""
    if text.startswith("duckdb: "):
        # It has options of its own, and errors of orcish while it reads.
        return with_stream(UNITS.sub(r"--timestamp-unit \1", text.replace(NO_MASKS, ", with --masked")))
    if _known and "timestamp_unit" not in _known:
        text = READ_IN_UNITS.sub("", text)
    if _known and "masked" not in _known:
        text = text.replace(NO_MASKS, ", which this command does not do")
    if "partition_by" in _known:
        text = READ_ONE.sub(": write them one by one", text)
    for part, own in PHRASES.items():
        text = text.replace(part, own)
    text = XML.sub(_answer, text)
    for at, given in enumerate(_given):
        text = re.sub(rf"(?<!\w){re.escape(given)}(?!\w)", f"\0{at}\0", text)
    text = OF_FILES.sub(lambda found: ", ".join(KEYWORDS.get(name, name) for name in found[1].split(", ")), text)
    text = DIGITS.sub(r"with --timestamp-unit \1", text)
    text = FIRST.sub(lambda found: f"{KEYWORDS[found[1]]}: ", ANY.sub(_changed, text))
    return with_stream(_no_orc(re.sub("\0(\\d+)\0", lambda found: _given[int(found[1])], text)))


def _no_orc(text: str) -> str:
    """A message about a file that is not ORC, with the command that helps."""
    found = NO_ORC.match(text)
    if found is None:
        return text
    name, rest = found.groups()
    if TORN in rest:
        return f"{text}: `orcish recover {shlex.quote(name)} -o TARGET` saves what of it can be read"
    form = format_of(name)
    if form == TEXT:
        return f"{name} is text, and not ORC: `orcish convert` reads CSV with --from csv, and JSON with --from json"
    if form is not None:
        article = "an" if form[0] in "AEIOU" else "a"
        return f"{name} is {article} {form} file, and not ORC: {convert_command(name)} makes ORC of it"
    return PYARROW.sub("", text)


def _answer(found: re.Match[str]) -> str:
    code, message = found.groups()
    return f"{code}: {message}" if message else code


def _changed(found: re.Match[str]) -> str:
    """A word of the library in the words of the shell; quoted names and literals as they are."""
    text = found[0]
    assigned = ASSIGNED.match(text)
    if assigned is not None:
        return _assigned(assigned)
    if text in KEYWORDS:
        return KEYWORDS[text]
    function = FUNCTION.match(text)
    return text if function is None else f"orcish {FUNCTIONS[function[1] or function[2]]}"


def _assigned(found: re.Match[str]) -> str:
    name, text = found.groups()
    try:
        option, value = KEYWORDS[name], ast.literal_eval(text)
    except (SyntaxError, ValueError):
        return found[0]
    if value is True or name in FLAGS:
        return option
    if value is None or value is False:
        return f"no {option}"
    if isinstance(value, dict):
        return " ".join(f"{option} {key}={_text(each)}" for key, each in value.items())
    shown = ",".join(map(_text, value)) if isinstance(value, list | tuple) else _text(value)
    return f"{option} {shown or repr('')}"


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
