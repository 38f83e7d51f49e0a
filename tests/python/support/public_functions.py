"""The public functions, and their arguments."""

from __future__ import annotations

import ast
import functools
import inspect
import re
from collections.abc import Callable, Iterator
from typing import Any

import orcish
import orcish.dask
import orcish.ray
from orcish.filters.expression import Column
from orcish.types import arguments


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


@functools.cache
def signature(function: Callable[..., Any]) -> inspect.Signature:
    """The signature of a function. The keywords of a ``TypedDict`` that ``**options`` unpack are parameters, which are
    ``None`` where they are missing.
    """
    given = inspect.signature(function)
    parameters: list[inspect.Parameter] = []
    for each in given.parameters.values():
        unpacked = re.fullmatch(r"Unpack\[(\w+)\]", str(each.annotation))
        if unpacked is None:
            parameters.append(each)
            continue
        for name, hint in annotations(unpacked[1]).items():
            optional = f"{hint.removesuffix(' | None')} | None"
            kind = inspect.Parameter.KEYWORD_ONLY
            parameters.append(inspect.Parameter(name, kind, default=None, annotation=optional))
    return given.replace(parameters=parameters)


@functools.cache
def annotations(kind: str) -> dict[str, str]:
    """Texts of the annotations of a ``TypedDict`` of :mod:`orcish.types`, those of its bases included."""
    classes = {
        node.name: node for node in ast.parse(inspect.getsource(arguments)).body if isinstance(node, ast.ClassDef)
    }
    found: dict[str, str] = {}
    for base in classes[kind].bases:
        if ast.unparse(base) in classes:
            found |= annotations(ast.unparse(base))
    fields = [node for node in classes[kind].body if isinstance(node, ast.AnnAssign)]
    return found | {ast.unparse(field.target): ast.unparse(field.annotation) for field in fields}


def keywords(function: Callable[..., Any]) -> list[str]:
    """Names of arguments that can be given as keywords."""
    parameters = signature(function).parameters.values()
    kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return [each.name for each in parameters if each.kind in kinds and each.name != "self"]
