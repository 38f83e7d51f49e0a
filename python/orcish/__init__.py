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

Names are loaded when they are asked for first, so that the import takes little time. Exceptions are in
:mod:`orcish.errors`, and types of arguments and results in :mod:`orcish.types`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from orcish.lazy import lazy_names
from orcish.process import begin_command

if TYPE_CHECKING:
    from orcish import errors as errors
    from orcish import types as types
    from orcish._native import __version__
    from orcish.advising.advise import advise
    from orcish.carbon.table import CarbonFile, CarbonTable
    from orcish.comparing.diff import diff
    from orcish.datasets.opening import dataset
    from orcish.errors import CorruptFileError, LimitExceededError, OrcishError, UnknownColumnError, UnsupportedError
    from orcish.filters.expression import Expression, col
    from orcish.glance import count_rows, head, open_async, read_metadata, read_schema, sample, tail
    from orcish.polars import scan_polars
    from orcish.reading.file import ORCFile
    from orcish.reading.scan import Scan
    from orcish.scanning import read_table, scan
    from orcish.tables.compact import compact
    from orcish.tables.convert import convert
    from orcish.tables.delete import delete
    from orcish.tables.log.history import history
    from orcish.tables.recovery import recover, vacuum
    from orcish.tables.write import write_dataset
    from orcish.writing.recovery import recover_file
    from orcish.writing.writer import ORCWriter, merge, write_table

begin_command()

__all__ = [
    "CarbonFile",
    "CarbonTable",
    "CorruptFileError",
    "Expression",
    "LimitExceededError",
    "ORCFile",
    "ORCWriter",
    "OrcishError",
    "Scan",
    "UnknownColumnError",
    "UnsupportedError",
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

_HOMES = {
    "orcish._native": ("__version__",),
    "orcish.advising.advise": ("advise",),
    "orcish.carbon.table": ("CarbonFile", "CarbonTable"),
    "orcish.comparing.diff": ("diff",),
    "orcish.datasets.opening": ("dataset",),
    "orcish.errors": (
        "CorruptFileError",
        "LimitExceededError",
        "OrcishError",
        "UnknownColumnError",
        "UnsupportedError",
    ),
    "orcish.filters.expression": ("Expression", "col"),
    "orcish.glance": ("count_rows", "head", "open_async", "read_metadata", "read_schema", "sample", "tail"),
    "orcish.polars": ("scan_polars",),
    "orcish.reading.file": ("ORCFile",),
    "orcish.reading.scan": ("Scan",),
    "orcish.scanning": ("read_table", "scan"),
    "orcish.tables.compact": ("compact",),
    "orcish.tables.convert": ("convert",),
    "orcish.tables.delete": ("delete",),
    "orcish.tables.log.history": ("history",),
    "orcish.tables.recovery": ("recover", "vacuum"),
    "orcish.tables.write": ("write_dataset",),
    "orcish.writing.recovery": ("recover_file",),
    "orcish.writing.writer": ("ORCWriter", "merge", "write_table"),
}
"""Names by the modules that define them, as the imports for type checkers have them."""
_MODULES = ("encryption", "errors", "types")
"""Modules of public names."""
_OPTIONAL = ("dask", "ray", "spark")
"""Modules that need other packages, and are names as soon as they are imported."""

if not TYPE_CHECKING:  # Type checkers would take any name for one that is there.

    def __dir__() -> list[str]:
        return sorted({*__all__, *(name for name in globals() if name.startswith("__")), *_MODULES, *_OPTIONAL})

    def _missing(name: str) -> AttributeError:
        if name.startswith("_"):
            # Imports of modules ask for their names first.
            return AttributeError(f"module 'orcish' has no attribute {name!r}")
        from orcish.hints import MODULE, missing_attribute

        words = {**MODULE}
        if name[0].isupper():
            from orcish import errors, types

            words |= {
                each.lower(): f"{module.__name__}.{each}" for module in (errors, types) for each in module.__all__
            }
        return missing_attribute("module 'orcish'", name, words, __all__)

    __getattr__ = lazy_names(globals(), _HOMES, _missing, _MODULES)
