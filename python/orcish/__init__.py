"""Apache ORC files and Apache CarbonData tables, read straight into Apache Arrow; ORC files, written from it.

>>> import orcish
>>> table = orcish.read_table("orders.orc", columns=["id", "customer.name"])
>>> table.shape
(100, 2)
>>> file = orcish.ORCFile("orders.orc")
>>> sum(batch.num_rows for batch in file.iter_batches(columns=["id"]))
100

An :class:`ORCFile` is an Arrow stream: ``polars.DataFrame(file)``, ``duckdb.from_arrow(file)`` and
``pandas.DataFrame.from_arrow(file)`` read it directly.
"""

# ruff: noqa: E402 - the process is prepared before the imports that take time.

from __future__ import annotations

from typing import TYPE_CHECKING

from orcish.process import begin_command

begin_command()

# isort: split
from orcish._native import __version__
from orcish.advising.advise import advise
from orcish.advising.result import Advice, Lookups, Trial
from orcish.carbon.table import CarbonBlocklet, CarbonFile, CarbonSegment, CarbonTable
from orcish.comparing.diff import Differences, diff
from orcish.comparing.rows import Difference
from orcish.comparing.schemas import ColumnChange, MetadataChange
from orcish.dataset import dataset
from orcish.errors import (
    CommitError,
    CorruptFileError,
    InternalError,
    LimitExceededError,
    NullMapKeyError,
    OrcishError,
    UnfinishedCommitError,
    UnknownColumnError,
    UnsupportedError,
)
from orcish.filters.expression import Expression, col
from orcish.glance import count_rows, head, open_async, read_metadata, read_schema, sample, tail
from orcish.hints import MODULE, missing_attribute
from orcish.polars import scan_polars
from orcish.reading.explanation import Explanation
from orcish.reading.file import ORCFile
from orcish.reading.scan import Scan, Split
from orcish.scan import read_table, scan
from orcish.tables.compact import compact
from orcish.tables.compaction import CompactedFile
from orcish.tables.convert import convert
from orcish.tables.delete import delete
from orcish.tables.deletion import Deleted
from orcish.tables.log.history import Commit, history
from orcish.tables.recovery import recover, vacuum
from orcish.tables.write import write_dataset
from orcish.types import BloomFilter, ColumnStatistics, ColumnStorage, Finding, Progress, RowGroup, StripeInfo
from orcish.writing.dataset import WrittenFile
from orcish.writing.recovery import Lost, Recovered, recover_file
from orcish.writing.writer import ORCWriter, Written, merge, write_table

__all__ = [
    "Advice",
    "BloomFilter",
    "CarbonBlocklet",
    "CarbonFile",
    "CarbonSegment",
    "CarbonTable",
    "ColumnChange",
    "ColumnStatistics",
    "ColumnStorage",
    "Commit",
    "CommitError",
    "CompactedFile",
    "CorruptFileError",
    "Deleted",
    "Difference",
    "Differences",
    "Explanation",
    "Expression",
    "Finding",
    "InternalError",
    "LimitExceededError",
    "Lookups",
    "Lost",
    "MetadataChange",
    "NullMapKeyError",
    "ORCFile",
    "ORCWriter",
    "OrcishError",
    "Progress",
    "Recovered",
    "RowGroup",
    "Scan",
    "Split",
    "StripeInfo",
    "Trial",
    "UnfinishedCommitError",
    "UnknownColumnError",
    "UnsupportedError",
    "Written",
    "WrittenFile",
    "__version__",
    "advise",
    "col",
    "compact",
    "convert",
    "count_rows",
    "dataset",
    "delete",
    "diff",
    "head",
    "history",
    "merge",
    "open_async",
    "read_metadata",
    "read_schema",
    "read_table",
    "recover",
    "recover_file",
    "sample",
    "scan",
    "scan_polars",
    "tail",
    "vacuum",
    "write_dataset",
    "write_table",
]

if not TYPE_CHECKING:  # Type checkers would take any name for one that is there.

    def __dir__() -> list[str]:
        return sorted({*__all__, *(name for name in globals() if name.startswith("__")), "dask", "ray", "spark"})

    def __getattr__(name: str) -> None:
        raise missing_attribute("module 'orcish'", name, MODULE, __all__)
