"""A CarbonData table as the source of a scan."""

from __future__ import annotations

import dataclasses
import hashlib
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

import pyarrow as pa

from orcish import _native
from orcish._native import Location, complete_storage
from orcish.errors import OptionError, OrcishError
from orcish.io.names import display_name
from orcish.reading.explanation import BLOCKLETS, PartNames
from orcish.reading.source import OneSource, SplitPart, type_options
from orcish.types import Limits, StorageOptions

__all__ = ["CarbonSource", "check_no_external", "check_options"]

_OF_ORC: dict[str, Any] = {
    "arrow_schema": True,
    "decimal_out_of_range": "error",
    "invalid_utf8": "error",
    "long_char": "keep",
    "masked": "error",
    "match": "name",
    "null_map_keys": "error",
    "partitions": None,
    "schema": None,
    "stripes": None,
    "timestamps": None,
    "timezone": None,
    "trim_char": False,
    "unions": "dense",
}
"""Options of ORC files that CarbonData tables do not have, with their defaults."""


def check_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options without those that only ORC files have.

    Raises:
        ValueError: An option that only ORC files have has another value than its default.
    """
    for name, default in _OF_ORC.items():
        if options.get(name) is not None and options[name] != default:
            raise OptionError(name, "the option is of ORC files, which a table of CarbonData has not", options[name])
    return {name: value for name, value in options.items() if name not in _OF_ORC}


def check_no_external(external_locations: Sequence[Any] | None, name: str = "external_locations") -> None:
    """Checks that no external locations are given for a source other than a CarbonData table.

    Raises:
        ValueError: There are external locations; the message has the name of the option.
    """
    if external_locations is not None:
        raise ValueError(f"{name}: the option is of tables of CarbonData, and this is none")


class _CarbonBase(OneSource):
    """Base class of tables and of their parts."""

    part_names: PartNames = BLOCKLETS
    reads_null_keys: bool = False
    storage_options: StorageOptions | None
    limits: Limits | None

    def splits(self, scan: _native.Scan, size: int) -> Iterator[SplitPart]:
        """Parts of about ``size`` stored bytes."""
        for location, rows, length, blocklets, _, token in scan.splits(size):
            source = CarbonSplitSource(location, token, self.storage_options, self.limits)
            yield SplitPart(location, rows, length, blocklets, source)


@dataclasses.dataclass(frozen=True)
class CarbonSource(_CarbonBase):
    """A CarbonData table at the time when it was opened. Pickles include the storage options, and thus credentials; the
    metadata is read again where they are loaded.
    """

    table: _native.CarbonTable = dataclasses.field(repr=False)
    storage_options: StorageOptions | None = dataclasses.field(default=None, repr=False)
    limits: Limits | None = None
    external_locations: tuple[str, ...] = ()

    def __reduce__(self) -> tuple[Any, ...]:
        # Another process may have another working directory.
        location = Location(self.table.location).absolute()
        external = tuple(Location(each).absolute() for each in self.external_locations)
        return _reopened, (location, self.storage_options, self.limits, external, self._state())

    def _state(self) -> str:
        """What tells the table at this time apart from the table at another time."""
        names = (os.path.basename(file) for file in self.table.files)
        state = [*map(repr, self.table.segments), *names, str(pa.schema(self.table))]
        return hashlib.sha256("\n".join(state).encode()).hexdigest()

    @classmethod
    def at(
        cls,
        location: str,
        storage_options: StorageOptions | None,
        limits: Limits | None,
        external_locations: Sequence[str | os.PathLike[str]] | None = None,
    ) -> CarbonSource:
        """Opens the table at a path or URL."""
        external = [Location(os.fspath(each)).path for each in external_locations or ()]
        table = _native.CarbonTable(
            Location(location).absolute(),
            storage_options=complete_storage([location, *external], storage_options),
            limits=cast("dict[str, int] | None", limits),
            external_locations=external,
        )
        return cls(table, storage_options, limits, tuple(external))

    @property
    def partition_columns(self) -> list[str]:
        """Columns whose values are in folder names."""
        return self.table.partition_columns

    def open(self, options: dict[str, Any]) -> _native.Scan:
        """The native scan, whose columns have the types that the options decide."""
        return self.table.scan().with_options({"columns": [], **type_options(options)})


def _reopened(
    location: str, storage_options: StorageOptions | None, limits: Limits | None, external: Sequence[str], state: str
) -> CarbonSource:
    """The table of a pickle.

    Raises:
        OrcishError: It is not as it was when it was opened.
    """
    source = CarbonSource.at(location, storage_options, limits, external)
    if source._state() != state:
        raise OrcishError(f"{display_name(location)}: the table has changed since it was opened: open it again")
    return source


@dataclasses.dataclass(frozen=True)
class CarbonSplitSource(_CarbonBase):
    """A part of a CarbonData table. Pickles include the storage options, and thus credentials."""

    location: str
    token: bytes = dataclasses.field(repr=False)
    storage_options: StorageOptions | None = dataclasses.field(repr=False)
    limits: Limits | None
    partition_columns: list[str] = dataclasses.field(default_factory=list)

    def open(self, options: dict[str, Any]) -> _native.Scan:
        """The native scan, whose columns have the types that the options decide."""
        scan = _native.Scan.of_carbon_split(
            self.token,
            storage_options=complete_storage(self.location, self.storage_options),
            limits=cast("dict[str, int] | None", self.limits),
        )
        return scan.with_options({"columns": [], **type_options(options)})
