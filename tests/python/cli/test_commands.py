"""The command ``orcish``, in this process where nothing else is asked for."""

import datetime
import io
import itertools
import json
import math
import os
import pathlib
import shutil
import signal
import subprocess
from decimal import Decimal

import orcish
import pyarrow as pa
import pyarrow.orc
import pyorc
import pytest
from orcish.terminal import printable
from orcish_cli import main
from orcish_cli.batch_slices import slices, value_count
from orcish_cli.json_text import json_text
from orcish_cli.json_values import to_json
from orcish_cli.terminal import Table, shorten, width
from support.processes import ORCISH


def test_rows_that_are_larger_than_memory_are_refused_at_once(run):
    """Files of less than a hundred bytes state lists of 2³¹-1 elements, and 2⁶² rows of empty structs."""
    heavy = pathlib.Path(__file__).parents[2] / "data" / "heavy"
    for arguments in (["--json"], []):
        code, lines, err = run("data", "-n", "1", *arguments, heavy / "longest-lists.orc")
        assert code == 1, err
        assert "a value of 2147483647 elements needs more than" in err
        assert "column c" in err
    code, lines, err = run("data", "-n", "3", "--json", heavy / "rows-of-hollow-structs.orc")
    assert (code, [json.loads(line) for line in lines], err) == (0, [{"a": {}}] * 3, "")
    scan = orcish.scan(str(heavy / "rows-of-hollow-structs.orc"))
    assert scan.count() == 2**62
    assert scan.head(10).num_rows == 10
    assert {len(batch) for batch in itertools.islice(scan.batch_size(1000).to_batches(), 20)} == {1000}


@pytest.fixture
def rows(run):
    """Runs `orcish data --json`, which must work; gives the rows."""

    def rows(*arguments):
        code, lines, err = run("data", "--json", *arguments)
        assert (code, err) == (0, "")
        return [json.loads(line) for line in lines]

    return rows


@pytest.fixture
def write(tmp_path):
    """Writes a table with pyarrow."""

    def write(table, name="table.orc", **options):
        path = tmp_path / name
        pa.orc.write_table(table, path, **options)
        return path

    return write


@pytest.fixture
def numbers(write):
    """Rows in several stripes, without compression."""
    count = 200_000
    table = pa.table({"id": range(count), "text": [f"row {number * 7919 % 104729}" for number in range(count)]})
    path = write(table, stripe_size=200_000)
    assert orcish.ORCFile(path).num_stripes > 3
    return path


@pytest.fixture
def nested(tmp_path):
    """A file of pyorc with user metadata and nested columns, one of which has a dot in its name."""
    path = tmp_path / "nested.orc"
    schema = "struct<a:struct<c:int>,`a.b`:string,m:map<int,array<double>>>"
    with path.open("wb") as file, pyorc.Writer(file, schema, compression=pyorc.CompressionKind.ZSTD) as writer:
        writer.write(((1,), "x", {7: [0.5, math.nan]}))
        writer.write((None, None, None))
        writer.set_user_metadata(owner="Zoë\x1b[31m".encode(), key=b"\xff\x00")
    return path


def test_long_names_do_not_make_tables_wide(run, write):
    path = write(pa.table({"n" * 100_000: [1], "a": [2]}))
    code, lines, _ = run("meta", "--statistics", path)
    assert code == 0
    table = lines[lines.index("Statistics") :]
    assert len(table) > 4
    assert max(map(len, table)) < 1000


