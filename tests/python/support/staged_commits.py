"""Staged files of a commit, and commits whose process died before they were finished."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
from orcish.tables.commit import Job, Staged
from orcish.tables.folder import upload_info
from orcish.writing.dataset import TableWriter

LOG = "_orcish/log"


def staged(job: Job, ids: Iterable[int], folder: str = "") -> Staged:
    """A file of a task, in a folder of the table."""
    attempt = job.attempt()
    name = f"part-{attempt[-32:]}.orc"
    base = job.folder().location(folder) if folder else job.folder().base
    data = pa.table({"id": pa.array(ids, pa.int64())})
    staging = job.folder().location(attempt)
    table = TableWriter(base, data.schema, template=name, staging=staging, storage_options=job.storage)
    with table:
        table.write(data.to_batches()[0])
    (file,) = table.finished
    return Staged(f"{folder}/{name}" if folder else name, file.rows, file.bytes, table.tokens[file.path])


def staged_path(job: Job, file: Staged) -> Path:
    """Where the bytes of a staged file are."""
    # The name of a file has that of the folder of its task.
    staging = Path(job.folder().location(job.staging))
    found = [path for path in staging.rglob("*") if path.is_file() and path.parent.name in file.target]
    assert len(found) == 1, (file, found)
    assert upload_info(file.token).bytes == found[0].stat().st_size
    return found[0]


def entry(job: Job, added: Sequence[Staged], removed: Sequence[str] = (), **more: Any) -> dict[str, Any]:
    """An entry of the log."""
    jobs = Path(job.folder().location(job.staging))
    return {
        "version": 1,
        "job": job.id,
        "previous": None,
        "operation": "overwrite",
        "added": [
            {
                "name": file.target,
                "size": file.size,
                "staged": {"file": staged_path(job, file).relative_to(jobs).as_posix()},
            }
            for file in added
        ],
        "removed": list(removed),
        "batch": None,
        "streams": {},
        **more,
    }


def decide(
    job: Job, added: Sequence[Staged], removed: Sequence[str] = (), *, published: int = 0, number: int = 0, **more: Any
) -> Path:
    """A commit that is decided, and of which some files are visible; gives its entry."""
    base = Path(job.folder().base)
    path = base / LOG / f"{number:012}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(entry(job, added, removed, **more)))
    for file in added[:published]:
        (base / file.target).parent.mkdir(parents=True, exist_ok=True)
        os.rename(staged_path(job, file), base / file.target)
    return path
