"""What a file says of its encryption: keys, variants and masks. No key is needed to read it."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

from orcish.errors import CorruptFileError
from orcish.reading.file import ORCFile

__all__ = ["Encryption", "EncryptionKey", "EncryptionVariant", "Mask", "encryption"]

_ALGORITHMS = {1: "AES_CTR_128", 2: "AES_CTR_256"}
_PROVIDERS = {1: "hadoop", 2: "aws", 3: "gcp", 4: "azure"}
_FOOTER, _ENCRYPTION = 2, 10
"""Fields of the serialized tail, and of the footer."""


@dataclasses.dataclass(frozen=True)
class EncryptionKey:
    """A master key, by name; the key itself is never in the file."""

    name: str
    version: int
    algorithm: str


@dataclasses.dataclass(frozen=True)
class Mask:
    """What readers without a key see in place of the values."""

    name: str
    parameters: tuple[str, ...]
    columns: tuple[str, ...]
    """Dotted names of the columns that it is applied to."""


@dataclasses.dataclass(frozen=True)
class EncryptionVariant:
    """An encrypted column, with the columns in it."""

    column: str
    key: str | None
    """Name of its key; ``None`` where the file names none."""
    encrypted_key_bytes: int
    """Length of the encrypted key of the statistics."""
    mask: str | None
    """Name and parameters of its mask, such as ``redact,9,x``; ``None`` where none is recorded."""


@dataclasses.dataclass(frozen=True)
class Encryption:
    """The encryption of a file."""

    provider: str
    """The key provider: ``hadoop``, ``aws``, ``gcp``, ``azure`` or ``unknown``."""
    keys: tuple[EncryptionKey, ...]
    variants: tuple[EncryptionVariant, ...]
    masks: tuple[Mask, ...]


def encryption(file: ORCFile) -> Encryption | None:
    """What a file says of its encryption; ``None`` where no column is encrypted.

    Raises:
        CorruptFileError: The footer cannot be decoded.
    """
    try:
        footer = _last(_fields(file.tail_bytes()), _FOOTER)
        found = _last(_fields(footer), _ENCRYPTION)
        return _decoded(file.column_paths, found) if found else None
    except (IndexError, ValueError, TypeError):
        raise CorruptFileError("the encryption of the footer cannot be decoded") from None


def _decoded(paths: list[str], message: bytes) -> Encryption:
    fields = list(_fields(message))
    keys = tuple(_key(_messages(part)) for number, part in fields if number == 2)
    masks = tuple(_mask(paths, _messages(part)) for number, part in fields if number == 1)
    applied = {column: ",".join([mask.name, *mask.parameters]) for mask in masks for column in mask.columns}
    variants = tuple(_variant(paths, keys, applied, _messages(part)) for number, part in fields if number == 3)
    provider = next((part for number, part in reversed(fields) if number == 4), 0)
    return Encryption(_PROVIDERS.get(_number(provider), "unknown"), keys, variants, masks)


def _key(fields: list[tuple[int, bytes | int]]) -> EncryptionKey:
    known = dict(fields)
    algorithm = _ALGORITHMS.get(_number(known.get(3, 0)), "unknown")
    return EncryptionKey(_text(known.get(1, b"")), _number(known.get(2, 0)), algorithm)


def _variant(
    paths: list[str], keys: tuple[EncryptionKey, ...], masks: dict[str, str], fields: list[tuple[int, bytes | int]]
) -> EncryptionVariant:
    known = dict(fields)
    root, key = _number(known.get(1, 0)), _number(known.get(2, 0))
    column = paths[root] if root < len(paths) else f"column {root}"
    name = keys[key].name if key < len(keys) else None
    encrypted = known.get(3, b"")
    length = len(encrypted) if isinstance(encrypted, bytes) else 0
    return EncryptionVariant(column, name, length, masks.get(column))


def _mask(paths: list[str], fields: list[tuple[int, bytes | int]]) -> Mask:
    name = _text(next((part for number, part in fields if number == 1), b""))
    parameters = tuple(_text(part) for number, part in fields if number == 2)
    columns: list[int] = []
    for number, part in fields:
        if number == 3:
            columns += _packed(part) if isinstance(part, bytes) else [part]
    return Mask(name, parameters, tuple(paths[id] if id < len(paths) else f"column {id}" for id in columns))


def _messages(part: bytes | int) -> list[tuple[int, bytes | int]]:
    if not isinstance(part, bytes):
        raise TypeError("a number in the place of a message")
    return list(_fields(part))


def _last(fields: Iterator[tuple[int, bytes | int]], number: int) -> bytes:
    """The bytes of the last field with a number; none if there is no such field."""
    found = b""
    for at, part in fields:
        if at == number and isinstance(part, bytes):
            found = part
    return found


def _number(part: bytes | int) -> int:
    if isinstance(part, bytes):
        raise TypeError("bytes in the place of a number")
    return part


def _text(part: bytes | int) -> str:
    if not isinstance(part, bytes):
        raise TypeError("a number in the place of text")
    return part.decode(errors="replace")


def _fields(message: bytes) -> Iterator[tuple[int, bytes | int]]:
    """Numbers and contents of the fields of a message of protobuf."""
    at = 0
    while at < len(message):
        tag, at = _varint(message, at)
        kind = tag & 7
        if kind == 0:
            value, at = _varint(message, at)
            yield tag >> 3, value
            continue
        length = {1: 8, 5: 4}.get(kind)
        if length is None:
            if kind != 2:
                raise ValueError("a field of an unknown kind")
            length, at = _varint(message, at)
        if at + length > len(message):
            raise ValueError("a field is longer than the message")
        yield tag >> 3, message[at : at + length]
        at += length


def _packed(data: bytes) -> list[int]:
    numbers, at = [], 0
    while at < len(data):
        number, at = _varint(data, at)
        numbers.append(number)
    return numbers


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, at
        shift += 7
        if shift > 63:
            raise ValueError("a number of more than 64 bits")