class TestData:
    def test_json(self, write, rows):
        minute = datetime.datetime(2026, 1, 2, 3, 4, 5, 600_000)
        columns = {
            "bool": pa.array([True, None]),
            "int": pa.array([2**63 - 1, None]),
            "float": pa.array([0.1, math.nan], pa.float32()),
            "double": pa.array([1e300, -math.inf]),
            "decimal": pa.array([Decimal("1.10"), None], pa.decimal128(10, 2)),
            "tiny": pa.array([Decimal("0"), None], pa.decimal128(38, 20)),
            "string": pa.array(["Grüße\n", None]),
            "binary": pa.array([b"\x00\xff", None]),
            "date": pa.array([datetime.date(2026, 1, 2), None]),
            "timestamp": pa.array([minute, None], pa.timestamp("us")),
            "instant": pa.array([minute, None], pa.timestamp("us", "UTC")),
            "list": pa.array([[1, None], None]),
            "struct": pa.array([{"a": 1, "b": [b"\x01"]}, None]),
            "map": pa.array([[("k", 1)], None], pa.map_(pa.string(), pa.int32())),
            "pairs": pa.array([[(1, "v")], None], pa.map_(pa.int32(), pa.string())),
        }
        first, second = rows(write(pa.table(columns)))
        assert first == {
            "bool": True,
            "int": 2**63 - 1,
            "float": 0.1,
            "double": 1e300,
            "decimal": "1.10",
            "tiny": "0.00000000000000000000",
            "string": "Grüße\n",
            "binary": "00ff",
            "date": "2026-01-02",
            "timestamp": "2026-01-02T03:04:05.6",
            "instant": "2026-01-02T03:04:05.6Z",
            "list": [1, None],
            "struct": {"a": 1, "b": ["01"]},
            "map": {"k": 1},
            "pairs": [[1, "v"]],
        }
        assert (second.pop("float"), second.pop("double")) == ("NaN", "-Infinity")
        assert set(second.values()) == {None}

    def test_union_and_a_root_that_is_no_struct(self, tmp_path, rows):
        path = tmp_path / "union.orc"
        with path.open("wb") as file, pyorc.Writer(file, "uniontype<int,string>") as writer:
            for value in (5, "five", 6):
                writer.write(value)
        assert [row["value"] for row in rows(path)] == [
            {"tag": 0, "value": 5},
            {"tag": 1, "value": "five"},
            {"tag": 0, "value": 6},
        ]

    def test_first_rows(self, numbers, rows):
        assert [row["id"] for row in rows(numbers)] == list(range(10))
        assert [row["id"] for row in rows(numbers, "-n", 3)] == [0, 1, 2]
        assert rows(numbers, "-n", 0) == []
        assert len(rows(numbers, "--all", "-c", "id")) == 200_000
        # More than one stripe has.
        count = orcish.ORCFile(numbers).stripes[1].first_row + 5
        assert [row["id"] for row in rows(numbers, "-n", count)] == list(range(count))

    def test_stripe(self, numbers, rows):
        stripe = orcish.ORCFile(numbers).stripes[2]
        assert [row["id"] for row in rows(numbers, "--stripe", 2, "-n", 2)] == [stripe.first_row, stripe.first_row + 1]
        assert len(rows(numbers, "--stripe", 2, "--all")) == stripe.num_rows

    def test_other_stripes_are_not_read(self, numbers, rows):
        stripe = orcish.ORCFile(numbers).stripes[1]
        with numbers.open("r+b") as file:
            file.seek(stripe.offset)
            file.write(b"\xff" * (stripe.index_length + stripe.data_length + stripe.footer_length))
        assert len(rows(numbers, "-n", stripe.first_row)) == stripe.first_row

    def test_columns(self, nested, rows):
        assert rows(nested, "-n", 1, "-c", "m,a.c") == [{"m": [[7, [0.5, "NaN"]]], "a": {"c": 1}}]
        assert rows(nested, "-n", 1, "-c", "a.b", "-c", "a") == [{"a.b": "x", "a": {"c": 1}}]

    def test_table(self, nested, run):
        code, lines, err = run("data", nested)
        assert (code, err) == (0, "")
        assert lines == [
            "a         a.b   m",
            "--------  ----  -------------------",
            '{"c": 1}  x     [[7, [0.5, "NaN"]]]',
            "null      null  null",
        ]

    def test_table_widths(self, write, run):
        path = write(pa.table({"n": [1, 100], "s": ["a" * 50, "日本\x1b[0m"]}))
        _, lines, _ = run("data", path)
        assert lines == [
            "  n  s",
            "---  " + "-" * 40,
            "  1  " + "a" * 39 + "…",
            "100  日本\\x1b[0m",
        ]
        _, lines, _ = run("data", path, "--width", 0, "-n", 1)
        assert lines[-1] == "1  " + "a" * 50

    def test_no_rows(self, write, run, rows):
        path = write(pa.table({"a": pa.array([], pa.int32())}))
        assert rows(path) == []
        assert run("data", path)[1] == ["a", "-"]


