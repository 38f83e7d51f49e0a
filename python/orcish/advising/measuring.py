"""Candidates are written to memory and read back, in alternating runs."""

from __future__ import annotations

import dataclasses
import io
import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from orcish.advising.sample import DEFAULT_STRIPE_SIZE, stored_bytes
from orcish.filters.pushdown import Filters
from orcish.reading.file import ORCFile
from orcish.writing.writer import write_table

__all__ = ["Candidate", "Probe", "measure", "sorted_rows"]

_TIMED = 3
"""Filters of a probe whose reads are timed."""
_VERIFIED = 4
"""Bytes in memory of the rows of a stripe, as a multiple of the stripe size, from which on verification may end it
earlier. The writer does so at eight times the stripe size, by its own count of these bytes.
"""


class Probe(NamedTuple):
    """Filters of the same columns."""

    filters: Sequence[Filters]
    is_asked: bool
    """Whether advice was asked for them. Reads with others are not timed."""


@dataclasses.dataclass
class Candidate:
    """Options to try, the rows to try them on, and what they gave."""

    kind: str
    label: str
    rows: pa.Table
    """The rows, in their present order."""
    parts: Sequence[int]
    """Rows of each file that is written, in their order."""
    options: dict[str, Any]
    """All options of the write."""
    changed: dict[str, Any]
    """What differs from the present options; and ``sort_by``, a column that rows are sorted by before."""
    column: str | None = None
    probes: Sequence[str] = ()
    """Names of the filters that are tried."""
    bytes: int = 0
    """Stored bytes of the stripes."""
    write: list[float] = dataclasses.field(default_factory=list)
    """Seconds of each run."""
    read: list[float] = dataclasses.field(default_factory=list)
    shares: dict[str, float] = dataclasses.field(default_factory=dict)
    """Share of the rows that filters look at, as a mean, by the names of the filters."""
    lookups: dict[str, list[float]] = dataclasses.field(default_factory=dict)
    """Seconds of a read with a filter in each run, as means, likewise, of those that are timed."""

    @property
    def write_seconds(self) -> float:
        """The median."""
        return statistics.median(self.write)

    @property
    def read_seconds(self) -> float:
        """The median."""
        return statistics.median(self.read)

    @property
    def noise(self) -> float | None:
        """How far the time of a read differs from the median, as a share, at most; ``None`` of one run."""
        if len(self.read) < 2:
            return None
        return max(abs(each / self.read_seconds - 1) for each in self.read)

    def files(self) -> Iterator[pa.Table]:
        """The rows of each file, as they are written. Sorted copies of all candidates would take much memory."""
        first, sort_by = 0, self.changed.get("sort_by")
        for count in self.parts:
            rows = self.rows.slice(first, count)
            first += count
            yield rows if sort_by is None else sorted_rows(rows, sort_by)


def sorted_rows(rows: pa.Table, name: str) -> pa.Table:
    """The rows in the order of a column."""
    return rows.take(pc.sort_indices(rows, sort_keys=[(name, "ascending")]))


def measure(
    candidates: Sequence[Candidate],
    probes: Mapping[str, Probe],
    runs: int,
    threads: int | None,
    done: Callable[[int], None],
) -> None:
    """Measures candidates.

    Each run measures all of them, every other one in reverse, so that changes of the load of the machine do not favour
    one of them.

    Args:
        candidates: The candidates.
        probes: Filters, by their names.
        runs: Number of runs.
        threads: Threads of writes and reads.
        done: Takes the rows of each write.
    """
    for first in candidates[:1]:
        # The first write and read of a process take longer.
        _run(dataclasses.replace(first, probes=(), write=[], read=[]), {}, threads)
    for run in range(runs):
        for each in candidates if run % 2 == 0 else reversed(candidates):
            _run(each, probes, threads)
            done(each.rows.num_rows)


def _run(candidate: Candidate, probes: Mapping[str, Probe], threads: int | None) -> None:
    files: list[bytes] = []
    rewritten: list[ORCFile] = []
    seconds = 0.0
    for rows in candidate.files():
        begun = time.perf_counter()
        files.append(_written(rows, threads, candidate.options))
        seconds += time.perf_counter() - begun
        if not candidate.bytes:
            rewritten.append(_rewritten(rows, files[-1], threads, candidate.options))
        del rows
    candidate.write.append(seconds)
    candidate.read.append(_read(files, threads))
    if rewritten:
        candidate.bytes = sum(stored_bytes(stripe) for file in rewritten for stripe in file.stripes)
    for name in candidate.probes:
        filters, is_asked = probes[name]
        if name not in candidate.shares:
            read = sum(file.explain(filters=each).rows_read for file in rewritten for each in filters)
            candidate.shares[name] = read / len(filters) / max(candidate.rows.num_rows, 1)
        if is_asked:
            timed = filters[:_TIMED]
            candidate.lookups.setdefault(name, []).append(_read(files, threads, timed) / len(timed))


def _read(files: Sequence[bytes], threads: int | None, filters: Sequence[Filters | None] = (None,)) -> float:
    """Seconds of reads of files with each of some filters."""
    options: dict[str, Any] = {} if threads is None else {"threads": threads}
    begun = time.perf_counter()
    for each in filters:
        for data in files:
            for _ in ORCFile(data).iter_batches(filters=each, **options):
                pass
    return time.perf_counter() - begun


def _written(rows: pa.Table, threads: int | None, options: Mapping[str, Any]) -> bytes:
    with io.BytesIO() as target:
        write_table(rows, target, threads=threads, **options)
        return target.getvalue()


def _rewritten(rows: pa.Table, data: bytes, threads: int | None, options: Mapping[str, Any]) -> ORCFile:
    """The file that ``orcish rewrite`` writes, which verifies. That may end stripes earlier, and takes too much time to
    be a part of each run.

    Args:
        rows: The rows.
        data: The file of the rows that was written without verification.
        threads: Threads of the write.
        options: Options of the write.
    """
    file = ORCFile(data)
    most = max((stripe.num_rows for stripe in file.stripes), default=0) * rows.nbytes
    if most < _VERIFIED * options.get("stripe_size", DEFAULT_STRIPE_SIZE) * max(rows.num_rows, 1):
        return file
    return ORCFile(_written(rows, threads, {**options, "verify": True}))
