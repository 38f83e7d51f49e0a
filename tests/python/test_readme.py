"""The code of the README does what the README says."""

import datetime
import re
import shlex
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyorc
import pytest
from carbon import CarbonTableWriter
from orcish.cli import main

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")


@pytest.fixture
def orders(tmp_path, monkeypatch):
    """The file and the table that the README speaks of, in the current directory."""
    schema = "struct<id:bigint,placed:timestamp,customer:struct<name:string>,total:decimal(12,2)>"
    placed = datetime.datetime(2026, 1, 2, 3, 4, 5, tzinfo=datetime.timezone.utc)
    with (tmp_path / "orders.orc").open("wb") as file, pyorc.Writer(file, schema) as writer:
        for number in range(100):
            writer.write((number, placed, (f"customer {number % 7}",), Decimal(number)))
    cities = ["Bern", "Chur", "Genf"]
    sales = pa.table(
        {"id": range(100), "city": [cities[i % 3] for i in range(100)], "total": [i / 4 for i in range(100)]}
    )
    CarbonTableWriter(tmp_path / "sales", sales.schema, partition_by=("city",)).load(sales)
    monkeypatch.chdir(tmp_path)


def blocks(language):
    """The code blocks of a language."""
    return re.findall(rf"^```{language}\n(.*?)^```", README, flags=re.MULTILINE | re.DOTALL)


@pytest.mark.usefixtures("orders")
def test_python():
    names = {}
    for number, block in enumerate(blocks("python")):
        exec(compile(block, f"README.md, block {number}", "exec"), names)
    assert names["table"].column_names == ["customer", "total"]
    assert names["table"]["customer"].type == pa.struct([("name", pa.string())])
    assert names["part"].column_names == ["id"]
    assert names["file"].statistics("total").max == 99
    assert names["big"].num_rows == 3
    assert names["splits"][0].rows == 100
    assert sum(file.rows for file in names["written"]) == names["sales"].num_rows == 100
    assert len(names["written"]) == 3


@pytest.mark.usefixtures("orders")
def test_shell(capsys):
    lines = [line.removeprefix("$ ") for block in blocks("console") for line in block.splitlines()]
    commands = [shlex.split(line, comments=True)[1:] for line in lines if re.match("orcish (?!spark)", line)]
    assert len(commands) == 7
    for command in commands:
        assert main(command) == 0, command
        out, err = capsys.readouterr()
        assert out
        assert not err


def test_make_targets():
    makefile = (Path(__file__).parents[2] / "Makefile").read_text(encoding="utf-8")
    for target in [*re.findall(r"\bmake ([a-z]+)`", README), "demo", "test"]:
        assert re.search(rf"^{target}:.*##", makefile, flags=re.MULTILINE), target
