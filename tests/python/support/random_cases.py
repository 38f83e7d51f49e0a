"""Which cases of tests there are: how many random ones, with the seeds that reproduce them, and parts of products."""

import itertools
import os
import random
import re
from collections.abc import Iterable, Iterator
from typing import Any

import hypothesis

# `make test` has a fraction of the cases, `make test-all` all of them or a multiple.
FACTOR = float(os.environ.get("ORCISH_TEST_FACTOR", "1"))


def cases(number: int) -> int:
    """The number of cases of a random test: `number` times ORCISH_TEST_FACTOR, and at least 1 of any."""
    return max(min(1, number), round(number * FACTOR))


def examples(number: int, **options) -> hypothesis.settings:
    """Settings of a test by hypothesis, whose number of cases is that of ``cases``."""
    return hypothesis.settings(max_examples=cases(number), **options)


def seeded(title: str, case: int = 0) -> random.Random:
    """The random numbers of a case. They follow from ORCISH_SEED, which a failure prints.

    With the value that is printed, the case is the first one of its test.
    """
    seed = int(os.environ.get("ORCISH_SEED", "0")) + case
    print(f"ORCISH_SEED={seed}: {title}")
    return random.Random(f"{title} {seed}")


def random_cases(title: str, number: int) -> Iterator[tuple[int, random.Random]]:
    """Cases and their random numbers."""
    for case in range(cases(number)):
        yield case, seeded(title, case)


def part(values: Iterable[Any], start: int = 0) -> list[Any]:
    """All values where ORCISH_TEST_FACTOR is at least 1.

    Otherwise every n-th, the same each day: of 0.1, every tenth, with the one at ``start`` or one like it.
    """
    every, step = list(values), max(1, round(1 / FACTOR))
    return every[start % min(step, max(1, len(every))) :: step]


def each_value(*parameters: Iterable[Any]) -> list[tuple[Any, ...]]:
    """All combinations of the values of parameters where ORCISH_TEST_FACTOR is at least 1.

    Otherwise as many as there are values of the longest: the values of the others take turns.
    """
    values = [list(each) for each in parameters]
    if FACTOR >= 1:
        return list(itertools.product(*values))
    return [tuple(each[at % len(each)] for each in values) for at in range(max(map(len, values)))]


def pairs(*parameters: Iterable[Any]) -> list[tuple[Any, ...]]:
    """``pairs_of`` all combinations of the values of parameters."""
    return pairs_of(itertools.product(*map(list, parameters)))


def pairs_of(combinations: Iterable[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """All combinations where ORCISH_TEST_FACTOR is at least 1.

    Otherwise a part of them, the same in each process, that has each value and each pair of values of two parameters.
    """
    every = list(combinations)
    if FACTOR >= 1 or not every or len(every[0]) < 3:
        return every
    pairs = [set(itertools.combinations(((at, id(value)) for at, value in enumerate(each)), 2)) for each in every]
    covered: set[Any] = set()
    chosen = []
    # Combinations that have many new pairs come first.
    for least in range(max(map(len, pairs)), 0, -1):
        for at, own in enumerate(pairs):
            if len(own - covered) >= least:
                covered |= own
                chosen.append(at)
    return [every[at] for at in sorted(chosen)]


def title(value) -> str:
    """Of a case, by its value: the same in each process that runs tests."""
    return re.sub(r" at 0x[0-9a-f]+", "", f"{type(value).__name__} {value!r}")[:60]
