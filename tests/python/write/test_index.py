"""Row indexes that orcish writes: positions of all streams, by which other readers go to row groups."""

from __future__ import annotations

import io
import itertools
from typing import Any

import orcish
import pyorc
import pytest
from support.orc_layout import inflate, layout
from support.protobuf import message
from support.writer_tables import STRIDE, table, table_without_gaps, union, written

ROWS = 4 * STRIDE + 17
BYTES, RUNS, BITS = 1, 2, 3
"""Numbers of a position in a stream that is not compressed: the byte, how many values of a run, how many bits."""
FORMS = {
    "boolean": {"DATA": BITS},
    "tinyint": {"DATA": RUNS},
    "float": {"DATA": BYTES},
    "double": {"DATA": BYTES},
    "timestamp": {"DATA": RUNS, "SECONDARY": RUNS},
    "timestamp with local time zone": {"DATA": RUNS, "SECONDARY": RUNS},
    "decimal": {"DATA": BYTES, "SECONDARY": RUNS},
    "binary": {"DATA": BYTES, "LENGTH": RUNS},
    "array": {"LENGTH": RUNS},
    "map": {"LENGTH": RUNS},
    "uniontype": {"DATA": RUNS},
    "struct": {},
    **{kind: {"DATA": RUNS} for kind in ("smallint", "int", "bigint", "date")},
}
"""Streams that have positions, in their order, without those that say what is null."""
OF_TEXT = {True: {"DATA": RUNS}, False: {"DATA": BYTES, "LENGTH": RUNS}}
"""With a dictionary, and without."""


OPTIONS: dict[str, Any] = {
    "row_index_stride": STRIDE,
    "compression_block_size": 1024,
    "stripe_size": 400_000,
    "dictionary": {"s0": True},
}
WAYS = pytest.mark.parametrize(("codec", "version"), list(itertools.product(["none", "zlib"], ["0.11", "0.12"])))


def numbers_of(packed: bytes) -> list[int]:
    found, value, shift = [], 0, 0
    for byte in packed:
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            found.append(value)
            value = shift = 0
    return found


@WAYS
def test_positions_of_all_streams(codec: str, version: str) -> None:
    """Each entry has the number of positions that the streams of its column need, and each position is within its
    stream.
    """
    file = written(table(ROWS, unions=True), compression=codec, version=version, **OPTIONS)
    kinds = [kind.partition("<")[0].partition("(")[0] for kind in orcish.ORCFile(file).column_types]
    found = layout(file)
    lengths = {(s.stripe, s.column, s.kind): s.end - s.start for s in found.streams}
    with_dictionary = 0
    indexes = [stream for stream in found.streams if stream.kind == "ROW_INDEX"]
    assert {stream.column for stream in indexes} == set(range(len(kinds)))
    for stream in indexes:
        stripe, column = own = (stream.stripe, stream.column)
        has_dictionary = found.encodings[stripe][column] in (1, 3)
        with_dictionary += has_dictionary
        forms = FORMS.get(kinds[column], OF_TEXT[has_dictionary])
        if (stripe, column, "PRESENT") in lengths:
            forms = {"PRESENT": BITS, **forms}
        section = file[stream.start : stream.end]
        entries = message(section if codec == "none" else inflate(section))[1]
        assert len(entries) == -(-orcish.ORCFile(file).stripes[stripe].num_rows // STRIDE)
        before: dict[str, list[int]] = {}
        for entry in entries:
            numbers = numbers_of(b"".join(message(entry).get(1, [])))
            for kind, count in forms.items():
                count += codec != "none"
                position, numbers = numbers[:count], numbers[count:]
                assert len(position) == count, (own, kind)
                assert position >= before.get(kind, [0] * count), (own, kind)
                assert position[0] <= lengths[stripe, column, kind], (own, kind)
                before[kind] = position
            assert numbers == [], own
    assert with_dictionary > 0


@WAYS
def test_others_begin_within_stripes(codec: str, version: str) -> None:
    """Other readers find the same rows by seeking as by reading all."""
    data = table_without_gaps(ROWS).append_column("u", union("u", ROWS))
    file = written(data, compression=codec, version=version, **OPTIONS)
    rows = list(pyorc.Reader(io.BytesIO(file)))
    assert [row[0] for row in rows] == list(range(ROWS))
    reader = pyorc.Reader(io.BytesIO(file))
    # C++ cannot skip rows behind those where all texts among them are null.
    for at in [3 * STRIDE, STRIDE, 4 * STRIDE, 0, 2 * STRIDE]:
        reader.seek(at)
        assert repr(list(itertools.islice(reader, 3))) == repr(rows[at : at + 3]), at
