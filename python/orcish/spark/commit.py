"""How the files of a job become those of a table: all of them or none, whatever dies when.

A job writes below ``_orcish/JOB`` in the table's folder, which readers pass over. Its commit is one file, the manifest, that
says which files it adds and which it removes; with it the commit is decided. Then files are moved to where they belong,
old ones are removed, and ``_SUCCESS`` is written; each of these steps can be done again. Who finds a manifest, of a driver
that has died, does that first: so does everything in :mod:`orcish.spark` that reads or writes a table.

Files are added before others are removed: what is left of a commit that nobody finishes has rows twice, and none is lost.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import time
import uuid
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from orcish.errors import OrcishError
from orcish.folders import Folder

__all__ = ["Job", "Staged", "finish_commits", "is_hidden"]

OWN = "_orcish"
"""Folder of a table that is orcish's own."""
MANIFEST = "commit.json"
SUCCESS = "_SUCCESS"
STREAMS = f"{OWN}/streams"
STALE_SECONDS = 7 * 86_400
"""Age after which what a job has left is taken to be nobody's."""


@dataclasses.dataclass(frozen=True)
class Staged:
    """A file that a task has written."""

    path: str
    """Where it is now, within the table's folder."""
    target: str
    """Where it belongs."""
    rows: int
    bytes: int


@dataclasses.dataclass(frozen=True)
class Job:
    """A job that changes a table; it can be pickled, and its tasks have it."""

    base: str
    """Path or URL of the table's folder."""
    storage: Mapping[str, str] = dataclasses.field(default_factory=dict, repr=False)
    id: str = dataclasses.field(default_factory=lambda: str(uuid.uuid4()))

    @property
    def staging(self) -> str:
        """Folder of what the job writes, within that of the table."""
        return f"{OWN}/{self.id}"

    def attempt(self) -> str:
        """A folder for one attempt of a task, which no other one writes to."""
        return f"{self.staging}/{uuid.uuid4().hex}"

    def folder(self) -> Folder:
        """The table's folder."""
        return Folder(self.base, dict(self.storage))

    def commit(
        self,
        added: Iterable[Staged],
        removed: Sequence[str] = (),
        *,
        stream: tuple[str, int] | None = None,
    ) -> None:
        """Makes files appear, and others disappear.

        Args:
            added: What tasks have written, of one attempt of each.
            removed: Files of the table, within its folder.
            stream: Name of a stream and number of its batch; a batch that has been committed is not again.

        Raises:
            OrcishError: The commit is decided, and could not be finished; the next job or reader does.
            OSError: The commit is not decided: the table is as it was.
        """
        folder = self.folder()
        moves = [[file.path, file.target] for file in added]
        manifest = {"moves": moves, "removed": list(removed), "stream": stream}
        name = f"{self.staging}/{MANIFEST}"
        folder.write(name, json.dumps(manifest).encode(), overwrite=False)
        try:
            _apply(folder, self.staging, manifest)
        except OSError as error:
            raise OrcishError(
                f"{self.base}: the commit of job {self.id} is decided but not finished, which the next job or reader of "
                f"orcish.spark will do: {error}"
            ) from error
        _sweep(folder)

    def abort(self) -> None:
        """Removes what the job has written, unless its commit is decided."""
        folder = self.folder()
        if not any(name == f"{self.staging}/{MANIFEST}" for name, _, _ in folder.list_all(self.staging)):
            folder.delete_folder(self.staging)


def finish_commits(base: str, storage: Mapping[str, str]) -> int:
    """Finishes the commits whose drivers have died before they could; gives their number."""
    folder = Folder(base, dict(storage))
    found = [name for name, _, _ in folder.list_all(OWN) if name.endswith(f"/{MANIFEST}")]
    for name in found:
        staging = name.removesuffix(f"/{MANIFEST}")
        try:
            manifest = json.loads(folder.read(name))
            _apply(folder, staging, manifest)
        except FileNotFoundError:
            # Somebody else has finished it.
            if any(other == name for other, _, _ in folder.list_all(staging)):
                raise
    return len(found)


def committed_batch(folder: Folder, stream: str) -> int:
    """Number of the last batch of a stream that is in the table; -1 of none."""
    try:
        return int(json.loads(folder.read(f"{STREAMS}/{stream}.json"))["batch"])
    except FileNotFoundError:
        return -1


def is_hidden(name: str) -> bool:
    """Whether a file, named within its table's folder, is none of the table's rows."""
    return any(part.startswith(("_", ".")) and "=" not in part for part in name.split("/"))


def _apply(folder: Folder, staging: str, manifest: Mapping[str, Any]) -> None:
    for path, target in manifest["moves"]:
        folder.move(path, target)
    folder.delete(manifest["removed"])
    if manifest["stream"]:
        stream, batch = manifest["stream"]
        if committed_batch(folder, stream) < batch:
            folder.write(f"{STREAMS}/{stream}.json", json.dumps({"batch": batch}).encode(), overwrite=True)
    folder.write(SUCCESS, b"", overwrite=True)
    # The manifest goes last: without it, what is left would be taken for that of a job which has failed.
    left = [name for name, _, _ in folder.list_all(staging) if not name.endswith(f"/{MANIFEST}")]
    folder.delete(left)
    folder.delete_folder(staging)


def _sweep(folder: Folder) -> None:
    """Removes what jobs that died long ago have left."""
    newest: dict[str, float] = {}
    for name, _, modified in folder.list_all(OWN):
        job = name.split("/")[1]
        newest[job] = max(newest.get(job, 0.0), modified)
        if name.endswith(f"/{MANIFEST}"):
            newest[job] = float("inf")
    newest.pop("streams", None)
    for job, modified in newest.items():
        if modified < time.time() - STALE_SECONDS:
            with contextlib.suppress(OSError):
                folder.delete_folder(f"{OWN}/{job}")
