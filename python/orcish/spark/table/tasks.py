"""Task inputs: groups of splits, made on the driver and read in a worker."""

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
from orcish.spark.table.batches import BatchConverter, within_bytes

__all__ = ["TaskInput", "deserialize", "serialize"]


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
            for batch in reader.read_batches():
                try:
                    shaped = shape.of(batch)
                except pa.ArrowException as error:
                    raise OrcishError(f"{display_name(split.location)}: {error}") from error
                yield from within_bytes(shaped)


def serialize(value: object) -> bytes:
    """Pickles and compresses a value."""
    return zlib.compress(pickle.dumps(value), 1)


def deserialize(data: bytes) -> Any:
    """The inverse of :func:`serialize`."""
    return pickle.loads(zlib.decompress(data))
