"""What a task reads of a table: splits, put together on the driver and read in a worker."""

from __future__ import annotations

import dataclasses
import pickle
import zlib
from collections.abc import Iterator, Sequence
from typing import Any, cast

import pyarrow as pa

from orcish.errors import OrcishError
from orcish.reading.scan import Split, read_split
from orcish.spark.table.batches import BatchConverter

__all__ = ["TaskInput", "deserialize", "group_splits", "serialize"]

OPEN_BYTES = 4 << 20
"""What opening a file is worth, in bytes that are read."""


@dataclasses.dataclass(frozen=True)
class TaskInput:
    """What a task reads: splits, with the tails of their files, as compressed bytes."""

    data: bytes
    rows: int
    size: int

    @classmethod
    def of(cls, splits: Sequence[Split], shape: BatchConverter) -> TaskInput:
        """Of some splits."""
        return cls(
            serialize((list(splits), shape)), sum(split.rows for split in splits), sum(split.size for split in splits)
        )

    def batches(self, threads: int = 1) -> Iterator[pa.RecordBatch]:
        """The rows, with the types that Spark wants.

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
                    raise OrcishError(f"{split.location}: {error}") from error
                yield shaped


def serialize(value: object) -> bytes:
    """What a task is sent of anything that can be pickled."""
    return zlib.compress(pickle.dumps(value), 1)


def deserialize(data: bytes) -> Any:
    """What :func:`serialize` was given."""
    return pickle.loads(zlib.decompress(data))


def group_splits(splits: Sequence[Split], size: int, least: int) -> list[list[Split]]:
    """Splits put together, in their order, so that no part is much larger than `size` bytes, and all are about equal.

    Args:
        splits: What is put together.
        size: Most bytes of a part; a split that is larger is a part by itself.
        least: How many parts there should be at least.
    """
    total = sum(split.size + OPEN_BYTES for split in splits)
    parts: list[list[Split]] = []
    last = -1
    count = max(-(-total // max(size, 1)), least, 1)
    end = 0
    for split in splits:
        middle = end + (split.size + OPEN_BYTES) // 2
        # The part in which its middle lies.
        at = min(middle * count // max(total, 1), count - 1)
        end += split.size + OPEN_BYTES
        if at != last:
            parts.append([])
        parts[-1].append(split)
        last = at
    return parts
