"""Sources of other formats that are damaged, or made to do harm."""

from __future__ import annotations

import functools
import gzip
import io
import json
import os
import struct
import subprocess
from pathlib import Path

import orcish
import pandas
import polars
import pyarrow as pa
import pyarrow.parquet
import pytest
from orcish_cli import main
from support.case_loops import each_case
from support.processes import LIMITED_ORCISH, ORCISH
from support.random_cases import each_value, pairs

TARGETS = ["orc", "parquet", "csv", "jsonl", "arrow"]
OFFSETS = struct.pack("<4i", 0, 4, 8, 12)
WRONG_ARRAYS = {
    "text": (pa.array(["aaaa", "bbbb", "cccc"]), OFFSETS, struct.pack("<4i", 0, 4096, 8, 12)),
    "binary": (pa.array([b"aaaa", b"bbbb", b"cccc"]), OFFSETS, struct.pack("<4i", 0, 60, 8, 12)),
    "list": (pa.array([[1, 2], [3, 4], [5]]), struct.pack("<4i", 0, 2, 4, 5), struct.pack("<4i", 0, 2000, 4, 5)),
    "dictionary": (
        pa.array(["x", "yy", "x", "yy"]).dictionary_encode(),
        struct.pack("<4i", 0, 1, 0, 1),
        struct.pack("<4i", 0, 1, 77, 1),
    ),
    "utf8": (pa.array(["aaaa"]), b"aaaa", b"aa\xffa"),
}


@pytest.fixture
def run(run):
    """Runs ``orcish convert``."""
    return functools.partial(run, "convert", "--existing-data", "overwrite")


def ipc(array, ending):
    """A file of Arrow IPC with the column ``c``."""
    sink, batch = pa.BufferOutputStream(), pa.record_batch({"c": array})
    made = pa.ipc.new_stream if ending == "arrows" else pa.ipc.new_file
    with made(sink, batch.schema) as writer:
        writer.write_batch(batch)
    return sink.getvalue().to_pybytes()


@each_case("target", TARGETS)
@each_case("ending", ["arrow", "arrows"])
@each_case("array", WRONG_ARRAYS)
def test_arrays_that_point_outside(array, ending, target, tmp_path, run):
    values, old, new = WRONG_ARRAYS[array]
    source = tmp_path / f"a.{ending}"
    whole = ipc(values, ending)
    assert whole.count(old) == 1
    source.write_bytes(whole.replace(old, new))
    for more in ([], ["--where", "c is not null"]):
        code, lines, err = run(source, tmp_path / f"b.{target}", *more)
        assert (code, lines) == (1, [])
        assert err.startswith(f"orcish: {source}: column 'c': ")
    assert [path.name for path in tmp_path.iterdir()] == [source.name]


@each_case("target", TARGETS)
@each_case("ending", ["arrow", "parquet", "jsonl"])
def test_texts_that_are_not_utf8(ending, target, tmp_path, run):
    source = tmp_path / f"a.{ending}"
    if ending == "parquet":
        pa.parquet.write_table(pa.table({"c": ["aaaa"]}), source, compression="none", write_statistics=False)
    else:
        source.write_bytes(ipc(pa.array(["aaaa"]), ending) if ending == "arrow" else b'{"c": "aaaa"}\n')
    source.write_bytes(source.read_bytes().replace(b"aaaa", b"aa\xffa"))
    code, _, err = run(source, tmp_path / f"b.{target}")
    assert code == 1
    where = "row 1: Encountered non-UTF-8 data" if ending == "jsonl" else "column 'c': "
    assert err.startswith(f"orcish: {source}: {where}")


@each_case("target", TARGETS)
@each_case("array", [pa.array([1]), pa.array([{"nnnn": 1}])])
def test_names_that_are_not_utf8(array, target, tmp_path, run):
    source = tmp_path / "a.arrow"
    source.write_bytes(ipc(pa.array([{"nnnn": array[0]}]), "arrow").replace(b"nnnn", b"n\xffnn"))
    code, _, err = run(source, tmp_path / f"b.{target}")
    assert code == 1
    assert err.startswith(f"orcish: {source}: the name of a column of 'c")


