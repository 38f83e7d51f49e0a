"""Schemas as text: ORC types, or names of Arrow types."""

from __future__ import annotations

import re
from typing import NoReturn

import pyarrow as pa

from orcish.arrow.nested import repeated_name
from orcish.writing.timestamps import ORC_TYPE

__all__ = ["MAX_LEVELS", "parse_schema", "parse_type"]

MAX_LEVELS = 128
"""Maximum nesting of types and of values of text, as of types of ORC."""

PLAIN: dict[str, pa.DataType] = {
    "boolean": pa.bool_(),
    "bool": pa.bool_(),
    "tinyint": pa.int8(),
    "smallint": pa.int16(),
    "int": pa.int32(),
    "integer": pa.int32(),
    "bigint": pa.int64(),
    "long": pa.int64(),
    "float": pa.float32(),
    "real": pa.float32(),
    "double": pa.float64(),
    "string": pa.string(),
    "utf8": pa.string(),
    "large_string": pa.large_string(),
    "binary": pa.binary(),
    "large_binary": pa.large_binary(),
    "date": pa.date32(),
    "date32": pa.date32(),
    "timestamp with local time zone": pa.timestamp("us", "UTC"),
    "timestamp": pa.timestamp("us"),
    "null": pa.null(),
    **{f"{sign}int{bits}": getattr(pa, f"{sign}int{bits}")() for sign in ("", "u") for bits in (8, 16, 32, 64)},
    "float16": pa.float16(),
    "float32": pa.float32(),
    "float64": pa.float64(),
}
UNITS: dict[str, tuple[str, ...]] = {
    "timestamp": ("s", "ms", "us", "ns"),
    "duration": ("s", "ms", "us", "ns"),
    "time32": ("s", "ms"),
    "time64": ("us", "ns"),
}
WORD = re.compile(r"\s*(timestamp with local time zone|[A-Za-z_][A-Za-z0-9_]*)", re.IGNORECASE)
NAME = re.compile(r"\s*(?:`((?:[^`]|``)+)`|([^\s:,<>`]+))\s*:?\s*")
NUMBERS = re.compile(r"\s*\(\s*(\d+)\s*(?:,\s*(\d+)\s*)?\)")
UNIT = re.compile(r"\s*\[\s*(\w+)\s*(?:,\s*(?:tz\s*=\s*)?([^\]\s]+)\s*)?\]")


def parse_schema(text: str) -> pa.Schema:
    """Parses ``a bigint, b string``, ``struct<a:bigint,b:string>``, or the same with names of Arrow types.

    Raises:
        ValueError: The text is no schema, or two columns have one name.
    """
    found = _Parser(text)
    inner = re.fullmatch(r"\s*struct\s*<(.*)>\s*", text, re.IGNORECASE | re.DOTALL)
    if inner is not None:
        found = _Parser(inner[1])
    fields = found.fields()
    if not found.is_at_end:
        found.fail("a comma or the end")
    name = repeated_name(field.name for field in fields)
    if name is not None:
        raise ValueError(f"the schema has two columns {name!r}")
    return pa.schema(fields)


def parse_type(text: str) -> pa.Field:
    """Parses a type; the field has it, with the metadata that the type needs, and an empty name.

    Raises:
        ValueError: The text is no type.
    """
    found = _Parser(text)
    field = found.typed("")
    if not found.is_at_end:
        found.fail("the end of the type")
    return field


class _Parser:
    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._level = 0

    @property
    def is_at_end(self) -> bool:
        return not self._text[self._at :].strip()

    def fail(self, wanted: str) -> NoReturn:
        left = self._text[self._at :].strip()
        raise ValueError(
            f"the type {self._text[:200]!r}: {wanted} is wanted at {left[:40]!r}" + ("" if left else ", the end")
        )

    def _take(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        found = pattern.match(self._text, self._at)
        if found is not None:
            self._at = found.end()
        return found

    def _takes(self, sign: str) -> bool:
        return self._take(re.compile(rf"\s*{re.escape(sign)}")) is not None

    def _need(self, sign: str) -> None:
        if not self._takes(sign):
            self.fail(repr(sign))

    def fields(self) -> list[pa.Field]:
        found: list[pa.Field] = []
        while not found or self._takes(","):
            name = self._take(NAME)
            if name is None:
                self.fail("the name of a column")
            found.append(self.typed(name[2] if name[1] is None else name[1].replace("``", "`")))
        return found

    def typed(self, name: str) -> pa.Field:
        self._level += 1
        if self._level > MAX_LEVELS:
            raise ValueError(f"the type {self._text[:40]!r}... nests more than {MAX_LEVELS} levels deep")
        found = self._any(name)
        self._level -= 1
        return found

    def _any(self, name: str) -> pa.Field:
        begin = self._at
        word = self._take(WORD)
        if word is None:
            self.fail("a type, such as bigint or int64,")
        kind = word[1].lower()
        if kind in ("array", "list", "large_list"):
            self._need("<")
            item = self.typed("element")
            self._need(">")
            return pa.field(name, pa.large_list(item) if kind == "large_list" else pa.list_(item))
        if kind == "map":
            self._need("<")
            key = self.typed("key").with_nullable(False)
            self._need(",")
            item = self.typed("value")
            self._need(">")
            return pa.field(name, pa.map_(key, item))
        if kind == "struct":
            self._need("<")
            fields = self.fields()
            self._need(">")
            return pa.field(name, pa.struct(fields))
        return self._simple(name, kind, begin)

    def _simple(self, name: str, kind: str, begin: int) -> pa.Field:
        if kind in UNITS and (unit := self._take(UNIT)) is not None:
            if unit[1] not in UNITS[kind] or (unit[2] and kind != "timestamp"):
                self._at = begin
                self.fail(f"one of the units {', '.join(UNITS[kind])}")
            made = getattr(pa, kind)
            return pa.field(name, made(unit[1], unit[2]) if unit[2] else made(unit[1]))
        numbers = self._take(NUMBERS)
        if kind in ("decimal", "decimal128", "decimal256"):
            precision, scale = (int(numbers[1]), int(numbers[2] or 0)) if numbers else (38, 10)
            most = 76 if kind == "decimal256" else 38
            if not 1 <= precision <= most or scale > precision:
                self._at = begin
                self.fail(f"a precision from 1 to {most}, and a scale up to it,")
            made = pa.decimal256 if kind == "decimal256" else pa.decimal128
            return pa.field(name, made(precision, scale))
        if kind in ("char", "varchar") and numbers and not numbers[2]:
            return pa.field(name, pa.string(), metadata={ORC_TYPE: f"{kind}({numbers[1]})"})
        if numbers is None and kind in PLAIN:
            return pa.field(name, PLAIN[kind])
        self._at = begin
        return self.fail("a type, such as bigint, int64 or decimal(12,2),")
