"""Bounds of dates and timestamps, of any year and with all digits, in each command that prints statistics."""

from __future__ import annotations

import datetime as dt
import json
from pathlib import Path
from typing import Any

import orcish
import pyarrow as pa
import pyarrow.orc
import pytest
from orcish_cli import main
from orcish_cli.merged_statistics import merged_statistics
from orcish_cli.moments import bound
from support.orc_builder import DATA, STRUCT, column_type, integer, integers, nested, orc, statistics
from support.protobuf import zigzag

TIMESTAMP, INSTANT, SECONDARY = 9, 18, 5

DATES = {"far": (-719_529, 2_932_897), "usual": (0, 10)}
TEXTS = {
    "date": ("-0001-12-31", "10000-01-01"),
    "timestamp": ("-0001-12-31T00:00:00", "10000-01-01T00:00:00"),
    "instant": ("-0001-12-31T00:00:00Z", "10000-01-01T00:00:00Z"),
}


def column(kind: str, days: tuple[int, int]) -> pa.Array:
    if kind == "date":
        return pa.array(days, pa.int32()).cast(pa.date32())
    return pa.array([day * 86_400 for day in days], pa.timestamp("s", "UTC" if kind == "instant" else None))


def bounds(capsys: pytest.CaptureFixture[str], *arguments: Any) -> list[Any]:
    assert main(["stats", "--json", "-c", "x", *map(str, arguments)]) == 0
    found = [json.loads(line)["statistics"] for line in capsys.readouterr().out.splitlines()]
    return [(each.get("min"), each.get("max")) for each in found]


