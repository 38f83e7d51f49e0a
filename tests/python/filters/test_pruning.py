"""What statistics and indexes leave out: no row that a filter is true of, in no more memory than is allowed."""

import datetime as dt
import functools
import io
import os
import random
import time
import zoneinfo
from decimal import Decimal

import orcish
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyorc
import pytest
from orcish import col
from pyarrow import orc
from support import orc_builder
from support.case_loops import each_case
from support.processes import run_python
from support.random_cases import cases, each_value
from support.small_tables import in_stripes

MIB = 1 << 20


def outcomes(path, condition):
    """Outcome and reasons of each stripe and row group."""
    explained = orcish.scan(path).where(condition).explain()
    stripes = [stripe for file in explained.files for stripe in file.stripes]
    return [(stripe.outcome, [reason for _, reason in stripe.reasons], stripe.row_groups) for stripe in stripes]


def test_strings_with_nul(tmp_path):
    path = str(tmp_path / "nul.orc")
    values = ["a\0m", "a\0b", "a\0z"]
    orc.write_table(pa.table({"s": values}), path)
    for value in values:
        assert orcish.read_table(path, filters=col("s") == value).num_rows == 1
    assert orcish.read_table(path, filters=col("s") > "a\0x").num_rows == 1
    assert orcish.read_table(path, filters=col("s") < "a\0c").num_rows == 1
    assert orcish.read_table(path, filters=col("s") <= "a\0n").num_rows == 2


@each_case("zone", ["Europe/Amsterdam", "Africa/Monrovia", "America/New_York"])
@each_case("year", [1890, 1930, 1975, 2090])
def test_rules_of_zones_that_differ(tmp_path, zone, year):
    path = str(tmp_path / "zone.orc")
    rules = zoneinfo.ZoneInfo(zone)
    with open(path, "wb") as file, pyorc.Writer(file, "struct<t:timestamp>", timezone=rules) as writer:
        for month in range(1, 4):
            writer.write((dt.datetime(year, month, 5, 12, tzinfo=rules),))
    times = orcish.read_table(path).column("t").to_pylist()
    for at in times:
        assert orcish.read_table(path, filters=col("t") == at).num_rows == 1
    assert orcish.read_table(path, filters=col("t") <= min(times)).num_rows == 1
    assert orcish.read_table(path, filters=col("t") >= max(times)).num_rows == 1


def test_stripe_statistics_of_another_number(tmp_path):
    path = str(tmp_path / "stripes.orc")
    types = [orc_builder.column_type(orc_builder.STRUCT, [1], ["x"]), orc_builder.column_type(orc_builder.LONG)]
    stripes = [(1, [(1, orc_builder.DATA, orc_builder.integers([value]))]) for value in (1, 2, 3)]
    of_file = [orc_builder.statistics(3), orc_builder.statistics(3, 1, 3)]
    # Those of the first stripe are missing.
    of_stripes = [[orc_builder.statistics(1), orc_builder.statistics(1, value, value)] for value in (2, 3)]
    file = orc_builder.orc(types, stripes, file_statistics=of_file, stripe_statistics=of_stripes)
    (tmp_path / "stripes.orc").write_bytes(file)
    for value in (1, 2, 3):
        assert orcish.read_table(path, filters=col("x") == value).column("x").to_pylist() == [value]
    assert orcish.scan(path).where(col("x") <= 1).count() == 1


