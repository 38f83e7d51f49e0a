"""Thrift's compact protocol, as far as CarbonData needs it: a struct is made of fields ``{number: (kind, bytes)}``."""

import struct as packing

from support import protobuf
from support.protobuf import read_varint, varint

TRUE, FALSE, BYTE, I16, I32, I64, DOUBLE, BINARY, LIST, SET, MAP, STRUCT = range(1, 13)
Value = tuple[int, bytes]


def zigzag(number: int) -> bytes:
    return varint(protobuf.zigzag(number))


def sized(data: bytes | str) -> bytes:
    data = data.encode() if isinstance(data, str) else data
    return varint(len(data)) + data


def flag(value: bool) -> Value:
    return (TRUE if value else FALSE), b""


def i16(number: int) -> Value:
    return I16, zigzag(number)


def i32(number: int) -> Value:
    return I32, zigzag(number)


def i64(number: int) -> Value:
    return I64, zigzag(number)


def binary(data: bytes | str) -> Value:
    return BINARY, sized(data)


def nested(struct: bytes) -> Value:
    return STRUCT, struct


def listed(kind: int, items: list[bytes]) -> Value:
    """A list of elements that are encoded already."""
    size = len(items)
    head = bytes([size << 4 | kind]) if size < 15 else bytes([0xF0 | kind]) + varint(size)
    return LIST, head + b"".join(items)


def structs(items: list[bytes]) -> Value:
    return listed(STRUCT, items)


def binaries(items) -> Value:
    return listed(BINARY, [sized(item) for item in items])


def i32s(numbers) -> Value:
    return listed(I32, [zigzag(int(number)) for number in numbers])


def i64s(numbers) -> Value:
    return listed(I64, [zigzag(int(number)) for number in numbers])


def flags(values) -> Value:
    return listed(TRUE, [bytes([TRUE if value else FALSE]) for value in values])


def texts(pairs: dict[str, str]) -> Value:
    """A map of texts to texts."""
    if not pairs:
        return MAP, b"\0"
    head = varint(len(pairs)) + bytes([BINARY << 4 | BINARY])
    return MAP, head + b"".join(sized(key) + sized(value) for key, value in pairs.items())


def struct(fields: dict[int, Value | None]) -> bytes:
    """The fields that are not None, in order of their numbers."""
    out, last = [], 0
    for number in sorted(fields):
        field = fields[number]
        if field is None:
            continue
        kind, data = field
        step = number - last
        out.append(bytes([step << 4 | kind]) if step < 16 else bytes([kind]) + zigzag(number))
        out.append(data)
        last = number
    return b"".join([*out, b"\0"])


class Reader:
    """Reads structs as ``{number: value}``, whatever they mean."""

    def __init__(self, data: bytes, at: int = 0):
        self.data, self.at = data, at

    def byte(self) -> int:
        self.at += 1
        return self.data[self.at - 1]

    def varint(self) -> int:
        number, self.at = read_varint(self.data, self.at)
        return number

    def zigzag(self) -> int:
        number = self.varint()
        return number >> 1 ^ -(number & 1)

    def take(self, size: int) -> bytes:
        self.at += size
        return self.data[self.at - size : self.at]

    def value(self, kind: int):
        if kind in (TRUE, FALSE):
            return self.byte() == TRUE
        if kind == BYTE:
            return self.byte()
        if kind in (I16, I32, I64):
            return self.zigzag()
        if kind == DOUBLE:
            return packing.unpack("<d", self.take(8))[0]
        if kind == BINARY:
            return self.take(self.varint())
        if kind in (LIST, SET):
            head = self.byte()
            size = head >> 4 if head >> 4 < 15 else self.varint()
            return [self.value(head & 15) for _ in range(size)]
        if kind == MAP:
            size = self.varint()
            kinds = self.byte() if size else 0
            return {self.value(kinds >> 4): self.value(kinds & 15) for _ in range(size)}
        assert kind == STRUCT, f"no such kind: {kind}"
        return self.struct()

    def struct(self) -> dict:
        fields, last = {}, 0
        while head := self.byte():
            kind = head & 15
            last = last + (head >> 4) if head >> 4 else self.zigzag()
            fields[last] = kind == TRUE if kind in (TRUE, FALSE) else self.value(kind)
        return fields

    def structs(self) -> list[dict]:
        """All structs to the end."""
        out = []
        while self.at < len(self.data):
            out.append(self.struct())
        return out
