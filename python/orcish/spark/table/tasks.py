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
from orcish.spark.table.batches import Shape

__all__ = ["Work", "of_bytes", "packed", "to_bytes"]

OPEN_BYTES = 4 << 20
"""What opening a file is worth, in bytes that are read."""


@dataclasses.dataclass(frozen=True)
class Work:
    """What a task reads: splits, with the tails of their files, as compressed bytes."""

    packed: bytes
    rows: int
    size: int

    @classmethod
    def of(cls, splits: Sequence[Split], shape: Shape) -> Work:
        """Of some splits."""
        return cls(
            to_bytes((list(splits), shape)), sum(split.rows for split in splits), sum(split.size for split in splits)
        )

    def batches(self, threads: int = 1) -> Iterator[pa.RecordBatch]:
        """The rows, with the types that Spark wants.

        Raises:
            OrcishError: A file cannot be read; the message names it.
        """
        splits, shape = cast("tuple[list[Split], Shape]", of_bytes(self.packed))
        for split in splits:
            reader = read_split(split, threads)
            for batch in reader.read_batches(reader.options):
                try:
                    shaped = shape.of(batch)
                except pa.ArrowException as error:
                    raise OrcishError(f"{split.location}: {error}") from error
                yield shaped


def to_bytes(value: object) -> bytes:
    """What a task is sent of anything that can be pickled."""
    return zlib.compress(pickle.dumps(value), 1)


def of_bytes(data: bytes) -> Any:
    """What :func:`to_bytes` was given."""
    return pickle.loads(zlib.decompress(data))


def packed(splits: Sequence[Split], size: int, least: int) -> list[list[Split]]:
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
