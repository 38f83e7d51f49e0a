"""Which readers read a file."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence

from orcish.reading.file import ORCFile

from orcish_cli.readers.facts import FACTS, READERS, REQUIRED, SOURCES, Fact, Reader, Verdict
from orcish_cli.readers.features import Feature, features_of

__all__ = ["Compatibility", "Reason", "compatibility"]

_UNKNOWN = Fact("unknown")


@dataclasses.dataclass(frozen=True)
class Reason:
    """What a reader does with a feature of the file."""

    feature: str
    """What the file has."""
    verdict: Verdict
    note: str
    source: str | None
    """A link, or what was run; ``None`` where nothing is known."""


@dataclasses.dataclass(frozen=True)
class Compatibility:
    """Whether a reader reads a file."""

    reader: str
    name: str
    verdict: Verdict
    """``yes``, as far as the features of the file are known; ``no``; ``differs``, if it is read with other values; or
    ``unknown``.
    """
    reasons: tuple[Reason, ...]
    """The reasons of the verdict; of ``yes``, the facts it rests on."""


def compatibility(file: ORCFile, readers: Iterable[str] | None = None) -> list[Compatibility]:
    """Which readers read a file, and why not. The footer and the stripe footers are read, and no data.

    Args:
        file: The file.
        readers: Ids of readers; all by default.

    Raises:
        ValueError: There is no such reader.
    """
    ids = [reader.id for reader in READERS]
    wanted = ids if readers is None else list(readers)
    for id in wanted:
        if id not in ids:
            raise ValueError(f"there are no facts about a reader {id!r}: there are some about {', '.join(ids)}")
    features = features_of(file)
    return [_judged(reader, features) for reader in READERS if reader.id in wanted]


def _judged(reader: Reader, features: Sequence[Feature]) -> Compatibility:
    found: dict[Verdict, list[Reason]] = {"no": [], "differs": [], "unknown": [], "yes": []}
    for feature in features:
        fact = FACTS.get(feature.id, {}).get(reader.id)
        if fact is None:
            if not feature.id.startswith(REQUIRED):
                continue
            fact = _UNKNOWN
        source = None if fact is _UNKNOWN else SOURCES[fact.source or reader.basis]
        found[fact.verdict].append(Reason(feature.text, fact.verdict, fact.note, source))
    verdict: Verdict = next((verdict for verdict, reasons in found.items() if reasons), "yes")
    reasons = found["yes"] if verdict == "yes" else [*found["no"], *found["differs"], *found["unknown"]]
    return Compatibility(reader.id, reader.name, verdict, tuple(reasons))
