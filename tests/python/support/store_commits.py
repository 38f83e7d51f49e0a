"""Commits of dead processes, in any store: entries of the log that are written by hand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from orcish.tables.commit import Job, Staged

from support.staged_commits import LOG, entry, sealed


def fields(message: bytes) -> Iterator[tuple[int, bytes]]:
    """The numbers and values of the fields of a protobuf message that have a length."""

    def varint() -> int:
        nonlocal at
        value = shift = 0
        while True:
            byte = message[at]
            at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    at = 0
    while at < len(message):
        key = varint()
        if key & 7 == 0:
            varint()
            continue
        length = varint()
        yield key >> 3, message[at : at + length]
        at += length


def staged_bytes(job: Job, file: Staged) -> dict[str, Any]:
    """Where the bytes of a staged file are, as an entry of the log has it, by ``orcish_upload.proto``."""
    found = dict(fields(file.token))
    if 6 not in found:
        folder = job.folder().location(job.staging)
        return {"file": found[5].decode().removeprefix(f"{folder}/")}
    upload = list(fields(found[6]))
    only = {number: value.decode() for number, value in upload}
    parts = [value.decode() for number, value in upload if number == 2]
    return {"upload": {"id": only.get(1, ""), "parts": parts, "write_id": only.get(3, "")}}


def decide(
    job: Job, added: Sequence[Staged], removed: Sequence[str] = (), *, published: int = 0, number: int = 0, **more: Any
) -> None:
    """A commit that is decided, and of which some files are visible."""
    files = [{"name": file.target, "size": file.size, "staged": staged_bytes(job, file)} for file in added]
    content = {**entry(job, [], removed), "added": files, "rows_added": sum(file.rows for file in added), **more}
    folder = job.folder()
    folder.write(f"{LOG}/{number:012}.json", sealed(content).encode())
    for file in added[:published]:
        folder.complete(file.target, file.token)
