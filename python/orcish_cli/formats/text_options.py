"""How text is read and written."""

from __future__ import annotations

import argparse
import codecs
import dataclasses

import pyarrow as pa

from orcish_cli.formats.names import TEXT
from orcish_cli.formats.schemas import parse_schema

__all__ = ["TextOptions", "add_encoding", "add_text", "check_text_options", "checked_encoding"]


@dataclasses.dataclass(frozen=True)
class TextOptions:
    """How text is read and written."""

    schema: pa.Schema | None = None
    """Types of columns; those of others are inferred."""
    delimiter: str | None = None
    """What separates the cells of CSV; by default what the ending of the file says."""
    header: bool = True
    """Whether the first line of CSV has the names of the columns."""
    null: str | None = None
    """The text of CSV that is null, where it is not quoted; by default the empty one."""

    encoding: str | None = None
    """The encoding of CSV that is read, as :func:`checked_encoding` gives it."""

    def with_delimiter(self, default: str) -> TextOptions:
        """The options with a delimiter."""
        return self if self.delimiter is not None else dataclasses.replace(self, delimiter=default)

    @classmethod
    def of(cls, options: argparse.Namespace) -> TextOptions:
        """The options of arguments.

        Raises:
            ValueError: The schema or the encoding is none, or the delimiter is not one character.
        """
        delimiter = options.delimiter
        if delimiter is not None:
            delimiter = {"\\t": "\t", "tab": "\t"}.get(delimiter, delimiter)
            if len(delimiter.encode()) != 1 or delimiter in '"\r\n':
                raise ValueError(f"--delimiter {options.delimiter!r}: it is one character, or tab")
        schema = None if options.schema is None else parse_schema(options.schema)
        return cls(schema, delimiter, options.header, options.null, checked_encoding(options.encoding))

    def of_target(self, source: str) -> TextOptions:
        """How text is written, of rows of a format: delimiter and nulls are those of a source that is CSV."""
        return dataclasses.replace(self, delimiter=None, null=None) if source == "csv" else self


def check_text_options(options: argparse.Namespace, source: str, target: str) -> None:
    """Checks that options of text are of the source or the target.

    Args:
        options: The arguments.
        source: The format of the sources.
        target: The format of the target.

    Raises:
        ValueError: An option is of another format.
    """
    if options.schema is not None and source not in TEXT:
        raise ValueError(f"--schema is of CSV and JSON: files of {source} have their types")
    if options.encoding is not None and source != "csv":
        raise ValueError(f"--encoding is of sources that are CSV, and not {source}")
    given = {
        "delimiter": options.delimiter is not None,
        "no-header": not options.header,
        "null": options.null is not None,
    }
    for name, is_given in given.items():
        if is_given and "csv" not in (source, target):
            raise ValueError(f"--{name} is of CSV, and not of {source} or {target}")


def add_text(command: argparse.ArgumentParser) -> None:
    """Adds the arguments for text."""
    command.add_argument(
        "--schema",
        metavar="TYPES",
        help="types of columns of CSV and JSON, as 'a bigint, b string'; those of others are inferred",
    )
    command.add_argument(
        "--delimiter",
        metavar="C",
        help="what separates the cells of CSV that is read, or else written: tab for tabs (,)",
    )
    command.add_argument(
        "--header",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="whether the first line of CSV has the names of the columns (it has)",
    )
    add_encoding(command)
    command.add_argument("--null", metavar="TEXT", help="the unquoted text of CSV that is null (the empty one)")


def add_encoding(command: argparse.ArgumentParser) -> None:
    """Adds the argument for the encoding of CSV."""
    command.add_argument("--encoding", metavar="NAME", help="the encoding of CSV that is read, such as latin1 (utf-8)")


def checked_encoding(name: str | None) -> str | None:
    """The name that Python has for an encoding; ``None`` for UTF-8.

    Raises:
        ValueError: There is no such encoding of text.
    """
    if name is None:
        return None
    try:
        found = codecs.lookup(name)
    except (LookupError, ValueError):
        found = None
    if found is None or not getattr(found, "_is_text_encoding", True):
        raise ValueError(f"--encoding {name!r}: no encoding that is known here, such as latin1, cp1252 or utf-16")
    return None if found.name == "utf-8" else found.name
