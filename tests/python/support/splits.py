"""What processes do with a split of a scan."""

import pickle


def read(split):
    """The rows of a pickled split."""
    return pickle.loads(split).scan().to_table()
