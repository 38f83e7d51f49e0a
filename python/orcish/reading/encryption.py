"""What a file says of its encryption: keys, variants and masks. No key is needed to read it."""

from __future__ import annotations

import dataclasses

from orcish import _native

__all__ = ["Encryption", "EncryptionKey", "EncryptionVariant", "Mask", "encryption"]


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
    """The encryption of a file; see :attr:`orcish.ORCFile.encryption`."""

    provider: str
    """The key provider: ``hadoop``, ``aws``, ``gcp``, ``azure`` or ``unknown``."""
    keys: tuple[EncryptionKey, ...]
    variants: tuple[EncryptionVariant, ...]
    masks: tuple[Mask, ...]


def encryption(file: _native.File) -> Encryption | None:
    """What a file says of its encryption; ``None`` where no column is encrypted."""
    found = file.encryption
    if found is None:
        return None
    provider, named_keys, named_variants, named_masks = found
    paths = file.column_paths

    def column(id: int) -> str:
        return paths[id] if id < len(paths) else f"column {id}"

    keys = tuple(EncryptionKey(*key) for key in named_keys)
    masks = tuple(Mask(name, tuple(parameters), tuple(map(column, ids))) for name, parameters, ids in named_masks)
    applied = {name: ",".join([mask.name, *mask.parameters]) for mask in masks for name in mask.columns}
    variants = tuple(
        EncryptionVariant(column(root), keys[key].name if key < len(keys) else None, length, applied.get(column(root)))
        for root, key, length in named_variants
    )
    return Encryption(provider, keys, variants, masks)
