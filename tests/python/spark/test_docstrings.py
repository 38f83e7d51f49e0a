"""The examples of docstrings run with Spark, and print what they say."""

import doctest
import re
import shutil
from pathlib import Path
from typing import Any

import orcish.spark as osp
import pytest
from support.docstrings import PACKAGE, examples, run
from support.sample_files import write_sample

EXAMPLES = examples(sorted((PACKAGE / "spark").rglob("*.py")))


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sample")
    write_sample(folder)
    return folder


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_examples_run(
    example: doctest.DocTest, written: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, spark: Any
) -> None:
    shutil.copytree(written, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    for step in example.examples:
        # The workers of the session are in the directory in which it began.
        step.source = re.sub(r'"(\w+/)"', rf'"{tmp_path}/\1"', step.source)
    run(example, osp=osp, spark=spark)


def test_there_are_examples() -> None:
    assert len(EXAMPLES) >= 8
