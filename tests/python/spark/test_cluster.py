"""Spark elsewhere: workers in processes of their own, and clients without a JVM."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.processes import run_script


@pytest.mark.long
def test_cluster(tmp_path: Path) -> None:
    found = run_script("cluster", tmp_path, timeout=400)
    assert found == ["write", "read", "map_batches", "speculation", "jobs"]


def test_connect(tmp_path: Path) -> None:
    assert run_script("connect", tmp_path, timeout=400) == ["write", "read", "map_batches", "jobs", "overwrite"]
