"""Levels of predicates: their number is bounded, and chains of operators, which may be long, are one level."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from orcish import _native

__all__ = ["MAX_LEVELS", "SAFE_DEPTH", "TooManyLevelsError", "balanced", "check_count", "check_levels", "on_deep_stack"]

T = TypeVar("T")

MAX_LEVELS: int = _native.Filter.MAX_LEVELS
"""Maximum number of levels of a predicate of any library, and of text."""
SAFE_DEPTH = 1000
"""Depth of an expression, each operator of a chain being one level, that other libraries evaluate on any stack."""
_DEEP_STACK = 128 << 20
"""Bytes of a stack on which libraries serialize any expression that they can make."""
_STACK_SIZE_LOCK = threading.Lock()


class TooManyLevelsError(ValueError):
    """A predicate has too many levels."""


def check_count(levels: int) -> None:
    """Raises TooManyLevelsError for a predicate of too many levels."""
    if levels > MAX_LEVELS:
        raise TooManyLevelsError(f"a filter of more than {MAX_LEVELS} levels")


def check_levels(root: T, operands: Callable[[T], Iterable[T]]) -> int:
    """The number of levels of a predicate: conjunctions, disjunctions, negations and other functions, and the leaves
    below them.

    Args:
        root: The predicate.
        operands: Gives the operands of a part.

    Raises:
        TooManyLevelsError: There are too many.
    """
    count, level = 0, [root]
    while level:
        count += 1
        check_count(count)
        level = [below for part in level for below in operands(part)]
    return count


def balanced(join: Callable[[T, T], T], parts: Sequence[T]) -> T:
    """The parts, joined in pairs: other libraries recur for each level, and a chain of operators has one for each."""
    found = list(parts)
    while len(found) > 1:
        pairs = range(0, len(found) - 1, 2)
        found = [join(found[at], found[at + 1]) for at in pairs] + found[len(found) - len(found) % 2 :]
    return found[0]


def on_deep_stack(call: Callable[[], T]) -> T:
    """The result of a call of another library that recurs for each level of an expression."""
    results: list[T] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            results.append(call())
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=run)
    with _STACK_SIZE_LOCK:
        before = threading.stack_size(_DEEP_STACK)
        try:
            thread.start()
        except RuntimeError:
            # There is no room for the stack, or the interpreter ends.
            return call()
        finally:
            threading.stack_size(before)
    thread.join()
    if errors:
        raise errors.pop()
    return results[0]