class TestMeta:
    def test_json(self, nested, run):
        code, lines, err = run("meta", "--json", "--arrow", "--statistics", nested, nested)
        assert (code, err, len(lines)) == (0, "", 2)
        described = json.loads(lines[0])
        assert described["file"] == str(nested)
        assert described["rows"] == 2
        assert described["compression"] == "zstd"
        assert described["writer"] == "ORC C++"
        assert described["file_length"] == nested.stat().st_size
        assert described["metadata"] == {"owner": "Zoë\x1b[31m", "key": {"base64": "/wA="}}
        assert [stripe["rows"] for stripe in described["stripes"]] == [2]
        columns = [(column["id"], column["parent"], column["name"], column["path"]) for column in described["columns"]]
        assert columns[:4] == [(0, None, "", ""), (1, 0, "a", "a"), (2, 1, "c", "a.c"), (3, 0, "a.b", "a.b")]
        assert columns[-1] == (7, 6, "element", "m.value.element")
        # C++ counts nulls of the struct among those of its fields.
        known = {"kind": "integer", "values": 1, "min": 1, "max": 1, "sum": 1}
        assert described["statistics"][2] == known
        assert described["arrow_schema"][1] == {"name": "a.b", "type": "string", "metadata": {}}

    def test_text(self, nested, run):
        code, lines, err = run("meta", nested, "--statistics", "--arrow")
        assert (code, err) == (0, "")
        assert "Rows               2" in lines
        assert "  owner: Zoë\\x1b[31m" in lines
        assert "  key: base64 /wA=" in lines
        start = lines.index("Columns")
        assert lines[start : start + 9] == [
            "Columns",
            "  0  struct",
            "  1    a: struct",
            "  2      c: int",
            "  3    a.b: string",
            "  4    m: map",
            "  5      key: int",
            "  6      value: array",
            "  7        element: double",
        ]
        assert "  a: struct<c: int32>" in lines
        assert any(line.split()[:2] == ["2", "a.c"] for line in lines)

    def test_statistics_of_every_type(self, write, run):
        day = datetime.date(2026, 1, 2)
        columns = {
            "date": pa.array([day]),
            "decimal": pa.array([Decimal("1.5")], pa.decimal128(10, 2)),
            "double": pa.array([math.inf]),
            "instant": pa.array([datetime.datetime(2026, 1, 2)], pa.timestamp("us", "UTC")),
            "string": pa.array(["s"]),
            "binary": pa.array([b"bb"]),
        }
        _, lines, _ = run("meta", "--json", "--statistics", write(pa.table(columns)))
        statistics = dict(zip(["root", *columns], json.loads(lines[0])["statistics"], strict=True))
        assert statistics["date"]["min"] == "2026-01-02"
        assert Decimal(statistics["decimal"]["max"]) == Decimal("1.5")
        assert statistics["double"].get("max", "Infinity") == "Infinity"
        assert statistics["instant"]["min"] == "2026-01-02T00:00:00Z"
        assert (statistics["string"]["min"], statistics["string"]["min_is_exact"]) == ("s", True)
        assert statistics["binary"]["total_length"] == 2

    def test_stripes(self, numbers, run):
        _, lines, _ = run("meta", numbers)
        file = orcish.ORCFile(numbers)
        start = lines.index("Stripes") + 3
        table = lines[start : start + file.num_stripes]
        numbers_shown = [[int(cell.replace(",", "")) for cell in line.split()] for line in table]
        assert [cells[1] for cells in numbers_shown] == [stripe.num_rows for stripe in file.stripes]
        assert [cells[3] for cells in numbers_shown] == [stripe.offset for stripe in file.stripes]

    def test_a_bad_file_does_not_hide_the_next(self, nested, tmp_path, run):
        code, lines, err = run("meta", "--json", tmp_path / "missing.orc", nested)
        assert code == 1
        assert len(lines) == 1
        assert "missing.orc" in err


