"""The replacement of ``pyarrow.orc`` reads the files of other implementations as pyarrow does, where they are at hand."""

from __future__ import annotations

from typing import Any

import orcish
import pyarrow as pa
import pyarrow.orc
import pytest
from orcish.compat import pyarrow_orc
from support.conformance_pack import PACK, files, valid
from support.table_differences import different_columns, outcome

PROPERTIES = [name for name in vars(pyarrow.orc.ORCFile) if isinstance(getattr(pyarrow.orc.ORCFile, name), property)]

CALENDAR = "pyarrow reads days of the Julian calendar as Gregorian ones"
EPOCH = "pyarrow is a second off near 1970, in files of other zones"
HIVE_0_11 = "decimals without a type: pyarrow cuts them to six digits behind the point"
DIFFERENT_COLUMNS = {
    "apache+orc/orc-file-11-format.orc": ({"decimal1"}, HIVE_0_11),
    "apache+orc/orc_split_elim.orc": ({"decimal1"}, HIVE_0_11),
    "apache+impala/date_tbl.orc": ({"d"}, CALENDAR),
    "apache+impala/hive2_pre_gregorian.orc": ({"d"}, CALENDAR),
    "apache+impala/out_of_range_date.orc": ({"d"}, CALENDAR),
    "linkedin+spark/before_1582_date_v2_4.snappy.orc": ({"dt"}, CALENDAR),
    "NVIDIA+spark-rapids/hybrid-Julian-calendar.orc": ({"c1"}, CALENDAR),
    "prasanthj+hive/alltypesorc.orc": ({"ctimestamp1", "ctimestamp2"}, EPOCH),
    "rapidsai+cudf/TestOrcFile.Spark.EpochTimestamp.Shanghai.orc": ({"ts"}, EPOCH),
    "alibaba+paimon-cpp/append_complex_build_in_fieldid.bucket-0.data-6dac9052-489-0.orc": ({"f4"}, EPOCH),
    "alibaba+paimon-cpp/append_with_cast_timestamp.bucket-0.data-35109ddd-dc0-0.orc": ({"ts_milli"}, EPOCH),
    "alibaba+paimon-cpp/append_with_multiple_ts_precision_and_timezone.bucket-0.data-3f58c403-d8a-0.orc": (
        {"ts_milli"},
        EPOCH,
    ),
}
"""Columns that differ, and why. All others are equal."""
DIFFERENT_PROPERTIES = {
    "apache+orc/TestOrcFile.testTimestamp.orc": ({"schema"}, "pyarrow reads only files whose root is a struct"),
    "apache+orc/orc-file-11-format.orc": ({"schema"}, HIVE_0_11),
    "apache+orc/orc_split_elim.orc": ({"schema"}, HIVE_0_11),
    "apache+orc/TestVectorOrcFile.testLzo.orc": ({"compression"}, "pyarrow has no name of LZO"),
    "rapidsai+cudf/splittable.orc": ({"writer"}, "pyarrow has no name of cuDF, and does not give its number"),
    "rapidsai+cudf/chunked_read_simple_nullable.old-47e6d21.orc": ({"writer"}, "likewise"),
}
"""Properties that differ, and why."""
UNREADABLE = {
    "apache+orc/TestOrcFile.testTimestamp.orc": "pyarrow reads only files whose root is a struct",
    "linkedin+spark/before_1582_ts_v2_4.snappy.orc": "pyarrow finds no zone PST; nanoseconds do not reach its timestamps",
}
"""Files of which reading ends differently, and why."""
ABORTING = {
    "openlookeng+hetu-core/test-data-composites-with-nulls.orc",
    "Smith-Cruise+starrocks/map_decimal_date.lz4.orc",
}
"""Files with null keys in maps, for which pyarrow ends the process."""


@pytest.fixture(params=valid())
def name(request: pytest.FixtureRequest) -> str:
    """The name of a file in the pack."""
    return str(request.param)


