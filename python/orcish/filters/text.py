"""Predicates as text: conditions of SQL.

>>> from orcish.filters.text import parse
>>> parse("id > 5 and name in ('a', 'b') and day >= date '2026-01-01'")
(id > 5) and (name in ('a', 'b')) and (day >= date '2026-01-01')
"""

from __future__ import annotations

import re

from orcish import _native
from orcish.filters.expression import Expression, parsed_expression

__all__ = ["native_predicate", "parse"]

_OF_NAMES = "-#$@?&:/"
"""Signs that names of columns have in other tools."""


_SIGN = re.compile(r'^"(.)" is not allowed in a predicate \(')


def _has_sign(message: str) -> bool:
    """Whether the message is about a character that may be one of a name, such as the dash of ``Personal-Nr``."""
    found = _SIGN.match(message)
    return found is not None and found[1] in _OF_NAMES


def parse(text: str, option: str = "filters") -> Expression:
    r"""Parses a predicate. The ``str`` of an :class:`Expression` is parsed to the same expression.

    In SQL, columns are compared with values by ``=``, ``==``, ``!=``, ``<>``, ``<``, ``<=``, ``>``, ``>=``, ``in``,
    ``between``, ``like``, ``is null``, ``is nan``, ``<=>``, ``starts_with``, ``ends_with`` and ``contains``.
    Predicates are joined by ``and``, ``or``, ``not`` and parentheses. A boolean column is a predicate. Keywords are
    case-insensitive.

    Names have steps between dots: ``a.b`` is the field ``b`` of the column ``a``, or, if there is no such field, the
    column ``a.b``. Steps with characters other than letters, digits and underscores are quoted with backticks or double
    quotes: ``"a.b"`` is the column of this name, or, if there is no such column, the field.

    Values are ``null``, ``true``, ``5``, decimals such as ``1.5``, floats such as ``1.5e0``, ``1.5D`` and
    ``double('NaN')``, strings in single quotes with the escapes of Spark (``''``, ``\\``, ``\n``, ``\u00e9``),
    ``x'00ff'``, ``date '2026-01-31'`` and ``timestamp '2026-01-31 12:00:00'``. Timestamps are wall clock times; with
    ``Z`` or an offset such as ``+01:00`` at the end they are instants.

    Args:
        text: The text.
        option: The name of the option, with which error messages begin.

    Raises:
        ValueError: The text is no predicate, or has more than 256 levels; the message has the position of the error.
    """
    return parsed_expression(native_predicate(text, option))


def native_predicate(text: str, option: str = "filters") -> _native.Filter:
    """As :func:`parse`; the predicate is one of the native core."""
    try:
        return _native.Filter.parse(text)
    except UnicodeEncodeError as error:
        raise ValueError(f"{option}: half of a pair of surrogates is no text (character {error.start + 1})") from None
    except ValueError as error:
        advice = (
            ": names with other characters than letters, digits and _ are in backticks" if _has_sign(str(error)) else ""
        )
        raise ValueError(f"{option}: {error}{advice}") from None
