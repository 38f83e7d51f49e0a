"""Paths within file systems."""

from __future__ import annotations

from orcish.io.local_file import target_exists
from orcish.io.names import display_name, errors_with_name
from orcish.io.paths import PATTERN, folder_above
from orcish.io.patterns import matches, segments
from orcish.io.system_file import NamedOutput, SystemFile
from orcish.io.systems import Output, Status, System
from orcish.terminal import printable

__all__ = ["SystemPath"]

FOLDER_MARKER = "_$folder$"
"""The suffix of objects that Hadoop creates for empty folders."""


class SystemPath:
    """A path within a file system that the native core does not read."""

    def __init__(self, system: System, path: str, location: str | None = None) -> None:
        self._system = system
        self._path = path
        self.location = path if location is None else location
        """The path, or the URL where the path is that of a URL."""

    def __repr__(self) -> str:
        return printable(display_name(self.location))

    @property
    def is_pattern(self) -> bool:
        """Whether the path is a pattern. A path that exists is none."""
        return any(sign in self._path for sign in PATTERN) and not self._exists()

    @property
    def is_folder(self) -> bool:
        """Whether there is a folder at the path."""
        return self._status().is_folder

    def file(self) -> SystemFile:
        """The file at the path. It is opened on first use."""
        return SystemFile(self._system, self._path, self.location)

    def files(self) -> list[SystemFile]:
        """The file at the path, those of a folder at any depth, or those that match a pattern.

        Raises:
            FileNotFoundError: There is nothing at the path, or nothing matches the pattern.
            OSError: The file system lists a name outside of the folder.
        """
        status = self._status()
        if status.is_file:
            return [SystemFile(self._system, self._path, self.location, status.size)]
        is_pattern = not status.is_folder and any(sign in self._path for sign in PATTERN)
        folder = folder_above(self._path) if is_pattern else self._path
        folder = "" if folder == "." else folder
        pattern = segments(self._path[len(folder) :]) if is_pattern else []
        start = len(folder.rstrip("/"))
        with errors_with_name(self.location):
            found = self._system.find(folder)
        for path, _ in found:
            _check_below(folder, path, self.location)
        names = {path: size for path, size in found if not path.endswith(("/", FOLDER_MARKER))}
        chosen = sorted(path for path in names if matches(pattern, [each for each in path[start:].split("/") if each]))
        if not chosen and not status.is_folder:
            hint = ": nothing matches the pattern" if is_pattern else ""
            raise FileNotFoundError(f"no files: {self}{hint}")
        base = folder_above(self.location) if is_pattern else self.location
        base = "" if base == "." else base.rstrip("/")
        return [SystemFile(self._system, path, f"{base}{path[start:]}", names[path]) for path in chosen]

    def create(self, *, overwrite: bool = True) -> Output:
        """Creates a file at the path, which appears when it is closed. Without ``overwrite``, the file system is asked
        for an existing file now and before the new one appears.

        Raises:
            IsADirectoryError: There is a folder at the path.
            FileExistsError: There is a file, without ``overwrite``.
            OSError: The file cannot be created.
            UnsupportedError: The file system cannot be written to, or cannot publish a file as a whole.
        """
        if self.is_folder:
            raise IsADirectoryError(f"{self} is a directory: a file has a name such as a.orc")
        if not overwrite and self._exists():
            raise target_exists(self.location)
        with errors_with_name(self.location):
            output = self._system.create(self._path)
        return NamedOutput(output, self.location, None if overwrite else self._exists)

    def _status(self) -> Status:
        with errors_with_name(self.location):
            return self._system.status(self._path)

    def _exists(self) -> bool:
        status = self._status()
        return status.is_file or status.is_folder


def _check_below(folder: str, path: str, location: str) -> None:
    """Checks that a path that a file system lists is in the folder.

    Raises:
        OSError: It is not.
    """
    start = folder.rstrip("/")
    is_below = not folder or path == start or path.startswith(f"{start}/")
    if not is_below or ".." in path[len(start) :].split("/"):
        raise OSError(
            f"{display_name(location)}: cannot be listed: the file system lists {display_name(path)!r}, which is not "
            "in the folder"
        )