@each_case("write", ["write_table", "write_dataset", "append", "ORCWriter"])
@each_case("kind", ["table", "nested", "batch", "reader", "parts", "polars", "pandas"])
def test_names_with_nul_are_not_cut(kind, write, tmp_path):
    table = pa.table({"a\0b": [1]})
    data = {
        "table": table,
        "nested": pa.table({"s": [{"a\0b": 1}]}),
        "batch": table.to_batches()[0],
        "reader": table.to_reader(),
        "parts": table.to_batches(),
        "polars": polars.DataFrame({"a\0b": [1]}),
        "pandas": pandas.DataFrame({"a\0b": [1]}),
    }[kind]
    target = tmp_path / "target"
    if write == "append":
        orcish.write_dataset(pa.table({"a": [1]}), target)
    writes = {
        "write_table": lambda: orcish.write_table(data, target),
        "ORCWriter": lambda: orcish.ORCWriter(target, data.schema if kind == "nested" else table.schema),
    }
    added = functools.partial(orcish.write_dataset, data, target, existing_data="append")
    with pytest.raises(ValueError, match=r"column '(s\.)?a.x00b': the name has a NUL"):
        writes.get(write, added)()
    assert not target.exists() or orcish.read_table(target).to_pydict() == {"a": [1]}


def nested(levels: int, end: str, *, is_list: bool) -> str:
    begin, close = ("[", "]") if is_list else ('{"a":', "}")
    return '{"s": "[[{\\"", "n": ' + (begin + end) * (levels - 1) + "1" + (close + end) * (levels - 1) + "}\n"


@each_case("is_list", [True, False])
@each_case("end", ["", "\n"], ids=["line", "lines"])
@each_case("levels", [127, 128, 129, 200, 300, 100_000])
def test_json_that_nests_deeply(levels, end, is_list, tmp_path, run):
    source = tmp_path / "a.jsonl"
    source.write_text('{"s": "\\\\"}\n' + nested(levels, end, is_list=is_list))
    code, lines, err = run(source, tmp_path / "b.csv")
    if levels <= 128:
        assert (code, err) == (0, "")
        assert lines[0].startswith("2 rows")
        return
    assert (code, lines) == (1, [])
    assert err == f"orcish: {source}: row 2: a value nests more than 128 levels deep\n"


@each_case("schema", [(), ("--schema", "a bigint")])
@each_case(
    ("begin", "row"),
    [("", 1), (" ", 1), ("\ufeff", 1), ('{"a": null}\n', 2), ('{"a":\nnull}\n\n', 2)],
)
def test_a_line_that_is_null(begin, row, schema, tmp_path, run):
    source = tmp_path / "a.jsonl"
    source.write_text(f'{begin}null\n{{"a": 1}}\n')
    code, _, err = run(source, tmp_path / "b.csv", *schema)
    assert code == 1
    assert err == f"orcish: {source}: row {row}: a row is an object, and not null\n"


@each_case(("begin", "end"), [("array<", ">"), ("struct<a:", ">"), ("map<int,", ">")], ids=["array", "struct", "map"])
def test_schemas_that_nest_deeply(begin, end, tmp_path, run):
    (tmp_path / "a.jsonl").write_text("{}\n")
    given = f"a {begin * 100_000}int{end * 100_000}"
    code, _, err = run(tmp_path / "a.jsonl", tmp_path / "b.csv", "--schema", given)
    assert code == 2
    assert err.endswith("nests more than 128 levels deep\n")
    assert len(err) < 300


@each_case(("source", "target"), [("csv", "jsonl"), ("jsonl", "orc"), ("arrow", "csv")])
def test_many_columns(source, target, tmp_path, run):
    file, names = tmp_path / f"a.{source}", [f"c{at}" for at in range(8000)]
    if source == "csv":
        file.write_text(",".join(names) + "\n" + ",".join(["1"] * len(names)) + "\n")
    elif source == "jsonl":
        file.write_text(json.dumps(dict.fromkeys(names, 1)) + "\n")
    else:
        batch = pa.record_batch(dict.fromkeys(names, pa.array([1])))
        with pa.ipc.new_file(file, batch.schema) as writer:
            writer.write_batch(batch)
    code, _, err = run(file, tmp_path / f"b.{target}")
    assert (code, err) == (0, "")


