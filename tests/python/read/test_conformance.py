"""The pack of files that other implementations wrote, where it is at hand."""

import gzip
import json
import subprocess
import sys

import orcish
import pytest
from support.conformance.pack import NONE, PACK, comparison, kinds
from support.random_cases import FACTOR

LARGE = 1 << 20
"""Bytes of the compressed rows of a file that takes seconds to compare. All tests have it."""


def finding(name: str, kind: str) -> str | None:
    """What is wrong with a file as it is read."""
    expected = PACK / "expected" / f"{name}.jsonl.gz"
    try:
        found = orcish.read_table(PACK / "files" / name, **({"masked": "allow"} if "/encrypted." in name else {}))
    except orcish.OrcishError as error:
        return f"{name}: {error}" if kind == "valid" else None
    if kind == "corrupt":
        return f"{name}: {found.num_rows} rows of a file that is broken"
    if kind == "other" or not expected.exists() or (expected.stat().st_size > LARGE and FACTOR < 1):
        return None
    with gzip.open(expected, "rt", encoding="utf8", errors="surrogateescape") as lines:
        want = [json.loads(line) for line in lines]
    got = comparison().rows_of(found)
    if len(got) != len(want):
        return f"{name}: {len(got)} rows of {len(want)}"
    differ = (comparison().difference(*pair, f"row {row}") for row, pair in enumerate(zip(got, want, strict=True)))
    return next((f"{name}: {each}" for each in differ if each), None)


@pytest.mark.skipif(not kinds(), reason=NONE)
def test_rows_of_the_pack() -> None:
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(100_000)
    try:
        assert [found for name, kind in kinds().items() if (found := finding(name, kind))] == []
    finally:
        sys.setrecursionlimit(limit)


@pytest.mark.long
def test_the_program_of_the_pack() -> None:
    """It has a process for each file, whose time and memory are limited."""
    if not (PACK / "check.py").exists():
        pytest.skip(NONE)
    command = [sys.executable, str(PACK / "check.py"), str(PACK)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=1200, check=False)
    last = (done.stdout.strip().splitlines() or [""])[-1]
    print(last)
    assert last.endswith(", 0 failed"), done.stdout[-4000:] + done.stderr[-4000:]
