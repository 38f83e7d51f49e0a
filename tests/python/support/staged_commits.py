"""StagedFile files of a commit, and commits whose process died before they were finished."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
from orcish._native import StagedFile
from orcish.tables.commit import Job
from orcish.tables.folder import upload_info
from orcish.writing.dataset import TableWriter

LOG = "_orcish/log"

WRITER = """
import sys
sys.path.insert(0, sys.argv[2])
from support.staged_commits import staged
from orcish.tables.commit import Job
import orcish
table = sys.argv[1]
print("ready", flush=True)
for at in range(int(sys.argv[3]), 10_000):
    job = Job(table)
    files = [staged(job, range(at * 10, at * 10 + 5)), staged(job, range(at * 10 + 5, at * 10 + 10), folder="more%d" % (at % 3))]
    print("staged", at, flush=True)
    job.commit(files, stream=("s", at))
    print("committed", at, flush=True)
    if at % 4 == 3:
        # All that is in one folder becomes one file.
        job = Job(table)
        orcish.recover(table)
        files = [f for f in job.files() if f.name.startswith("part-")]
        ids = orcish.read_table([table + "/" + f.name for f in files])["id"].to_pylist()
        job.commit([staged(job, ids)], "compact", existing=files)
        print("merged", at, flush=True)
"""
"""Commits batches of ten rows to the table of its first argument, and says so. The second one is the folder of
``support``, and the third one the number of the first batch."""


def staged(job: Job, ids: Iterable[int], folder: str = "") -> StagedFile:
    """A file of a task, in a folder of the table."""
    attempt = job.attempt()
    name = f"part-{attempt[-32:]}.orc"
    base = job.folder().location(folder) if folder else job.folder().base
    data = pa.table({"id": pa.array(ids, pa.int64())})
    staging = job.folder().location(attempt)
    table = TableWriter(base, data.schema, template=name, staging=staging, storage_options=job.storage)
    with table:
        table.write(data.to_batches()[0])
    (file,) = table.staged
    return file


def staged_name(job: Job, file: StagedFile) -> str:
    """The path of the bytes of a staged file below the folder of the job, in stores where they are in a file."""
    # The name of a file has that of the folder of its task.
    start = len(job.staging) + 1
    there = [(at.name[start:], at.size) for at in job.folder().files(job.staging)]
    found = [name for name, size in there if name.split("/")[-2] in job.name_of(file) and size == file.size]
    assert len(found) == 1, (file, there)
    assert upload_info(file.token).bytes == file.size
    return found[0]


def staged_path(job: Job, file: StagedFile) -> Path:
    """Where the bytes of a staged file are on a local disk."""
    return Path(job.folder().location(job.staging)) / staged_name(job, file)


def entry(job: Job, added: Sequence[StagedFile], removed: Sequence[str] = (), **more: Any) -> dict[str, Any]:
    """An entry of the log."""
    return {
        "version": 1,
        "job": job.id,
        "previous": None,
        "time": 1_764_000_000_000,
        "engine": "test",
        "operation": "overwrite",
        "rows_added": sum(file.rows for file in added),
        "added": [
            {"name": job.name_of(file), "size": file.size, "staged": {"file": staged_name(job, file)}} for file in added
        ],
        "removed": list(removed),
        "batch": None,
        "streams": {},
        "schema": None,
        "new_schema": None,
        **more,
    }


def sealed(content: Mapping[str, Any]) -> str:
    """The text of a file of the log, with its checksum."""
    text = json.dumps({name: value for name, value in content.items() if name != "crc32"})[:-1]
    return f'{text},"crc32":{zlib.crc32(text.encode())}}}'


def decide(
    job: Job,
    added: Sequence[StagedFile],
    removed: Sequence[str] = (),
    *,
    published: int = 0,
    number: int = 0,
    **more: Any,
) -> Path:
    """A commit that is decided, and of which some files are visible; gives its entry, which is a file on local disks."""
    folder, name = job.folder(), f"{LOG}/{number:012}.json"
    folder.write(name, sealed(entry(job, added, removed, **more)).encode(), existing_data="overwrite")
    for file in added[:published]:
        folder.complete(job.name_of(file), file.token)
    return Path(folder.base) / name


def scanned_again(rows: Callable[[Any], list[int]], table: Any) -> list[int]:
    """The rows of a table from which others remove files.

    A scan is made again where a file that it listed is gone, as its error says.
    """
    for _ in range(20):
        try:
            return rows(table)
        except FileNotFoundError as error:
            if "make the scan again" not in str(error):
                raise
    raise AssertionError(f"{table}: 20 scans missed files")
