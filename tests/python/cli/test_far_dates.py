"""Dates and timestamps of years beyond those that pyarrow has texts of."""

from __future__ import annotations

import json

import orcish
import pyarrow as pa
import pytest
from support.case_loops import each_case

FAR = {
    "day": (pa.array([36_500_000, -(2**31)], pa.int32()).cast(pa.date32()), ["101903-08-11", "-5877641-06-23"]),
    "at": (
        pa.array([2**60, -(2**60)], pa.timestamp("us")),
        ["38504-08-17T21:30:06.846976", "-34565-05-17T02:29:53.153024"],
    ),
}


@each_case("name", FAR)
def test_commands(name, tmp_path, run, monkeypatch):
    monkeypatch.chdir(tmp_path)
    array, texts = FAR[name]
    orcish.write_table(pa.table({name: array}), "a.orc")
    rows = [{name: text} for text in texts]
    code, lines, _ = run("data", "a.orc", "--json")
    assert (code, list(map(json.loads, lines))) == (0, rows)
    assert run("convert", "a.orc", "a.jsonl")[0] == 0
    assert list(map(json.loads, (tmp_path / "a.jsonl").read_text().splitlines())) == rows
    assert run("rewrite", "a.orc", "-o", "text.orc", "--cast", f"{name}=string")[0] == 0
    assert orcish.read_table("text.orc")[name].to_pylist() == [text.replace("T", " ") for text in texts]
    code, _, err = run("convert", "a.orc", "a.csv")
    assert code == 1
    assert f"a.csv: column {name!r} has values beyond the years" in err
    assert not (tmp_path / "a.csv").exists()
    assert run("convert", "a.orc", "one.csv", "-n", 0)[0] == 0
    orcish.write_table(pa.table({name: array[:1]}), "b.orc")
    assert texts[1].replace("T", " ")[:14] in "\n".join(run("diff", "a.orc", "b.orc")[1]).replace("T", " ")
    with pytest.raises(OverflowError, match="of type") as caught:
        orcish.scan("a.orc").max(name)
    assert texts[0].replace("T", " ") in str(caught.value)
    if name == "day":
        assert run("convert", "a.jsonl", "back.orc", "--schema", "day date")[0] == 0
        assert orcish.read_table("back.orc")["day"].combine_chunks().equals(array)
