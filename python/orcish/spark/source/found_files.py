"""The files of a table under the names that streams give them."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterator

from orcish.io.files import TableFile
from orcish.spark.options import TableOptions
from orcish.spark.table.files import TableListing, chosen_files, normalized

__all__ = ["FoundFiles"]


@dataclasses.dataclass(frozen=True)
class FoundFiles:
    """One listing of a table. While a commit of the table is being finished, it has the files before the commit.

    Names depend neither on the spelling of the path of the table nor on its location: they are paths within its folder,
    or within the folder above a pattern. With several paths, names are paths or URLs.
    """

    listings: list[TableListing]
    options: TableOptions

    @classmethod
    def of(cls, options: TableOptions) -> FoundFiles:
        """Lists a table. Folders that do not exist yet have no files."""
        options = dataclasses.replace(options, pending="before")
        listings = []
        for path in options.paths:
            try:
                listings.append(TableListing.of(path, options))
            except FileNotFoundError:
                continue
        return cls(listings, options)

    def names(self) -> list[str]:
        """The names of the files that Spark reads."""
        named = [list(self._names(listing)) for listing in self.listings]
        chosen = chosen_files(self.listings, self.options)
        return [names[at] for names, some in zip(named, chosen, strict=True) for at in some]

    def files(self, names: Collection[str]) -> dict[str, TableFile]:
        """Those of some files that are there."""
        wanted = set(names)
        found = {}
        for listing in self.listings if wanted else ():
            for at, name in enumerate(self._names(listing)):
                if name in wanted:
                    found[name] = listing.file(at)
        return found

    def _names(self, listing: TableListing) -> Iterator[str]:
        if len(self.options.paths) > 1:
            base = normalized(listing.base)
            return (f"{base.rstrip('/')}/{name}" if name else base for name in listing.names)
        # The path may be that of a file.
        return (name or listing.locations[at].rpartition("/")[2] for at, name in enumerate(listing.names))
