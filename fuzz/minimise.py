"""Makes fuzz/corpora/TARGET.tar.xz of what fuzz/corpus/TARGET holds, for each target named.

    python fuzz/minimise.py file check

libFuzzer picks small inputs that cover together what all of them cover, the one that covers most first
(`-set_cover_merge=1`); the archive takes as many of these, in that order, as MAX_BYTES hold.
"""

import io
import lzma
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

from seeds import HERE, archive_of

# Of an input, and of an archive.
MAX_INPUT_BYTES = 4_096
MAX_BYTES = 48_000


def minimise(target: str) -> None:
    """Writes the archive of a target and says how many inputs it holds."""
    with tempfile.TemporaryDirectory() as place:
        small, cover = Path(place) / "small", Path(place) / "cover"
        small.mkdir()
        cover.mkdir()
        for path in (HERE / "corpus" / target).iterdir():
            if path.stat().st_size <= MAX_INPUT_BYTES:
                (small / path.name).symlink_to(path)
        command = ["cargo", "+nightly", "fuzz", "run", "--sanitizer", "none", target, str(cover), str(small)]
        subprocess.run([*command, "--", "-set_cover_merge=1", "-rss_limit_mb=2048"], cwd=HERE.parent, check=True)
        # libFuzzer writes them in the order in which it picks them.
        picked = sorted(cover.iterdir(), key=lambda path: path.stat().st_mtime_ns)
        contents = [path.read_bytes() for path in picked]
    # The longest row of them that fits, by bisection.
    fits, too_many = 0, len(contents) + 1
    while too_many - fits > 1:
        middle = (fits + too_many) // 2
        if len(packed(contents[:middle])) <= MAX_BYTES:
            fits = middle
        else:
            too_many = middle
    archive_of(target).parent.mkdir(exist_ok=True)
    archive_of(target).write_bytes(packed(contents[:fits]))
    print(f"{target}: {fits} of {len(contents)} inputs, {archive_of(target).stat().st_size} bytes")


def packed(contents: list[bytes]) -> bytes:
    """An archive of these inputs; the same bytes for the same inputs."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for number, content in enumerate(contents):
            member = tarfile.TarInfo(str(number))
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return lzma.compress(out.getvalue(), preset=9 | lzma.PRESET_EXTREME)


if __name__ == "__main__":
    for target in sys.argv[1:]:
        minimise(target)
