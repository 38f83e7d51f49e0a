"""Advice on options of writing: what it measures is what files have that are written with them."""

from __future__ import annotations

import dataclasses
import io
import json
import pathlib
import random
import shlex
from typing import Any

import orcish
import pyarrow as pa
import pytest
from orcish.advising.candidates import orders_of
from orcish.advising.choice import Whole, chosen
from orcish.advising.result import Trial, command_of, merged
from orcish_cli import main
from orcish_cli.commands import COMMANDS
from support.sample_files import write_sample
from support.small_tables import in_stripes

DATA = pathlib.Path(__file__).parents[2] / "data"


def rows(count: int = 30_000) -> pa.Table:
    chance = random.Random(3)
    return pa.table(
        {
            "at": range(count),
            "key": [f"{chance.getrandbits(64):016x}" for _ in range(count)],
            "number": chance.sample(range(10 * count), count),
            "city": [f"city {chance.randrange(40)}" for _ in range(count)],
            "tags": [[number % 3] for number in range(count)],
        }
    )


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """A file of six stripes."""
    target = tmp_path_factory.mktemp("advise") / "a.orc"
    return in_stripes(target, rows(), 5000, compression="zlib", row_index_stride=1000)


@pytest.fixture(scope="module")
def advice(path: pathlib.Path) -> orcish.types.Advice:
    return orcish.advise(path, lookup=["key", "number"], filters="number < 100", runs=1)


def stored(file: orcish.ORCFile) -> int:
    return sum(map(bytes_of, file.stripes))


def bytes_of(stripe: orcish.types.StripeInfo) -> int:
    return stripe.index_length + stripe.data_length + stripe.footer_length


def written(data: Any, **options: Any) -> orcish.ORCFile:
    target = io.BytesIO()
    orcish.write_table(data, target, **options)
    return orcish.ORCFile(target.getvalue())


def test_the_sample_is_what_it_says(path: pathlib.Path, advice: orcish.types.Advice) -> None:
    file = orcish.ORCFile(path)
    assert (advice.rows, advice.all_rows, advice.all_stripes) == (30_000, 30_000, 6)
    assert (advice.source, advice.sources) == (str(path), (str(path),))
    assert advice.stripes == tuple((str(path), number) for number in range(6))
    assert advice.stored_bytes == advice.all_stored_bytes == stored(file)
    assert advice.present == {
        "compression": "zlib",
        "compression_block_size": file.compression_chunk_size,
        "row_index_stride": 1000,
        "stripe_size": sorted(map(bytes_of, file.stripes[:-1]))[2],
    }
    assert advice.rewritten_bytes == stored(written(file.read(), **advice.present))


def test_bytes_are_those_of_files_with_the_options(path: pathlib.Path, advice: orcish.types.Advice) -> None:
    data = orcish.ORCFile(path).read()
    for trial in advice.trials:
        options = {name: value for name, value in trial.options.items() if name != "sort_by"}
        table = data.sort_by(trial.options["sort_by"]) if "sort_by" in trial.options else data
        if trial.column is not None:
            table = table.select([trial.column])
        assert trial.bytes == stored(written(table, **{**advice.present, **options})), trial
        assert trial.bytes_change == trial.bytes / trial.bytes_before - 1
    kinds = {trial.kind for trial in advice.trials}
    assert kinds >= {
        "compression",
        "row index stride",
        "sort order",
        "dictionary",
        "column compression",
        "bloom filter",
    }


def test_lookups_are_those_of_row_groups(path: pathlib.Path, advice: orcish.types.Advice) -> None:
    """The share of rows of a filter is that of the explanation of a read."""
    data = orcish.ORCFile(path).read()
    trial = next(trial for trial in advice.trials if trial.kind == "sort order" and trial.label == "number")
    found = {each.filters: each for each in trial.lookups}
    for table, share in (
        (data, found["the given filter"].before),
        (data.sort_by("number"), found["the given filter"].after),
    ):
        plan = written(table, **advice.present).explain(filters="number < 100")
        assert share == plan.rows_read / 30_000
    assert found["number"].after < 0.1 < 0.9 < found["number"].before
    assert {each.filters for each in trial.lookups if each.is_asked} == {"the given filter", "key", "number"}
    assert all((each.seconds is not None and each.seconds > 0) == each.is_asked for each in trial.lookups)
    # Rows are in the order of `at` now, which another order destroys.
    assert found["at"].before < 0.1
    assert found["at"].after > 0.9
    bloom = next(trial for trial in advice.trials if (trial.kind, trial.label) == ("bloom filter", "key"))
    assert [each.filters for each in bloom.lookups] == ["key"]
    assert bloom.lookups[0].after < 0.2 < 0.9 < bloom.lookups[0].before


