"""Least and greatest values and sums of scans: those of the values that are read, whatever statistics say."""

import datetime as dt
import functools
from decimal import Decimal

import orcish
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from orcish import col
from support.aggregates import DATA, FILES, check, leaves
from support.case_loops import each_case
from support.cpp_writers import write_arrow, write_rows
from support.http_server import serve
from support.orc_layout import layout
from support.random_cases import cases, seeded
from support.small_tables import put
from support.writer_tables import written

OPTIONS = [
    {},
    {"trim_char": True, "row_number": True},
    {"strings": "large", "timestamp_unit": "ms"},
    {"strings": "view"},
    {"strings": "dictionary", "row_number": "nth"},
    {"strings": "binary", "timestamp_unit": "ns", "timestamp_out_of_range": "null"},
]


@each_case("options", OPTIONS, ids=str)
@each_case("path", FILES, ids=lambda path: str(path.relative_to(DATA)))
def test_answers_are_those_of_the_rows(path, options):
    scan = orcish.scan(path, **options)
    for name, kind in leaves(orcish.scan(path, **{**options, "row_number": False}).schema):
        check(scan, name, kind)


@functools.cache
def table_of(path):
    return orcish.read_table(path)


@each_case("case", range(cases(60)))
def test_answers_of_parts(tmp_path, case):
    """Aggregates of filtered rows, of several files, of partition columns, and of splits are those of the rows."""
    rng = seeded("answers of parts", case)
    path = rng.choice([path for path in FILES if path.name.startswith(("spark", "java", "cpp", "bloom", "pyarrow"))])
    data = path.read_bytes()
    for day in range(rng.choice([1, 2, 3])):
        put(tmp_path, {f"day={day}/part.orc": data})
    scan = orcish.scan(tmp_path, **rng.choice(OPTIONS[:4]))
    names = [name for name, _ in leaves(table_of(path).schema) if "." not in name]
    for _ in range(4):
        asked = rng.choice(names)
        some = [value for value in table_of(path)[asked].to_pylist() if value is not None and value == value]
        tests = [col(asked).is_null(), col(asked).is_not_null(), col("day") >= 1]
        if some:
            value = rng.choice(some)
            tests += [col(asked) > value, col(asked) <= value, col(asked) == value]
        kept = scan.where(rng.choice(tests))
        name, kind = rng.choice(list(leaves(kept.schema)))
        check(kept, name, kind)
        check(kept.limit(rng.randint(0, 500)), name, kind)
        for split in kept.splits(rng.choice([1, 20_000]))[:4]:
            check(split.scan(), name, kind)


def test_answers_of_a_split_are_those_of_its_stripes():
    table = pa.table({"f": [float(at) for at in range(40_000)], "t": pa.array(range(40_000), pa.timestamp("us"))})
    data = write_arrow(table, stripe_size=64 << 10, batch_size=10_000)
    splits = orcish.scan(data).splits(1)
    assert len(splits) > 2
    at = 0
    for split in splits:
        part = split.scan()
        end = at + split.rows
        assert part.sum("f") == sum(range(at, end))
        assert (part.min("f"), part.max("f")) == (at, end - 1)
        assert part.min("t") == dt.datetime(1970, 1, 1) + dt.timedelta(microseconds=at)
        at = end
    assert at == 40_000


@each_case("unit", ["s", "ms", "us", "ns"])
def test_extremes_of_instants_are_not_those_of_clocks(tmp_path, unit):
    """Clocks of a zone are set back once a year. Values are in one batch, in several, and in several files."""
    first = dt.datetime(2025, 10, 26, 0, 30, tzinfo=dt.timezone.utc)
    moments = [first + dt.timedelta(minutes=15 * at) for at in range(8)]
    kind = pa.timestamp(unit, "Europe/Berlin")
    orders = [moments, moments[::-1], moments[1::2] + moments[::2]]
    for at, order in enumerate(orders):
        table = pa.table({"t": pa.array(order, pa.timestamp(unit, "UTC")).cast(kind)})
        one, several = tmp_path / f"{at}.orc", tmp_path / str(at)
        orcish.write_table(table, one)
        orcish.write_dataset(table, several, max_rows_per_file=1)
        for scan in (orcish.scan(one), orcish.scan(one, batch_size=1), orcish.scan(several)):
            assert scan.schema.field("t").type == kind
            assert scan.min("t").astimezone(dt.timezone.utc) == moments[0]
            assert scan.max("t").astimezone(dt.timezone.utc) == moments[-1]


