"""How the files of a job become those of a table: all of them or none, whatever dies when.

A job writes below ``_orcish/jobs`` in the table's folder, which readers pass over. Its commit is one file, the
manifest, that says which files it adds and which it removes; with it the commit is decided. Then files are made to
appear, old ones are removed, and ``_SUCCESS`` is written; each of these steps can be done again. Who finds
a manifest, of a driver that has died, does that first: so does everything in :mod:`orcish.spark` that reads or writes
a table.

Jobs that only add do not mind each other. Of those that also remove, manifests are numbered, and a number is had by one
job only, which has finished all before it: what it removes is there when it decides so.

Manifests of a stream have the numbers of its batches, each of which is had once as well. A stream begins a batch when
the one before is in the table: a manifest that is not the last of its stream is done, or came too late and counts for
nothing.

Files are added before others are removed: what is left of a commit that nobody finishes has rows twice, and none is
lost.
"""

from __future__ import annotations

import base64
import contextlib
import dataclasses
import json
import os
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import pyarrow as pa

from orcish.errors import OrcishError, UnsupportedError
from orcish.io.filesystem import is_foreign
from orcish.io.paths import local_path
from orcish.tables.folder import FileInfo, Folder
from orcish.tables.manifests import (
    DONE,
    JOBS,
    MANIFEST,
    MAX_MANIFEST,
    REMOVALS,
    STREAMS,
    committed_batch,
    number_of,
    numbered,
    sweep,
    unfinished,
)

__all__ = ["STAGED", "Job", "Staged", "committed_batch", "finish_commits"]
SUCCESS = "_SUCCESS"


class Staged(NamedTuple):
    """A file that a task has written, and that is not there yet."""

    target: str
    """Where it belongs, within the table's folder."""
    rows: int
    size: int
    """Bytes."""
    token: bytes
    """Of :meth:`orcish.tables.folder.Folder.complete`."""


STAGED = pa.schema(
    [
        ("target", pa.string()),
        ("rows", pa.int64()),
        ("size", pa.int64()),
        ("token", pa.binary()),
    ]
)
"""Columns of :class:`Staged`, as tasks return it."""


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
        return f"{JOBS}/{self.id}"

    def attempt(self) -> str:
        """A folder for one attempt of a task, which no other one writes to."""
        return f"{self.staging}/{uuid.uuid4().hex}"

    def folder(self) -> Folder:
        """The table's folder."""
        return _folder(self.base, self.storage)

    def commit(
        self,
        added: Iterable[Staged],
        replaced: Callable[[list[FileInfo]], Sequence[str]] | None = None,
        *,
        stream: tuple[str, int] | None = None,
    ) -> None:
        """Makes files appear, and others disappear.

        Args:
            added: What tasks have written, of one attempt of each.
            replaced: Of all files in the table's folder, the names of those that are to be removed; or it raises, and
                the table is as it was. Called again where another job that removes files was faster.
            stream: Name of a stream and number of its batch, which only adds files. Where the batch has been committed,
                what this job has written is removed, and nothing else happens.

        Raises:
            ValueError: There are both `replaced` and `stream`.
            OrcishError: The commit is decided, and could not be finished, which the next job or reader does; or
                whether it is decided could not be found out.
            OSError: The commit is not decided: the table is as it was.
        """
        if replaced is not None and stream is not None:
            raise ValueError(f"{self.base}: a batch of a stream removes no files")
        folder = self.folder()
        added = list(added)
        appear = [{"target": file.target, "token": base64.b64encode(file.token).decode()} for file in added]
        manifest = {"job": self.id, "added": appear, "removed": []}
        if replaced is not None:
            name = _decide_in_turn(folder, manifest, replaced)
        elif stream is None:
            name = f"{self.staging}/{MANIFEST}"
            _decide(folder, name, manifest)
        elif (number := _decide_batch(folder, manifest, *stream)) is not None:
            name = number
        else:
            # The batch is in the table, whether or not this can be removed.
            self.give_up(added)
            return
        try:
            _apply(folder, name, manifest)
        except OSError as error:
            raise OrcishError(
                f"{self.base}: the commit of job {self.id} is decided but not finished, "
                f"which the next job or reader of orcish.spark will do: {error}"
            ) from error
        # The commit is done, whatever others have left.
        with contextlib.suppress(OSError):
            sweep(folder)

    def give_up(self, written: Iterable[Staged] = ()) -> None:
        """As :meth:`abort`, for what has failed already: what cannot be removed stays until it is stale."""
        with contextlib.suppress(OSError):
            self.abort(written)

    def abort(self, written: Iterable[Staged] = ()) -> None:
        """Removes what the job has written, unless its commit is decided.

        Args:
            written: What is known of it. Of a store, parts of files that are not in here stay until the store's own
                rule for unfinished uploads removes them.
        """
        folder = self.folder()
        if any(manifest["job"] == self.id for _, manifest in unfinished(folder)):
            return
        for file in written:
            # The others are to go all the same.
            with contextlib.suppress(OSError):
                folder.abort(file.target, file.token)
        folder.delete_folder(self.staging)


