"""Manifests: files that decide commits, in a folder of the table that readers ignore."""

from __future__ import annotations

import contextlib
import json
import os
import time
from pathlib import Path
from typing import Any

from orcish.tables.folder import FileInfo, Folder

__all__ = [
    "DONE",
    "JOBS",
    "MANIFEST",
    "MAX_MANIFEST",
    "REMOVALS",
    "STALE_SECONDS",
    "STREAMS",
    "committed_batch",
    "number_of",
    "numbered",
    "sweep",
    "unfinished",
]

OWN = "_orcish"
"""Folder of orcish within the folder of a table."""
JOBS = f"{OWN}/jobs"
"""Folder of the files of jobs."""
MANIFEST = "commit.json"
REMOVALS = f"{OWN}/removals"
"""Folder of the manifests of jobs that remove files."""
DONE = b"{}"
"""Content of a numbered manifest that is finished. It stays, so that its number is not taken again."""
MAX_MANIFEST = 1 << 40
"""Maximum bytes of a manifest: any manifest that was written can be read."""
STREAMS = f"{OWN}/streams"
"""Folder of the manifests of streams, with a folder for each stream."""
KEPT_BATCHES = 20
"""Number of manifests that are kept for a stream, so that late writers see a later batch."""
STALE_SECONDS = 7 * 86_400
"""Age after which files of jobs are removed."""


def numbered(folder: Folder, name: str) -> list[FileInfo]:
    """Numbered manifests below a folder, in order within each folder."""
    return _numbered(folder.files(name), name)


def _numbered(files: list[FileInfo], below: str) -> list[FileInfo]:
    # Manifests that are being written have temporary names.
    return sorted(file for file in files if file.name.startswith(f"{below}/") and file.name.endswith(".json"))


def number_of(file: FileInfo) -> int:
    """The number of a manifest."""
    return int(file.name.rpartition("/")[2].removesuffix(".json"))


def unfinished(folder: Folder) -> list[tuple[str, dict[str, Any]]]:
    """Names and contents of manifests that are decided and not finished."""
    own = folder.files(OWN)
    names = [file.name for file in own if file.name.startswith(f"{JOBS}/") and file.name.endswith(f"/{MANIFEST}")]
    turns = [*_numbered(own, REMOVALS), *_numbered(own, STREAMS)]
    last = {file.name.rpartition("/")[0]: file for file in turns}
    names += [file.name for file in last.values() if file.size > len(DONE)]
    found = []
    for name in names:
        # Another process may finish it now.
        with contextlib.suppress(FileNotFoundError):
            text = folder.read(name, limit=MAX_MANIFEST)
            if text != DONE:
                found.append((name, json.loads(text)))
    return found


def committed_batch(folder: Folder, stream: str) -> int:
    """Number of the last committed batch of a stream; -1 where there is none."""
    return max((number_of(file) for file in numbered(folder, f"{STREAMS}/{stream}")), default=-1)


def sweep(folder: Folder) -> None:
    """Removes files of jobs that died long ago, and manifests whose numbers are not needed any more."""
    newest: dict[str, float] = {}
    own = folder.files(OWN)
    # Listed after the files, so that a job that decides in between does not look dead.
    decided = {manifest["job"] for _, manifest in unfinished(folder)}
    for file in own:
        if not file.name.startswith(f"{JOBS}/"):
            continue
        job = file.name.split("/")[2]
        newest[job] = max(newest.get(job, 0.0), float("inf") if job in decided else file.modified)
    stale = time.time() - STALE_SECONDS
    for job, modified in (_empty(folder) | newest).items():
        if modified < stale:
            with contextlib.suppress(OSError):
                folder.delete_folder(f"{JOBS}/{job}")
    folder.delete([file.name for file in _numbered(own, REMOVALS)[:-1] if file.modified < stale])
    batches: dict[str, list[str]] = {}
    for file in _numbered(own, STREAMS):
        batches.setdefault(file.name.rpartition("/")[0], []).append(file.name)
    folder.delete([name for names in batches.values() for name in names[:-KEPT_BATCHES]])


def _empty(folder: Folder) -> dict[str, float]:
    """Times of the last changes of the folders of jobs, empty ones included. Only local disks have empty folders."""
    found: dict[str, float] = {}
    if "://" in folder.base:
        return found
    for path in filter(os.path.isdir, Path(folder.location(JOBS)).glob("*")):
        # Another process may remove it now.
        with contextlib.suppress(FileNotFoundError):
            found[path.name] = max(os.stat(at).st_mtime for at in (path, *path.rglob("*")))
    return found
