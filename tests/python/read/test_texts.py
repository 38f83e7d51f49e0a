"""Texts of objects for terminals and notebooks, which have no control characters of the names of files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import fsspec
import orcish
import pyarrow as pa
import pyarrow.compute
import pytest
from orcish.io.filesystem import in_file_system
from support.case_loops import each_case

NAME = "a\x1b[31m\u202e.orc"
TABLE = pa.table({"a": [1, 2, 3], "b\x1b[0m": [1, 2, 3]})


def closed(path: str) -> orcish.ORCFile:
    """A file that is closed."""
    with orcish.ORCFile(path) as file:
        return file


def writer(path: str) -> orcish.ORCWriter:
    """A writer that was closed."""
    with orcish.ORCWriter(path, TABLE.schema) as found:
        found.write(TABLE)
    return found


TEXTS: dict[str, Callable[[str], Any]] = {
    "file": orcish.ORCFile,
    "closed": closed,
    "scan": orcish.scan,
    "selected": lambda path: orcish.scan(path).where("a > 1").select("b\x1b[0m"),
    "splits": lambda path: orcish.scan(path).splits(),
    "explanation": lambda path: orcish.scan(path).where("a > 1").explain(),
    "skipped": lambda path: orcish.scan(path).where("a > 100").explain(),
    "dataset": orcish.dataset,
    "filtered": lambda path: orcish.dataset(path).filter(pa.compute.field("b\x1b[0m") > 1),
    "fragments": lambda path: list(orcish.dataset(path).get_fragments()),
    "writer": lambda path: writer(f"{path}.new"),
    "written": lambda path: orcish.write_table(TABLE, f"{path}.other"),
    "table": lambda path: orcish.write_dataset(TABLE, f"{path}.table"),
    "path": lambda path: in_file_system(path, fsspec.filesystem("memory"), None),
}


@each_case("kind", TEXTS)
def test_control_characters_are_escaped(kind: str, tmp_path: Path) -> None:
    path = str(tmp_path / NAME)
    orcish.write_table(TABLE, path)
    found = TEXTS[kind](path)
    texts = [repr(found), str(found), f"{found}"]
    if kind == "closed":
        with pytest.raises(ValueError, match="the file is closed") as error:
            found.schema  # noqa: B018
        texts.append(str(error.value))
    elif hasattr(found, "_repr_html_"):
        texts.append(found._repr_html_())
    for text in texts:
        assert "\x1b" not in text
        assert "\u202e" not in text
    if kind in ("file", "scan", "dataset", "explanation"):
        assert r"a\x1b[31m\u202e.orc" in texts[0]
