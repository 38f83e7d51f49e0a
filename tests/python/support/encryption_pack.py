"""Encrypted files of ORC Java and of Apache's projects, with what Java reads of them under several sets of keys; where they are at hand."""

from __future__ import annotations

import dataclasses
import functools
import gzip
import json
import math
import os
import pathlib
from collections.abc import Iterator
from typing import Any

import pyarrow as pa

FOLDER = pathlib.Path(
    os.environ.get("ORCISH_ENCRYPTION") or pathlib.Path(__file__).parents[4] / "shared" / "encryption"
)
HERE = FOLDER.exists()
NOT_HERE = f"needs the encrypted files of other writers in {FOLDER}"

Keys = dict[tuple[str, int], bytes]


@dataclasses.dataclass(frozen=True)
class EncryptedCase:
    """A file, and what its pack says of it."""

    folder: pathlib.Path
    name: str
    about: dict[str, Any]

    def __str__(self) -> str:
        return self.name

    @property
    def path(self) -> pathlib.Path:
        return self.folder / self.about["file"]

    @property
    def all_keys(self) -> Keys:
        return _keys(self.folder)

    def labels(self) -> dict[str, Keys]:
        """The sets of keys that Java has read the file with."""
        found = {"with_keys": self.all_keys, "no_keys": {}}
        for label, names in self.about["partial"].items():
            chosen = {key: value for key, value in self.all_keys.items() if {key[0], f"{key[0]}@{key[1]}"} & {*names}}
            found[label] = chosen
        return found

    def rows(self, label: str) -> list[dict[str, Any]]:
        """The rows that Java reads."""
        return [
            json.loads(line) for line in _text(self.folder / "expected" / f"{self.name}.{label}.jsonl").splitlines()
        ]

    def statistics(self, label: str) -> dict[str, Any] | None:
        """The statistics that Java reads, ``None`` where the pack has none."""
        path = self.folder / "expected" / f"{self.name}.{'stats' if label == 'with_keys' else 'stats_no_keys'}.json"
        return json.loads(_text(path)) if path.exists() or path.with_suffix(".json.gz").exists() else None


def encrypted_cases() -> Iterator[EncryptedCase]:
    for folder in (FOLDER, FOLDER / "apache_examples"):
        if (folder / "cases.jsonl").exists():
            for line in (folder / "cases.jsonl").read_text("utf-8").splitlines():
                about = json.loads(line)
                yield EncryptedCase(folder, about["case"], about)


@functools.cache
def _keys(folder: pathlib.Path) -> Keys:
    listed = json.loads((folder / "keys.json").read_text())["keys"]
    return {(key["name"], key["version"]): bytes.fromhex(key["hex"]) for key in listed}


def _text(path: pathlib.Path) -> str:
    if path.exists():
        return path.read_text("utf-8")
    with gzip.open(f"{path}.gz", "rt", encoding="utf-8") as file:
        return file.read()


def as_java(value: Any, kind: Any) -> Any:
    """A value as the pack writes it, from one of Arrow, with timestamps as texts."""
    if value is None:
        return None
    if pa.types.is_map(kind):
        return [[as_java(key, kind.key_type), as_java(item, kind.item_type)] for key, item in value]
    if pa.types.is_list(kind):
        return [as_java(item, kind.value_type) for item in value]
    if pa.types.is_struct(kind):
        return {field.name: as_java(value[field.name], field.type) for field in kind}
    if pa.types.is_union(kind):
        return value
    if pa.types.is_floating(kind):
        special = math.isnan(value) or math.isinf(value)
        return {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}[str(value)] if special else value
    if pa.types.is_binary(kind):
        return value.hex()
    if pa.types.is_date(kind):
        return value.isoformat()
    return str(value) if pa.types.is_decimal(kind) else value


def of_java(value: Any, kind: Any) -> Any:
    """A value of the pack, in the form of :func:`as_java`.

    A number of a mask may have more bits than its type; Java pads masks of ``char`` with a NUL.
    """
    if value is None:
        return None
    if pa.types.is_map(kind):
        return [[of_java(key, kind.key_type), of_java(item, kind.item_type)] for key, item in value]
    if pa.types.is_list(kind):
        return [of_java(item, kind.value_type) for item in value]
    if pa.types.is_struct(kind):
        return {field.name: of_java(value[field.name], field.type) for field in kind}
    if pa.types.is_union(kind):
        return of_java(value["value"], kind.field(value["tag"]).type)
    if pa.types.is_integer(kind):
        half = 1 << (kind.bit_width - 1)
        return (value + half) % (2 * half) - half
    if pa.types.is_float32(kind) and not isinstance(value, str):
        return pa.scalar(value, pa.float32()).as_py()
    if pa.types.is_timestamp(kind):
        return value.rstrip("Z")
    return value
