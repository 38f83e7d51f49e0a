"""Random cases of tests: how many there are, and the seeds that reproduce them."""

import os
import random
import re
from collections.abc import Iterator

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


def title(value) -> str:
    """Of a case, by its value: the same in each process that runs tests."""
    return re.sub(r" at 0x[0-9a-f]+", "", f"{type(value).__name__} {value!r}")[:60]
