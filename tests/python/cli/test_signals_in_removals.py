"""Signals that arrive in the system call that removes a temporary folder leave nothing behind."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orcish
import pyarrow as pa
import pytest
from orcish_cli import main

ROWS = pa.table({"id": range(1000), "s": [str(at * 7919 % 1003) for at in range(1000)]})


@pytest.fixture
def path(tmp_path: Path) -> Path:
    orcish.write_table(ROWS, tmp_path / "a.orc")
    return tmp_path / "a.orc"


def with_signal(call: Callable[..., Any], number: int, path: str) -> Callable[..., Any]:
    """The call, and then a signal to this process, where the call is about a path."""
    is_sent = False

    def called(given: Any, *args: Any, **options: Any) -> Any:
        nonlocal is_sent
        found = call(given, *args, **options)
        if not is_sent and path in str(given):
            is_sent = True
            os.kill(os.getpid(), number)
        return found

    return called


def test_the_removal_of_a_temporary_folder(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(path.parent)
    monkeypatch.setattr(os, "unlink", with_signal(os.unlink, signal.SIGTERM, ""))
    sorting = ["--sort-by", "s", "--memory", "8KB", "--temporary-folder", str(path.parent)]
    assert main(["rewrite", "a.orc", "-o", "b.orc", *sorting]) == 128 + signal.SIGTERM
    assert os.listdir() == ["a.orc"]
