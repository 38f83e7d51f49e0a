"""The command ``orc-tools`` of Apache ORC, where its jar and a JVM are here."""

from __future__ import annotations

import os
import pathlib
import shutil
import subprocess
from typing import Any

import pytest

__all__ = ["run_orc_tools"]


def run_orc_tools(*arguments: Any) -> str:
    """The output of a command; skips the test where there is no jar.

    The jar is that of ``ORC_TOOLS_JAR``, or the newest one that Maven has fetched
    (``mvn dependency:get -Dartifact=org.apache.orc:orc-tools:1.9.4:jar:uber -Dtransitive=false``).
    """
    below = pathlib.Path.home() / ".m2/repository/org/apache/orc/orc-tools"
    jars = [os.environ["ORC_TOOLS_JAR"]] if "ORC_TOOLS_JAR" in os.environ else sorted(below.glob("*/*-uber.jar"))
    if not jars or not shutil.which("java"):
        pytest.skip("orc-tools needs its jar and a JVM")
    command = ["java", "-jar", str(jars[-1]), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout
