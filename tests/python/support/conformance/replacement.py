"""Judges of the replacement of ``pyarrow.orc``: properties, values, stripes and columns are those of pyarrow."""

from __future__ import annotations

import functools
from typing import Any

import pyarrow as pa
import pyarrow.orc
import pytest
from orcish.compat import pyarrow_orc

from support.conformance.opened import NULL_KEYS, Opened
from support.table_differences import different_columns, outcome

PROPERTIES = [name for name in vars(pyarrow.orc.ORCFile) if isinstance(getattr(pyarrow.orc.ORCFile, name), property)]
CALENDAR = "pyarrow reads days of the Julian calendar as Gregorian ones"
EPOCH = "pyarrow is a second off near 1970, in files of other zones"
HIVE_0_11 = "decimals without a type: pyarrow cuts them to six digits behind the point"
PRECISIONS = "alibaba+paimon-cpp/append_with_multiple_ts_precision_and_timezone.bucket-0.data-3f58c403-d8a-0.orc"
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
    PRECISIONS: ({"ts_milli"}, EPOCH),
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


def _is_same(theirs: Any, ours: Any) -> bool:
    """Whether schemas are equal with their metadata, or other values are equal and have one type."""
    if isinstance(theirs, pa.Schema) and isinstance(ours, pa.Schema):
        return theirs.equals(ours, check_metadata=True)
    return type(theirs) is type(ours) and theirs == ours


def _explained(file: Opened) -> set[str]:
    return DIFFERENT_COLUMNS.get(file.name, (set[str](), ""))[0]


def replacement_has_the_same_properties(file: Opened) -> None:
    ours = pyarrow_orc.ORCFile(file.path)
    assert len(PROPERTIES) == 17
    found = set()
    for name in PROPERTIES:
        one, other = (outcome(functools.partial(getattr, opened, name)) for opened in (file.cpp, ours))
        if not _is_same(one, other):
            found.add(name)
    assert found == DIFFERENT_PROPERTIES.get(file.name, (set(), ""))[0]


def replacement_has_the_same_values(file: Opened) -> None:
    if file.name in NULL_KEYS:
        assert pyarrow_orc.read_table(file.path).num_rows == pyarrow_orc.ORCFile(file.path).nrows
        return
    theirs, ours = file.cpp_rows, outcome(lambda: pyarrow_orc.read_table(file.path))
    if isinstance(theirs, Exception):
        # Both refuse timestamps that nanoseconds do not reach, and nothing else.
        assert (type(theirs) is type(ours) is pa.ArrowInvalid) != (file.name in UNREADABLE), (theirs, ours)
        return
    assert ours.schema.metadata == theirs.schema.metadata
    assert different_columns(theirs, ours) == _explained(file)


def replacement_has_the_same_stripes_and_columns(file: Opened) -> None:
    """Each column alone is that of the whole, by its name and by its index."""
    if file.name in NULL_KEYS or file.name in UNREADABLE:
        pytest.skip("pyarrow does not read the file")
    ours = pyarrow_orc.ORCFile(file.path)
    names = ours.schema.names
    calls = [functools.partial(_stripe, at=at) for at in _some(file.cpp.nstripes)]
    if len(set(names)) == len(names):
        calls += [functools.partial(_column, name=names[at]) for at in _some(len(names))]
    for call in calls:
        one, other = (outcome(functools.partial(call, opened)) for opened in (file.cpp, ours))
        assert type(one) is type(other)
        if isinstance(one, pa.RecordBatch | pa.Table):
            assert different_columns(one, other) <= _explained(file)
        if isinstance(one, pa.Table):
            (name,) = one.column_names
            assert ours.read([names.index(name)]).schema.equals(other.schema, check_metadata=True)


def _some(number: int) -> list[int]:
    """The first, a middle one, and the last."""
    return sorted({0, number // 2, number - 1} & set(range(number)))


def _stripe(file: Any, at: int) -> Any:
    return file.read_stripe(at)


def _column(file: Any, name: str) -> Any:
    return file.read([name])
