"""Windows of random small sizes: what readers and writers read ahead, hold, queue and do at a time.

They are those of ``crates/orcish/src/tuning.rs``. With small ones a few rows are beyond each of them.
"""

import contextlib

from orcish import _native

SIZES = _native._tune()
"""Of each window how large it is for users, and the least and the greatest size here."""


def draw(rng):
    """Random sizes by the names of windows, and now and then none."""
    if rng.random() < 0.2:
        return {}
    sizes = {}
    for name, (_, least, most) in SIZES.items():
        shape = rng.random()
        if shape < 0.1:
            continue
        # The smaller they are, the more windows a few rows have.
        sizes[name] = rng.randint(least, most if shape < 0.5 else min(most, least + 9))
    return sizes


@contextlib.contextmanager
def small(rng):
    """Windows of random sizes within this."""
    with of(draw(rng)) as sizes:
        yield sizes


@contextlib.contextmanager
def of(sizes):
    """Windows of these sizes within this."""
    _native._tune(sizes)
    try:
        yield sizes
    finally:
        _native._tune()
