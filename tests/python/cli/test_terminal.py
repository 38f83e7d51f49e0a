"""What commands print: names and texts of files reach no terminal as they are, but as escapes."""

import io
import json
import re
import signal
import subprocess
import sys

import orcish
import pyarrow as pa
import pytest
from orcish.terminal import printable
from orcish_cli import main
from orcish_cli.terminal import json_line
from support.carbon import CarbonTableWriter, write_folder
from support.processes import ORCISH

HIDDEN = "".join(
    [
        *map(chr, range(0x01, 0x20)),
        *map(chr, range(0x7F, 0xA0)),
        *"\u00ad\u061c\u180e\u200b\u200c\u200d\u200e\u200f\u2028\u2029\u202a\u202b\u202c\u202d\u202e",
        *"\u2060\u2066\u2067\u2068\u2069\ufeff\ufff9\U000e0001",
    ]
)
NAME = f"a{HIDDEN}z"


def shown(data: bytes) -> str:
    """Text of a terminal, in which there is nothing but lines that can be seen."""
    text = data.decode("utf-8")
    assert all(char == "\n" or char.isprintable() for char in text), ascii(text)
    return text


@pytest.fixture
def run(capfdbinary):
    def run(*arguments, code=0):
        assert main(list(map(str, arguments))) == code
        sys.stdout.flush()
        out, err = capfdbinary.readouterr()
        shown(err)
        return shown(out)

    return run


@pytest.fixture
def orc(tmp_path):
    path = tmp_path / f"file{HIDDEN.replace(chr(0x2F), '')}.orc"
    field = pa.field(NAME, pa.struct([(NAME, pa.string())]), metadata={NAME: NAME})
    table = pa.table([pa.array([{NAME: NAME}, None], field.type)], schema=pa.schema([field]))
    orcish.write_table(table, str(path), metadata={NAME: NAME})
    return path


@pytest.fixture
def carbon(tmp_path):
    table = pa.table({"id": pa.array([1, 2], pa.int32()), NAME: pa.array([NAME, None])})
    written = CarbonTableWriter(tmp_path / f"table{HIDDEN}", table.schema, properties={NAME: NAME})
    written.load(table, mergedLoadName=NAME)
    return written.path


@pytest.mark.parametrize("more", [[], ["--json"], ["--statistics"], ["--arrow"], ["--json", "--statistics", "--arrow"]])
def test_meta_of_orc(orc, run, more):
    text = run("meta", orc, *more)
    if "--json" in more:
        described = json.loads(text)
        assert described["metadata"][NAME] == NAME
        assert NAME in [column["name"] for column in described["columns"]]


@pytest.mark.parametrize("more", [[], ["--json"]])
def test_meta_of_carbon(carbon, run, more):
    text = run("meta", carbon, *more)
    run("meta", next(carbon.rglob("*.carbondata")), *more)
    if more:
        described = json.loads(text)
        assert described["properties"][NAME] == NAME
        assert described["segments"][0]["merged_into"] == NAME
        assert described["columns"][1]["name"] == NAME


@pytest.mark.parametrize("of", ["orc", "carbon"])
def test_data(of, run, request):
    path = request.getfixturevalue(of)
    run("data", path, "--width", "0")
    lines = [json.loads(line) for line in run("data", path, "--json").splitlines()]
    assert NAME in (lines[0][NAME] if of == "carbon" else lines[0][NAME][NAME])


@pytest.mark.parametrize("more", [[], ["--json"]])
def test_convert(carbon, run, tmp_path, more):
    run("convert", carbon, tmp_path / f"out{HIDDEN}", *more)
    run("convert", carbon, tmp_path / f"out{HIDDEN}", *more, code=1)


