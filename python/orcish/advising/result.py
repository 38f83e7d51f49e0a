"""What advice says."""

from __future__ import annotations

import dataclasses
import shlex
from collections.abc import Sequence
from typing import Any

__all__ = ["Advice", "Lookups", "Trial", "command_of", "merged", "only_in_python"]

_OF_COMMAND = (
    "compression",
    "compression_level",
    "bloom_filter_columns",
    "stripe_size",
    "row_index_stride",
    "compression_block_size",
    "sort_by",
)
"""Options that ``orcish rewrite`` has, too."""
_KEPT = ("compression", "compression_block_size", "stripe_size", "row_index_stride", "bloom_filter_columns")
"""Present options that a command repeats. It keeps the version of itself."""


@dataclasses.dataclass(frozen=True)
class Lookups:
    """How much of the rows filters look at, as means over some filters."""

    filters: str
    """What the filters are."""
    count: int
    """Number of filters."""
    is_asked: bool
    """Whether they are of the columns or the filter that advice was asked for."""
    before: float
    """Share of the rows in row groups that are not skipped, with the present options."""
    after: float
    seconds_before: float | None
    """Seconds of a read with a filter; the median of several runs. ``None`` of filters that were not asked for."""
    seconds: float | None


@dataclasses.dataclass(frozen=True)
class Trial:
    """The rows of the sample, or of one column of it, written and read with other options."""

    kind: str
    """``compression``, ``stripe size``, ``row index stride``, ``sort order``, ``bloom filter``, ``dictionary``,
    ``column compression`` or ``all advice together``."""
    label: str
    """The options, for people."""
    column: str | None
    """The column that was written alone; ``None`` for all."""
    options: dict[str, Any]
    """What differs from the present options: keywords of :func:`orcish.write_table`, and ``sort_by``."""
    bytes_before: int
    """Stored bytes of the stripes with the present options."""
    bytes: int
    write_seconds_before: float
    """Seconds of a write; the median of several runs."""
    write_seconds: float
    read_seconds_before: float
    """Seconds of a read of all rows, likewise."""
    read_seconds: float
    noise: float | None
    """Change of the time of reading, as a share, that may be chance: the sum of how far the times before and after
    differ from their medians. ``None`` of one run."""
    lookups: tuple[Lookups, ...] = ()
    advised: bool = False

    @property
    def bytes_change(self) -> float:
        """Change of the bytes, as a share of those before: -0.1 is a tenth less."""
        return _change(self.bytes_before, self.bytes)

    @property
    def write_change(self) -> float:
        """Change of the time of writing, likewise."""
        return _change(self.write_seconds_before, self.write_seconds)

    @property
    def read_change(self) -> float:
        """Change of the time of reading all rows, likewise."""
        return _change(self.read_seconds_before, self.read_seconds)

    def to_dict(self) -> dict[str, Any]:
        """As JSON values."""
        changes = {name: getattr(self, name) for name in ("bytes_change", "write_change", "read_change")}
        return {**dataclasses.asdict(self), **changes}


def _change(before: float, after: float) -> float:
    return after / before - 1 if before else 0.0


