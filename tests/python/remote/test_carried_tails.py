"""Tails that are carried along, and files that another one has replaced since: splits, pickled files, fragments of
datasets, tasks of Spark, dask and Ray. Rows and answers are those of the file that was opened, or there is an error.
"""

from __future__ import annotations

import email.utils
import io
import itertools
import os
import pickle
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

import fsspec
import numpy as np
import orcish
import orcish.dask
import pyarrow as pa
import pytest
from fsspec.implementations.memory import MemoryFileSystem
from orcish import col
from support.far_system import FarSystem
from support.file_systems import obstore_s3, s3
from support.http_server import serve
from support.random_cases import pairs_of
from support.s3_store import BUCKET

REPLACED = "the file was replaced"


def data(first: int, rows: int = 4000, **options: Any) -> bytes:
    """A file with ids from ``first``, in some stripes."""
    file = io.BytesIO()
    table = pa.table({"id": range(first, first + rows), "x": np.random.default_rng(1).random(rows)})
    orcish.write_table(table, file, **{"stripe_size": 8000, "compression": "none", "row_index_stride": 1000, **options})
    return file.getvalue()


OLD = data(10_000)
NEW: dict[str, bytes | None] = {
    "same layout": data(20_000),
    "other layout": data(20_000, compression="zstd", stripe_size=12_000),
    "shorter": data(20_000, 100),
    "removed": None,
}
assert len(NEW["same layout"] or b"") == len(OLD)


class Place(NamedTuple):
    """Where a file is."""

    path: Any
    options: dict[str, Any]
    """Keywords of functions that read it."""
    put: Callable[[bytes | None], object]
    """Replaces the file, or removes it."""


def local(folder: Path, replace: Callable[[Path, bytes], object]) -> Place:
    """A file of the local disk."""
    path = folder / "a.orc"
    path.write_bytes(OLD)
    # The clock of files may not tell two writes apart that follow each other.
    os.utime(path, ns=(1, 1))
    return Place(str(path), {}, lambda new: path.unlink() if new is None else replace(path, new))


def renamed(path: Path, new: bytes) -> None:
    """Another file gets the name."""
    other = path.with_suffix(".new")
    other.write_bytes(new)
    other.replace(path)


def same_time(path: Path, new: bytes) -> None:
    """Another file gets the name, with the time of the first one."""
    renamed(path, new)
    os.utime(path, ns=(1, 1))


def written_over(path: Path, new: bytes) -> None:
    """The file gets other bytes."""
    path.write_bytes(new)


def http(stack: ExitStack, *, etags: bool) -> Place:
    """A file of a server that states ETags, or times only."""
    server = stack.enter_context(serve({"/a.orc": OLD}, etags=etags))
    changed = [time.time() - 3600]

    def put(new: bytes | None) -> None:
        changed[0] += 60
        server.files.pop("/a.orc")
        if new is not None:
            server.files["/a.orc"] = new

    if not etags:
        end = server.RequestHandlerClass.end_headers

        class Timed(server.RequestHandlerClass):  # type: ignore[name-defined,misc]
            def end_headers(self) -> None:
                self.send_header("Last-Modified", email.utils.formatdate(changed[0], usegmt=True))
                end(self)

        server.RequestHandlerClass = Timed
    return Place(f"{server.url}/a.orc", {}, put)


def of_store(store: Any, path: str, **options: Any) -> Place:
    """An object of S3."""

    def put(new: bytes | None) -> None:
        if new is None:
            store.client.delete_object(Bucket=BUCKET, Key="a.orc")
        else:
            store.client.put_object(Bucket=BUCKET, Key="a.orc", Body=new)

    put(OLD)
    return Place(path, options, put)


def of_fsspec(system: Any) -> Place:
    """A file of fsspec."""

    def put(new: bytes | None) -> None:
        system.rm_file("/a.orc") if new is None else system.pipe_file("/a.orc", new)

    system.store.clear()
    put(OLD)
    return Place("/a.orc", {"filesystem": system}, put)


PLACES: dict[str, Callable[[Path, Any, ExitStack], Place]] = {
    "local": lambda path, _, __: local(path, renamed),
    "local, same time": lambda path, _, __: local(path, same_time),
    "local, written over": lambda path, _, __: local(path, written_over),
    "HTTP": lambda _, __, stack: http(stack, etags=True),
    "HTTP without ETags": lambda _, __, stack: http(stack, etags=False),
    "S3": lambda _, store, __: of_store(store, f"s3://{BUCKET}/a.orc", storage_options=store.options),
    "asynchronous": lambda _, __, ___: of_fsspec(FarSystem()),
    "memory": lambda _, __, ___: of_fsspec(MemoryFileSystem()),
    "S3FileSystem": lambda _, store, __: of_store(store, f"{BUCKET}/a.orc", filesystem=s3(store)),
    "S3Store": lambda _, store, __: of_store(store, "a.orc", filesystem=obstore_s3(store)),
}
LOCAL = [name for name in PLACES if name.startswith("local")]

