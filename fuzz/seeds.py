"""Seeds of the targets that take whole files: the small ones of tests/data, good and broken. `seeds.py FOLDER`."""

import hashlib
import sys
from pathlib import Path

MOST_BYTES = 12_000
DATA = Path(__file__).resolve().parent.parent / "tests" / "data"


def main(folder: Path) -> None:
    """Puts each file there once, by its digest, as libFuzzer names them."""
    folder.mkdir(parents=True, exist_ok=True)
    for path in sorted(DATA.rglob("*.orc")):
        content = path.read_bytes()
        if len(content) <= MOST_BYTES:
            (folder / hashlib.sha1(content, usedforsecurity=False).hexdigest()).write_bytes(content)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
