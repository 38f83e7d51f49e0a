"""Keyword arguments of public functions."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any, ParamSpec, TypeVar

from orcish.errors import closest_match

__all__ = ["checked_keywords", "chosen_options"]

P = ParamSpec("P")
R = TypeVar("R")


def checked_keywords(function: Callable[P, R]) -> Callable[P, R]:
    """Decorates a function so that an unknown keyword is a ``TypeError`` which suggests the nearest one."""
    parameters = inspect.signature(function).parameters.values()
    names = [each.name for each in parameters if each.kind in (each.POSITIONAL_OR_KEYWORD, each.KEYWORD_ONLY)]
    known = frozenset(names)

    @functools.wraps(function)
    def checked(*args: P.args, **kwargs: P.kwargs) -> R:
        if not known.issuperset(kwargs):
            name = next(name for name in kwargs if name not in known)
            match = closest_match(name, [each for each in names if each != "self"])
            hint = f"; did you mean {match!r}?" if match else ""
            raise TypeError(f"{function.__qualname__}() has no keyword argument {name!r}{hint}")
        return function(*args, **kwargs)

    return checked


def chosen_options(arguments: Mapping[str, Any], options: type) -> Any:
    """The options of a ``TypedDict`` among the arguments of a function, without those that are ``None``.

    Args:
        arguments: The ``locals()`` at the beginning of the function.
        options: The ``TypedDict``, whose keys are all optional.
    """
    names: frozenset[str] = options.__optional_keys__  # type: ignore[attr-defined]
    return {name: value for name, value in arguments.items() if name in names and value is not None}