@dataclasses.dataclass(frozen=True)
class Advice:
    """What other options of writing would give; see :func:`orcish.advise`."""

    source: str
    """The name of the source."""
    sources: tuple[str, ...]
    """The paths and URLs that it is made of."""
    rows: int
    """Rows of the sample."""
    all_rows: int
    """Rows of the files that the sample is taken from."""
    stripes: tuple[tuple[str, int], ...]
    """Names of the files, and indexes of the stripes, of the sample."""
    all_stripes: int
    files: int
    """Files of the table."""
    opened_files: int
    """Files that the sample is taken from."""
    stored_bytes: int
    """Stored bytes of the rows of the sample in the files."""
    all_stored_bytes: int
    seed: int
    runs: int
    """Runs of which the times are medians."""
    noise: float | None
    """How far the times of reading differ from their median, as a share, at most, with the present options; ``None`` of
    one run."""
    present: dict[str, Any]
    """Options that come nearest to those of the files, with which the candidates are written. The stripe size is the
    median of the stripes that another one follows. It is left out, and the default, where each file has one stripe."""
    rewritten_bytes: int
    """Stored bytes of the sample, written by orcish with the present options."""
    trials: tuple[Trial, ...]
    notes: tuple[str, ...]
    """What was not tried, and why."""

    @property
    def advised(self) -> tuple[Trial, ...]:
        """The trials that are advised."""
        return tuple(trial for trial in self.trials if trial.advised)

    @property
    def options(self) -> dict[str, Any]:
        """All options that are advised, as keywords of :func:`orcish.write_table`, and ``sort_by``."""
        return merged(self.advised)

    @property
    def command(self) -> str | None:
        """The command that writes the table with the advised options, and else with the present ones, to another
        place; ``None`` where nothing is advised that a command can have. Options that only Python has are not in it,
        see :attr:`python_options`.
        """
        return self._command(self.options) if self.options.keys() > self.python_options.keys() else None

    @property
    def python_options(self) -> dict[str, Any]:
        """The advised options that the command does not have."""
        return only_in_python(self.options)

    def _command(self, changed: dict[str, Any]) -> str:
        """The command for some options, with those of the present ones that stay."""
        kept = {name: self.present[name] for name in _KEPT if name in self.present}
        if "compression" in changed:
            kept.pop("compression", None)
        return command_of(self.sources, {**kept, **changed})

    def to_dict(self) -> dict[str, Any]:
        """As JSON values. Trials have the ``command`` that writes what was measured; ``None`` if no command does."""
        trials = [
            {**trial.to_dict(), "command": None if only_in_python(trial.options) else self._command(trial.options)}
            for trial in self.trials
        ]
        return {**vars(self), "trials": trials, "options": self.options, "command": self.command}

    def __str__(self) -> str:
        if not self.advised:
            return f"{self.source}: no option of {len(self.trials)} that were tried is worth a change"
        return "\n".join(
            f"{trial.kind}{'' if trial.column is None else f' of {trial.column}'}: {trial.label}"
            for trial in self.advised
        )


def merged(trials: Sequence[Trial]) -> dict[str, Any]:
    """The options of several trials together. Lists and mappings by column are joined."""
    options: dict[str, Any] = {}
    for name, value in (option for trial in trials for option in trial.options.items()):
        if isinstance(value, dict):
            options[name] = {**options.get(name, {}), **value}
        elif isinstance(value, list):
            options[name] = list(dict.fromkeys([*options.get(name, []), *value]))
        else:
            options[name] = value
    return options


def only_in_python(options: dict[str, Any]) -> dict[str, Any]:
    """The options that the command does not have."""
    return {name: value for name, value in options.items() if name not in _OF_COMMAND}


def command_of(sources: Sequence[str], options: dict[str, Any]) -> str:
    """The command that writes files with some options, as far as the shell has them."""
    words = ["orcish", "rewrite", *sources, "-o", _target(sources)]
    for name, value in options.items():
        if name in _OF_COMMAND:
            values = value if isinstance(value, list) else [value]
            texts = (_quoted(each) if isinstance(each, str) else str(each) for each in values)
            words += [f"--{name.replace('_', '-')}", ",".join(texts)]
    return shlex.join(words)


def _quoted(name: str) -> str:
    """A name as lists have it: in backticks if its characters have a meaning there."""
    is_plain = "," not in name and name == name.strip() and not name.startswith(("-", "`")) and name
    return name if is_plain else f"`{name.replace('`', '``')}`"


def _target(sources: Sequence[str]) -> str:
    """A place beside the source."""
    source = sources[0].rstrip("/")
    if len(sources) > 1 or not source or any(char in source for char in "*?["):
        return "rewritten"
    return f"{source.removesuffix('.orc')}.new.orc" if source.endswith(".orc") else f"{source}.new"
