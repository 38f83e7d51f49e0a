"""Unions whose codes of types are no positions of variants: what verbs print and compare is that of the positions."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import orcish
import pyarrow as pa
import pytest

Run = Callable[..., tuple[int, list[str], str]]
TAGS = [0, 1, 1, 0, 1]
MODES = ["dense", "sparse"]
PRINTED: dict[str, list[str]] = {
    "data": ["data", "{}"],
    "data as JSON": ["data", "{}", "--json"],
    "filtered rows": ["data", "{}", "--where", "id > 1", "--json"],
    "head": ["head", "{}"],
    "tail": ["tail", "{}", "-n", "2"],
    "sample": ["sample", "{}", "--seed", "1"],
    "sql": ["sql", "select * from t", "--table", "t={}"],
    "sql as JSON": ["sql", "select * from t", "--table", "t={}", "--json"],
}
"""Verbs that print values."""


def union(mode: str, codes: list[int]) -> pa.Array:
    children = [pa.array([1, None, 3, 4, 5]), pa.array(["a", "b", None, "d", "e"])]
    types = pa.array([codes[tag] for tag in TAGS], pa.int8())
    if mode == "sparse":
        return pa.UnionArray.from_sparse(types, children, ["x", "y"], codes)
    places = pa.array([0, 1, 2, 1, 4], pa.int32())
    return pa.UnionArray.from_dense(types, places, children, ["x", "y"], codes)


def table(mode: str, codes: list[int]) -> pa.Table:
    found = union(mode, codes)
    lists = pa.ListArray.from_arrays(pa.array([0, 0, 1, 3, 5, 5], pa.int32()), found)
    inside = pa.StructArray.from_arrays([found], ["f"])
    return pa.table({"id": range(5), "u": found, "lists": lists, "structs": inside})


@pytest.fixture(params=MODES)
def files(request: Any, tmp_path: Path) -> list[Path]:
    """Files of the same rows, with codes that are positions and with others."""
    paths = []
    for name, codes in (("positions", [0, 1]), ("others", [5, 7]), ("backwards", [1, 0])):
        paths.append(tmp_path / f"{name}.orc")
        orcish.write_table(table(request.param, codes), paths[-1])
    return paths


@pytest.mark.parametrize("verb", PRINTED)
def test_verbs_print_positions(files: list[Path], verb: str, run: Run) -> None:
    found = []
    for path in files:
        code, lines, err = run(*(argument.format(path) for argument in PRINTED[verb]))
        assert (code, err) == (0, "")
        found.append(lines)
    assert any("tag" in line for line in found[0])
    assert found[1:] == found[:1] * 2


@pytest.mark.parametrize("form", ["csv", "jsonl"])
@pytest.mark.parametrize("source", ["orc", "arrow"])
def test_texts_have_positions(files: list[Path], form: str, source: str, run: Run) -> None:
    texts = []
    for path in files:
        given = path.with_suffix(f".{source}")
        if source == "arrow":
            assert run("convert", path, given)[0] == 0
        target = path.with_suffix(f".{form}")
        assert run("convert", given, target)[::2] == (0, "")
        texts.append(target.read_text())
    assert "tag" in texts[0]
    assert texts[1:] == texts[:1] * 2


@pytest.mark.parametrize("options", [[], ["--key", "id"], ["--key", "u"], ["--ignore-order"]], ids=" ".join)
def test_values_are_compared_by_positions(files: list[Path], options: list[str], run: Run) -> None:
    for path in files[1:]:
        assert run("diff", files[0], path, "--values-only", *options) == (0, [], "")
    other = files[0].with_name("other.orc")
    orcish.write_table(table("dense", [5, 7]).slice(0, 4), other)
    assert run("diff", files[0], other, "--values-only", *options)[0] == 1
