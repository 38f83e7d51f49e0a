"""Delete deltas: which rows of which page are gone, and the file that says which deltas count."""

from pathlib import Path

import numpy as np

from support.carbon import metadata
from support.carbon.files import DataFile


class Deletes:
    """The deletes of a table; ``status`` names the file that lists them all."""

    def __init__(self, path: Path):
        self.path = path
        self.entries: list[dict] = []
        self.status: str | None = None

    def add(self, id: str, files: list[DataFile], rows: list[int], clock: int, *, listed: bool) -> None:
        """Writes deltas beside the files of a segment, and a new status."""
        wanted, start = np.array(rows, np.int64), 0
        for file in files:
            inside = wanted[(wanted >= start) & (wanted < start + file.rows)] - start
            start += file.rows
            if len(inside):
                self._add_file(file, id, inside, str(clock), listed=listed)
        self.status = f"tableupdatestatus-{clock}"
        metadata.write_text(self.path / "Metadata" / self.status, metadata.json_text(self.entries))

    def _add_file(self, file: DataFile, id: str, rows: np.ndarray, stamp: str, *, listed: bool) -> None:
        block = file.name.rsplit("-", 1)[0]
        metadata.write_text(
            file.folder / f"{block}-{stamp}.deletedelta", metadata.delete_delta(block, places(file, rows))
        )
        entry = next((entry for entry in self.entries if entry["actualBlockName"] == file.name), None)
        if entry is None:
            entry = {
                "segmentName": id,
                "blockName": block,
                "deleteDeltaStartTimestamp": stamp,
                "actualBlockName": file.name,
                "deletedRowsInBlock": "0",
            }
            self.entries.append(entry)
        elif listed:
            entry["deltaFileStamps"] = [*entry.get("deltaFileStamps", [entry["deleteDeltaStartTimestamp"]]), stamp]
        entry["deleteDeltaEndTimestamp"] = stamp
        entry["deletedRowsInBlock"] = str(int(entry["deletedRowsInBlock"]) + len(rows))


def places(file: DataFile, rows: np.ndarray) -> list[tuple[int, int, int]]:
    """Blocklet, page, and row in the page of rows of a file."""
    owners = [(blocklet, page) for blocklet, pages in enumerate(file.pages) for page in range(len(pages))]
    ends = np.cumsum([count for pages in file.pages for count in pages])
    starts = np.concatenate([[0], ends])
    pages = np.searchsorted(ends, rows, side="right")
    return [(*owners[page], int(row - starts[page])) for page, row in zip(pages, rows, strict=True)]
