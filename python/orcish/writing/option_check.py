"""A check of the options of files before a job begins, which names the option that is wrong."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from typing import Any

import pyarrow as pa

from orcish.errors import OrcishError
from orcish.writing.writer import ORCWriter

__all__ = ["check_file_options"]


def check_file_options(schema: pa.Schema, options: Mapping[str, Any], named: Callable[[str], str] = str) -> None:
    """Checks the options with which files are written.

    Args:
        schema: The columns of the files.
        options: Keywords of :class:`~orcish.types.WriteOptions`.
        named: What messages call an option.

    Raises:
        TypeError, ValueError, OrcishError: An option is wrong; the message begins with its name.
    """
    if _fault(schema, options) is None:
        return
    fault = _fault(schema, {})
    if fault is not None:
        # The columns cannot be written.
        raise fault
    given: dict[str, Any] = {}
    for name, value in options.items():
        given[name] = value
        fault = _fault(schema, given)
        if fault is not None:
            # The file is in memory.
            text = str(fault).removeprefix("<file object>: ")
            reason = text[len(name) :] if text.startswith(name) else f": {text}"
            kind = ValueError if isinstance(fault, UnicodeError) else type(fault)
            raise kind(f"{named(name)}{reason}")


def _fault(schema: pa.Schema, options: Mapping[str, Any]) -> Exception | None:
    """The error of writing a file without rows."""
    try:
        ORCWriter(io.BytesIO(), schema, **options).close()
    except (TypeError, ValueError, OrcishError) as error:
        return error
    return None
