"""A judge of the writer: a file that orcish writes anew has the same rows for orcish, pyarrow and Java."""

from __future__ import annotations

import io
import random
from typing import Any

import orcish
import pyarrow as pa
import pyarrow.orc
import pytest

from support.conformance.opened import MAX_ROWS, NULL_KEYS, Opened
from support.conformance.pack import comparison
from support.orc_java import Java, lines
from support.random_cases import random_cases
from support.writer_tables import comparable, written

MAX_JAVA_ROWS = 2048
OTHER_IN_JAVA = {"rapidsai+cudf/TestOrcFile.int16.rle.size.orc": "stored numbers of 17 bits, which Java's batches show"}


def _read(file: Opened) -> pa.Table:
    """With nanoseconds where these are all that is there."""
    options: dict[str, Any] = {"masked": "allow", "limit": MAX_ROWS}
    try:
        return file.subject.file.read(timestamp_unit="ns", **options)
    except orcish.LimitExceededError:
        return file.subject.file.read(**options)


def _options(rng: random.Random) -> dict[str, Any]:
    return {
        "compression": rng.choice(["none", "zlib", "snappy", "lz4", "zstd"]),
        "version": rng.choice(["0.11", "0.12"]),
        "row_index_stride": rng.choice([0, 1000, 10_000]),
        "dictionary": rng.choice([True, False, None]),
        "compression_block_size": rng.choice([1024, 65_536]),
    }


def rows_are_the_same_written_anew(file: Opened) -> None:
    table = _read(file)
    if file.name in NULL_KEYS:
        # Arrow says that there are none.
        with pytest.raises(ValueError, match=rf"column {NULL_KEYS[file.name]}: row \d+: a null"):
            written(table)
        return
    for _, rng in random_cases(f"options for {file.name}", 1):
        _check_written(file, table, _options(rng))


def _check_written(file: Opened, table: pa.Table, options: dict[str, Any]) -> None:
    """What orcish, pyarrow and Java read of a table that is written."""
    data = written(table, **options)
    canonical = comparison().canonical
    back = orcish.read_table(data)
    assert back.schema == table.schema
    for left, right in zip(back.columns, table.columns, strict=True):
        assert left.equals(right) or canonical(left) == canonical(right)
    try:
        by_cpp = pyarrow.orc.read_table(io.BytesIO(data))
    except pa.ArrowException as error:
        if not _peer_cannot(str(error)):
            raise
    else:
        assert by_cpp.num_rows == table.num_rows
        for left, right in zip(by_cpp.columns, table.columns, strict=True):
            if left.type == right.type and file.name not in OTHER_IN_JAVA:
                assert left.equals(right) or canonical(left) == canonical(right)
    if file.name not in OTHER_IN_JAVA:
        _compare_in_java(file, data, table)


def _peer_cannot(message: str) -> bool:
    return any(each in message for each in ("out of range", "overflow", "Not implemented", "Unknown", "would lose"))


def _compare_in_java(file: Opened, data: bytes, table: pa.Table) -> None:
    """What Java shows of both files, where it reads the first."""
    path = file.folder / "a.orc"
    path.write_bytes(data)
    try:
        want = _first_rows(Java(file.spark, file.path))
    except Exception:
        want = None
    got = _first_rows(Java(file.spark, path))
    assert len(got) == min(table.num_rows, MAX_JAVA_ROWS)
    paths = (file.path, path) if want is not None else ()
    schemas = {Java(file.spark, each).file.getSchema().toString() for each in paths}
    if len(schemas) == 1:
        assert got == want


def _first_rows(java: Java) -> list[Any]:
    rows = java.file.rows()
    batch = java.file.getSchema().createRowBatch(1024)
    found: list[str] = []
    while len(found) < MAX_JAVA_ROWS and rows.nextBatch(batch):
        found += lines(batch)
    rows.close()
    return [comparable(row) for row in found[:MAX_JAVA_ROWS]]