def test_there_is_a_pack() -> None:
    if not valid():
        pytest.skip(f"no conformance pack at {PACK}; ORCISH_CONFORMANCE says where one is")


def is_same(theirs: Any, ours: Any) -> bool:
    """Whether schemas are equal with their metadata, or other values are equal and have one type."""
    if isinstance(theirs, pa.Schema) and isinstance(ours, pa.Schema):
        return theirs.equals(ours, check_metadata=True)
    return type(theirs) is type(ours) and theirs == ours


def test_properties(name: str) -> None:
    theirs, ours = pyarrow.orc.ORCFile(PACK / "files" / name), pyarrow_orc.ORCFile(PACK / "files" / name)
    found = set()
    for each in PROPERTIES:
        if not is_same(outcome(lambda: getattr(theirs, each)), outcome(lambda: getattr(ours, each))):  # noqa: B023
            found.add(each)
    assert len(PROPERTIES) == 17
    assert found == DIFFERENT_PROPERTIES.get(name, (set(), ""))[0]


def test_values(name: str) -> None:
    path = PACK / "files" / name
    if name in ABORTING:
        assert pyarrow_orc.read_table(path).num_rows == pyarrow_orc.ORCFile(path).nrows
        return
    theirs, ours = outcome(lambda: pyarrow.orc.read_table(path)), outcome(lambda: pyarrow_orc.read_table(path))
    if isinstance(theirs, Exception):
        # Both refuse timestamps that nanoseconds do not reach, and nothing else.
        assert (type(theirs) is type(ours) is pa.ArrowInvalid) != (name in UNREADABLE), (theirs, ours)
        return
    assert ours.schema.metadata == theirs.schema.metadata
    different = different_columns(theirs, ours)
    assert different == DIFFERENT_COLUMNS.get(name, (set(), ""))[0]


def test_stripes(name: str) -> None:
    path = PACK / "files" / name
    if name in ABORTING or name in UNREADABLE:
        pytest.skip("pyarrow does not read the file")
    theirs, ours = pyarrow.orc.ORCFile(path), pyarrow_orc.ORCFile(path)
    for stripe in {0, theirs.nstripes // 2, theirs.nstripes - 1} & set(range(theirs.nstripes)):
        one, other = outcome(lambda: theirs.read_stripe(stripe)), outcome(lambda: ours.read_stripe(stripe))  # noqa: B023
        assert type(one) is type(other)
        if isinstance(one, pa.RecordBatch):
            assert different_columns(one, other) <= DIFFERENT_COLUMNS.get(name, (set(), ""))[0]


@pytest.mark.parametrize("damaged", files("corrupt"))
def test_corrupt_files(damaged: str) -> None:
    """Errors are exceptions that pyarrow raises for files."""
    with pytest.raises((OSError, pa.ArrowException)) as info:
        pyarrow_orc.read_table(PACK / "files" / damaged)
    assert isinstance(info.value.__cause__, orcish.OrcishError)


def test_columns(name: str) -> None:
    """Each column alone is that of the whole, by its name and by its index."""
    path = PACK / "files" / name
    if name in ABORTING or name in UNREADABLE:
        pytest.skip("pyarrow does not read the file")
    theirs, ours = pyarrow.orc.ORCFile(path), pyarrow_orc.ORCFile(path)
    names = ours.schema.names
    if len(set(names)) < len(names):
        pytest.skip("names of columns are there twice")
    for at in sorted({0, len(names) // 2, len(names) - 1} & set(range(len(names)))):
        one, other = outcome(lambda: theirs.read([names[at]])), outcome(lambda: ours.read([names[at]]))  # noqa: B023
        assert type(one) is type(other)
        if isinstance(one, pa.Table):
            assert different_columns(one, other) <= DIFFERENT_COLUMNS.get(name, (set(), ""))[0]
            assert ours.read([at]).schema.equals(other.schema, check_metadata=True)
