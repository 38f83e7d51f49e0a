"""Whatever is believed of what writers record, is what the rows give: in files of all writers that are at hand."""

from __future__ import annotations

import pathlib
from collections import Counter
from decimal import Decimal
from typing import Any

import orcish
import pyarrow as pa
import pytest
from judge_statistics import differences
from pack import PACK, valid
from py4j.java_gateway import get_field, set_field
from support import write_rows
from test_scan_answers import FILES, check, leaves


def pack() -> list[pathlib.Path]:
    """Files of the pack that are as their writers left them."""
    return [PACK / "files" / name for name in valid()]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_statistics_are_those_of_the_rows(path: pathlib.Path) -> None:
    believed: Counter[str] = Counter()
    assert differences(path, believed) == []
    assert sum(believed.values()) > 0 or orcish.ORCFile(path).num_rows == 0


@pytest.mark.skipif(not pack(), reason="no conformance pack")
def test_statistics_of_the_pack() -> None:
    believed: Counter[str] = Counter()
    wrong = {str(path.relative_to(PACK)): found for path in pack() if (found := differences(path, believed))}
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
    assert believed >= Counter(least)


@pytest.mark.skipif(not pack(), reason="no conformance pack")
def test_answers_of_the_pack() -> None:
    """Least and greatest values, sums and counts of scans."""
    answered = 0
    for path in pack():
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
    assert answered > 1000


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
    """They are those of the doubles that the caller gave, before they were rounded."""
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
