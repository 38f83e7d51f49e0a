"""Files whose reads take no more memory than there are bytes, whatever length a damaged file states."""

from __future__ import annotations

import io
import os
from typing import Any

__all__ = ["BoundedFile"]

PART = 16 << 20
"""Bytes that are read at a time of files of unknown length."""


class BoundedFile(io.RawIOBase):
    """A file for libraries that read lengths which the file itself states.

    Args:
        file: The file, which has ``read``, and ``seek`` and ``tell`` if it is read at any position.
        size: Its length; ``None`` if that is not known.
    """

    def __init__(self, file: Any, size: int | None) -> None:
        self._file, self._size = file, size

    def readable(self) -> bool:
        """Whether there is ``read``."""
        return True

    def seekable(self) -> bool:
        """Whether there is ``seek``."""
        return bool(self._file.seekable())

    def tell(self) -> int:
        """The position."""
        return int(self._file.tell())

    def seek(self, offset: int, whence: int = os.SEEK_SET, /) -> int:
        """Goes to a position."""
        return int(self._file.seek(offset, whence))

    def read(self, size: int = -1, /) -> bytes:
        """Reads the next bytes."""
        if size is None or size < 0:
            return bytes(self._file.read())
        if self._size is not None:
            found: bytes = self._file.read(min(size, max(self._size - self.tell(), 0)))
            return found
        parts: list[bytes] = []
        while size > 0 and (part := self._file.read(min(size, PART))):
            parts.append(part)
            size -= len(part)
        return b"".join(parts)

    def close(self) -> None:
        """Closes the file."""
        if not self.closed:
            self._file.close()
        super().close()