def test_sums_of_decimals_are_exact():
    largest = Decimal(10**38 - 1)
    data = write_arrow({"d": pa.array([largest] * 4, pa.decimal128(38, 0)), "row": range(4)})
    assert orcish.scan(data).sum("d") == 4 * (10**38 - 1)
    assert orcish.scan([data, data]).where(col("row") < 3).sum("d") == 6 * (10**38 - 1)
    fine = Decimal("12345678901234567890123456.0123456789")
    data = write_arrow({"d": pa.array([fine] * 3, pa.decimal128(38, 10))})
    for scan in (orcish.scan([data, data]), orcish.scan([data, data], batch_size=1, filters=col("d") > 0)):
        assert scan.sum("d") == Decimal("74074073407407407340740736.0740740734")


def test_sums_of_integers_do_not_wrap_around():
    data = write_rows("struct<i:bigint>", [(2**63 - 1,)] * 5)
    assert orcish.scan([data, data]).sum("i") == 10 * (2**63 - 1)


def test_trimmed_chars_are_those_that_are_read():
    # The padding is greater than what stands in its place.
    data = write_rows("struct<c:char(4)>", [("a",), ("a\t",), ("b",)])
    for options in ({}, {"trim_char": True}):
        scan = orcish.scan(data, **options)
        found = scan.to_table()["c"].to_pylist()
        assert (scan.min("c"), scan.max("c")) == (min(found), max(found))
    assert orcish.scan(data, trim_char=True).max("c") == "b"


def test_columns_that_are_not_in_files(tmp_path):
    part = pa.table({"id": range(5)})
    put(
        tmp_path, {"day=2026-11-20/a.orc": part, "day=2026-11-21/b.orc": part, "day=2026-11-19/c.orc": part.slice(0, 0)}
    )
    scan = orcish.scan(tmp_path, row_number=True)
    assert (scan.min("day"), scan.max("day")) == (dt.date(2026, 11, 20), dt.date(2026, 11, 21))
    assert scan.where(col("id") > 9).min("day") is None
    assert (scan.min("row_number"), scan.max("row_number"), scan.sum("row_number")) == (0, 4, 20)
    assert scan.sum("id") == 20
    late = scan.where(pl.col("row_number") * 2 > 6)
    assert (late.min("id"), late.sum("id"), late.max("day")) == (4, 8, dt.date(2026, 11, 21))
    with pytest.raises(orcish.UnknownColumnError, match="idd"):
        scan.min("idd")


def test_what_has_no_answer_says_so():
    rows = [([1], "a", dt.datetime(2026, 1, 1), True)]
    scan = orcish.scan(write_rows("struct<l:array<int>,s:string,t:timestamp,b:boolean>", rows))
    with pytest.raises(TypeError, match=r"column l of type list.* has no least"):
        scan.min("l")
    for name in "lst":
        with pytest.raises(TypeError, match=f"column {name} of type .* has no sum"):
            scan.sum(name)
    assert (scan.max("b"), scan.sum("b")) == (True, 1)


def test_answers_that_statistics_prove_read_no_data():
    data = write_arrow({"i": range(10_000), "s": [f"{at:05}" for at in range(10_000)]}, compression="uncompressed")
    broken = bytearray(data)
    tail = layout(data).tail_start
    broken[3:tail] = b"\xff" * (tail - 3)
    for options in ({}, {"row_number": True}, {"strings": "dictionary"}, {"strings": "view"}):
        scan = orcish.scan(bytes(broken), **options)
        assert (scan.min("i"), scan.max("i"), scan.sum("i")) == (0, 9999, 9999 * 5000)
        assert (scan.min("s"), scan.max("s")) == ("00000", "09999")
    with serve({"/t.orc": bytes(broken)}) as server:
        assert orcish.scan(f"{server.url}/t.orc", filters=col("i") >= 0).max("i") == 9999


def test_bounds_that_are_not_utf8(tmp_path):
    """Invalid UTF-8 is an error with its place, or is converted as the options say."""
    values = pa.array([b"ok", b"caf\xe9", b"caf\xe9\xaa\xaa", b"\xff\xfe"])
    texts = pa.Array.from_buffers(pa.string(), len(values), values.buffers())
    path = put(tmp_path, {"bad.orc": write_arrow({"id": range(4), "s": texts})}) / "bad.orc"
    for name in ("min", "max"):
        assert getattr(orcish.scan(path), name)("id") in (0, 3)
        with pytest.raises(orcish.CorruptFileError, match=r"bad\.orc: .*column s.*not valid UTF-8"):
            getattr(orcish.scan(path), name)("s")
    for choice, least, greatest in [("replace", "caf骪", "\ufffd\ufffd"), ("null", "caf骪", "ok")]:
        scan = orcish.scan(path, invalid_utf8=choice)
        assert (scan.min("s"), scan.max("s")) == (least, greatest)


