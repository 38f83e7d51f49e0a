"""The files of a table that Spark reads: it ignores subfolders that are not partitions."""

from __future__ import annotations

import dataclasses
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from orcish import _native
from orcish.carbon.detect import has_carbon
from orcish.errors import OrcishError
from orcish.io.files import TableFile
from orcish.io.filesystem import ForeignFile, is_foreign
from orcish.io.paths import is_pattern, local_path
from orcish.spark.options import TableOptions
from orcish.tables.log.listing import Pending, folder_above, table_locations

__all__ = ["TableListing", "chosen_files", "normalized", "spark_files"]

SAME_STORE = {"s3a": "s3", "gcs": "gs"}
"""Schemes with an alias."""
PATTERN = "*?["
"""Special characters of patterns."""


def spark_files(options: TableOptions, pending: Pending = "wait") -> list[TableFile]:
    """The files that Spark reads at the paths of the options, or all files of a CarbonData table.

    Raises:
        FileNotFoundError: There is nothing at a path that is no pattern.
        CommitError: The last commit of a table is not finished, as in
            :func:`~orcish.tables.log.listing.table_files`.
        OrcishError: The folders of the partitions do not fit together.
    """
    listings = [TableListing.of(path, options, pending) for path in options.paths]
    everything = [TableFile(location, None, []) for listing in listings for location in listing.locations]
    if has_carbon(everything):
        return everything
    chosen = zip(listings, chosen_files(listings, options), strict=True)
    return [listing.file(at) for listing, files in chosen for at in files]


class _Place(NamedTuple):
    """A folder with files."""

    start: str
    """The folder below which Spark looks for partitions."""
    folder: str
    """The path whose segments are parsed."""
    is_direct: bool
    """Whether this is the folder at the start."""
    base: str
    """The folder above the partitions."""
    columns: tuple[str, ...]
    """Names of the partition columns."""


@dataclasses.dataclass(frozen=True)
class TableListing:
    """All files at a path that are not hidden."""

    path: str
    base: str
    """The folder of the table, or the folder above a pattern."""
    is_pattern: bool
    partitions: bool | None
    """The option ``partitions``."""
    locations: list[str]
    names: list[str]
    """Paths below the base."""
    _values: dict[str, list[tuple[str, str | None]]] = dataclasses.field(default_factory=dict)

    @classmethod
    def of(cls, path: str, options: TableOptions, pending: Pending = "wait") -> TableListing:
        """Lists a path."""
        is_many = is_pattern(local_path(path))
        base = (folder_above(path, PATTERN) or path) if is_many else path
        locations = table_locations(path, options.storage, pending)
        partitions = False if options.recursive_file_lookup else options.partitions
        return cls(path, base, is_many, partitions, locations, list(_names_below(base, locations)))

    def file(self, at: int) -> TableFile:
        """The file with an index, and its partition columns with their values."""
        location = self.locations[at]
        folder = _folder(location)
        values = self._values.get(folder)
        if values is None:
            values = self._values[folder] = self._values_of(self.names[at], location)
        return TableFile(location, ForeignFile(location) if is_foreign(location) else None, values)

    def _values_of(self, name: str, location: str) -> list[tuple[str, str | None]]:
        # The path may be that of a file.
        if self.partitions is False or not (name or self.partitions):
            return []
        if self.is_pattern and not self.partitions:
            return _native.partitions_below(self.path, location)
        found = _native.partitions_of(location) if self.partitions else _native.partitions_below(self.path, location)
        _, columns = _partition_run(_folder(location) if self.partitions else _folder(name))
        return found[len(found) - len(columns) :]

    def places(self) -> tuple[list[int], list[_Place]]:
        """The indexes of the files with data, and the folders of these files."""
        # Such files may be in folders that Spark reads, and it does not read them.
        data = [at for at, location in enumerate(self.locations) if not location.rpartition("/")[2].startswith("_")]
        depth = self._depth()
        known: dict[str, _Place] = {}
        found = []
        for at in data:
            folder = _folder(self.names[at])
            place = known.get(folder)
            if place is None:
                segments = folder.split("/") if folder else []
                below = "/".join(segments[depth:])
                parsed = _folder(self.locations[at]) if self.partitions else below
                place = _Place("/".join(segments[:depth]), parsed, not below, *_partition_run(parsed))
                known[folder] = place
            found.append(place)
        return data, found

    def _depth(self) -> int:
        """How many segments of a name are those of a path that matches the pattern, at most."""
        if not self.is_pattern:
            return 0
        segments = self.path.split("/")
        first = next(at for at, segment in enumerate(segments) if any(sign in segment for sign in PATTERN))
        # Two asterisks match any number of folders, and last of all a file.
        return sys.maxsize if "**" in segments else sum(bool(segment) for segment in segments[first:])


