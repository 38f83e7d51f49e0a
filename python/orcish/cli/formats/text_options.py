"""How text is read and written."""

from __future__ import annotations

import argparse
import dataclasses

import pyarrow as pa

from orcish.cli.formats.schemas import parse_schema

__all__ = ["TextOptions", "add_text"]


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

    def with_delimiter(self, default: str) -> TextOptions:
        """The options with a delimiter."""
        return self if self.delimiter is not None else dataclasses.replace(self, delimiter=default)

    @classmethod
    def of(cls, options: argparse.Namespace) -> TextOptions:
        """The options of arguments.

        Raises:
            ValueError: The schema is none, or the delimiter is not one character.
        """
        delimiter = options.delimiter
        if delimiter is not None:
            delimiter = {"\\t": "\t", "tab": "\t"}.get(delimiter, delimiter)
            if len(delimiter.encode()) != 1 or delimiter in '"\r\n':
                raise ValueError(f"--delimiter {options.delimiter!r}: it is one character, or tab")
        schema = None if options.schema is None else parse_schema(options.schema)
        return cls(schema, delimiter, options.header, options.null)


def add_text(command: argparse.ArgumentParser) -> None:
    """Adds the arguments for text."""
    command.add_argument(
        "--schema",
        metavar="TYPES",
        help="types of columns of CSV and JSON, as 'a bigint, b string'; those of others are inferred",
    )
    command.add_argument("--delimiter", metavar="C", help="what separates the cells of CSV (,), tab for tabs")
    command.add_argument(
        "--header",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="whether the first line of CSV has the names of the columns (it has)",
    )
    command.add_argument("--null", metavar="TEXT", help="the unquoted text of CSV that is null (the empty one)")