def finish_commits(base: str, storage: Mapping[str, str]) -> int:
    """Finishes the commits whose drivers have died before they could; gives their number.

    Raises:
        OrcishError: One cannot be finished; the message names its manifest.
    """
    return _finish(_folder(base, storage))


def _folder(base: str, storage: Mapping[str, str]) -> Folder:
    """A table's folder. Links are followed: files are published where they were written for, by that name."""
    if is_foreign(base):
        raise UnsupportedError(f"{base}: such stores are read, by pyarrow or fsspec, and a table there is not written")
    path = local_path(base)
    return Folder(path if "://" in path else os.path.realpath(path), storage)


def _decide(folder: Folder, name: str, manifest: Mapping[str, Any]) -> None:
    text = json.dumps(manifest).encode()
    try:
        folder.write(name, text, overwrite=False)
    except OSError as error:
        # What a store has not answered to, or was asked to do twice, it may have done.
        try:
            is_written = folder.read(name, limit=MAX_MANIFEST) == text
        except FileNotFoundError:
            is_written = False
        except OSError as unknown:
            at = folder.location(name)
            raise OrcishError(f"{at}: whether the commit is decided is not known: {unknown}") from error
        if not is_written:
            raise


def _decide_in_turn(
    folder: Folder, manifest: dict[str, Any], replaced: Callable[[list[FileInfo]], Sequence[str]]
) -> str:
    """Gives the manifest, with what it removes, the next number; its name."""
    while True:
        # Whoever has a number before this one is finished then; who takes this one meanwhile is found when it is taken.
        number = max((number_of(file) for file in numbered(folder, REMOVALS)), default=-1) + 1
        _finish(folder)
        manifest["removed"] = list(replaced(folder.files()))
        name = f"{REMOVALS}/{number:012}.json"
        try:
            _decide(folder, name, manifest)
        except FileExistsError:
            continue
        return name


def _decide_batch(folder: Folder, manifest: Mapping[str, Any], stream: str, batch: int) -> str | None:
    """Gives the manifest the number of a batch; its name, or none where another one has or had that number."""
    _finish(folder)
    if committed_batch(folder, stream) >= batch:
        return None
    name = f"{STREAMS}/{stream}/{batch:012}.json"
    try:
        _decide(folder, name, manifest)
    except FileExistsError:
        # Who goes on to the next batch has this one in the table.
        _finish(folder)
        return None
    if committed_batch(folder, stream) > batch:
        # Since it was looked for, the batch has been committed, and its number was not kept.
        folder.delete([name])
        return None
    return name


def _finish(folder: Folder) -> int:
    found = unfinished(folder)
    for name, manifest in found:
        try:
            _apply(folder, name, manifest)
        except (OSError, ValueError) as error:
            # Or somebody else has finished it, and has perhaps removed since what it added.
            if (name, manifest) in unfinished(folder):
                raise OrcishError(
                    f"{folder.location(name)}: this commit is decided and cannot be finished: {error}. "
                    "Without this file, and what its job has in the folder of jobs, it is given up half way"
                ) from error
    return len(found)


def _apply(folder: Folder, name: str, manifest: Mapping[str, Any]) -> None:
    for file in manifest["added"]:
        folder.complete(file["target"], base64.b64decode(file["token"]))
    folder.delete(manifest["removed"])
    folder.write(SUCCESS, b"", overwrite=True)
    # The manifest goes last: without it, what is left would be taken for that of a job which has failed.
    staging = f"{JOBS}/{manifest['job']}"
    folder.delete([file.name for file in folder.files(staging) if file.name != name])
    folder.delete_folder(staging)
    if not name.startswith(f"{JOBS}/"):
        folder.write(name, DONE, overwrite=True)
