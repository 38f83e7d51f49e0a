"""Files of scans."""

from __future__ import annotations

from typing import Any, NamedTuple

__all__ = ["TableFile"]


class TableFile(NamedTuple):
    """A file of a scan, in the form that the native core takes."""

    location: str
    source: Any
    """Bytes or a file object; ``None`` where the location is a path or URL."""
    partition: list[tuple[str, str | None]]
    """Names and values of the partition columns."""
    tail: bytes | None = None
    stripes: list[int] | None = None
    """Indexes of the stripes to read; all by default."""

    @property
    def opened(self) -> Any:
        """What :class:`orcish.ORCFile` opens: the path or URL, bytes or a file object."""
        return self.location if self.source is None else self.source
