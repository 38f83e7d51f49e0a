"""Which options are advised."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import NamedTuple

from orcish.advising.result import Trial

__all__ = ["Whole", "chosen"]

_FEWER_BYTES = -0.03
_OF_COLUMN = 0.01
"""Share of the bytes of all columns that options of one column save at least."""
_SLOWER_READ = 0.10
_MEASURABLE = 0.01
"""Seconds of a read or write from which on its time counts."""
_SLOWER_WRITE = 1.0
_FASTER_READ = 0.10
_MORE_BYTES = 0.02
_FEWER_ROWS = 0.7
_MORE_ROWS = 1.5
_SOME = 0.05
_BYTES_OF_INDEXES = 0.10


class Whole(NamedTuple):
    """The sample with the present options."""

    bytes: int
    read_seconds: float
    write_seconds: float


def chosen(trials: Sequence[Trial], whole: Whole) -> list[Trial]:
    """The trials, of which the best one of each kind and column is advised, if it is worth a change.

    Args:
        trials: The trials.
        whole: What the options of single columns are compared with.
    """
    best: dict[tuple[str, str | None], Trial] = {}
    for trial in trials:
        key = (trial.kind, trial.label if trial.kind == "bloom filter" else trial.column)
        if _is_worth(trial, whole) and (key not in best or _rank(trial) < _rank(best[key])):
            best[key] = trial
    if any(kind == "compression" for kind, _ in best):
        # Levels of columns were tried with the present codec.
        best = {key: trial for key, trial in best.items() if trial.kind != "column compression"}
    advised = list(best.values())
    return [dataclasses.replace(trial, advised=trial in advised) for trial in trials]


def _is_worth(trial: Trial, whole: Whole) -> bool:
    """Whether a trial is better than the present options."""
    if trial.column is not None:
        return _is_worth_for_all(trial, whole)
    if _skips_more(trial):
        return True
    is_slower = _is_slower(trial.read_seconds_before, trial.read_seconds, max(_SLOWER_READ, trial.noise or 0))
    is_slower |= _is_slower(trial.write_seconds_before, trial.write_seconds, _SLOWER_WRITE)
    is_smaller = trial.bytes_change <= _FEWER_BYTES and not is_slower
    is_faster = trial.bytes_change <= _MORE_BYTES and trial.read_change <= -_sure(trial, _FASTER_READ)
    return (is_smaller or is_faster) and not _skips_less(trial)


def _is_worth_for_all(trial: Trial, whole: Whole) -> bool:
    """Whether what a trial of one column gives is worth a change for the file."""
    size = (trial.bytes - trial.bytes_before) / whole.bytes
    more_read = trial.read_seconds - trial.read_seconds_before
    more_write = trial.write_seconds - trial.write_seconds_before
    read = more_read / whole.read_seconds
    is_slower = _is_slower(whole.read_seconds, whole.read_seconds + more_read, _SLOWER_READ) or _is_slower(
        whole.write_seconds, whole.write_seconds + more_write, _SLOWER_WRITE
    )
    return (size <= -_OF_COLUMN and not is_slower) or (
        size <= _MORE_BYTES and read <= -_FASTER_READ and trial.read_change <= -_sure(trial, 0)
    )


def _sure(trial: Trial, least: float) -> float:
    """The least change of the time of a read that is no chance. That of one run, or of short times, is never sure."""
    is_measured = trial.noise is not None and trial.read_seconds_before >= _MEASURABLE
    return max(least, trial.noise or 0) if is_measured else float("inf")


def _is_slower(before: float, after: float, most: float) -> bool:
    """Whether a time is longer by more than a share. Short times are chance."""
    return after >= _MEASURABLE and after > before * (1 + most)


def _skips_more(trial: Trial) -> bool:
    asked = [each for each in trial.lookups if each.is_asked]
    before, after = (sum(getattr(each, name) for each in asked) for name in ("before", "after"))
    return bool(trial.bytes_change <= _BYTES_OF_INDEXES and after < before and after <= _FEWER_ROWS * before)


def _skips_less(trial: Trial) -> bool:
    """Whether there are lookups that look at many more rows than now."""
    return any(each.after > each.before * _MORE_ROWS and each.after > each.before + _SOME for each in trial.lookups)


def _rank(trial: Trial) -> tuple[float, float]:
    """By the rows that the filters look at that advice was asked for, and then by bytes."""
    asked = [each for each in trial.lookups if each.is_asked]
    return (round(sum(each.after for each in asked), 2), trial.bytes_change)