def chosen_files(listings: Sequence[TableListing], options: TableOptions) -> list[list[int]]:
    """The indexes of the files that Spark reads, of each listing.

    A table is partitioned if a file is in or below a folder ``name=value``. Spark then reads the files in and below
    such folders. Of other tables, it reads the files that are paths, or are in folders that are paths.

    Raises:
        OrcishError: Spark refuses the table: its partitions are in several folders or have different columns.
    """
    places = [listing.places() for listing in listings]
    if options.recursive_file_lookup:
        return [data for data, _ in places]
    is_partitioned = any(place.columns for _, found in places for place in set(found))
    if is_partitioned and options.partitions is not False:
        for listing, (_, found) in zip(listings, places, strict=True):
            _check_bases(listing, sorted(set(found)))
        _check_columns(options, sorted({place for _, found in places for place in found if place.columns}))
    return [
        [at for at, place in zip(*of, strict=True) if (place.columns if is_partitioned else place.is_direct)]
        for of in places
    ]


def _check_bases(listing: TableListing, places: Sequence[_Place]) -> None:
    starts: dict[str, list[_Place]] = {}
    for place in places:
        starts.setdefault(place.start, []).append(place)
    for of in starts.values():
        other = next((place for place in of if place.base.lower() != of[0].base.lower()), None)
        if other is not None:
            raise _refused(listing.path, of[0], other, "are not partitions of the same folder")
    partitioned, other = (
        next((of[0] for of in starts.values() if any(place.columns for place in of) is has_columns), None)
        for has_columns in (True, False)
    )
    if partitioned is not None and other is not None:
        raise _refused(listing.path, partitioned, other, "are not partitions of the same folder")


def _check_columns(options: TableOptions, places: Sequence[_Place]) -> None:
    def key(place: _Place) -> list[str]:
        return [name if options.case_sensitive else name.lower() for name in place.columns]

    other = next((place for place in places if key(place) != key(places[0])), None)
    if other is not None:
        raise _refused(", ".join(options.paths), places[0], other, "have different partition columns")


def _refused(path: str, one: _Place, other: _Place, reason: str) -> OrcishError:
    names = ["/".join(part for part in (place.start, place.folder) if part) or "." for place in (one, other)]
    return OrcishError(
        f"{path}: the folders {names[0]!r} and {names[1]!r} {reason}, and Spark does not read such a table: read the "
        "folders one by one, or all files with the option recursiveFileLookup=true"
    )


def _partition_run(folder: str) -> tuple[str, tuple[str, ...]]:
    """The folder of the table, and the partition columns, as Spark finds them: the last successive folders
    ``name=value`` of a path, below which there may be others.
    """
    segments = folder.split("/") if folder else []
    end = len(segments)
    while end > 0 and segments[end - 1].find("=") < 1:
        end -= 1
    start = end
    while start > 0 and segments[start - 1].find("=") > 0:
        start -= 1
    return "/".join(segments[:start]), tuple(segment.partition("=")[0] for segment in segments[start:end])


def _folder(location: str) -> str:
    return location.rpartition("/")[0]


def _names_below(base: str, locations: Sequence[str]) -> Iterator[str]:
    """Paths below a folder. They do not depend on the spelling of its path. That of the folder itself is empty."""
    start = f"{base.rstrip('/')}/"
    plain = ""
    for location in locations:
        name = location[len(start) :] if location.startswith(start) else ""
        if not name or name[0] in "/." or "//" in name or "/." in name:
            plain = plain or normalized(base)
            name = _within(plain, normalized(location))
        yield name


def normalized(location: str) -> str:
    """A location in a normalized spelling."""
    scheme, sign, rest = local_path(location).partition("://")
    if not sign:
        return Path(os.path.abspath(scheme)).as_posix()
    segments = [segment for segment in rest.split("/") if segment not in ("", ".")]
    return f"{SAME_STORE.get(scheme.lower(), scheme.lower())}://{'/'.join(segments)}"


def _within(base: str, location: str) -> str:
    if location == base:
        return ""
    start = f"{base.rstrip('/')}/"
    if not location.startswith(start):
        raise OrcishError(f"{location}: is not below {base}, whose files are read")
    return location[len(start) :]