class TestFolders:
    @pytest.fixture
    def table(self, tmp_path):
        rows = pa.table({"id": [1, 2, 3], "day": [1, 2, 1]})
        orcish.write_dataset(rows, tmp_path / "t", partition_by=["day"])
        return tmp_path / "t"

    def test_data(self, table, rows, run):
        assert sorted(row["id"] for row in rows(table)) == [1, 2, 3]
        assert rows(table, "--where", "id = 2", "-c", "day,id") == [{"day": 2, "id": 2}]
        assert rows(table / "day=1", "-n", 1) == [{"id": 1, "day": 1}]
        assert len(rows(f"{table}/*/*.orc", "--all")) == 3
        assert run("data", table)[1][0].split() == ["id", "day"]
        code, lines, err = run("data", table, "--stripe", 0)
        assert (code, lines) == (2, [])
        assert "--stripe is of one file" in err

    def test_meta(self, table, run):
        files = sorted(map(str, table.rglob("*.orc")))
        for source in (table, f"{table}/day=*/*.orc"):
            code, lines, err = run("meta", "--json", source)
            assert (code, err) == (0, "")
            assert [json.loads(line)["file"] for line in lines] == files
        (table / "day=1" / "none.orc").write_bytes(b"none")
        code, lines, err = run("meta", table)
        assert (code, err.count("none.orc")) == (1, 1)
        assert [line.split()[1] for line in lines if line.startswith("File ")] == files

    @pytest.mark.parametrize("command", ["meta", "data"])
    def test_nothing_there(self, command, tmp_path, run):
        (tmp_path / "empty").mkdir()
        assert run(command, tmp_path / "empty") == (1, [], f"orcish: no files: '{tmp_path / 'empty'}'\n")
        assert run(command, f"{tmp_path}/*.orc") == (
            1,
            [],
            f"orcish: no files: '{tmp_path}/*.orc': nothing matches the pattern\n",
        )
        assert run(command, f"{tmp_path}/missing/")[0] == 1

    @pytest.mark.parametrize("command", ["meta", "data", "convert"])
    def test_stores(self, command, tmp_path, run, store):
        rows = pa.table({"id": [1], "day": [1]})
        orcish.write_dataset(rows, "s3://shelf/t", partition_by=["day"], storage_options=store.options)
        (file,) = orcish.scan("s3://shelf/t/", storage_options=store.options).files
        options = [f"--storage-option={name}={value}" for name, value in store.options.items()]
        target = [tmp_path / "out"] if command == "convert" else []
        for source in ("s3://shelf/t", "s3://shelf/t/", file):
            code, lines, err = run(command, source, *target, *options)
            assert (code, err) == (0, "")
            assert lines
            shutil.rmtree(tmp_path / "out", ignore_errors=True)
        assert run(command, "s3://shelf/none/", *target, *options)[0] == 1


