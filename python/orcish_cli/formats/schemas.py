"""Schemas as text: ORC types, or names of Arrow types, as ``orcish schema`` and ``json-schema`` print both."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NoReturn

import pyarrow as pa
from orcish.arrow.nested import map_fields, repeated_name
from orcish.writing.timestamps import ORC_TYPE

__all__ = ["MAX_LEVELS", "arrow_text", "has_open_units", "parse_schema", "parse_type", "with_units"]

MAX_LEVELS = 128
"""Maximum nesting of types and of values of text, as of types of ORC."""

MAX_VARIANTS = 127
"""Maximum variants of a union of Arrow."""

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
    "date64": pa.date64(),
    "string_view": pa.string_view(),
    "binary_view": pa.binary_view(),
    "timestamp with local time zone": pa.timestamp("us", "UTC"),
    "timestamp": pa.timestamp("us"),
    "null": pa.null(),
    **{f"{sign}int{bits}": getattr(pa, f"{sign}int{bits}")() for sign in ("", "u") for bits in (8, 16, 32, 64)},
    "float16": pa.float16(),
    "halffloat": pa.float16(),
    "float32": pa.float32(),
    "float64": pa.float64(),
}
OPEN_UNIT = b"orcish.open_unit"
"""Key of the metadata of fields of type ``timestamp`` of ORC, which has no unit: values and other types decide it."""
LISTS: dict[str, Callable[[Any], pa.DataType]] = {
    "array": pa.list_,
    "list": pa.list_,
    "large_list": pa.large_list,
    "list_view": pa.list_view,
    "large_list_view": pa.large_list_view,
}
DECIMALS: dict[str, tuple[Callable[[int, int], pa.DataType], int]] = {
    "decimal": (pa.decimal128, 38),
    "decimal128": (pa.decimal128, 38),
    "decimal256": (pa.decimal256, 76),
}
if hasattr(pa, "decimal64"):
    # pyarrow has them since version 18.
    DECIMALS |= {"decimal32": (pa.decimal32, 9), "decimal64": (pa.decimal64, 18)}
UNITS: dict[str, tuple[str, ...]] = {
    "timestamp": ("s", "ms", "us", "ns"),
    "duration": ("s", "ms", "us", "ns"),
    "time32": ("s", "ms"),
    "time64": ("us", "ns"),
}
WORD = re.compile(r"\s*(timestamp with local time zone|[A-Za-z_][A-Za-z0-9_]*)", re.IGNORECASE)
NAME = re.compile(r"\s*(?:`((?:[^`]|``)*)`\s*:?|([^\s:,<>()\[\]`][^:,<>()\[\]`\n]*?)\s*:|([^\s:,<>`]+))\s*")
"""A name in backticks; one with a colon behind it, which may have blanks, as in texts of Arrow; and a plain word."""
PLAIN_NAME = re.compile(r"[^\s:,<>()\[\]`](?:[^:,<>()\[\]`\n]*[^\s:,<>()\[\]`])?")
"""A name that needs no backticks before a colon."""
ITEM = re.compile(r"\s*(?:`((?:[^`]|``)*)`|([A-Za-z_$][\w$]*))\s*:(?!:)\s*")
LINE = re.compile(r"[ \t\r]*\n(?=\s*\S)")
NOT_NULL = re.compile(r"\s+not\s+null\b", re.IGNORECASE)
LENGTH = re.compile(r"\s*\[\s*(\d{1,9})\s*\]")
DAYS = {kind: re.compile(rf"\s*\[\s*{unit}\s*\]") for kind, unit in (("date32", "day"), ("date64", "ms"))}
DICTIONARY = re.compile(r"\s*,\s*indices\s*=\s*(u?int(?:8|16|32|64))\s*(?:,\s*ordered\s*=\s*[01]\s*)?>", re.IGNORECASE)
CODE = re.compile(r"\s*=\s*(\d{1,3})")
NUMBERS = re.compile(r"\s*\(\s*(\d+)\s*(?:,\s*(\d+)\s*)?\)")
UNIT = re.compile(r"\s*\[\s*(\w+)\s*(?:,\s*(?:tz\s*=\s*)?([^\]\s]+)\s*)?\]")


def parse_schema(text: str) -> pa.Schema:
    """Parses ``a bigint, b string``, ``struct<a:bigint,b:string>``, or the same with names of Arrow types. Lines are
    as good as commas. Units of timestamps of ORC are microseconds, and open, see :func:`with_units`.

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


def arrow_text(field: pa.Field) -> str:
    """The name and the type of a column in the words of Arrow, which :func:`parse_schema` reads. Names are in backticks
    where signs in them would end them.
    """

    def quoted(child: pa.Field) -> pa.Field:
        return child.with_name(_quoted(child.name)).with_type(map_fields(child.type, lambda each, _: quoted(each)))

    found = quoted(field)
    return f"{found.name}: {found.type}"


def _quoted(name: str) -> str:
    return name if PLAIN_NAME.fullmatch(name) else f"`{name.replace('`', '``')}`"


def parse_type(text: str) -> pa.Field:
    """Parses a type; the field has it, with the metadata that the type needs, and an empty name. Units are those of
    :func:`parse_schema`.

    Raises:
        ValueError: The text is no type.
    """
    found = _Parser(text)
    field = found.typed("")
    if not found.is_at_end:
        found.fail("the end of the type")
    return field


def has_open_units(field: pa.Field) -> bool:
    """Whether a timestamp in the type of a field has no unit."""
    kind = field.type
    return OPEN_UNIT in (field.metadata or {}) or any(
        has_open_units(kind.field(at)) for at in range(kind.num_fields if pa.types.is_nested(kind) else 0)
    )


