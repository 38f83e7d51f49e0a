"""Files that other implementations wrote, written anew by orcish: the same rows for orcish, pyarrow and Java."""

from __future__ import annotations

import importlib.util
import io
import pathlib
import random
from typing import Any

import orcish
import pyarrow as pa
import pyarrow.orc
import pytest
from support.conformance_pack import PACK, valid
from support.orc_java import Java, lines
from support.random_cases import random_cases
from support.writer_tables import DEEP_TABLES, comparable, written

Spark = Any
MAX_ROWS = 20_000
MAX_JAVA_ROWS = 2048


FILES = valid()


def test_there_is_a_pack() -> None:
    if not FILES:
        pytest.skip(f"no conformance pack at {PACK}; ORCISH_CONFORMANCE says where one is")


def canonical(array: Any) -> Any:
    """Values as the pack has them."""
    spec = importlib.util.spec_from_file_location("check", PACK / "check.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.canonical(array)


def read(path: pathlib.Path) -> pa.Table:
    """With nanoseconds where these are all that is there."""
    options: dict[str, Any] = {"masked": "allow"}
    try:
        return orcish.read_table(path, timestamp_unit="ns", limit=MAX_ROWS, **options)
    except orcish.LimitExceededError:
        return orcish.read_table(path, limit=MAX_ROWS, **options)


def options_of(rng: random.Random) -> dict[str, Any]:
    return {
        "compression": rng.choice(["none", "zlib", "snappy", "lz4", "zstd"]),
        "version": rng.choice(["0.11", "0.12"]),
        "row_index_stride": rng.choice([0, 1000, 10_000]),
        "dictionary": rng.choice([True, False, None]),
        "compression_block_size": rng.choice([1024, 65_536]),
    }


REFUSED = {
    "openlookeng+hetu-core/test-data-composites-with-nulls.orc": "list2.element.key",
    "Smith-Cruise+starrocks/map_decimal_date.lz4.orc": "col_map.key",
}
"""Files with null keys in maps, which Arrow says there are not."""
OTHER_IN_JAVA = {"rapidsai+cudf/TestOrcFile.int16.rle.size.orc": "stored numbers of 17 bits, which Java's batches show"}
NULL_UNIONS = "Arrow has no unions that are null: they are read as nulls of the first variant, and written as such"
FAULTS = {
    "apache+orc/TestOrcFile.testUnionAndTimestamp.orc": NULL_UNIONS,
    **{
        f"apache+impala/max_nesting_depth.{kind}.file.orc": DEEP_TABLES
        for kind in ("int_array", "struct", "struct_array", "struct_map")
    },
}


def marked(name: str) -> Any:
    marks = [pytest.mark.xfail(reason=FAULTS[name], strict=True)] if name in FAULTS else []
    return pytest.param(name, marks=marks)


@pytest.mark.parametrize("name", REFUSED if FILES else [])
def test_null_keys_are_refused(name: str) -> None:
    with pytest.raises(ValueError, match=rf"column {REFUSED[name]}: row \d+: a null"):
        written(read(PACK / "files" / name))


@pytest.mark.parametrize("name", [marked(name) for name in FILES if name not in REFUSED])
def test_written_anew(spark: Spark, tmp_path: pathlib.Path, name: str) -> None:
    path = PACK / "files" / name
    table = read(path)
    for _, rng in random_cases(f"options for {name}", 1):
        check_written(spark, tmp_path, name, table, options_of(rng))


def check_written(spark: Spark, folder: pathlib.Path, name: str, table: pa.Table, options: dict[str, Any]) -> None:
    """What orcish, pyarrow and Java read of a table that is written."""
    file = written(table, **options)
    back = orcish.read_table(file)
    assert back.schema == table.schema
    for left, right in zip(back.columns, table.columns, strict=True):
        assert left.equals(right) or canonical(left) == canonical(right)
    try:
        by_cpp = pyarrow.orc.read_table(io.BytesIO(file))
    except pa.ArrowException as error:
        if not peer_cannot(str(error)):
            raise
    else:
        assert by_cpp.num_rows == table.num_rows
        for left, right in zip(by_cpp.columns, table.columns, strict=True):
            if left.type == right.type and name not in OTHER_IN_JAVA:
                assert left.equals(right) or canonical(left) == canonical(right)
    if name not in OTHER_IN_JAVA:
        compare_in_java(spark, PACK / "files" / name, file, folder, table)


def peer_cannot(message: str) -> bool:
    return any(each in message for each in ("out of range", "overflow", "Not implemented", "Unknown", "would lose"))


def compare_in_java(spark: Spark, path: pathlib.Path, file: bytes, folder: pathlib.Path, table: pa.Table) -> None:
    """What Java shows of both files, where it reads the first."""
    ours = folder / "a.orc"
    ours.write_bytes(file)
    try:
        want = first_rows(Java(spark, path))
    except Exception:
        want = None
    got = first_rows(Java(spark, ours))
    assert len(got) == min(table.num_rows, MAX_JAVA_ROWS)
    schemas = [Java(spark, each).file.getSchema().toString() for each in (path, ours)] if want is not None else []
    if want is not None and schemas[0] == schemas[1]:
        assert got == want


def first_rows(java: Java) -> list[Any]:
    rows = java.file.rows()
    batch = java.file.getSchema().createRowBatch(1024)
    found: list[str] = []
    while len(found) < MAX_JAVA_ROWS and rows.nextBatch(batch):
        found += lines(batch)
    rows.close()
    return [comparable(row) for row in found[:MAX_JAVA_ROWS]]
