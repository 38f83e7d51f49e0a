"""Filters of timestamps whose unit does not hold all digits of all values: right rows or an error, in each verb."""

from __future__ import annotations

import contextlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path

import orcish
import pyarrow as pa
import pyarrow.orc
import pyorc
import pytest
from orcish_cli import main
from support.case_loops import each_case
from support.small_tables import in_stripes

NANOS = [1, 400, 999, 1_000, 1_001, 5_000_000_000]
FAR = [-62_135_596_800, 253_402_300_799]
"""Seconds of years that nanoseconds do not hold: the table has microseconds."""


ROWS = dict(zip([*range(len(NANOS)), 10, 11], [*NANOS, *(second * 10**9 for second in FAR)], strict=True))


class Seconds(pyorc.converters.ORCConverter):  # type: ignore[misc]
    """Timestamps as seconds and nanoseconds."""

    @staticmethod
    def from_orc(seconds: int, nanoseconds: int, zone: object) -> tuple[int, int]:
        return seconds, nanoseconds

    @staticmethod
    def to_orc(value: tuple[int, int], zone: object) -> tuple[int, int]:
        return value


def text(nanoseconds: int) -> str:
    return f"timestamp '1970-01-01 00:00:00.{nanoseconds:09}'"


FILTERS: dict[str, Callable[[int], bool]] = {
    f"t = {text(999)}": lambda t: t == 999,
    f"t <> {text(999)}": lambda t: t != 999,
    f"not (t = {text(400)})": lambda t: t != 400,
    f"t in ({text(1)}, {text(999)})": lambda t: t in (1, 999),
    f"t not in ({text(1)}, {text(2)})": lambda t: t not in (1, 2),
    f"t > {text(1)}": lambda t: t > 1,
    f"t >= {text(500)}": lambda t: t >= 500,
    f"t < {text(500)}": lambda t: t < 500,
    f"t > {text(0)}": lambda t: t > 0,
    f"t <= {text(1000)}": lambda t: t <= 1000,
    "t < timestamp '1969-01-01 00:00:00'": lambda t: t < 0,
    "t > timestamp '1970-01-01 00:00:01'": lambda t: t > 10**9,
    "t <> timestamp '1980-01-01 00:00:00.000000001'": lambda t: True,
}


def near_and_far() -> tuple[pa.Table, pa.Table]:
    near = {"id": range(len(NANOS)), "t": pa.array(NANOS, pa.timestamp("ns"))}
    return pa.table(near), pa.table({"id": [10, 11], "t": pa.array(FAR, pa.timestamp("s"))})


def write_files(folder: Path) -> None:
    folder.mkdir()
    near, far = near_and_far()
    pyarrow.orc.write_table(near, str(folder / "a.orc"))
    orcish.write_table(far, folder / "b.orc")


def write_file(folder: Path) -> None:
    """One file with values of both kinds, as pyorc and Hive write them."""
    folder.mkdir()
    with (
        (folder / "a.orc").open("wb") as out,
        pyorc.Writer(out, "struct<id:bigint,t:timestamp>", converters={pyorc.TypeKind.TIMESTAMP: Seconds}) as writer,
    ):
        for id, nanoseconds in ROWS.items():
            writer.write((id, divmod(nanoseconds, 10**9)))


def write_stripes(folder: Path) -> None:
    """Files whose values have a stripe each: statistics decide."""
    folder.mkdir()
    near, far = near_and_far()
    in_stripes(folder / "a.orc", near, 1)
    in_stripes(folder / "b.orc", far, 1)


def ids_of(is_match: Callable[[int], bool]) -> list[int]:
    return [id for id, nanoseconds in ROWS.items() if is_match(nanoseconds)]


def left(table: Path) -> list[int]:
    return sorted(orcish.scan(table, columns=["id"]).to_table()["id"].to_pylist())


@each_case("write", [write_files, write_file, write_stripes], ids=lambda write: write.__name__)
@each_case("where", FILTERS)
def test_all_digits_are_compared(
    where: str, write: Callable[[Path], None], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    expected = ids_of(FILTERS[where])

    def run(*arguments: str) -> str | None:
        code = main([*arguments])
        out, err = capsys.readouterr()
        if code == 0:
            return out
        # Rows before the error are printed.
        assert code == 1
        assert "a timestamp has digits beyond Microseconds" in err, arguments
        return None

    right = 0
    source = tmp_path / "source"
    write(source)
    for unit in ("auto", "exact"):
        with contextlib.suppress(orcish.LimitExceededError):
            assert orcish.scan(source, timestamp_unit=unit, filters=where).count() == len(expected), unit
            right += 1
    for command in ("data", "tail", "sample"):
        out = run(command, str(source), "-n", "100", "--json", "-c", "id", "--where", where)
        if out is not None:
            assert sorted(json.loads(line)["id"] for line in out.splitlines()) == expected, command
            right += 1
    for unit in ((), ("--timestamp-unit", "exact")):
        out = run("count", str(source), "--json", *unit, "--where", where)
        if out is not None:
            assert sum(json.loads(line)["rows"] for line in out.splitlines()) == len(expected)
            right += 1
    for command in (
        ["convert", "{source}", "{target}.jsonl", "-c", "id"],
        ["convert", "{source}", "{target}.orc"],
        ["rewrite", "{source}", "-o", "{target}.orc"],
        ["rewrite", "{source}", "--in-place"],
        ["delete", "{source}"],
    ):
        own, target = tmp_path / "own", tmp_path / "target"
        write(own)
        before = left(own)
        filled = [part.format(source=own, target=target) for part in command]
        out = run(*filled, "--where", where)
        if out is None:
            assert left(own) == before, command
            assert not [path for path in tmp_path.iterdir() if path.name.startswith("target")]
        elif command[0] == "delete":
            assert left(own) == sorted(set(before) - set(expected))
            right += 1
        elif "--in-place" in command:
            assert left(own) == expected
            right += 1
        else:
            (made,) = (path for path in tmp_path.iterdir() if path.name.startswith("target"))
            lines = made.read_text().splitlines() if made.suffix == ".jsonl" else None
            ids = left(made) if lines is None else sorted(json.loads(line)["id"] for line in lines)
            assert ids == expected, command
            made.unlink()
            right += 1
        shutil.rmtree(own)
    # Digits below the microsecond decide nothing far from all values that have them.
    assert right > 0 or text(0)[:-9] in where
