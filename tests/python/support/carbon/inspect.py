"""What is in a data file, read back from its Thrift structs, so that tests know what they test."""

from dataclasses import dataclass
from pathlib import Path

from support.carbon.thrift import Reader


@dataclass(frozen=True)
class FoundPage:
    """How a page of a column is stored."""

    column: str
    encoders: tuple[int, ...]
    store: int | None
    dictionary: bool
    rows: int
    row_ids: bool
    runs: bool


def pages(path: Path | str) -> list[FoundPage]:
    """All pages of a file of version 3, blocklet by blocklet and column by column."""
    data = Path(path).read_bytes()
    header = Reader(data).struct()
    names = [column[2].decode() for column in header[2]]
    footer = Reader(data, int.from_bytes(data[-8:], "big")).struct()
    out = []
    for blocklet in footer[4]:
        for name, at, length in zip(names, blocklet[2], blocklet[3], strict=True):
            reader = Reader(data, at)
            chunk = reader.struct()
            assert reader.at - at == length
            for page in chunk[1]:
                sizes = [page.get(4) or 0, page.get(5) or 0]
                out.append(
                    FoundPage(name, tuple(page[8]), store(page), 4 in chunk, page[11], sizes[0] > 0, sizes[1] > 0)
                )
    return out


def store(page: dict) -> int | None:
    """The type of the elements of a page that has metadata."""
    if not page[9]:
        return None
    (meta,) = page[9]
    return meta[2 + int.from_bytes(meta[:2], "big") + 10]


def encoders(path: Path | str, column: str) -> set[tuple[int, ...]]:
    """The encoders of the pages of a column."""
    return {page.encoders for page in pages(path) if page.column == column}