@pytest.mark.parametrize("kind", TEXTS)
def test_years_beyond_those_of_python(kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    paths = []
    for name, days in DATES.items():
        paths.append(tmp_path / f"{name}.orc")
        orcish.write_table(pa.table({"x": column(kind, days)}), paths[-1])
    far, usual = paths
    assert bounds(capsys, far) == [TEXTS[kind]]
    for order in ((far, usual), (usual, far)):
        assert bounds(capsys, *order) == [TEXTS[kind]]
    assert len(bounds(capsys, "--by-file", far, usual)) == 2
    for option in ("--statistics", "--row-index=x"):
        assert main(["meta", option, str(far)]) == 0
        out = capsys.readouterr().out
        assert all(text in out for text in TEXTS[kind])
    assert main(["layout", "--json", str(far), str(usual)]) == 0
    (described,) = [each for each in json.loads(capsys.readouterr().out)["columns"] if each["path"] == "x"]
    plain = [text.replace("T", " ").removesuffix("Z") for text in TEXTS[kind]]
    assert [described["min"], described["max"]] == plain


@pytest.mark.parametrize("zone", [None, "UTC"])
def test_digits_below_microseconds(zone: str | None, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    start, path, end = 1_500_000_000_000_000_000, tmp_path / "a.orc", "Z" if zone else ""
    pyarrow.orc.write_table(pa.table({"x": pa.array([start + 1, start + 998], pa.timestamp("ns", zone))}), path)
    low, high = f"2017-07-14T02:40:00.000000001{end}", f"2017-07-14T02:40:00.000000998{end}"
    assert bounds(capsys, path) == [(low, high)]
    for option in ("--statistics", "--row-index=x"):
        assert main(["meta", option, str(path)]) == 0
        out = capsys.readouterr().out
        assert low in out
        assert high in out
    file = orcish.ORCFile(path)
    for found in (file.statistics("x"), *file.stripe_statistics("x"), file.row_groups("x")[0].statistics):
        assert found is not None
        moment = dt.datetime(2017, 7, 14, 2, 40, tzinfo=dt.timezone.utc if zone else None)
        # Python's values are bounds, too.
        assert (found.min, found.max) == (moment, moment + dt.timedelta(microseconds=1))
        assert (found.min_is_exact, found.max_is_exact) == (False, False)
        assert (found.min_nanoseconds, found.max_nanoseconds) == (start + 1, start + 998)
        assert found.is_instant == (zone is not None)


@pytest.mark.parametrize("kind", [TIMESTAMP, INSTANT])
def test_milliseconds_alone_are_no_values(kind: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Old releases record no digits below the millisecond: their bounds are its first and last nanosecond."""
    # Seconds since 2015; nanoseconds without zeros at the end.
    streams = [(1, DATA, integers([1, 2])), (1, SECONDARY, integers([1_200_300 << 3, 9_800_700 << 3], signed=False))]
    start = 1_420_070_400
    recorded = [integer(3 + at, zigzag(1000 * start + millis)) for at, millis in enumerate((1001, 2009))]
    of_column = integer(1, 2) + nested(9, *recorded) + integer(10, 0)
    path = tmp_path / "t.orc"
    types = [column_type(STRUCT, [1], ["x"]), column_type(kind)]
    path.write_bytes(
        orc(types, [(2, streams)], file_statistics=(statistics(2), of_column), footer_fields=nested(12, b"1.5.0"))
    )
    end = "Z" if kind == INSTANT else ""
    assert bounds(capsys, path) == [(f"2015-01-01T00:00:01.001{end}", f"2015-01-01T00:00:02.009999999{end}")]
    found = orcish.ORCFile(path).statistics("x")
    assert found is not None
    assert found.max_nanoseconds == start * 10**9 + 2_009_999_999
    assert found.max_is_exact is False
    stored = [start * 10**9 + 1_001_200_300, start * 10**9 + 2_009_800_700]
    scan = orcish.scan(path, timestamp_unit="ns")
    assert scan.to_table()["x"].cast(pa.int64()).to_pylist() == stored
    # They are no answers.
    assert [scan.min("x").value, scan.max("x").value] == stored


def test_clocks_and_instants_have_no_common_bounds(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    paths = [tmp_path / f"{kind}.orc" for kind in TEXTS]
    for path in paths:
        orcish.write_table(pa.table({"x": column(path.stem, (0, 1))}), path)
    assert bounds(capsys, *paths[1:]) == [(None, None)]
    assert bounds(capsys, *paths) == [(None, None)]
    assert main(["layout", "--json", *map(str, paths)]) == 0
    found = [orcish.ORCFile(path).statistics("x") for path in paths[1:]]
    merged = merged_statistics(found)
    assert merged is not None
    assert (merged.values, merged.min, merged.max) == (4, None, None)
    with pytest.raises(TypeError):
        _ = bound(found[0], "min") < bound(found[1], "min")  # type: ignore[arg-type]


@pytest.mark.parametrize("numbers", [[0.1, 2.7], [-1e30, float("inf")]], ids=["digits", "far"])
def test_floats_have_the_digits_of_data(
    numbers: list[float], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    paths = [tmp_path / name for name in ("a.orc", "b.orc")]
    for path in paths:
        columns = {"x": pa.array(numbers, pa.float32()), "d": pa.array(numbers, pa.float32()).cast(pa.float64())}
        orcish.write_table(pa.table(columns), path)
    assert main(["data", "--json", "-c", "x", str(paths[0])]) == 0
    low, high = (json.loads(line)["x"] for line in capsys.readouterr().out.splitlines())
    for arguments in (paths[:1], paths, ["--by-file", *paths], ["--by-stripe", paths[0]]):
        assert set(bounds(capsys, *arguments)) == {(low, high)}
    for option in ("--statistics", "--row-index=x"):
        assert main(["meta", "--json", option, str(paths[0])]) == 0
        out = json.loads(capsys.readouterr().out)
        found = out["statistics"][1] if option == "--statistics" else out["row_index"]["x"][0]["statistics"]
        assert (found["min"], found["max"]) == (low, high)
    assert main(["layout", "--json", *map(str, paths)]) == 0
    (described,) = [each for each in json.loads(capsys.readouterr().out)["columns"] if each["path"] == "x"]
    assert [float(described["min"]), float(described["max"])] == [float(str(low)), float(str(high))]
    # Python, and columns of doubles, have the value itself.
    statistics = orcish.ORCFile(paths[0]).statistics("x")
    assert statistics is not None
    assert statistics.min == columns["d"][0].as_py()
