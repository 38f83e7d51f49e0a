"""Whatever is believed of what writers record, is what the rows give: in files of all writers that are at hand."""

from __future__ import annotations

import pathlib
import random
from collections import Counter
from decimal import Decimal
from typing import Any

import orcish
import pyarrow as pa
import pytest
from py4j.java_gateway import get_field, set_field
from support.aggregates import FILES, check, leaves
from support.case_loops import each_case
from support.conformance.pack import PACK, valid
from support.cpp_writers import write_rows
from support.orc_builder import DATA, LONG, PRESENT, STRUCT, column_type, integer, integers, nested, orc
from support.protobuf import zigzag
from support.random_cases import FACTOR, cases, part, random_cases
from support.statistics_oracle import differences


def pack(start: int = 0) -> list[pathlib.Path]:
    """Files of the pack that are as their writers left them, see ``part``."""
    return [PACK / "files" / name for name in part(valid(), start)]


@each_case("path", FILES, ids=lambda path: path.name)
def test_statistics_are_those_of_the_rows(path: pathlib.Path) -> None:
    believed: Counter[str] = Counter()
    assert differences(path, believed) == []
    assert sum(believed.values()) > 0 or orcish.ORCFile(path).num_rows == 0


@pytest.mark.skipif(not pack(), reason="no conformance pack")
def test_statistics_of_the_pack() -> None:
    believed: Counter[str] = Counter()
    wrong = {str(path.relative_to(PACK)): found for path in pack(1) if (found := differences(path, believed))}
    assert wrong == {}
    least = {
        "values": 2500,
        "has_null": 2500,
        "min": 1500,
        "max": 1500,
        "sum": 800,
        "total_length": 600,
        "true_count": 50,
    }
    assert believed >= Counter({name: int(count * min(1, FACTOR) / 2) for name, count in least.items()})


@pytest.mark.skipif(not pack(), reason="no conformance pack")
def test_answers_of_the_pack() -> None:
    """Minima, maxima, sums and counts of scans equal those of the rows."""
    answered = 0
    for path in pack(3):
        options: dict[str, Any] = {"masked": "allow"}
        try:
            scan = orcish.scan(path, **options)
            rows = scan.to_table().num_rows
        except (orcish.OrcishError, ValueError):
            continue
        assert scan.count() == rows, path
        for name, kind in leaves(scan.schema):
            # Python's own dates and times end where those of Arrow go on.
            if "." in name or pa.types.is_temporal(kind) or len(scan.schema.get_all_field_indices(name)) > 1:
                continue
            check(scan, name, kind)
            answered += 1
    assert answered > 500 * min(1, FACTOR)


def write_repeated(spark: Any, path: pathlib.Path) -> None:
    """A file of ORC Java whose vectors repeat one value, in turn with others, and with empty lists."""
    jvm = spark._jvm
    schema = jvm.org.apache.orc.TypeDescription.fromString(
        "struct<i:bigint,x:double,f:float,short:decimal(10,2),wide:decimal(30,2),s:string,c:char(5),o:boolean,d:date,"
        "l:array<int>,large:decimal(18,0)>"
    )
    orc = jvm.org.apache.orc.OrcFile
    options = orc.writerOptions(spark._jsc.hadoopConfiguration()).setSchema(schema).rowIndexStride(1000)
    writer = orc.createWriter(jvm.org.apache.hadoop.fs.Path(str(path)), options)
    decimal = jvm.org.apache.hadoop.hive.common.type.HiveDecimal
    for turn in range(5):
        batch = schema.createRowBatch(1024)
        columns = get_field(batch, "cols")
        set_field(batch, "size", 700)
        for column in columns:
            set_field(column, "isRepeating", True)
        for at in (0, 7, 8):
            get_field(columns[at], "vector")[0] = (turn + 5) % (2 if at == 7 else 1000)
        for at in (1, 2):
            get_field(columns[at], "vector")[0] = (turn + 5) / 4
        for at, text in ((3, f"{turn}.25"), (4, f"{turn}.25"), (10, str(900_000_000_000_000_000 + turn))):
            columns[at].set(0, decimal.create(text))
        for at in (5, 6):
            columns[at].setVal(0, bytearray(f"v{turn}".encode()))
        lists = columns[9]
        get_field(lists, "offsets")[0] = 0
        get_field(lists, "lengths")[0] = 0 if turn == 2 else 1
        set_field(lists, "childCount", 1)
        child = get_field(lists, "child")
        set_field(child, "isRepeating", True)
        get_field(child, "vector")[0] = 3 + turn
        writer.addRowBatch(batch)
    writer.close()


