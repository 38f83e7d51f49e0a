"""Scans as lazy frames of polars."""

import datetime as dt
import decimal
import random

import orcish
import polars as pl
import pyarrow as pa
import pytest
from orcish import col
from orcish.reading.scan_reader import ScanReader
from support.case_loops import each_case
from support.cpp_writers import write_arrow
from support.random_cases import cases, seeded
from support.small_tables import put, rows

ROWS = 6000
GENERATOR = random.Random(5)


def column(make):
    return [None if GENERATOR.random() < 0.1 else make() for _ in range(ROWS)]


TABLE = pa.table(
    {
        "id": list(range(ROWS)),
        "i": pa.array(column(lambda: GENERATOR.randint(-50, 50)), pa.int32()),
        "f": column(lambda: GENERATOR.choice([0.0, -0.0, 1.5, float("nan"), float("inf"), GENERATOR.gauss(0, 3)])),
        "s": column(lambda: GENERATOR.choice(["", "a", "ab", "b", "ü", "zz"])),
        "d": pa.array(column(lambda: dt.date(2024, 1, 1) + dt.timedelta(GENERATOR.randint(0, 90))), pa.date32()),
        "t": pa.array(
            column(lambda: dt.datetime(2024, 1, 1) + dt.timedelta(0, GENERATOR.randint(0, 10**6))), pa.timestamp("us")
        ),
        "b": column(lambda: GENERATOR.random() < 0.5),
        "n": pa.array(column(lambda: {"p": GENERATOR.randint(0, 5), "q": GENERATOR.choice(["x", None])})),
        "l": column(lambda: [GENERATOR.randint(0, 9) for _ in range(GENERATOR.randint(0, 3))]),
    }
)
OPTIONS = {"stripe_size": 20_000, "batch_size": 500, "row_index_stride": 250}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    # Slices of nested columns pyarrow writes wrongly.
    thirds = [TABLE.take(pa.array(range(at, at + ROWS // 3))) for at in range(0, ROWS, ROWS // 3)]
    files = {f"part={i}/{i}.orc": write_arrow(part, **OPTIONS) for i, part in enumerate(thirds)}
    return put(tmp_path_factory.mktemp("polars"), files)


@pytest.fixture(scope="module")
def memory():
    part = pl.Series("part", [i // (ROWS // 3) for i in range(ROWS)], pl.Int64)
    return pl.from_arrow(TABLE).with_columns(part)


@pytest.fixture
def spy(monkeypatch):
    """What was asked of scans."""
    asked = []
    read_rows = ScanReader.read_rows

    def spied(self):
        asked.append(dict(self.options))
        return read_rows(self)

    monkeypatch.setattr(ScanReader, "read_rows", spied)
    return asked


def test_schema_and_rows_are_those_of_the_table(folder, memory):
    lazy = orcish.scan_polars(folder)
    assert lazy.collect_schema() == memory.schema
    assert lazy.collect().equals(memory)
    assert lazy.collect(engine="streaming").equals(memory)


def test_queries_go_down_to_the_reader(folder, memory, spy):
    lazy = orcish.scan_polars(folder)
    query = lazy.filter(pl.col("id") == 4567).select("s", pl.col("n").struct.field("p"))
    spy.clear()
    assert query.collect().equals(memory.filter(pl.col("id") == 4567).select("s", pl.col("n").struct.field("p")))
    (asked,) = spy
    assert set(asked["columns"]) <= {"s", "n", "id"}
    assert {"s", "n"} <= set(asked["columns"])
    assert asked["filters"].predicate.meta.root_names() == ["id"]
    # Which is to say that little is read.
    plan = orcish.scan(folder, **asked).explain()
    assert plan.rows_read <= 500
    assert plan.after_read is None


def test_numbers_of_rows_go_down(folder, memory, spy):
    lazy = orcish.scan_polars(folder)
    spy.clear()
    assert lazy.head(10).collect().equals(memory.head(10))
    assert spy[-1]["limit"] == 10
    assert lazy.select("s").head(3).collect().equals(memory.select("s").head(3))
    assert spy[-1]["columns"] == ["s"]
    assert lazy.slice(2500, 5).collect().equals(memory.slice(2500, 5))


def test_heads_and_filters_do_not_change_places(folder, memory):
    lazy = orcish.scan_polars(folder)
    keep = pl.col("i") > 0
    for engine in ("in-memory", "streaming"):
        for query in (
            lambda frame: frame.head(10).filter(keep),
            lambda frame: frame.filter(keep).head(10),
            lambda frame: frame.filter(keep).head(10).filter(pl.col("id") % 2 == 0).select("s"),
            lambda frame: frame.head(3000).filter(keep & (pl.col("part") == 1)).select("id"),
            lambda frame: frame.select("id", "i").head(7).filter(keep).select("id"),
        ):
            assert query(lazy).collect(engine=engine).equals(query(memory)), engine


def test_a_limit_of_the_scan_is_before_the_query(folder, memory):
    lazy = orcish.scan_polars(folder, limit=100)
    first = memory.head(100)
    assert lazy.collect().equals(first)
    assert lazy.filter(pl.col("i") > 0).select("s").collect().equals(first.filter(pl.col("i") > 0).select("s"))
    assert lazy.filter(pl.col("i") > 0).head(3).collect().equals(first.filter(pl.col("i") > 0).head(3))
    assert lazy.head(5).filter(pl.col("i") > 0).collect().equals(first.head(5).filter(pl.col("i") > 0))


def test_options_of_the_scan(folder, memory):
    lazy = orcish.scan_polars(folder, filters=col("id") >= 1000, columns=["s", "id"], row_number=True, batch_size=100)
    want = memory.filter(pl.col("id") >= 1000).select("s", "id", (pl.col("id") % 2000).alias("row_number"))
    assert lazy.collect().equals(want)
    assert lazy.filter(pl.col("s") == "a").collect().equals(want.filter(pl.col("s") == "a"))
    picked = lazy.filter(pl.col("row_number") < 10).select("row_number", "s")
    assert picked.collect().equals(want.filter(pl.col("row_number") < 10).select("row_number", "s"))
    assert lazy.select("row_number").collect().equals(want.select("row_number"))
    assert (
        lazy.select("row_number", "id")
        .head(5)
        .filter(pl.col("row_number") > 1002)
        .collect()
        .equals(want.select("row_number", "id").head(5).filter(pl.col("row_number") > 1002))
    )


def test_fields_that_were_asked_for_stay_those_that_are_read(folder, memory, spy):
    lazy = orcish.scan_polars(folder, columns=["n.p", "id", "s"])
    want = memory.select(pl.struct(pl.col("n").struct.field("p")).alias("n"), "id", "s")
    want = want.with_columns(pl.when(memory["n"].is_not_null()).then("n"))
    for engine in ("in-memory", "streaming"):
        for query in (
            lambda frame: frame,
            lambda frame: frame.select("n"),
            lambda frame: frame.filter(pl.col("id") < 100).select("s", "n"),
            lambda frame: frame.filter(pl.col("n").struct.field("p") == 3).head(7),
        ):
            assert query(lazy).collect(engine=engine).equals(query(want)), engine
    spy.clear()
    lazy.select("n").collect()
    assert spy[-1]["columns"] == ["n.p"]


def test_what_the_scan_asks_of_all_rows_comes_before_the_query(folder, memory):
    late = pl.col("id") > pl.col("id").mean()
    lazy, want = orcish.scan_polars(folder, filters=late), memory.filter(late)
    for keep in (pl.col("id") < 3100, pl.col("i").abs() > 40):
        assert lazy.filter(keep).select("s").collect().equals(want.filter(keep).select("s"))


def test_predicates_come_by_the_row(folder, memory, spy):
    """polars passes only elementwise predicates, for any function."""
    i, s = pl.col("i"), pl.col("s")
    lazy = orcish.scan_polars(folder)
    for keep in (i.hash() % 3 == 0, s.str.to_titlecase() == "Ab", i.is_in(pl.Series([1, 2, 3])), i.abs() > 40):
        spy.clear()
        assert lazy.filter((pl.col("id") < 5000) & keep).collect().equals(memory.filter((pl.col("id") < 5000) & keep))
        assert any(asked.get("filters") is not None for asked in spy)
    others = (
        i > i.mean(),
        i.shift() > 3,
        i.cum_sum() > 9,
        i.rank() > 50,
        i > i.mean().over("s"),
        s.is_first_distinct(),
    )
    for keep in (*others, i.fill_null(strategy="forward") > 4, i == pl.Series(range(ROWS)), pl.len() > 3):
        for engine in ("in-memory", "streaming"):
            assert lazy.filter(keep).collect(engine=engine).equals(memory.filter(keep)), keep


def test_counts(folder, spy):
    lazy = orcish.scan_polars(folder)
    for engine in ("in-memory", "streaming"):
        assert lazy.select(pl.len()).collect(engine=engine).item() == ROWS
        assert lazy.filter(pl.col("id") < 70).select(pl.len()).collect(engine=engine).item() == 70
        assert lazy.head(12).select(pl.len()).collect(engine=engine).item() == 12
    assert all(len(asked["columns"]) <= 2 for asked in spy if "columns" in asked)


def test_joins_and_groups(folder, memory):
    lazy = orcish.scan_polars(folder)
    for engine in ("in-memory", "streaming"):
        joined = lazy.join(lazy.filter(pl.col("part") == 2).select("id", other="i"), on="id").select("id", "other")
        want = memory.filter(pl.col("part") == 2).select("id", other="i")
        assert joined.sort("id").collect(engine=engine).equals(want)
        grouped = lazy.group_by("s").agg(pl.len(), pl.col("i").sum()).sort("s")
        assert grouped.collect(engine=engine).equals(memory.group_by("s").agg(pl.len(), pl.col("i").sum()).sort("s"))
    both = pl.concat([lazy.select("id"), lazy.select("id")])
    assert both.collect().height == 2 * ROWS
    assert pl.collect_all([lazy.select("id"), lazy.select("s")])[1].equals(memory.select("s"))


def test_plans_are_shown(folder):
    plan = orcish.scan_polars(folder).filter(pl.col("id") == 5).select("s").explain()
    assert "PYTHON SCAN" in plan.upper()


@each_case("strings", ["utf8", "large", "view", "dictionary"])
def test_forms_of_strings(folder, memory, strings):
    lazy = orcish.scan_polars(folder, strings=strings)
    assert lazy.collect_schema()["s"] == (pl.Categorical if strings == "dictionary" else pl.String)
    for engine in ("in-memory", "streaming"):
        for query in (
            lambda frame: frame.select("id", "s"),
            lambda frame: frame.filter(pl.col("s").cast(pl.String) == "ab").select("id"),
            lambda frame: frame.filter(pl.col("s") == "ab").select("id"),
            lambda frame: frame.filter(pl.col("s").is_in(["a", "zz"])).select("id"),
        ):
            got = query(lazy).collect(engine=engine).with_columns(pl.col(pl.Categorical).cast(pl.String))
            assert got.equals(query(memory)), engine


def test_types_of_polars(tmp_path):
    table = pa.table({"m": pa.array([[("a", 1)], None], pa.map_(pa.string(), pa.int64())), "y": [b"x", None]})
    lazy = orcish.scan_polars(write_arrow(table))
    assert lazy.collect().equals(pl.from_arrow(table))
    assert lazy.filter(pl.col("y").is_null()).select("m").collect().height == 1


def test_files_of_other_schemas(tmp_path):
    put(tmp_path, {"1.orc": rows(0, 5), "2.orc": pa.table({"id": pa.array([7], pa.int8()), "new": [1]})})
    lazy = orcish.scan_polars(tmp_path)
    assert lazy.filter(pl.col("text").is_null()).select("id").collect()["id"].to_list() == [7]
    assert lazy.filter(pl.col("id") > 3).collect()["id"].to_list() == [4, 7]


def test_errors_come_through(tmp_path):
    put(tmp_path, {"1.orc": rows(0, 5), "2.orc": b"no ORC"})
    with pytest.raises(Exception, match=r"2\.orc"):
        orcish.scan_polars(tmp_path).collect()
    with pytest.raises(FileNotFoundError):
        orcish.scan_polars(tmp_path / "none")


# Random queries.


def comparison(rng):
    name, values = rng.choice(
        [
            ("id", [rng.randint(-5, ROWS + 5)]),
            ("i", [rng.randint(-60, 60), 0.5]),
            ("f", [0.0, 1.5, float("nan"), float("inf"), rng.gauss(0, 3)]),
            ("s", ["", "a", "ab", "ü", "nothing"]),
            ("d", [dt.date(2024, 1, 1) + dt.timedelta(rng.randint(-5, 95))]),
            ("t", [dt.datetime(2024, 1, 1) + dt.timedelta(0, rng.randint(0, 10**6))]),
            ("part", [rng.randint(-1, 3)]),
        ]
    )
    value, column = rng.choice(values), pl.col(name)
    kind = rng.randrange(10)
    if kind == 6:
        return column.is_in([value, *values[:1]]) if name != "i" else column.is_in([1, 7])
    if kind == 7:
        return column.is_null() if rng.random() < 0.5 else column.is_not_null()
    if kind == 8:
        return {"s": column.str.starts_with("a"), "f": column.is_nan(), "i": column % 3 == 1}.get(name, pl.col("b"))
    if kind == 9:
        return pl.col("n").struct.field("p") > rng.randint(0, 5)
    return [column == value, column != value, column < value, column <= value, column > value, column >= value][kind]


def predicate(rng, depth=2):
    if depth == 0 or rng.random() < 0.3:
        return comparison(rng)
    left, right = predicate(rng, depth - 1), predicate(rng, depth - 1)
    return [left & right, left | right, ~left][rng.randrange(3)]


@each_case("case", range(cases(200)))
def test_random_queries(folder, memory, case):
    rng = seeded("queries of polars", case)
    steps = []
    for _ in range(rng.randint(1, 3)):
        step = rng.randrange(3)
        if step == 0:
            number = rng.choice([1, 10, 700, 2500])
            steps.append(lambda frame, number=number: frame.head(number))
        else:
            keep = predicate(rng)
            steps.append(lambda frame, keep=keep: frame.filter(keep))
    if rng.random() < 0.7:
        names = rng.sample(memory.columns, rng.randint(1, 4))
        steps.append(lambda frame: frame.select(names))

    def run(frame):
        for step in steps:
            frame = step(frame)
        return frame

    lazy = orcish.scan_polars(folder, threads=rng.choice([1, 3]), batch_size=rng.choice([100, 65_536]))
    want = run(memory.lazy()).collect()
    assert run(lazy).collect(engine=rng.choice(["in-memory", "streaming"])).equals(want), run(lazy).explain()


@each_case("zone", ["+05:30", "GMT+08:00", "PST", "-08:00", "EST", "Europe/Berlin", "UTC"])
def test_zones(tmp_path, zone):
    """Instants stay, also in zones that polars has not."""
    kind = pa.timestamp("us", zone)
    table = pa.table({"at": pa.array([0, None, 10**9], kind), "l": pa.array([[0], None, [7]], pa.list_(kind))})
    orcish.write_table(table, tmp_path / "a.orc")
    frame = orcish.scan_polars(tmp_path / "a.orc").collect()
    assert frame["at"].dt.epoch("us").to_list() == [0, None, 10**9]
    assert frame["l"].explode().dt.epoch("us").to_list() == [0, None, 7]


OTHER_TYPES = {
    "decimal of many digits": pa.array([decimal.Decimal("1.5")], pa.decimal256(50, 2)),
    "interval": pa.array([pa.MonthDayNano([1, 2, 3])]),
    "union": pa.UnionArray.from_sparse(pa.array([0], pa.int8()), [pa.array([1]), pa.array(["a"])]),
}


@each_case("name", OTHER_TYPES)
def test_types_that_polars_has_not(tmp_path, name):
    """polars panics on some of them."""
    orcish.write_table(pa.table({"x": OTHER_TYPES[name], "id": [1]}), tmp_path / "a.orc")
    for read in (
        orcish.scan_polars,
        lambda path: orcish.scan(path).to_polars(),
        lambda path: orcish.ORCFile(path).to_polars(),
    ):
        with pytest.raises(TypeError, match=r"column x of type .*: polars has no type for"):
            read(tmp_path / "a.orc")
    assert orcish.scan(tmp_path / "a.orc", columns=["id"]).to_polars()["id"].to_list() == [1]


def test_lists_of_no_items(tmp_path):
    """polars refuses lists of the fixed size 0."""
    table = pa.table(
        {
            "x": pa.array([[], None], pa.list_(pa.int32(), 0)),
            "l": pa.array([[[]], []], pa.list_(pa.list_(pa.int8(), 0))),
        }
    )
    orcish.write_table(table, tmp_path / "a.orc")
    for read in (lambda path: orcish.scan_polars(path).collect(), lambda path: orcish.scan(path).to_polars()):
        assert read(tmp_path / "a.orc").rows() == [([], [[]]), (None, [])]


@each_case("zone", ["+05:30", "GMT+08:00", "PST"])
def test_zones_that_polars_has_not(tmp_path, zone):
    """A filter of polars would ask for hours of UTC, beside the hours of the zone that are read."""
    table = pa.table({"at": pa.array([0, 1], pa.timestamp("us", zone)), "id": [1, 2]})
    orcish.write_table(table, tmp_path / "a.orc")
    for frame in (orcish.scan(tmp_path / "a.orc").to_polars(), orcish.ORCFile(tmp_path / "a.orc").to_polars()):
        assert frame["at"].dt.epoch("us").to_list() == [0, 1]
    with pytest.raises(TypeError, match="polars has no type for the time zone"):
        orcish.read_table(tmp_path / "a.orc", filters=pl.col("at").dt.hour() == 5)
    assert orcish.read_table(tmp_path / "a.orc", filters=pl.col("id") * 2 == 2)["id"].to_pylist() == [1]