@each_case("of", ["file", "stripes"])
@each_case("levels", [1, 2])
def test_statistics_below_structs_may_count_what_is_null(tmp_path, of, levels):
    """Statistics of fields may count values below null structs: ORC C++ leaves it to the application."""
    names = [*"st"[:levels], "x"]
    types = [orc_builder.column_type(orc_builder.STRUCT, [at + 1], [name]) for at, name in enumerate(names)]
    types.append(orc_builder.column_type(orc_builder.LONG))
    # Of eight rows the second half is null.
    streams = [
        (1, orc_builder.PRESENT, b"\xff\xf0"),
        (levels + 1, orc_builder.DATA, orc_builder.integers([1, 2, 3, 4])),
    ]
    every = [*[orc_builder.statistics(8)] * (levels + 1), orc_builder.statistics(8, 1, 4)]
    known = {"file_statistics": every} if of == "file" else {"stripe_statistics": [every, every]}
    path = tmp_path / "below.orc"
    path.write_bytes(orc_builder.orc(types, [(8, streams)] * 2, **known))
    x = col(".".join(names))
    for condition, rows in [
        (x.is_null(), 8),
        (x.is_not_null(), 8),
        (x >= 1, 8),
        (x.between(0, 9), 8),
        (~(x > 4), 8),
        (x > 4, 0),
        (x == 3, 2),
    ]:
        assert orcish.read_table(str(path), filters=condition).num_rows == rows, str(condition)
        assert orcish.scan(path).where(condition).count() == rows, str(condition)
    assert outcomes(path, x > 4) == [("skipped", [f"statistics of the {of.removesuffix('s')}"], ())] * 2


