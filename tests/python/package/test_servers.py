"""Servers that tests install: where that fails, tests are skipped soon, and not begun by each process again."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pytest
from support import servers
from support.servers import UnavailableError, installed, run_installer, running


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(servers, "SERVERS", tmp_path / "servers")
    return tmp_path / "servers"


def test_an_installation(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[str] = []

    def install(work: Path) -> None:
        calls.append("install")
        (work / "half").write_text("")
        if len(calls) < 3:
            raise UnavailableError("no registry")
        (work / "whole").write_text("")

    for _ in range(3):
        with pytest.raises(UnavailableError, match="no registry"):
            installed("x-1", install)
    assert calls == ["install"], "a failure counts for a while"
    assert sorted(path.name for path in folder.iterdir()) == ["x-1.failed", "x-1.lock"]
    monkeypatch.setattr(servers, "RETRY_AFTER", 0)
    with pytest.raises(UnavailableError, match="no registry"):
        installed("x-1", install)
    for _ in range(2):
        assert sorted(path.name for path in installed("x-1", install).iterdir()) == ["half", "whole"]
    assert len(calls) == 3


def test_installers() -> None:
    run_installer([sys.executable, "-c", "pass"], timeout=20)
    with pytest.raises(UnavailableError, match="no-such-command is not installed"):
        run_installer(["no-such-command"], timeout=20)
    with pytest.raises(UnavailableError, match="fails: not today"):
        run_installer([sys.executable, "-c", "print('not today'); raise SystemExit(1)"], timeout=20)
    start = time.monotonic()
    # Processes that the client starts do not keep its output open.
    code = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'import time; time.sleep(60)'])"
    with pytest.raises(UnavailableError, match="takes longer than 1 seconds"):
        run_installer([sys.executable, "-c", code], timeout=1)
    assert time.monotonic() - start < 20


def test_servers_that_do_not_start(monkeypatch: pytest.MonkeyPatch) -> None:
    with (
        pytest.raises(UnavailableError, match="does not start: no port"),
        running(lambda port: [sys.executable, "-c", "print('no port'); raise SystemExit(1)"]),
    ):
        pass
    with running(lambda port: [sys.executable, "-m", "http.server", "--bind", "127.0.0.1", str(port)]) as port:
        assert port > 0