@each_case(
    ("kind", "number"),
    [
        (pa.date32(), 3_000_000),
        (pa.date32(), -800_000),
        (pa.timestamp("us"), 2**60),
        (pa.timestamp("s", "UTC"), -(10**12)),
        (pa.duration("s"), 2**60),
    ],
    ids=str,
)
@each_case("other", [0, None])
def test_values_that_python_does_not_hold_are_named(kind, number, other):
    """The error is the same from statistics and from values."""
    data = pa.array([number, other], pa.int32() if kind == pa.date32() else pa.int64()).cast(kind)
    scan = orcish.scan(written(pa.table({"a": pa.StructArray.from_arrays([data], ["when"])})))
    for part in (scan, scan.where("a.when is not null")):
        for question in ("min", "max"):
            if other is not None and (question == "max") == (number < 0):
                assert getattr(part, question)("a.when") == pa.scalar(other, data.type).as_py()
                continue
            with pytest.raises(OverflowError, match=r"column a\.when: .*1 to 9999.*pyarrow\.compute\.min_max"):
                getattr(part, question)("a.when")


@each_case("kind", [pa.time64("ns"), pa.timestamp("ns"), pa.duration("ns")], ids=str)
@each_case("encode", [lambda data: data, lambda data: data.dictionary_encode()], ids=["plain", "encoded"])
def test_no_digit_of_nanoseconds_is_cut_off(kind, encode):
    """The value has all digits, or is an error."""
    for number in (86_399_999_999_999, 86_399_999_999_000, 1, 0):
        data = encode(pa.array([number, None], kind))
        scan = orcish.scan(written(pa.table({"t": data})))
        for part in (scan, scan.where("t is not null")):
            for question in ("min", "max"):
                if kind == pa.time64("ns") and number % 1000:
                    with pytest.raises(OverflowError, match=r"column t: \d.*datetime\.time.*pyarrow\.compute\.min_max"):
                        getattr(part, question)("t")
                    continue
                assert pa.scalar(getattr(part, question)("t"), kind).value == number


def structs(fields, mask=None):
    return pa.StructArray.from_arrays(list(fields.values()), names=list(fields), mask=mask and pa.array(mask))


@each_case("nulls", ["all", "some", "outer", "none"])
@each_case("place", ["struct", "list", "map"])
def test_values_that_cpp_counts_below_null_structs_are_no_answers(place, nulls):
    """pyarrow writes and counts values below a null struct that is in a struct without nulls."""
    some = [True, False, True, False]
    masks = {"all": [True] * 4, "some": some, "outer": None, "none": None}
    leaf = pa.array([5, 7, 9, 3])
    inner = structs(
        {"n": leaf, "s": leaf.cast(pa.string()), "deep": structs({"d": leaf.cast(pa.float64())})}, masks[nulls]
    )
    if place == "list":
        inner = pa.ListArray.from_arrays(pa.array(range(5), pa.int32()), inner)
    elif place == "map":
        inner = pa.MapArray.from_arrays(pa.array(range(5), pa.int32()), leaf, inner)
    table = pa.table({"c": structs({"f": inner}, some if nulls == "outer" else None)})
    path = {"struct": "c.f", "list": "c.f.element", "map": "c.f.value"}[place]
    file = write_arrow(table)
    for name in ("n", "s", "deep.d"):
        found = orcish.ORCFile(file).statistics(f"{path}.{name}")
        assert (found.min is None) == (found.max is None)
        if nulls in ("all", "some"):
            assert (found.values, found.min, found.has_null) == (None, None, None)
        elif nulls == "none":
            assert found.min is not None
        if place != "struct":
            continue
        read = orcish.read_table(file)["c"].combine_chunks()
        for field in f"f.{name}".split("."):
            read = pc.struct_field(read, field)
        scan = orcish.scan(file)
        for question in ("min", "max"):
            assert getattr(scan, question)(f"{path}.{name}") == pc.min_max(read)[question].as_py()
    if place == "struct":
        answers = orcish.scan(file).sum("c.f.n")
        assert answers == pc.sum(pc.struct_field(orcish.read_table(file)["c"].combine_chunks(), ["f", "n"])).as_py()
