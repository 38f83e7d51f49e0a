"""Long chains of conditions are one level and take linear time; the number of levels is bounded, in every language."""

import copy
import functools
import operator
import pickle
import threading
import time

import orcish
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from orcish import col
from orcish.filters.levels import MAX_LEVELS
from orcish.filters.text import parse
from support.case_loops import each_case
from support.processes import run_python
from support.random_cases import FACTOR

LONG = 50_000 if FACTOR >= 1 else 10_000
"""Conditions of a chain, of which the stack of a thread has no room for a level each."""
TABLE = pa.table({"id": range(100), "name": [f"name {at}" for at in range(100)]})


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    found = tmp_path_factory.mktemp("levels") / "a.orc"
    orcish.write_table(TABLE, found)
    return found


def chain(join, parts):
    """A chain as users make it: the first parts are the deepest."""
    return functools.reduce(join, parts)


CHAINS = {
    "lists": lambda n: [[("id", "=", -at)] for at in range(n)],
    "lists of two": lambda n: [[("id", "=", -at), ("name", "!=", "x")] for at in range(n)],
    "orcish": lambda n: chain(operator.or_, [col("id") == -at for at in range(n)]),
    "orcish, the other way round": lambda n: chain(lambda a, b: b | a, [col("id") == -at for at in range(n)]),
    "text": lambda n: " or ".join(f"id = {-at}" for at in range(n)),
    "pyarrow": lambda n: chain(operator.or_, [pc.field("id") == -at for at in range(n)]),
}
ALL_OF = {
    "lists": lambda n: [("id", "!=", at + 1) for at in range(n)],
    "orcish": lambda n: chain(operator.and_, [col("id") != at + 1 for at in range(n)]),
    "text": lambda n: " and ".join(f"id != {at + 1}" for at in range(n)),
    "pyarrow": lambda n: chain(operator.and_, [pc.field("id") != at + 1 for at in range(n)]),
}


