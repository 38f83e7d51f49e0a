"""The pack of files that other implementations wrote, where it is there: beside the project, or as the environment says."""

from __future__ import annotations

import csv
import functools
import importlib.util
import os
import pathlib
from typing import Any

PACK = pathlib.Path(
    os.environ.get("ORCISH_CONFORMANCE", pathlib.Path(__file__).parents[4].parent / "shared" / "conformance")
)
NONE = f"no conformance pack at {PACK}; ORCISH_CONFORMANCE says where one is"


@functools.cache
def kinds() -> dict[str, str]:
    """Names of the files, and the kind of each: ``valid``, ``corrupt`` or ``other``."""
    if not (PACK / "MANIFEST.tsv").exists():
        return {}
    with open(PACK / "MANIFEST.tsv", newline="", encoding="utf-8") as manifest:
        return {row["file"]: row["kind"] for row in csv.DictReader(manifest, delimiter="\t")}


def valid() -> list[str]:
    """Names of the files that are as the format says."""
    return [name for name, kind in kinds().items() if kind == "valid"]


@functools.cache
def comparison() -> Any:
    """The module of the pack that compares values: ``canonical`` and ``difference``."""
    spec = importlib.util.spec_from_file_location("check", PACK / "check.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
