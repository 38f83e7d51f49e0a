"""Text of CSV that is not UTF-8 is an error, or read by its encoding; it never becomes other values."""

from __future__ import annotations

from pathlib import Path

import orcish
from support.case_loops import each_case

TEXT = "id,name\n1,Muller\n2,Müller\n3,\n"
ROWS = [{"id": 1, "name": "Muller"}, {"id": 2, "name": "Müller"}, {"id": 3, "name": None}]


def written(tmp_path: Path, ending: str, encoding: str, text: str = TEXT) -> Path:
    path = tmp_path / f"a.{ending}"
    path.write_bytes((text.replace(",", "\t") if ending == "tsv" else text).encode(encoding))
    return path


@each_case("ending", ["csv", "tsv"])
@each_case("given", [[], ["--schema", "name string"], ["--schema", "id int, name binary"]], ids=str)
def test_other_text_is_an_error_that_says_where(ending, given, tmp_path, run):
    path = written(tmp_path, ending, "latin1")
    code, lines, err = run("convert", path, tmp_path / "a.orc", *given)
    assert (code, lines) == (1, [])
    assert err.startswith(f"orcish: {path}: row 2: column 'name': M\\xfcller is not UTF-8: --encoding ")
    assert "give the type" not in err
    assert not (tmp_path / "a.orc").exists()


def test_other_text_is_an_error_of_types(tmp_path, run):
    path = written(tmp_path, "csv", "latin1")
    code, _, err = run("json-schema", path)
    assert code == 1
    assert f"{path}: row 2: column 'name': M\\xfcller is not UTF-8: --encoding " in err


def test_other_text_after_the_first_block(tmp_path, run, monkeypatch):
    monkeypatch.setattr("orcish_cli.formats.text_values.BLOCK", 1 << 10)
    path = written(tmp_path, "csv", "latin1", "id,name\n" + "1,Muller\n" * 1000 + "2,Müller\n")
    code, _, err = run("convert", path, tmp_path / "a.orc")
    assert code == 1
    assert f"{path}: row 1001: column 'name': M\\xfcller is not UTF-8: --encoding " in err


@each_case("command", ["convert", "json-schema"])
def test_other_names_of_columns(command, tmp_path, run):
    path = written(tmp_path, "csv", "latin1", "id,Straße\n1,a\n")
    code, _, err = run(command, path, *([tmp_path / "a.orc"] if command == "convert" else []))
    assert code == 1
    assert f"{path}: the names of the columns" in err


@each_case("ending", ["csv", "tsv"])
@each_case("encoding", ["utf-8", "latin1", "cp1252", "utf-16", "utf-16-le", "utf-8-sig"])
def test_encodings(ending, encoding, tmp_path, run):
    path, target = written(tmp_path, ending, encoding), tmp_path / "a.orc"
    assert run("convert", path, target, "--encoding", encoding)[0] == 0
    assert orcish.read_table(target).to_pylist() == ROWS
    code, lines, _ = run("json-schema", path, "--encoding", encoding)
    assert (code, lines) == (0, ["struct<id:bigint,name:string>"])


@each_case("command", ["convert", "json-schema"])
@each_case(
    ("ending", "encoding", "wanted"),
    [
        ("csv", "ascii", "the text is not of the encoding that is given"),
        ("csv", "hex", "no encoding that is known here"),
        ("csv", "nosuch", "no encoding that is known here"),
        ("jsonl", "latin1", "--encoding is of "),
    ],
)
def test_wrong_encodings(command, ending, encoding, wanted, tmp_path, run):
    path = written(tmp_path, ending, "latin1")
    target = tmp_path / "b.orc"
    code, _, err = run(command, path, *([target] if command == "convert" else []), "--encoding", encoding)
    # A text that is not of the encoding is a fault of the file.
    assert code == (1 if encoding == "ascii" else 2)
    assert wanted in err
    assert not target.exists()


def test_json_that_is_not_utf8_names_the_file(tmp_path, run):
    path = written(tmp_path, "jsonl", "latin1", '{"a": "Müller"}\n')
    for arguments in (["json-schema", path], ["convert", path, tmp_path / "a.orc"]):
        code, _, err = run(*arguments)
        assert code == 1
        assert str(path) in err
        assert "codec" not in err
