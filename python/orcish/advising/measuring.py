"""Candidates are written to memory and read back, in alternating runs."""

from __future__ import annotations

import dataclasses
import io
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from orcish.advising.sample import DEFAULT_STRIPE_SIZE, stored_bytes
from orcish.filters.pushdown import Filters
from orcish.reading.file import ORCFile
from orcish.writing.writer import write_table

__all__ = ["Candidate", "Measured", "Probe", "Probes", "measure", "sorted_rows"]

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


Probes: TypeAlias = Mapping[str, Probe]
"""By what they are."""


@dataclasses.dataclass
class Candidate:
    """Options to try, and the rows to try them on."""

    kind: str
    label: str
    rows: pa.Table
    """The rows, in their present order."""
    options: dict[str, Any]
    """All options of the write."""
    changed: dict[str, Any]
    """What differs from the present options."""
    column: str | None = None
    probes: tuple[str, ...] = ()
    """Names of the filters that are tried."""
    parts: Sequence[int] = ()
    """Rows of each file that is written, in their order; one file of all rows by default."""

    @property
    def sort_by(self) -> str | None:
        """The column that rows are sorted by before they are written. A sorted copy is made for each run, as many
        copies would take much memory.
        """
        return self.changed.get("sort_by")

    def files(self) -> Iterator[pa.Table]:
        """The rows of each file, as they are written."""
        first = 0
        for count in self.parts or [self.rows.num_rows]:
            rows = self.rows.slice(first, count)
            first += count
            yield rows if self.sort_by is None else sorted_rows(rows, self.sort_by)


@dataclasses.dataclass
class Measured:
    """What a candidate gave."""

    candidate: Candidate
    bytes: int = 0
    write: list[float] = dataclasses.field(default_factory=list)
    """Seconds of each run."""
    read: list[float] = dataclasses.field(default_factory=list)
    shares: dict[str, float] = dataclasses.field(default_factory=dict)
    """Share of the rows that filters look at, as a mean, by what the filters are."""
    lookups: dict[str, list[float]] = dataclasses.field(default_factory=dict)
    """Seconds of a read with a filter in each run, as means, likewise."""

    @property
    def write_seconds(self) -> float:
        """The median."""
        return _median(self.write)

    @property
    def read_seconds(self) -> float:
        """The median."""
        return _median(self.read)

    def lookup_seconds(self, name: str) -> float | None:
        """The median of the seconds of a read with a filter; ``None`` where it is not timed."""
        return _median(self.lookups[name]) if name in self.lookups else None

    @property
    def noise(self) -> float | None:
        """How far the time of a read differs from the median, as a share, at most; ``None`` of one run."""
        if len(self.read) < 2:
            return None
        return max(abs(each / self.read_seconds - 1) for each in self.read)


def _median(seconds: Sequence[float]) -> float:
    # The import of `statistics` takes 2 ms, and only advice needs it.
    import statistics

    return statistics.median(seconds)


def measure(
    candidates: Sequence[Candidate], probes: Probes, runs: int, threads: int | None, done: Callable[[int], None]
) -> list[Measured]:
    """Measures candidates.

    Each run measures all of them, every other one in reverse, so that changes of the load of the machine do not favour
    one of them.

    Args:
        candidates: The candidates.
        probes: Filters.
        runs: Number of runs.
        threads: Threads of writes and reads.
        done: Takes the rows of each write.
    """
    found = [Measured(candidate) for candidate in candidates]
    for candidate in candidates[:1]:
        # The first write and read of a process take longer.
        _run(Measured(candidate), threads, {})
    for run in range(runs):
        for each in found if run % 2 == 0 else reversed(found):
            _run(each, threads, probes)
            done(each.candidate.rows.num_rows)
    return found


def sorted_rows(rows: pa.Table, name: str) -> pa.Table:
    """The rows in the order of a column."""
    return rows.take(pc.sort_indices(rows, sort_keys=[(name, "ascending")]))


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


def _run(measured: Measured, threads: int | None, probes: Probes) -> None:
    candidate = measured.candidate
    files: list[bytes] = []
    rewritten: list[ORCFile] = []
    seconds = 0.0
    for rows in candidate.files():
        begun = time.perf_counter()
        files.append(_written(rows, threads, candidate.options))
        seconds += time.perf_counter() - begun
        if not measured.bytes:
            rewritten.append(_rewritten(rows, files[-1], threads, candidate.options))
        del rows
    measured.write.append(seconds)
    options = {} if threads is None else {"threads": threads}
    begun = time.perf_counter()
    for each in files:
        for _ in ORCFile(each).iter_batches(**options):  # type: ignore[arg-type]
            pass
    measured.read.append(time.perf_counter() - begun)
    if rewritten:
        measured.bytes = sum(stored_bytes(stripe) for file in rewritten for stripe in file.stripes)
    for name in candidate.probes if probes else ():
        filters, is_asked = probes[name]
        if name not in measured.shares:
            read = sum(file.explain(filters=each).rows_read for file in rewritten for each in filters)
            measured.shares[name] = read / len(filters) / max(candidate.rows.num_rows, 1)
        if is_asked:
            timed = filters[:_TIMED]
            begun = time.perf_counter()
            for one in timed:
                for each in files:
                    for _ in ORCFile(each).iter_batches(filters=one, **options):  # type: ignore[arg-type]
                        pass
            measured.lookups.setdefault(name, []).append((time.perf_counter() - begun) / len(timed))