@each_case("ending", ["csv", "tsv", "csv.gz"])
@each_case(
    ("text", "line"),
    [
        ('a,b\n1,"cut\n2,x\n3,y\n', 2),
        ('a,b\n1,x\n2,"', 3),
        ('a,b\n1,x\n"2,5\n', 3),
        ('a,b\n1,"x""\n', 2),
        ('a,b\n1,"x\ny"\n1,"x""\n', 4),
        ('a,b\n1,"x""y"\n', None),
        ('a,b\n1,5" pipe\n', None),
        ('a,b\n1,"\n"\n1,5"\n', None),
        ('a,b\n1,""\n1,5"', None),
        ('a,b\n1,"x"y"\n', None),
        ("a,b\n" + '1,"x\n"\n' * 300_000 + '1,"x', 600_002),
        ("a,b\n" + '1,"x\n"\n' * 300_000 + '1,5"', None),
    ],
)
def test_csv_that_ends_in_a_quoted_cell(text, line, ending, tmp_path, run):
    source = tmp_path / f"a.{ending}"
    data = (text.replace(",", "\t") if ending == "tsv" else text).encode()
    source.write_bytes(gzip.compress(data, 1, mtime=0) if ending == "csv.gz" else data)
    code, _, err = run(source, tmp_path / "b.orc")
    assert code == (0 if line is None else 1)
    assert err == "" if line is None else err.startswith(f'orcish: {source}: line {line}: a quote (") is opened')
    assert (tmp_path / "b.orc").exists() == (line is None)


@each_case("command", [["meta"], ["data"], ["tail"], ["count"], ["scan"], ["explain"], ["check"]])
def test_pipes_and_names_that_are_not_utf8(command, tmp_path, capsys):
    os.mkfifo(tmp_path / "pipe")
    assert main([*command, str(tmp_path / "pipe")]) != 0
    assert "it is a pipe (FIFO)" in capsys.readouterr().err
    name = os.fsencode(tmp_path) + b"/\xff.orc"
    shown = f"{tmp_path}/\\xff.orc"
    orcish.write_table(pa.table({"a": [1]}), tmp_path / "a.orc")
    os.rename(tmp_path / "a.orc", name)
    if main([*command, os.fsdecode(name)]):
        assert capsys.readouterr().err.startswith(f"orcish: {shown}: the name is not UTF-8")
    else:
        assert "\udcff" not in capsys.readouterr().out


@each_case("ending", ["csv", "jsonl", "parquet", "arrow"])
@each_case("command", ["convert", "json-schema"])
def test_pipes_are_no_files(command, ending, tmp_path, capsys):
    os.mkfifo(tmp_path / f"pipe.{ending}")
    target = [str(tmp_path / "a.orc")] if command == "convert" else []
    assert main([command, str(tmp_path / f"pipe.{ending}"), *target]) == 1
    assert f"pipe.{ending}: cannot be opened: it is a pipe (FIFO)" in capsys.readouterr().err


def with_length(ending, place):
    """A file of Arrow IPC, or of Parquet, that states a length that it has not."""
    length = struct.pack("<i", 0x7FFFFFF0)
    if ending == "parquet":
        sink = pa.BufferOutputStream()
        pa.parquet.write_table(pa.table({"c": [1]}), sink)
        data = sink.getvalue().to_pybytes()
        return data[:-8] + length + data[-4:]
    data = ipc(pa.array([1]), ending)
    batch = data.find(b"\xff\xff\xff\xff", data.find(b"\xff\xff\xff\xff") + 4)
    block = data.rfind(struct.pack("<q", batch))
    at = {"footer": len(data) - 10, "batch": batch + 4, "metadata": block + 8, "body": block + 16}[place]
    return data[:at] + length + data[at + 4 :]


PLACES = [
    ("parquet", "footer", "convert"),
    ("parquet", "footer", "json-schema"),
    ("arrow", "footer", "convert"),
    ("arrow", "footer", "json-schema"),
    ("arrow", "metadata", "convert"),
    ("arrow", "body", "convert"),
    ("arrows", "batch", "convert"),
]


