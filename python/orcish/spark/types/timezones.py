"""Time zones as Java names them, and the instants at which their clocks show something."""

from __future__ import annotations

import functools
import os
import re
import time

import pyarrow as pa
import pyarrow.compute as pc

__all__ = ["arrow_zone", "java_zone", "local_zone", "offsets", "spark_instants", "wall_clock"]

UTC = frozenset(("UTC", "GMT", "UT", "Z", "Etc/UTC", "Etc/GMT", "UCT", "Etc/UCT", "Zulu", "Universal", "GMT0"))
"""Names of zones that have no offset."""
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
"""Those of java.time.ZoneId.SHORT_IDS."""
_MICROSECONDS = pa.timestamp("us")


@functools.cache
def arrow_zone(name: str, option: str) -> str:
    """What pyarrow calls a zone of Java: a region, an offset such as ``+01:00``, or ``UTC``.

    Args:
        name: A region, an offset with or without ``UTC``, ``GMT`` or ``UT`` before it, ``Z``, or a short id.
        option: What says the zone: errors begin with it.

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
    """What Java calls a zone of pyarrow."""
    return f"GMT{zone}" if zone[:1] in ("+", "-") else zone


def local_zone() -> str:
    """The time zone of the machine, as a JVM would find it: ``TZ``, or that of the system."""
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
    """What the clock in a zone shows at instants."""
    return pc.local_timestamp(instants.cast(pa.timestamp("us", zone)))


def offsets(instants: pa.Array, zone: str) -> pa.Array:
    """How many microseconds the clock in a zone is ahead of UTC, at instants without a zone in their type."""
    at = instants.cast(pa.timestamp("us", "UTC"))
    return pc.subtract(wall_clock(at, zone).cast(pa.int64()), at.cast(pa.int64()))


def spark_instants(clocks: pa.Array, zone: str) -> pa.Array:
    """The instants as which Spark takes clocks in texts. What the clock showed twice was the first time, and what it
    never showed is as much later as it leapt: 02:30 becomes 03:30.
    """
    clocks = clocks.cast(_MICROSECONDS)
    kind = pa.timestamp("us", zone)
    if zone == "UTC":
        return clocks.cast(kind)
    try:
        return pc.assume_timezone(clocks, zone, ambiguous="earliest", nonexistent="raise")
    except pa.ArrowInvalid:
        pass
    # Some were skipped: of these the result is shown as another clock.
    found = pc.assume_timezone(clocks, zone, ambiguous="earliest", nonexistent="latest")
    is_skipped = pc.not_equal(pc.local_timestamp(found), clocks)
    # A day before, no later change of the clock has been.
    before = pc.subtract(clocks.cast(pa.int64()), 86_400 * 10**6).cast(_MICROSECONDS)
    before = pc.subtract(before.cast(pa.int64()), offsets(before, zone)).cast(_MICROSECONDS)
    leapt = pc.subtract(clocks.cast(pa.int64()), offsets(before, zone))
    return pc.if_else(is_skipped, leapt.cast(kind), found)
