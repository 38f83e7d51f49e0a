"""Names of a module that other modules define, and that are loaded when they are asked for first."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Collection, Mapping
from typing import Any

__all__ = ["lazy_names"]


def lazy_names(
    namespace: dict[str, Any],
    homes: Mapping[str, tuple[str, ...]],
    missing: Callable[[str], AttributeError],
    modules: Collection[str] = (),
) -> Callable[[str], Any]:
    """The ``__getattr__`` of a module.

    Args:
        namespace: The globals of the module, in which the names are from then on.
        homes: Names by the modules that define them.
        missing: Makes the error of other names.
        modules: Names of modules within this one, which are names of it without having been imported.
    """
    places = {name: home for home, names in homes.items() for name in names}

    def load(name: str) -> Any:
        if name in modules:
            return importlib.import_module(f"{namespace['__name__']}.{name}")
        if name not in places:
            raise missing(name)
        namespace[name] = found = getattr(importlib.import_module(places[name]), name)
        return found

    return load
