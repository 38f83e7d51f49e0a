"""Commits of other jobs at each step of a change of a table."""

from __future__ import annotations

import contextlib
import functools
import io
import pathlib
import shutil
import sys
from collections.abc import Callable
from typing import Any

import orcish
import pyarrow as pa
from orcish.errors import CommitError
from orcish_cli import main
from support.case_loops import each_case
from support.random_cases import random_cases

PACKAGE = str(pathlib.Path(orcish.__file__).parent)
ROWS = pa.table({"id": pa.array(range(40), pa.int64()), "k": pa.array([at % 2 for at in range(40)], pa.int32())})
MORE = pa.table({"id": pa.array(range(100, 110), pa.int64()), "k": pa.array([at % 2 for at in range(10)], pa.int32())})

Change = Callable[[pathlib.Path], Any]


def rewritten(table: pathlib.Path) -> None:
    """A sort in place, which says of a conflict that the table was changed."""
    with contextlib.redirect_stderr(io.StringIO()) as messages:
        code = main(["rewrite", str(table), "--in-place", "--sort-by", "-id"])
    if code:
        text = messages.getvalue()
        assert "meanwhile" in text or "the file is gone" in text, text
        raise CommitError(text)


def converted(table: pathlib.Path) -> None:
    orcish.convert(table, table.parent / "copy", existing_data="overwrite")


VERBS: dict[str, Change] = {
    "delete": lambda table: orcish.delete(table, "id < 15"),
    "compact": lambda table: orcish.compact(table),
    "compact and rewrite": lambda table: orcish.compact(table, rewrite=True, compression="zlib"),
    "rewrite": rewritten,
    "append": lambda table: orcish.write_dataset(MORE, table, existing_data="append", partition_by=by(table)),
    "overwrite": lambda table: orcish.write_dataset(MORE, table, existing_data="overwrite", partition_by=by(table)),
    "convert": converted,
}
OTHERS: dict[str, Change] = {
    "delete": lambda table: orcish.delete(table, "id < 21"),
    "compact": lambda table: orcish.compact(table),
    "append": lambda table: orcish.write_dataset(MORE, table, existing_data="append", partition_by=by(table)),
    "overwrite": lambda table: orcish.write_dataset(
        MORE.slice(3), table, existing_data="overwrite", partition_by=by(table)
    ),
}


def by(table: pathlib.Path) -> list[str]:
    return ["k"] if table.name == "partitioned" else []


def made(folder: pathlib.Path, *, is_partitioned: bool, has_log: bool) -> pathlib.Path:
    """A table of some files."""
    table = folder / ("partitioned" if is_partitioned else "plain")
    for at in range(4):
        part = ROWS.slice(at * 10, 10)
        orcish.write_dataset(part, table, existing_data="append" if at else "error", partition_by=by(table))
    if not has_log:
        shutil.rmtree(table / "_orcish")
    return table


def ids(table: pathlib.Path) -> list[int]:
    return sorted(orcish.read_table(table)["id"].to_pylist())


def at_step(step: int, change: Callable[[], Any], other: Callable[[], Any]) -> int:
    """Runs a change, and another one when the first one has called some number of functions of the package. Gives the
    number of its calls.
    """
    calls = 0

    def count(frame: Any, event: str, _: Any) -> None:
        nonlocal calls
        if event == "call" and frame.f_code.co_filename.startswith(PACKAGE):
            calls += 1
            if calls == step:
                sys.setprofile(None)
                other()
                sys.setprofile(count)

    sys.setprofile(count)
    try:
        change()
    finally:
        sys.setprofile(None)
    # The number of calls differs a little from run to run.
    if calls < step:
        other()
    return calls


@each_case("has_log", [True, False])
@each_case("is_partitioned", [True, False])
@each_case("verb", VERBS)
def test_commits_of_others(verb: str, is_partitioned: bool, has_log: bool, tmp_path: pathlib.Path) -> None:
    """Whenever another job commits, a change is done as if it came before or after, or is refused with CommitError."""
    model = made(tmp_path / "model", is_partitioned=is_partitioned, has_log=has_log)
    change = VERBS[verb]
    steps = at_step(0, lambda: change(model), lambda: None)
    for case, random in random_cases(f"{verb} {is_partitioned} {has_log}", 5):
        name = random.choice(list(OTHERS))
        step = random.randint(1, steps)
        folder = tmp_path / str(case)
        table = made(folder, is_partitioned=is_partitioned, has_log=has_log)
        other = functools.partial(OTHERS[name], table)
        alone = made(folder / "alone", is_partitioned=is_partitioned, has_log=has_log)
        OTHERS[name](alone)
        after_other = ids(alone)
        is_refused = False
        try:
            at_step(step, functools.partial(change, table), other)
        except CommitError:
            is_refused = True
        if is_refused:
            assert ids(table) == after_other, (name, step)
        else:
            change(alone)
            both = made(folder / "both", is_partitioned=is_partitioned, has_log=has_log)
            change(both)
            OTHERS[name](both)
            assert ids(table) in (ids(alone), ids(both)), (name, step)
        assert not list((table / "_orcish" / "jobs").rglob("*.orc")), (name, step)
        shutil.rmtree(folder)
