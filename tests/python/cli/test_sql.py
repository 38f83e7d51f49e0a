"""The command sql."""

from __future__ import annotations

import contextlib
import decimal
import functools
import io
import json
import pathlib
import shlex
import sys

import orcish
import pyarrow as pa
import pyarrow.orc as po
import pytest
from orcish_cli import main
from support.carbon import CarbonTableWriter
from support.cpp_writers import write_rows
from support.processes import ORCISH
from support.terminals import on_terminal

pytest.importorskip("duckdb")


@pytest.fixture
def run(run):
    """Runs ``orcish sql``."""
    return functools.partial(run, "sql")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """The current directory, with a table ``orders`` and a file ``names.orc``."""
    monkeypatch.chdir(tmp_path)
    orcish.write_dataset(pa.table({"id": range(10), "k": [i % 2 for i in range(10)]}), "orders", partition_by=["k"])
    orcish.write_table(pa.table({"id": [1, 2], "name": ["x", "y"]}), "names.orc")
    return tmp_path


class TestNames:
    def test_files_folders_and_patterns(self, folder, rows):
        assert rows("select k, sum(id) as s from 'orders/*/*.orc' group by k order by k") == [
            {"k": 0, "s": 20},
            {"k": 1, "s": 25},
        ]
        assert rows("select count(*) as n from orders") == [{"n": 10}]
        assert rows(f"select count(*) as n from '{folder}/orders/k=1'") == [{"n": 5}]
        assert rows('select name from "names.orc" where id = 2') == [{"name": "y"}]
        assert rows(f"select name from 'file://{folder}/names.orc' where id = 1") == [{"name": "x"}]

    def test_wherever_they_are_in_the_query(self, rows):
        pathlib.Path("more.csv").write_text("id,z\n1,5\n")
        assert rows("select * from orders o join 'names.orc' n using (id) join 'more.csv' using (id)") == [
            {"id": 1, "k": 1, "name": "x", "z": 5}
        ]
        assert rows("select (select max(id) from orders) as m") == [{"m": 9}]
        assert rows("select id from orders where id in (select id from 'names.orc') order by id") == [
            {"id": 1},
            {"id": 2},
        ]
        assert rows("from 'names.orc' union all by name from orders where id > 8") == [
            {"id": 1, "name": "x", "k": None},
            {"id": 2, "name": "y", "k": None},
            {"id": 9, "name": None, "k": 1},
        ]
        assert rows(
            "with names as (from 'names.orc'), orders as (from orders where id > 7) select count(*) as n from orders, names"
        ) == [{"n": 4}]
        assert [row["column_name"] for row in rows("describe 'names.orc'")] == ["id", "name"]
        assert [row["max"] for row in rows("summarize 'names.orc'")] == ["2", "y"]
        for begin in ("-- the names = all\n", "--all\n", "--all of = them\n"):
            assert rows(f"{begin}select name from 'names.orc' where id = 1") == [{"name": "x"}]
        assert rows("select 'names.orc' as text") == [{"text": "names.orc"}]

    def test_given_names(self, rows, run):
        assert rows("select count(*) as n from a, B", "--table", "a=orders", "--table", "b=names.orc") == [{"n": 20}]
        # A given name takes precedence over a file.
        assert rows("select count(*) as n from orders", "--table", "ORDERS=names.orc") == [{"n": 2}]

    def test_names_that_differ_by_case(self, rows, run):
        orcish.write_table(pa.table({"id": [7]}), "NAMES.orc")
        code, lines, err = run("select * from 'names.orc', 'NAMES.orc'")
        assert (code, lines) == (1, [])
        assert "ignores case" in err
        assert rows("select upper.id from 'names.orc' n, upper where n.id = 1", "--table", "upper=NAMES.orc") == [
            {"id": 7}
        ]

    def test_odd_names(self, rows):
        for name in ("a b.orc", "it's.orc", 'quo"te.orc', "semi;colon.orc", "ü.orc", "x--y.orc"):
            orcish.write_table(pa.table({"id": [1]}), name)
            quoted = name.replace("'", "''")
            assert rows(f"select id from '{quoted}'") == [{"id": 1}]

    def test_carbon(self, folder, rows):
        written = CarbonTableWriter(folder / "carbon", pa.schema([("id", pa.int32())]))
        written.load(pa.table({"id": pa.array(range(10), pa.int32())}))
        assert rows("select sum(id) as s from carbon where id > 5") == [{"s": 30}]

    def test_a_store(self, store, rows):
        orcish.write_table(pa.table({"id": range(20)}), "s3://shelf/t/a.orc", storage_options=store.options)
        options = [f"--storage-option={name}={value}" for name, value in store.options.items()]
        for source in ("s3://shelf/t/", "s3://shelf/t/*.orc", "s3://shelf/t/a.orc"):
            assert rows(f"select count(*) as n from '{source}' where id > 9", *options) == [{"n": 10}]


