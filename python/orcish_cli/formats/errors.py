"""Errors of pyarrow, with the name of the file and advice."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterator

import pyarrow as pa
from orcish.errors import CorruptFileError, OrcishError, UnsupportedError, out_of_memory
from orcish.io.names import display_name

__all__ = ["ARRAY", "DELIMITED", "INFERRED", "errors_of_reading", "errors_of_writing", "first_error"]

ARRAY = "JSON lines have an object on each line: `jq -c '.[]'` makes them of one array"
"""Advice about a file that is an array of objects."""
INFERRED = "types are inferred of the first rows where none are given: give the type with --schema"
"""Advice about values that are not of a type."""
DELIMITED = "--delimiter and --no-header say how the file is written"
"""Advice about rows of CSV with another number of columns."""
ADVICE = {
    "conversion error": INFERRED,
    "changed from object to array in row 0": ARRAY,
    "changed from": INFERRED,
    "Number too big": "a number is beyond those of double, and may be a string",
    "metadata bytes, but only read": "the file is cut, or none of Arrow IPC",
    "Expected to be able to read": "the file is cut, or damaged",
    "straddl": f"a row is larger than 16 MB, or the file is one array: {ARRAY}",
}
"""Parts of messages, and what helps."""
ROW_OF_JSON = re.compile(r"(JSON parse error: .*) in row (\d+)", re.DOTALL)
"""Messages of pyarrow, which counts rows from 0, about the first block of a file."""
IN_MEMORY = re.compile(r"^(?:<file object>|<memory>): ")
"""What messages call ORC in memory."""


@contextlib.contextmanager
def errors_of_reading(location: str) -> Iterator[None]:
    """Raises errors of pyarrow as those of orcish.

    Raises:
        CorruptFileError: The file is not of its format, or a value is not one of its type.
        LimitExceededError: There is not enough memory.
        UnsupportedError: pyarrow cannot read it.
    """
    name = display_name(location)
    try:
        yield
    except MemoryError as error:
        raise out_of_memory(name, error) from error
    except pa.ArrowNotImplementedError as error:
        raise UnsupportedError(f"{name}: {error}") from error
    except pa.ArrowCancelled:
        raise
    except pa.ArrowException as error:
        advice = next((text for part, text in ADVICE.items() if part in str(error)), None)
        text = ROW_OF_JSON.sub(lambda found: f"row {int(found[2]) + 1}: {found[1]}", str(error))
        raise CorruptFileError(f"{name}: {text}{f': {advice}' if advice else ''}") from error
    except OrcishError as error:
        if name in str(error):
            raise
        # A batch of the file may be ORC in memory.
        raise type(error)(f"{name}: {IN_MEMORY.sub('', str(error.args[0]))}") from error
    except UnicodeDecodeError as error:
        raise CorruptFileError(
            f"{name}: the text is not UTF-8 at byte {error.start:,} of a block: iconv -t utf-8 makes it so"
        ) from error
    except ValueError as error:
        raise ValueError(f"{name}: {IN_MEMORY.sub('', str(error))}") from error
    except OSError as error:
        if type(error) is not OSError or error.errno is not None or name in str(error):
            raise
        # Parquet and IPC report damage as errors of input.
        raise CorruptFileError(f"{name}: {error}") from error


@contextlib.contextmanager
def errors_of_writing(location: str) -> Iterator[None]:
    """Raises errors of pyarrow as those of orcish.

    Raises:
        LimitExceededError: There is not enough memory.
        UnsupportedError: The format cannot store a type.
        ValueError: The format cannot store a value.
    """
    name = display_name(location)
    try:
        yield
    except MemoryError as error:
        raise out_of_memory(name, error) from error
    except (pa.ArrowNotImplementedError, pa.ArrowTypeError) as error:
        raise UnsupportedError(f"{name}: {error}: --columns leaves columns out") from error
    except pa.ArrowInvalid as error:
        raise ValueError(f"{name}: {error}") from error


def first_error(
    typed: Callable[[int, int], object], count: int, error: CorruptFileError
) -> tuple[int, CorruptFileError]:
    """The place of the first value that is not of its type, and the error about it.

    Args:
        typed: Gives their type to the values from one place up to another one.
        count: The number of values.
        error: The error of all values.

    Raises:
        CorruptFileError: No single value is wrong: it is the error of all.
    """
    start, end = 0, count
    while start < end:
        middle = start + max((end - start) // 2, 1)
        try:
            typed(start, middle)
            start = middle
        except CorruptFileError as own:
            if middle - start == 1:
                return start, own
            end = middle
    raise error