def with_units(field: pa.Field, unit: str | None = None, *, is_open: bool = False) -> pa.Field:
    """A field with a unit for all of its timestamps without one; by default that which they have.

    Args:
        field: The field.
        unit: The unit.
        is_open: Whether the unit may be another one later.
    """
    kind = map_fields(field.type, lambda child, _: with_units(child, unit, is_open=is_open))
    metadata = dict(field.metadata or {})
    if OPEN_UNIT in metadata:
        kind = kind if unit is None else pa.timestamp(unit, kind.tz)
        if not is_open:
            metadata.pop(OPEN_UNIT)
    return field.with_type(kind).with_metadata(metadata or None)


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
        while not found or self._takes(",") or self._take(LINE):
            name = self._take(NAME)
            if name is None:
                self.fail("the name of a column")
            found.append(self.typed(_name_of(name)))
        return found

    def typed(self, name: str) -> pa.Field:
        self._level += 1
        if self._level > MAX_LEVELS:
            raise ValueError(f"the type {self._text[:40]!r}... nests more than {MAX_LEVELS} levels deep")
        found = self._any(name)
        # Texts of Arrow say it. Values are checked where they are written.
        self._take(NOT_NULL)
        self._level -= 1
        return found

    def _item(self, name: str) -> pa.Field:
        """The type of the values of a list, perhaps with their name."""
        named = self._take(ITEM)
        return self.typed(name if named is None else _name_of(named))

    def _any(self, name: str) -> pa.Field:
        begin = self._at
        word = self._take(WORD)
        if word is None:
            self.fail("a type, such as bigint or int64,")
        kind = word[1].lower()
        if kind in LISTS or kind == "fixed_size_list":
            self._need("<")
            item = self._item("element")
            self._need(">")
            return pa.field(name, pa.list_(item, self._length()) if kind not in LISTS else LISTS[kind](item))
        if kind in ("uniontype", "dense_union", "sparse_union"):
            return pa.field(name, self._union(kind))
        if kind == "dictionary":
            return pa.field(name, self._dictionary())
        if kind == "map":
            self._need("<")
            key = self.typed("key").with_nullable(False)
            self._need(",")
            item = self.typed("value")
            self._need(">")
            return pa.field(name, pa.map_(key, item))
        if kind == "struct":
            self._need("<")
            fields = [] if self._takes(">") else self.fields()
            if fields:
                self._need(">")
            return pa.field(name, pa.struct(fields))
        return self._simple(name, kind, begin)

    def _length(self) -> int:
        length = self._take(LENGTH)
        if length is None:
            self.fail("a length, such as [3],")
        return int(length[1])

    def _union(self, kind: str) -> pa.DataType:
        """A union, whose variants have no names as text of ORC, and names and codes as text of Arrow."""
        self._need("<")
        fields: list[pa.Field] = []
        while not fields or self._takes(","):
            if kind == "uniontype":
                fields.append(self.typed(f"field{len(fields)}"))
                continue
            name = self._take(NAME)
            if name is None:
                self.fail("the name of a variant")
            fields.append(self.typed(_name_of(name)))
            self._take(CODE)
        self._need(">")
        if len(fields) > MAX_VARIANTS:
            raise ValueError(f"the type {self._text[:40]!r}... has a union of more than {MAX_VARIANTS} variants")
        return pa.sparse_union(fields) if kind == "sparse_union" else pa.dense_union(fields)

    def _dictionary(self) -> pa.DataType:
        self._need("<")
        self._need("values")
        self._need("=")
        values = self.typed("").type
        rest = self._take(DICTIONARY)
        if rest is None:
            self.fail("the type of the indices, such as 'indices=int32',")
        return pa.dictionary(PLAIN[rest[1].lower()], values)

    def _simple(self, name: str, kind: str, begin: int) -> pa.Field:
        if kind in UNITS and (unit := self._take(UNIT)) is not None:
            if unit[1] not in UNITS[kind] or (unit[2] and kind != "timestamp"):
                self._at = begin
                self.fail(f"one of the units {', '.join(UNITS[kind])}")
            clock = getattr(pa, kind)
            return pa.field(name, clock(unit[1], unit[2]) if unit[2] else clock(unit[1]))
        if kind == "fixed_size_binary":
            return pa.field(name, pa.binary(self._length()))
        if kind in DAYS:
            self._take(DAYS[kind])
        numbers = self._take(NUMBERS)
        if kind in DECIMALS:
            made, most = DECIMALS[kind]
            precision, scale = (int(numbers[1]), int(numbers[2] or 0)) if numbers else (min(38, most), min(10, most))
            if not 1 <= precision <= most or scale > precision:
                self._at = begin
                self.fail(f"a precision from 1 to {most}, and a scale up to it,")
            return pa.field(name, made(precision, scale))
        if kind in ("char", "varchar") and numbers and not numbers[2]:
            return pa.field(name, pa.string(), metadata={ORC_TYPE: f"{kind}({numbers[1]})"})
        if numbers is None and kind in PLAIN:
            is_open = kind in ("timestamp", "timestamp with local time zone")
            return pa.field(name, PLAIN[kind], metadata={OPEN_UNIT: b""} if is_open else None)
        self._at = begin
        return self.fail("a type, such as bigint, int64 or decimal(12,2),")


def _name_of(found: re.Match[str]) -> str:
    if found[1] is not None:
        return found[1].replace("``", "`")
    return next(each for each in found.groups()[1:] if each is not None)
