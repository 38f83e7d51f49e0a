"""Files of Parquet whose timestamps have their true values.

Timestamps of type INT96 are a day and its nanoseconds, and have no unit. pyarrow reads them with any unit, and drops
the bits of values that a unit does not hold.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from orcish.errors import UnsupportedError

__all__ = ["BATCH_SIZE", "open_parquet"]

BATCH_SIZE = 65_536
FINE, COARSE = "ns", "us"
"""The units that timestamps of INT96 get: one that holds all digits, or one that holds all years."""
SECOND = 10**9
SECONDS = {unit: (-(2**63) // count, (2**63 - 1) // count) for unit, count in ((FINE, SECOND), (COARSE, 10**6))}
"""The first and the last second of which a unit holds values."""


def open_parquet(file: Any, columns: list[str] | None, *, coarse: bool = False) -> tuple[Any, str | None]:
    """A reader of a file, and the unit of its timestamps of INT96, if there are any. The unit is nanoseconds if these
    hold all values, and else microseconds. All values are looked at before.

    Args:
        file: The file.
        columns: The columns that are read; all by default.
        coarse: Whether the unit is microseconds, as it is that of other files.

    Raises:
        UnsupportedError: The unit does not hold all values.
    """
    from pyarrow import parquet

    plain = parquet.ParquetFile(file)
    leaves = [plain.schema.column(at) for at in range(len(plain.schema))]
    paths = [leaf.path for leaf in leaves if leaf.physical_type == "INT96"]
    if not paths:
        return plain, None
    # Seconds hold all values. The bits that nanoseconds keep tell the digits below seconds.
    whole, fine = (_with_unit(file, plain, unit) for unit in ("s", FINE))
    fields = [own for own, other in zip(whole.schema_arrow, fine.schema_arrow, strict=True) if own.type != other.type]
    names = [field.name for field in fields if columns is None or field.name in columns]
    used = [path for path in paths if any(path == name or path.startswith(f"{name}.") for name in names)]
    far, exact = _needs(whole, fine, used) if used else (None, None)
    if exact is not None and (far is not None or coarse):
        others = "other files have" if far is None else "the file has" if far == exact else f"column {far!r} has"
        raise UnsupportedError(
            f"column {exact!r} has timestamps of INT96 with digits beyond microseconds, and {others} timestamps beyond "
            "the years from 1677 to 2262: no unit holds both: convert files and columns one by one"
        )
    unit = COARSE if coarse or far is not None else FINE
    return _with_unit(file, plain, unit), unit


def _with_unit(file: Any, plain: Any, unit: str) -> Any:
    from pyarrow import parquet

    return parquet.ParquetFile(file, metadata=plain.metadata, coerce_int96_timestamp_unit=unit)


def _needs(whole: Any, fine: Any, paths: list[str]) -> tuple[str | None, str | None]:
    """A column with values that nanoseconds do not hold, and one with digits that microseconds do not have.

    Args:
        whole: The file with seconds.
        fine: The file with nanoseconds.
        paths: The columns.

    Raises:
        UnsupportedError: Microseconds do not hold a value.
    """
    far: str | None = None
    exact: str | None = None
    both = (reader.iter_batches(BATCH_SIZE, columns=paths) for reader in (whole, fine))
    for a, b in zip(*both, strict=True):
        for name, seconds, bits in _leaves(a, b):
            if not _holds(COARSE, seconds):
                raise UnsupportedError(f"column {name!r} has a timestamp of INT96 of a year that no unit holds")
            is_negative = (pc.less(each, 0) for each in (seconds, bits))
            if not (_holds(FINE, seconds) and _all(pc.equal(*is_negative))):
                far = far or name
            digits = pc.subtract(bits, pc.multiply(seconds, SECOND))
            if not _all(pc.equal(pc.multiply(pc.divide(digits, 1000), 1000), digits)):
                exact = exact or name
    return far, exact


def _leaves(a: pa.RecordBatch, b: pa.RecordBatch) -> Iterator[tuple[str, pa.Array, pa.Array]]:
    """The values, as integers, of the columns of two batches that have different units: each with the name of the
    column.
    """
    pending = [*zip(a.schema.names, a.columns, b.columns, strict=True)]
    while pending:
        name, one, other = pending.pop()
        if one.type == other.type:
            continue
        if pa.types.is_timestamp(one.type):
            yield name, one.cast(pa.int64()), other.cast(pa.int64())
        elif pa.types.is_struct(one.type):
            pending += [(name, *children) for children in zip(one.flatten(), other.flatten(), strict=True)]
        else:
            pending.append((name, one.flatten(), other.flatten()))


def _holds(unit: str, seconds: pa.Array) -> bool:
    """Whether a unit holds values of some seconds; of the first and the last second, some values of nanoseconds."""
    first, last = SECONDS[unit]
    if unit == COARSE:
        first, last = first + 1, last - 1
    return _all(pc.and_(pc.greater_equal(seconds, first), pc.less_equal(seconds, last)))


def _all(found: pa.Array) -> bool:
    return bool(pc.all(found, min_count=0).as_py())
