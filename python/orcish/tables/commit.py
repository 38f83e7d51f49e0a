"""Commits of jobs: the files of a job appear all together or not at all, whichever process dies.

A job writes below ``_orcish/jobs`` in the folder of the table, which readers ignore, or, in stores, into uploads that
are not completed. The crate ``orcish-table`` has the protocol: an entry of the log of the table decides the commit.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator

import pyarrow as pa

from orcish import _native
from orcish._native import StagedFile
from orcish.errors import UnfinishedCommitError
from orcish.tables.folder import FileInfo, Folder
from orcish.tables.log.conflicts import reading

__all__ = ["STAGED", "Job"]

STAGED = pa.schema([("token", pa.binary())])
"""The tokens of staged files as rows that tasks return."""


class Job(_native.Job):
    """A job that changes a table, given by its path or URL. It is pickled for its tasks.

    It belongs to the process that made or unpickled it. A child of a fork has a copy, which changes nothing.
    """

    def folder(self) -> Folder:
        """The folder of the table."""
        return Folder(self.root, self.storage)

    def files(self) -> list[FileInfo]:
        """All files below the folder that the job writes to, hidden ones included, by their paths in the table.

        Raises:
            ValueError: There is another table below the folder.
        """
        return list(map(FileInfo._make, self.stored_files()))

    def reading(self, names: Iterable[str], *errors: type[Exception]) -> contextlib.AbstractContextManager[None]:
        """A context in which files of the table are read, as they were found.

        Args:
            names: The files, by their paths in the table.
            errors: Classes of errors with which they may be read, besides ``OSError`` and ``OrcishError``.

        Raises:
            CommitError: A commit of another job has removed one of them meanwhile. Raised in place of the error with
                which it is read.
        """
        return reading(self.root, self.storage, map(self.location, names), *errors)

    @contextlib.contextmanager
    def cleaned_up(self) -> Iterator[list[StagedFile]]:
        """Gives a list for staged files, which are removed after an exception, unless the commit may be decided.

        A child of a fork removes nothing: the files are those of its parent.
        """
        staged: list[StagedFile] = []
        try:
            yield staged
        except UnfinishedCommitError:
            raise
        except BaseException:
            self.give_up(staged)
            raise
