"""Texts of the options of the data source, and hints for options that it does not have."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from typing import Any

from orcish.errors import closest_match

__all__ = ["OptionParser", "flag_option", "json_option"]

STORES = ("aws_", "google_", "azure_", "dfs.", "fs.", "hadoop.", "orcish.", "header.")
"""Prefixes of the options of stores."""
OF_STORES = ("allow_http", "timeout", "connect_timeout", "proxy_url", "allow_invalid_certificates")

SYNONYMS: Mapping[str, tuple[str, ...]] = {
    "where": ("filters",),
    "filter": ("filters",),
    "predicate": ("filters",),
    "select": ("columns",),
    "usecols": ("columns",),
    "codec": ("compression",),
    "partitioncols": ("partitionBy",),
    "partitionoverwrite": ("partitionOverwriteMode",),
    "maxbytespertrigger": ("maxFilesPerTrigger",),
    "maxpartitionbytes": ("splitSize",),
    "hivepartitioning": ("partitions",),
    "rowindex": ("rowNumber",),
}
"""Words of Spark and of other libraries, in lower case without underscores and dots, and what may be in their place."""

_FILES = "load(path) takes a pattern, such as orders/*.orc, or a list of paths"
_TEXT_FILES = 'format("orcish") reads ORC: read other files with spark.read.csv, json or parquet'
_STREAM = "the files of a stream are read in the order in which they are found"
INSTEAD: Mapping[str, str] = {
    "basepath": "load the folder of the table, with filters on its partition columns; or, with option partitions=true, "
    "all folders name=value of a path are columns",
    "pathglobfilter": _FILES,
    "modifiedbefore": _FILES,
    "modifiedafter": _FILES,
    "ignorecorruptfiles": "orcish.spark.verify names files that cannot be read",
    "ignoremissingfiles": "files that are removed after they were listed are an error; read again",
    "latestfirst": _STREAM,
    "maxfileage": _STREAM,
    "filenameonly": "files are known by their paths in the table",
    "cleansource": "files that are read stay; orcish.delete removes rows",
    "header": _TEXT_FILES,
    "inferschema": _TEXT_FILES,
    "sep": _TEXT_FILES,
    "delimiter": _TEXT_FILES,
    "multiline": _TEXT_FILES,
    "format": 'format("orcish") has no other format',
    "mode": 'the save mode is .mode("append") or .mode("overwrite") of the writer',
    "existingdata": 'the save mode is .mode("append") or .mode("overwrite") of the writer',
    "schema": "the schema is .schema(...) of the reader",
}
"""What to do in place of an option of Spark that the data source does not have, likewise."""


def json_option(name: str, text: str) -> Any:
    """The value of an option in JSON.

    Raises:
        ValueError: The text is no JSON.
    """
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise ValueError(f"option {name}={text!r}: is no JSON: {error}") from None


def flag_option(name: str, text: str) -> bool:
    """The value of an option that is ``true`` or ``false``.

    Raises:
        ValueError: The text is neither.
    """
    found = {"true": True, "false": False}.get(text.strip().lower())
    if found is None:
        raise ValueError(f"option {name}={text!r}: must be true or false")
    return found


class OptionParser:
    """Parses options, and keeps track of which are used."""

    def __init__(self, options: Mapping[str, str]) -> None:
        self._left = {name.lower(): value for name, value in options.items()}
        self._known: list[str] = []

    def text(self, *names: str) -> str | None:
        """The value of an option, under the first of its names that is given."""
        self._known.append(names[0])
        found = [self._left.pop(name.lower(), None) for name in names]
        return next((value for value in found if value is not None), None)

    def has(self, *names: str) -> bool:
        """Whether one of some options is given."""
        return any(name in self._left for name in names)

    def flag(self, name: str) -> bool | None:
        """An option that is ``true`` or ``false``."""
        found = self.text(name)
        return None if found is None else flag_option(name, found)

    def integer(self, *names: str) -> int | None:
        """An integer."""
        found = self.text(*names)
        try:
            return None if found is None else int(found)
        except ValueError:
            raise ValueError(f"option {names[0]}={found!r}: must be a whole number") from None

    def number(self, *names: str, default: int, least: int = 1) -> int:
        """An integer that is at least ``least``."""
        found = self.integer(*names)
        if found is not None and found < least:
            raise ValueError(f"option {names[0]}={found}: must be {least} at least")
        return default if found is None else found

    def real(self, *names: str) -> float | None:
        """A number."""
        found = self.text(*names)
        try:
            return None if found is None else float(found)
        except ValueError:
            raise ValueError(f"option {names[0]}={found!r}: must be a number") from None

    def names(self, *names: str) -> tuple[str, ...] | None:
        """A list of names, separated by commas or in JSON; ``None`` where the text is empty."""
        found = self.text(*names)
        if not (found or "").strip():
            return None
        assert found is not None
        if found.lstrip().startswith("["):
            listed = json_option(names[0], found)
            if not all(isinstance(name, str) for name in listed):
                raise ValueError(f"option {names[0]}={found!r}: must be names")
            return tuple(listed)
        return tuple(name.strip() for name in found.split(",") if name.strip())

    def storage(self) -> dict[str, str]:
        """Removes and returns the options of object stores."""
        names = [name for name in self._left if name.startswith(STORES) or name in OF_STORES]
        return {name: self._left.pop(name) for name in names}

    def end(self, what: str, others: Mapping[str, Collection[str]]) -> None:
        """Raises ValueError for options that are left, which are unknown.

        Args:
            what: What the options are for.
            others: Names of options for other things.
        """
        for name in self._left:
            raise ValueError(f"there is no option {name!r} for {what}{self._hint(name, others)}")

    def _hint(self, name: str, others: Mapping[str, Collection[str]]) -> str:
        """What an unknown option may stand for."""
        plain = name.replace("_", "").replace(".", "").lower()
        other = next((what for what, names in others.items() if plain in map(str.lower, names)), None)
        if other is not None:
            return f": it is an option for {other}"
        meant = next((own for own in SYNONYMS.get(plain, ()) if own in self._known), None)
        if meant is None and plain in INSTEAD:
            return f": {INSTEAD[plain]}"
        match = meant or closest_match(plain, self._known)
        return f"; did you mean {match}?" if match else ": docs/spark-reading.md and docs/spark-writing.md list all"