def test_errors(orc, carbon, run, tmp_path):
    missing = tmp_path / f"missing{HIDDEN}"
    for command in ("meta", "data"):
        run(command, missing, code=1)
        run(command, f"{missing}.carbondata", code=1)
    run("data", orc, "-c", NAME + "x", code=1)
    broken = tmp_path / f"broken{HIDDEN}.orc"
    data = bytearray(orc.read_bytes())
    data[3 : len(data) // 3] = bytes(len(data) // 3 - 3)
    broken.write_bytes(data)
    run("data", broken, code=1)
    run("convert", broken, tmp_path / "o", code=1)
    for file in carbon.rglob("*.carbondata"):
        file.write_bytes(file.read_bytes()[:100])
    run("data", carbon, code=1)


def test_messages_of_errors_have_no_escapes(orc, carbon, tmp_path):
    """Messages of Rust have no control characters either, as they reach logs."""
    found = []
    for call in (
        lambda: orcish.read_table(str(orc), columns=[NAME + "x"]),
        lambda: orcish.read_table(str(tmp_path / f"no{HIDDEN}.orc")),
        lambda: orcish.read_table(str(carbon), columns=[NAME + "x"]),
    ):
        with pytest.raises(Exception) as raised:  # noqa: PT011 - of several kinds
            call()
        found.append(str(raised.value))
    assert all(text.isprintable() for text in found), found
    assert "\\u202e" in found[0]


def test_a_file_of_carbon_with_hidden_names(tmp_path, run):
    table = pa.table({NAME: pa.array([[{NAME: 1}]], pa.list_(pa.struct([(NAME, pa.int32())])))})
    write_folder(tmp_path / "t", table)
    run("meta", tmp_path / "t")
    run("data", tmp_path / "t")


def test_a_fault_of_the_command_is_printed_so_as_well(monkeypatch, run, orc):
    def fail(*_, **__):
        raise RuntimeError(NAME)

    monkeypatch.setattr("orcish_cli.meta._lines", fail)
    run("meta", orc, code=1)


def test_json_is_the_same_value():
    value = {NAME: [NAME, "\ud800", "é漢👍", "\U000e0001"]}
    line = json_line(value)
    assert line.isprintable()
    assert json.loads(line) == value
    assert "é漢👍" in line
    assert printable(printable(NAME)) == printable(NAME)


def test_json_has_no_numbers_that_are_not_finite():
    nan, infinity = float("nan"), float("inf")
    value = {"a": nan, "b": [1.5, infinity], "c": ((-infinity, None),), "d": {"e": [nan]}}
    assert json.loads(json_line(value)) == {
        "a": "NaN",
        "b": [1.5, "Infinity"],
        "c": [["-Infinity", None]],
        "d": {"e": ["NaN"]},
    }


@pytest.mark.parametrize("command", [["convert"], ["rewrite", "-o"]])
def test_partition_values_of_written_files(command, tmp_path, run):
    """What JSON says of a file is said after it is there, so it must not fail."""
    orc = tmp_path / "a.orc"
    texts = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity", "1.5": 1.5}
    orcish.write_table(pa.table({"a": range(4), "p": list(map(float, texts))}), orc)
    name, *option = command
    lines = run(name, orc, *option, tmp_path / "t", "--partition-by", "p", "--json").splitlines()
    found = [json.loads(line)["partition"]["p"] for line in lines]
    assert sorted(map(str, found)) == sorted(map(str, texts.values()))


def test_processes(orc):
    """The command runs as a process of its own."""
    for arguments in (["meta", orc], ["data", orc, "--json"], ["data", f"{orc}x"], ["meta", orc, "-x" + NAME]):
        done = subprocess.run([*ORCISH, *map(str, arguments)], capture_output=True, check=False)
        shown(done.stdout)
        shown(done.stderr)


# With its arguments, of which the first file is in the folder of the test.
JSON_COMMANDS = {
    "meta": ["é.orc"],
    "data": ["é.orc"],
    "count": ["é.orc"],
    "scan": ["é.orc"],
    "check": ["é.orc"],
    "schema": ["é.orc"],
    "json-schema": ["é.orc"],
    "sizes": ["é.orc"],
    "stats": ["é.orc"],
    "explain": ["é.orc", "--filters", "日 = 'é'"],
    "diff": ["é.orc", "other.orc"],
    "compat": ["é.orc"],
    "key": ["é.orc"],
    "layout": ["é.orc"],
    "convert": ["é.orc", "é.parquet"],
    "rewrite": ["é.orc", "-o", "éé.orc"],
    "merge": ["é.orc", "-o", "ééé.orc"],
}


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-16", "cp1252"])
def test_json_is_utf8_whatever_the_encoding_of_the_terminal(encoding, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = pa.table({"日": ["é", "\U0001f600", "Ÿ"], "é": [1, 2, 3]})
    for name, own in (("é.orc", rows), ("other.orc", rows.slice(1))):
        orcish.write_table(own, name)
    for name, arguments in JSON_COMMANDS.items():
        stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
        monkeypatch.setattr("sys.stdout", stream)
        assert main([name, *arguments, "--json"]) == int(name == "diff"), name
        text = stream.buffer.getvalue().decode("utf-8")
        found = [json.loads(line) for line in text.splitlines()]
        assert found, name
        assert "é" in text or name in ("count", "scan"), name
        if name == "data":
            assert found == rows.to_pylist()


def test_layout_and_advice(orc, run, tmp_path):
    named = run("layout", orc, "-o", tmp_path / f"page{HIDDEN.replace(chr(0x2F), '')}.html")
    assert printable(orc.name.removeprefix("file").removesuffix(".orc")) in named
    described = json.loads(run("layout", orc, "--json"))
    assert printable(NAME) in [column["name"] for column in described["columns"]]
    run("advise", orc, "--runs", 1)
    assert json.loads(run("advise", orc, "--runs", 1, "--json"))["file"] == printable(str(orc))


@pytest.mark.parametrize("name", ["data", "convert", "rewrite", "missing"])
@pytest.mark.parametrize("closed", [(1,), (2,), (0, 1, 2)])
def test_closed_streams(name, closed, tmp_path):
    """The work is done without them, no file takes their places, and output that is lost is an error."""
    path, target = tmp_path / "a.orc", tmp_path / "b.orc"
    orcish.write_table(pa.table({"id": range(10)}), path)
    given = [name, path, *{"convert": [target], "merge": ["-o", target], "rewrite": ["-o", target]}.get(name, [])]
    if name == "missing":
        given = ["convert", tmp_path / "no.orc", target]
    command = [*ORCISH, *map(str, given)]
    shell = 'exec "$@" ' + " ".join(f"{each}{'<' if each == 0 else '>'}&-" for each in closed)
    done = subprocess.run(["sh", "-c", shell, "sh", *command], capture_output=True, check=False)
    assert done.returncode == int(name == "missing" or 1 in closed)
    if name != "missing":
        lost = b"orcish: standard output: Bad file descriptor\n"
        assert done.stderr == (lost if closed == (1,) else b"")
    assert b"Traceback" not in done.stderr
    if len(given) > 2:
        assert target.exists() == (name != "missing")
        assert name == "missing" or orcish.read_table(target).num_rows == 10
    else:
        assert (done.stdout != b"") == (1 not in closed)


@pytest.mark.parametrize(
    ("name", "number"),
    [
        ("rewrite", signal.SIGTERM),
        ("rewrite", signal.SIGINT),
        ("convert", signal.SIGHUP),
        ("to folder", signal.SIGTERM),
    ],
)
def test_signals_leave_no_files(name, number, tmp_path):
    path, temporary = tmp_path / "a.orc", tmp_path / "tmp"
    temporary.mkdir()
    # The signal comes before the end.
    count = 300_000 if name == "rewrite" else 1_000_000
    rows = pa.table({"id": range(count), "s": [str(at * 7919 % 1000003) for at in range(count)]})
    orcish.write_table(rows, path)
    given = {
        "rewrite": ["-o", tmp_path / "b.orc", "--sort-by", "s", "--memory", "1MB", "--temporary-folder", temporary],
        "convert": [tmp_path / "b.jsonl"],
        "to folder": [f"{tmp_path}/b/"],
    }[name]
    # The signal arrives when the first file is there.
    program = (
        "import os, signal, sys, threading\n"
        "sys.argv[0] = 'orcish'\n"
        # The tests may run in the background or by nohup, where a process ignores them.
        "signal.signal(signal.SIGHUP, signal.SIG_DFL)\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "from orcish_cli import run_program\n"
        f"known, folders = {{'a.orc', 'tmp'}}, [{str(tmp_path)!r}, {str(temporary)!r}]\n"
        "def wait():\n"
        "    while not any(set(os.listdir(folder)) - known for folder in folders): pass\n"
        f"    os.kill(os.getpid(), {int(number)})\n"
        "threading.Thread(target=wait, daemon=True).start()\n"
        "run_program()\n"
    )
    verb = "convert" if name == "to folder" else name
    done = subprocess.run([sys.executable, "-c", program, verb, path, *given], capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (128 + number, b"")
    assert sorted(tmp_path.iterdir()) == [path, temporary]
    assert list(temporary.iterdir()) == []


def test_a_signal_at_the_start(tmp_path):
    """While the package is imported, Ctrl-C ends the process without a traceback; other programs have it as it is."""
    for program, handler in (("orcish", "_exit"), ("other.py", "default_int_handler")):
        code = f"import sys, signal; sys.argv[0] = {program!r}; import orcish; print(signal.getsignal(signal.SIGINT).__name__)"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False, text=True)
        assert done.stdout.strip() == handler


@pytest.mark.parametrize("columns", [20, 40, 60, 80, 100, 140, 300])
@pytest.mark.parametrize("name", ["stats", "count", "sizes", "diff", "compat"])
def test_no_word_of_a_table_is_broken(name, columns, tmp_path, monkeypatch):
    """On narrow terminals, too, numbers and names are whole. A table fits where its words do."""
    pytest.importorskip("rich")
    path, other = tmp_path / "a_rather_long_name_of_a_file.orc", tmp_path / "b.orc"
    rows = pa.table({"a_name_of_a_column": range(1000, 1200), "v": [float(at * 1234567) for at in range(200)]})
    orcish.write_table(rows, path)
    orcish.write_table(rows.set_column(1, "v", [[float(at) for at in range(200)]]), other)
    given = [name, *{"diff": [path, other]}.get(name, [path])]

    def shown(width):
        stream = io.StringIO()
        stream.isatty = lambda: width is not None
        monkeypatch.setattr("sys.stdout", stream)
        monkeypatch.setenv("COLUMNS", str(width))
        monkeypatch.setenv("NO_COLOR", "1")
        main([str(each) for each in given])
        return stream.getvalue()

    wide = shown(1000)
    plain, found = (re.sub("\x1b\\[[0-9;]*m", "", text) for text in (wide, shown(columns)))
    words = {word for word in plain.split() if word.strip("-")}
    assert words == {word for word in found.split() if word.strip("-")}
    if name == "compat" and columns >= 60:
        assert max(map(len, found.splitlines()[1:])) <= columns


class TestWidth:
    """Rows on a terminal of 80 columns."""

    @pytest.fixture
    def wide(self, tmp_path, monkeypatch):
        monkeypatch.setenv("COLUMNS", "80")
        monkeypatch.setenv("NO_COLOR", "1")
        path = tmp_path / "wide.orc"
        orcish.write_table(pa.table({f"column_{at}": [f"value {at}"] * 12 for at in range(30)}), path)
        return path

    @staticmethod
    def arguments(command, path):
        return ["sql", f"from '{path}'"] if command == "sql" else [command, path]

    @pytest.fixture
    def shown(self, monkeypatch):
        def shown(*arguments, is_terminal=True):
            out, err = io.StringIO(), io.StringIO()
            out.isatty = err.isatty = lambda: is_terminal
            with monkeypatch.context() as patch:
                patch.setattr("sys.stdout", out)
                patch.setattr("sys.stderr", err)
                main([str(each) for each in arguments])
            return out.getvalue().splitlines(), err.getvalue()

        return shown

    @pytest.mark.parametrize("command", ["data", "head", "tail", "sample", "sql"])
    def test_columns_that_do_not_fit_are_left_out(self, command, wide, shown):
        if command == "sql":
            pytest.importorskip("duckdb")
        lines, _ = shown(*self.arguments(command, wide))
        left = 30 - len(lines[0].split())
        assert 0 < left < 30
        assert lines[-1].startswith(f"… and {left} more columns, which do not fit")
        assert all(len(line) <= 80 for line in lines[:-1])
        for more, is_terminal in ((["--width", "0"], True), ([], False)):
            lines, _ = shown(*self.arguments(command, wide), *more, is_terminal=is_terminal)
            assert len(lines[0].split()) == 30
            assert "more columns" not in lines[-1]

    @pytest.mark.parametrize("rows", [0, 1, 11, 12, 13])
    def test_more_rows(self, rows, wide, shown):
        for more in ([], ["--json"], ["--stripe", "0"], ["--where", "column_0 = 'value 0'"]):
            lines, err = shown("data", wide, "-n", rows, *more)
            assert ("more rows" in err) == (rows < 12)
            assert sum("value 0" in line for line in lines) == min(rows, 12)
            assert not shown("data", wide, "-n", rows, *more, is_terminal=False)[1]
        assert not shown("data", wide, "--all")[1]

    def test_differences_are_cut(self, tmp_path, shown, wide):
        for name in ("a", "b"):
            orcish.write_table(
                pa.table({"id": [1], "t": [f"{name} text of some words " * 5]}), tmp_path / f"{name}.orc"
            )
        lines, _ = shown("diff", tmp_path / "a.orc", tmp_path / "b.orc")
        assert lines[-1].count("…") == 2
        assert len(lines[-1]) <= 80
