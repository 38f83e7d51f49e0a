"""``diff --brief`` prints no number that it has not counted."""

from __future__ import annotations

import json

import orcish
import pyarrow as pa
import pytest

A = pa.table({"id": pa.array(range(5), pa.int64()), "name": list("abcde")})
B = pa.table({"id": pa.array(range(6), pa.int64()), "name": list("aBcdef")})
NARROW = B.cast(pa.schema([("id", pa.int32()), ("name", pa.string())]))
COUNTED = ("changed", "only_a", "only_b", "columns", "duplicate_keys")


@pytest.mark.parametrize(
    ("other", "options", "rows"),
    [
        (B, [], (5, 6)),
        (NARROW, [], (5, 6)),
        (NARROW, ["--key", "id"], (5, 6)),
        (B, ["--key", "id"], (5, 6)),
        (B, ["--ignore-order"], (5, 6)),
        (B, ["--where", "id < 4"], (None, None)),
    ],
    ids=["values", "types", "types by key", "key", "order", "filter"],
)
def test_numbers(other, options, rows, tmp_path, run):
    a, b = tmp_path / "a.orc", tmp_path / "b.orc"
    orcish.write_table(A, a)
    orcish.write_table(other, b)
    code, lines, _ = run("diff", a, b, "--brief", "--json", *options)
    found = json.loads(lines[-1])
    assert (code, found["differ"]) == (1, True)
    assert (found["rows_a"], found["rows_b"]) == rows
    assert [found[name] for name in COUNTED] == [None] * 5


def test_without_a_difference_all_is_counted(tmp_path, run):
    path = tmp_path / "a.orc"
    orcish.write_table(A, path)
    code, lines, _ = run("diff", path, path, "--brief", "--json")
    found = json.loads(lines[-1])
    assert (code, found["differ"], found["rows_a"], found["rows_b"]) == (0, False, 5, 5)
    assert [found[name] for name in COUNTED] == [0, 0, 0, {}, 0]