@each_case(("broken", "source"), each_value(PLACES, ["file", "redirected", "pipe"]))
def test_lengths_are_compared_before_memory_is_taken(broken, source, tmp_path):
    ending, place, command = broken
    file = tmp_path / f"a.{ending}"
    file.write_bytes(with_length(ending, place))
    name = str(file) if source == "file" else "-"
    more = [str(tmp_path / "b.orc"), "--from", ending] if command == "convert" else ["--format", ending]
    given = [*LIMITED_ORCISH, command, name, *more]
    with open(file, "rb") as opened:
        streams = {"input": file.read_bytes()} if source == "pipe" else {"stdin": opened}
        done = subprocess.run(given, capture_output=True, check=False, **streams)
    err = done.stderr.decode()
    assert done.returncode == 1
    assert err.startswith(f"orcish: {file if source == 'file' else '-'}: ")
    assert err.count("\n") == 1
    assert "malloc" not in err
    assert "--delimiter" not in err


@each_case("command", ["convert", "json-schema", "data", "meta", "count", "sql", "diff"])
def test_memory_that_is_exhausted_is_no_traceback(command, tmp_path, capsys, monkeypatch):
    file = tmp_path / ("a.arrow" if command in ("convert", "json-schema") else "a.orc")
    if file.suffix == ".orc":
        orcish.write_table(pa.table({"a": [1]}), file)
    else:
        file.write_bytes(ipc(pa.array([1]), "arrow"))

    def fail(*_, **__):
        raise MemoryError

    places = {
        "convert": "formats.reading.open_arrow",
        "json-schema": "json_schema.open_arrow",
        "sql": "sql.add_table",
        "diff": "diff.diff",
        "meta": "meta.opened_part",
        "data": "rows.ORCFile",
        "count": "counting.open_rows",
    }
    monkeypatch.setattr(f"orcish_cli.{places[command]}", fail)
    query = f"select * from '{file}'"
    given = {"convert": [file, tmp_path / "b.orc"], "sql": [query], "diff": [file, file]}.get(command, [file])
    assert main([command, *map(str, given)]) in (1, 2)
    err = capsys.readouterr().err
    assert err.startswith("orcish: ")
    assert str(file) in err
    assert "there is not enough memory" in err
    assert err.count("\n") == 1


@each_case("target", ["orc", "csv", "parquet"])
@each_case("scale", [300, -300])
def test_decimals_whose_scale_arrow_does_not_pass_on(scale, target, tmp_path, run, capsys):
    file = tmp_path / "a.arrow"
    file.write_bytes(ipc(pa.array([None], pa.decimal128(12, scale)), "arrow"))
    advice = "a scale of decimals is from -128 to 127"
    code, _, err = run(file, tmp_path / f"b.{target}")
    assert (code, err) == (1, f"orcish: {file}: column 'c': decimal128(12, {scale}): {advice}\n")
    assert main(["json-schema", str(file)]) == 1
    assert advice in capsys.readouterr().err
    with pytest.raises(ValueError, match=advice):
        orcish.write_table(pa.table({"c": pa.array([None], pa.decimal128(12, scale))}), tmp_path / "b.orc")


@each_case(
    ("name", "data"),
    [
        ("a.csv.gz", gzip.compress(b"a\n1\n", mtime=0)[:-8]),
        ("a.jsonl.gz", gzip.compress(b'{"a": 1}\n' * 9, mtime=0)[:-8]),
        ("a.jsonl.gz", gzip.compress(b" [1," + b"1," * (9 << 20), mtime=0)),
        ("a.jsonl", b"\xff\xff"),
        ("a.jsonl", b"{"),
        ("a.parquet", b"PAR1PAR1PAR1"),
        ("a.arrow", b"ARROW1" * 9),
        ("a.arrow", b"\xff\xff\xff\xff\xff\xff\xff\x7f"),
        ("a.arrow", ipc(pa.array([{"nnnn": 1}]), "arrow").replace(b"nnnn", b"n\xffnn")),
        ("a.csv", b""),
        ("a.orc", b"ORC"),
    ],
)
def test_types_of_damaged_files(name, data, tmp_path, capsys):
    (tmp_path / name).write_bytes(data)
    assert main(["json-schema", str(tmp_path / name)]) == 1
    err = capsys.readouterr().err
    assert err.startswith(f"orcish: {tmp_path / name}: ")
    assert err.count("\n") == 1


