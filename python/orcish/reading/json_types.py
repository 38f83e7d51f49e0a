"""ORC types of JSON documents."""

from __future__ import annotations

import calendar
import json
import re
from collections.abc import Iterator
from typing import Any, TextIO

from orcish.reading.type_tree import ColumnType

__all__ = ["JsonType", "json_documents"]

_CHUNK = 1 << 20
_MAX_DOCUMENT = 16 << 20
"""Characters of a document that is not complete, after which it is no JSON."""
_MAX_DIGITS = 38
_BLANK = re.compile(r"[ \t\r\n]*")
_DECIMAL = re.compile(r"-?([0-9]+)(?:\.([0-9]+))?")
_DATE = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})")
_TIMESTAMP = re.compile(
    rf"{_DATE.pattern}[T ](?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\.[0-9]{{1,9}})?"
    r"(?P<zone>[-+](?:[01][0-9]|2[0-3])(?::?[0-5][0-9])?|Z)?"
)
_HEX = re.compile(r"(?:[0-9a-fA-F]{2})+")
_INTEGERS = (("tinyint", 8), ("smallint", 16), ("int", 32), ("bigint", 64))


class _Number(str):
    """A number that is no integer, as the document spells it."""

    __slots__ = ()


def json_documents(stream: TextIO) -> Iterator[Any]:
    """The documents of a text, one after another, with blanks or nothing between them.

    Raises:
        ValueError: The text is not JSON; the message has the number of the document.
    """
    decoder = json.JSONDecoder(parse_float=_Number, parse_int=_integer)
    buffer, count, is_end = "", 0, False
    while not is_end:
        chunk = stream.read(max(_CHUNK, len(buffer)))
        is_end = not chunk
        buffer += chunk
        at = 0
        while (start := _end_of_blanks(buffer, at)) < len(buffer):
            try:
                value, at = decoder.raw_decode(buffer, start)
            except RecursionError:
                raise ValueError(f"document {count + 1}: nested too deeply") from None
            except json.JSONDecodeError as error:
                if not is_end and len(buffer) - start > _MAX_DOCUMENT:
                    raise ValueError(f"document {count + 1} is no JSON, or larger than 16 MB: {error.msg}") from None
                if is_end:
                    raise ValueError(f"document {count + 1} is no JSON: {error.msg}") from None
                at = start
                break
            if at == len(buffer) and not is_end:
                # A number may go on in the next chunk.
                at = start
                break
            count += 1
            yield value
        buffer = buffer[at:]


def _integer(text: str) -> int | _Number:
    # Longer ones are no decimals either.
    return int(text) if len(text) <= _MAX_DIGITS + 1 else _Number(text)


def _is_day(year: int, month: int, day: int) -> bool:
    """Whether there is such a day. The year 0 is a leap year, as 4 is."""
    return 1 <= month <= 12 and 1 <= day <= calendar.monthrange(year or 4, month)[1]


def _end_of_blanks(text: str, at: int) -> int:
    found = _BLANK.match(text, at)
    return found.end() if found else at


class JsonType:
    """The type of the values that were added, nulls aside.

    Args:
        dates: Whether text that has the form of a date in all values is a ``date``.
        hexadecimal: Whether text that has the form of hexadecimal digits in all values is ``binary``.
    """

    def __init__(self, *, dates: bool = False, hexadecimal: bool = False) -> None:
        self._options = {"dates": dates, "hexadecimal": hexadecimal}
        self._order: list[str] = []
        """Kinds of values, in the order of their appearance."""
        self._low = self._high = 0
        self._digits = self._scale = 0
        self._is_double = False
        self._texts: set[str] = set()
        self._fields: dict[str, JsonType] = {}
        self._element: JsonType | None = None

    def add(self, value: Any) -> None:
        """Adds a value of a document."""
        if value is None:
            return
        if isinstance(value, bool):
            self._see("boolean")
        elif isinstance(value, int | float | _Number):
            self._see("number")
            self._add_number(value)
        elif isinstance(value, str):
            self._see("text")
            if "string" not in self._texts:
                self._texts.add(self._text_type(value))
        elif isinstance(value, dict):
            self._see("struct")
            for name, inner in value.items():
                self._field(name).add(inner)
        else:
            self._see("array")
            if self._element is None:
                self._element = JsonType(**self._options)
            for inner in value:
                self._element.add(inner)

    def _see(self, kind: str) -> None:
        if kind not in self._order:
            self._order.append(kind)

    def _field(self, name: str) -> JsonType:
        found = self._fields.get(name)
        if found is None:
            found = self._fields[name] = JsonType(**self._options)
        return found

    def _add_number(self, value: float | str) -> None:
        if isinstance(value, int):
            self._low, self._high = min(self._low, value), max(self._high, value)
            self._digits = max(self._digits, len(str(abs(value))))
        elif isinstance(value, str) and (found := _DECIMAL.fullmatch(value)):
            self._digits = max(self._digits, len(found[1]))
            # An integer of too many digits has none after the point, and is no decimal either.
            self._scale = max(self._scale, len(found[2] or ""))
        else:
            self._is_double = True

    def _text_type(self, value: str) -> str:
        if (found := _TIMESTAMP.fullmatch(value)) and _is_day(*map(int, found.groups()[:3])):
            return "timestamp" if found["zone"] is None else "timestamp with local time zone"
        if self._options["dates"] and (found := _DATE.fullmatch(value)) and _is_day(*map(int, found.groups())):
            return "date"
        if self._options["hexadecimal"] and _HEX.fullmatch(value):
            return "binary"
        return "string"

    def column(self, name: str = "") -> ColumnType:
        """The type as a tree. Values that are all null have the type ``string``."""
        if not self._order:
            return ColumnType(name, "string", {}, [])
        if len(self._order) == 1:
            return self._column(self._order[0], name)
        children = [self._column(kind, str(at)) for at, kind in enumerate(self._order)]
        return ColumnType(name, "uniontype", {}, children)

    def _column(self, kind: str, name: str) -> ColumnType:
        if kind == "struct":
            return ColumnType(name, "struct", {}, [inner.column(field) for field, inner in self._fields.items()])
        if kind == "array":
            element = self._element or JsonType()
            return ColumnType(name, "array", {}, [element.column("element")])
        if kind == "number":
            return ColumnType(name, self._number_type(), {}, [])
        if kind == "text":
            return ColumnType(name, next(iter(self._texts)) if len(self._texts) == 1 else "string", {}, [])
        return ColumnType(name, kind, {}, [])

    def _number_type(self) -> str:
        precision = self._digits + self._scale
        if self._is_double or precision > _MAX_DIGITS:
            return "double"
        if self._scale:
            return f"decimal({precision},{self._scale})"
        for name, bits in _INTEGERS:
            if -(1 << bits - 1) <= self._low and self._high < 1 << bits - 1:
                return name
        return f"decimal({precision},0)"
