"""Small files of CarbonData tables for the fuzz target `carbon`: data files in all compressors and encodings, streams,
indexes and metadata.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

TESTS = Path(__file__).parents[1] / "tests" / "python"
sys.path.insert(0, str(TESTS))

from carbon.files import write_folder  # noqa: E402
from carbon.tables import CarbonTableWriter  # noqa: E402
from carbon_cases import table  # noqa: E402

ROWS = 12
OPTIONS = (
    {},
    {"compressor": "zstd", "local_dictionary": False},
    {"compressor": "gzip", "inverted_index": True, "sort_columns": ("i32",)},
    {"int_lengths": False, "rle": False, "row_counts": False},
)


def files() -> Iterator[bytes]:
    """The contents of the files."""
    rows = table(rows=ROWS)
    with tempfile.TemporaryDirectory() as place:
        for number, options in enumerate(OPTIONS):
            for name in rows.schema.names:
                # A file of few columns is changed in its values more often than in its header.
                few = rows.select(["id"] if name == "id" else ["id", name])
                here = {key: value for key, value in options.items() if key != "sort_columns" or name == "i32"}
                write_folder(Path(place) / f"{number}.{name}", few, page_rows=5, blocklet_rows=10, **here)
        written = CarbonTableWriter(Path(place) / "table", rows.schema)
        written.load(rows)
        written.delete("0", [1, 7])
        written.stream(rows)
        for path in sorted(Path(place).rglob("*")):
            if path.is_file():
                yield path.read_bytes()