class TestErrors:
    @pytest.mark.parametrize("command", ["meta", "data"])
    def test_missing_file(self, command, tmp_path, run):
        code, lines, err = run(command, tmp_path / "missing.orc")
        assert (code, lines) == (1, [])
        assert err.startswith(f"orcish: {tmp_path / 'missing.orc'}: ")
        assert "No such file" in err

    @pytest.mark.parametrize("command", ["meta", "data"])
    def test_corrupt_file(self, command, tmp_path, run):
        path = tmp_path / "corrupt.orc"
        path.write_bytes(b"ORC, or so it seems" * 20)
        code, lines, err = run(command, path)
        assert (code, lines) == (1, [])
        assert err.startswith(f"orcish: {path}: ")

    def test_unknown_column(self, nested, run):
        code, _, err = run("data", nested, "-c", "mm")
        assert code == 1
        assert "'mm'" in err or '"mm"' in err
        assert "nearest" in err

    def test_unknown_stripe(self, nested, run):
        code, _, err = run("data", nested, "--stripe", 9)
        assert code == 2
        assert "no such stripe" in err

    @pytest.mark.parametrize("arguments", [[], ["data"], ["data", "f", "-n", "-1"], ["data", "f", "-n", "1", "--all"]])
    def test_usage(self, arguments, capsys):
        with pytest.raises(SystemExit) as stop:
            main(arguments)
        assert stop.value.code == 2
        first, second = capsys.readouterr().err.splitlines()
        assert first.startswith("orcish")
        assert "error: " in first
        assert second == f"see {' '.join(['orcish', *arguments[:1]])} --help"

    def test_rows_before_the_error_are_shown(self, numbers, run):
        stripe = orcish.ORCFile(numbers).stripes[1]
        with numbers.open("r+b") as file:
            file.seek(stripe.offset + stripe.index_length + stripe.data_length)
            file.write(b"\xff" * stripe.footer_length)
        code, lines, err = run("data", numbers, "--all", "--json", "-c", "id")
        assert code == 1
        assert len(lines) == stripe.first_row
        assert "stripe 1" in err


class TestProcess:
    @staticmethod
    def start(*arguments, **environment):
        command = [*ORCISH, *map(str, arguments)]
        pipe = subprocess.PIPE
        return subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, env=os.environ | environment)

    def test_version(self):
        process = self.start("--version")
        assert process.communicate() == (f"orcish {orcish.__version__}\n", "")

    def test_help(self):
        process = self.start("data", "--help")
        out, _ = process.communicate()
        assert process.returncode == 0
        assert "--columns A,B.C" in out

    def test_reader_that_leaves(self, numbers):
        process = self.start("data", numbers, "--all")
        process.stdout.readline()
        process.stdout.close()
        assert process.wait() == 0
        assert process.stderr.read() == ""
        process.stderr.close()

    def test_output_that_is_not_unicode(self, write):
        process = self.start("data", write(pa.table({"s": ["日本"]})), PYTHONIOENCODING="ascii")
        out, err = process.communicate()
        assert (process.returncode, err) == (0, "")
        assert out.splitlines()[-1] == "\\u65e5\\u672c"

    @pytest.mark.skipif(os.name == "nt", reason="signals are of Unix")
    def test_interrupt(self, numbers):
        process = self.start("data", numbers, "--all")
        process.stdout.readline()
        process.send_signal(signal.SIGINT)
        _, err = process.communicate()
        assert (process.returncode, err) == (130, "")


