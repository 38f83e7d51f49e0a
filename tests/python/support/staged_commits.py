"""Staged files of a commit, and processes that die at a given step of a commit."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any

import pyarrow as pa
import pytest
from orcish.tables.commit import Job, Staged
from orcish.tables.folder import Folder
from orcish.writing.dataset import TableWriter

CALLS = ["files", "stat", "read", "write", "delete", "delete_folder", "complete"]
"""What a commit does with a folder."""


class Died(BaseException):
    """The process is gone: nothing catches it."""


class Dying:
    """Lets a call to a folder be the last, by its number or the first of a name: before it has done anything, or just
    behind it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, last: int | str, *, after: bool, error: Any = Died) -> None:
        self.names: list[str] = []
        for name in CALLS:
            monkeypatch.setattr(Folder, name, self._wrapped(name, getattr(Folder, name)))
        self._last, self._after, self._error = last, after, error

    def _wrapped(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def call(*args: Any, **more: Any) -> Any:
            is_last = self._last in (len(self.names), name) and self._last not in self.names
            self.names.append(name)
            if is_last and not self._after:
                raise self._error
            try:
                return function(*args, **more)
            finally:
                if is_last:
                    raise self._error

        return call


def staged(job: Job, ids: Iterable[int], folder: str = "") -> Staged:
    """A file of a task."""
    attempt = job.attempt()
    name = f"part-{attempt[-32:]}.orc"
    base = job.folder().location(folder) if folder else job.folder().base
    data = pa.table({"id": pa.array(ids, pa.int64())})
    table = TableWriter(base, data.schema, template=name, staging=job.folder().location(attempt))
    with table:
        table.write(data.to_batches()[0])
    (file,) = table.finished
    return Staged(f"{folder}/{name}" if folder else name, file.rows, file.bytes, table.tokens[file.path])