def test_vectors_of_java_that_repeat_a_value(spark: Any, tmp_path: pathlib.Path) -> None:
    path = tmp_path / "repeated.orc"
    write_repeated(spark, path)
    file = orcish.ORCFile(path)
    assert file.num_rows == 3500
    assert differences(path) == []
    assert file.check() == []
    scan = orcish.scan(path)
    for name, kind in leaves(scan.schema):
        check(scan, name, kind)
    # What is recorded rightly is believed.
    assert (file.statistics("i").sum, file.statistics("s").total_length) == (700 * 35, 7000)
    assert [file.statistics(name).sum for name in ("x", "f", "short", "wide", "large", "l.element")] == [None] * 6
    assert (file.statistics("x").max, file.statistics("short").max) == (2.25, Decimal("4.25"))


def test_sums_of_floats_of_cpp() -> None:
    """ORC C++ records sums of doubles as given, before the values are rounded to floats."""
    data = write_rows("struct<f:float,x:double>", [(0.1, 0.1)] * 1000)
    file = orcish.ORCFile(data)
    assert file.statistics("f").sum is None
    assert file.statistics("x").sum == pytest.approx(100)
    assert differences(data) == []


def test_nulls_of_fields_below_nulls_of_structs_in_cpp() -> None:
    rows = [((1, 2),) if i % 3 else (None,) for i in range(100)]
    data = write_rows("struct<s:struct<a:int,b:int>>", rows)
    assert orcish.ORCFile(data).statistics("s.a").has_null in (False, None)
    assert differences(data) == []


def lying(rng: random.Random, values: list[int | None]) -> bytes:
    """A file of a column of integers with statistics that may be wrong, by any writer."""
    there = [value for value in values if value is not None]
    present = [] if len(there) == len(values) else [(1, PRESENT, _present(values))]
    least, greatest, total = min(there, default=0), max(there, default=0), sum(there)
    wrap = (total + 2**63) % 2**64 - 2**63
    of_integers = [
        integer(1, zigzag(least - rng.choice([0, 0, 0, 1]))),
        integer(2, zigzag(min(greatest + rng.choice([0, 0, 0, 1]), 2**63 - 1))),
        integer(3, zigzag(rng.choice([wrap, wrap, 3]))),
    ]
    known = [part for part in of_integers if rng.random() < 0.9]
    counted = [integer(1, len(there))] if rng.random() < 0.7 else []
    has_null = [integer(10, len(there) < len(values))] if rng.random() < 0.7 else []
    column = b"".join([*counted, nested(2, *known), *has_null])
    root = integer(1, len(values)) + integer(10, 0)
    types = [column_type(STRUCT, [1], ["a"]), column_type(LONG)]
    streams = [*present, (1, DATA, integers(there))]
    recorded = {"file_statistics": [root, column], "stripe_statistics": [[root, column]]}
    return orc(types, [(len(values), streams)], writer=rng.randrange(8), **recorded)


def _present(values: list[int | None]) -> bytes:
    bits = [value is not None for value in values] + [False] * (-len(values) % 8)
    data = bytes(
        sum(bit << (7 - at) for at, bit in enumerate(bits[start : start + 8])) for start in range(0, len(bits), 8)
    )
    return bytes([256 - len(data)]) + data


def test_answers_are_those_of_the_rows_or_check_finds_why_not() -> None:
    """Wrong bounds, missing counts and overflowing sums are recorded: results are right, or `check` has a finding."""
    silent = 0
    for case, rng in random_cases("lying statistics", 400):
        pool: list[list[int | None]] = [[None], [None, 1, 2], [5, -7, 40], [2**62, 2**62 - 9, -5]]
        values = rng.choices(rng.choice(pool), k=rng.randint(1, 9))
        content = lying(rng, values)
        scan, there = orcish.scan(content), [value for value in values if value is not None]
        assert scan.to_table()["a"].to_pylist() == values
        if orcish.ORCFile(content).check():
            continue
        silent += 1
        answers = (scan.min("a"), scan.max("a"), scan.sum("a"))
        right = (min(there), max(there), sum(there)) if there else (None, None, None)
        assert answers == right, (case, values)
    assert silent > cases(400) / 8
