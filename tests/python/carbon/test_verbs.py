"""One question, every verb, of tables of CarbonData."""

import orcish
import pyarrow as pa
from support import buffer_sizes
from support.carbon import CarbonTableWriter
from support.case_loops import each_case
from support.query_cases import (
    MAKERS,
    Asked,
    Made,
    ask_answers,
    ask_arrow,
    ask_frames,
    ask_plans,
    ask_splits,
    column,
    values,
)
from support.random_cases import cases, seeded

QUESTIONS = [ask_arrow, ask_frames, ask_splits, ask_answers, ask_plans]
NAMES = ["i8", "far", "o", "f32", "d9", "d38", "s", "w", "b", "day", "n", "l", "m"]


def make(rng, folder):
    """A table of several segments, files, blocklets and pages, of which some rows are deleted."""
    names = ["id", *rng.sample(NAMES, rng.randint(1, 5))]
    schema = pa.schema([(name, MAKERS[name][0]) for name in names])
    writer = CarbonTableWriter(
        folder / "t",
        schema,
        sort_columns=rng.choice([(), ("id",)]),
        page_rows=rng.choice([7, 32, 100]),
        blocklet_rows=rng.choice([50, 100, 400]),
        local_dictionary=rng.random() < 0.5,
        compressor=rng.choice(["snappy", "zstd", "gzip"]),
    )
    start = 0
    for _ in range(rng.choice([1, 1, 2, 3])):
        rows = rng.choice([1, 7, 150, 700])
        table = pa.table({name: column(rng, name, start, rows) for name in names}, schema)
        segment = writer.load(table, files=rng.choice([1, 1, min(rows, 3)]))
        if rng.random() < 0.4:
            writer.delete(segment, sorted(rng.sample(range(rows), rng.randint(1, max(1, rows // 3)))))
        start += rows
    # That these are the rows which were written is what other tests show; null and empty are the same in some columns.
    rows = orcish.CarbonTable(writer.path).read(threads=1)
    assert values(rows.select(["id"])) == values(writer.rows().select(["id"]))
    return Made(str(writer.path), rows, [0] * len(rows), [], names, [], [], alike=False, numbered=False)


@each_case("case", range(cases(6)))
def test_all_verbs_say_the_same(tmp_path, another_process, case):
    rng = seeded("verbs of CarbonData", case)
    with buffer_sizes.small(rng) as sizes:
        made = make(rng, tmp_path)
        for _ in range(5):
            asked = Asked(rng, made, sizes)
            for ask in QUESTIONS:
                ask(asked, rng, another_process)
