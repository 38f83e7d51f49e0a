"""Files that other implementations wrote, where they are at hand: filters read what they keep in memory."""

import orcish
import pyarrow as pa
import pytest
from orcish import Expression
from support.conformance_pack import PACK
from support.filter_cases import ROW, Subject, leaf, same
from support.random_cases import cases, seeded

FILES = sorted((PACK / "files").rglob("*.orc"))
MAX_COLUMNS = 100
MAX_ROWS = 300_000


def test_there_is_a_pack():
    if not FILES:
        pytest.skip(f"no conformance pack at {PACK}; ORCISH_CONFORMANCE says where one is")


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACK / "files")))
def test_filters_on_each_column(path):
    try:
        subject = Subject(path, masked="allow", timestamp_out_of_range="null")
        subject.whole()
    except orcish.OrcishError:
        pytest.skip("not one to be read")
    if len({*subject.file.column_paths}) < len(subject.file.column_paths) or subject.file.num_rows > MAX_ROWS:
        pytest.skip("names of columns are there twice, or too many rows")
    rng = seeded(f"filters of {path.name}")
    titles = list(subject.kinds)
    for title in rng.sample(titles, min(len(titles), MAX_COLUMNS)):
        trees = [("is_null", title), ("not", ("is_null", title)), *(leaf(rng, subject, title) for _ in range(cases(8)))]
        for tree in trees:
            check_column(rng, subject, title, tree)


def check_column(rng, subject, title, tree):
    want = subject.rows(tree, {})
    is_struct = subject.file.type_string.startswith("struct")
    columns = rng.choice([[title], [], [subject.ways[rng.choice(list(subject.ways))][0]]]) if is_struct else None
    options = {"columns": columns, "threads": rng.choice([1, 2]), "batch_size": rng.choice([64, 1000, 65_536])}
    if subject.file.num_rows > 20_000:
        options["batch_size"] = 65_536
    table = subject.file.read(filters=Expression(tree), row_number=ROW, **subject.options, **options)
    assert table[ROW].to_pylist() == want.to_pylist(), (tree, options)
    if columns == [title] and not pa.types.is_nested(subject.kinds[title]):
        assert same(table.drop_columns([ROW]), subject.whole(columns=columns), want), (tree, options)