def test_columns_and_filters_are_pushed_down(rows, run):
    with orcish.ORCWriter(
        "stripes.orc", pa.schema([("id", pa.int64()), ("text", pa.string())]), compression="none"
    ) as writer:
        for at in range(3):
            writer.write(pa.table({"id": range(at * 1000, at * 1000 + 1000), "text": [f"{i}" for i in range(1000)]}))
            writer.end_stripe()
    first = orcish.ORCFile("stripes.orc").stripes[0]
    with pathlib.Path("stripes.orc").open("r+b") as file:
        file.seek(first.offset)
        file.write(b"\xff" * (first.index_length + first.data_length + first.footer_length))
    assert rows("select count(text) as n from 'stripes.orc' where id >= 1000") == [{"n": 2000}]
    code, _, err = run("select count(text) from 'stripes.orc'")
    assert code == 1
    assert "stripe 0" in err


def test_values(rows):
    query = (
        "select 1::hugeint as h, time '01:02:03.5' as t, interval 1 day as i, uuid() is not null as u, {'a': [1, null]} as s, "
        "map {'k': 1} as m, 'x'::blob as b, [1, 2]::int[2] as a, timestamptz '2026-01-02 03:04:05+00' as z, "
        "'a'::enum('a', 'b') as e, union_value(k := 1) as v, 'nan'::double as n, date '2026-01-02' as d"
    )
    assert rows(query) == [
        {
            "h": 1,
            "t": "01:02:03.5",
            "i": "P0M1DT0S",
            "u": True,
            "s": {"a": [1, None]},
            "m": {"k": 1},
            "b": "78",
            "a": [1, 2],
            "z": "2026-01-02T03:04:05Z",
            "e": "a",
            "v": {"tag": 0, "value": 1},
            "n": "NaN",
            "d": "2026-01-02",
        }
    ]


INTEGERS = {
    "1": 1,
    "-9223372036854775808": -(2**63),
    "9223372036854775807": 2**63 - 1,
    "9223372036854775808": "9223372036854775808",
    "170141183460469231731687303715884105727": "170141183460469231731687303715884105727",
}


@pytest.mark.parametrize("value", INTEGERS)
def test_integers_of_128_bits(value, rows, run):
    """Numbers where 64 bits hold them, at any depth; decimals are strings."""
    made = f"('{value}')::hugeint"
    shown = INTEGERS[value]
    query = f"select {made} as h, [{made}] as l, {{'a': {made}}} as s, map {{'k': [{made}]}} as m, null::hugeint as n"
    assert rows(query) == [{"h": shown, "l": [shown], "s": {"a": shown}, "m": {"k": [shown]}, "n": None}]
    assert rows("select 1::decimal(38, 0) as d") == [{"d": "1"}]
    assert run(f"select {made} as {'h' * 40}")[1][-1] == value.rjust(40)


def test_unsigned_integers_of_128_bits(rows):
    assert rows("select 7::uhugeint as a, ('340282366920938463463374607431768211455')::uhugeint as b") == [
        {"a": 7, "b": str(2**128 - 1)}
    ]


INTERVALS = {
    "interval 1 hour": "PT3600S",
    "interval (-1500) millisecond": "PT-1.5S",
    "interval 0 second": "PT0S",
    "interval 14 month": "P14M",
    "interval (-14) month": "P-14M",
    "interval 1 day": "P0M1DT0S",
    "interval 1 day + interval 1 month + interval 1 second": "P1M1DT1S",
}