Later = Callable[[], Any]
"""Reads what was carried."""


def ids(rows: pa.Table) -> list[int]:
    return rows["id"].to_pylist()  # type: ignore[no-any-return]


def splits(place: Place) -> Later:
    carried = pickle.dumps(orcish.scan(place.path, **place.options).splits(20_000))
    return lambda: [at for split in pickle.loads(carried) for at in ids(split.scan().to_table())]


def pruned_split(place: Place) -> Later:
    scan = orcish.scan(place.path, filters=col("id") < 11_000, **place.options)
    (split,) = pickle.loads(pickle.dumps(scan.splits()))
    return lambda: ids(split.scan().to_table())


def pickled_file(place: Place) -> Later:
    carried = pickle.dumps(orcish.ORCFile(place.path, **place.options))
    return lambda: ids(pickle.loads(carried).read(columns=["id"]))


def tail(place: Place) -> Later:
    carried = orcish.ORCFile(place.path, **place.options).tail_bytes()
    return lambda: ids(orcish.ORCFile(place.path, tail=carried, **place.options).read())


def fragments(place: Place) -> Later:
    carried = pickle.dumps(list(orcish.dataset(place.path, **place.options).get_fragments()))
    return lambda: [at for fragment in pickle.loads(carried) for at in ids(fragment.to_table())]


def dask_frame(place: Place) -> Later:
    cloudpickle = pytest.importorskip("cloudpickle")
    dask = pytest.importorskip("dask")
    frame = orcish.dask.read(place.path, **place.options)
    # The frame itself is one object in a process.
    carried = cloudpickle.dumps((dict(frame.__dask_graph__()), frame.__dask_keys__()))
    return lambda: [at for part in dask.get(*pickle.loads(carried)) for at in part["id"].to_list()]


def ray_tasks(place: Place) -> Later:
    ray = pytest.importorskip("ray", reason="Ray is not installed")
    from orcish.ray.datasource import OrcDatasource

    tasks = OrcDatasource(orcish.scan(place.path, **place.options)).get_read_tasks(1)
    carried = ray.cloudpickle.dumps(tasks)
    return lambda: [at for task in pickle.loads(carried) for block in task() for at in ids(block)]


def spark_tasks(place: Place) -> Later:
    pytest.importorskip("pyspark", reason="Spark is not installed")
    from orcish.spark.options import TableOptions
    from orcish.spark.table import SparkTable

    given = place.options.get("storage_options", {}).items()
    storage = {key: str(value) for key, value in given if not key.startswith("orcish.")}
    tasks = SparkTable.open(TableOptions.of({"path": place.path, **storage})).task_inputs()
    return lambda: [at for task in tasks for batch in task.batches() for at in batch["id"].to_pylist()]


def minimum(place: Place) -> Later:
    carried = pickle.dumps(orcish.scan(place.path, **place.options).splits())
    return lambda: [split.scan().min("id") for split in pickle.loads(carried)]


def count(place: Place) -> Later:
    """Answers that are those of the tail alone."""
    carried = pickle.dumps(orcish.scan(place.path, **place.options).splits())

    def later() -> list[int]:
        (split,) = pickle.loads(carried)
        scan = split.scan()
        return [scan.count(), scan.where(col("id") >= 20_000).count()]

    return later


ALL = list(range(10_000, 14_000))
CARRIERS: dict[str, tuple[Callable[[Place], Later], list[int]]] = {
    "splits": (splits, ALL),
    "pruned split": (pruned_split, ALL[:1000]),
    "pickled file": (pickled_file, ALL),
    "tail": (tail, ALL),
    "fragments": (fragments, ALL),
    "dask": (dask_frame, ALL),
    "Ray": (ray_tasks, ALL),
    "Spark": (spark_tasks, ALL),
    "minimum": (minimum, ALL[:1]),
    "count": (count, [4000, 0]),
}


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    with ExitStack() as found:
        yield found


def check_numbers(kind: str, path: Path) -> None:
    """Skips a test for file systems in which the number of a file may change."""
    if kind == "local, same time" and os.major(path.stat().st_dev) == 0:
        pytest.skip("the files are on no device")


WITHOUT_URL = ("asynchronous", "memory", "S3FileSystem", "S3Store")
"""Places that Spark, which reads paths and URLs, has not."""
REPLACEMENTS = [
    each for each in itertools.product(PLACES, CARRIERS, NEW) if each[1] != "Spark" or each[0] not in WITHOUT_URL
]


@pytest.mark.parametrize(("kind", "carrier", "change"), pairs_of(REPLACEMENTS))
def test_a_file_that_was_replaced(
    kind: str, carrier: str, change: str, tmp_path: Path, store: Any, stack: ExitStack
) -> None:
    check_numbers(kind, tmp_path)
    (carry, expected), new = CARRIERS[carrier], NEW[change]
    place = PLACES[kind](tmp_path, store, stack)
    later = carry(place)
    assert later() == expected
    # Another time, with what was not opened before.
    later = carry(place)
    place.put(new)
    with pytest.raises(OSError, match=r"a\.orc") as error:
        later()
    if new is None:
        assert isinstance(error.value, FileNotFoundError)
    else:
        assert REPLACED in str(error.value)


