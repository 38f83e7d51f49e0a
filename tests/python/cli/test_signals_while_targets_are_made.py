"""Signals that arrive in the system call that makes or removes a hidden file or folder leave nothing behind."""

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


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize(
    ("call", "arguments"),
    [
        ("mkdir", ["rewrite", "-o", "b.orc"]),
        ("mkdir", ["merge", "-o", "b.orc"]),
        ("mkdir", ["recover", "-o", "b.orc"]),
        ("mkdir", ["convert", "b.jsonl"]),
        ("mkdir", ["convert", "b.parquet"]),
    ],
)
def test_commands(
    path: Path, monkeypatch: pytest.MonkeyPatch, call: str, arguments: list[str], number: signal.Signals
) -> None:
    monkeypatch.chdir(path.parent)
    monkeypatch.setattr(os, call, with_signal(getattr(os, call), number, ".b."))
    assert main([arguments[0], "a.orc", *arguments[1:]]) == 128 + number
    assert os.listdir() == ["a.orc"]


def test_functions(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "mkdir", with_signal(os.mkdir, signal.SIGINT, ".b.orc"))
    with pytest.raises(KeyboardInterrupt):
        orcish.write_table(ROWS, path.parent / "b.orc")
    assert os.listdir(path.parent) == ["a.orc"]


def test_the_removal_of_a_temporary_folder(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(path.parent)
    monkeypatch.setattr(os, "unlink", with_signal(os.unlink, signal.SIGTERM, ""))
    sorting = ["--sort-by", "s", "--memory", "8KB", "--temporary-folder", str(path.parent)]
    assert main(["rewrite", "a.orc", "-o", "b.orc", *sorting]) == 128 + signal.SIGTERM
    assert os.listdir() == ["a.orc"]
