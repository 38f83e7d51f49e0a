"""Types of arguments and results.

Classes of results are loaded when they are asked for first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from orcish.encryption.columns import Encrypt, Masks
from orcish.encryption.keys import Keys
from orcish.hints import missing_attribute
from orcish.lazy import lazy_names
from orcish.types.arguments import (
    BinaryFile,
    ColumnName,
    Columns,
    DatasetOptions,
    ExistingData,
    ExistingFile,
    FileSystem,
    Filters,
    Limits,
    Matching,
    Pending,
    Progress,
    ProgressOption,
    ReadOptions,
    ScanOptions,
    SelectionOptions,
    Source,
    Sources,
    SparkReadOptions,
    SparkWriteOptions,
    StorageOptions,
    TableOptions,
    Target,
    ValueOptions,
    WritableFile,
    WriteOptions,
)

if TYPE_CHECKING:
    from orcish.advising.result import Advice, Lookups, Trial
    from orcish.carbon.table import CarbonBlocklet, CarbonSegment
    from orcish.comparing.result import ColumnChange, Difference, Differences, MetadataChange
    from orcish.reading.encryption import Encryption, EncryptionKey, EncryptionVariant, Mask
    from orcish.reading.explanation import Explanation
    from orcish.reading.scan import Split
    from orcish.tables.compaction import CompactedFile
    from orcish.tables.deletion import Deleted
    from orcish.tables.log.history import Commit
    from orcish.types.results import BloomFilter, ColumnStatistics, ColumnStorage, Finding, RowGroup, StripeInfo
    from orcish.writing.dataset import WrittenFile
    from orcish.writing.recovery import Lost, Recovered
    from orcish.writing.writer import Written

__all__ = [
    "Advice",
    "BinaryFile",
    "BloomFilter",
    "CarbonBlocklet",
    "CarbonSegment",
    "ColumnChange",
    "ColumnName",
    "ColumnStatistics",
    "ColumnStorage",
    "Columns",
    "Commit",
    "CompactedFile",
    "DatasetOptions",
    "Deleted",
    "Difference",
    "Differences",
    "Encrypt",
    "Encryption",
    "EncryptionKey",
    "EncryptionVariant",
    "ExistingData",
    "ExistingFile",
    "Explanation",
    "FileSystem",
    "Filters",
    "Finding",
    "Keys",
    "Limits",
    "Lookups",
    "Lost",
    "Mask",
    "Masks",
    "Matching",
    "MetadataChange",
    "Pending",
    "Progress",
    "ProgressOption",
    "ReadOptions",
    "Recovered",
    "RowGroup",
    "ScanOptions",
    "SelectionOptions",
    "Source",
    "Sources",
    "SparkReadOptions",
    "SparkWriteOptions",
    "Split",
    "StorageOptions",
    "StripeInfo",
    "TableOptions",
    "Target",
    "Trial",
    "ValueOptions",
    "WritableFile",
    "WriteOptions",
    "Written",
    "WrittenFile",
]

_HOMES = {
    "orcish.advising.result": ("Advice", "Lookups", "Trial"),
    "orcish.carbon.table": ("CarbonBlocklet", "CarbonSegment"),
    "orcish.comparing.result": ("ColumnChange", "Difference", "Differences", "MetadataChange"),
    "orcish.reading.encryption": ("Encryption", "EncryptionKey", "EncryptionVariant", "Mask"),
    "orcish.reading.explanation": ("Explanation",),
    "orcish.reading.scan": ("Split",),
    "orcish.tables.compaction": ("CompactedFile",),
    "orcish.tables.deletion": ("Deleted",),
    "orcish.tables.log.history": ("Commit",),
    "orcish.types.results": ("BloomFilter", "ColumnStatistics", "ColumnStorage", "Finding", "RowGroup", "StripeInfo"),
    "orcish.writing.dataset": ("WrittenFile",),
    "orcish.writing.recovery": ("Lost", "Recovered"),
    "orcish.writing.writer": ("Written",),
}
"""The results that other modules define, as the imports for type checkers have them."""


if not TYPE_CHECKING:  # Type checkers would take any name for one that is there.

    def __dir__() -> list[str]:
        return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})

    __getattr__ = lazy_names(
        globals(), _HOMES, lambda name: missing_attribute("module 'orcish.types'", name, {}, __all__)
    )
