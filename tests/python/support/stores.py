"""The kinds of stores that tables are tested on, all through the same few names.

A kind is a context manager in :data:`KINDS`. Its store is one folder that is empty at first.
"""

from __future__ import annotations

import contextlib
import dataclasses
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from pathlib import Path

from support.azure_store import CONTAINER, run_azurite
from support.gcs_store import run_gcs
from support.s3_store import run_store
from support.servers import UnavailableError

__all__ = ["KINDS", "RunningStore", "UnavailableError"]

Options = Mapping[str, str | int | bool]


@dataclasses.dataclass(frozen=True)
class RunningStore:
    """A store with one folder for tests."""

    base: str
    """Path or URL of the folder, without a trailing slash."""
    options: Options
    """Storage options."""
    objects: Callable[[], list[str]]
    """Names of all files below the folder, as the store tells without orcish."""
    uploads: Callable[[], list[str]] | None
    """Names of the files below the folder of which uploads are not completed; ``None`` where staged files are files."""
    lose: Callable[[str], None]
    """Removes the staged bytes of the file that is to have a name below the folder, as time does."""
    clear: Callable[[], None]
    """Removes everything."""
    can_discard: bool = True
    """Whether a staged file that was given up can never be published."""
    has_separate_uploads: bool = True
    """Whether staged files of one name do not affect each other."""

    def left_over(self) -> list[str]:
        """What is staged: files of jobs, and uploads."""
        return sorted([name for name in self.objects() if "_orcish/jobs/" in name] + (self.uploads or list)())


@contextlib.contextmanager
def local() -> Iterator[RunningStore]:
    """A folder of a local disk."""
    with tempfile.TemporaryDirectory() as folder:
        base = Path(folder).resolve() / "shelf"

        def objects() -> list[str]:
            return sorted(path.relative_to(base).as_posix() for path in base.rglob("*") if path.is_file())

        def lose(name: str) -> None:
            # The name of a file has that of the folder of its task.
            staged = [path for path in base.rglob("_orcish/jobs/*/*/*") if path.parent.name in name]
            assert len(staged) == 1
            staged[0].unlink()

        def clear() -> None:
            shutil.rmtree(base, ignore_errors=True)
            base.mkdir()

        clear()
        yield RunningStore(str(base), {}, objects, None, lose, clear)


@contextlib.contextmanager
def s3() -> Iterator[RunningStore]:
    """S3, as moto's server has it."""
    with run_store() as store:

        def uploads() -> list[str]:
            return [key for key, _ in store.uploads()]

        def lose(name: str) -> None:
            for key, id in store.uploads():
                if key == name:
                    store.client.abort_multipart_upload(Bucket="shelf", Key=key, UploadId=id)

        yield RunningStore("s3://shelf", store.options, store.objects, uploads, lose, store.clear)


@contextlib.contextmanager
def azure() -> Iterator[RunningStore]:
    """Azure, as Azurite has it."""
    with run_azurite() as store:
        calls = (store.objects, store.uploads, store.lose, store.clear)
        yield RunningStore(f"az://{CONTAINER}", store.options, *calls, can_discard=False, has_separate_uploads=False)


@contextlib.contextmanager
def gcs() -> Iterator[RunningStore]:
    """Google Cloud Storage, as fake-gcs-server and ``support.gcs_store`` have it."""
    with run_gcs() as store:
        yield RunningStore("gs://shelf", store.options, store.objects, store.uploads, store.lose, store.clear)


KINDS: dict[str, Callable[[], AbstractContextManager[RunningStore]]] = {
    "local": local,
    "s3": s3,
    "azure": azure,
    "gcs": gcs,
}
"""The kinds by name. Entering one raises :class:`UnavailableError` where it cannot be had."""
