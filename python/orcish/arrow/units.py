"""Units of times, timestamps and durations of Arrow."""

from __future__ import annotations

__all__ = ["DIGITS", "NANOSECONDS"]

DIGITS = {"s": 0, "ms": 3, "us": 6, "ns": 9}
"""Digits of the fraction of a second that each unit has."""
NANOSECONDS = {unit: 10 ** (9 - digits) for unit, digits in DIGITS.items()}
"""Nanoseconds of each unit."""
