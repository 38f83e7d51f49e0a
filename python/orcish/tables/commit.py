"""The commit protocol: the files of a job appear all together or not at all, whichever process dies.

A job writes below ``_orcish/jobs`` in the folder of the table, which readers ignore. Its commit is a single file, the
manifest, which names the files that are added and removed. Writing the manifest decides the commit. Then the added
files are published, the removed files are deleted, and ``_SUCCESS`` is written. These steps are idempotent. A reader or
writer of :mod:`orcish.spark` that finds an unfinished manifest of a dead driver finishes it first.

Jobs that only add files do not conflict. Manifests of jobs that also remove files are numbered. A job can take a number
only after it has finished all commits with lower numbers, so that the files that it removes exist when it decides so.

Manifests of a stream are numbered by batch, and each number is taken once too. A stream begins a batch only when the
commit of the previous batch is finished. A manifest that is not the last of its stream is therefore finished, or was
written too late and has no effect.

Files are added before others are removed. An unfinished commit may leave rows twice, but never loses rows.
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
    """A file that a task has written, and that is not published yet."""

    target: str
    """Path within the folder of the table."""
    rows: int
    size: int
    """Size in bytes."""
    token: bytes
    """The argument of :meth:`orcish.tables.folder.Folder.complete`."""


STAGED = pa.schema(
    [
        ("target", pa.string()),
        ("rows", pa.int64()),
        ("size", pa.int64()),
        ("token", pa.binary()),
    ]
)
""":class:`Staged` as rows that tasks return."""


@dataclasses.dataclass(frozen=True)
class Job:
    """A job that changes a table. It is pickled for its tasks."""

    base: str
    """Path or URL of the folder of the table."""
    storage: Mapping[str, str] = dataclasses.field(default_factory=dict, repr=False)
    id: str = dataclasses.field(default_factory=lambda: str(uuid.uuid4()))

    @property
    def staging(self) -> str:
        """Folder of the files of the job, within the folder of the table."""
        return f"{JOBS}/{self.id}"

    def attempt(self) -> str:
        """A new folder for one attempt of a task."""
        return f"{self.staging}/{uuid.uuid4().hex}"

    def folder(self) -> Folder:
        """The folder of the table."""
        return _folder(self.base, self.storage)

    def commit(
        self,
        added: Iterable[Staged],
        replaced: Callable[[list[FileInfo]], Sequence[str]] | None = None,
        *,
        stream: tuple[str, int] | None = None,
    ) -> None:
        """Adds files to the table, and removes others.

        Args:
            added: Files that tasks have written, of one attempt of each task.
            replaced: Takes all files in the folder of the table and gives the names of those to remove. If it raises,
                the table is unchanged. It is called again where another job that removes files commits first.
            stream: Id of a stream and number of its batch, which only adds files. If the batch is committed already,
                the files of this job are removed, and nothing else happens.

        Raises:
            ValueError: There are both ``replaced`` and ``stream``.
            OrcishError: The commit is decided but not finished; the next job or reader finishes it. Or it is not known
                whether the commit is decided.
            OSError: The commit is not decided; the table is unchanged.
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
            # The batch is in the table, whether or not the files can be removed.
            self.give_up(added)
            return
        try:
            _apply(folder, name, manifest)
        except OSError as error:
            raise OrcishError(
                f"{self.base}: the commit of job {self.id} is decided but not finished, "
                f"which the next job or reader of orcish.spark will do: {error}"
            ) from error
        # Errors do not matter, as the commit is finished.
        with contextlib.suppress(OSError):
            sweep(folder)

    def give_up(self, written: Iterable[Staged] = ()) -> None:
        """Like :meth:`abort`, but ignores errors. Files that cannot be removed stay until they are stale."""
        with contextlib.suppress(OSError):
            self.abort(written)

    def abort(self, written: Iterable[Staged] = ()) -> None:
        """Removes the files of the job, unless its commit is decided.

        Args:
            written: Known files. In a store, parts of other files stay until the rules of the store remove unfinished
                uploads.
        """
        folder = self.folder()
        if any(manifest["job"] == self.id for _, manifest in unfinished(folder)):
            return
        for file in written:
            # An error with one file must not keep the others.
            with contextlib.suppress(OSError):
                folder.abort(file.target, file.token)
        folder.delete_folder(self.staging)


def finish_commits(base: str, storage: Mapping[str, str]) -> int:
    """Finishes unfinished commits of dead drivers; gives their number.

    Raises:
        OrcishError: A commit cannot be finished; the message names its manifest.
    """
    return _finish(_folder(base, storage))


def _folder(base: str, storage: Mapping[str, str]) -> Folder:
    """The folder of a table. Links are resolved, as unpublished files are bound to their paths."""
    if is_foreign(base):
        raise UnsupportedError(f"{base}: such stores are read, by pyarrow or fsspec, and a table there is not written")
    path = local_path(base)
    return Folder(path if "://" in path else os.path.realpath(path), storage)


def _decide(folder: Folder, name: str, manifest: Mapping[str, Any]) -> None:
    text = json.dumps(manifest).encode()
    try:
        folder.write(name, text, overwrite=False)
    except OSError as error:
        # The store may have written the file without an answer, or twice after a retry.
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
    """Writes the manifest under the next number of removals; gives its name."""
    while True:
        # Finishes all commits with lower numbers. A concurrent job that takes the same number makes the write fail.
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
    """Writes the manifest under the number of a batch; gives its name, or ``None`` where the number is or was taken."""
    _finish(folder)
    if committed_batch(folder, stream) >= batch:
        return None
    name = f"{STREAMS}/{stream}/{batch:012}.json"
    try:
        _decide(folder, name, manifest)
    except FileExistsError:
        # The stream goes on to the next batch only when this one is finished.
        _finish(folder)
        return None
    if committed_batch(folder, stream) > batch:
        # Meanwhile the batch was committed, and its manifest was swept.
        folder.delete([name])
        return None
    return name


def _finish(folder: Folder) -> int:
    found = unfinished(folder)
    for name, manifest in found:
        try:
            _apply(folder, name, manifest)
        except (OSError, ValueError) as error:
            # Another process may have finished it, and may even have removed the added files since.
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
    # The manifest is deleted last. Without it, the rest would look like that of a failed job.
    staging = f"{JOBS}/{manifest['job']}"
    folder.delete([file.name for file in folder.files(staging) if file.name != name])
    folder.delete_folder(staging)
    if not name.startswith(f"{JOBS}/"):
        folder.write(name, DONE, overwrite=True)