@each_case("kind", CHAINS)
def test_chains_of_alternatives_are_read(path, kind):
    assert orcish.read_table(path, filters=CHAINS[kind](LONG if kind == "lists" else LONG // 5))["id"].to_pylist() == [
        0
    ]
    filters = CHAINS[kind](1000)
    scan = orcish.scan(path, filters=filters)
    assert scan.count() == orcish.scan(path).where("id < 7").where(filters).count() == 1
    assert scan.explain().rows_read == 100


@each_case("kind", ALL_OF)
def test_chains_of_conditions_are_read(path, kind):
    assert orcish.read_table(path, filters=ALL_OF[kind](LONG // 5))["id"].to_pylist() == [0]


def test_chains_of_datasets_and_lazy_frames(path):
    filters = CHAINS["pyarrow"](3000)
    assert orcish.dataset(path).to_table(filter=filters)["id"].to_pylist() == [0]
    assert orcish.dataset(path).filter(filters).count_rows(filter=filters) == 1
    lazy = chain(operator.or_, [pl.col("id") == -at for at in range(2000)])
    assert orcish.read_table(path, filters=lazy)["id"].to_pylist() == [0]


def test_what_is_not_translated_is_a_chain_too(path):
    """pyarrow and polars apply such filters."""
    for n in (10, 1200):
        filters = chain(operator.or_, [pc.field("id") * 2 == -at for at in range(n)])
        assert orcish.read_table(path, filters=filters)["id"].to_pylist() == [0]
        assert orcish.scan(path, filters=(pc.field("id") >= 0) & filters).count() == 1
    lazy = chain(operator.or_, [pl.col("id") * 2 == -at for at in range(1200)])
    assert orcish.read_table(path, filters=lazy)["id"].to_pylist() == [0]


def test_small_stacks_are_enough(path):
    """Threads of other libraries have small stacks."""
    found = []
    before = threading.stack_size(512 << 10)
    try:
        filters = CHAINS["pyarrow"](3000)
        thread = threading.Thread(target=lambda: found.append(orcish.scan(path, filters=filters).count()))
        thread.start()
    finally:
        threading.stack_size(before)
    thread.join()
    assert found == [1]


def test_chains_are_printed_and_read_back():
    made = CHAINS["orcish"](LONG)
    text = str(made)
    assert parse(text).equals(made)
    assert pickle.loads(pickle.dumps(made)).equals(made)
    assert copy.deepcopy(made).equals(made)
    assert made.columns == ["id"]
    assert not made.equals(CHAINS["orcish"](LONG - 1))


def test_chains_take_linear_time():
    """A chain that is 16 times as long takes about 16 times as long to make, and not 256 times."""

    def seconds(n):
        parts = [col("id") == at for at in range(n)]
        begin = time.process_time()
        str(chain(operator.or_, parts))
        str(chain(lambda a, b: b & a, parts))
        return time.process_time() - begin

    seconds(1000)
    short, long = min(seconds(2000) for _ in range(3)), seconds(32_000)
    assert long < 80 * short


def test_parts_of_a_chain_stay_as_they_are():
    first = col("id") == 1
    second = first | (col("id") == 2)
    third = second | (col("id") == 3)
    other = second | col("flag")
    assert str(third) == "(id = 1) or (id = 2) or (id = 3)"
    assert str(second) == "(id = 1) or (id = 2)"
    assert str(other) == "(id = 1) or (id = 2) or (flag = true)"
    assert str(second | third) == "(id = 1) or (id = 2) or (id = 1) or (id = 2) or (id = 3)"
    assert str(~(second & third)) == "not (((id = 1) or (id = 2)) and ((id = 1) or (id = 2) or (id = 3)))"
    assert str(first) == "id = 1"


def nested(first, n, step):
    """A predicate of so many levels."""
    for at in range(n - 1):
        first = step(first, at)
    return first


LEVELS = {
    "orcish, in turn": lambda n: nested(
        col("id") == 1, n, lambda e, at: e | (col("id") == at) if at % 2 else e & (col("id") != -at)
    ),
    "orcish, not": lambda n: nested(col("id") == 1, n, lambda e, _: ~e),
    "text": lambda n: "id = 1" if n == 1 else f"{'not (' * (n - 1)}id = 1{')' * (n - 1)}",
    "pyarrow, not": lambda n: nested(pc.field("id") == 1, n - 1, lambda e, _: ~e),
    "pyarrow, in turn": lambda n: nested(
        pc.field("id") == 1,
        n - 1,
        lambda e, at: e | (pc.field("id") == at) if at % 2 else e & (pc.field("id") != -at),
    ),
    "polars, not": lambda n: nested(pl.col("id") == 1, n - 1, lambda e, _: ~e),
}


@each_case("kind", LEVELS)
def test_levels_are_bounded(path, kind):
    made = LEVELS[kind]
    orcish.read_table(path, filters=made(MAX_LEVELS - 1))
    for n in (MAX_LEVELS + 2, 1000 if "polars" in kind else 20_000):
        with pytest.raises(ValueError, match=f"more than {MAX_LEVELS} levels"):
            orcish.read_table(path, filters=made(n))
        with pytest.raises(ValueError, match=f"more than {MAX_LEVELS} levels"):
            orcish.scan(path).where(made(n)).count()


def test_the_deepest_predicate_goes_everywhere(path):
    made = LEVELS["orcish, in turn"](MAX_LEVELS)
    assert parse(str(made)).equals(made)
    assert pickle.loads(pickle.dumps(made)).equals(made)
    assert pickle.loads(pickle.dumps(orcish.scan(path, filters=made))).count() == orcish.scan(path).where(made).count()
    assert repr(orcish.scan(path, filters=made))
    with pytest.raises(ValueError, match="levels"):
        operator.invert(made)


def test_expressions_of_a_hundred_thousand_levels_end_no_process(path):
    found = run_python(
        f"""
        import orcish, pyarrow.compute as pc
        filters = pc.field("id") == 1
        for _ in range(100_000):
            filters = ~filters
        for read in (lambda: orcish.read_table({str(path)!r}, filters=filters),
                     lambda: orcish.dataset({str(path)!r}).to_table(filter=filters),
                     lambda: orcish.scan({str(path)!r}).where(pc.field(0) > 5).where(filters).count()):
            try:
                read()
            except ValueError as error:
                print(error)
        """
    )
    assert found.splitlines() == [f"a filter of more than {MAX_LEVELS} levels"] * 3
