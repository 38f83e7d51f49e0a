"""Files that other implementations wrote, where they are at hand: parts of them are those of the whole, and peers read
the same rows, from anywhere.

What the whole has to be is what the pack says, which read/test_conformance.py compares; so where a peer reads something else,
it is the peer that is wrong, and the table says why.
"""

from __future__ import annotations

import functools
import importlib.util
import re
import zlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from typing import Any

import pyarrow as pa
import pyarrow.orc
import pyorc
import pytest
from support.conformance_pack import PACK, valid
from support.filter_cases import Subject, check, check_scan, leaf, predicate
from support.orc_cpp import SKIP, rows_of, same_form
from support.peer_predicates import PYORC, Leaf, askable, asked, conditions, finite, for_pyorc, for_spark, name_of
from support.random_cases import cases, seeded
from support.random_tables import Kind, of

MAX_ROWS = 20_000
FILTERS = 4
SEEKS = 12


FILES = valid()


def test_there_is_a_pack() -> None:
    if not FILES:
        pytest.skip(f"no conformance pack at {PACK}; ORCISH_CONFORMANCE says where one is")


CALENDAR = "C++ takes days of the Julian calendar for Gregorian ones"
NANOSECONDS = "pyarrow has timestamps of 64 bits of nanoseconds only"
DAYS = "pyorc has dates of Python, from year 1 to 9999"
ZONE = "the system knows no zone of that name"
EPOCH = "see test_peers_read.PEER_FAULTS: fractions near 1970 in files of other zones"
HIVE_0_11 = "decimals without a type: C++ gives them six digits after the point"
OTHER_IN_CPP = "stored numbers of 17 bits in a column of 16"
NULL_KEYS = [
    "openlookeng+hetu-core/test-data-composites-with-nulls.orc",
    "Smith-Cruise+starrocks/map_decimal_date.lz4.orc",
]
"""Files with null keys in maps; pyarrow ends the process for them."""
DEEP = [
    f"apache+impala/max_nesting_depth.{kind}.file.orc" for kind in ("int_array", "struct", "struct_array", "struct_map")
]
"""Files of more levels than pyarrow takes."""
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
    "apache+orc/encrypted.sample2.orc": "seeks within masks that have no bytes",
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


PYORC_ASKED = {
    "apache+orc/TestOrcFile.testSargSkipPickupGroupWithoutIndexJava.orc": "statistics know of no value, and are believed",
    "Smith-Cruise+starrocks/tinyint.orc": "bounds are recorded without their sign, and are believed",
}
"""Files of which pyorc does not find all rows by a condition."""
PYORC_MISLED = ("float", "timestamp")
"""Types that pyorc is not asked about: of floats, bounds are recorded before the values are rounded; a lower bound of a
timestamp with a part of a millisecond rules its own row out, and Python's datetimes do not show its nanoseconds."""


def marked(faults: dict[str, str]) -> list[Any]:
    """Files, and where a peer is known to be wrong, why."""
    known = {name: [pytest.mark.xfail(reason=faults[name], strict=True)] for name in faults}
    return [pytest.param(name, marks=known.get(name, [])) for name in FILES]


def subject_of(name: str) -> Subject:
    keys = "dictionary" if name in NULL_KEYS else "error"
    return Subject(PACK / "files" / name, masked="allow", timestamp_out_of_range="null", null_map_keys=keys)


@pytest.fixture(scope="module")
def tallies() -> Iterator[dict[str, Counter[str]]]:
    """Of each test, how many files it was asked of, and of how many something was compared: of most, where all were."""
    found: dict[str, Counter[str]] = defaultdict(Counter)
    yield found
    for test, tally in found.items():
        asked = tally.pop("asked")
        few = {what: number for what, number in tally.items() if number <= asked / 2}
        assert asked < len(FILES) / 2 or (tally and not few), (test, asked, few)


@pytest.fixture
def compared(request: pytest.FixtureRequest, tallies: dict[str, Counter[str]]) -> Callable[[str], None]:
    """To be called once for a file of which so much was compared."""
    tally = tallies[request.function.__name__]
    tally["asked"] += 1

    def count(what: str) -> None:
        tally[what] += 1

    return count


def module() -> Any:
    """How the pack compares values."""
    spec = importlib.util.spec_from_file_location("check", PACK / "check.py")
    assert spec is not None
    assert spec.loader is not None
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


