"""Columns that are not there: one message, whichever verb is asked for one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import orcish
import pyarrow as pa
import pytest
from support.case_loops import each_case

# Names of which messages show escapes, and names that differ in case.
NAMES = ["id", "Id", "b\x1b[31mc\nd", 'q"x', "\x9b\u202e"]
VERBS: dict[str, Callable[[Path, str], Any]] = {
    "read": lambda path, name: orcish.read_table(path, columns=[name]),
    "filters": lambda path, name: orcish.read_table(path, filters=orcish.col(name) == 1),
    "scan": lambda path, name: orcish.scan(path, columns=[name]).to_table(),
    "dataset": lambda path, name: orcish.dataset(path).to_table(columns=[name]),
    "diff": lambda path, name: orcish.diff(path, path, key=[name]),
    "advise": lambda path, name: orcish.advise(path, lookup=[name]),
    "partitions": lambda path, name: orcish.write_dataset(
        orcish.read_table(path), path.with_name("table"), partition_by=[name]
    ),
    "bloom filters": lambda path, name: orcish.write_table(
        orcish.read_table(path), path.with_name("new.orc"), bloom_filter_columns=[name]
    ),
}


@each_case("name", ["idd", "x" * 10_000, "\x9b", ""])
def test_one_message(name: str, tmp_path: Path) -> None:
    path = tmp_path / "a.orc"
    orcish.write_table(pa.table({each: [1] for each in NAMES}), path)
    said = {}
    for verb, call in VERBS.items():
        with pytest.raises(orcish.UnknownColumnError) as raised:
            call(path, name)
        text = str(raised.value)
        said[verb] = text[text.index("no column is named") :]
        assert text.isprintable(), verb
    assert len(set(said.values())) == 1, said
