"""The public functions, and their arguments."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Any

import orcish
import orcish.dask
import orcish.ray
from orcish.filters.expression import Column


def callables() -> Iterator[tuple[str, Callable[..., Any]]]:
    """All functions, constructors and methods that are public."""
    modules: list[Any] = [orcish, orcish.dask, orcish.ray]
    try:
        import orcish.spark as osp

        modules.append(osp)
    except ModuleNotFoundError:
        pass
    for module in modules:
        for name in [*module.__all__, *(["Column"] if module is orcish else [])]:
            # What `col` gives has a name of its own room only.
            found = Column if name == "Column" else getattr(module, name)
            if inspect.isclass(found):
                if not issubclass(found, BaseException):
                    yield name, found.__init__
                for method, member in vars(found).items():
                    is_method = inspect.isfunction(member) or isinstance(member, classmethod | staticmethod)
                    if is_method and not method.startswith("_"):
                        yield f"{name}.{method}", getattr(found, method)
            elif callable(found):
                yield f"{module.__name__}.{name}", found


CALLABLES = dict(callables())


def keywords(function: Callable[..., Any]) -> list[str]:
    """Names of arguments that can be given as keywords."""
    parameters = inspect.signature(function).parameters.values()
    kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return [each.name for each in parameters if each.kind in kinds and each.name != "self"]
