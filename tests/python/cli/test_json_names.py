"""Objects of JSON have each name once, whatever names columns and fields have."""

from __future__ import annotations

import json
from typing import Any

import orcish
import pyarrow as pa
from orcish_cli.json_values import unique_names
from support.case_loops import each_case

PLACES = {
    "columns": lambda one, two: pa.table([one, two], names=["a", "a"]),
    "fields": lambda one, two: pa.table({"s": _struct(one, two)}),
    "fields of lists": lambda one, two: pa.table({"s": pa.ListArray.from_arrays([0, 1, 2], _struct(one, two))}),
    "fields of maps": lambda one, two: pa.table(
        {"s": pa.MapArray.from_arrays([0, 1, 2], ["k", "l"], _struct(one, two))}
    ),
}
COMMANDS = [["data"], ["head"], ["tail"], ["sample"], ["sql"]]


def _struct(one: pa.Array, two: pa.Array) -> pa.StructArray:
    return pa.StructArray.from_arrays([one, two], names=["a", "a"])


def _pairs(text: str) -> list[list[tuple[str, Any]]]:
    """The names and values of all objects of a text."""
    found: list[list[tuple[str, Any]]] = []
    json.loads(text, object_pairs_hook=lambda pairs: found.append(pairs) or dict(pairs))
    return found


@each_case("place", PLACES)
@each_case("command", COMMANDS, ids=lambda command: command[0])
def test_names_are_there_once(command, place, tmp_path, run):
    path = tmp_path / "a.orc"
    orcish.write_table(PLACES[place](pa.array([1, 2]), pa.array([3, 4])), path)
    given = [f"select * from '{path}'"] if command == ["sql"] else [path]
    code, lines, err = run(*command, *given, "--json")
    assert (code, err, len(lines)) == (0, "", 2)
    for number, line in enumerate(lines, 1):
        objects = _pairs(line)
        assert all(len(dict(pairs)) == len(pairs) for pairs in objects)
        assert [("a", number), ("a_1", number + 2)] in objects


@each_case("place", PLACES)
def test_json_lines_are_refused(place, tmp_path, run):
    path = tmp_path / "a.orc"
    orcish.write_table(PLACES[place](pa.array([1, 2]), pa.array([3, 4])), path)
    code, _, err = run("convert", path, tmp_path / "a.jsonl")
    assert code == 1
    assert "an object of JSON has one value of a name, and " in err
    assert not (tmp_path / "a.jsonl").exists()


@each_case(
    ("names", "wanted"),
    [
        (["a", "b"], ["a", "b"]),
        (["a", "a", "a"], ["a", "a_1", "a_2"]),
        (["a", "a", "a_1"], ["a", "a_2", "a_1"]),
        (["a_1", "a", "a", "a_1"], ["a_1", "a", "a_2", "a_1_1"]),
        (["", ""], ["", "_1"]),
    ],
    ids=str,
)
def test_unique_names(names, wanted):
    assert unique_names(names) == wanted