def test_what_is_advised(advice: orcish.types.Advice) -> None:
    advised = {(trial.kind, trial.label) for trial in advice.advised}
    assert ("bloom filter", "key") in advised
    assert "bloom_filter_columns" in advice.options
    assert len({trial.kind for trial in advice.advised if trial.kind == "sort order"}) <= 1
    assert advice.trials[-1].kind == "all advice together"
    assert advice.trials[-1].options == advice.options
    assert advice.command is not None
    assert advice.command.startswith("orcish rewrite ")
    assert "--bloom-filter-columns" in advice.command
    # Options that stay are in the command, too.
    if "compression" not in advice.options:
        assert "--compression zlib" in advice.command
    assert advice.python_options.keys() <= {"dictionary", "column_compression"}
    orcish.write_table(rows(10), io.BytesIO(), **{k: v for k, v in advice.options.items() if k != "sort_by"})


def test_json(advice: orcish.types.Advice) -> None:
    found = json.loads(json.dumps(advice.to_dict(), allow_nan=False))
    assert len(found["trials"]) == len(advice.trials)
    assert found["command"] == advice.command
    assert found["trials"][0]["bytes_change"] == advice.trials[0].bytes_change


def test_seeds(path: pathlib.Path) -> None:
    """The sample and all bytes are the same with the same seed."""
    few = {"sample_size": "300KB", "runs": 1}
    first, again, other = (orcish.advise(path, seed=seed, **few) for seed in (1, 1, 2))
    assert first.stripes == again.stripes
    assert [trial.bytes for trial in first.trials if trial.kind != "all advice together"] == [
        trial.bytes for trial in again.trials if trial.kind != "all advice together"
    ]
    assert len({first.stripes, other.stripes, *(orcish.advise(path, seed=seed, **few).stripes for seed in (3, 4))}) > 1
    assert len(first.stripes) < first.all_stripes
    assert first.rows < first.all_rows
    assert 0 < first.stored_bytes < first.all_stored_bytes


def test_long_stripes_are_cut(tmp_path: pathlib.Path) -> None:
    """The rows of the sample take little more than the bound, however long a stripe is."""
    orcish.write_table(pa.table({"a": range(500_000)}), tmp_path / "a.orc")
    advice = orcish.advise(tmp_path / "a.orc", sample_size=1_000_000, runs=1)
    assert 125_000 <= advice.rows <= 125_000 + 16_384
    assert any("only the first rows" in note for note in advice.notes)
    assert advice.stored_bytes == pytest.approx(advice.all_stored_bytes * advice.rows / 500_000, rel=0.01)


def test_long_rows_are_cut(tmp_path: pathlib.Path) -> None:
    """Batches of long rows have few of them."""
    texts = [random.Random(number).randbytes(100_000).hex() for number in range(100)]
    orcish.write_table(pa.table({"a": texts}), tmp_path / "a.orc")
    advice = orcish.advise(tmp_path / "a.orc", sample_size=1_000_000, runs=1)
    assert advice.rows <= 16


def test_tables(tmp_path: pathlib.Path) -> None:
    """Files of other columns are left out, and partition columns, which no file has."""
    data = rows(2000)
    table = tmp_path / "t"
    orcish.write_dataset(data.append_column("k", [[number % 3 for number in range(2000)]]), table, partition_by="k")
    advice = orcish.advise(table, runs=1)
    assert (advice.files, advice.opened_files, advice.rows, advice.all_stripes) == (3, 3, 2000, 3)
    with pytest.raises(ValueError, match="lookup: 'k' is a partition column"):
        orcish.advise(table, lookup=["k"], runs=1)
    orcish.write_table(pa.table({"other": [1]}), table / "k=2" / "z.orc")
    advice = orcish.advise(f"{table}/*/*.orc", runs=1)
    assert (advice.files, advice.opened_files, advice.all_rows) == (4, 3, 2000)
    assert any("3 of 4 files" in note for note in advice.notes)


@pytest.mark.parametrize(
    "name", ["java.v2.orc", "shapes.zlib.orc", "root.zlib.orc", "spark.lzo.orc", "bloom.java.orc", "hive.none.orc"]
)
def test_files_of_other_writers(name: str) -> None:
    advice = orcish.advise(DATA / name, runs=1)
    assert advice.rows == orcish.ORCFile(DATA / name).num_rows
    assert advice.trials
    assert not any(trial.advised for trial in advice.trials if trial.bytes_change > 0.1)
    if name == "bloom.java.orc":
        assert len(advice.present["bloom_filter_columns"]) == 12
    if name == "spark.lzo.orc":
        assert (advice.present["compression"], "lzo" in advice.notes[0]) == ("lz4", True)