@pytest.mark.parametrize("name", FILES)
def test_parts_are_those_of_the_whole(name: str, compared: Callable[[str], None]) -> None:
    """Filters, projections, limits, stripes and splits return parts of the whole. Plans include all rows that are
    found.
    """
    subject = subject_of(name)
    if name in DEEP:
        pytest.skip("more levels than pyarrow takes")
    if len({*subject.file.column_paths}) < len(subject.file.column_paths):
        pytest.skip("names of columns are there twice")
    if subject.file.num_rows > 300_000:
        pytest.skip("too many rows")
    titles = list(subject.kinds)
    if not titles:
        pytest.skip("no column that a filter can ask")
    rng = seeded(name)
    for _ in range(cases(FILTERS if subject.file.num_rows <= MAX_ROWS else 1)):
        picked = rng.choices(titles, k=rng.choice([1, 2, 4]))
        tree = predicate(rng, [leaf(rng, subject, title) for title in picked])
        if subject.file.type_string.startswith("struct"):
            check(rng, subject, tree, with_values=subject.file.num_rows <= MAX_ROWS)
        check_scan(rng, subject, tree, PACK / "files" / name)
    compared("parts")


@pytest.mark.parametrize("name", marked(PYARROW_FAULTS))
def test_pyarrow(name: str, compared: Callable[[str], None]) -> None:
    if name in NULL_KEYS:
        pytest.skip("pyarrow ends the process for null keys")
    subject = subject_of(name)
    pack = module()
    found = pyarrow.orc.read_table(PACK / "files" / name)
    ours = subject.whole()
    assert found.num_rows == ours.num_rows
    rows = pa.array(range(0, found.num_rows, found.num_rows // 1500 + 1), pa.int64())
    for title, theirs, column in zip(ours.column_names, found.columns, ours.columns, strict=True):
        if theirs.type == column.type and theirs.equals(column):
            continue
        pairs = zip(pack.canonical(theirs.take(rows)), pack.canonical(column.take(rows)), strict=True)
        for row, (got, want) in zip(rows, pairs, strict=True):
            assert pack.difference(got, want) is None, (title, row)
    compared("columns")


@pytest.mark.parametrize("name", marked(PYORC_FAULTS))
def test_pyorc(name: str, compared: Callable[[str], None]) -> None:
    subject = subject_of(name)
    path = PACK / "files" / name
    rng = seeded(name)
    ours = subject.whole()
    names = ours.column_names
    is_struct = subject.file.type_string.startswith("struct")
    if len({*names}) < len(names):
        pytest.skip("names of columns are there twice")
    count = subject.file.num_rows

    def shape(row: Any) -> Any:
        return same_form(row) if is_struct else {names[0]: same_form(row)}

    def want(at: int) -> Any:
        return {name: same_form(ours[name][at].as_py()) for name in names} or []

    data = path.read_bytes()
    reader = rows_of(data)
    assert len(reader) == count
    if count <= MAX_ROWS:
        whole = [shape(row) for row in reader]
        columns = [[same_form(value) for value in column.to_pylist()] for column in ours.columns]
        assert len(whole) == count
        for at, (got, *values) in enumerate(zip(whole, *columns, strict=True)):
            assert got == (dict(zip(names, values, strict=True)) or []), at
        compared("whole")
    sought = 0
    for _ in range(cases(min(count, SEEKS))):
        at = rng.randrange(count)
        # One that has been elsewhere may be wrong: see test_peers_read.PEER_FAULTS.
        reader = rows_of(data)
        try:
            reader.seek(at)
            for row in range(at, min(count, at + 3)):
                assert shape(next(reader)) == want(row), row
                sought += 1
        except pyorc.errors.ParseError as error:
            if str(error) != SKIP:
                raise
    if sought:
        compared("rows after seeks")


def leaves_of(subject: Subject) -> dict[str, Leaf]:
    """Simple columns at the top, for conditions that peers know; none of a file whose days Python does not have."""
    found = {}
    paths = subject.file.column_paths
    whole = subject.whole()
    for name in whole.column_names:
        # Spark knows names whatever their case.
        if [each.lower() for each in paths].count(name.lower()) != 1 or not re.fullmatch("[a-zA-Z]\\w*", name):
            continue
        id = paths.index(name)
        orc, kind = subject.file.column_types[id], whole[name].type
        try:
            values = whole[name].to_pylist()
        except OverflowError:
            return {}
        there = [value for value in values if value is not None and value == value]
        if there and not pa.types.is_nested(kind) and orc.partition("(")[0] in PYORC and not orc.startswith("char"):
            found[name] = Leaf(name, Kind(kind, orc, of(*there)), id, values)
    return found


def question(name: str, *, spark: bool) -> tuple[Subject, dict[str, Leaf], Any] | None:
    """A file that is not too large, its columns, and a condition on some of them."""
    subject = subject_of(name)
    if not 0 < subject.file.num_rows <= MAX_ROWS or not subject.file.type_string.startswith("struct"):
        return None
    by_name = leaves_of(subject)
    if not spark:
        by_name = {
            key: leaf for key, leaf in by_name.items() if askable(leaf) and not leaf.kind.orc.startswith(PYORC_MISLED)
        }
    rng = seeded(name)
    tree = conditions(rng, list(by_name.values())) if by_name else None
    while spark and tree and not finite(tree):
        tree = conditions(rng, list(by_name.values()))
    return tree and (subject, by_name, tree)


@pytest.mark.parametrize("name", [name for name in FILES if name not in PYORC_FAULTS and name not in PYORC_ASKED])
def test_pyorc_asks(name: str, compared: Callable[[str], None]) -> None:
    """pyorc with a predicate returns all matching rows."""
    found = question(name, spark=False)
    if found is None:
        pytest.skip("no column that both can ask, or too many rows")
    subject, by_name, tree = found
    names = [*dict.fromkeys(name_of(each) for each in asked(tree))]
    rows = rows_of((PACK / "files" / name).read_bytes(), predicate=for_pyorc(tree, by_name), column_names=names)
    got = Counter(repr([same_form(row[name]) for name in names]) for row in rows)
    matching = subject.whole().select(names).take(subject.rows(tree, {}))
    want = Counter(repr([same_form(row[name]) for name in names]) for row in matching.to_pylist())
    assert not want - got, tree
    compared("rows of a condition")


SPARK_FAULTS = {
    "apache+orc/TestOrcFile.testUnionAndTimestamp.orc": "Spark has no unions, and takes files with one for broken",
    "linkedin+spark/before_1582_ts_v2_4.snappy.orc": "the year 1001 in the zone PST has another clock",
    "Smith-Cruise+starrocks/tinyint.orc": PYORC_ASKED["Smith-Cruise+starrocks/tinyint.orc"],
}
"""Files of which Spark does not find the rows, and why."""
SPARK_FILES = 40


def counted(spark: Any, name: str) -> tuple[int, str, Any] | None:
    """How many rows of a file a condition is true for, the condition, and Spark's count to come."""
    found = question(name, spark=True)
    if found is None:
        return None
    subject, by_name, tree = found
    if "originalTransaction" in by_name:
        # Java takes columns of transactional tables for those of the rows within.
        return None
    where = for_spark(tree, by_name)
    # Of the columns that are asked alone, as Spark has not all types of the others.
    asks = dict.fromkeys(map(name_of, asked(tree)))
    columns = ", ".join(f"{each} {spark_type(by_name[each].kind.orc)}" for each in asks)
    frame = spark.read.schema(columns).orc(str(PACK / "files" / name)).where(where)
    return len(subject.rows(tree, {})), where, frame.selectExpr(f"'{name}' name", "count(*) count")


def spark_type(orc: str) -> str:
    """A type as Spark calls it."""
    return "string" if orc.startswith("varchar") else orc.removesuffix(" with local time zone")


def test_spark_asks(spark: Any) -> None:
    """Spark reads several files in one query, as each query has a fixed cost."""
    wanted: dict[str, Any] = {}
    for name in sorted(FILES, key=lambda name: zlib.crc32(name.encode())):
        found = counted(spark, name) if name not in SPARK_FAULTS and len(wanted) < cases(SPARK_FILES) else None
        if found is not None:
            wanted[name] = found
    if not FILES:
        pytest.skip(f"no conformance pack at {PACK}")
    assert len(wanted) >= cases(SPARK_FILES) / 2
    assert sum(want for want, _, _ in wanted.values())
    counts = functools.reduce(lambda one, other: one.union(other), (count for _, _, count in wanted.values())).toArrow()
    got = dict(zip(counts["name"].to_pylist(), counts["count"].to_pylist(), strict=True))
    differ = [(name, got[name], want, where) for name, (want, where, _) in wanted.items() if got[name] != want]
    assert not differ