@each_case("asked", ["x", "y"])
@each_case("columns", [["x"], ["y"], ["y", "x"], []])
def test_rows_that_are_null_as_a_whole(asked, columns):
    """The root has a present stream. Rows that it has null have no values in any column."""
    types = [
        orc_builder.column_type(orc_builder.STRUCT, [1, 2], ["x", "y"]),
        orc_builder.column_type(orc_builder.LONG),
        orc_builder.column_type(orc_builder.LONG),
    ]
    streams = [(0, orc_builder.PRESENT, b"\xff\xaa"), (1, orc_builder.DATA, orc_builder.integers([1, 2, 3, 4]))]
    file = orcish.ORCFile(
        orc_builder.orc(types, [(8, [*streams, (2, orc_builder.DATA, orc_builder.integers([1, 2, 3, 4]))])])
    )
    rows = [None if row % 2 else row // 2 + 1 for row in range(8)]
    for condition, is_wanted in [
        (col(asked) == 3, lambda value: value == 3),
        (col(asked) >= 2, lambda value: value is not None and value >= 2),
        (col(asked).is_null(), lambda value: value is None),
        (col(asked).is_not_null(), lambda value: value is not None),
    ]:
        table = file.read(filters=condition, columns=columns, row_number="row")
        wanted = [row for row, value in enumerate(rows) if is_wanted(value)]
        assert table["row"].to_pylist() == wanted
        assert all(table[name].to_pylist() == [rows[row] for row in wanted] for name in columns)
        assert file.read(filters=condition, columns=columns).num_rows == len(wanted)


@each_case("groups", [1, 2, 3, 7])
@each_case("stripes", [1, 2])
def test_each_row_group_is_judged_by_itself(groups, stripes):
    """Row groups are pruned one by one, also in stripes of few row groups."""
    table = pa.table({"x": list(range(groups * stripes * 1000))})
    out = in_stripes(io.BytesIO(), table, groups * 1000, row_index_stride=1000)
    file = orcish.ORCFile(out.getvalue())
    for row in (0, 999, 1000 * (groups - 1), table.num_rows - 500, table.num_rows - 1):
        plan = file.explain(filters=col("x") == row)
        found = [(stripe.outcome, [outcome for _, outcome, _ in stripe.row_groups]) for stripe in plan.files[0].stripes]
        of_groups = ["read" if at == row % (groups * 1000) // 1000 else "skipped" for at in range(groups)]
        read = ("read", of_groups if groups > 1 else [])
        assert found == [read if at == row // 1000 // groups else ("skipped", []) for at in range(stripes)]
        assert plan.rows_read == 1000
        assert file.read(filters=col("x") == row)["x"].to_pylist() == [row]


def test_tails_are_limited_by_their_size_wherever_they_are():
    """The statistics of stripes are stored behind the data of all stripes."""
    table = pa.table({"x": list(range(100_000)), "y": [row * 7919 % 99_991 for row in range(100_000)]})
    out = in_stripes(io.BytesIO(), table, 20_000, compression="uncompressed")
    file = orcish.ORCFile(out.getvalue(), limits={"tail": 10_000})
    assert file.file_length > 50_000
    assert file.read(filters=col("x") == 77_777)["x"].to_pylist() == [77_777]
    (plan,) = file.explain(filters=col("x") == 77_777).files
    assert [stripe.outcome for stripe in plan.stripes].count("skipped") == 4


def test_explanations_of_long_conditions(numbers):
    """The text of long conditions counts as memory of an explanation."""
    for length in (1, 200, 300, 800, 100_000):
        condition = (col("s") == "x" * length) & (col("i") > 1000)
        assert outcomes(numbers, condition)[0][0] == "skipped"
        some = (col("s") > "l" * length) | (col("s") == "z" * length)
        assert outcomes(numbers, some)[0][0] == "skipped"


@each_case(("kind", "columns"), each_value([orc_builder.ROW_INDEX, orc_builder.BLOOM_FILTER], [20, 1]))
def test_indexes_are_bounded_by_the_memory_allowed(tmp_path, kind, columns):
    path = tmp_path / "index.orc"
    names = [f"c{at}" for at in range(columns)]
    ids = range(1, columns + 1)
    types = [
        orc_builder.column_type(orc_builder.STRUCT, ids, names),
        *[orc_builder.column_type(orc_builder.LONG)] * columns,
    ]
    # Empty entries of two bytes, a thousand of which take a byte in the file.
    streams = [(at, kind, b"\x0a\x00" * (30 * MIB // columns)) for at in ids]
    streams += [(at, orc_builder.DATA, orc_builder.integers([5] * 512)) for at in ids]
    path.write_bytes(orc_builder.orc(types, [(512, streams)], stride=100 if kind == orc_builder.ROW_INDEX else 0))
    code = """
        import resource, sys, orcish
        from orcish import col
        *names, path = sys.argv[1:]
        orcish.read_table(path)
        condition = col("c0") == 5
        for name in names:
            condition |= col(name) == 5
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        try:
            assert orcish.read_table(path, filters=condition, limits={"memory": 64 << 20}).num_rows == 512
        except orcish.LimitExceededError:
            pass
        print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
    """
    assert int(run_python(code, *names, str(path))) * 1024 < 150 * MIB


def test_explanations_are_bounded_by_the_memory_allowed():
    """Row groups without stored bytes need memory in an explanation."""
    rows = 20_480
    kinds = [orc_builder.column_type(orc_builder.STRUCT, [1], ["a"]), orc_builder.column_type(orc_builder.LONG)]
    data = orc_builder.orc(kinds, [(rows, [(1, orc_builder.DATA, orc_builder.zeros(rows // 512))])], stride=1)
    limits = {"memory": 8 << 20}
    assert orcish.scan(data, filters=col("a") == 0, limits=limits).count() == rows
    file = orcish.ORCFile(data, limits=limits)
    with pytest.raises(orcish.LimitExceededError, match="the row groups takes more than the 8388608 bytes allowed"):
        file.explain(filters=col("a") == 0)
    (plan,) = orcish.ORCFile(data).explain(filters=col("a") == 0).files
    assert len(plan.stripes[0].row_groups) == rows


def test_rows_that_are_all_wanted_are_counted_at_once():
    """`is not null` of a file with any number of rows is decided by its streams."""
    rows = 1 << 50
    types = [
        orc_builder.column_type(orc_builder.STRUCT, [1, 2], ["s", "x"]),
        orc_builder.column_type(orc_builder.STRUCT),
        orc_builder.column_type(orc_builder.LONG),
    ]
    data = orc_builder.orc(types, [(rows, [])])
    for condition in (col("s").is_not_null(), col("x").is_not_null() & col("s").is_not_null()):
        assert orcish.scan(data).where(condition).count() == rows
        batches = orcish.ORCFile(data).iter_batches(columns=[], filters=condition)
        assert sum(map(len, batches)) == rows
        batches = orcish.ORCFile(data).iter_batches(columns=[], filters=condition, limit=rows - 1)
        assert sum(map(len, batches)) == rows - 1


@each_case("levels", [256, 5_000, 100_000])
def test_filters_too_deep_are_refused(tmp_path, levels):
    path = str(tmp_path / "deep.orc")
    orc.write_table(pa.table({"x": [0, 1]}), path)

    def nested(levels):
        return functools.reduce(lambda made, _: ~made, range(levels), col("x") == 0)

    with pytest.raises(ValueError, match="more than 256 levels"):
        nested(levels)
    assert orcish.read_table(path, filters=nested(255))["x"].to_pylist() == [1]


def test_filters_that_are_deep_or_long(tmp_path):
    path = str(tmp_path / "deep.orc")
    orc.write_table(pa.table({"x": [0, 1]}), path)
    deep = long = col("x") == 0
    for at in range(126):
        deep = ~(deep | (col("x") == -at))
    for at in range(5_000):
        long = long | (col("x") == -at)
    assert orcish.read_table(path, filters=deep).column("x").to_pylist() == [0]
    assert orcish.scan(path).where(deep).to_table().column("x").to_pylist() == [0]
    assert orcish.read_table(path, filters=long).column("x").to_pylist() == [0]


def test_lengths_that_cannot_be_read_cannot_be_passed_over(tmp_path):
    path = tmp_path / "lengths.orc"
    runs = 8 * MIB
    outer = [runs * 512 // 2, runs * 512 - runs * 512 // 2, 0]
    types = [
        orc_builder.column_type(orc_builder.STRUCT, [1, 2], ["id", "lists"]),
        orc_builder.column_type(orc_builder.LONG),
        orc_builder.column_type(orc_builder.LIST, [3]),
        orc_builder.column_type(orc_builder.LIST, [4]),
        orc_builder.column_type(orc_builder.STRUCT),
    ]
    streams = [
        (1, orc_builder.DATA, orc_builder.integers([0, 1, 2])),
        (2, orc_builder.LENGTH, orc_builder.integers(outer, signed=False)),
        (3, orc_builder.LENGTH, orc_builder.zeros(runs)),
    ]
    path.write_bytes(orc_builder.orc(types, [(3, streams)]))
    took = []
    for condition in (None, col("id") == 2):
        start = time.process_time()
        with pytest.raises(orcish.LimitExceededError, match="elements"):
            orcish.read_table(str(path), filters=condition)
        took.append(time.process_time() - start)
    # The filter wants the last row: the 2^32 lengths of the lists before it are not decoded.
    assert took[1] <= took[0]


@pytest.fixture
def numbers(tmp_path):
    """Decimals up to 0.99, integers below 100 and strings of which only a bloom filter knows."""
    path = str(tmp_path / "numbers.orc")
    table = pa.table(
        {
            "d": pa.array([Decimal(at) / 100 for at in range(100)], pa.decimal128(10, 2)),
            "i": list(range(100)),
            "s": [f"k{at * 2}" for at in range(100)],
        }
    )
    orc.write_table(table, path, bloom_filter_columns=[3])
    return path


def test_greatest_decimals_are_exact(numbers):
    assert outcomes(numbers, col("d") > Decimal("0.99")) == [("skipped", ["statistics of the file"], ())]
    assert outcomes(numbers, col("d") <= Decimal("0.99")) == [("all", [], ())]
    assert outcomes(numbers, col("d") >= Decimal("0.99"))[0][0] == "read"


def test_proofs_of_different_kinds_go_together(numbers):
    assert outcomes(numbers, col("s") == "k13") == [("skipped", ["bloom filter"], ())]
    both = (col("i") > 1000) | (col("s") == "k13")
    assert outcomes(numbers, both) == [("skipped", ["statistics of the file", "bloom filter"], ())]
    assert outcomes(numbers, both | (col("s") == "k14"))[0][0] == "read"


LANGUAGES_OF_ROW_NUMBERS = {
    "orcish": col("row_number") >= 99_990,
    "text": "row_number >= 99990",
    "lists": [("row_number", ">=", 99_990)],
    "pyarrow": pc.field("row_number") >= 99_990,
    "polars": pl.col("row_number") >= 99_990,
}


@each_case("language", LANGUAGES_OF_ROW_NUMBERS)
def test_row_numbers_skip_stripes_and_row_groups(tmp_path, language):
    ids = list(range(100_000))
    in_stripes(tmp_path / "a.orc", pa.table({"id": ids}), 30_000)
    numbered = orcish.scan(tmp_path / "a.orc", row_number=True)
    wanted = numbered.where(LANGUAGES_OF_ROW_NUMBERS[language])
    *others, last = wanted.explain().files[0].stripes
    assert others
    assert {(stripe.outcome, *stripe.reasons) for stripe in others} == {
        ("skipped", ("row_number >= 99990", "row numbers"))
    }
    assert last.outcome == "read"
    assert wanted.to_table()["id"].to_pylist() == ids[-10:]
    assert (wanted.count(), wanted.min("id"), wanted.max("row_number")) == (10, 99_990, 99_999)
    assert [split.rows for split in wanted.splits()] == [10_000]


def test_row_numbers_beside_conditions_on_columns(tmp_path):
    """Also those that are evaluated on the types of the table, which differ from those of the file."""
    table = pa.table({"id": list(range(50_000)), "text": [str(row % 7) for row in range(50_000)]})
    orcish.write_table(table, tmp_path / "a.orc")
    rows = [7, *range(49_998, 50_000)]
    for schema in (None, pa.schema([("id", pa.string()), ("text", pa.string())])):
        text = "'7'" if schema else "7"
        for columns in (None, ["text"], ["id"], []):
            options = {"schema": schema, "columns": columns, "row_number": "n", "filters": f"n >= 49998 or id = {text}"}
            scan = orcish.scan(tmp_path / "a.orc", **options)
            assert scan.to_table()["n"].to_pylist() == rows
            assert scan.count() == len(rows)
            assert scan.max("text") == "5"
    assert orcish.scan(tmp_path / "a.orc", row_number="n", filters="n is null").count() == 0
    assert orcish.scan(tmp_path / "a.orc", row_number="n", filters="n is not null").count() == 50_000


def test_random_conditions_on_row_numbers(tmp_path):
    """Batches end anywhere in a row group, and row numbers decide a part of it."""
    rng = random.Random(os.environ["ORCISH_SEED"])
    ids = [rng.randrange(50) for _ in range(3_000)]
    in_stripes(tmp_path / "a.orc", pa.table({"id": ids}), 1_100)

    def number() -> int:
        return rng.choice([0, 1, 999, 1000, 1100, 2200, 2999, rng.randrange(3_000)])

    def condition(depth: int) -> str:
        if depth and rng.random() < 0.6:
            word = rng.choice([" and ", " or "])
            return rng.choice(["", "not "]) + f"({word.join(condition(depth - 1) for _ in range(2))})"
        if rng.random() < 0.25:
            return f"id {rng.choice(['=', '<', '>='])} {rng.randrange(50)}"
        if rng.random() < 0.3:
            return f"n in ({number()}, {number()}, {number()})"
        return f"n {rng.choice(['=', '<>', '<', '<=', '>', '>='])} {number()}"

    for _ in range(cases(60)):
        text = condition(3)
        python = text.replace("<>", "!=").replace(" = ", " == ")
        rows = [n for n, id_ in enumerate(ids) if eval(python, {"n": n, "id": id_})]
        options = {"row_number": "n", "filters": text, "batch_size": rng.choice([1, 7, 100, 1000, 4000])}
        scan = orcish.scan(tmp_path / "a.orc", columns=rng.choice([None, []]), **options)
        assert scan.to_table()["n"].to_pylist() == rows, text
        assert scan.count() == len(rows), text
