"""Reading with a filter gives the rows that the same filter keeps of all rows in memory, whatever the file."""

import os
import random

import judge
import pytest
from filter_cases import Subject, check, leaf, predicate
from filter_data import FILES
from orcish import Expression

CASES = int(os.environ.get("ORCISH_FILTER_CASES", "400"))
SEED = os.environ.get("ORCISH_SEED", "")


@pytest.fixture(scope="module")
def subject(spark, tmp_path_factory):
    """A function that gives a file, which is written once."""
    written = {}

    def written_once(title):
        if title not in written:
            written[title] = Subject(FILES[title](tmp_path_factory.mktemp("orc"), spark))
        return written[title]

    return written_once


@pytest.mark.parametrize("title", FILES)
def test_a_filter_reads_the_rows_that_it_keeps_in_memory(title, subject):
    this = subject(title)
    rng = random.Random(title + SEED)
    for case in range(CASES):
        asked = rng.choices(list(this.kinds), k=rng.choice([1, 2, 4]))
        tree = predicate(rng, [leaf(rng, this, column) for column in asked])
        check(rng, this, tree, with_values=case % 3 == 0)


@pytest.mark.parametrize("title", list(FILES)[:2])
def test_what_is_judged_leaf_by_leaf_is_what_is_judged_as_a_whole(title, subject):
    this = subject(title)
    rng = random.Random(title)
    table = this.whole(columns=[column for column in this.whole().column_names if column != "u"])
    for _ in range(15):
        tree = predicate(rng, [leaf(rng, this, rng.choice(list(this.kinds))) for _ in range(3)])
        assert judge.truth(Expression(tree), table).equals(this.truth(tree, {})), tree
