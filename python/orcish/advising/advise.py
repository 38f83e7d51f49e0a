"""The function :func:`advise`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median

from orcish.advising.candidates import (
    PRESENT,
    candidate,
    check_columns,
    columns_of_filter,
    is_sortable,
    lookups_of,
    of_columns,
    of_table,
    orders_of,
)
from orcish.advising.choice import Whole, chosen
from orcish.advising.measuring import Candidate, Probe, measure
from orcish.advising.result import Advice, Lookups, Trial, merged, only_in_python
from orcish.advising.sample import Sample, take_sample
from orcish.filters.pushdown import Filters
from orcish.keywords import checked_keywords
from orcish.progress import reported
from orcish.sizes import parse_size
from orcish.tables.orc_sources import name_of, orc_sources, partition_columns, title_of
from orcish.types import FileSystem, ProgressOption, Sources, StorageOptions
from orcish.writing.writer import file_of_schema

__all__ = ["advise"]

WHERE = "the given filter"
TOGETHER = "all advice together"
_WORTH = 0.03
"""Share of the bytes from which on a rewrite alone is mentioned."""


@checked_keywords
def advise(
    source: Sources,
    *,
    lookup: Sequence[str] | None = None,
    filters: Filters | None = None,
    sample_size: int | str = 32 << 20,
    seed: int = 0,
    runs: int = 3,
    threads: int | None = None,
    progress: ProgressOption = False,
    storage_options: StorageOptions | None = None,
    filesystem: FileSystem | None = None,
) -> Advice:
    """Measures what other options of writing would give: codecs and levels, sizes of stripes and row groups, sort
    orders, dictionaries and bloom filters.

    Stripes are chosen at random, and read until their rows take ``sample_size`` bytes. They are written to memory with
    the options that the files have now, and with each candidate, and read back. Times are medians of several runs, in
    which candidates alternate. Dictionaries and compression of single columns are tried on the largest columns, each
    alone. Nothing is written to the source.

    Each partition is written on its own. The present stripe size is the median of the stripes that another one follows;
    where no file has a second stripe, all is written with the default, which a note says.

    Options are advised if they give at least 3 % fewer bytes, are read at most 10 % slower, and take at most twice the
    time to write, where times are 10 ms or more; or if they are read at least 10 % faster, which runs have to agree on,
    and have at most 2 % more bytes; or if the filters that are asked for look at less than 0.7 times as many rows, with
    at most 10 % more bytes. Options of one column have to save 1 % of all bytes. A sort order for fewer bytes may not
    harm lookups of columns that are in order now. Of each kind of option, the best one is advised; compression of
    single columns only where the codec of the file stays. Then all advice is tried together; and without the options
    that only Python has, as the command has it.

    >>> advice = orcish.advise("orders.orc", lookup=["id"], runs=1)
    >>> advice.rows, advice.stripes
    (100, (('orders.orc', 0),))
    >>> sorted({trial.kind for trial in advice.trials} - {"all advice together"})
    ['bloom filter', 'column compression', 'compression', 'sort order']

    Args:
        source: Any source of :func:`orcish.scan` that is ORC.
        lookup: Columns that queries look up by equality. Bloom filters and sort orders are tried for them, with values
            that are in the sample.
        filters: A filter that queries have; its columns are tried as sort orders, and row groups that it skips are
            counted.
        sample_size: Bytes in memory of the rows that are tried, 32 MiB by default. All work takes about four times
            as many bytes.
        seed: Which stripes and values are chosen.
        runs: Number of runs of which times are medians.
        threads: Threads of each write and read; the number of cores by default.
        progress: True for a bar on the terminal, or a function that is called with a
            :class:`~orcish.types.Progress`, of rows that are written.
        storage_options: Options of the object stores of URLs; see :data:`~orcish.types.StorageOptions`.
        filesystem: The file system that the paths of the source are within; see :data:`~orcish.types.FileSystem`.

    Raises:
        FileNotFoundError: There are no files.
        UnknownColumnError: There is no column of ``lookup``.
        ValueError: There are no rows, a filter does not fit, values of ``lookup`` cannot be looked up, or a column is
            that of a partition.
        UnsupportedError: The source is a table of CarbonData, or has encrypted columns.
        OrcishError: A file cannot be read.
        OSError: Likewise.
    """
    files = orc_sources(source, storage_options, filesystem)
    name = title_of(source, len(files))
    with reported(progress, f"sample {name}", None) as add:
        sample = take_sample(files, parse_size(sample_size), seed, storage_options, add)
    lookup, of_filter = list(lookup or []), columns_of_filter(filters)
    check_columns(name, sample.rows, partition_columns(files), lookup, of_filter)
    orders, probes = _tried(sample, lookup, of_filter, filters, seed)
    table, notes = of_table(sample, lookup, orders, list(probes))
    alone = of_columns(sample)
    total = runs * len(sample.rows) * (len(table) + len(alone) + 3)
    with reported(progress, f"advise {name}", total) as add:
        measure(table, probes, runs, threads, add)
        measure(alone, {}, runs, threads, add)
        present = table[0]
        trials = chosen(
            [*_trials(table, probes), *_trials(alone, {})],
            Whole(present.bytes, present.read_seconds, present.write_seconds),
        )
        if together := _together(sample, [trial for trial in trials if trial.advised], list(probes)):
            again = [candidate(sample, PRESENT, "present options", {}, list(probes)), *together]
            measure(again, probes, runs, threads, add)
            trials += _trials(again, probes)
    return Advice(
        source=name,
        sources=tuple(map(name_of, source)) if isinstance(source, list | tuple) else (name,),
        rows=len(sample.rows),
        all_rows=sample.all_rows,
        stripes=tuple(sample.stripes),
        all_stripes=sample.all_stripes,
        files=sample.files,
        opened_files=sample.opened,
        stored_bytes=sample.stored,
        all_stored_bytes=sample.all_stored,
        seed=seed,
        runs=runs,
        noise=present.noise,
        present=sample.present,
        rewritten_bytes=present.bytes,
        trials=tuple(trials),
        notes=(*_notes(sample, present.bytes), *notes),
    )


def _tried(
    sample: Sample, lookup: Sequence[str], of_filter: Sequence[str], filters: Filters | None, seed: int
) -> tuple[list[str], dict[str, Probe]]:
    """The columns that are tried as sort orders, and the filters whose reads are compared."""
    rows, schema = sample.rows, sample.rows.schema
    sortable = [name for name in of_filter if schema.names.count(name) == 1 and is_sortable(schema.field(name).type)]
    found = orders_of(rows, sample.present["row_index_stride"])
    orders = list(dict.fromkeys([*lookup, *sortable, *found.scattered]))
    probes: dict[str, Probe] = {}
    if filters is not None:
        # Raises what a read with the filter raises.
        file_of_schema(schema).explain(filters=filters)
        probes[WHERE] = Probe([filters], True)
    for name in dict.fromkeys([*orders, *found.clustered]):
        if values := lookups_of(rows, name, seed):
            probes[name] = Probe(values, name in lookup)
    return orders, probes


def _trials(measured: Sequence[Candidate], probes: Mapping[str, Probe]) -> list[Trial]:
    """Each candidate, compared with the last one before it that has the present options."""
    trials = []
    for each in measured:
        if each.kind == PRESENT:
            before = each
        else:
            trials.append(_trial(before, each, probes))
    return trials


def _trial(before: Candidate, after: Candidate, probes: Mapping[str, Probe]) -> Trial:
    lookups = [
        Lookups(
            name,
            len(probes[name].filters),
            probes[name].is_asked,
            before.shares[name],
            after.shares[name],
            *(median(each.lookups[name]) if probes[name].is_asked else None for each in (before, after)),
        )
        for name in after.probes
    ]
    return Trial(
        after.kind,
        after.label,
        after.column,
        after.changed,
        before.bytes,
        after.bytes,
        before.write_seconds,
        after.write_seconds,
        before.read_seconds,
        after.read_seconds,
        None if before.noise is None or after.noise is None else before.noise + after.noise,
        tuple(lookups),
    )


def _together(sample: Sample, trials: Sequence[Trial], probes: Sequence[str]) -> list[Candidate]:
    """Candidates with the options of several trials: those that the command has, and all of them."""
    of_command = [trial for trial in trials if not only_in_python(trial.options)]
    found = {"see above": trials}
    if len(of_command) < len(trials):
        found = {"as the command has it": of_command, **found}
    return [candidate(sample, TOGETHER, label, merged(each), probes) for label, each in found.items() if len(each) > 1]


def _notes(sample: Sample, rewritten: int) -> list[str]:
    """What has to be known of the sample."""
    notes = []
    if sample.compression == "lzo":
        notes.append("lzo is read and not written: the present options are those of lz4")
    if "stripe_size" not in sample.present:
        notes.append(
            "the stripe size is not known, as no file has a second stripe: all other candidates, and the command, have "
            f"the default of {sample.stripe_size >> 20} MiB"
        )
    if rewritten < sample.stored * (1 - _WORTH):
        share = 1 - rewritten / sample.stored
        notes.append(f"a rewrite with the present options alone has {share:.1%} fewer bytes than the files")
    if sample.is_cut:
        notes.append("of the last stripe of the sample, only the first rows are in it")
    if sample.opened < sample.files:
        notes.append(
            f"{sample.opened:,} of {sample.files:,} files were opened: those that are chosen at random, and have the "
            "columns of the first one of them"
        )
    if len(sample.rows) < sample.all_rows:
        notes.append("sort orders are those of the sample: filters skip more in a table that is sorted as a whole")
    return notes
