"""The pack of files that other implementations wrote, where it is there: beside the project, or as the environment says."""

import csv
import os
import pathlib

PACK = pathlib.Path(
    os.environ.get("ORCISH_CONFORMANCE", pathlib.Path(__file__).parents[3].parent / "shared" / "conformance")
)


def valid() -> list[str]:
    """Names of the files that are as the format says."""
    return files("valid")


def files(kind: str) -> list[str]:
    """Names of the files of a kind: ``valid``, ``corrupt`` or ``other``."""
    if not (PACK / "MANIFEST.tsv").exists():
        return []
    with open(PACK / "MANIFEST.tsv", newline="", encoding="utf-8") as manifest:
        return [row["file"] for row in csv.DictReader(manifest, delimiter="\t") if row["kind"] == kind]