@pytest.mark.parametrize("value", INTERVALS)
def test_intervals(value, rows, run):
    assert rows(f"select {value} as i, [{value}] as l") == [{"i": INTERVALS[value], "l": [INTERVALS[value]]}]
    assert run(f"select {value} as i")[1][-1] == INTERVALS[value]


def test_output(run, folder):
    code, lines, _ = run("select id, repeat('ü', 60) as long from orders order by id", "-n", 2, "--width", 5)
    assert (code, lines) == (0, ["id  long", "--  -----", " 0  üüüü…", " 1  üüüü…"])
    assert run("select id from orders where false")[1] == ["id", "--"]
    code, lines, _ = run("select '\x1b[31m' as \"\x1b[0m\"")
    assert all(line.isprintable() for line in lines)
    code, shown = on_terminal(ORCISH, "sql", f"select max(id) as m from '{folder}/orders'")
    assert code == 0
    assert "9" in shown


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("selec 1", "syntax error"),
        ("", "the query: it is empty"),
        (" \n", "the query: it is empty"),
        ("/* select 1 */", "the query: it is empty"),
        ("-- select 1", "the query: it is empty"),
        (";", "the query: it is empty"),
        ("select 1; select 2", "one is run at a time"),
        ("drop table x", "only queries are run"),
        ("copy (select 1) to 'x.csv'", "only queries are run"),
        ("create view v as select 1", "only queries are run"),
        ("install httpfs", "only queries are run"),
        ("select * from nope", "nope does not exist"),
        ("select * from 'nope.orc'", "nope.orc"),
        ("select * from 'nope/*.orc'", "nothing matches the pattern"),
        ("select * from options", "options does not exist"),
        ("select nope from 'names.orc'", "nope"),
        ("select error('oh no') from 'names.orc'", "oh no"),
        ("select * from 'bad.orc'", "bad.orc"),
    ],
)
def test_errors(query, text, run, folder):
    (folder / "bad.orc").write_bytes(b"ORC, or so it seems" * 20)
    code, lines, err = run(query)
    is_query = text not in (
        "syntax error",
        "the query: it is empty",
        "one is run at a time",
        "only queries are run",
    )
    assert (code, lines) == (1 if is_query else 2, [])
    assert text in err
    assert err.count("\n") == 1
    assert {path.name for path in folder.iterdir()} == {"orders", "names.orc", "bad.orc"}


def test_columns_of_one_name(run):
    query = "select 1 as a, 'x' as a, 2 as b"
    code, (line,), _ = run(query, "--json")
    assert (code, line) == (0, '{"a": 1, "a_1": "x", "b": 2}')
    assert run(query)[1][-1].split() == ["1", "x", "2"]


def test_without_duckdb(monkeypatch, run):
    monkeypatch.setitem(sys.modules, "duckdb", None)
    code, lines, err = run("select 1")
    assert (code, lines) == (1, [])
    assert "pip install duckdb" in err


def test_arguments(run):
    assert run("select 1 as a", "--threads", 1, "--memory", "500MB")[0] == 0
    for arguments in (["select 1", "--threads", "0"], ["select 1", "--table", "a"], []):
        with pytest.raises(SystemExit):
            main(["sql", *arguments])


