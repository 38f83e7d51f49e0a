"""A file object that calls a function when it is read."""

import io
from collections.abc import Callable
from typing import Any


class CalledBack(io.BytesIO):
    """The bytes of a file. Each read calls a function before."""

    def __init__(self, data: bytes, call: Callable[[], object]) -> None:
        super().__init__(data)
        self._call = call

    def read(self, size: int | None = -1, /) -> bytes:
        """The next bytes."""
        self._call()
        return super().read(size)

    def readinto(self, buffer: Any, /) -> int:
        """Reads the next bytes into a buffer."""
        self._call()
        return super().readinto(buffer)
