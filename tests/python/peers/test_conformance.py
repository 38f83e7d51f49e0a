"""Files that other implementations wrote, where they are at hand: each is opened once, and all judges look at it.

What the whole has to be is what the pack says, which read/test_conformance.py compares; so where a peer reads something else,
it is the peer that is wrong, and the table says why.
"""

from __future__ import annotations

import functools
import pathlib
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import orcish
import pyarrow as pa
import pytest
from orcish.compat import pyarrow_orc
from support.case_loops import each_case
from support.conformance import parts, readers, replacement, rewriting
from support.conformance.opened import Opened
from support.conformance.pack import NONE, PACK, kinds, valid
from support.peer_predicates import asked, for_spark, name_of
from support.random_cases import cases, part
from support.writer_tables import DEEP_TABLES

JUDGES: list[Callable[[Opened], None]] = [
    parts.parts_are_those_of_the_whole,
    parts.filters_on_each_column,
    readers.pyarrow_reads_the_same,
    readers.pyorc_reads_the_same,
    readers.pyorc_reads_the_same_after_seeks,
    readers.pyorc_finds_all_rows_of_a_condition,
    replacement.replacement_has_the_same_properties,
    replacement.replacement_has_the_same_values,
    replacement.replacement_has_the_same_stripes_and_columns,
    rewriting.rows_are_the_same_written_anew,
]

CALENDAR = "C++ takes days of the Julian calendar for Gregorian ones"
NANOSECONDS = "pyarrow has timestamps of 64 bits of nanoseconds only"
DAYS = "pyorc has dates of Python, from year 1 to 9999"
ZONE = "the system knows no zone of that name"
EPOCH = "see PEER_FAULTS of test_read.py: fractions near 1970 in files of other zones"
HIVE_0_11 = "decimals without a type: C++ gives them six digits after the point"
OTHER_IN_CPP = "stored numbers of 17 bits in a column of 16"
PYARROW_FAULTS = {
    "apache+orc/TestOrcFile.testTimestamp.orc": "pyarrow takes only files whose root is a struct",
    "apache+orc/orc-file-11-format.orc": HIVE_0_11,
    "apache+impala/date_tbl.orc": CALENDAR,
    "apache+impala/hive2_pre_gregorian.orc": CALENDAR,
    "apache+impala/out_of_range_date.orc": CALENDAR,
    "prasanthj+hive/alltypesorc.orc": EPOCH,
    "prasanthj+hive/orc_legacy_mixed_timestamps.orc": NANOSECONDS,
    "linkedin+spark/before_1582_date_v2_4.snappy.orc": CALENDAR,
    "linkedin+spark/before_1582_ts_v2_4.snappy.orc": ZONE,
    "alibaba+paimon-cpp/append_complex_build_in_fieldid.bucket-0.data-6dac9052-489-0.orc": EPOCH,
    "alibaba+paimon-cpp/append_with_cast_timestamp.bucket-0.data-35109ddd-dc0-0.orc": EPOCH,
    "alibaba+paimon-cpp/append_with_multiple_ts_precision_and_timezone.bucket-0.data-3f58c403-d8a-0.orc": EPOCH,
    "rapidsai+cudf/TestOrcFile.Spark.EpochTimestamp.Shanghai.orc": EPOCH,
    "rapidsai+cudf/TestOrcFile.gmt.orc": NANOSECONDS,
    "rapidsai+cudf/TestOrcFile.largeTimestamps.orc": NANOSECONDS,
    "NVIDIA+spark-rapids/hybrid-Julian-calendar.orc": CALENDAR,
    "NVIDIA+spark-rapids/timestamp_written_with_New_York_timezone.old-5a21b38.orc": NANOSECONDS,
    "NVIDIA+spark-rapids/timestamp_written_with_New_York_timezone.old-b8b94c7.orc": NANOSECONDS,
    "NVIDIA+spark-rapids/timestamp_written_with_New_York_timezone.old-f353e73.orc": NANOSECONDS,
}
PYORC_FAULTS = {
    "apache+orc/orc-file-11-format.orc": HIVE_0_11,
    "apache+impala/date_tbl.orc": DAYS,
    "apache+impala/hive2_pre_gregorian.orc": CALENDAR,
    "apache+impala/out_of_range_date.orc": DAYS,
    "prasanthj+hive/orc_legacy_mixed_timestamps.orc": CALENDAR,
    "linkedin+spark/before_1582_date_v2_4.snappy.orc": CALENDAR,
    "linkedin+spark/before_1582_ts_v2_4.snappy.orc": ZONE,
    "rapidsai+cudf/TestOrcFile.int16.rle.size.orc": OTHER_IN_CPP,
    "NVIDIA+spark-rapids/hybrid-Julian-calendar.orc": CALENDAR,
    "Smith-Cruise+starrocks/map_decimal_date.lz4.orc": DAYS,
}
PYORC_SEEKS = {"apache+orc/encrypted.sample2.orc": "seeks within masks that have no bytes"}
PYORC_ASKED = {
    "apache+orc/TestOrcFile.testSargSkipPickupGroupWithoutIndexJava.orc": "statistics know of no value, and are believed",
    "Smith-Cruise+starrocks/tinyint.orc": "bounds are recorded without their sign, and are believed",
}
"""Files of which pyorc does not find all rows by a condition."""
FAULTS: dict[Callable[[Opened], None], dict[str, str]] = {
    readers.pyarrow_reads_the_same: PYARROW_FAULTS,
    readers.pyorc_reads_the_same: PYORC_FAULTS,
    readers.pyorc_reads_the_same_after_seeks: PYORC_SEEKS,
    rewriting.rows_are_the_same_written_anew: {
        "apache+orc/TestOrcFile.testUnionAndTimestamp.orc": "Arrow has no unions that are null: they are read as nulls of "
        "the first variant, and written as such",
        **dict.fromkeys(parts.DEEP, DEEP_TABLES),
    },
}
"""Judges that are wrong about a file, and why."""
NOT_ASKED: dict[Callable[[Opened], None], set[str]] = {
    readers.pyorc_reads_the_same_after_seeks: {*PYORC_FAULTS},
    readers.pyorc_finds_all_rows_of_a_condition: {*PYORC_FAULTS, *PYORC_ASKED, *PYORC_SEEKS},
}
"""Files that a judge is known to read wrongly, and of which some random rows may be right."""