class TestColumns:
    """Only columns of the query are read, and values are those of ``data``."""

    @pytest.fixture(
        params=[
            "union",
            "nulls of unions",
            "unions in lists",
            "float16",
            "decimal256",
            "time",
            "duration",
            "duration[us]",
            "uint64",
            "nanoseconds",
            "seconds",
            "null keys",
            "struct keys",
            "interval",
            "nested durations",
        ]
    )
    def column(self, request):
        unions = pa.UnionArray.from_dense(
            pa.array([0, 1], pa.int8()),
            pa.array([0, 0], pa.int32()),
            [pa.array([None], pa.int64()), pa.array([None, "x"])],
        )
        values = {
            "union": pa.UnionArray.from_dense(
                pa.array([0, 1], pa.int8()), pa.array([0, 0], pa.int32()), [pa.array([1]), pa.array(["x"])]
            ),
            "nulls of unions": unions,
            "unions in lists": pa.ListArray.from_arrays([0, 2, 2], pa.StructArray.from_arrays([unions], ["u"])),
            "float16": pa.array([1.5, None], pa.float16()),
            "decimal256": pa.array([1, None], pa.int64()).cast(pa.decimal256(30, 2)),
            "time": pa.array([1, None], pa.time64("ns")),
            "duration": pa.array([1500000001, None], pa.duration("ns")),
            "duration[us]": pa.array([1500001, -86400 * 10**6], pa.duration("us")),
            "nested durations": pa.array([[{"d": 0}], None], pa.list_(pa.struct([("d", pa.duration("us"))]))),
            "uint64": pa.array([2**64 - 1, None], pa.uint64()),
            "nanoseconds": pa.array([1, None], pa.timestamp("ns")),
            "seconds": pa.array([10**13, None], pa.timestamp("s")),
            "null keys": pa.array([[("a", 1)], []], pa.map_(pa.string(), pa.int64())),
            "struct keys": pa.array(
                [[({"k": 1}, {"v": 2})], []],
                pa.map_(pa.struct([("k", pa.int64())]), pa.struct([("v", pa.int64())])),
            ),
            "interval": pa.array([(1, 2, 3), None], pa.month_day_nano_interval()),
        }
        return values[request.param]

    def test_values(self, column, rows, run):
        orcish.write_table(pa.table({"c": column, "id": [1, 2]}), "types.orc")
        _, lines, _ = run("select id from 'types.orc'", "--json")
        assert lines == ['{"id": 1}', '{"id": 2}']
        assert rows("select count(*) as n from 'types.orc'") == [{"n": 2}]
        assert rows("from 'types.orc' order by id") == data("types.orc")

    @pytest.mark.parametrize(
        ("kind", "name", "values"),
        [
            ("Int", "interval year to month", {14: "P14M", -1: "P-1M"}),
            ("BigInt", "interval day to second", {86_400_000_000: "PT86400S", -1: "PT-0.000001S", 0: "PT0S"}),
        ],
    )
    def test_intervals_of_spark(self, kind, name, values, rows):
        pyorc = pytest.importorskip("pyorc")
        column = getattr(pyorc, kind)()
        column.set_attributes({"spark.sql.catalyst.type": name})
        with open("spark.orc", "wb") as file, pyorc.Writer(file, pyorc.Struct(c=column)) as writer:
            writer.writerows([(value,) for value in [*values, None]])
        assert [row["c"] for row in rows("from 'spark.orc'")] == [*values.values(), None]

    def test_columns_that_cannot_be_read(self, rows, run):
        po.write_table(pa.table({"s": ["QQ0", "b"], "id": [1, 2]}), "text.orc", compression="uncompressed")
        path = pathlib.Path("text.orc")
        path.write_bytes(path.read_bytes().replace(b"QQ", b"\xff\xfe"))
        assert rows("select count(*) as n, sum(id) as s from 'text.orc'") == [{"n": 2, "s": 3}]
        assert rows("select 1 as one from 'text.orc' limit 1") == [{"one": 1}]
        code, _, err = run("select s from 'text.orc'")
        assert code == 1
        assert "text.orc: stripe 0, column s" in err
        assert "Traceback" not in err

    def test_null_keys_of_maps(self, rows, run):
        maps = [{"a": 1, None: 2}, {"b": 3}]
        pathlib.Path("keys.orc").write_bytes(write_rows("struct<i:int,m:map<string,int>>", list(enumerate(maps))))
        assert rows("select i from 'keys.orc'") == [{"i": 0}, {"i": 1}]
        code, _, err = run("select m from 'keys.orc'")
        assert code == 1
        assert "keys.orc: stripe 0, column m: value 0 of the batch is a map with a null key" in err

    def test_digits(self, rows):
        base = 1500000000_000000000
        po.write_table(pa.table({"t": pa.array([base + 1, base + 999], pa.timestamp("ns"))}), "n.orc")
        assert rows("select count(distinct t) as n, max(t) as m from 'n.orc'") == [
            {"n": 2, "m": "2017-07-14T02:40:00.000000999"}
        ]
        assert rows("select count(*) as n from 'n.orc' where t > timestamp_ns '2017-07-14 02:40:00.0000005'") == [
            {"n": 1}
        ]

    def test_columns_of_the_same_name(self, rows):
        table = pa.Table.from_arrays([pa.array([1]), pa.array(["p"])], names=["x", "x"])
        po.write_table(table, "twice.orc")
        assert rows("from 'twice.orc'") == [{"x": 1, "x_1": "p"}]
        assert rows("select x_1, x from 'twice.orc'") == [{"x_1": "p", "x": 1}]
        assert rows("select x from 'twice.orc' where x_1 = 'p'") == [{"x": 1}]
        assert rows("select count(*) as n from 'twice.orc' where x_1 <> 'p'") == [{"n": 0}]


