"""Facts about other readers: those about pyarrow are seen here, and those about Spark in the tests of Spark."""

from __future__ import annotations

import json
import pathlib
import re
from typing import Any

import orcish
import pyarrow as pa
import pyarrow.orc
import pytest
from orcish_cli import main
from orcish_cli.readers.compatibility import compatibility, features_of
from orcish_cli.readers.facts import FACTS, READERS, REQUIRED, SOURCES
from support.reader_files import FILES, feature_file

WITHOUT_FILE = {"stripes large", "bloom old"}
"""Features of facts without a file here: it would be large, or no writer that is here writes it."""


def test_the_table() -> None:
    assert FACTS.keys() == FILES.keys() | WITHOUT_FILE
    readers = {reader.id: reader for reader in READERS}
    used = {reader.basis for reader in READERS}
    for feature, facts in FACTS.items():
        assert facts.keys() <= readers.keys(), feature
        for fact in facts.values():
            used |= {fact.source} - {None}
            assert fact.verdict in ("yes", "no", "differs", "unknown")
            assert fact.note or fact.verdict == "yes", feature
    assert used == SOURCES.keys()
    for text in SOURCES.values():
        assert re.match(r"https://|run: ", text)
    assert {feature for feature in FACTS if feature.startswith(REQUIRED)} >= {"codec zstd", "union", "encryption"}


@pytest.mark.parametrize("feature", FILES)
def test_features_are_found(feature: str, tmp_path: pathlib.Path) -> None:
    file = orcish.ORCFile(feature_file(feature, tmp_path))
    found = features_of(file)
    assert feature in found
    # Other features of the files are those that no file is without.
    beside = {
        "codec",
        "dictionary",
        "decimal",
        "names",
        "attribute",
        "null",
        "bloom",
        "char",
        "varchar",
        "root",
        "encryption",
    }
    assert {each.partition(" ")[0] for each in found} <= beside | {feature.partition(" ")[0]}


def test_a_plain_file_is_read_by_all_that_know_its_codec(tmp_path: pathlib.Path) -> None:
    orcish.write_table(pa.table({"a": [1, 2], "b": [1.0, None]}), tmp_path / "a.orc", compression="zlib")
    assert {each.verdict for each in compatibility(orcish.ORCFile(tmp_path / "a.orc"))} == {"yes"}


@pytest.mark.skipif(not pa.__version__.startswith("26."), reason="the facts are about pyarrow 26")
@pytest.mark.parametrize("feature", FILES)
def test_facts_about_pyarrow(feature: str, tmp_path: pathlib.Path) -> None:
    path = feature_file(feature, tmp_path)
    (found,) = compatibility(orcish.ORCFile(path), ["pyarrow"])
    fact = FACTS[feature].get("pyarrow")
    assert fact is not None, "it can be tried"
    if fact.verdict == "no":
        assert found.verdict == "no"
        with pytest.raises((pa.ArrowException, OSError)):
            pyarrow.orc.ORCFile(path).read()
        return
    rows = pyarrow.orc.ORCFile(path).read()
    ours = orcish.read_table(path, masked="allow", arrow_schema=False)
    # The file of lzo has other features, too.
    assert found.verdict == fact.verdict or feature == "codec lzo"
    if fact.verdict == "differs" and feature not in ("encryption", "acid"):
        assert rows.to_pydict() != ours.to_pydict()
    elif feature not in ("union", "codec lzo"):
        # Rows as lists: pyarrow's dictionaries have each name once.
        assert [column.to_pylist() for column in rows.columns] == [column.to_pylist() for column in ours.columns]


def test_the_command(capsys: pytest.CaptureFixture[str], tmp_path: pathlib.Path) -> None:
    def run(*arguments: Any) -> tuple[int, list[str], str]:
        code = main(["compat", *map(str, arguments)])
        out, err = capsys.readouterr()
        return code, out.splitlines(), err

    path = feature_file("union", tmp_path)
    code, lines, err = run(path)
    assert (code, err, lines[0]) == (0, "", str(path))
    assert len(lines) == 3 + len(READERS)
    text = "\n".join(run(path, "--sources", "-r", "trino")[1])
    assert "https://github.com/trinodb/trino/pull/3483" in text
    (line,) = run(path, "--json")[1]
    verdicts = {each["reader"]: each["verdict"] for each in json.loads(line)["readers"]}
    assert (verdicts["spark4"], verdicts["pyarrow"], verdicts["duckdb"]) == ("no", "yes", "unknown")
    with pytest.raises(SystemExit) as ended:
        run(path, "-r", "excel")
    assert ended.value.code == 2
    err = capsys.readouterr().err
    assert "'excel'" in err
    code, lines, err = run(tmp_path / "missing.orc", path)
    assert (code, len(lines)) == (1, 3 + len(READERS))
    odd = feature_file("names odd", tmp_path)
    assert all(line.isprintable() for line in run(odd)[1])
