"""The command ``orcish``, run in this process."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from orcish_cli import main
from support.processes import Run


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs the command; gives exit code, lines of standard output, and standard error."""

    def run(*arguments: Any) -> tuple[int, list[str], str]:
        code = main([str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        return code, out.splitlines(), err

    return run


@pytest.fixture
def rows(run: Run) -> Callable[..., list[Any]]:
    """Runs a command with --json, which must work; gives the objects. ``run`` is that of the file of the test."""

    def rows(*arguments: Any) -> list[Any]:
        code, lines, err = run(*arguments, "--json")
        assert (code, err) == (0, "")
        return [json.loads(line) for line in lines]

    return rows
