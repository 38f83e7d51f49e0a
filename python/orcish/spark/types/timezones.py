"""Time zones by the names of Java, and conversions between instants and wall clock times."""

from __future__ import annotations

import functools
import os
import re
import time

import pyarrow as pa
import pyarrow.compute as pc

__all__ = ["arrow_zone", "java_zone", "local_zone", "offsets", "spark_instants", "wall_clock"]

UTC = frozenset(("UTC", "GMT", "UT", "Z", "Etc/UTC", "Etc/GMT", "UCT", "Etc/UCT", "Zulu", "Universal", "GMT0"))
"""Names of zones without offset."""
_OFFSET = re.compile(r"(?:UTC|GMT|UT)?([+-])(\d{1,2})(?::?(\d{2})(?::?(\d{2}))?)?")
SHORT = {
    "ACT": "Australia/Darwin",
    "AET": "Australia/Sydney",
    "AGT": "America/Argentina/Buenos_Aires",
    "ART": "Africa/Cairo",
    "AST": "America/Anchorage",
    "BET": "America/Sao_Paulo",
    "BST": "Asia/Dhaka",
    "CAT": "Africa/Harare",
    "CNT": "America/St_Johns",
    "CST": "America/Chicago",
    "CTT": "Asia/Shanghai",
    "EAT": "Africa/Addis_Ababa",
    "ECT": "Europe/Paris",
    "EST": "-05:00",
    "HST": "-10:00",
    "IET": "America/Indiana/Indianapolis",
    "IST": "Asia/Kolkata",
    "JST": "Asia/Tokyo",
    "MIT": "Pacific/Apia",
    "MST": "-07:00",
    "NET": "Asia/Yerevan",
    "NST": "Pacific/Auckland",
    "PLT": "Asia/Karachi",
    "PNT": "America/Phoenix",
    "PRT": "America/Puerto_Rico",
    "PST": "America/Los_Angeles",
    "SST": "Pacific/Guadalcanal",
    "VST": "Asia/Ho_Chi_Minh",
}
"""The short ids of ``java.time.ZoneId.SHORT_IDS``."""
_MICROSECONDS = pa.timestamp("us")


@functools.cache
def arrow_zone(name: str, option: str) -> str:
    """The name of a zone in pyarrow: a region, an offset such as ``+01:00``, or ``UTC``.

    Args:
        name: A region, an offset with or without the prefix ``UTC``, ``GMT`` or ``UT``, ``Z``, or a short id.
        option: Name of the option, with which error messages begin.

    Raises:
        ValueError: There is no such zone, or its offset has seconds.
    """
    found = SHORT.get(name, name)
    fixed = _OFFSET.fullmatch(found)
    if fixed is not None:
        hours, minutes, seconds = (int(part or 0) for part in fixed.groups()[1:])
        if hours * 60 + minutes > 18 * 60 or minutes > 59:
            raise ValueError(f"option {option}={name!r}: is no offset of a time zone: it is 18 hours at most")
        if seconds:
            raise ValueError(f"option {option}={name!r}: offsets of seconds are not supported")
        found = f"{fixed[1]}{hours:02}:{minutes:02}"
    if found in UTC or found in ("+00:00", "-00:00"):
        return "UTC"
    try:
        offsets(pa.array([0], _MICROSECONDS), found)
    except pa.ArrowException as error:
        raise ValueError(f"option {option}={name!r}: is no time zone that is known here: {error}") from None
    return found


def java_zone(zone: str) -> str:
    """The name of a zone in Java, given its name in pyarrow."""
    return f"GMT{zone}" if zone[:1] in ("+", "-") else zone


def local_zone() -> str:
    """The time zone of the machine, found like in a JVM: ``TZ``, or that of the system."""
    name = os.environ.get("TZ", "").lstrip(":")
    if not name:
        try:
            name = os.path.realpath("/etc/localtime").rpartition("zoneinfo/")[2]
        except OSError:
            name = ""
    if name and not name.startswith("/"):
        return name
    if time.timezone == 0 and not time.daylight:
        return "UTC"
    raise ValueError("the machine's time zone has no name: give option `timezone`, such as Europe/Berlin")


def wall_clock(instants: pa.Array, zone: str) -> pa.Array:
    """Wall clock times of instants in a zone."""
    return pc.local_timestamp(instants.cast(pa.timestamp("us", zone)))


def offsets(instants: pa.Array, zone: str) -> pa.Array:
    """Offsets of a zone from UTC in microseconds, at instants whose type has no zone."""
    at = instants.cast(pa.timestamp("us", "UTC"))
    return pc.subtract(wall_clock(at, zone).cast(pa.int64()), at.cast(pa.int64()))


def spark_instants(clocks: pa.Array, zone: str) -> pa.Array:
    """Instants of wall clock times, as Spark parses them. Of repeated times the first one counts. Skipped times are
    moved by the length of the gap: 02:30 becomes 03:30.
    """
    clocks = clocks.cast(_MICROSECONDS)
    kind = pa.timestamp("us", zone)
    if zone == "UTC":
        return clocks.cast(kind)
    try:
        return pc.assume_timezone(clocks, zone, ambiguous="earliest", nonexistent="raise")
    except pa.ArrowInvalid:
        pass
    # Some times were skipped. Their result has another wall clock time.
    found = pc.assume_timezone(clocks, zone, ambiguous="earliest", nonexistent="latest")
    is_skipped = pc.not_equal(pc.local_timestamp(found), clocks)
    # Assumes that the zone does not change twice within a day.
    before = pc.subtract(clocks.cast(pa.int64()), 86_400 * 10**6).cast(_MICROSECONDS)
    before = pc.subtract(before.cast(pa.int64()), offsets(before, zone)).cast(_MICROSECONDS)
    leapt = pc.subtract(clocks.cast(pa.int64()), offsets(before, zone))
    return pc.if_else(is_skipped, leapt.cast(kind), found)
