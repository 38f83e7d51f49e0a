"""The command of each trial writes what the trial has measured."""

from __future__ import annotations

import json
import pathlib
import random
import shlex
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import orcish
import pyarrow as pa
import pytest
from orcish.advising.result import Trial
from orcish_cli import main
from support.small_tables import in_stripes

BYTES = 0.01
"""By which share the bytes may differ."""


def rows(count: int, first: int = 0) -> pa.Table:
    """Rows whose bytes depend on how many of them a stripe, a row group and a chunk have."""
    chance = random.Random(first)
    ids = range(first, first + count)
    texts = [f"row {(number * 7919) % 1500}" for number in ids]
    return pa.table(
        {
            "id": ids,
            "s": texts,
            "same": ["the same text in all of the rows"] * count,
            "word": pa.array([f"word {chance.randrange(50)}" for _ in ids]).dictionary_encode(),
            "number": pa.array([None if number % 9 == 0 else chance.randrange(10**6) for number in ids], pa.int32()),
        }
    )


def one_stripe(target: pathlib.Path) -> None:
    orcish.write_table(rows(20_000), target, compression="snappy", row_index_stride=2000)


def version_011(target: pathlib.Path) -> None:
    orcish.write_table(rows(12_000), target, compression="zlib", row_index_stride=3000, version="0.11")


def small_chunks(target: pathlib.Path) -> None:
    orcish.write_table(rows(12_000), target, compression="lz4", row_index_stride=1000, compression_block_size=2048)


def without_index(target: pathlib.Path) -> None:
    orcish.write_table(rows(12_000), target, compression="none", row_index_stride=0)


def full_stripes(target: pathlib.Path) -> None:
    orcish.write_table(
        rows(40_000),
        target,
        stripe_size=30_000,
        row_index_stride=1000,
        compression="zstd",
        bloom_filter_columns=["number"],
    )


def ended_stripes(target: pathlib.Path) -> None:
    in_stripes(target, rows(20_000), 3000, compression="zlib", row_index_stride=1000)


def repeated_rows(target: pathlib.Path) -> None:
    """Verification ends stripes, as their rows take much more memory than their bytes."""
    numbers = random.Random(5).sample(range(10**6), 40_000)
    data = pa.table({"id": range(40_000), "number": numbers, "same": ["the same text in all of the rows" * 8] * 40_000})
    orcish.write_table(data, target, compression="zstd", row_index_stride=1000, stripe_size=50_000)


def files_of_one_stripe(target: pathlib.Path) -> None:
    target.mkdir()
    for number in range(3):
        orcish.write_table(
            rows(6000, 6000 * number), target / f"{number}.orc", compression="zlib", row_index_stride=1500
        )


def files_of_several_stripes(target: pathlib.Path) -> None:
    target.mkdir()
    for number in range(2):
        part = rows(12_000, 12_000 * number)
        orcish.write_table(part, target / f"{number}.orc", stripe_size=20_000, row_index_stride=1000)


