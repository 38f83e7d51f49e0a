"""``orcish advise``: what other options of writing would give, measured."""

from __future__ import annotations

import argparse
import dataclasses
from typing import Any

from orcish import advise
from orcish.terminal import printable
from orcish.types import Advice, Trial

from orcish_cli.arguments import LIST, add_files, add_filters, add_json, add_storage, count, storage_of
from orcish_cli.messages import Failures, shown_name, with_stream
from orcish_cli.terminal import Column, print_lines, print_objects, print_table

__all__ = ["add_advice", "add_arguments", "advice_of", "json_of"]

_SHOWN = 0.01
"""Change of the share of rows that is shown."""
_TRIALS = (
    Column("", lambda trial: _mark(trial)),
    Column("option", lambda trial: _option(trial)),
    Column("column", lambda trial: trial.column),
    Column("bytes", lambda trial: trial.bytes, True),
    Column("change", lambda trial: f"{trial.bytes_change:+.1%}", True),
    Column("write", lambda trial: f"{trial.write_change:+.0%}", True),
    Column("read", lambda trial: f"{trial.read_change:+.0%}", True),
)
_LOOKUPS = (
    Column("", lambda pair: _mark(pair[0])),
    Column("option", lambda pair: _option(pair[0])),
    Column("lookup", lambda pair: pair[1].filters),
    Column("rows now", lambda pair: f"{pair[1].before:.1%}", True),
    Column("then", lambda pair: f"{pair[1].after:.1%}", True),
    Column("time now", lambda pair: _milliseconds(pair[1].seconds_before), True),
    Column("then", lambda pair: _milliseconds(pair[1].seconds), True),
)
"""Of pairs of a trial and a lookup."""


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Adds the arguments of the command."""
    command.description = (
        "Measure what other options of writing would give: codecs and levels, sizes of stripes and row groups, sort "
        "orders, dictionaries and bloom filters. Some stripes are read, written to memory with each candidate, and "
        "read back. Nothing is written."
    )
    command.epilog = (
        "Bytes and times are compared with those of the present options. An asterisk marks what is advised: see the "
        "documentation of orcish.advise for the rules."
    )
    add_files(command)
    add_advice(command)
    add_json(command, "file")
    add_storage(command)
    command.set_defaults(run=_run)


def add_advice(command: argparse.ArgumentParser) -> None:
    """Adds the arguments that say what is measured."""
    command.add_argument("--lookup", **LIST, help="columns that queries look up by equality")
    add_filters(command, "a filter that queries have")
    command.add_argument(
        "--sample-size", default="32MB", metavar="SIZE", help="bytes in memory of the rows that are tried (32MB)"
    )
    command.add_argument("--seed", type=count, default=0, metavar="N", help="which stripes are chosen (0)")
    command.add_argument("--runs", type=int, default=3, metavar="N", help="runs of which times are medians (3)")


def _run(options: argparse.Namespace) -> int:
    failures = Failures(options)
    separator: list[str] = []
    for name in options.files:
        with failures.printed():
            advice = advice_of(name, options)
            if options.json:
                print_objects([json_of(advice)])
                continue
            print_lines(separator)
            separator = [""]
            _print(advice)
    return failures.code


def advice_of(source: str | list[str], options: argparse.Namespace) -> Advice:
    """The advice about a source, by the arguments of :func:`add_advice`."""
    found = advise(
        source,
        lookup=options.lookup,
        filters=options.filters,
        sample_size=options.sample_size,
        seed=options.seed,
        runs=options.runs,
        progress=not options.json,
        storage_options=storage_of(options),
    )
    # The path of standard input ends with this command.
    stream = getattr(options, "standard_input", None)
    sources = tuple("FILE" if each == stream else each for each in found.sources)
    stripes = tuple((shown_name(name), stripe) for name, stripe in found.stripes)
    return dataclasses.replace(found, source=with_stream(found.source), sources=sources, stripes=stripes)


def json_of(advice: Advice) -> dict[str, Any]:
    """What JSON says of a source."""
    found = advice.to_dict()
    return {"file": found.pop("source"), **found}


def _print(advice: Advice) -> None:
    print_lines([advice.source, _sample(advice), _present(advice), *(f"Note: {note}" for note in advice.notes), ""])
    print_table(_TRIALS, advice.trials)
    pairs = [(trial, each) for trial in advice.trials for each in trial.lookups]
    pairs = [(trial, each) for trial, each in pairs if abs(each.after - each.before) >= _SHOWN]
    if pairs:
        print_lines(
            ["", "Rows that filters look at, and the time of a read with a filter that was given, now and then"]
        )
        print_table(_LOOKUPS, pairs)
    print_lines(["", *_conclusion(advice)])


def _sample(advice: Advice) -> str:
    share = advice.stored_bytes / advice.all_stored_bytes
    stripes = f"{len(advice.stripes):,} of {advice.all_stripes:,} stripes"
    noise = "" if advice.noise is None else f", and differ by up to {advice.noise:.0%}"
    return (
        f"Sample: {advice.rows:,} of {advice.all_rows:,} rows, of {stripes} ({share:.1%} of the bytes), seed "
        f"{advice.seed}; times are medians of {advice.runs:,} runs{noise}"
    )


def _present(advice: Advice) -> str:
    options = dict(advice.present)
    blooms = options.pop("bloom_filter_columns", [])
    texts = [
        f"{name.replace('_', ' ')} {value:,}" if isinstance(value, int) else value for name, value in options.items()
    ]
    if blooms:
        texts.append(f"bloom filters of {', '.join(map(printable, blooms))}")
    sizes = f"{advice.stored_bytes:,} bytes, {advice.rewritten_bytes:,} when written again with these options"
    return f"Now: {', '.join(texts)}: {sizes}"


def _mark(trial: Trial) -> str:
    return "*" if trial.advised else ""


def _option(trial: Trial) -> str:
    return f"{trial.kind}: {trial.label}"


def _milliseconds(seconds: float | None) -> str:
    return "" if seconds is None else f"{seconds * 1000:,.1f} ms"


def _conclusion(advice: Advice) -> list[str]:
    if not advice.advised:
        return ["No option is worth a change."]
    lines = ["Advised:"]
    if advice.command is not None:
        lines.append(f"  {advice.command}")
    if only := advice.python_options:
        begin = "in Python" if advice.command is None else "and in Python, as the command has no such options"
        lines.append(f"  {begin}: {', '.join(f'{name}={value!r}' for name, value in only.items())}")
    return lines
