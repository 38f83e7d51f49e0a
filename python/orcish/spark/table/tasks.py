"""Task inputs: splits that are grouped on the driver and read in a worker."""

from __future__ import annotations

import dataclasses
import pickle
import zlib
from collections.abc import Iterator, Sequence
from typing import Any, cast

import pyarrow as pa

from orcish.errors import OrcishError
from orcish.io.names import display_name
from orcish.reading.scan import Split, read_split
from orcish.spark.table.batches import BatchConverter

__all__ = ["TaskInput", "deserialize", "group_splits", "serialize"]

OPEN_BYTES = 4 << 20
"""Cost of opening a file, as bytes to read."""


@dataclasses.dataclass(frozen=True)
class TaskInput:
    """The splits that a task reads, with the tails of their files; serialized."""

    data: bytes
    rows: int
    size: int

    @classmethod
    def of(cls, splits: Sequence[Split], shape: BatchConverter) -> TaskInput:
        """Serializes splits."""
        return cls(
            serialize((list(splits), shape)), sum(split.rows for split in splits), sum(split.size for split in splits)
        )

    def batches(self, threads: int = 1) -> Iterator[pa.RecordBatch]:
        """The rows, with the types of Spark.

        Raises:
            OrcishError: A file cannot be read; the message names it.
        """
        splits, shape = cast("tuple[list[Split], BatchConverter]", deserialize(self.data))
        for split in splits:
            reader = read_split(split, threads)
            for batch in reader.read_batches(reader.options):
                try:
                    shaped = shape.of(batch)
                except pa.ArrowException as error:
                    raise OrcishError(f"{display_name(split.location)}: {error}") from error
                yield shaped


def serialize(value: object) -> bytes:
    """Pickles and compresses a value."""
    return zlib.compress(pickle.dumps(value), 1)


def deserialize(data: bytes) -> Any:
    """The inverse of :func:`serialize`."""
    return pickle.loads(zlib.decompress(data))


def group_splits(splits: Sequence[Split], size: int, least: int) -> list[list[Split]]:
    """Groups splits, in their order, into parts of similar size, which are not much larger than ``size`` bytes.

    Args:
        splits: The splits.
        size: Maximum bytes of a part; a larger split is a part by itself.
        least: Minimum number of parts.
    """
    total = sum(split.size + OPEN_BYTES for split in splits)
    parts: list[list[Split]] = []
    last = -1
    count = max(-(-total // max(size, 1)), least, 1)
    end = 0
    for split in splits:
        middle = end + (split.size + OPEN_BYTES) // 2
        # The part that has the middle of the split.
        at = min(middle * count // max(total, 1), count - 1)
        end += split.size + OPEN_BYTES
        if at != last:
            parts.append([])
        parts[-1].append(split)
        last = at
    return parts
