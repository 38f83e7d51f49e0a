"""The files of a table that Spark reads: it ignores subfolders that are not partitions."""

from __future__ import annotations

import dataclasses
import os
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from orcish import _native
from orcish._native import Location, above_pattern
from orcish.carbon.detect import has_carbon
from orcish.errors import OrcishError
from orcish.io.files import TableFile
from orcish.io.filesystem import foreign_path
from orcish.io.paths import PATTERN
from orcish.spark.options import TableOptions
from orcish.tables.log.listing import Listing, table_files
from orcish.tables.log.schema import TableSchema

__all__ = ["TableListing", "chosen_files", "normalized", "spark_files"]

SAME_STORE = {"s3a": "s3", "gcs": "gs"}
"""Schemes with an alias."""


def spark_files(options: TableOptions) -> Listing:
    """The files that Spark reads at the paths of the options, or all files of a CarbonData table.

    Raises:
        FileNotFoundError: There is nothing at a path that is no pattern.
        CommitError: The last commit of a table is not finished, as in
            :func:`~orcish.tables.log.listing.table_files`.
        OrcishError: The folders of the partitions do not fit together.
    """
    listings = [TableListing.of(path, options) for path in options.paths]
    everything = [TableFile(location, None, []) for listing in listings for location in listing.locations]
    if has_carbon(everything):
        return Listing(everything, None)
    chosen = zip(listings, chosen_files(listings, options), strict=True)
    files = [listing.file(at) for listing, files in chosen for at in files]
    return Listing(files, listings[0].schema if listings else None)


class _Place(NamedTuple):
    """A folder with files."""

    root: str
    """The path that Spark lists, which is a given path or one that matches a pattern; of a file, its folder."""
    folder: str


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
    schema: TableSchema | None = None
    """The schema of the table in its log."""
    storage: Mapping[str, str] | None = dataclasses.field(default=None, repr=False)
    """The options of the store."""
    _values: dict[str, list[tuple[str, str | None]]] = dataclasses.field(default_factory=dict)

    @classmethod
    def of(cls, path: str, options: TableOptions) -> TableListing:
        """Lists a path."""
        is_many = Location(path).is_pattern
        base = above_pattern(path) if is_many else path
        listing = table_files(path, False, options.storage, options.pending)
        schema = None if listing.schema is None else listing.schema._replace(shown=None)
        locations = listing.locations
        partitions = False if options.recursive_file_lookup else options.partitions
        names = list(_names_below(base, locations))
        return cls(path, base, is_many, partitions, locations, names, schema, options.storage)

    def file(self, at: int) -> TableFile:
        """The file with an index, and its partition columns with their values."""
        location = self.locations[at]
        folder = _folder(location)
        values = self._values.get(folder)
        if values is None:
            values = self._values[folder] = self._values_of(self.names[at], location)
        source = foreign_path(location, self.storage).file() if Location(location).is_foreign else None
        return TableFile(location, source, values)

    def _values_of(self, name: str, location: str) -> list[tuple[str, str | None]]:
        # The path may be that of a file.
        if self.partitions is False or not (name or self.partitions):
            return []
        if self.is_pattern and not self.partitions:
            return _native.partitions_below(self.path, location)
        found = _native.partitions_of(location) if self.partitions else _native.partitions_below(self.path, location)
        _, columns = _partition_run(_folder(location) if self.partitions else _folder(name), ())
        return found[len(found) - len(columns) :]

    def places(self) -> list[_Place]:
        """The folders of the files."""
        base, depth = normalized(self.base), self._depth()
        known: dict[str, _Place] = {}
        found = []
        for name in self.names:
            folder = _folder(name)
            place = known.get(folder)
            if place is None:
                at = f"{base.rstrip('/')}/{folder}" if folder else base if name else _folder(base)
                below = folder.split("/")[depth:] if folder else []
                place = known[folder] = _Place(at[: len(at) - len("/".join(["", *below]))], at)
            found.append(place)
        return found

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
    roots = set() if options.partitions else {place.root for found in places for place in found}
    runs = {place.folder: _partition_run(place.folder, roots) for found in places for place in found}
    if options.recursive_file_lookup:
        return _once(listings, [list(range(len(found))) for found in places])
    if not any(columns for _, columns in runs.values()):
        return [[at for at, place in enumerate(found) if place.folder == place.root] for found in places]
    if options.partitions is not False:
        _check_bases(options, sorted({place for found in places for place in found}), runs)
        _check_columns(options, runs)
    return _once(listings, [[at for at, place in enumerate(found) if runs[place.folder].columns] for found in places])


def _once(listings: Sequence[TableListing], chosen: list[list[int]]) -> list[list[int]]:
    """Leaves out files of several paths after the first."""
    if len(listings) < 2:
        return chosen
    seen: set[str] = set()
    left = []
    for listing, some in zip(listings, chosen, strict=True):
        named = {at: normalized(listing.locations[at]) for at in some}
        left.append([at for at in some if named[at] not in seen])
        seen.update(named.values())
    return left


class _Run(NamedTuple):
    """The partition columns of a folder."""

    base: str
    """The folder above the partitions, or the folder itself."""
    columns: tuple[str, ...]


def _partition_run(folder: str, roots: Collection[str]) -> _Run:
    """The partition columns of a folder, as Spark finds them: the last successive segments ``name=value`` below a root.
    There may be other segments after them.
    """
    columns: list[str] = []
    at = folder
    while at and at not in roots:
        above, _, segment = at.rpartition("/")
        is_pair = segment.find("=") > 0
        if columns and not is_pair:
            break
        if is_pair:
            columns.insert(0, segment.partition("=")[0])
        at = above
    return _Run(at, tuple(columns)) if columns else _Run(folder, ())


def _check_bases(options: TableOptions, places: Sequence[_Place], runs: Mapping[str, _Run]) -> None:
    """Raises OrcishError where the partitions of a path are in several folders, or one path has partitions and another
    has none.
    """
    by_root: dict[str, list[_Place]] = {}
    for place in places:
        by_root.setdefault(place.root, []).append(place)
    for of in by_root.values():
        base = runs[of[0].folder].base.lower()
        other = next((place for place in of if runs[place.folder].base.lower() != base), None)
        if other is not None:
            raise _refused(options, of[0].folder, other.folder, "are not partitions of one folder")
    has_columns = {any(runs[place.folder].columns for place in of): of[0].folder for of in by_root.values()}
    if len(has_columns) > 1:
        raise _refused(options, has_columns[True], has_columns[False], "are not partitions of one folder")


def _check_columns(options: TableOptions, runs: Mapping[str, _Run]) -> None:
    """Raises OrcishError where folders have different partition columns."""
    seen: dict[tuple[str, ...], str] = {}
    for folder, run in sorted(runs.items()):
        if run.columns:
            names = run.columns if options.case_sensitive else tuple(name.lower() for name in run.columns)
            seen.setdefault(names, folder)
    if len(seen) > 1:
        one, other, *_ = seen.values()
        raise _refused(options, one, other, "have different partition columns")


def _refused(options: TableOptions, one: str, other: str, reason: str) -> OrcishError:
    return OrcishError(
        f"{', '.join(options.paths)}: the folders {one} and {other} {reason}, and Spark does not read such a table: "
        "read the folders one by one, or all files with the option recursiveFileLookup=true"
    )


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
    scheme, sign, rest = Location(location).path.partition("://")
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
