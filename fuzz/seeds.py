"""Fills fuzz/corpus/TARGET, where `cargo fuzz` looks for inputs, for each target named.

    python fuzz/seeds.py file check

The inputs are those of fuzz/corpora; for targets that take whole files the small files of tests/data as well, good and
broken; for `carbon` files of tables that the tests' writer makes.
"""

import hashlib
import sys
import tarfile
from pathlib import Path

MAX_BYTES = 12_000
HERE = Path(__file__).resolve().parent
DATA = HERE.parent / "tests" / "data"
WHOLE_FILES = {"check", "convert", "file", "filter", "json", "merge", "tail"}


def archive_of(target: str) -> Path:
    """The minimised corpus of a target."""
    return HERE / "corpora" / f"{target}.tar.xz"


def fill(target: str, folder: Path) -> None:
    """Puts each input of the target there once, by its digest, as libFuzzer names them."""
    folder.mkdir(parents=True, exist_ok=True)
    with tarfile.open(archive_of(target)) as archive:
        for member in archive:
            content = archive.extractfile(member)
            if content is not None:
                put(folder, content.read())
    if target in WHOLE_FILES:
        for path in sorted(DATA.rglob("*.orc")):
            if path.stat().st_size <= MAX_BYTES:
                put(folder, path.read_bytes())
    elif target == "carbon":
        # Only this target needs pyarrow.
        from carbon_seeds import files

        for content in files():
            put(folder, content)


def put(folder: Path, content: bytes) -> None:
    """Writes an input under its digest."""
    (folder / hashlib.sha1(content, usedforsecurity=False).hexdigest()).write_bytes(content)


if __name__ == "__main__":
    for target in sys.argv[1:]:
        fill(target, HERE / "corpus" / target)
