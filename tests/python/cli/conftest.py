"""The command ``orcish``, run in this process."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from orcish.cli import main

Run = Callable[..., tuple[int, list[str], str]]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs the command; gives exit code, lines of standard output, and standard error."""

    def run(*arguments: Any) -> tuple[int, list[str], str]:
        code = main([str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        return code, out.splitlines(), err

    return run