def test_errors(tmp_path: pathlib.Path, path: pathlib.Path) -> None:
    days = pa.table({"id": [1, 2], "day": ["a", "b"], "who": [{"name": "x"}] * 2})
    orcish.write_dataset(days, tmp_path / "t", partition_by=["day"])
    cases: list[tuple[Any, dict[str, Any], type[Exception], str]] = [
        (path, {"lookup": ["kez"]}, orcish.UnknownColumnError, 'lookup: no column is named "kez"; nearest: key'),
        (path, {"lookup": ["tags"]}, ValueError, "'tags'.*cannot be looked up"),
        (path, {"lookup": [1]}, TypeError, "must be a list of names"),
        (path, {"filters": "number <"}, ValueError, "filters"),
        (
            path,
            {"filters": "nothing = 1"},
            orcish.UnknownColumnError,
            'filters: no column is named "nothing"; nearest:',
        ),
        (path, {"filters": "nunber = 1"}, orcish.UnknownColumnError, 'no column is named "nunber"; nearest: number'),
        (tmp_path / "t", {"filters": "day = 'a' and id > 1"}, ValueError, "t: filters: 'day' is a partition column"),
        (tmp_path / "t", {"lookup": ["day"]}, ValueError, "t: lookup: 'day' is a partition column"),
        (tmp_path / "t", {"lookup": ["who.name"]}, ValueError, "lookup: 'who.name' is a nested column"),
        (path, {"runs": 0}, ValueError, "runs=0: must be at least 1"),
        (path, {"sample_size": 0}, ValueError, "sample_size=0: must be at least 1"),
        (path, {"sample_size": "much"}, ValueError, "sample_size='much' is no size"),
        (tmp_path / "none.orc", {}, FileNotFoundError, "none.orc"),
        (DATA / "corrupt" / "data-cut.orc", {}, orcish.CorruptFileError, "data-cut.orc"),
    ]
    for source, options, kind, message in cases:
        with pytest.raises(kind, match=message):
            orcish.advise(source, **options)
    orcish.write_table(rows(0), tmp_path / "empty.orc")
    with pytest.raises(ValueError, match=r"empty\.orc: there are no rows"):
        orcish.advise(tmp_path / "empty.orc")
    write_sample(tmp_path)
    with pytest.raises(orcish.UnsupportedError, match="CarbonData"):
        orcish.advise(tmp_path / "sales")


def test_progress(path: pathlib.Path) -> None:
    seen: list[orcish.types.Progress] = []
    orcish.advise(path, runs=1, sample_size="200KB", progress=seen.append)
    totals = {each.total for each in seen}
    assert len(totals) == 2
    assert None in totals
    assert seen[-1].done <= max(total for total in totals if total is not None)


def test_columns_by_order() -> None:
    found = orders_of(rows(), 1000)
    assert found.clustered == ["at"]
    assert set(found.scattered) == {"key", "number", "city"}


def trial(**changes: Any) -> Trial:
    plain = Trial("compression", "x", None, {"compression": "lz4"}, 1000, 1000, 1.0, 1.0, 1.0, 1.0, 0.05)
    return dataclasses.replace(plain, **changes)


def lookup(before: float, after: float, is_asked: bool = True) -> orcish.types.Lookups:
    return orcish.types.Lookups("id", 10, is_asked, before, after, 1.0, 1.0)


@pytest.mark.parametrize(
    ("changes", "advised"),
    [
        ({}, False),
        ({"bytes": 970}, True),
        ({"bytes": 971}, False),
        ({"bytes": 900, "read_seconds": 1.2}, False),
        ({"bytes": 900, "write_seconds": 2.5}, False),
        # Short times are chance.
        ({"bytes": 900, "read_seconds_before": 0.002, "read_seconds": 0.009}, True),
        ({"bytes": 900, "read_seconds_before": 0.002, "read_seconds": 0.012}, False),
        ({"bytes": 900, "write_seconds_before": 0.002, "write_seconds": 0.009}, True),
        ({"bytes": 900, "write_seconds_before": 0.002, "write_seconds": 0.012}, False),
        ({"read_seconds": 0.85}, True),
        ({"read_seconds": 0.85, "bytes": 1030}, False),
        ({"read_seconds": 0.85, "noise": 0.2}, False),
        ({"read_seconds": 0.5, "noise": None}, False),
        ({"read_seconds": 0.0005, "read_seconds_before": 0.001}, False),
        ({"lookups": (lookup(1, 0.5),), "bytes": 1050}, True),
        ({"lookups": (lookup(1, 0.5),), "bytes": 1150}, False),
        ({"lookups": (lookup(1, 0.5, is_asked=False),)}, False),
        ({"lookups": (lookup(1, 0.9),)}, False),
        ({"lookups": (lookup(0.1, 1.0, is_asked=False),), "bytes": 900}, False),
        ({"column": "a", "bytes": 10, "bytes_before": 100}, True),
        ({"column": "a", "bytes": 95, "bytes_before": 100}, False),
    ],
)
def test_rules(changes: dict[str, Any], advised: bool) -> None:
    (found,) = chosen([trial(**changes)], Whole(1000, 1.0, 1.0))
    assert found.advised == advised


