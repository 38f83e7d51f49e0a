"""Temporary folders that also a signal does not leave behind."""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref

__all__ = ["TemporaryFolder"]


class TemporaryFolder:
    """A folder that is removed with all that is in it: by :meth:`cleanup`, at the end of a ``with`` block, and with the
    object at the latest. :class:`tempfile.TemporaryDirectory` leaves it behind where a signal handler raises just after
    it was made.

    Args:
        prefix: How its name begins.
        folder: Where it is made; by default, the folder of the system for temporary files.

    Raises:
        OSError: It cannot be made.
    """

    def __init__(self, prefix: str, folder: str | None = None) -> None:
        above = os.path.abspath(folder or tempfile.gettempdir())
        self.name = os.path.join(above, f"{prefix}{os.urandom(8).hex()}")
        self._remove = weakref.finalize(self, shutil.rmtree, self.name, ignore_errors=True)
        os.mkdir(self.name, 0o700)

    def cleanup(self) -> None:
        """Removes the folder."""
        self._remove()

    def __enter__(self) -> str:
        return self.name

    def __exit__(self, *_: object) -> None:
        self.cleanup()
