"""Values that an argument cannot have are errors about it, and never faults of the function that it is given to."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import re
import shutil
from collections.abc import AsyncGenerator, Callable, Iterator
from pathlib import Path
from typing import Any

import orcish
import pyarrow as pa
import pytest
from orcish.filters.expression import Column
from orcish.reading.scan import reader_of
from support.public_functions import CALLABLES, signature

BAD: list[Any] = [
    None,
    True,
    -1,
    2**70,
    "x",
    object(),
    [],
    b"",
    1.5,
    "\0",
    "\ud800",
    [None],
    [2**70],
    {1: 2},
    {"n": True},
]
ROWS = pa.table({"n": [1, 2, 3], "s": ["a", "b", "c"]})
CARBON = Path(__file__).parents[2] / "data" / "carbon" / "plain.carbondata"
OBJECTS: dict[str, Callable[[], Any]] = {
    "CarbonFile": lambda: orcish.CarbonFile(CARBON),
    "CarbonTable": lambda: orcish.CarbonTable(CARBON),
    "Column": lambda: orcish.col("n"),
    "Expression": lambda: orcish.col("n") == 1,
    "ORCFile": lambda: orcish.ORCFile("a.orc"),
    "ORCWriter": lambda: orcish.ORCWriter("out.orc", ROWS.schema),
    "Scan": lambda: orcish.scan("a.orc"),
}
GOOD: dict[str, Any] = {
    **dict.fromkeys(("a", "b", "source"), "a.orc"),
    **dict.fromkeys(("prefix", "suffix", "text", "pattern"), "a"),
    **dict.fromkeys(("data", "table"), ROWS),
    "batch": ROWS.to_batches()[0],
    "column": "n",
    "filters": "n = 1",
    "high": 2,
    "index": 0,
    "low": 1,
    "name": "n",
    "other": None,
    "path": CARBON,
    "schema": ROWS.schema,
    "sources": ["a.orc"],
    "tree": ("is_null", "n"),
    "values": [1],
}
"""Values of arguments without a default."""
MORE: dict[str, dict[str, Any]] = {
    "Scan.batch_size": {"rows": 1},
    "Scan.limit": {"rows": 1},
    "Scan.sample": {"rows": 1},
    "orcish.advise": {"runs": 1, "sample_size": 1000},
    "orcish.compact": {"rewrite": True},
    "orcish.sample": {"rows": 1},
}
TARGETS = dict.fromkeys(("ORCWriter", "orcish.merge", "orcish.write_table"), "out.orc")
TARGETS |= dict.fromkeys(("orcish.convert", "orcish.write_dataset"), "out")
"""What functions write, which is not there before. Others take a table."""
SAID = {
    **dict.fromkeys(("a", "b", "like", "sources"), "source"),
    **dict.fromkeys(("batch", "data", "table"), "table"),
    **dict.fromkeys(("high", "low", "prefix", "values"), "predicate"),
    **dict.fromkeys(("staging", "target"), "path"),
    **dict.fromkeys(("storage_options", "target_storage_options"), "storage option"),
}
"""What messages say in place of the name of an argument. Those of a method may have its name."""
ERRORS = (TypeError, ValueError, OSError, orcish.OrcishError)


def parameters(name: str) -> list[inspect.Parameter]:
    found = signature(CALLABLES[name]).parameters.values()
    return [each for each in found if each.name != "self" and each.kind != each.VAR_KEYWORD]


NAMES = [name for name in CALLABLES if not name.startswith(("orcish.ray", "orcish.spark")) and parameters(name)]


def used(name: str, **bad: Any) -> None:
    """Calls a function with good arguments, but for some, and does with the result what there is to do."""
    owner, _, method = name.rpartition(".")
    needed = {each.name for each in parameters(name) if each.default is each.empty}
    given = {key: found for key, found in GOOD.items() if key in needed} | MORE.get(name, {})
    if "target" in needed or owner == "ORCWriter":
        shutil.rmtree("out", ignore_errors=True)
        Path("out.orc").unlink(missing_ok=True)
    if "target" in needed:
        given["target"] = TARGETS.get(name, "out")
        if name not in TARGETS:
            shutil.copytree("t", "out")
    if name == "Scan":
        given["reader"] = reader_of(orcish.scan("a.orc"))
    made = OBJECTS[owner]() if owner in OBJECTS else None
    function = CALLABLES[name] if owner else getattr(orcish, name, Column)
    call = getattr(made, method) if made is not None else function
    if name == "Scan.select":
        consume(call(*bad.values()))
    elif name == "ORCWriter":
        with call(**given | bad) as writer:
            writer.write(ROWS)
    else:
        with made if owner == "ORCWriter" else contextlib.nullcontext():
            consume(call(**given | bad))


def consume(result: Any) -> None:
    if inspect.iscoroutine(result):
        consume(asyncio.run(result))
    elif isinstance(result, AsyncGenerator):
        asyncio.run(rows_of(result))
    elif isinstance(result, pa.RecordBatchReader):
        result.read_all()
    elif isinstance(result, Iterator):
        list(result)
    else:
        end = next((each for each in ("to_table", "collect", "compute", "schema") if hasattr(result, each)), None)
        repr(result if end is None else getattr(result, end))
        if end not in (None, "schema"):
            getattr(result, end)()


async def rows_of(batches: AsyncGenerator[Any, None]) -> list[Any]:
    return [batch async for batch in batches]


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    orcish.write_table(ROWS, "a.orc")
    orcish.write_dataset(ROWS, "t")


def is_wrong_type(parameter: inspect.Parameter, value: Any) -> bool:
    """Whether an argument is a number or cannot be ``None``, and the value is no number."""
    words = set(re.findall(r"\w+", str(parameter.annotation)))
    if value is None:
        return words.isdisjoint(("None", "Any", "object", "Tree")) and parameter.kind != parameter.VAR_POSITIONAL
    return value is True and not words.isdisjoint(("int", "float")) and words.isdisjoint(("bool", "Mapping"))


class WithoutText:
    """An object as one that was not initialized, whose text is an error."""

    def __repr__(self) -> str:
        raise AttributeError("no text")


PATHS = {"a", "b", "path", "source", "sources", "staging", "target"}
"""Arguments whose messages are those of the native module."""


@pytest.mark.parametrize("name", NAMES)
def test_values_without_a_text(name, files):
    """They are errors with a message, and not the error of the text."""
    for parameter in parameters(name):
        if parameter.name not in PATHS:
            try:
                used(name, **{parameter.name: WithoutText()})
            except ERRORS as error:
                str(error)


def test_the_message_of_a_value_without_a_text(files):
    with pytest.raises(
        TypeError, match=r"^limit=<unprintable WithoutText object>: must be an integer, not WithoutText$"
    ):
        orcish.read_table("a.orc", limit=WithoutText())


@pytest.mark.parametrize("name", NAMES)
def test_bad_values(name, files):
    used(name)
    faults = []
    for parameter in parameters(name):
        words = (parameter.name, SAID.get(parameter.name, parameter.name), name.rpartition(".")[2])
        for value in BAD:
            try:
                used(name, **{parameter.name: value})
                is_fault = is_wrong_type(parameter, value)
                error: Any = None
            except ERRORS as raised:
                error = raised
                is_said = not isinstance(error, TypeError) or any(word in str(error) for word in words)
                is_fault = not is_said or isinstance(error, orcish.errors.InternalError)
                is_fault |= is_wrong_type(parameter, value) and not isinstance(error, TypeError)
            except Exception as raised:
                is_fault, error = True, raised
            if is_fault:
                faults.append((parameter.name, value, error))
    assert not faults
