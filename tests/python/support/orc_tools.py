"""The command ``orc-tools`` of Apache ORC, where its jar and a JVM are here."""

from __future__ import annotations

import os
import pathlib
import shutil
import subprocess
from typing import Any

import pytest

__all__ = ["needs_orc_tools", "run_orc_tools"]


def _jar() -> str | None:
    """The jar of ``ORC_TOOLS_JAR``, or the newest one that Maven has fetched
    (``mvn dependency:get -Dartifact=org.apache.orc:orc-tools:1.9.4:jar:uber -Dtransitive=false``).
    """
    fetched = pathlib.Path.home() / ".m2/repository/org/apache/orc/orc-tools"
    return os.environ.get("ORC_TOOLS_JAR") or max(map(str, fetched.glob("*/orc-tools-*-uber.jar")), default=None)


needs_orc_tools = pytest.mark.skipif(
    _jar() is None or shutil.which("java") is None, reason="orc-tools needs a JVM and its jar: set ORC_TOOLS_JAR"
)


def run_orc_tools(*arguments: Any) -> str:
    """The output of a command, which must work."""
    command = ["java", "-jar", str(_jar()), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout
