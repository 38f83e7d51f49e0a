"""A filter selects the same rows in every function and command that takes one, whatever digits timestamps have."""

from __future__ import annotations

import json
import os
import pathlib
import random
import re
from collections.abc import Callable

import orcish
import polars as pl
import pyarrow as pa
import pyarrow.orc as po
import pytest
from orcish_cli import main

BASE = 1_500_000_000_000_000_000
"""2017-07-14 02:40:00, in nanoseconds."""


def nanoseconds(folder: pathlib.Path) -> None:
    """A table of another writer."""
    values = [BASE + step for step in (-1, 0, 1, 500, 999, 1000, 10**9)]
    po.write_table(pa.table({"id": range(7), "t": pa.array(values, pa.timestamp("ns"))}), folder / "a.orc")


def far_years(folder: pathlib.Path) -> None:
    values = [0, 10**12, -(10**10), BASE // 10**9, BASE // 10**9 + 1]
    table = pa.table({"id": range(5), "t": pa.array(values, pa.timestamp("s"))})
    orcish.write_table(table, folder / "a.orc", arrow_schema=False)


def instants(folder: pathlib.Path) -> None:
    values = [BASE + step for step in (-1, 0, 1, 1000)]
    po.write_table(pa.table({"id": range(4), "t": pa.array(values, pa.timestamp("ns", "UTC"))}), folder / "a.orc")


def several_units(folder: pathlib.Path) -> None:
    seconds, more = pa.array([BASE // 10**9], pa.timestamp("s")), pa.array([BASE, BASE + 1], pa.timestamp("ns"))
    orcish.write_table(pa.table({"id": [0], "t": seconds}), folder / "a.orc")
    orcish.write_table(pa.table({"id": [1, 2], "t": more}), folder / "b.orc")


TABLES = {"nanoseconds": nanoseconds, "far years": far_years, "instants": instants, "several units": several_units}


def literal(number: int, zone: str) -> str:
    seconds, fraction = divmod(number, 10**9)
    text = pl.from_epoch(pl.Series([seconds])).dt.strftime("%Y-%m-%d %H:%M:%S")[0]
    return f"timestamp '{text}.{fraction:09}{zone}'"


def conditions(zone: str) -> list[str]:
    """Random predicates about values near those of the tables."""
    rng = random.Random(os.environ["ORCISH_SEED"])

    def value() -> str:
        return literal(BASE + rng.choice([-1000, -1, 0, 1, 2, 499, 500, 999, 1000, 10**9]), zone)

    found = [f"t {sign} {literal(BASE, zone)}" for sign in ("=", "<>", "<", "<=", ">", ">=")]
    found += [f"t {rng.choice(['=', '<>', '<', '<=', '>', '>='])} {value()}" for _ in range(4)]
    return [*found, f"t between {value()} and {value()}", f"not t in ({value()}, {value()}) or id = 0"]


def ids(table: pa.Table) -> list[int]:
    return sorted(table["id"].to_pylist())


EXACT = {"timestamp_unit": "exact"}
AUTO = {"timestamp_unit": "auto"}


def of_delete(path: str, query: str, out: str) -> list[int]:
    before = ids(orcish.read_table(path))
    orcish.delete(path, query)
    try:
        return sorted(set(before) - set(ids(orcish.read_table(path))))
    except FileNotFoundError:
        return before


def of_convert(path: str, query: str, out: str) -> list[int]:
    orcish.convert(path, out, filters=query, **EXACT)
    return ids(orcish.read_table(out))


FUNCTIONS: dict[str, Callable[[str, str, str], list[int]]] = {
    "read_table": lambda path, query, _: ids(orcish.read_table(path, filters=query, **AUTO)),
    "splits": lambda path, query, _: sorted(
        number
        for split in orcish.scan(path, filters=query, **EXACT).splits(1)
        for number in split.scan().to_table()["id"].to_pylist()
    ),
    "dataset": lambda path, query, _: ids(orcish.dataset(path, filters=query, **EXACT).to_table()),
    "scan_polars": lambda path, query, _: ids(orcish.scan_polars(path, filters=query, **EXACT).collect().to_arrow()),
    "convert": of_convert,
    "delete": of_delete,
}


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[str]:
    capsys.readouterr()
    code = main(list(arguments))
    out, err = capsys.readouterr()
    assert code == 0, err
    return out.splitlines()


def printed(lines: list[str]) -> list[int]:
    return sorted(json.loads(line)["id"] for line in lines)


def converted(capsys: pytest.CaptureFixture[str], path: str, query: str, out: str) -> list[int]:
    run(capsys, "convert", path, f"{out}.jsonl", "--where", query)
    return printed(pathlib.Path(f"{out}.jsonl").read_text().splitlines())


def rewritten(capsys: pytest.CaptureFixture[str], path: str, query: str, out: str) -> list[int]:
    run(capsys, "rewrite", path, "--output", f"{out}.orc", "--where", query)
    return ids(orcish.read_table(f"{out}.orc"))


COMMANDS = {
    "data": lambda capsys, path, query, _: printed(run(capsys, "data", path, "--all", "--json", "--where", query)),
    "tail": lambda capsys, path, query, _: printed(run(capsys, "tail", path, "-n", "99", "--json", "--where", query)),
    "sample": lambda capsys, path, query, _: printed(
        run(capsys, "sample", path, "-n", "99", "--json", "--where", query)
    ),
    "convert": converted,
    "rewrite": rewritten,
    "sql": lambda capsys, path, query, _: printed(
        run(capsys, "sql", f"select id from '{path}' where {in_duckdb(query)}", "--json")
    ),
}


def in_duckdb(query: str) -> str:
    """The predicate with the literals of duckdb for nanoseconds."""
    return query if "Z'" in query else query.replace("timestamp '", "timestamp_ns '")


@pytest.mark.parametrize("table", TABLES)
class TestTimestamps:
    @pytest.fixture
    def source(self, table, tmp_path):
        folder = tmp_path / "table"
        folder.mkdir()
        TABLES[table](folder)
        return folder

    @pytest.fixture
    def expected(self, source):
        rows = orcish.read_table(source, **EXACT)
        scale = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}[rows.schema.field("t").type.unit]
        values = list(zip(rows["id"].to_pylist(), rows["t"].cast(pa.int64()).to_pylist(), strict=True))
        return lambda query: sorted(number for number, value in values if decided(query, number, value * scale))

    @pytest.mark.parametrize("verb", FUNCTIONS)
    def test_functions(self, table, source, expected, verb, tmp_path):
        for at, query in enumerate(conditions("Z" if table == "instants" else "")):
            copy = tmp_path / f"copy{at}"
            copy.mkdir()
            for file in source.glob("*.orc"):
                (copy / file.name).write_bytes(file.read_bytes())
            assert FUNCTIONS[verb](str(copy), query, str(tmp_path / f"out{at}")) == expected(query), query

    @pytest.mark.parametrize("verb", COMMANDS)
    def test_commands(self, table, source, expected, verb, tmp_path, capsys):
        if verb == "sql":
            pytest.importorskip("duckdb")
            if table in ("far years", "instants"):
                pytest.skip("duckdb has no literals for these")
        for at, query in enumerate(conditions("Z" if table == "instants" else "")):
            assert COMMANDS[verb](capsys, str(source), query, str(tmp_path / f"out{at}")) == expected(query), query

    def test_counts(self, table, source, expected, capsys):
        for query in conditions("Z" if table == "instants" else ""):
            counted, scanned = (
                sum(json.loads(line)["rows"] for line in run(capsys, command, str(source), "--json", "--where", query))
                for command in ("count", "scan")
            )
            (plan,) = map(json.loads, run(capsys, "explain", str(source), "--json", "--where", query))
            rows = len(expected(query))
            assert counted == scanned == rows, query
            assert plan["rows_read"] >= rows, query
            assert orcish.scan(source, filters=query, **EXACT).count() == rows, query
            assert "rows" in run(capsys, "delete", str(source), "--where", f"({query}) and id < 0")[0]


def decided(query: str, number: int, value: int) -> bool:
    """What Python says of a predicate of :func:`conditions`."""

    def epoch(found: re.Match[str]) -> str:
        text, fraction = found.group(1), found.group(2)
        return str(pl.Series([text]).str.to_datetime("%Y-%m-%d %H:%M:%S").dt.epoch("s")[0] * 10**9 + int(fraction))

    text = re.sub(r"timestamp '([^.']*)\.(\d+)Z?'", epoch, query)
    text = re.sub(r"t between (\S+) and (\S+)", r"\1 <= t <= \2", text)
    text = text.replace("<>", "!=").replace("id = 0", "id == 0")
    text = re.sub(r"t = ", "t == ", text)
    return bool(eval(text, {"t": value, "id": number}))
