"""Files of a table that have texts of limited length in some files only: no verb pads or refuses the others."""

import itertools
import pathlib
from collections.abc import Callable
from typing import Any

import orcish
import pyarrow as pa
from support.processes import Run

TYPES = {"char(3)": "x", "char(5)": "xy", "varchar(4)": "long", "string": "b ", "large": "a longer text"}
"""Types of a column, and a text that they hold."""


def write(kind: str, path: pathlib.Path) -> None:
    metadata = {"orc.type": kind} if "(" in kind else None
    arrow = pa.large_string() if kind == "large" else pa.string()
    schema = pa.schema([pa.field("a", arrow, metadata=metadata), pa.field("s", pa.struct([("t", pa.string())]))])
    orcish.write_table(pa.table([pa.array([TYPES[kind], None], arrow), [None, {"t": "c"}]], schema=schema), path)


def texts(source: Any) -> list[str | None]:
    return [None if text is None else str(text) for text in orcish.read_table(source)["a"].to_pylist()]


def test_texts_are_not_changed(tmp_path: pathlib.Path, run: Run) -> None:
    verbs: dict[str, Callable[[str, pathlib.Path], object]] = {
        "write_table of a scan": lambda table, target: orcish.write_table(orcish.scan(table), target),
        "write_dataset of a scan": lambda table, target: orcish.write_dataset(orcish.scan(table), target),
        "write_table of a dataset": lambda table, target: orcish.write_table(orcish.dataset(table), target),
        "write_table of a table": lambda table, target: orcish.write_table(
            orcish.read_table(table), target, verify=True
        ),
        "convert": lambda table, target: orcish.convert(table, target),
        "orcish convert": lambda table, target: run("convert", table, f"{target}.orc"),
        "orcish rewrite": lambda table, target: run("rewrite", table, "-o", target),
    }
    changed = []
    for first, second in itertools.permutations(TYPES, 2):
        table = tmp_path / f"{first} {second}"
        table.mkdir()
        write(first, table / "1.orc")
        write(second, table / "2.orc")
        expected = texts(table)
        for name, verb in verbs.items():
            target = tmp_path / f"{first} {second} {name}"
            verb(str(table), target)
            found = texts(target if target.exists() else f"{target}.orc")
            if found != expected:
                changed.append((first, second, name, found, expected))
        orcish.compact(table)
        if texts(table) != expected:
            changed.append((first, second, "compact", texts(table), expected))
    assert changed == []


def test_the_type_that_all_files_have_stays(tmp_path: pathlib.Path) -> None:
    for number in range(2):
        write("char(3)", tmp_path / f"{number}.orc")
    assert orcish.scan(tmp_path).schema.field("a").metadata == {b"orc.type": b"char(3)"}
    write("varchar(4)", tmp_path / "2.orc")
    assert orcish.scan(tmp_path).schema.field("a").metadata is None
