"""Files that another job removes while a job reads them."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator

from orcish.errors import CommitError, OrcishError
from orcish.io.names import display_name
from orcish.tables.log.listing import table_files
from orcish.types import Pending, Sources, StorageOptions

__all__ = ["are_gone", "reading"]


@contextlib.contextmanager
def reading(
    sources: Sources, storage: StorageOptions | None, locations: Iterable[str], *errors: type[Exception]
) -> Iterator[None]:
    """Makes a conflict of the errors with which the files of a table are read, if one of the files is gone.

    Args:
        sources: What was listed.
        storage: Options of the store.
        locations: The files that were found.
        errors: Further classes of errors with which files may be read.

    Raises:
        CommitError: A file was removed after it was listed, as by a commit of another job.
    """
    causes: tuple[type[Exception], ...] = (OSError, OrcishError, *errors)
    try:
        yield
    except (CommitError, FileExistsError):
        raise
    except causes as error:
        gone = _first_gone(sources, storage, locations)
        if gone is None:
            raise
        raise CommitError(
            f"{display_name(gone)}: another job has removed the file meanwhile; nothing is changed: run it again"
        ) from error


def are_gone(
    sources: Sources, storage: StorageOptions | None, locations: Iterable[str], pending: Pending = "wait"
) -> bool:
    """Whether one of some files that were listed is not found any more.

    Raises:
        CommitError: The last commit of a table is not finished, and its files do not become visible.
    """
    return _first_gone(sources, storage, locations, pending) is not None


def _first_gone(
    sources: Sources, storage: StorageOptions | None, locations: Iterable[str], pending: Pending = "wait"
) -> str | None:
    """The first of some files that is not found any more; ``None`` if all are, or if that cannot be found out.

    Raises:
        CommitError: The last commit of a table is not finished, and its files do not become visible.
    """
    try:
        found = {file.location for file in table_files(sources, None, storage, pending).files}
    except CommitError:
        raise
    except (OSError, OrcishError, ValueError):
        return None
    return next((location for location in locations if location not in found), None)
