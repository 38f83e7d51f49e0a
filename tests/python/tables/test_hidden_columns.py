"""Columns in files that have the name of a partition column."""

import pathlib

import orcish
import pyarrow as pa
from orcish_cli import main
from support.case_loops import each_case

SAME = {
    "integer": ("1", pa.array([1, 1])),
    "small integer": ("01", pa.array([1, 1], pa.int8())),
    "text": ("a b", pa.array(["a b", "a b"])),
    "dictionary": ("x", pa.array(["x", "x"]).dictionary_encode()),
    "date": ("2026-01-31", pa.array(["2026-01-31", "2026-01-31"]).cast(pa.date32())),
    "double": ("1.5", pa.array([1.5, 1.5])),
    "null": ("__HIVE_DEFAULT_PARTITION__", pa.array([None, None], pa.string())),
}
OTHER = {
    "integer": ("1", pa.array([1, 9])),
    "spelling": ("1", pa.array(["1", "01"])),
    "null": ("1", pa.array([1, None])),
    "value for null": ("__HIVE_DEFAULT_PARTITION__", pa.array([1, 1])),
    "no value of the type": ("x", pa.array([1, 1])),
    "no type of folders": ("1", pa.array([[1], [1]])),
}


def table(folder: pathlib.Path, text: str, stored: pa.Array) -> pathlib.Path:
    path = folder / "t" / f"k={text}" / "a.orc"
    path.parent.mkdir(parents=True)
    orcish.write_table(pa.table({"a": [1, 2], "k": stored}), path)
    return path


@each_case("kind", SAME)
def test_stored_values_of_the_folder_are_not_needed(kind, tmp_path):
    table(tmp_path, *SAME[kind])
    before = orcish.read_table(tmp_path / "t")
    assert main(["rewrite", str(tmp_path / "t"), "--in-place"]) == 0
    assert orcish.read_table(tmp_path / "t") == before


@each_case("options", [[], ["--sort-by", "a"], ["--partition-by", ""], ["--rename", "k=kk"]])
@each_case("kind", OTHER)
def test_other_stored_values_are_not_lost(kind, options, tmp_path, capsys):
    path = table(tmp_path, *OTHER[kind])
    before = path.read_bytes()
    assert main(["rewrite", str(tmp_path / "t"), "--in-place", *options]) == 1
    err = capsys.readouterr().err
    assert "column 'k' is stored with other values" in err
    assert str(path) in err
    assert path.read_bytes() == before
    # A target elsewhere has what readers see.
    assert main(["rewrite", str(tmp_path / "t"), "-o", str(tmp_path / "x"), *options]) == 0
    assert main(["rewrite", str(tmp_path / "t"), "--in-place", "-c", "a"]) == 0


@each_case("kind", [*SAME, *OTHER])
@each_case("verb", ["compact", "delete"])
def test_other_verbs_keep_stored_values(verb, kind, tmp_path):
    text, stored = {**SAME, **OTHER}[kind]
    path = table(tmp_path, text, stored)
    if verb == "compact":
        orcish.compact(tmp_path / "t", rewrite=True)
    else:
        orcish.delete(tmp_path / "t", "a = 2")
    (new,) = path.parent.glob("*.orc")
    assert orcish.read_table(new)["k"].to_pylist() == stored.to_pylist()[: 2 if verb == "compact" else 1]