@pytest.mark.parametrize("carrier", ["splits", "count"])
@pytest.mark.parametrize("kind", ["S3", "S3FileSystem", "S3Store"])
def test_an_object_that_is_written_again_with_the_same_bytes(
    kind: str, carrier: str, tmp_path: Path, store: Any, stack: ExitStack
) -> None:
    carry, expected = CARRIERS[carrier]
    place = PLACES[kind](tmp_path, store, stack)
    later = carry(place)
    place.put(OLD)
    assert later() == expected


def test_the_first_request_has_the_version(stack: ExitStack) -> None:
    """No request is made for the version alone, but where nothing is read."""
    server = stack.enter_context(serve({"/a.orc": OLD}, etags=True))
    (split,) = orcish.scan(f"{server.url}/a.orc").splits()
    server.log.clear()
    server.headers.clear()
    assert split.scan().to_table().num_rows == 4000
    assert {command for command, _ in server.log} == {"GET"}
    assert all(headers["If-Match"] for headers in server.headers)
    server.log.clear()
    assert pickle.loads(pickle.dumps(split)).scan().count() == 4000
    assert server.log == [("HEAD", None)]


@pytest.mark.parametrize("kind", LOCAL)
def test_a_scan_that_is_used_twice(kind: str, tmp_path: Path, store: Any, stack: ExitStack) -> None:
    """Its rows are those of one file, or there is an error."""
    check_numbers(kind, tmp_path)
    place = PLACES[kind](tmp_path, store, stack)
    scan = orcish.scan(place.path)
    assert (scan.count(), scan.min("id")) == (4000, 10_000)
    place.put(NEW["same layout"])
    if kind == "local, written over":
        with pytest.raises(OSError, match=rf"a\.orc: .*{REPLACED}"):
            scan.to_table()
    else:
        # The first file of a scan stays open.
        found = [ids(scan.to_table())[0], scan.where(col("id") >= 20_000).count(), scan.min("id")]
        assert found == [10_000, 0, 10_000]


def test_an_open_file_that_is_written_over(tmp_path: Path) -> None:
    place = local(tmp_path, written_over)
    file = orcish.ORCFile(place.path)
    place.put(NEW["other layout"])
    with pytest.raises(OSError, match=rf"a\.orc: .*{REPLACED}"):
        file.read()


def test_a_file_within_a_listing_that_was_replaced() -> None:
    """The length of a listing is that of the file that was there, and the new file is not damaged."""
    system = FarSystem()
    system.store.clear()
    system.pipe_file("/t/a.orc", OLD)
    system.pipe_file("/t/b.orc", OLD)
    # With a schema, a file is first opened when it is read.
    scan = orcish.scan("/t", schema=orcish.scan("/t", filesystem=system).schema, filesystem=system)
    system.pipe_file("/t/b.orc", NEW["shorter"])
    with pytest.raises(OSError, match=rf"b\.orc: {REPLACED}"):
        scan.to_table()


def test_a_copy_with_the_same_time_in_another_place(tmp_path: Path) -> None:
    """Machines of a cluster may have copies of a file."""
    place = local(tmp_path, renamed)
    carried = orcish.ORCFile(place.path).tail_bytes()
    path = Path("/dev/shm" if os.path.isdir("/dev/shm") else tmp_path) / f"orcish-{os.getpid()}.orc"
    if os.stat(path.parent).st_dev == os.stat(tmp_path).st_dev:
        pytest.skip("there is no other device")
    try:
        shutil.copy2(place.path, path)
        assert orcish.ORCFile(path, tail=carried).read().num_rows == 4000
    finally:
        path.unlink(missing_ok=True)


def test_tails_without_a_version(tmp_path: Path) -> None:
    """Those of a source that states none, and of earlier versions of orcish, have the length of the file."""
    place = local(tmp_path, renamed)
    carried = orcish.ORCFile(OLD).tail_bytes()
    assert len(orcish.ORCFile(place.path).tail_bytes()) < len(carried) + 60
    for source in (place.path, OLD, io.BytesIO(OLD)):
        assert ids(orcish.ORCFile(source, tail=carried).read()) == ALL
    place.put(NEW["shorter"])
    for source in (place.path, NEW["shorter"], io.BytesIO(NEW["shorter"] or b"")):
        with pytest.raises(OSError, match=REPLACED):
            orcish.ORCFile(source, tail=carried).read()


def test_caches_of_fsspec(tmp_path: Path) -> None:
    """A cache may have an older version than its file system states."""
    system = FarSystem()
    system.store.clear()
    system.pipe_file("/a.orc", OLD)
    cached = fsspec.filesystem("simplecache", fs=system, cache_storage=str(tmp_path))
    (split,) = orcish.scan("/a.orc", filesystem=cached).splits()
    assert ids(split.scan().to_table()) == ALL
