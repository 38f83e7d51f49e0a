"""Commits of jobs: the files of a job appear all together or not at all, whichever process dies.

A job writes below ``_orcish/jobs`` in the folder of the table, which readers ignore, or, in stores, into uploads that
are not completed. The crate ``orcish-table`` has the protocol: an entry of the log of the table decides the commit.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
import uuid
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any, Literal, NamedTuple

import pyarrow as pa

from orcish import _native
from orcish._native import Location, complete_storage, is_hidden
from orcish.errors import CommitError, UnfinishedCommitError
from orcish.io.names import display_name
from orcish.tables.folder import FileInfo, Folder
from orcish.tables.log.conflicts import reading
from orcish.tables.log.schema import TableSchema
from orcish.tables.log.table import check_folder, table_log
from orcish.writing.dataset import TableWriter

__all__ = ["STAGED", "Job", "Staged", "TableView", "check_own_files", "is_in_partition"]

JOBS = "_orcish/jobs"
"""Folder of the files of jobs."""


class Staged(NamedTuple):
    """A file that a task has written, and that is not published yet."""

    target: str
    """Path within the folder of the table."""
    rows: int
    size: int
    """Size in bytes."""
    token: bytes
    """The argument of :meth:`orcish.tables.folder.Folder.complete`."""


class TableView(NamedTuple):
    """A table at one moment of its log."""

    position: int
    """The position of the log, for :meth:`Job.commit`."""
    names: list[str]
    """Files, by their paths in the table."""
    schema: TableSchema | None
    """The schema in the log."""


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
    """A job that changes a table. It is pickled for its tasks.

    It belongs to the process that made or unpickled it. A child of a fork has a copy, which changes nothing.

    Raises:
        NotADirectoryError: The path is that of a file.
    """

    base: str
    """Path or URL of the folder that the job writes to, without links: a table, or a partition of one."""
    storage: Mapping[str, str] = dataclasses.field(default_factory=dict, repr=False)
    id: str = dataclasses.field(default_factory=lambda: str(uuid.uuid4()))
    root: str = dataclasses.field(init=False)
    """Path or URL of the folder of the table, without links."""
    inside: str = dataclasses.field(init=False)
    """The path of the folder of the job below that of the table; empty for the table itself."""
    owner: int = dataclasses.field(init=False, repr=False, compare=False)
    """Id of the process that the job belongs to."""

    def __post_init__(self) -> None:
        check_folder(self.base)
        # A link or the working directory may change while the job runs.
        root, inside = Location(self.base).table()
        object.__setattr__(self, "root", root)
        object.__setattr__(self, "inside", inside)
        object.__setattr__(self, "base", f"{root}/{inside}" if inside else root)
        object.__setattr__(self, "owner", os.getpid())

    def __setstate__(self, state: dict[str, Any]) -> None:
        # Spark commits in another process than the one that has planned the job.
        self.__dict__.update(state, owner=os.getpid())

    @property
    def is_own(self) -> bool:
        """Whether the job belongs to this process, and not to the parent of a fork."""
        return self.owner == os.getpid()

    def check_process(self) -> None:
        """Checks that the job belongs to this process.

        Raises:
            ValueError: It belongs to the parent of a fork, which commits it.
        """
        if not self.is_own:
            raise ValueError(
                f"{display_name(self.base)}: the table is being changed by process {self.owner}: a child of a "
                "fork begins a change of its own"
            )

    @property
    def staging(self) -> str:
        """Folder of the files of the job, within the folder of the table."""
        return f"{JOBS}/{self.id}"

    def attempt(self) -> str:
        """A new folder for one attempt of a task.

        Raises:
            ValueError: The job belongs to another process.
        """
        self.check_process()
        return f"{self.staging}/{uuid.uuid4().hex}"

    def folder(self) -> Folder:
        """The folder of the table."""
        return Folder(self.root, self.storage)

    @property
    def partition_columns(self) -> list[str]:
        """The partition columns that the folder of the job is below."""
        return [name for name, _ in _native.partitions_of(f"{self.inside}/-")]

    def log(self) -> _native.TableLog:
        """The log of the table."""
        return table_log(self.root, self.storage)

    def prepare(self, folder: str) -> TableView:
        """Finishes a commit of another job that has died, and looks at a folder of the table.

        Raises:
            CommitError: The commit cannot be finished.
            UnsupportedError: The folder is that of a transactional table of Hive, or in one.
            ValueError: The table is below another table, whose readers would see its rows.
        """
        log = self.log()
        above = log.table_above()
        if above is not None:
            raise ValueError(
                f"{display_name(self.root)} is below the table {above}, whose readers would see its rows: a "
                "folder below a table is a partition, such as day=1, and another table is beside it"
            )
        log.recover()
        # Commits that come between are found, as the position is the earlier one.
        position = log.position()
        # Once a table has a log, no table is made below it.
        below = log.table_below() if position == 0 else None
        if below is not None:
            base, root = display_name(self.base), display_name(self.root)
            if self.inside:
                raise ValueError(
                    f"{base}: a folder with '=' in its name is a partition of the table above it, and {root} is a "
                    f"folder of tables, such as {below}: choose a name without '='"
                )
            raise ValueError(
                f"{root} has another table below it, {below}, whose rows readers would see in both: write to that "
                "table, or to a folder beside it"
            )
        files, schema = log.view(folder)
        names = [name for name, _ in files]
        Location(self.root).check_not_transactional(names, complete_storage(self.root, self.storage))
        return TableView(position, names, None if schema is None else TableSchema(*schema, display_name(self.root)))

    def reading(self, names: Iterable[str], *errors: type[Exception]) -> contextlib.AbstractContextManager[None]:
        """A context in which files of the table are read, as :meth:`prepare` has found them.

        Args:
            names: The files, by their paths in the table.
            errors: Classes of errors with which they may be read, besides ``OSError`` and ``OrcishError``.

        Raises:
            CommitError: A commit of another job has removed one of them meanwhile. Raised in place of the error with
                which it is read.
        """
        return reading(self.root, self.storage, (f"{self.root}/{name}" for name in names), *errors)

    def files(self) -> list[FileInfo]:
        """All files below the folder that the job writes to, hidden ones included, by their paths in the table.

        Raises:
            ValueError: There is another table below the folder.
        """
        folder = self.folder()
        files = [file for file in folder.files(self.inside) if not file.name.startswith("_orcish/")]
        for file in files:
            table, own, _ = file.name.partition("/_orcish/log/")
            # Readers pass over tables in hidden folders.
            if own and not is_hidden(table):
                raise ValueError(f"{folder.base} has another table below it, {table}: it is changed by its own path")
        return files

    def staged(self, table: TableWriter) -> list[Staged]:
        """The files that a writer of this job has staged."""
        start = len(self.root) + 1
        return [Staged(file.path[start:], file.rows, file.bytes, table.tokens[file.path]) for file in table.finished]

    def commit(
        self,
        added: Iterable[Staged],
        operation: Literal["append", "overwrite", "compact", "delete"] = "append",
        *,
        existing: Collection[FileInfo] | None = None,
        partitions: Callable[[TableSchema | None], Collection[str]] | None = None,
        everything: bool = False,
        is_new: bool = False,
        stream: tuple[str, int] | None = None,
        position: int | None = None,
        schema: TableSchema | None = None,
        check: Callable[[], TableSchema | None] | None = None,
    ) -> bool:
        """Adds files to the table, and removes others, as a whole.

        Args:
            added: Files that tasks have written, of one attempt of each task.
            operation: What the log calls the commit.
            existing: Files to remove. It is an error if one of them has changed.
            partitions: Gives the folders whose files are removed, by their paths in the table, for the schema that the
                table has after the commit.
            everything: Whether all files of the folder of the job are removed.
            is_new: Whether it is an error if the folder of the job has files.
            stream: Id of a stream and number of its batch.
            position: The position of the log at which the caller has looked at the table.
            schema: The schema of the table after the commit; ``None`` where it stays.
            check: Looks at the table once more, and gives the schema for that state. It is called if other commits have
                come first since ``position``.

        Returns:
            Whether the files are in the table: false if the batch of the stream was committed before.

        Raises:
            UnfinishedCommitError: The commit is decided and not finished; the next writer finishes it. Or it is not
                known whether the commit is decided.
            CommitError: Another commit is not finished and cannot be, or has changed files of ``existing``. The table
                is unchanged.
            FileExistsError: There are files, with ``is_new``.
            ValueError: Files that are to be removed are not those of the table alone, or the job belongs to another
                process.
            OSError: The commit is not decided; the table is unchanged.
        """
        self.check_process()
        files = list(added)
        outcome = "outdated"
        while outcome == "outdated":
            outcome, now = self.log().commit(
                self.id,
                operation,
                [file.token for file in files],
                sum(file.rows for file in files),
                existing=None if existing is None else list(existing),
                partitions=None if partitions is None else sorted(partitions(schema)),
                everything=self.inside if everything else None,
                nothing=self.inside if is_new else None,
                stream=stream,
                position=position,
                schema=None if schema is None else (schema.file, schema.partition),
            )
            if outcome == "outdated":
                position = now
                if check is not None:
                    schema = check()
        if outcome == "before":
            self.give_up(files)
        return outcome == "committed"

    @contextlib.contextmanager
    def cleaned_up(self) -> Iterator[list[Staged]]:
        """Gives a list for staged files, which are removed after an exception, unless the commit may be decided.

        A child of a fork removes nothing: the files are those of its parent.
        """
        staged: list[Staged] = []
        try:
            yield staged
        except UnfinishedCommitError:
            raise
        except BaseException:
            if self.is_own:
                self.give_up(staged)
            raise

    def give_up(self, written: Iterable[Staged] = ()) -> None:
        """Like :meth:`abort`, but ignores errors. Files that cannot be removed stay until they are vacuumed."""
        with contextlib.suppress(OSError):
            self.abort(written)

    def abort(self, written: Iterable[Staged] = ()) -> None:
        """Removes the staged files of the job. Files of a commit that is decided stay.

        Args:
            written: Known files. In a store, parts of other files stay until the rules of the store remove unfinished
                uploads.

        Raises:
            ValueError: The job belongs to another process.
            OSError: A file cannot be removed.
        """
        self.check_process()
        self.log().abandon(self.id, [file.token for file in written])


def is_in_partition(name: str) -> bool:
    """Whether a file, given by its path in the table, is in the folder of the table or of a partition."""
    return len(_native.partitions_of(name)) == name.count("/")


def check_own_files(root: str, names: Iterable[str], there: Collection[str], fate: str) -> None:
    """Checks that files that readers see are those of their table alone. Those in folders that are no partitions, and
    those behind links to folders, may be files of other tables, or of a format of tables with folders of its own.

    Args:
        root: The table.
        names: The files that readers see, by their paths in it.
        there: The files below its folder.
        fate: What does not become of such a file, and what to do, for the message.

    Raises:
        CommitError: A file is gone, or behind a link to a folder.
        ValueError: A file is in a folder that is no partition.
    """
    for name in names:
        place = f"{display_name(root)}/{name}"
        if name not in there:
            raise CommitError(f"{place}: the file is gone, or behind a link to a folder; the table is unchanged")
        if not is_in_partition(name):
            raise ValueError(f"{place}: the file is in a folder that is no partition, {fate}")
