"""A file of the pack that several judges look at."""

from __future__ import annotations

import functools
import pathlib
from typing import Any

import pyarrow.orc

from support.conformance.pack import PACK
from support.filter_cases import Subject
from support.table_differences import outcome

MAX_ROWS = 20_000
"""Rows of a file that is compared value by value."""
NULL_KEYS = {
    "openlookeng+hetu-core/test-data-composites-with-nulls.orc": "list2.element.key",
    "Smith-Cruise+starrocks/map_decimal_date.lz4.orc": "col_map.key",
}
"""Files with null keys in maps, and the column; pyarrow ends the process for them."""


class Opened:
    """A file, with what is known of it, each thing found out once. Spark and a folder are for judges that need them."""

    def __init__(self, name: str, spark: Any, folder: pathlib.Path) -> None:
        self.name, self.spark, self.folder = name, spark, folder
        self.path = PACK / "files" / name
        keys = "dictionary" if name in NULL_KEYS else "error"
        self.subject = Subject(self.path, masked="allow", timestamp_out_of_range="null", null_map_keys=keys)

    @property
    def num_rows(self) -> int:
        return int(self.subject.file.num_rows)

    @property
    def is_struct(self) -> bool:
        return bool(self.subject.file.type_string.startswith("struct"))

    @property
    def has_names_twice(self) -> bool:
        paths = self.subject.file.column_paths
        return len({*paths}) < len(paths)

    @functools.cached_property
    def cpp(self) -> Any:
        """The file as pyarrow opens it."""
        return pyarrow.orc.ORCFile(self.path)

    @functools.cached_property
    def cpp_rows(self) -> Any:
        """The table that pyarrow reads, or its exception."""
        assert self.name not in NULL_KEYS
        return outcome(self.cpp.read)
