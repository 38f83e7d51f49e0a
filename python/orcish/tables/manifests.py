"""Where in a table's folder jobs write, and which of their commits are decided."""

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
"""Folder of a table that is orcish's own."""
JOBS = f"{OWN}/jobs"
"""Folder of what jobs write."""
MANIFEST = "commit.json"
REMOVALS = f"{OWN}/removals"
"""Folder of the manifests of jobs that remove files."""
DONE = b"{}"
"""What a numbered manifest becomes: its number is not had again."""
MAX_MANIFEST = 1 << 40
"""Bytes: one that has been written has to be read."""
STREAMS = f"{OWN}/streams"
"""Folder of those of streams, each with the manifests of its batches."""
KEPT_BATCHES = 20
"""Numbers that a stream keeps: who lists them while some come and go sees one that is later than any which is late."""
STALE_SECONDS = 7 * 86_400
"""Age after which what a job has left is taken to be nobody's."""


def numbered(folder: Folder, name: str) -> list[FileInfo]:
    """Manifests with numbers below a folder, the last of each folder last."""
    return _numbered(folder.files(name), name)


def _numbered(files: list[FileInfo], below: str) -> list[FileInfo]:
    # Beside them there may be some that are being written, under other names.
    return sorted(file for file in files if file.name.startswith(f"{below}/") and file.name.endswith(".json"))


def number_of(file: FileInfo) -> int:
    """Of a manifest with a number."""
    return int(file.name.rpartition("/")[2].removesuffix(".json"))


def unfinished(folder: Folder) -> list[tuple[str, dict[str, Any]]]:
    """Manifests that are decided and not done, with their names."""
    own = folder.files(OWN)
    names = [file.name for file in own if file.name.startswith(f"{JOBS}/") and file.name.endswith(f"/{MANIFEST}")]
    turns = [*_numbered(own, REMOVALS), *_numbered(own, STREAMS)]
    last = {file.name.rpartition("/")[0]: file for file in turns}
    names += [file.name for file in last.values() if file.size > len(DONE)]
    found = []
    for name in names:
        # Somebody else may finish it now.
        with contextlib.suppress(FileNotFoundError):
            text = folder.read(name, limit=MAX_MANIFEST)
            if text != DONE:
                found.append((name, json.loads(text)))
    return found


def committed_batch(folder: Folder, stream: str) -> int:
    """Number of the last batch of a stream whose commit is decided; -1 of none."""
    return max((number_of(file) for file in numbered(folder, f"{STREAMS}/{stream}")), default=-1)


def sweep(folder: Folder) -> None:
    """Removes what jobs that died long ago have left, and numbers that nobody needs."""
    newest: dict[str, float] = {}
    own = folder.files(OWN)
    # Listed after the files: who decides between the two is not taken for one that has died.
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
    """When something last changed in the folders of jobs, those without a file too, which only local disks have."""
    found: dict[str, float] = {}
    if "://" in folder.base:
        return found
    for path in filter(os.path.isdir, Path(folder.location(JOBS)).glob("*")):
        # Somebody else may remove it now.
        with contextlib.suppress(FileNotFoundError):
            found[path.name] = max(os.stat(at).st_mtime for at in (path, *path.rglob("*")))
    return found
