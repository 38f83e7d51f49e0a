"""Wall clocks that Spark writes in one time zone of its JVM after the other."""

from __future__ import annotations

from pathlib import Path
from typing import Any

ZONES = ["America/New_York", "GMT+08:00", "Asia/Shanghai", "PST"]
"""Each is written to a folder that has its place in the list for a name."""

CLOCKS = [
    "2026-01-15 12:00:00.123456",
    "2026-07-15 12:00:00.5",
    "2025-03-09 01:59:59",
    "2025-03-09 03:00:00.25",
    "2025-11-02 00:59:59",
    "2025-11-02 02:00:00",
    "1969-07-20 20:17:40.75",
    "1950-01-01 00:00:00",
    "1970-01-01 00:00:00",
    "2015-01-01 00:00:00",
    "2014-12-31 23:59:59.999999",
    "2040-06-01 06:00:00",
]


def write_in_zones(spark: Any, folder: Path) -> None:
    """Writes the clocks in each zone, and restores the zone of the JVM and of the session."""
    union = " union all ".join(
        f"select {at} id, '{clock}' clock, timestamp'{clock}' t, timestamp_ntz'{clock}' n,"
        f" map('k', array(timestamp'{clock}')) deep"
        for at, clock in enumerate(CLOCKS)
    )
    java_zone = spark._jvm.java.util.TimeZone
    session_zone, jvm_zone = spark.conf.get("spark.sql.session.timeZone"), java_zone.getDefault()
    try:
        for at, zone in enumerate(ZONES):
            spark.conf.set("spark.sql.session.timeZone", zone)
            java_zone.setDefault(java_zone.getTimeZone(zone))
            spark.sql(union).coalesce(1).write.option("compression", "none").orc(str(folder / str(at)))
    finally:
        spark.conf.set("spark.sql.session.timeZone", session_zone)
        java_zone.setDefault(jvm_zone)