class TestValues:
    """What no writer at hand writes."""

    def test_years_that_python_does_not_have(self):
        assert to_json(pa.array([-(10**17)], pa.timestamp("us"))) == ["-1199-02-15T14:13:20"]
        assert to_json(pa.array([10_000_000], pa.date32())) == ["29349-01-26"]

    def test_intervals(self):
        durations = pa.array([1_500_000, -1, 0, None], pa.duration("us"))
        assert to_json(durations) == ["PT1.5S", "PT-0.000001S", "PT0S", None]

    def test_slices(self):
        lists = pa.array([[1, 2], [3], None, [4, 5, 6]])
        assert to_json(lists.slice(1)) == [[3], None, [4, 5, 6]]
        assert to_json(lists.slice(2, 1)) == [None]
        maps = pa.array([[("a", 1)], [("b", 2), ("c", 3)]], pa.map_(pa.string(), pa.int32()))
        assert to_json(maps.slice(1)) == [{"b": 2, "c": 3}]
        structs = pa.array([{"a": 1}, {"a": 2}, None])
        assert to_json(structs.slice(1)) == [{"a": 2}, None]

    def test_map_keys_that_an_object_cannot_hold(self):
        twice = pa.array([[("k", 1), ("k", 2)]], pa.map_(pa.string(), pa.int32()))
        assert to_json(twice) == [[["k", 1], ["k", 2]]]
        keys = pa.DictionaryArray.from_arrays(pa.array([0, 1], pa.int32()), pa.array(["k", None]))
        null_key = pa.MapArray.from_arrays([0, 2], keys, pa.array([1, 2]))
        assert to_json(null_key) == [[["k", 1], [None, 2]]]

    def test_unions(self):
        codes = pa.array([0, 1, 0], pa.int8())
        sparse = pa.UnionArray.from_sparse(codes, [pa.array([1, 2, 3]), pa.array(["a", "b", "c"])])
        assert to_json(sparse.slice(1)) == [{"tag": 1, "value": "b"}, {"tag": 0, "value": 3}]
        offsets = pa.array([0, 0, 1], pa.int32())
        dense = pa.UnionArray.from_dense(codes, offsets, [pa.array([1, 3]), pa.array(["b"])])
        assert to_json(dense.slice(1)) == [{"tag": 1, "value": "b"}, {"tag": 0, "value": 3}]


class TestText:
    def test_printable(self):
        assert printable("plain ü 日") == "plain ü 日"
        assert printable("a\tb\x1b\u202e") == "a\\tb\\x1b\\u202e"

    def test_width(self):
        assert width("abc") == 3
        assert width("日本") == 4
        assert width("e\u0301") == 1

    def test_shorten(self):
        assert shorten("abcdef", 6) == "abcdef"
        assert shorten("abcdef", 5) == "abcd…"
        assert shorten("日本語", 4) == "日…"
        assert shorten("abcdef", None) == "abcdef"

    def test_blocks_do_not_become_narrower(self):
        table = Table(["n", "s"], [True, False])
        assert table.lines([("100", "x")]) == ["  n  s", "---  -", "100  x"]
        assert table.lines([("1", "wide")]) == ["  1  wide"]


def test_values_that_are_not_as_their_types_say(run, rows, tmp_path):
    path, target = tmp_path / "text.orc", tmp_path / "converted"
    data = io.BytesIO()
    with pyorc.Writer(data, "struct<s:string>", compression=pyorc.CompressionKind.NONE) as writer:
        writer.writerows([("a@@",), ("b",)])
    path.write_bytes(data.getvalue().replace(b"@@", b"\xff@"))
    code, _, err = run("data", path)
    assert code == 1
    assert "not valid UTF-8" in err
    assert rows(path, "--invalid-utf8", "replace") == [{"s": "a\ufffd@"}, {"s": "b"}]
    assert rows(path, "--invalid-utf8", "null", "--long-char", "cut", "--decimal-out-of-range", "null")[0] == {
        "s": None
    }
    assert rows(path, "--invalid-utf8", "binary") == [{"s": "61ff40"}, {"s": "62"}]
    assert run("convert", path, target)[0] == 1
    assert run("convert", path, target, "--invalid-utf8", "replace")[0] == 0
    assert orcish.read_table(target)["s"].to_pylist() == ["a\ufffd@", "b"]