class TestNamesOfColumnsThatDifferByCase:
    """duckdb ignores case. Columns that are needed are not taken for others."""

    @pytest.fixture(autouse=True)
    def files(self, folder):
        struct = pa.StructArray.from_arrays([pa.array([1]), pa.array([2])], ["X", "x"])
        columns = {
            "columns": {"A": [1], "a": [2], "odd, A": [1], "odd, a": [2]},
            "fields": {"c": struct},
            "fields_of_fields": {"c": pa.StructArray.from_arrays([struct], ["s"])},
            "elements": {"c": pa.ListArray.from_arrays([0, 1], struct)},
            "values": {"c": pa.MapArray.from_arrays([0, 1], pa.array(["k"]), struct)},
        }
        for name, own in columns.items():
            orcish.write_table(pa.table({**own, "b": [3]}), f"{name}.orc")

    @pytest.mark.parametrize(
        ("query", "names"),
        [
            ("select a from 'columns.orc'", "columns A and a"),
            ("select A from 'columns.orc'", "columns A and a"),
            ("select a_1 from 'columns.orc'", "columns A and a"),
            ("select * from 'columns.orc'", "columns A and a"),
            ("select b from 'columns.orc' where a = 2", "columns A and a"),
            ("select b from 'columns.orc' order by a", "columns A and a"),
            ("select t from 'columns.orc' t", "columns A and a"),
            ("select \"odd, a\" from 'columns.orc'", "columns odd, A and odd, a"),
            ("describe 'columns.orc'", "columns A and a"),
            ("summarize 'columns.orc'", "columns A and a"),
            ("select id from 'names.orc' natural join (select a as id from 'columns.orc')", "columns A and a"),
            ("select c.x from 'fields.orc'", "fields c.X and c.x"),
            ("select b from 'fields.orc' where c.x = 2", "fields c.X and c.x"),
            ("select c.s.x from 'fields_of_fields.orc'", "fields c.s.X and c.s.x"),
            ("select c[1].x from 'elements.orc'", "fields c.element.X and c.element.x"),
            ("select c['k'].x from 'values.orc'", "fields c.value.X and c.value.x"),
        ],
    )
    def test_they_are_refused(self, query, names, run):
        code, lines, err = run(query)
        assert (code, lines) == (1, [])
        assert f".orc: {names} are one name to duckdb, which ignores case" in err
        assert err.count("\n") == 1

    @pytest.mark.parametrize("query", ["summarize 'fields.orc'", "select c::varchar from 'elements.orc'"])
    def test_types_that_duckdb_binds(self, query, run):
        """It does so before it asks for rows."""
        code, lines, err = run(query)
        assert (code, lines) == (1, [])
        assert "are one name to duckdb, which ignores case" in err
        assert err.count("\n") == 1

    def test_columns_without_a_name(self, rows):
        """duckdb calls them by their positions, which may be the names of others."""
        columns = [pa.array([number]) for number in range(4)]
        orcish.write_table(pa.Table.from_arrays(columns, ["", "V0", "b", "v_0"]), "empty.orc")
        assert rows("select * from 'empty.orc'") == [{"v0_": 0, "V0": 1, "b": 2, "v_0": 3}]
        assert rows("select \"V0\", v0_ from 'empty.orc' where v0_ = 0") == [{"V0": 1, "v0_": 0}]

    @pytest.mark.parametrize("name", ["columns", "fields", "fields_of_fields", "elements", "values"])
    def test_other_columns_are_read(self, name, rows):
        assert rows(f"select b from '{name}.orc' where b = 3") == [{"b": 3}]
        assert rows(f"select count(*) as n from '{name}.orc'") == [{"n": 1}]

    @pytest.mark.parametrize(
        "query", ["from 'columns.orc'", "select \"odd, a\" from 'columns.orc'", "from 'elements.orc'"]
    )
    def test_what_the_message_says_is_done(self, query, run):
        _, _, err = run(query)
        command = shlex.split(err[err.index("orcish rewrite") :].replace("=NAME", "=other"))
        assert main([each.replace("NEW", "new.orc") for each in command[1:]]) == 0
        names = [field.name.lower() for field in orcish.ORCFile("new.orc").arrow_schema()]
        # One pair is mended.
        assert len(names) - len(set(names)) == (1 if "columns" in query else 0)

    def test_names_that_are_given(self, run):
        code, _, err = run("select a from t", "--table", "t=columns.orc")
        assert code == 1
        assert "columns.orc: columns A and a" in err

    def test_case_of_letters_that_duckdb_distinguishes(self, rows):
        orcish.write_table(pa.table({"Ä": [1], "ä": [2]}), "Ö.orc")
        orcish.write_table(pa.table({"Ä": [3], "ß": [4], "ss": [5]}), "ö.orc")
        assert rows("select o.ä, p.Ä, p.ss from 'Ö.orc' o, 'ö.orc' p") == [{"ä": 2, "Ä": 3, "ss": 5}]