def partitions(target: pathlib.Path) -> None:
    data = rows(12_000)
    keys = pa.array([number * 4 // 12_000 for number in range(12_000)])
    orcish.write_dataset(data.append_column("k", keys), target, partition_by="k", row_index_stride=1000)


TABLES: list[Callable[[pathlib.Path], None]] = [
    one_stripe,
    version_011,
    small_chunks,
    without_index,
    full_stripes,
    ended_stripes,
    repeated_rows,
    files_of_one_stripe,
    files_of_several_stripes,
    partitions,
]
NOT_KNOWN = {one_stripe, version_011, small_chunks, without_index, files_of_one_stripe, partitions}


def files_of(target: pathlib.Path) -> list[pathlib.Path]:
    files = [target] if target.is_file() else sorted(target.rglob("*.orc"))
    assert files
    return files


def bytes_of(stripe: orcish.types.StripeInfo) -> int:
    return stripe.index_length + stripe.data_length + stripe.footer_length


def stored(target: pathlib.Path) -> int:
    return sum(bytes_of(stripe) for file in files_of(target) for stripe in orcish.ORCFile(file).stripes)


def advice_of(source: pathlib.Path, capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    assert main(["advise", str(source), "--json", "--runs", "1", *arguments]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert found["rows"] == found["all_rows"]
    return found


def written(command: str, target: pathlib.Path) -> int:
    """Stored bytes of what a command writes."""
    words = shlex.split(command)
    words[words.index("-o") + 1] = str(target)
    assert words[0] == "orcish"
    assert main(words[1:]) == 0
    return stored(target)


def check_commands(advice: dict[str, Any], folder: pathlib.Path, suffix: str) -> dict[str, int]:
    """Runs the command of each trial; gives the bytes by command."""
    wrong = {}
    done: dict[str, int] = {}
    for number, trial in enumerate(advice["trials"]):
        only_in_python = trial["options"].keys() & {"dictionary", "column_compression"}
        assert (trial["command"] is None) == bool(only_in_python)
        if (command := trial["command"]) is not None:
            done[command] = written(command, folder / f"target{number}{suffix}")
            if done[command] != pytest.approx(trial["bytes"], rel=BYTES):
                wrong[f"{trial['kind']}: {trial['label']}"] = (trial["bytes"], done[command], command)
    assert not wrong
    # The command of the advice is that of a trial.
    assert advice["command"] is None or advice["command"] in done
    return done


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.__name__)
def test_commands_write_what_was_measured(
    table: Callable[[pathlib.Path], None], tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    suffix = "" if table.__name__.startswith(("files", "partitions")) else ".orc"
    source = tmp_path / f"source{suffix}"
    table(source)
    advice = advice_of(source, capsys, "--lookup", "id")
    assert len(check_commands(advice, tmp_path, suffix)) >= 6
    # The stripe size is known where a stripe ended before the rows did.
    full = [bytes_of(stripe) for file in files_of(source) for stripe in orcish.ORCFile(file).stripes[:-1]]
    assert bool(full) == (table not in NOT_KNOWN)
    assert any("the stripe size is not known" in note for note in advice["notes"]) == (not full)
    assert ("stripe_size" in advice["present"]) == bool(full)
    assert not full or min(full) <= advice["present"]["stripe_size"] <= max(full)


def test_commands_of_lists_of_files(tmp_path: pathlib.Path) -> None:
    sources = [tmp_path / "a.orc", tmp_path / "b.orc"]
    for number, source in enumerate(sources):
        orcish.write_table(rows(5000, 5000 * number), source, row_index_stride=1000)
    advice = orcish.advise([str(source) for source in sources], runs=1)
    assert len(check_commands(advice.to_dict(), tmp_path, "")) >= 6


@pytest.mark.parametrize(
    ("advised", "labels"),
    [
        (["dictionary"], []),
        (["compression", "dictionary"], ["see above"]),
        (["compression", "row index stride", "dictionary"], ["as the command has it", "see above"]),
    ],
)
def test_options_that_only_python_has(
    advised: list[str],
    labels: list[str],
    tmp_path: pathlib.Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The bytes of the command are said, too, where other options are advised that it does not have."""

    def chosen(trials: Sequence[Trial], _: Any) -> list[Trial]:
        first = {trial.kind: trial for trial in reversed(trials)}
        return [replace(trial, advised=trial.kind in advised and trial is first[trial.kind]) for trial in trials]

    monkeypatch.setattr("orcish.advising.advise.chosen", chosen)
    one_stripe(tmp_path / "source.orc")
    advice = advice_of(tmp_path / "source.orc", capsys)
    assert [trial["label"] for trial in advice["trials"] if trial["kind"] == "all advice together"] == labels
    check_commands(advice, tmp_path, ".orc")
    assert (advice["command"] is None) == (advised == ["dictionary"])
    capsys.readouterr()
    assert main(["advise", str(tmp_path / "source.orc"), "--runs", "1"]) == 0
    lines = capsys.readouterr().out.splitlines()
    last = lines[lines.index("Advised:") + 1 :]
    commands = [line for line in last if line.startswith("  orcish rewrite ")]
    assert len(commands) == (advised != ["dictionary"])
    only = [line for line in last if line not in commands]
    assert len(only) == ("dictionary" in advised)
    assert all("in Python" in line and line.endswith("dictionary={'word': True}") for line in only)
