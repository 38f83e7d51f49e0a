"""Options that are tried."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from orcish.advising.columns import is_sortable, is_text
from orcish.advising.measuring import Candidate, sorted_rows
from orcish.advising.sample import Sample

__all__ = ["PRESENT", "of_columns", "of_table", "with_changes"]

PRESENT = "present"
"""The kind of the candidates with the present options."""
_CODECS: tuple[tuple[str, int | None], ...] = (
    ("zstd", 2),
    ("zstd", 6),
    ("zstd", 12),
    ("zlib", 1),
    ("zlib", 6),
    ("lz4", None),
    ("snappy", None),
    ("none", None),
)
"""Codecs and levels. Brotli is left out, which the C++ library cannot read."""
_DEFAULT_LEVELS = {"zstd": 2, "zlib": 1, "brotli": 5}
_STRIPE_SIZES = (16 << 20, 64 << 20, 256 << 20)
_STRIDE_FACTORS = (4, 0.25)
_LEAST_STRIDE = 1000
_LEVELS = {"zstd": 12, "zlib": 9, "brotli": 9}
"""Levels that are tried for single columns."""
_MAX_COLUMNS = 8
"""Columns that are tried alone, the largest ones."""
_SIMILAR = 1.5
"""Sizes of stripes whose ratio is at most this are not tried, as they give the same."""


def of_table(
    sample: Sample, lookup: Sequence[str], orders: Sequence[str], probes: Sequence[str]
) -> tuple[list[Candidate], list[str]]:
    """Candidates for all columns, the present options first, and notes of what cannot be tried.

    Args:
        sample: The sample.
        lookup: Columns that are looked up.
        orders: Columns that are tried as the sort order.
        probes: Names of the filters; those of a column are its name.
    """
    rows, present = sample.rows, sample.settings.options()
    found = [Candidate(PRESENT, "present options", rows, present, {}, probes=tuple(probes), parts=sample.parts)]
    own = (present["compression"], _DEFAULT_LEVELS.get(present["compression"]))
    for codec, level in _CODECS:
        if (codec, level) == own:
            continue
        changed: dict[str, Any] = {"compression": codec}
        if level is not None:
            changed["compression_level"] = level
        label = codec if level is None else f"{codec}, level {level}"
        found.append(with_changes("compression", label, sample, changed))
    sizes, notes = _stripe_sizes(sample)
    found += sizes
    stride = present["row_index_stride"]
    strides = [int(stride * factor) for factor in _STRIDE_FACTORS] if stride else [10_000]
    for each in strides:
        if _LEAST_STRIDE <= each < len(rows):
            label = f"{each:,} rows"
            found.append(with_changes("row index stride", label, sample, {"row_index_stride": each}, tuple(probes)))
    blooms = present.get("bloom_filter_columns", [])
    for name in lookup:
        if name not in blooms and is_sortable(rows.schema.field(name).type) and stride:
            changed = {"bloom_filter_columns": [*blooms, name]}
            found.append(with_changes("bloom filter", name, sample, changed, tuple({name} & {*probes})))
    for name in orders:
        try:
            sorted_rows(rows.slice(0, 1), name)
        except pa.ArrowNotImplementedError as error:
            notes.append(f"sort order {name}: not tried, as pyarrow does not sort such rows: {error}")
            continue
        found.append(with_changes("sort order", name, sample, {"sort_by": name}, tuple(probes)))
    return found, notes


def with_changes(
    kind: str, label: str, sample: Sample, changed: dict[str, Any], probes: tuple[str, ...] = ()
) -> Candidate:
    """A candidate of all rows of the sample."""
    options = sample.settings.options(changed)
    options.pop("sort_by", None)
    return Candidate(kind, label, sample.rows, options, changed, probes=probes, parts=sample.parts)


def _stripe_sizes(sample: Sample) -> tuple[list[Candidate], list[str]]:
    """Sizes of stripes of which the sample has several, now or then."""
    found, untried = [], []
    own = sample.settings.stripe_size
    for size in _STRIPE_SIZES:
        ratio = size / own
        if 1 / _SIMILAR <= ratio <= _SIMILAR:
            continue
        text = f"{size >> 20} MiB"
        if sample.stored >= 2 * min(size, own):
            found.append(with_changes("stripe size", text, sample, {"stripe_size": size}))
            if sample.stored <= size:
                # Larger sizes give the same.
                break
        else:
            untried.append(text)
    notes = []
    if untried:
        few = "which are all of the table" if sample.is_whole else "and a larger sample tells"
        notes.append(
            f"stripes of {', '.join(untried)} were not tried: the sample has {sample.stored:,} stored bytes, {few}"
        )
    return found, notes


def of_columns(sample: Sample) -> list[Candidate]:
    """Candidates for single columns, each after one with the present options."""
    rows, present, sizes = sample.rows, sample.settings.options(), sample.sizes
    whole = sum(sizes.values())
    found = []
    for name in sorted(sizes, key=lambda each: -sizes[each])[:_MAX_COLUMNS]:
        # Columns of less than a hundredth of the bytes change nothing. Names with dots may be ambiguous.
        if sizes[name] * 100 < whole or rows.schema.names.count(name) != 1 or "." in name:
            continue
        alone = rows.select([name])
        options = {each: value for each, value in present.items() if each != "bloom_filter_columns"}
        tried: list[tuple[str, str, dict[str, Any]]] = []
        if is_text(rows.schema.field(name).type):
            tried += [
                ("dictionary", "with a dictionary", {"dictionary": {name: True}}),
                ("dictionary", "without a dictionary", {"dictionary": {name: False}}),
            ]
        if present["compression"] != "none":
            tried.append(("column compression", "not compressed", {"column_compression": {name: "none"}}))
        if level := _LEVELS.get(present["compression"]):
            tried.append(("column compression", f"level {level}", {"column_compression": {name: level}}))
        if tried:
            found.append(Candidate(PRESENT, "present options", alone, options, {}, name, parts=sample.parts))
            found += [
                Candidate(kind, label, alone, {**options, **changed}, changed, name, parts=sample.parts)
                for kind, label, changed in tried
            ]
    return found
