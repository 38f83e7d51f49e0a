"""Temporary folders that also a signal does not leave behind."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import tempfile
import weakref
from collections.abc import Iterator

from orcish.io.names import display_name

__all__ = ["TemporaryFolder"]


class TemporaryFolder:
    """A folder that is removed with all that is in it: by :meth:`cleanup`, at the end of a ``with`` block, and with the
    object at the latest. :class:`tempfile.TemporaryDirectory` leaves it behind where a signal handler raises just after
    it was made.

    Args:
        prefix: How its name begins.
        folder: Where it is made; by default, the folder of the system for temporary files.

    Raises:
        OSError: It cannot be made. The error names the folder above.
    """

    def __init__(self, prefix: str, folder: str | None = None) -> None:
        above = os.path.abspath(folder or tempfile.gettempdir())
        self.name = os.path.join(above, f"{prefix}{os.urandom(8).hex()}")
        self._remove = weakref.finalize(self, _remove, self.name)
        try:
            os.mkdir(self.name, 0o700)
        except OSError as error:
            reason = f"no temporary folder can be made there: {error.strerror}"
            raise OSError(error.errno, f"{display_name(above)}: {reason}") from error

    @contextlib.contextmanager
    def errors_of_writing(self) -> Iterator[None]:
        """Within the block, errors of writing temporary files name the folder above.

        Raises:
            OSError: A file cannot be written.
        """
        try:
            yield
        except OSError as error:
            above = display_name(os.path.dirname(self.name))
            reason = str(error) if error.errno is None else os.strerror(error.errno)
            raise OSError(
                error.errno or errno.EIO,
                f"{above}: temporary files cannot be written there: {reason}: TMPDIR names another folder",
            ) from error

    def cleanup(self) -> None:
        """Removes the folder."""
        self._remove()

    def __enter__(self) -> TemporaryFolder:
        return self

    def __exit__(self, *_: object) -> None:
        self.cleanup()


def _remove(path: str) -> None:
    """Removes a folder with all that is in it, also where the handler of a signal raises meanwhile."""
    try:
        shutil.rmtree(path, ignore_errors=True)
    except BaseException:
        shutil.rmtree(path, ignore_errors=True)
        raise
