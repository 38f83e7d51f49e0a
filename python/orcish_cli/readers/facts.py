"""Facts about readers of ORC files, with their sources: the content of ``facts.json``.

A fact is in the file only if it was seen in a run, in the source of the reader, or in its documentation. What is not in
the file is unknown. Runs of 2026-11: the libraries of ORC Java that a release contains, read the same files that
``tests/python/support/reader_files.py`` writes; so did pyarrow, ClickHouse and Spark themselves.
"""

from __future__ import annotations

import importlib.resources
import json
from typing import Any, Literal, NamedTuple

__all__ = ["FACTS", "READERS", "REQUIRED", "SOURCES", "Fact", "Reader", "Verdict"]

Verdict = Literal["yes", "no", "differs", "unknown"]
"""``differs``: the file is read, and values or columns are not those that were written."""


class Reader(NamedTuple):
    """A reader of ORC files."""

    id: str
    name: str
    """Its name and the version that the facts are about."""
    basis: str
    """How its facts were found, unless a fact has another source."""


class Fact(NamedTuple):
    """What a reader does with a feature."""

    verdict: Verdict
    note: str = ""
    source: str | None = None
    """A key of :data:`SOURCES`; that of the reader by default."""


_FILE: dict[str, Any] = json.loads(importlib.resources.files(__package__).joinpath("facts.json").read_bytes())

SOURCES: dict[str, str] = _FILE["sources"]
"""Sources by their keys: a link, or what was run."""
READERS = tuple(Reader(**each) for each in _FILE["readers"])
REQUIRED = tuple(_FILE["required"])
"""Beginnings of the ids of features that a reader has to know, so that what is unknown of them counts. Of other
features, what is unknown does not."""
FACTS: dict[str, dict[str, Fact]] = {
    feature: {
        reader: Fact(each["verdict"], each.get("note", ""), each.get("source"))
        for each in facts
        for reader in each["readers"].split()
    }
    for feature, facts in _FILE["facts"].items()
}
"""Facts by feature and reader."""
