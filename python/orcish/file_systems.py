"""The libraries that file systems of arguments are of. None of the libraries is imported."""

from __future__ import annotations

from typing import Any

__all__ = ["check_file_system", "library_of"]

BASES = {("pyarrow._fs", "FileSystem"): "pyarrow", ("fsspec.spec", "AbstractFileSystem"): "fsspec"}
"""Base classes of file systems, by module and name."""


def library_of(value: Any) -> str | None:
    """The library of a file system: ``pyarrow``, ``fsspec`` or ``obstore``; ``None`` for other objects."""
    kinds = type(value).__mro__
    names = ((kind.__module__, kind.__name__) for kind in kinds)
    found = next((BASES[name] for name in names if name in BASES), None)
    if found is not None:
        return found
    # The stores have no base class that is public.
    is_store = any(kind.__module__.partition(".")[0] == "obstore" for kind in kinds) and hasattr(value, "get_range")
    return "obstore" if is_store else None


def check_file_system(name: str, value: Any) -> None:
    """Checks an argument that is a file system. The message does not have the value, which may have credentials.

    Raises:
        TypeError: It is none.
    """
    if library_of(value) is None:
        raise TypeError(
            f"{name}: must be a file system of pyarrow or fsspec, or a store of obstore, not {type(value).__name__}"
        )