def test_both_times_of_an_hour_that_clocks_show_twice(run, rows, tmp_path):
    path, target = tmp_path / "clocks.orc", tmp_path / "converted"
    times = [datetime.datetime(2024, 10, 27, hour, 30, tzinfo=datetime.timezone.utc) for hour in (0, 1)]
    field = pa.field("t", pa.timestamp("us", "UTC"), metadata={"orc.type": "timestamp"})
    table = pa.table([pa.array(times, field.type)], schema=pa.schema([field]))
    orcish.write_table(table, path, timezone="Europe/Berlin", arrow_schema=False)
    assert [row["t"][:16] for row in rows(path)] == ["2024-10-27T02:30"] * 2
    assert [row["t"][:16] for row in rows(path, "--timestamps", "instant")] == ["2024-10-27T00:30", "2024-10-27T01:30"]
    shown = rows(path, "--timestamps", "instant", "--timezone", "UTC")
    assert [row["t"][:16] for row in shown] == ["2024-10-27T02:30"] * 2
    orcish.convert(path, target)
    assert orcish.read_table(target)["t"].to_pylist() == [datetime.datetime(2024, 10, 27, 2, 30)] * 2
    orcish.convert(path, target, existing_data="overwrite", timestamps="instant")
    assert orcish.read_table(target)["t"].to_pylist() == times
    assert run("convert", path, target, "--existing-data", "overwrite", "--timestamps", "instant")[0] == 0
    assert orcish.read_table(target)["t"].to_pylist() == times
    zone = ["--timestamps", "instant", "--timezone", "UTC"]
    assert run("convert", path, target, "--existing-data", "overwrite", *zone)[0] == 0
    shown = [datetime.datetime(2024, 10, 27, 2, 30, tzinfo=datetime.timezone.utc)] * 2
    assert orcish.read_table(target)["t"].to_pylist() == shown
    orcish.convert(path, target, existing_data="overwrite", timestamps="instant", source_timezone="UTC")
    assert orcish.read_table(target)["t"].to_pylist() == shown


def test_units_of_timestamps(run, rows, tmp_path):
    """A file with more digits than microseconds, beside one of years that nanoseconds do not reach."""
    folder = tmp_path / "t"
    folder.mkdir()
    for name, kind, value in (("a", "ns", 1), ("b", "s", 2**36)):
        table = pa.table({"t": pa.array([value], pa.timestamp(kind))})
        orcish.write_table(table, folder / f"{name}.orc", arrow_schema=False)
    assert "1970-01-01T00:00:00" in [row["t"] for row in rows(folder)]
    code, _, error = run("data", folder, "--timestamp-unit", "exact")
    assert (code, "a.orc" in error) == (1, True)
    assert run("convert", folder, tmp_path / "c")[0] == 1
    assert run("convert", folder, tmp_path / "c", "--timestamp-unit", "us")[0] == 0
    assert orcish.scan(tmp_path / "c").count() == 2


def test_rows_of_many_values_are_shown_in_slices(monkeypatch):
    table = pa.table(
        {
            "l": pa.array([[1, 2], None, [3] * 5, []]),
            "s": pa.array([{"a": [1]}, None, {"a": [2, 2]}, {"a": None}]),
            "m": pa.array([[("a", 1)], [], None, [("b", 2), ("c", 3)]], pa.map_(pa.string(), pa.int64())),
        }
    )
    [batch] = table.to_batches()
    assert [value_count(column) for column in batch.columns] == [11, 11, 10]
    assert [value_count(column) for column in batch.slice(2).columns] == [7, 6, 6]
    whole = "".join(json_text([batch]))
    monkeypatch.setattr("orcish_cli.batch_slices.MAX_VALUES", 5)
    assert [piece.num_rows for piece in slices(batch)] == [1, 1, 1, 1]
    assert "".join(json_text([batch])) == whole
    union = pa.UnionArray.from_sparse(pa.array([0, 1], pa.int8()), [pa.array([1, 2]), pa.array(["a", "b"])])
    assert len(list(slices(pa.record_batch({"u": union})))) == 1
