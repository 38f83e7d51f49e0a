"""Commits of dead processes, in any store: entries of the log that are written by hand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from orcish._native import StagedFile
from orcish.tables.commit import Job

from support.protobuf import message
from support.staged_commits import LOG, entry, sealed


def staged_bytes(job: Job, file: StagedFile) -> dict[str, Any]:
    """Where the bytes of a staged file are, as an entry of the log has it, by ``orcish_upload.proto``."""
    found = message(file.token)
    if 6 not in found:
        folder = job.folder().location(job.staging)
        return {"file": found[5][0].decode().removeprefix(f"{folder}/")}
    upload = {number: [value.decode() for value in values] for number, values in message(found[6][0]).items()}
    of_upload, of_writer = (upload.get(number, [""])[0] for number in (1, 3))
    return {"upload": {"id": of_upload, "parts": upload.get(2, []), "write_id": of_writer}}


def decide(
    job: Job,
    added: Sequence[StagedFile],
    removed: Sequence[str] = (),
    *,
    published: int = 0,
    number: int = 0,
    **more: Any,
) -> None:
    """A commit that is decided, and of which some files are visible."""
    files = [{"name": job.name_of(file), "size": file.size, "staged": staged_bytes(job, file)} for file in added]
    content = {**entry(job, [], removed), "added": files, "rows_added": sum(file.rows for file in added), **more}
    folder = job.folder()
    folder.write(f"{LOG}/{number:012}.json", sealed(content).encode())
    for file in added[:published]:
        folder.complete(job.name_of(file), file.token)