@each_case("schema", [[], ["--schema", "a int"]], ids=str)
@each_case("text", ['[{"a": 1}, {"a": 2}]', '[\n  {"a": 1}\n]\n', "[]"])
def test_json_that_is_one_array(
    text: str, schema: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = tmp_path / "a.json"
    source.write_text(text)
    assert main(["convert", str(source), str(tmp_path / "a.orc"), *schema]) == 1
    err = capsys.readouterr().err
    assert err.startswith(f"orcish: {source}: ")
    assert err.endswith(": JSON lines have an object on each line: `jq -c '.[]'` makes them of one array\n")


@each_case("is_old", [False, True])
def test_streams_without_a_mark_at_their_end(is_old: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """They are streams, and may be cut between two batches, which no length tells."""
    rows, ends = pa.table({"a": [1 << 60] * 30}), []
    target = io.BytesIO()
    # Those of Arrow before 0.15 have another mark.
    options = pa.ipc.IpcWriteOptions(use_legacy_format=is_old)
    with pa.ipc.new_stream(target, rows.schema, options=options) as writer:
        for batch in rows.to_batches(max_chunksize=10):
            ends.append(target.tell())
            writer.write_batch(batch)
        ends.append(target.tell())
    whole = target.getvalue()
    source = tmp_path / "a.arrows"
    for number, end in enumerate([*ends[1:], len(whole), None], 1):
        source.write_bytes(whole + b"more" if end is None else whole[:end])
        arguments = ["convert", str(source), str(tmp_path / f"{number}.orc")]
        assert main(arguments) == 0
        told = f"{source}: the stream has no mark at its end, and may be cut\n" if end in ends else ""
        assert capsys.readouterr().err == told
        assert orcish.scan(tmp_path / f"{number}.orc").count() == min(number, 3) * 10


@each_case("name", ["a.jsonl.gz", "a.csv.gz", "a.parquet.gz", "a.orc.gz", "a.gz", "a.csv.bz2"])
@each_case("command", ["data", "count", "meta", "check", "stats", "scan", "diff", "recover", "convert"])
def test_compressed_files_that_are_damaged(
    command: str, name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What they are is looked for in their bytes, for advice."""
    bad, good = tmp_path / name, tmp_path / "good.orc"
    begin = b"BZh91AY&SY" if name.endswith("bz2") else b"\x1f\x8b\x08\0\0\0\0\0\0\x03"
    bad.write_bytes(begin + b"\xff" * 40)
    orcish.write_table(pa.table({"a": [1]}), good)
    more = {"diff": [str(good)], "recover": ["--dry-run"], "convert": [str(tmp_path / "new.orc")]}.get(command, [])
    assert main([command, str(bad), *more]) in (1, 2)
    err = capsys.readouterr().err
    assert (str(bad) in err, "Traceback" in err) == (True, False), err
    if command in ("count", "check", "scan"):
        # The next file is read.
        assert main([command, str(bad), str(good)]) in (1, 2)
        out, err = capsys.readouterr()
        assert (bool(out), "Traceback" in err) == (True, False)


TOO_LARGE = b"a\n" + b"1" * 60_000_000
"""A row that is larger than a block, and blocks behind it that are read ahead."""


BEGINS = {"csv": b"a,b\n1,2\n", "quote": b'a,b\n1,"2\n', "json": b'{"a":1}\n', "text": b'{"a":"1'}


@each_case(("begin", "kind", "compressed"), pairs(BEGINS, ["csv", "jsonl"], ["", ".gz"]))
def test_the_process_ends_after_errors_while_blocks_are_read_ahead(
    begin: str, kind: str, compressed: str, tmp_path: Path
) -> None:
    data, ending = BEGINS[begin] + TOO_LARGE, kind + compressed
    (tmp_path / f"a.{ending}").write_bytes(gzip.compress(data, 1) if ending.endswith("gz") else data)
    given = [*ORCISH, "convert", f"a.{ending}", "o.orc"]
    done = subprocess.run(given, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stderr
    assert done.stderr.startswith(f"orcish: a.{ending}: ")
    assert done.stderr.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == [f"a.{ending}"]