@pytest.mark.parametrize("query", ["select 1 from 'none.orc'", "from 'none.orc'", "select count(*) from t"])
def test_files_without_columns(query, run):
    orcish.write_table(
        pa.Table.from_batches([pa.RecordBatch.from_struct_array(pa.array([{}], pa.struct([])))]), "none.orc"
    )
    code, lines, err = run(query, "--table", "t=none.orc")
    assert (code, lines) == (1, [])
    assert err.startswith("orcish: none.orc: there are no columns")


def data(path):
    """The rows that ``orcish data`` prints."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        assert main(["data", path, "--all", "--json"]) == 0
    return [json.loads(line) for line in printed.getvalue().splitlines()]


def test_partition_columns_have_all_digits(rows):
    """Intervals of duckdb are in microseconds."""
    values = [10**9 + 1, -1, 0]
    table = pa.table({"id": [0, 1, 2], "p": pa.array(values, pa.duration("ns"))})
    orcish.write_dataset(table, "t", partition_by=["p"])
    assert rows("select * from 't' order by id") == sorted(data("t"), key=lambda row: row["id"])
    assert len(rows("select p from 't' group by p")) == 3


@pytest.mark.parametrize("digits", [30, 38, 39, 76])
def test_numbers_are_compared_as_numbers(run, rows, digits):
    """Types that duckdb does not have are others that hold their values, or errors where they are read."""
    values = [decimal.Decimal("9.5"), decimal.Decimal("10.0"), decimal.Decimal("2.0")]
    table = pa.table({"id": [0, 1, 2], "p": pa.array(values, pa.decimal256(digits, 1))})
    orcish.write_dataset(table, "t", partition_by=["p"])
    if digits > 38:
        code, _, err = run("select max(p) as p from 't'")
        assert code == 1
        assert f"t: column p is decimal256({digits}, 1), and duckdb has no decimals of so many digits" in err
        assert rows("select max(id) as id from 't'") == [{"id": 2}]
        return
    assert rows("select max(p) as p from 't'") == [{"p": "10.0"}]
    half = pa.table({"id": [0, 1, 2], "p": pa.array([9.5, 10.0, 2.0]).cast(pa.float16())})
    orcish.write_dataset(half, "h", partition_by=["p"])
    assert rows("select p from 'h' where p > 3 order by p") == [{"p": 9.5}, {"p": 10.0}]


@pytest.mark.parametrize(
    ("value", "text"), [("'01:02:03+02'::timetz", "01:02:03+02"), ("'101'::bit", "101"), ("1::varint", "1")]
)
@pytest.mark.parametrize("form", ["{}", "[{}]", "{{'x': {}}}", "map {{1: {}}}"])
def test_types_whose_values_duckdb_does_not_pass_on(run, rows, value, text, form):
    code, _, err = run(f"select {form.format(value)} as a")
    assert code == 1
    assert "column a: Arrow has no" in err
    assert rows(f"select {value}::varchar as a") == [{"a": text}]
