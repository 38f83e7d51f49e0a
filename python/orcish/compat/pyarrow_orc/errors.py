"""Errors of orcish as the exceptions that ``pyarrow.orc`` raises."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import pyarrow as pa

from orcish.errors import CorruptFileError, LimitExceededError, OrcishError, UnknownColumnError, UnsupportedError

__all__ = ["errors_of_pyarrow"]

CLASSES: list[tuple[type[OrcishError], type[Exception]]] = [
    (CorruptFileError, OSError),
    (UnknownColumnError, OSError),
    (UnsupportedError, pa.ArrowNotImplementedError),
    (LimitExceededError, pa.ArrowInvalid),
]


@contextlib.contextmanager
def errors_of_pyarrow() -> Iterator[None]:
    """Raises errors of orcish as exceptions of pyarrow, with the same message. The error of orcish is the cause. All
    other exceptions pass.
    """
    try:
        yield
    except OrcishError as error:
        other = next((other for kind, other in CLASSES if isinstance(error, kind)), pa.ArrowException)
        raise other(str(error)) from error