@pytest.fixture(scope="module")
def compared() -> Iterator[Counter[str]]:
    """How many files each judge compared something of: of most, where all were asked."""
    found: Counter[str] = Counter()
    yield found
    files = found.pop("files", 0)
    few = {judge.__name__: found[judge.__name__] for judge in JUDGES if found[judge.__name__] <= files / 2}
    assert files < len(part(valid())) / 2 or not few, (files, few)


def of_kind(*wanted: str) -> list[Any]:
    names = [name for name, kind in kinds().items() if kind in wanted]
    return names or [pytest.param("", marks=pytest.mark.skip(reason=NONE))]


@pytest.fixture
def file(name: str, spark: Any, tmp_path: pathlib.Path) -> Opened:
    return Opened(name, spark, tmp_path)


@pytest.mark.parametrize("name", part(of_kind("valid")))
@each_case("judge", JUDGES)
def test_judges_agree(judge: Callable[[Opened], None], name: str, file: Opened, compared: Counter[str]) -> None:
    compared["files"] += judge is JUDGES[0]
    if name in NOT_ASKED.get(judge, ()):
        pytest.skip("some rows may be right")
    fault = FAULTS.get(judge, {}).get(name)
    if fault is None:
        judge(file)
        compared[judge.__name__] += 1
    else:
        with pytest.raises(Exception):  # noqa: B017, PT011
            judge(file)


@each_case("name", part(of_kind("other")))
def test_files_that_may_be_read(name: str, spark: Any, tmp_path: pathlib.Path) -> None:
    try:
        parts.filters_on_each_column(Opened(name, spark, tmp_path))
    except orcish.OrcishError:
        pytest.skip("not one to be read")


@each_case("name", of_kind("corrupt"))
def test_errors_of_the_replacement(name: str) -> None:
    """Errors are exceptions that pyarrow raises for files."""
    with pytest.raises((OSError, pa.ArrowException)) as info:
        pyarrow_orc.read_table(PACK / "files" / name)
    assert isinstance(info.value.__cause__, orcish.OrcishError)


SPARK_FAULTS = {
    "apache+orc/TestOrcFile.testUnionAndTimestamp.orc": "Spark has no unions, and takes files with one for broken",
    "linkedin+spark/before_1582_ts_v2_4.snappy.orc": "the year 1001 in the zone PST has another clock",
    "Smith-Cruise+starrocks/tinyint.orc": PYORC_ASKED["Smith-Cruise+starrocks/tinyint.orc"],
}
"""Files of which Spark does not find the rows, and why."""
SPARK_FILES = 40


def counted(file: Opened) -> tuple[int, str, Any] | None:
    """How many rows of a file a condition is true for, the condition, and Spark's count to come."""
    found = readers.question(file, spark=True)
    if found is None:
        return None
    by_name, tree = found
    if "originalTransaction" in by_name:
        # Java takes columns of transactional tables for those of the rows within.
        return None
    where = for_spark(tree, by_name)
    # Of the columns that are asked alone, as Spark has not all types of the others.
    asks = dict.fromkeys(map(name_of, asked(tree)))
    columns = ", ".join(f"{each} {spark_type(by_name[each].kind.orc)}" for each in asks)
    frame = file.spark.read.schema(columns).orc(str(file.path)).where(where)
    return len(file.subject.rows(tree, {})), where, frame.selectExpr(f"'{file.name}' name", "count(*) count")


def spark_type(orc: str) -> str:
    """A type as Spark calls it."""
    return "string" if orc.startswith("varchar") else orc.removesuffix(" with local time zone")


@pytest.mark.skipif(not valid(), reason=NONE)
def test_spark_asks(spark: Any, tmp_path: pathlib.Path) -> None:
    """Spark reads several files in one query, as each query has a fixed cost."""
    wanted: dict[str, Any] = {}
    for name in sorted(valid(), key=lambda name: zlib.crc32(name.encode())):
        if name not in SPARK_FAULTS and len(wanted) < cases(SPARK_FILES):
            found = counted(Opened(name, spark, tmp_path))
            wanted |= {name: found} if found is not None else {}
    assert len(wanted) >= cases(SPARK_FILES) / 2
    assert sum(want for want, _, _ in wanted.values())
    counts = functools.reduce(lambda one, other: one.union(other), (count for _, _, count in wanted.values())).toArrow()
    got = dict(zip(counts["name"].to_pylist(), counts["count"].to_pylist(), strict=True))
    differ = [(name, got[name], want, where) for name, (want, where, _) in wanted.items() if got[name] != want]
    assert not differ
