"""Files of file systems that are written under a hidden name."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Callable
from typing import Any

from orcish.errors import UnsupportedError

__all__ = ["Moved", "hidden_name"]


class Moved:
    """A file that is written under a hidden name in its folder, and moved to its name when it is closed."""

    def __init__(
        self,
        path: str,
        create: Callable[[str], Any],
        move: Callable[[str, str], object],
        delete: Callable[[str], object],
    ) -> None:
        self.name, self._hidden = path, hidden_name(path)
        self._move, self._delete = move, delete
        self._process = os.getpid()
        self._file: Any = None
        try:
            self._file = create(self._hidden)
        except NotImplementedError as error:
            raise UnsupportedError(f"{path}: the file system cannot be written to: {error}") from error
        except BaseException:
            # A signal handler may raise just after the file was made.
            with contextlib.suppress(Exception):
                delete(self._hidden)
            raise

    def write(self, data: bytes, /) -> object:
        """See :class:`~orcish.io.systems.Output`."""
        return self._file.write(data)

    def close(self) -> None:
        """See :class:`~orcish.io.systems.Output`."""
        if self._file is None:
            return
        self._file.close()
        try:
            self._move(self._hidden, self.name)
        except NotImplementedError as error:
            raise UnsupportedError(f"{self.name}: the file system cannot move a file to its name: {error}") from error
        self._file = None

    def abort(self) -> None:
        """See :class:`~orcish.io.systems.Output`. An error does not matter, as the file is hidden from readers."""
        file, self._file = self._file, None
        if file is None or self._process != os.getpid():
            return
        with contextlib.suppress(Exception):
            file.close()
        with contextlib.suppress(Exception):
            self._delete(self._hidden)

    def __del__(self) -> None:
        self.abort()


def hidden_name(path: str) -> str:
    """A path that is not there, in the folder of another one, which readers of the folder pass over."""
    folder, slash, name = path.rpartition("/")
    plain = re.sub(r"[*?\[\]]", "_", name[:40])
    return f"{folder}{slash}.{plain}.{os.urandom(8).hex()}.tmp"
