"""Children of forks in the middle of a change, which go on with it."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import pathlib
import pickle
from collections.abc import Callable, Iterator
from typing import Any

import orcish
import pyarrow as pa
import pytest
from orcish.tables.commit import Job
from support.case_loops import each_case
from support.staged_commits import staged

SCHEMA = pa.schema([("id", pa.int64())])


def rows(step: Callable[[], None]) -> pa.RecordBatchReader:
    def batches() -> Iterator[pa.RecordBatch]:
        for at in range(3):
            step()
            yield pa.record_batch({"id": [100 + at]})

    return pa.RecordBatchReader.from_batches(SCHEMA, batches())


def empty(step: Callable[[], None]) -> pa.RecordBatchReader:
    """Rows of which there are none, so that no file is written before the fork."""

    def batches() -> Iterator[pa.RecordBatch]:
        step()
        step()
        yield from ()

    return pa.RecordBatchReader.from_batches(SCHEMA, batches())


CHANGES: dict[str, Callable[[pathlib.Path, Callable[..., None]], object]] = {
    "delete": lambda table, step: orcish.delete(table, "id in (1, 11, 21)", progress=step),
    "compact": lambda table, step: orcish.compact(table, target_file_size=1_000, progress=step),
    "rewrite": lambda table, step: orcish.compact(table, rewrite=True, progress=step),
    "append": lambda table, step: orcish.write_dataset(rows(step), table, existing_data="append"),
    "overwrite": lambda table, step: orcish.write_dataset(rows(step), table, existing_data="overwrite"),
    "overwrite with nothing": lambda table, step: orcish.write_dataset(empty(step), table, existing_data="overwrite"),
    "a new table": lambda table, step: orcish.write_dataset(rows(step), table.parent / "new"),
}


@each_case("when", [1, 2])
@each_case("change", CHANGES)
def test_a_child_that_goes_on(tmp_path: pathlib.Path, change: str, when: int) -> None:
    """Only the parent changes the table, whichever of the two is faster."""
    table = tmp_path / "t"
    for at in range(3):
        orcish.write_dataset(pa.table({"id": range(10 * at, 10 * at + 3)}), table, existing_data="append")
    before = len(orcish.history(table))
    receiver, sender = multiprocessing.Pipe(False)
    parent = os.getpid()
    child, steps = 0, 0

    def step(_: Any = None) -> None:
        nonlocal child, steps
        steps += 1
        if steps == when:
            child = os.fork()
            if child:
                # The child is done before the parent goes on.
                os.waitpid(child, 0)

    try:
        CHANGES[change](table, step)
    except BaseException as error:
        if os.getpid() == parent:
            raise
        sender.send(f"{type(error).__name__}: {error}")
    finally:
        if os.getpid() != parent:
            os._exit(0)
    assert child
    assert receiver.poll()
    assert f"by process {parent}: a child of a fork begins a" in receiver.recv()
    assert orcish.recover(table) == "nothing"
    made = tmp_path / "new" if change == "a new table" else table
    assert len(orcish.history(made)) == (1 if made != table else before + 1)
    jobs = made / "_orcish" / "jobs"
    assert [path for path in jobs.rglob("*") if path.is_file()] == []
    assert orcish.scan(made).count() == {"append": 12, "delete": 6, "compact": 9, "rewrite": 9}.get(
        change, 0 if change == "overwrite with nothing" else 3
    )


def test_a_job_belongs_to_a_process(tmp_path: pathlib.Path) -> None:
    """That which made it, or which unpickled it: Spark commits in another process than the one that plans."""
    job = Job(str(tmp_path))
    file = staged(job, [1])
    calls: list[Callable[[], object]] = [job.attempt, lambda: job.commit([file]), lambda: job.abort([file])]
    child = os.fork()
    if not child:
        # Nothing of the child is to run the tests again.
        try:
            for call in calls:
                with pytest.raises(ValueError, match=f"is being changed by process {os.getppid()}: a child"):
                    call()
            with contextlib.suppress(KeyError), job.cleaned_up() as written:
                written.append(file)
                raise KeyError
            other = pickle.loads(pickle.dumps(job))
            assert (other.base, other.id, other.is_own) == (job.base, job.id, True)
            assert other.commit([file])
            os._exit(0)
        finally:
            os._exit(1)
    assert os.waitpid(child, 0)[1] == 0
    assert orcish.read_table(tmp_path).num_rows == 1
