"""One question, every verb: of random tables, filters, projections, limits and windows all verbs say the same."""

import dataclasses

import orcish
import pyarrow as pa
import pyarrow.compute as pc
from orcish import col
from support import buffer_sizes
from support.case_loops import each_case
from support.processes import run_python
from support.query_cases import (
    Asked,
    answered,
    ask_answers,
    ask_arrow,
    ask_files,
    ask_frames,
    ask_plans,
    ask_splits,
    make,
    plain,
    values,
)
from support.random_cases import cases, seeded

QUESTIONS = [ask_arrow, ask_files, ask_frames, ask_splits, ask_answers, ask_plans]


@each_case("case", range(cases(10)))
def test_all_verbs_say_the_same(tmp_path, another_process, case):
    rng = seeded("verbs", case)
    with buffer_sizes.small(rng) as sizes:
        made = make(rng, tmp_path, sizes)
        for _ in range(5):
            asked = Asked(rng, made, sizes)
            for ask in QUESTIONS:
                ask(asked, rng, another_process)


@each_case("case", range(cases(5)))
def test_tables_made_of_tables_say_the_same(tmp_path, another_process, case):
    """Merged, converted and rewritten tables give the same results."""
    rng = seeded("tables of tables", case)
    with buffer_sizes.small(rng) as sizes:
        made = make(rng, tmp_path / "first", sizes)
        merged, converted, written, again = (
            str(tmp_path / name) for name in ("merged.orc", "converted", "written", "again.orc")
        )
        orcish.convert(made.where, converted, partition_by=made.folders)
        few = rng.choice([None, 500])
        orcish.write_dataset(orcish.scan(made.where), written, partition_by=made.folders, max_rows_per_file=few)
        orcish.write_table(orcish.scan(made.where), again)
        targets = [converted, written, again]
        if made.alike and not made.folders and not made.missing:
            orcish.merge(made.files, merged)
            targets.append(merged)
        for target in targets:
            rows = orcish.read_table(target)
            assert rows.num_rows == made.rows.num_rows
            assert values(by_id(rows).select(made.rows.column_names)) == values(by_id(made.rows))
            asked = Asked(rng, made, sizes)
            # Rows of partitions are together in a table that is converted, so that others may come first.
            asked.limit, asked.numbers = None, None
            asked.options = {
                name: asked.options[name] for name in ("threads", "batch_size", "filters") if name in asked.options
            }
            asked.made = dataclasses.replace(made, where=target)
            kept = len(answered(made, asked.filters, None, None)[1])
            assert asked.scan().count() == asked.scan().to_table().num_rows == kept, asked.told
            ask_answers(asked, rng, another_process)


def by_id(table):
    table = plain(table)
    return table.take(pc.sort_indices(table["id"]))


MANY = 3_000_000


def test_rows_that_were_looked_at_are_not_counted_again(tmp_path):
    """A stripe has a run of undecided row groups, and a long run whose rows all match."""
    path = tmp_path / "part=7" / "ids.orc"
    path.parent.mkdir()
    ids = pa.table({"id": pa.array(range(MANY), pa.int64())})
    orcish.write_table(ids, path, stripe_size=1 << 30)
    assert orcish.ORCFile(path).num_stripes == 1
    kept = MANY - 15_000
    scan = orcish.scan(tmp_path, filters=col("id") >= 15_000)
    assert scan.count() == kept
    assert scan.sum("part") == 7 * kept
    assert scan.select().to_table().num_rows == kept
    assert scan.select("part").to_table().num_rows == kept
    assert orcish.ORCFile(path).read(columns=[], filters=col("id") >= 15_000).num_rows == kept
    assert sum(split.scan().select("part").to_table().num_rows for split in scan.splits()) == kept
    assert scan.limit(2_000_000).count() == 2_000_000
    assert scan.limit(2_990_000).select().to_table().num_rows == kept
    schema = pa.schema([("id", pa.int64()), ("more", pa.string()), ("part", pa.int64())])
    missing = orcish.scan(tmp_path, schema=schema, filters=col("id") >= 15_000, columns=["more"])
    assert missing.to_table()["more"].null_count == kept


def test_a_stripe_that_is_done_makes_room_for_the_next():
    """Stripes are fetched ahead, and the next one does not fit into memory beside the current one."""
    code = """
        import io, sys, orcish, pyarrow as pa
        from orcish import _native, col
        out = io.BytesIO()
        with orcish.ORCWriter(out, pa.schema([("id", pa.int64())])) as writer:
            for start in range(0, 5000, 1000):
                writer.write_table(pa.table({"id": range(start, start + 1000)}))
                writer.end_stripe()
        _native._tune({"LOCAL_CONCURRENCY": 2, "BYTES_AHEAD": 0})
        file = orcish.ORCFile(out.getvalue())
        assert file.num_stripes == 5
        for threads in (1, 2):
            print(file.read(threads=threads).num_rows, file.read(threads=threads, filters=col("id") > 6).num_rows)
    """
    assert run_python(code, timeout=60).split() == ["5000", "4993"] * 2