def test_the_best_of_a_kind_is_advised() -> None:
    trials = [trial(bytes=900), trial(bytes=800), trial(bytes=850), trial(bytes=700, kind="stripe size")]
    found = chosen(trials, Whole(1000, 1.0, 1.0))
    assert [each.advised for each in found] == [False, True, False, True]


def test_levels_of_columns_are_those_of_the_present_codec() -> None:
    level = trial(kind="column compression", column="a", bytes=10, bytes_before=100)
    assert [each.advised for each in chosen([level], Whole(1000, 1.0, 1.0))] == [True]
    found = chosen([level, trial(bytes=900)], Whole(1000, 1.0, 1.0))
    assert [each.advised for each in found] == [False, True]


def test_columns_of_nulls_and_of_one_value(tmp_path: pathlib.Path) -> None:
    """There is nothing to look for in a column of nulls."""
    data = pa.table({"a": pa.nulls(3000, pa.string()), "b": [7] * 3000, "c": [float("nan")] * 3000})
    orcish.write_table(data, tmp_path / "a.orc", row_index_stride=1000)
    advice = orcish.advise(tmp_path / "a.orc", lookup=["a", "b", "c"], runs=1)
    assert {each.filters for trial in advice.trials for each in trial.lookups} == {"b"}


@pytest.mark.parametrize(
    ("sources", "options", "words"),
    [
        (
            ["my file.orc"],
            {"compression": "zstd", "compression_level": 9, "bloom_filter_columns": ["a b", "c"], "sort_by": "x'"},
            ["--compression", "zstd", "--compression-level", "9", "--bloom-filter-columns", "a b,c", "--sort-by", "x'"],
        ),
        (["t/"], {"stripe_size": 64, "row_index_stride": 5000}, ["--stripe-size", "64", "--row-index-stride", "5000"]),
        (
            ["a.orc"],
            {"dictionary": {"a": True}, "sort_by": "-a", "bloom_filter_columns": ["a,b", "c`", "`d"]},
            ["--sort-by", "`-a`", "--bloom-filter-columns", "`a,b`,c`,```d`"],
        ),
    ],
)
def test_commands(sources: list[str], options: dict[str, Any], words: list[str]) -> None:
    targets = {"my file.orc": "my file.new.orc", "t/": "t.new", "a.orc": "a.new.orc"}
    expected = ["orcish", "rewrite", *sources, "-o", targets[sources[0]], *words]
    assert shlex.split(command_of(sources, options)) == expected
    assert shlex.split(command_of(["a.orc", "b.orc"], {})) == ["orcish", "rewrite", "a.orc", "b.orc", "-o", "rewritten"]
    assert shlex.split(command_of(["t/*.orc"], {})) == ["orcish", "rewrite", "t/*.orc", "-o", "rewritten"]


@pytest.mark.skipif(all(command.name != "rewrite" for command in COMMANDS), reason="there is no command rewrite")
def test_the_command_of_the_advice_runs(path: pathlib.Path, advice: orcish.types.Advice) -> None:
    assert advice.command is not None
    words = shlex.split(advice.command)
    assert main(words[1:]) == 0
    file = orcish.ORCFile(path.with_name("a.new.orc"))
    assert file.num_rows == advice.all_rows
    assert file.compression == advice.options.get("compression", "zlib")
    storage = {column.name: column.streams for column in file.column_storage()}
    assert {name for name, streams in storage.items() if streams.get("BLOOM_FILTER_UTF8")} == {
        *advice.options["bloom_filter_columns"]
    }


def test_options_of_several_trials() -> None:
    both = (trial(options={"bloom_filter_columns": ["a"], "dictionary": {"a": True}}),)
    other = trial(options={"bloom_filter_columns": ["b"], "dictionary": {"b": False}})
    assert merged((*both, other)) == {"bloom_filter_columns": ["a", "b"], "dictionary": {"a": True, "b": False}}


def test_the_text_of_advice_names_the_columns(tmp_path):
    path = tmp_path / "a.orc"
    orcish.write_table(pa.table({"id": range(1000), "text": [f"t{at % 7}" for at in range(1000)]}), path)
    advice = orcish.advise(path, runs=1)
    trials = tuple(dataclasses.replace(trial, advised=trial.column is not None) for trial in advice.trials)
    advised = dataclasses.replace(advice, trials=trials)
    assert advised.advised
    wanted = [f"{trial.kind} of {trial.column}: {trial.label}" for trial in advised.advised]
    assert str(advised).splitlines() == wanted
