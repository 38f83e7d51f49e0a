"""The examples of docstrings run, and print what they say."""

import doctest
import shutil
from pathlib import Path

import pytest
from support.case_loops import each_case
from support.docstrings import PACKAGE, examples, run
from support.sample_files import write_sample

ALL = sorted(PACKAGE.rglob("*.py"))
EXAMPLES = examples([file for file in ALL if file.relative_to(PACKAGE).parts[0] != "spark"])


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sample")
    write_sample(folder)
    return folder


@each_case("example", EXAMPLES, ids=lambda example: example.name)
def test_examples_run(example: doctest.DocTest, written: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(written, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    run(example)


def test_every_example_is_run() -> None:
    """No example is passed over. Those of Spark have a test in the folder ``spark``."""
    assert len(EXAMPLES) > 15
    assert [file for file in ALL if "doctest:" in file.read_text(encoding="utf-8")] == []
