"""Keys of encrypted columns in memory, in files and in the environment, and the protocol of other providers."""

from __future__ import annotations

import importlib
import json
import os
from collections.abc import Callable, Mapping
from typing import Any, Protocol, TypeAlias, runtime_checkable

__all__ = ["EnvironmentKeys", "HiddenKeys", "KeyFile", "KeyProvider", "Keys", "hidden", "provider_of"]


@runtime_checkable
class KeyProvider(Protocol):
    """Unwraps local keys, as a key management service does: master keys do not leave it."""

    def unwrap_local_key(self, name: str, version: int, algorithm: str, wrapped: bytes) -> bytes | None:
        """The local key whose wrapped form a file has; ``None`` where the caller has no access to the master key.

        Args:
            name: Name of the master key.
            version: Version of the master key.
            algorithm: ``AES_CTR_128`` or ``AES_CTR_256``.
            wrapped: The wrapped key.
        """
        ...

    # Providers of writers have also ``current_version(name) -> tuple[int, str] | None``: the version of a key that new
    # files are written with, and its algorithm.


Keys: TypeAlias = Mapping[tuple[str, int], bytes] | Callable[[str, int], bytes | None] | KeyProvider
"""Keys of encrypted columns: bytes of master keys by name and version, a function that returns them, or a provider."""


def _current(keys: Mapping[str, bytes], name: str) -> tuple[int, str] | None:
    """The newest version of a key, and its algorithm."""
    versions = [int(each.rpartition("@")[2]) for each in keys if each.rpartition("@")[0] == name]
    if not versions:
        return None
    return max(versions), f"AES_CTR_{8 * len(keys[f'{name}@{max(versions)}'])}"


class KeyFile:
    """Master keys of a JSON file: hexadecimal bytes by names with versions, as
    ``{"pii@0": "00112233445566778899aabbccddeeff"}``.

    The file is read when a key is asked for first. A pickle has the path.

    Args:
        path: The path of the file.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = os.path.abspath(os.fspath(path))
        self._keys: dict[str, bytes] | None = None

    def __repr__(self) -> str:
        return f"orcish.encryption.KeyFile({self._path!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, KeyFile) and other._path == self._path

    def __hash__(self) -> int:
        return hash(self._path)

    def __reduce__(self) -> tuple[Any, ...]:
        return KeyFile, (self._path,)

    def __call__(self, name: str, version: int) -> bytes | None:
        """The key of a name and a version; ``None`` where the file does not have it.

        Raises:
            OSError: The file cannot be read.
            ValueError: The file is no JSON object of such keys.
        """
        return self._read().get(f"{name}@{version}")

    def current_version(self, name: str) -> tuple[int, str] | None:
        """The newest version of a key, with which files are written, and its algorithm; ``None`` without the key."""
        return _current(self._read(), name)

    def _read(self) -> dict[str, bytes]:
        if self._keys is None:
            with open(self._path, encoding="utf-8") as file:
                self._keys = _parsed(file.read(), self._path)
        return self._keys


class EnvironmentKeys:
    """Master keys of an environment variable, which has the text of a :class:`KeyFile`.

    The variable is read in the process that asks for a key. A pickle has its name.

    Args:
        variable: The name of the variable.
    """

    def __init__(self, variable: str) -> None:
        self._variable = variable
        self._keys: dict[str, bytes] | None = None

    def __repr__(self) -> str:
        return f"orcish.encryption.EnvironmentKeys({self._variable!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, EnvironmentKeys) and other._variable == self._variable

    def __hash__(self) -> int:
        return hash(self._variable)

    def __reduce__(self) -> tuple[Any, ...]:
        return EnvironmentKeys, (self._variable,)

    def __call__(self, name: str, version: int) -> bytes | None:
        """The key of a name and a version; ``None`` where the variable does not have it.

        Raises:
            ValueError: The variable is not set, or is no JSON object of such keys.
        """
        return self._read().get(f"{name}@{version}")

    def current_version(self, name: str) -> tuple[int, str] | None:
        """The newest version of a key, with which files are written, and its algorithm; ``None`` without the key."""
        return _current(self._read(), name)

    def _read(self) -> dict[str, bytes]:
        if self._keys is None:
            text = os.environ.get(self._variable)
            if text is None:
                raise ValueError(f"the environment variable {self._variable} for the keys is not set")
            self._keys = _parsed(text, f"the environment variable {self._variable}")
        return self._keys


def _parsed(text: str, title: str) -> dict[str, bytes]:
    """The keys of a JSON text. Messages have no part of it."""
    try:
        given = json.loads(text)
    except ValueError:
        given = None
    if not isinstance(given, dict):
        raise ValueError(f'{title}: no JSON object of keys, such as {{"pii@0": "00112233445566778899aabbccddeeff"}}')
    keys = {}
    for name, digits in given.items():
        _, at, version = name.rpartition("@")
        if not (at and version.isdecimal() and version.isascii()):
            raise ValueError(f"{title}: the key {name!r} has no version, as pii@0 has")
        try:
            keys[name] = bytes.fromhex(digits)
        except (TypeError, ValueError):
            raise ValueError(f"{title}: the key {name} is no text of hexadecimal digits") from None
    return keys


class HiddenKeys:
    """Keys as they are given to a reader. They are in no ``repr``, and those of a mapping are in no pickle."""

    def __init__(self, given: Keys) -> None:
        self.given = given

    def __repr__(self) -> str:
        return "<keys>"

    def __reduce__(self) -> tuple[Any, ...]:
        if isinstance(self.given, Mapping):
            raise TypeError(
                "keys of a mapping are not pickled, which would write their bytes: give keys that another process gets "
                "itself, such as orcish.encryption.KeyFile or EnvironmentKeys"
            )
        return HiddenKeys, (self.given,)

    def native(self) -> object:
        """The keys for the native core: a dictionary, a function that unwraps, or one that returns master keys."""
        if isinstance(self.given, Mapping):
            return dict(self.given)
        return self.given


def hidden(keys: Any) -> HiddenKeys | None:
    """The keys of an argument, which may be hidden already.

    Raises:
        TypeError: The argument is none of :data:`Keys`.
    """
    if keys is None or isinstance(keys, HiddenKeys):
        return keys
    if not (isinstance(keys, Mapping | KeyProvider) or callable(keys)):
        raise TypeError(
            "keys must be a mapping from names and versions to bytes, a function, or an object with unwrap_local_key, "
            f"not {type(keys).__name__}"
        )
    return HiddenKeys(keys)


def provider_of(text: str) -> Keys:
    """The keys that a text names, in the shell and in options of Spark.

    Args:
        text: ``kms://https@host:9600/kms`` for :class:`~orcish.encryption.HadoopKMS`, ``file:keys.json`` for
            :class:`KeyFile`, ``env:NAME`` for :class:`EnvironmentKeys`, or ``python:module:name`` for an object of a
            module.

    Raises:
        ValueError: The text is none of these. Messages do not repeat it, as it might be a key.
    """
    kind, separator, rest = text.partition(":")
    if not separator or not rest:
        kind = ""
    match kind:
        case "kms" | "http" | "https":
            from orcish.encryption.hadoop_kms import HadoopKMS

            return HadoopKMS(text)
        case "file":
            return KeyFile(rest)
        case "env":
            return EnvironmentKeys(rest)
        case "python":
            module, colon, name = rest.partition(":")
            if colon and name:
                found: Keys = getattr(importlib.import_module(module), name)
                return found
    raise ValueError(
        "keys come from kms://https@host:9600/kms, file:PATH, env:NAME or python:module:name, and not from the text of "
        "an argument, which others can see"
    )
