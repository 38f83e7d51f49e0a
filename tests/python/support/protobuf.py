"""Protocol buffers, as far as tests need them; shares no code with orcish. Thrift's varints are the same."""

from __future__ import annotations


def varint(number: int) -> bytes:
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes([*out, number])


def zigzag(number: int) -> int:
    return number << 1 if number >= 0 else (-number << 1) - 1


def read_varint(data: bytes, at: int) -> tuple[int, int]:
    """The number at a position, and the position behind it."""
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7


def message(data: bytes) -> dict[int, list]:
    """The values of the fields of a message, by the numbers of the fields."""
    fields: dict[int, list] = {}
    at = 0
    while at < len(data):
        tag, at = read_varint(data, at)
        if tag & 7 == 0:
            value, at = read_varint(data, at)
        elif tag & 7 == 2:
            length, at = read_varint(data, at)
            value, at = data[at : at + length], at + length
        else:
            value, at = data[at : at + 8], at + 8
        fields.setdefault(tag >> 3, []).append(value)
    return fields
